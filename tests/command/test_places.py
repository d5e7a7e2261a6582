"""Faults of hand-written text are told with their file, line and column, the op, and the reason."""

import re
from pathlib import Path

import pytest

from lanelink.cli import main
from lanelink.opt import main as opt

MODEL = Path(__file__).parents[1] / "models" / "llama"
SILU = "%y = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>"


def body(*lines: str) -> str:
    return "\n".join(["func.func @f(%x: tensor<1x64xf32>) {", *lines, "  func.return", "}", ""])


LINKED = (
    'func.func @f(%t: memref<1xi32> {{tgraph.token}}, %x: memref<1x64xf32> {{tgraph.state = "x"}},\n'
    '  %y: memref<1x64xf32> {{tgraph.state = "{name}"}}) attributes {{launch.lifted = {lifted} : i64}} {{\n'
    "  launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {{act = #launch<act silu>}} covers [0]\n"
    "  func.return\n}}\n"
)
PARTS = """\
func.func @s(%t: memref<1xi32> {tgraph.token}, %x: memref<1x32xf32>, %a: memref<1x64xf32>, %b: memref<1x64xf32>)
    attributes {launch.lifted = 2 : i64} {
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x32, transposed>
  launch.gemm_parts(x = %x : memref<1x32xf32>) {
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 64x32, transposed>, out = %a : memref<1x64xf32>) covers [0]
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 64x32, transposed>, out = %b : memref<1x64xf32>) covers [1]
  }
  func.return
}
"""

