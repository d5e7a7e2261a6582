"""Strings that never end: refused where they begin, at once, by every command that reads text."""

from __future__ import annotations

import time
from io import BytesIO
from pathlib import Path
from typing import IO

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from lanelink import cli, opt
from lanelink.quotes import check_quotes

CLOSING = "expected a closing quote on the string's own line, got "
ESCAPE = 'expected one of the escapes \\n, \\t, \\\\, \\" and two hex digits in a string, got '


@pytest.mark.parametrize(
    "text",
    [
        "",
        '"a"',
        '"" "a" // "open',
        '"a // b" "c"',
        'x // it\'s "here\n"there"',
        r'"a\"b" "\\" "\n\t\\\"\0a\FF"',
        '"é\r"',
        '@"a b"(loc("c"))',
        "a / b / c",
    ],
)
def test_strings_that_end(text: str):
    check_quotes(text, "a.mlir")


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ('"', "1:1", CLOSING + "the end of the text"),
        ('a "b', "1:3", CLOSING + "the end of the text"),
        ('"a"\n // "b"\n  "c" "d\n"', "3:7", CLOSING + "the end of the line"),
        ('"a\vb"', "1:1", CLOSING + "the end of the line"),
        ('"a\fb"', "1:1", CLOSING + "the end of the line"),
        ('"a""', "1:4", CLOSING + "the end of the text"),
        (r'"a\"', "1:1", CLOSING + "the end of the text"),
        ('"a // b', "1:1", CLOSING + "the end of the text"),
        (r'"ab\qc"', "1:4", ESCAPE + r"\q"),
        (r'"ab\0"', "1:4", ESCAPE + r"\0"),
        ('"ab\\\n"', "1:4", ESCAPE + "\\"),
        ('"ab\\', "1:4", ESCAPE + "\\"),
    ],
)
def test_strings_that_do_not(text: str, where: str, message: str):
    with pytest.raises(ParseError) as raised:
        check_quotes(text, "a.mlir")
    lines = str(raised.value).splitlines()
    assert lines[0] == f"a.mlir:{where}"
    assert lines[-1].strip() == message


LINE = 'func.func private @"name of a function"(tensor<1xi32>) // a "comment\n'
LONG = LINE * (10_000_000 // len(LINE)) + 'func.func private @"' + "a" * 100_000
"""10 MB, and an unclosed quote before 100,000 characters more."""


@pytest.mark.parametrize("end", ["", "\n", '\\q"'])
def test_a_long_text_is_answered_at_once(end: str):
    begun = time.process_time()
    with pytest.raises(ParseError) as raised:
        check_quotes(LONG + end, "a.mlir")
    message = str(raised.value)
    # A tenth of a second on a machine of its own; trying the ways to split 100,000 characters would never end.
    assert time.process_time() - begun < 1
    if end != '\\q"':
        assert len(message) < 300


def test_the_optimizer_locates_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "in.mlir"
    path.write_text(LONG)
    assert opt.main([str(path)]) == 1
    err = capsys.readouterr().err
    assert f"in.mlir:{LONG.count(chr(10)) + 1}:20" in err
    assert CLOSING in err
    assert "Traceback" not in err


def test_each_chunk_is_located_in_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "in.mlir"
    path.write_text('"test.a\n// -----\nfunc.func private @b()\n// -----\n\n  "test.c\n')
    options = [str(path), "--split-input-file", "--parsing-diagnostics"]
    assert opt.main(options) == 0
    out = capsys.readouterr().out
    assert "in.mlir:1:1" in out
    assert "in.mlir:6:3" in out
    assert "@b" in out


def test_other_input_is_left_alone():
    """Text for another front end may hold what quotes it likes."""
    driver = opt.OptMain(args=["in.other"])
    held: list[bytes] = []

    def front_end(chunk: IO[bytes]) -> ModuleOp:
        held.append(chunk.read())
        return ModuleOp([])

    driver.available_frontends["other"] = front_end
    assert isinstance(driver.parse_chunk(BytesIO(b'"'), "other"), ModuleOp)
    assert held == [b'"']
    with pytest.raises(ParseError):
        driver.parse_chunk(BytesIO(b'"'), "mlir")


def test_the_command_line_locates_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "step.mlir"
    path.write_text("builtin.module {\n" + 'func.func private @"' + "a" * 100_000)
    arguments = ["run", str(path), "--weights", str(tmp_path), "--backend", "reference", "--ids", "1", "-n", "1"]
    assert cli.main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{path}:2:20" in captured.err
    assert CLOSING in captured.err
    assert len(captured.err) < 500 + len(str(path))
