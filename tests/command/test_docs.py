"""What the documents say exists: files, sections, and Python that runs as it is written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from lanelink.frontend.importer import import_checkpoint

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("benchmarks/*.md"))]
SCALE = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 by, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [by];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r2, 128, %r3;
  setp.ge.s32 %p1, %r4, %r1;
  @%p1 ret;
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.rn.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  ret;
}
"""


def sections(text: str) -> set[str]:
    """What a link may name of a document: its headings in lower case, without punctuation, joined by dashes."""
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]*)\)", text):
        if not link.startswith("https:"):
            file, _, section = link.partition("#")
            target = path if not file else path.parent / file
            assert target.exists(), link
            assert not section or section in sections(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_named_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`([\w./-]+)`", text) if re.search(r"/|\.(py|cuh?|md|mlir)$", name)}
    folders = {top.name for top in ROOT.iterdir()}
    for name in named:
        if name.split("/")[0] in folders and not name.startswith("build/"):
            assert (ROOT / name).exists(), name


def blocks(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_readmes_python(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = blocks(ROOT / "README.md")
    exec(compile(code, "README.md", "exec"), {})
    assert "launch.fold() {" in capsys.readouterr().out


def test_the_emulators_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.ptx").write_text(SCALE, encoding="ascii")
    (code,) = blocks(ROOT / "docs" / "emulator.md")
    names: dict[str, object] = {}
    exec(compile(code, "docs/emulator.md", "exec"), names)
    np.testing.assert_array_equal(np.asarray(names["result"]), 2 * np.arange(1000, dtype="f4"))


def test_validations_python() -> None:
    module = import_checkpoint(ROOT / "tests" / "models" / "qwen3", context=16)
    (code,) = blocks(ROOT / "docs" / "validation.md")
    names: dict[str, object] = {"module": module}
    exec(compile(code, "docs/validation.md", "exec"), names)
    assert "tgraph.fused " in str(names["fused"]) and "tgraph.fused " not in str(module)
