"""What xDSL's lexer and parser say of text that is no MLIR at some character, in words that give both sides."""

from __future__ import annotations

from xdsl.utils.exceptions import ParseError

UNDEFINED = "values used but not defined"
"""How xDSL begins what it says, at the end of a text, of values that nothing in it defines."""

_NAMES = ("Expected suffix identifier after", "Unexpected end of file after @", "@ identifier expected to start with")
_END = "the end of the text"


def told(error: ParseError) -> ParseError:
    """The same fault at the same place with what was expected and what is there; one that gives both already, as is."""
    content = error.span.input.content
    if not isinstance(content, str):
        return error
    reason = _reason(error.msg, error.span.text, content[error.span.start :][:3])
    return error if reason is None else ParseError(error.span, reason)


def _reason(message: str, token: str, there: str) -> str | None:
    """Of the token and of the next three characters that stand where the fault is; none for other messages."""
    if message.startswith(_NAMES):
        return f"expected a name right after {there[0]!r}, got {_shown(there[1:2])}"
    if message.startswith("Unexpected character"):
        return f"expected MLIR text, got the character {there[:1]!r}"
    if message.startswith("Expected three consecutive '.'"):
        return f"expected '...', got {there!r}"
    if message.startswith("Could not parse entire input"):
        return f"expected an op, got {_shown(token)}"
    return None


def _shown(text: str) -> str:
    return repr(text) if text else _END


__all__ = ["UNDEFINED", "told"]
