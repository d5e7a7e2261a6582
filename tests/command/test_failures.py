"""Whatever ends a command is told in words: closed streams, interrupts, sizes past memory, files and their modes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanelink.failures import InputError, run_command
from lanelink.opt import main as opt
from lanelink.write import write_whole

GOOD = "func.func @f(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {\n  func.return %x : tensor<1x64xf32>\n}\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("x: expected 1, got 2"), 1, "x: expected 1, got 2"),
        (MemoryError(), 1, "step.mlir: expected sizes that this machine's memory holds"),
        (OverflowError("big"), 1, "step.mlir: expected sizes"),
        (RecursionError(), 1, "step.mlir: expected operations nested less deeply"),
        (UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "bad"), 1, "got byte 0xff at 1"),
        (FileNotFoundError(2, "No such file", "a.txt"), 1, "a.txt: No such file"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_each_kind_of_end(error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise error

    assert run_command("tool", work, lambda: "step.mlir", one_line=True) == code
    err = capsys.readouterr().err
    assert err.startswith("tool: ")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("stream", ["<&-", ">&-"])
def test_closed_streams(stream: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(GOOD)
    source = "" if stream == "<&-" else "in.mlir"
    command = f"'{sys.executable}' -m lanelink.opt {source} {stream}"
    found = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 1
    assert "got a closed one" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_number_that_covers_cannot_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(
        "func.func @f(%x: memref<1x64xf32>, %y: memref<1x64xf32>) {\n"
        "  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>}"
        " covers [99999999999999999999]\n  func.return\n}\n"
    )
    assert opt([str(path)]) == 1
    err = capsys.readouterr().err
    assert "in.mlir:2:" in err
    assert "at most 2147483647" in err


def test_a_written_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_failed_write_leaves_nothing_and_names_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: str, __: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left") as raised:
        write_whole(tmp_path / "out.mlir", "text")
    assert raised.value.filename == str(tmp_path / "out.mlir")
    assert list(tmp_path.iterdir()) == []
