"""PTX text to tokens. One pass of one regular expression whose every alternative is linear in the text."""

import re
import struct
from typing import Literal, NamedTuple

from lanelink.lowering.emulator.errors import PtxError

TokenKind = Literal["word", "number", "string", "mark", "end"]

LONGEST_TEXT = 64 << 20

_TOKEN = re.compile(
    r"""
    [ \t\r\f\v]*(?:(?P<newline>\n)
  | (?P<comment>//[^\n]*)
  | (?P<block>/\*[\s\S]*?(?:\*/|\Z))
  | (?P<string>"[^"\n]*")
  | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?\b|[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?
      |0[bB][01]+U?\b|[0-9]+U?\b)
  | (?P<word>[%$_A-Za-z.](?:[\w$.%]|::)*)
  | (?P<mark>[\[\]{}()<>,;:+\-!|@=*]))
    """,
    re.VERBOSE | re.ASCII,
)


class Token(NamedTuple):
    kind: TokenKind
    text: str
    line: int


def tokenize(text: str, module: str) -> list[Token]:
    """Every token of the text, then one of kind "end". Raises PtxError at the first character that begins none."""
    if len(text) > LONGEST_TEXT:
        raise PtxError(f"expected at most {LONGEST_TEXT} characters of PTX, got {len(text)}", 1, module)
    tokens: list[Token] = []
    line = 1
    position = 0
    for found in _TOKEN.finditer(text):
        if found.start() != position:
            break
        position = found.end()
        match found.lastgroup:
            case "word" | "mark" | "number" | "string" as kind:
                tokens.append(Token(kind, found[kind], line))
            case "newline":
                line += 1
            case "block":
                piece = found["block"]
                if len(piece) < 4 or not piece.endswith("*/"):
                    raise PtxError("expected '*/' to close the comment, got the end of the text", line, module)
                line += piece.count("\n")
            case _:
                pass
    if text[position:].strip(" \t\r\f\v"):
        rest = text[position:].lstrip(" \t\r\f\v")
        raise PtxError(f"expected PTX, got the character {rest[0]!r}", line, module)
    tokens.append(Token("end", "", line))
    return tokens


def number(text: str) -> tuple[Literal["int", "f4", "f8"], int]:
    """A number token as ("int", value), or as the bits of an f32 ("f4") or f64 ("f8")."""
    low = text.lower()
    if low.startswith("0f"):
        return "f4", int(low[2:], 16)
    if low.startswith("0d"):
        return "f8", int(low[2:], 16)
    if "." in low:
        return "f8", int.from_bytes(struct.pack("<d", float(low)), "little")
    digits = low.removesuffix("u")
    if digits.startswith("0x"):
        return "int", int(digits, 16)
    if digits.startswith("0b"):
        return "int", int(digits[2:], 2)
    if digits.startswith("0") and len(digits) > 1:
        return "int", int(digits, 8)
    return "int", int(digits)
