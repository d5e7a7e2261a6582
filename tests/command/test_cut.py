"""A diagnostic of a long line or a long name: located, marked, and of a length that is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.lexer import Input, Span

from lanelink.cli import main
from lanelink.cut import HEAD, MOST, TAIL, cut, cut_fault
from lanelink.failures import run_command
from lanelink.opt import main as opt

LONG = 2_000_000
BOUND = 2_500
"""A location, a line and its mark of at most 3 x ~500 characters, and a message of at most ~800."""


def shown(error: ParseError) -> str:
    cut_fault(error)
    cut_fault(error)
    return str(error)


def test_a_message_keeps_its_ends() -> None:
    assert cut("x" * MOST) == "x" * MOST
    text = "a" * HEAD + "b" * 5000 + "c" * TAIL
    assert cut(text) == f"{'a' * HEAD} [5000 characters cut] {'c' * TAIL}"
    assert cut(cut(text)) == cut(text)


def test_a_short_line_is_shown_as_it_is() -> None:
    span = Span(4, 6, Input("one\ntwo three\nfour", "f"))
    assert shown(ParseError(span, "wrong")) == str(ParseError(span, "wrong"))


@pytest.mark.parametrize("at", [0, 150, 5_000, 9_990])
def test_a_long_line_is_shown_around_the_fault(at: int) -> None:
    line = "".join(chr(ord("a") + k % 26) for k in range(10_000))
    text = f"first\n{line}\nlast"
    place, quoted, mark, said = shown(ParseError(Span(6 + at, 6 + at + 3, Input(text, "f")), "wrong")).splitlines()
    assert place == f"f:2:{at + 1}"
    assert len(quoted) < 500
    column = len(mark) - 3
    assert mark == " " * column + "^^^" and quoted[column : column + 3] == line[at : at + 3]
    assert said == " " * column + "wrong"
    assert ("characters cut] " in quoted[:30], " characters cut]" in quoted[-30:]) == (at > 120, at < 9_000)


def test_a_fault_over_many_lines_shows_the_first() -> None:
    text = "op {\n" + "  inner\n" * 10_000 + "}"
    out = shown(ParseError(Span(0, len(text), Input(text, "f")), "wrong"))
    assert out == "f:1:1\nop {\n^^^^\nwrong\n"


def test_references_are_cut_too() -> None:
    span = Span(0, LONG, Input("x" * LONG, "f"))
    error = MultipleSpansParseError(span, "m" * LONG, "r" * LONG, [(span, "s" * LONG), (span, None)])
    assert len(shown(error)) < 3 * BOUND


TEXTS = {
    "a name": "func.func @f() {\n  " + "a" * LONG + "\n}\n",
    "an op": 'func.func @f() {\n  "test.' + "a" * LONG + '"() : () -> ()\n}\n',
    "a symbol": f"func.func @{'a' * LONG}(%x: tensor<1x64xf32>) {{\n  func.return %x : tensor<1x64xf32>\n}}\n",
    "a line": "func.func @f() {" + " " * LONG + "func.retrun" + " " * LONG + "}\n",
    "a number": f"driver.step @s rows {'9' * 4000} {{\n}}\n",
    "a digit string": f"driver.step @s rows {'9' * LONG} {{\n}}\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_the_commands_print(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(TEXTS[name], encoding="utf-8")
    assert opt([str(path)]) == 1
    err = capsys.readouterr().err
    assert 0 < len(err) < BOUND and str(path) in err
    assert opt([str(path), "--parsing-diagnostics", "--verify-diagnostics", "-o", str(tmp_path / "out")]) in (0, 1)
    captured = capsys.readouterr()
    assert 0 < len(captured.out + captured.err) < BOUND
    assert main(["explain", str(path)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("lanelink: ") and len(err) < BOUND and len(err.splitlines()) == 1


@pytest.mark.parametrize("one_line", [True, False])
@pytest.mark.parametrize("kind", [ValueError, VerifyException])
def test_other_errors_say_how_much_is_left_out(
    kind: type[Exception], one_line: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> None:
        raise kind("expected a, got " + "b" * LONG)

    assert run_command("tool", work, lambda: "in.mlir", one_line=one_line) == 1
    err = capsys.readouterr().err
    assert "expected a, got bbb" in err and "characters cut]" in err and len(err) < 1000
