"""Reading MLIR text with the place of each op kept, so that what is wrong is told with its file, line and column.

xDSL's parser keeps the locations that a text gives (`loc(...)`), not those of the text itself. Here an op without one
is located where it stands, as in MLIR, so that passes tell its place too; and a verifier's fault is told with its place
whatever the text says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from lanelink.dialects.fault import OpFault


class PlacingParser(Parser):
    """xDSL's parser, which also remembers where each op's text begins, `line_offset` lines below its file's first."""

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0) -> None:
        super().__init__(ctx, text, name)
        self._file = StringAttr(name)
        self._before = line_offset
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._starts: dict[Operation, int] = {}

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        try:
            op = super().parse_operation()
        except VerifyException as error:
            # Of what an op is made of, before there is one: a number that its field does not hold.
            raise ParseError(Span(start, self.pos, self.lexer.input), str(error)) from None
        self._starts[op] = start
        if isinstance(op.location, UnknownLoc):
            line, column = self._place(start)
            op.location = FileLineColLoc(self._file, IntAttr(line), IntAttr(column))
        return op

    def _place(self, start: int) -> tuple[int, int]:
        """The line in the file and the column of a place in the text, from 1."""
        line = bisect_right(self._lines, start)
        return self._before + line, start - self._lines[line - 1] + 1

    @contextmanager
    def places(self, module: ModuleOp) -> Generator[None, None, None]:
        """
        Puts `FILE:LINE:COLUMN: ` and the op's name before what a VerifyException says of an op that was parsed. What is
        raised of other ops stays as it is.
        """
        try:
            yield
        except VerifyException as error:
            known = error.op if isinstance(error, OpFault) else None
            op = known or _first_fault(module)
            # A module that the text leaves out begins where it does.
            start = None if op is None else self._starts.get(op, 0 if op is module else None)
            if op is not None and start is not None:
                place = ":".join(map(str, (self._file.data, *self._place(start))))
                reason = str(error).removeprefix(f"{place}: ")
                error.args = (f"{place}: {reason if known else _named(op, reason)}",)
            raise


def _named(op: Operation, reason: str) -> str:
    """What an op's verifier says, with the op's name in front, which some leave out, or give without its dialect."""
    if op.name in reason:
        return reason
    dialect, _, name = op.name.partition(".")
    return f"{dialect}.{reason}" if re.match(rf"{name}\b", reason) else f"{op.name}: {reason}"


def _first_fault(op: Operation) -> Operation | None:
    """The op whose own verifier fails first, in the order in which xDSL asks them: parts before what holds them."""
    for region in op.regions:
        for block in region.blocks:
            for part in block.ops:
                if (found := _first_fault(part)) is not None:
                    return found
    try:
        op.verify(verify_nested_ops=False)
    except VerifyException:
        return op
    return None


__all__ = ["PlacingParser"]
