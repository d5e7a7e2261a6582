"""Which values of which buffers a launch reads and writes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from lanelink.dialects.launch.attention import AttentionOp
from lanelink.dialects.launch.base import CompoundLaunch, Launch, Placed, buffer_shape
from lanelink.dialects.launch.buffers import ViewOp
from lanelink.dialects.launch.rows import RopeOp, RopeSideOp
from lanelink.dialects.launch.tables import SetRowOp
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.attributes import Q8Type

Range = tuple[int, int]
"""The first of some values of a buffer, and the one past the last."""


@dataclass(frozen=True)
class Access:
    """A buffer that a launch reads or writes; `values` of it where it is those alone, all of it otherwise."""

    buffer: Hashable
    values: Range | None = None

    def meets(self, other: Access) -> bool:
        """Whether two accesses may be of the same values."""
        a, b = self.values, other.values
        return self.buffer == other.buffer and (a is None or b is None or (a[0] < b[1] and b[0] < a[1]))


def meet(some: Iterable[Access], others: Iterable[Access]) -> bool:
    """Whether any access of some may be of values that one of others is of."""
    held: dict[Hashable, list[Access]] = {}
    for access in others:
        held.setdefault(access.buffer, []).append(access)
    return any(access.meets(other) for access in some for other in held.get(access.buffer, ()))


def root(buffer: SSAValue) -> SSAValue:
    """The buffer that a view, or a view of one, is part of; any other buffer itself."""
    return _place(buffer)[0]


def _place(buffer: SSAValue) -> tuple[SSAValue, int]:
    """The buffer that a view is part of, and the value of it that the view begins at."""
    start = 0
    while isinstance(buffer.owner, ViewOp):
        start += buffer.owner.offset.value.data
        buffer = buffer.owner.x
    return buffer, start


def parts(op: Launch) -> Iterator[Launch]:
    """A launch and the launches that it is made of."""
    yield op
    if isinstance(op, CompoundLaunch):
        for member in op.members():
            yield from parts(member)


def reads_of(op: Launch) -> list[Access]:
    """What a launch and its parts read."""
    return [_access(value) for value in op.reads()]


def writes_of(op: Launch) -> list[Access]:
    """What a launch and its parts write: of what lands in fixed rows of a tensor, those."""
    made: list[Access] = []
    for part in parts(op):
        for name, value in part.named_operands():
            if name in part.WRITES:
                rows = _fixed_rows(part) if name in ("out", "quant") else None
                made.append(_access(value, rows))
    return made


def _access(value: SSAValue, rows: Range | None = None) -> Access:
    """Of a buffer all values, those of a view, or some rows of either."""
    held, start = _place(value)
    if rows is not None:
        width = _shape(value)[-1]
        return Access(held, (start + rows[0] * width, start + rows[1] * width))
    return Access(held, None if held is value else (start, start + prod(_shape(value))))


def _shape(value: SSAValue) -> tuple[int, ...]:
    if isinstance(value.type, Q8Type):
        return value.type.shape
    assert is_memref(value.type), "rows and views are of buffers"
    return value.type.get_shape()


def _fixed_rows(op: Launch) -> Range | None:
    """The rows that a launch writes of a tensor, where they are fixed."""
    if not isinstance(op, Placed) or op.row is None or not isinstance(op, AttentionOp | RopeOp | RopeSideOp | SetRowOp):
        return None
    source = op.q if isinstance(op, AttentionOp) else op.source if isinstance(op, SetRowOp) else op.x
    first = op.row.value.data
    return first, first + buffer_shape(source, op.name)[0]


__all__ = ["Access", "Range", "meet", "parts", "reads_of", "root", "writes_of"]
