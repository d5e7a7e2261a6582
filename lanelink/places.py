"""Reading MLIR text with the place of each op kept, so that what is wrong is told with its file, line and column.

xDSL's parser keeps the locations that a text gives (`loc(...)`), not those of the text itself. Here an op without one
is located where it stands, as in MLIR, and a name that stands alone is the name of that place, so that passes tell it
too; and a verifier's fault is told with its place whatever the text says. A number that an i64 would wrap to a negative
one is told where it stands, and a value that nothing defines where it is first used.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FileLineColLoc,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    i64,
)
from xdsl.ir import AttributeInvT, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from lanelink.dialects.attribute_syntax import misplaced
from lanelink.dialects.fault import OpFault, located
from lanelink.parse_faults import UNDEFINED, told

OWN = ("driver", "func", "launch", "tgraph")
"""Dialects whose numbers are sizes, places and counts, each as an i64."""


class PlacingParser(Parser):
    """xDSL's parser, which also remembers where each op's text begins, `line_offset` lines below its file's first."""

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0) -> None:
        try:
            super().__init__(ctx, text, name)  # reads the first token
        except ParseError as error:
            raise told(error) from None
        self._file = StringAttr(name)
        self._before = line_offset
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._starts: dict[Operation, int] = {}
        self._wide: list[tuple[Span, int]] = []
        """Numbers past an i64 that what is being parsed holds."""
        self._uses: dict[SSAValue, Span] = {}
        """The first use of each value that was not defined yet when it was met."""

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as error:
            if error.msg.startswith(UNDEFINED):
                self._refuse_undefined()
            raise told(error) from None
        self._check_defined(module)
        self._keep(module, 0)  # one that the text leaves out begins where it does
        return module

    def parse_operation(self) -> Operation:
        start, before = self._current_token.span.start, len(self._wide)
        try:
            op = super().parse_operation()
        except VerifyException as error:
            # Of what an op is made of, before there is one: a number that its field does not hold.
            self._check_wide(before)
            raise ParseError(Span(start, self.pos, self.lexer.input), str(error)) from None
        if op.dialect_name() in OWN:
            self._check_wide(before)
            self._check_fields(op, start)
        del self._wide[before:]
        self._keep(op, start)
        return op

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        value = super().resolve_operand(operand, type)
        if isinstance(value, ForwardDeclaredValue):
            # A region's uses are resolved before those of the op that holds it, where it is written in generic form.
            self._uses[value] = min(operand.span, self._uses.get(value, operand.span), key=lambda span: span.start)
        return value

    def parse_optional_integer(self, allow_boolean: bool = True, allow_negative: bool = True) -> int | None:
        at = self._current_token.span
        value = super().parse_optional_integer(allow_boolean, allow_negative)
        if value is not None and value >= 2**63:
            self._wide.append((at, value))
        return value

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        before = len(self._wide)
        found = super().parse_optional_builtin_int_or_float_attr()
        if not isinstance(found, IntegerAttr) or found.type != i64:
            del self._wide[before:]  # bits of a float, say
        return found

    def _check_defined(self, module: ModuleOp) -> None:
        """Refuses an operand that a region inside its op alone defines: xDSL takes it for defined there."""
        for op in module.walk():
            for operand in op.operands:
                if isinstance(operand, ForwardDeclaredValue):
                    span = self._uses[operand]
                    raise ParseError(span, f"expected a value that is defined outside of {op.name}, got {span.text}")

    def _refuse_undefined(self) -> NoReturn:
        """Of the values that nothing in the text defines, the one used first."""
        values = [value for each in self.forward_ssa_references.values() for value in each.values()]
        span = min((self._uses[value] for value in values), key=lambda span: span.start)
        raise ParseError(span, f"expected a value that the text defines, got {span.text}")

    def _check_fields(self, op: Operation, start: int) -> None:
        """Refuses a field among the attributes, as generic forms and declared ones may give it beside the one read."""
        fields = op.get_irdl_definition().properties if isinstance(op, IRDLOperation) else {}
        for name, value in op.attributes.items():
            if name in fields:
                raise ParseError(Span(start, start + 1, self.lexer.input), misplaced(op.name, name, value))

    def _check_wide(self, before: int) -> None:
        """Refuses the first number past an i64 of those met since there were `before`."""
        for span, value in self._wide[before:]:
            raise ParseError(span, f"expected a number of at most {2**63 - 1}, which an i64 holds, got {value}")

    def _keep(self, op: Operation, start: int) -> None:
        if op in self._starts:
            return
        self._starts[op] = start
        line, column = self._place(start)
        place, given = FileLineColLoc(self._file, IntAttr(line), IntAttr(column)), op.location
        if isinstance(given, UnknownLoc):
            op.location = place
        elif isinstance(given, NameLoc) and isinstance(given.location, NoneAttr | UnknownLoc):
            op.location = NameLoc(given.desc, place)

    def _place(self, start: int) -> tuple[int, int]:
        """The line in the file and the column of a place in the text, from 1."""
        line = bisect_right(self._lines, start)
        return self._before + line, start - self._lines[line - 1] + 1

    @contextmanager
    def places(self, module: ModuleOp) -> Generator[None, None, None]:
        """
        Puts `FILE:LINE:COLUMN: ` and the op's name before what a VerifyException says of an op that was parsed, or that
        a pass made in the place of one. What is raised of other ops stays as it is.
        """
        try:
            yield
        except VerifyException as error:
            known = error.op if isinstance(error, OpFault) else None
            op = known or _first_fault(module)
            if op is not None:
                reason = str(error) if known else _named(op, str(error))
                error.args = (self._placed(op, reason),)
            raise

    def _placed(self, op: Operation, reason: str) -> str:
        start = self._starts.get(op)
        placed = located(op, "")
        if start is None or placed.startswith(f"{self._file.data}:"):
            return reason if placed and reason.startswith(placed) else f"{placed}{reason}"
        return f"{':'.join(map(str, (self._file.data, *self._place(start))))}: {reason}"


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
        op.verify()
    except VerifyException:
        return op
    return None


__all__ = ["PlacingParser"]
