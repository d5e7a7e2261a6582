"""A place in a list of tokens, with the steps every reader takes."""

from typing import Literal

from lanelink.lowering.emulator.errors import PtxError
from lanelink.lowering.emulator.tokens import Token, number

_LARGEST = 1 << 64


class Cursor:
    """Reads tokens in order; every step that does not find what it expects raises PtxError at the token's line."""

    def __init__(self, tokens: list[Token], module: str) -> None:
        self.tokens = tokens
        self.module = module
        self.index = 0

    @property
    def peek(self) -> Token:
        return self.tokens[self.index]

    def next(self) -> Token:
        token = self.tokens[self.index]
        if token.kind == "end":
            raise self.error("more PTX")
        self.index += 1
        return token

    def error(self, expected: str) -> PtxError:
        token = self.peek
        got = "the end of the text" if token.kind == "end" else repr(token.text)
        return PtxError(f"expected {expected}, got {got}", token.line, self.module)

    def accept(self, text: str) -> bool:
        if self.peek.text == text and self.peek.kind != "string":
            self.index += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        token = self.peek
        if not self.accept(text):
            raise self.error(repr(text))
        return token

    def word(self, expected: str) -> Token:
        if self.peek.kind != "word":
            raise self.error(expected)
        return self.next()

    def number_text(self, expected: str) -> str:
        if self.peek.kind != "number":
            raise self.error(expected)
        return self.next().text

    def number(self, expected: str) -> tuple[Literal["int", "f4", "f8"], int]:
        """A number with its sign: the sign of a float flips its top bit."""
        negative = self.accept("-")
        token = self.peek
        text = self.number_text(expected)
        try:
            kind, value = number(text)
        except ValueError:
            raise PtxError(f"expected {expected}, got {text[:40]!r}", token.line, self.module) from None
        if kind == "int" and value >= _LARGEST:
            raise PtxError(f"expected a number below 2^64, got {text[:40]!r}", token.line, self.module)
        if not negative:
            return kind, value
        if kind == "int":
            return kind, -value
        return kind, value ^ (1 << (31 if kind == "f4" else 63))

    def integer(self, expected: str) -> int:
        """A whole number from 0 up to 2^31."""
        token = self.peek
        kind, value = self.number(expected)
        if kind != "int" or not 0 <= value < 1 << 31:
            raise PtxError(f"expected {expected}, got {token.text!r}", token.line, self.module)
        return value

    def alignment(self) -> int:
        token = self.peek
        value = self.integer("an alignment")
        if value < 1 or value > 1 << 16 or value & (value - 1):
            raise PtxError(f"expected an alignment that is a power of two, got {value}", token.line, self.module)
        return value

    def skip_line(self, line: int) -> None:
        """To the first token of another line: `.loc` and `.file` end with their line."""
        while self.peek.kind != "end" and self.peek.line == line:
            self.index += 1

    def skip_past(self, text: str) -> None:
        while self.next().text != text:
            pass

    def skip_braces(self) -> None:
        """Past one balanced `{ ... }`."""
        self.expect("{")
        depth = 1
        while depth:
            token = self.next()
            if token.kind == "mark":
                depth += (token.text == "{") - (token.text == "}")
