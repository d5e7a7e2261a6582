"""The greedy choice with the move to the next position."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Operation

from lanelink.dialects.tgraph import AdvanceOp, ArgMaxOp, FusionClass
from lanelink.dialects.tgraph.attributes import indices
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Group, Parts


def _choice(op: Operation) -> Hashable | None:
    """
    The choice of every row's token, and the advance by that row of as many positions: those of the one sequence, or of
    a batch's. Both results are kept.
    """
    if isinstance(op, ArgMaxOp):
        return indices(op.result, "arg_max result")
    return indices(op.position, "advance position") if isinstance(op, AdvanceOp) and op.by.value.data == 1 else None


def _other_half(members: Parts, op: Part) -> bool:
    return type(members[0]) is not type(op)


FUSED_SAMPLING = Group(FusionClass.FUSED_SAMPLING, key=_choice, joins=_other_half, most=2)
