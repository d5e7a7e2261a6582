"""`lanelink-opt` as a user meets it: exit codes, located messages, no partial output."""

from pathlib import Path

import pytest

from lanelink.opt import main

GOOD = """\
func.func @f(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %y = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}
"""

WRONG_SHAPE = GOOD.replace("-> tensor<1x64xf32>\n  func", "-> tensor<1x32xf32>\n  func").replace(
    "return %y : tensor<1x64xf32>", "return %y : tensor<1x32xf32>"
)


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "in.mlir"
    path.write_text(text)
    return str(path)


def test_prints_what_it_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, GOOD)]) == 0
    out = capsys.readouterr().out
    assert "tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>" in out


def test_malformed_text_is_located(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, GOOD.replace("tgraph.silu %x :", "tgraph.silu %x ;"))]) == 1
    err = capsys.readouterr().err
    assert "in.mlir:2:" in err
    assert "Traceback" not in err


def test_a_failing_verifier_says_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, WRONG_SHAPE)]) == 1
    assert "expected (1, 64), got (1, 32)" in capsys.readouterr().err


def test_no_output_file_after_a_fault(tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    text = f"{GOOD}// -----\n{WRONG_SHAPE}"
    assert main([write(tmp_path, text), "--split-input-file", "-o", str(out)]) == 1
    assert not out.exists()
    assert list(tmp_path.iterdir()) == [tmp_path / "in.mlir"]


def test_an_old_output_file_outlives_a_fault(tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    out.write_text("old")
    assert main([write(tmp_path, WRONG_SHAPE), "-o", str(out)]) == 1
    assert out.read_text(encoding="utf-8") == "old"


def test_both_faulty_chunks_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{WRONG_SHAPE}// -----\n{WRONG_SHAPE.replace('1x32', '1x16')}"
    assert main([write(tmp_path, text), "--split-input-file", "--verify-diagnostics"]) == 0
    out = capsys.readouterr().out
    assert "got (1, 32)" in out
    assert "got (1, 16)" in out


@pytest.mark.parametrize("pipeline", ["no-such-pass", "fuse{speed=9}", "fuse{"])
def test_bad_usage(tmp_path: Path, pipeline: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, GOOD), "-p", pipeline]) == 2
    err = capsys.readouterr().err
    assert err
    assert "Traceback" not in err


@pytest.mark.parametrize("target", ["riscv-asm", "arm-asm"])
def test_a_language_that_a_step_cannot_be_written_in(
    tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([write(tmp_path, GOOD), "-t", target, "-o", str(tmp_path / "out")]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"--target {target}: expected a module that it can write, got: ") and len(err) < 250
    assert not (tmp_path / "out").exists()


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.mlir")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_bytes_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_bytes(b"\xff\xfe\x00\x01")
    assert main([str(path)]) == 1
    assert "Traceback" not in capsys.readouterr().err
