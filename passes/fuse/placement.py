"""A result that lands in rows of a table where its launch writes it."""

from __future__ import annotations

from xdsl.ir import Operation

from lanelink.dialects.tgraph import FusionClass, SetRowOp
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.views import is_fused, is_read_once, product, rotation


def _row_in_place(op: Operation) -> Parts | None:
    """
    A product or a rotation, then the set_row that alone reads it, into a table that nothing else reads: the rows land
    without a copy of the table.
    """
    if not isinstance(op, SetRowOp) or not is_read_once(op.source) or not is_read_once(op.table):
        return None
    source = op.source.owner
    if is_fused(source, FusionClass.ROW_IN_PLACE):
        return None
    found = product(source) or rotation(source)
    return None if found is None else (found.op, op)


ROW_IN_PLACE = Chain(FusionClass.ROW_IN_PLACE, _row_in_place)
