"""What a diagnostic quotes, cut to what is read: a line or a name of an input may be megabytes long."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.utils.exceptions import DiagnosticException, MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Input, Span

MOST = 800
"""Characters of a message that are printed whole."""
HEAD, TAIL = 600, 150
"""Those kept of a longer one: what was expected stands first, what was got often last."""

LINE = 400
"""Characters of a line at fault that are printed whole."""
BEFORE, AFTER = 120, 240
"""Those kept of a longer one on either side of where the fault begins."""


def cut(text: str) -> str:
    """A message with what is too much of it left out of its middle, and how much that was in its place."""
    if len(text) <= MOST:
        return text
    return f"{text[:HEAD]} [{len(text) - HEAD - TAIL} characters cut] {text[-TAIL:]}"


class _CutSpan(Span[str]):
    """A span that shows of a long line, or of many lines, only what lies around its start."""

    def print_with_context(self, msg: str | None = None) -> str:
        text = self.input.content
        first, last = self.input.get_start_of_line(self.start), self.input.get_end_of_line(self.start)
        if self.input.get_end_of_line(max(self.start, self.end - 1)) - first <= LINE:
            return super().print_with_context(msg)
        begin, end = max(first, self.start - BEFORE), min(last, self.start + AFTER)
        head = f"[{begin - first} characters cut] " if begin > first else ""
        tail = f" [{last - end} characters cut]" if end < last else ""
        margin = " " * (len(head) + self.start - begin)
        lines = [
            str(self.get_location()),
            f"{head}{text[begin:end]}{tail}",
            margin + "^" * max(min(self.end, end) - self.start, 1),
            *([] if msg is None else [margin + msg]),
        ]
        return "\n".join(lines) + "\n"


def cut_fault(error: Exception) -> None:
    """Cuts what an exception of a text's says and shows; a second time changes nothing."""
    if isinstance(error, ParseError):
        error.span, error.msg = _cut_span(error.span), cut(error.msg)
        if isinstance(error, MultipleSpansParseError):
            error.ref_text = None if error.ref_text is None else cut(error.ref_text)
            error.refs = [(_cut_span(span), None if said is None else cut(said)) for span, said in error.refs]
    elif isinstance(error, DiagnosticException):
        error.args = (cut(str(error)),)
        # The module itself, which xDSL's driver prints below the reason.
        notes: list[str] = getattr(error, "__notes__", [])
        notes[:] = ["\n".join(map(cut, note.split("\n"))) for note in notes]


@contextmanager
def faults_cut() -> Generator[None, None, None]:
    """Cuts the faults of a text that are raised in the block, for those who print them."""
    try:
        yield
    except (ParseError, DiagnosticException) as error:
        cut_fault(error)
        raise


def _cut_span(span: Span[str] | Span[bytes]) -> Span[str] | Span[bytes]:
    content = span.input.content
    if not isinstance(content, str) or isinstance(span, _CutSpan):
        return span
    return _CutSpan(span.start, span.end, Input(content, span.input.name), span.line_offset)


__all__ = ["cut", "cut_fault", "faults_cut"]
