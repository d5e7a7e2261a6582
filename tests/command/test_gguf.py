"""`lanelink import` and `lanelink run` on GGUF files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gguf_files import Pair, Tensor, pack, string, strings

from lanelink.cli import main
from lanelink.frontend.checkpoint import MappedFile
from lanelink.frontend.gguf_header import GgufArray, read_header

GGUF = Path(__file__).parents[1] / "models" / "gguf"
PROMPT = "And the LORD"


def import_step(weights: Path, out: Path, *options: str) -> Path:
    assert main(["import", str(weights), "-o", str(out), "--context", "64", *options]) == 0
    return out


def run(step: Path, weights: Path, *options: str, backend: str = "reference", n: int = 12) -> int:
    return main(["run", str(step), "--weights", str(weights), "--backend", backend, "-n", str(n), *options])


@pytest.mark.parametrize("name", ["llama-q8_0", "qwen3-mid-Q4_K_M", "gemma2-bf16"])
def test_text_in_and_out(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = GGUF / f"{name}.gguf"
    step = import_step(weights, tmp_path / "step.mlir")
    assert run(step, weights, "--prompt", PROMPT, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert bytes(told["ids"]).decode() == told["text"] and len(told["ids"]) == 12
    assert run(step, weights, "--prompt", PROMPT) == 0
    assert capsys.readouterr().out == f"{told['text']}\n"
    assert run(step, weights, "--ids", ",".join(map(str, PROMPT.encode()))) == 0
    assert capsys.readouterr().out == f"{told['text']}\n"


@pytest.mark.parametrize("name", ["llama-q8_0", "qwen3-mid-Q4_K_M", "gpt_oss-MXFP4_MOE", "qwen3_next-bf16"])
def test_the_emulator_decodes_what_the_reference_does(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = GGUF / f"{name}.gguf"
    step = import_step(weights, tmp_path / "step.mlir")
    found: list[str] = []
    for backend in ("reference", "emulator"):
        assert run(step, weights, "--prompt", "In", backend=backend, n=3) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1] and len(found[0]) == 4


def with_vocabulary(weights: Path, out: Path) -> Path:
    """The same model with a vocabulary: each byte as GPT-2 spells it, in the order of ids."""
    header, data = read_header(MappedFile.open(weights)), weights.read_bytes()
    tensors = [Tensor(t.name, t.shape[::-1], data[t.offset : t.offset + t.nbytes], t.kind) for t in header.tensors]
    start = min(t.offset for t in header.tensors)
    plain = [key for key, value in header.metadata.items() if not isinstance(value, GgufArray)]
    pairs: list[Pair] = [(key, raw_value(data[:start], key)) for key in plain]
    kept = [pair for pair in pairs if pair[0] != "tokenizer.ggml.model"]
    prints = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(256))
    letters = [chr(b) if b in prints else chr(256 + next(others)) for b in range(256)]
    out.write_bytes(
        pack(
            [
                *kept,
                ("tokenizer.ggml.model", string("gpt2")),
                ("tokenizer.ggml.tokens", strings(letters)),
                ("tokenizer.ggml.merges", strings([])),
            ],
            tensors,
        )
    )
    return out


def raw_value(header: bytes, key: str) -> bytes:
    """A value's type and bytes, up to the next key or the first tensor."""
    marked = len(key).to_bytes(8, "little") + key.encode()
    start = header.index(marked) + len(marked)
    kind = int.from_bytes(header[start : start + 4], "little")
    if kind == 8:
        size = 8 + int.from_bytes(header[start + 4 : start + 12], "little")
    else:
        size = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}[kind]
    return header[start : start + 4 + size]


def test_a_vocabulary_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same text as without it: its tokens are the bytes."""
    plain = GGUF / "llama-bf16.gguf"
    weights = with_vocabulary(plain, tmp_path / "m.gguf")
    step = import_step(weights, tmp_path / "step.mlir")
    texts: list[str] = []
    for path in (plain, weights):
        assert run(step, path, "--prompt", PROMPT, "--json") == 0
        texts.append(json.loads(capsys.readouterr().out)["text"])
    assert texts[0] == texts[1]


def test_a_file_that_is_cut_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes((GGUF / "llama-q8_0.gguf").read_bytes()[:-5])
    assert main(["import", str(broken), "-o", str(tmp_path / "step.mlir")]) == 1
    err = capsys.readouterr().err
    assert "broken.gguf" in err and "cut short" in err and err.count("\n") == 1
    assert not (tmp_path / "step.mlir").exists()


def test_weights_of_another_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A step names the tensors of what it was imported from."""
    step = import_step(GGUF / "llama-bf16.gguf", tmp_path / "step.mlir")
    assert run(step, GGUF.parent / "llama", "--ids", "1") == 1
    err = capsys.readouterr().err
    assert "expected a tensor 'token_embd.weight'" in err and err.count("\n") == 1


def test_quantized_at_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """q8_0 of a bf16 file is what the format's own quantizer makes of it, so the two decode alike."""
    texts: list[str] = []
    for name, options in (("llama-q8_0", ()), ("llama-bf16", ("--quantize", "q8_0"))):
        weights = GGUF / f"{name}.gguf"
        step = import_step(weights, tmp_path / "step.mlir", "--numerics", "dequant", *options)
        assert run(step, weights, "--prompt", PROMPT, "--json") == 0
        texts.append(json.loads(capsys.readouterr().out)["text"])
    assert texts[0] == texts[1]
