"""Reading MLIR text with the place of each op kept, so that a verifier's fault is told with its file, line and column.

xDSL's parser keeps the locations that a text gives (`loc(...)`), not those of the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from lanelink.dialects.fault import OpFault


class PlacingParser(Parser):
    """xDSL's parser, which also remembers where each op's text begins."""

    _starts: dict[Operation, int]

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        self._starts = {}
        return super().parse_module(allow_implicit_module)

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        try:
            op = super().parse_operation()
        except VerifyException as error:
            # Of what an op is made of, before there is one: a number that its field does not hold.
            raise ParseError(Span(start, self.pos, self.lexer.input), str(error)) from None
        self._starts[op] = start
        return op

    @contextmanager
    def places(self, module: ModuleOp, line_offset: int = 0) -> Generator[None, None, None]:
        """
        Puts `FILE:LINE:COLUMN: ` and the op's name before what a VerifyException says of an op that was parsed.

        `line_offset` are the lines of the file before the parsed text. What is raised of other ops stays as it is.
        """
        try:
            yield
        except VerifyException as error:
            known = error.op if isinstance(error, OpFault) else None
            op = known or _first_fault(module)
            # A module that the text leaves out begins where it does.
            start = None if op is None else self._starts.get(op, 0 if op is module else None)
            if op is not None and start is not None:
                place = Span(start, start + 1, self.lexer.input, line_offset).get_location()
                error.args = (f"{place}: {error if known else _named(op, str(error))}",)
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
