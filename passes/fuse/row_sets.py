"""A tensor put together row by row: what a chunk's or a batch's rows, computed one by one, are gathered by."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph import FusedOp, SetRowOp
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.dialects.tgraph.fused import YieldOp
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.views import attention, is_read_once


def row_sets(value: SSAValue) -> tuple[SetRowOp, ...] | None:
    """
    The set_rows that leave `value`, each of one row, in order from row 0 to its last: nothing of the table they started
    from is left. Each but the last is read by the next alone. Cost: one step a row.
    """
    # A table that rounds what is set into it is none of a chunk's tensors.
    if not isinstance(value.owner, SetRowOp) or element_of(value) != f32:
        return None
    rows, _ = matrix(value, "table")
    found: list[SetRowOp] = []
    for row in reversed(range(rows)):
        op = value.owner
        if not isinstance(op, SetRowOp) or op.row is None or op.row.value.data != row:
            return None
        if matrix(op.source, "set_row source")[0] != 1 or (found and not is_read_once(value)):
            return None
        found.append(op)
        value = op.table
    return tuple(reversed(found))


def attended_rows(value: SSAValue) -> Sequence[Part] | None:
    """Each sequence's attention, and the set_row that alone reads it and puts it into its row of a batch's `value`."""
    sets = row_sets(value)
    if sets is None:
        return None
    each = [a for s in sets if (a := attention(s.source.owner)) is not None and is_read_once(s.source)]
    return (*each, *sets) if len(each) == len(sets) else None


def sets_every_row(first: SetRowOp) -> bool:
    """
    Whether a set_row of row 0, and those of the rows after it, each of which alone reads the table that the one before
    it left, inside fused ops or not, leave nothing of the table they start from. Cost: as `row_sets`.
    """
    rows, _ = matrix(first.result, "table")
    op: SetRowOp | None = first
    for row in range(rows):
        if op is None or op.row is None or op.row.value.data != row or matrix(op.source, "set_row source")[0] != 1:
            return False
        if row + 1 < rows:
            op = _next_set(op.result)
    return True


def _next_set(table: SSAValue) -> SetRowOp | None:
    """The set_row that alone reads a table, as the one it overwrites."""
    while (use := table.get_unique_use()) is not None:
        match use.operation:
            case YieldOp() as end:
                holder = end.parent_op()
                if not isinstance(holder, FusedOp):
                    return None
                table = holder.outputs[use.index]
            case FusedOp() as holder:
                table = holder.body.block.args[use.index]
            case SetRowOp() as op:
                return op if op.table is table and op.source is not table else None
            case _:
                return None
    return None