STEP = """\
func.func @step(%t: tensor<1xi32> {tgraph.token}, %p: tensor<1xi32> {tgraph.position},
                %s: tensor<4x64xf32> {tgraph.state = "keys"}) -> (tensor<1xi32>, tensor<4x64xf32>) {
  func.return %t, %s : tensor<1xi32>, tensor<4x64xf32>
}
"""

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
        "3:37\n  %n = tgraph.fused_row rms",
    ),
    "a number that would wrap": (
        body("  %n = tgraph.fused_row rms %x cols 18446744073709551615 eps 1.0e-06 : tensor<1x64xf32>"),
        "2:37\n  %n = tgraph.fused_row rms",
    ),
    "a number that would wrap, of a dictionary": (
        body(f"  {SILU.replace(' :', ' {note = 9223372036854775808 : i64} :')}"),
        "2:31\n  %y = tgraph.silu %x {note",
    ),
    "a number that would wrap, of a function": (
        LINKED.format(name="y", lifted=18446744073709551615),
        "2:74\n",
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
    "an operand that its own region alone defines": (
        body(
            "  %r = tgraph.fused glu_act_mul(%a = %b : tensor<1x64xf32>) -> (tensor<1x64xf32>) {",
            "    %s = tgraph.fused glu_act_mul(%b = %a : tensor<1x64xf32>) -> (tensor<1x64xf32>) {",
            "      tgraph.yield %b : tensor<1x64xf32>",
            "    }",
            "    tgraph.yield %s : tensor<1x64xf32>",
            "  }",
        ),
        "2:38\n",
    ),
    "a linked step": (
        "func.func @f(%x: memref<1x64xf32>) attributes {launch.lifted = 1 : i64} {\n"
        "  launch.unary(x = %x : memref<1x64xf32>, out = %x : memref<1x64xf32>) {act = #launch<act silu>} covers [0]\n"
        "  func.return\n}\n",
        "2:3: launch.unary: expected to write other buffers than it reads, got one as both",
    ),
    "two states of one name, linked": (
        LINKED.format(name="x", lifted=1),
        '1:1: step @f argument 2: expected tgraph.state to be a name of its own, got "x"',
    ),
    "a part of a launch": (
        PARTS.replace("%b: memref<1x64", "%b: memref<1x32").replace("%b : memref<1x64", "%b : memref<1x32"),
        "6:5: launch.gemm_part out: expected (1, 64), got (1, 32)",
    ),
    "a part of a launch, past what a device counts": (
        PARTS.replace("64", "4294967296"),
        "5:5: launch.gemm_part out: expected at most 2147483647 rows and values a row, got ",
    ),
    "a part that is none": (
        re.sub(r"gemm_part\(w = .*, out = %b", "copy(x = %a : memref<1x64xf32>, out = %b", PARTS),
        "6:5: launch.gemm_parts: expected launch.gemm_part inside, got launch.copy",
    ),
    "more lifted ops than a memory holds": (
        PARTS.replace("launch.lifted = 2", "launch.lifted = 9223372036854775807"),
        "1:1: step @s: expected each lifted op covered by one launch, got none for [2, 3, 4, 5, 6, 7, 8, 9]",
    ),
    "fewer than none": (
        PARTS.replace("launch.lifted = 2", "launch.lifted = -1"),
        "1:1: step @s: expected launch.lifted of at least 0, got -1",
    ),
    "a lifted op computed twice": (
        PARTS.replace("covers [1]", "covers [0]"),
        "4:3: step @s: expected each lifted op covered by one launch, got several for [0]",
    ),
    "a function without an end": (
        "\nfunc.func @f(%x: tensor<1x64xf32>) {\n}\n",
        "2:1: Operation func.func contains empty block",
    ),
    "a target that is none": (
        f"module attributes {{launch.target = 5 : i64}} {{\n{body()}}}",
        "1:1: module launch.target: expected #launch.target<...>, got 5 : i64",
    ),
    "two states of one name, lowered": (
        'driver.step @s rows 1 context 4 {\n  %t = driver.io token bytes 4\n  %a = driver.state "x" bytes 64\n'
        '  %b = driver.state "x" bytes 64\n  driver.return\n}\n',
        "4:3: driver.step @s: expected at most one state 'x', got 2",
    ),
    "an op that no step of driver calls holds": (
        "driver.step @s rows 1 {\n  %t = driver.io token bytes 4\n  builtin.module {\n  }\n  driver.return\n}\n",
        "3:3: driver.step @s: expected buffers and launches inside, got builtin.module",
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


FROM_PASSES = {
    "no step": ("// a comment\n" + body(), "link", "1:1: expected one function with a tgraph.token argument, got 0"),
    "two modules": (
        "module {\n" + STEP + "}\nmodule {\n}\n",
        "fuse,legalize-shim",
        "1:1: expected one function with a tgraph.token argument, got 0, and 1 in modules inside it",
    ),
    "a module in another": (
        "// a comment\nmodule {\nmodule {\n" + STEP + "}\n}\n",
        "lanelink",
        "2:1: expected one function with a tgraph.token argument, got 0, and 1 in modules inside it",
    ),
    "two steps": (
        f"module {{\n{STEP}{STEP.replace('@step', '@other')}}}\n",
        "lanelink",
        "6:1: expected one function with a tgraph.token argument, got 2",
    ),
    "an argument that is no buffer": (
        "func.func @f(%t: tensor<1xi32> {tgraph.token}, %k: index) {\n  func.return\n}\n",
        "link",
        "1:1: link func.func argument 1: expected a tensor, rows or quantized activations, got index",
    ),
    "numbers with a gap": (
        "func.func @f(%t: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>) -> tensor<1x64xf32> {\n"
        f"  {SILU.replace(' :', ' number 2147483648 :')}\n  func.return %y : tensor<1x64xf32>\n}}\n",
        "link",
        "2:3: step @f: expected covers below 1, got [2147483648]",
    ),
    "launches, to the whole pipeline": (
        "\n" + LINKED.format(name="y", lifted=1),
        "lanelink",
        "2:1: lanelink: expected a step of tensors (level 1 or 2), got launches (level 3)",
    ),
    "driver calls, to the link": (
        "\ndriver.step @s rows 1 {\n  %t = driver.io token bytes 4\n  driver.return\n}\n",
        "link",
        "2:1: link: expected a step of tensors, got driver calls: it is lowered already",
    ),
}


@pytest.mark.parametrize("name", FROM_PASSES)
def test_a_fault_that_a_pass_finds(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, passes, told = FROM_PASSES[name]
    path = tmp_path / "in.mlir"
    path.write_text(text, encoding="utf-8")
    assert opt([str(path), "-p", passes]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:{told}")


def test_numbers_of_other_dialects_and_bits_of_floats_may_be_wide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mlir"
    silu = SILU.replace(" :", " {bits = 0xFFF0000000000000 : f64} :")
    text = body("  %c = arith.constant 18446744073709551615 : i64", f"  {silu}")
    path.write_text(text, encoding="utf-8")
    assert opt([str(path)]) == 0
    assert "-1 : i64" in capsys.readouterr().out


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
    for location, place in (("", f"{path}:8:5"), (' loc("model.layers.3")', f"{path}:8:5: model.layers.3")):
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
    path.write_text(body(f'  {SILU} loc("model.norm")'), encoding="utf-8")
    assert opt([str(path), "--print-debuginfo"]) == 0
    named = capsys.readouterr().out
    assert f'loc("model.norm"("{path}":2:3))' in named
    path.write_text(named, encoding="utf-8")
    assert opt([str(path), "--print-debuginfo"]) == 0
    assert capsys.readouterr().out == named
    path.write_text(once, encoding="utf-8")
    assert opt([str(path)]) == 0
    assert "loc(" not in capsys.readouterr().out


STEPS = {
    "an argument that nothing gives": (
        "%t: tensor<1xi32> {tgraph.token}, %x: tensor<1x64xf32>",
        "tensor<1xi32> {tgraph.carry = 0 : i64}",
        "step @s argument 1: expected tgraph.token, tgraph.position or tgraph.state, got tensor<1x64xf32> without any",
    ),
    "no ids chosen": (
        "%t: tensor<1xi32> {tgraph.token}",
        "",
        "step @s: expected a result that becomes its token at the next step (tgraph.carry), got none",
    ),
    "a position that stays": (
        "%t: tensor<1xi32> {tgraph.token}, %p: tensor<1xi32> {tgraph.position}",
        "tensor<1xi32> {tgraph.carry = 0 : i64}",
        "step @s: expected its position among the results it carries to the next step, got none",
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_no_decoding_loop_runs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, results, told = STEPS[name]
    path = tmp_path / "in.mlir"
    returned = "%t : tensor<1xi32>" if results else ""
    text = f"\nfunc.func @s({arguments}) -> ({results}) {{\n  func.return {returned}\n}}\n"
    path.write_text(text, encoding="utf-8")
    for backend in ("reference", "emulator"):
        given = ["--weights", str(MODEL), "--backend", backend, "-n", "1", "--ids", "1"]
        assert main(["run", str(path), *given]) == 1
        assert capsys.readouterr().err == f"lanelink: {path}:2:1: {told}\n"


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


DRIVER = """\
driver.module @m compute_90 {
  driver.function @f()
}
driver.step @s rows 1 {
  %t = driver.io token bytes 4
  driver.launch @m::@f() grid (1, 1, 1) block (1, 1, 1) covers []
  driver.return
}
"""
GENERIC = """\
  "driver.launch"() <{function = @m::@f, arguments = [], grid = array<i64: 1, 1, 1>, block = array<i64: 1, 1, 1>,
    shared = 0 : i64, carveout = 3 : i64, covers = array<i64>}> {carveout = 5 : i64} : () -> ()"""
UNREAD = {
    "a value that nothing defines": (
        body(f"  {SILU}", *(f"  {SILU.replace('%y', new).replace('%x', '%nope')}" for new in ("%z", "%u"))),
        "3:20: expected a value that the text defines, got %nope",
    ),
    "two, of which one is used before": (
        body(
            "  %a = tgraph.elementwise add %x, %no : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>",
            f"  {SILU.replace('%x', '%nope')}",
        ),
        "2:35: expected a value that the text defines, got %no",
    ),
    "one used inside of its op too, in generic form": (
        '"tgraph.fused"(%no) ({\n^bb0(%a: tensor<1x64xf32>):\n'
        '  "tgraph.yield"(%no) : (tensor<1x64xf32>) -> ()\n}) : (tensor<1x64xf32>) -> ()\n',
        "1:16: expected a value that the text defines, got %no",
    ),
    "one that driver calls take": (
        DRIVER.replace("return", "return chosen %no"),
        "7:24: expected a value that the text defines, got %no",
    ),
    "one that its own region alone defines": (
        FAULTS["an operand that its own region alone defines"][0],
        "2:38: expected a value that is defined outside of tgraph.fused, got %b",
    ),
    "nothing": ("", "1:1: expected an op, got the end of the text"),
    "a comment alone": ("// nothing\n", "2:1: expected an op, got the end of the text"),
    "a heading": ("# lanelink\n", "1:1: expected a name right after '#', got ' '"),
    "a sign later": (body("  %y = tgraph.silu % x"), "2:20: expected a name right after '%', got ' '"),
    "a symbol without a name": (body("  call @7"), "2:8: expected a name right after '@', got '7'"),
    "the end behind a symbol's sign": ("func.func @", "1:11: expected a name right after '@', got the end of the text"),
    "a character of no token": ("$x\n", "1:1: expected MLIR text, got the character '$'"),
    "two dots": ("..x\n", "1:1: expected '...', got '..x'"),
    "what opens no op": (f"{body()}}}\n", "4:1: expected an op, got '}'"),
    "a field twice, in generic form": (
        re.sub(r"  driver\.launch.*", GENERIC, DRIVER),
        "6:3: expected attributes without 'carveout', which driver.launch has as a field outside of them, "
        "got carveout = 5 : i64",
    ),
    "a field among the attributes of a declared form": (
        body(f"  {SILU.replace(' :', ' {number = 4 : i64} :')}"),
        "2:3: expected attributes without 'number', which tgraph.silu has as a field outside of them, "
        "got number = 4 : i64",
    ),
    "a field among the attributes": (
        DRIVER.replace("covers []", "covers [] {note = 1 : i64, carveout = 5 : i64}"),
        "6:84: expected attributes without 'carveout', which driver.launch has as a field outside of them, "
        "got carveout = 5 : i64",
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_text_that_cannot_be_read(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, told = UNREAD[name]
    path = tmp_path / "in.mlir"
    path.write_text(text, encoding="utf-8")
    assert main(["explain", str(path)]) == 1
    assert capsys.readouterr().err == f"lanelink: {path}:{told}\n"
    place, _, reason = told.partition(": ")
    assert opt([str(path)]) == 1
    found = capsys.readouterr().err
    assert found.startswith(f"{path}:{place}\n") and reason in found
