"""Text checked for strings that never end, before it is parsed.

xDSL's lexer matches a string by a pattern that tries exponentially many ways to split it where it does not end: an
unclosed quote hangs it, and so does an escape that it does not know. Here the text is read once, in linear time.
"""

from __future__ import annotations

import re

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span

# A comment, which may hold quotes; or a string as far as it is one, the quote that closes it in the group. Possessive
# quantifiers (`++`, `*+`) give nothing back, so no text is read twice.
_COMMENT_OR_STRING = re.compile(r'//[^\n]*+|"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+("?)')

_SHOWN = 40
"""Characters of the faulty line to show past the fault: the rest of it may be megabytes."""


def check_quotes(text: str, name: str) -> None:
    """Raises a ParseError at the first string of MLIR text `text` that does not end on its line, or whose escape is
    none; `name` is the file's."""
    for match in _COMMENT_OR_STRING.finditer(text):
        if match[1] != "":
            continue
        end = match.end()
        if text[end : end + 1] == "\\":
            got = text[end : end + 2].rstrip("\n")
            message = f'expected one of the escapes \\n, \\t, \\\\, \\" and two hex digits in a string, got {got}'
            raise _located(text, name, end, message)
        got = "the end of the text" if end == len(text) else "the end of the line"
        raise _located(text, name, match.start(), f"expected a closing quote on the string's own line, got {got}")


def _located(text: str, name: str, at: int, message: str) -> ParseError:
    return ParseError(Span(at, at + 1, Input(text[: at + _SHOWN], name)), message)


__all__ = ["check_quotes"]
