"""A tensor put together row by row: what a chunk's or a batch's rows, computed one by one, are gathered by."""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph import SetRowOp
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.passes.fuse.views import is_read_once


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
