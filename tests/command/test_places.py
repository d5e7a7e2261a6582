"""Faults of hand-written text are told with their file, line and column, the op, and the reason."""

from pathlib import Path

import pytest

from lanelink.cli import main
from lanelink.opt import main as opt

SILU = "%y = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>"


def body(*lines: str) -> str:
    return "\n".join(["func.func @f(%x: tensor<1x64xf32>) {", *lines, "  func.return", "}", ""])


FAULTS = {
    "an op's own verifier": (
        body(f"  {SILU}", f"  {SILU.replace('%y', '%z').replace('-> tensor<1x64', '-> tensor<1x32')}"),
        "3:3: tgraph.silu result: expected (1, 64), got (1, 32)",
    ),
    "one that leaves the dialect out": (
        body("  %n = tgraph.fused_row rms %x cols 64 eps 0x7FC00000 : tensor<1x64xf32>"),
        "2:3: tgraph.fused_row eps: expected a finite number of at least 0, got nan",
    ),
    "a number that no field holds": (
        body(f"  {SILU}", "  %n = tgraph.fused_row rms %x cols 99999999999999999999 eps 1.0e-06 : tensor<1x64xf32>"),
        "3:3\n  %n = tgraph.fused_row rms",
    ),
    "xDSL's, which does not name the op": (
        body('    "tgraph.silu"(%x) : (tensor<1x64xf32>) -> ()'),
        "2:5: tgraph.silu: Expected 1 result, but got 0",
    ),
    "of an op that holds others": (
        "// a comment\n\nfunc.func @f(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {\n  func.return\n}\n",
        "4:3: func.return: Expected arguments to have the same types as the function output types",
    ),
    "an operand that comes later": (
        body(f"  {SILU.replace('%x', '%z')}", f"  {SILU.replace('%y', '%z')}"),
        "2:3: tgraph.silu: operand 0 (a result of tgraph.silu) does not dominate its use",
    ),
    "a linked step": (
        "func.func @f(%x: memref<1x64xf32>) attributes {launch.lifted = 1 : i64} {\n"
        "  launch.unary(x = %x : memref<1x64xf32>, out = %x : memref<1x64xf32>) {act = #launch<act silu>} covers [0]\n"
        "  func.return\n}\n",
        "2:3: launch.unary: expected to write other buffers than it reads, got one as both",
    ),
    "a module that the text leaves out": (
        f"{body()}{body()}",
        '1:1: builtin.module: Redefinition of symbol "f"',
    ),
    "what a step covers": (
        "\n  func.func @f() attributes {launch.lifted = 1 : i64} {\n  func.return\n}\n",
        "2:3: step @f: expected each lifted op covered by one launch, got none for [0]",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_and_its_place(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, told = FAULTS[name]
    path = tmp_path / "in.mlir"
    path.write_text(text, encoding="utf-8")
    assert opt([str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:{told}")


def test_places_count_from_the_top_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    wrong, told = FAULTS["an op's own verifier"]
    path.write_text(f"{body(f'  {SILU}')}// -----\n{wrong}// -----\n{wrong}", encoding="utf-8")
    assert opt([str(path), "--split-input-file", "--verify-diagnostics"]) == 0
    out = capsys.readouterr().out
    # A chunk's first line is what is left of the line that parts it from the one before.
    reason = told.removeprefix("3:3")
    assert f"{path}:8:3{reason}" in out and f"{path}:14:3{reason}" in out


def test_a_pass_tells_the_place_of_an_op_without_a_location(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    softcap = "%y = tgraph.softcap %x at 30.0 : tensor<1x64xf32> -> tensor<1x64xf32>"
    silu = SILU.replace("%y", "%z").replace("%x", "%y")
    told = ": op 0 tgraph.softcap: "
    for location, place in (("", f"{path}:8:5"), (' loc("model.layers.3")', "model.layers.3")):
        text = f"{body(f'  {SILU}')}// -----\n\n{body(f'    {softcap}{location}', silu)}"
        path.write_text(text.replace("(%x:", "(%t: tensor<1xi32> {tgraph.token}, %x:"), encoding="utf-8")
        assert opt([str(path), "-p", "number-ops,legalize-shim", "--split-input-file", "--verify-diagnostics"]) == 0
        found = capsys.readouterr().out
        assert f"{place}{told}" in found


def test_the_place_is_printed_where_locations_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(body(f"  {SILU}"), encoding="utf-8")
    assert opt([str(path), "--print-debuginfo"]) == 0
    once = capsys.readouterr().out
    assert f'tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32> loc("{path}":2:3)' in once
    path.write_text(once, encoding="utf-8")
    assert opt([str(path), "--print-debuginfo"]) == 0
    assert f'loc("{path}":2:3)' in capsys.readouterr().out
    assert opt([str(path)]) == 0
    assert "loc(" not in capsys.readouterr().out


STEP = """\
func.func @step(%t: tensor<1xi32> {tgraph.token}, %p: tensor<1xi32> {tgraph.position},
                %s: tensor<4x64xf32> {tgraph.state = "keys"}) -> (tensor<1xi32>, tensor<4x64xf32>) {
  func.return %t, %s : tensor<1xi32>, tensor<4x64xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FAULTS["an op's own verifier"][0], FAULTS["an op's own verifier"][1]),
        ("\nfunc.func @f(%t: tensor<1xi32> {tgraph.token})", "2:1: step @f: expected a body, got a declaration"),
        (body("  %y = tgraph.sulu %x"), "2:20: Operation tgraph.sulu is not registered"),
        (STEP, "1:1: step @step: expected each state among the results, got none for 'keys'"),
    ],
)
def test_the_other_commands_tell_them_too(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(text, encoding="utf-8")
    for command in (
        ["run", str(path), "--weights", str(tmp_path), "--backend", "reference", "-n", "1", "--ids", "1"],
        ["explain", str(path)],
    ):
        assert main(command) == 1
        assert capsys.readouterr().err == f"lanelink: {path}:{told}\n"
