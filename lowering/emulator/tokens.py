"""PTX text to tokens. One pass of one regular expression whose every alternative is linear in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lanelink.lowering.emulator.errors import PtxError

TokenKind = Literal["word", "number", "string", "mark", "end"]

LONGEST_TEXT = 64 << 20

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\f\v]+)
  | (?P<newline>\n)
  | (?P<comment>//[^\n]*)
  | (?P<block>/\*[\s\S]*?(?:\*/|\Z))
  | (?P<string>"[^"\n]*")
  | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?\b|[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?
      |0[bB][01]+U?\b|[0-9]+U?\b)
  | (?P<word>[%$_A-Za-z.](?:[\w$.%]|::)*)
  | (?P<mark>[\[\]{}()<>,;:+\-!|@=*])
    """,
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str
    line: int


def tokenize(text: str, module: str) -> list[Token]:
    """Every token of the text, then one of kind "end". Raises PtxError at the first character that begins none."""
    if len(text) > LONGEST_TEXT:
        raise PtxError(f"expected at most {LONGEST_TEXT} characters of PTX, got {len(text)}", 1, module)
    return list(_tokens(text, module))


def _tokens(text: str, module: str) -> Iterator[Token]:
    line = 1
    position = 0
    end = len(text)
    match_at = _TOKEN.match
    while position < end:
        found = match_at(text, position)
        if found is None:
            raise PtxError(f"expected PTX, got the character {text[position]!r}", line, module)
        kind = found.lastgroup
        position = found.end()
        if kind == "newline":
            line += 1
        elif kind == "block":
            piece = found.group()
            if len(piece) < 4 or not piece.endswith("*/"):
                raise PtxError("expected '*/' to close the comment, got the end of the text", line, module)
            line += piece.count("\n")
        elif kind == "word" or kind == "number" or kind == "string" or kind == "mark":
            yield Token(kind, found.group(), line)
    yield Token("end", "", line)


def number(text: str) -> tuple[Literal["int", "f4", "f8"], int]:
    """A number token as ("int", value), or as the bits of an f32 ("f4") or f64 ("f8")."""
    low = text.lower()
    if low.startswith("0f"):
        return "f4", int(low[2:], 16)
    if low.startswith("0d"):
        return "f8", int(low[2:], 16)
    if "." in low:
        import struct

        return "f8", int.from_bytes(struct.pack("<d", float(low)), "little")
    digits = low.removesuffix("u")
    if digits.startswith("0x"):
        return "int", int(digits, 16)
    if digits.startswith("0b"):
        return "int", int(digits[2:], 2)
    if digits.startswith("0") and len(digits) > 1:
        return "int", int(digits, 8)
    return "int", int(digits)
