"""The greedy choice with the move to the next position."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Operation

from lanelink.dialects.tgraph import AdvanceOp, ArgMaxOp, FusionClass
from lanelink.dialects.tgraph.attributes import indices
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Group, Parts


def _choice(op: Operation) -> Hashable | None:
    """The choice of one row's token, and the position's advance by that row; both results are kept."""
    if isinstance(op, ArgMaxOp):
        return True if indices(op.result, "arg_max result") == 1 else None
    return True if isinstance(op, AdvanceOp) and op.by.value.data == 1 else None


def _other_half(members: Parts, op: Part) -> bool:
    return type(members[0]) is not type(op)


FUSED_SAMPLING = Group(FusionClass.FUSED_SAMPLING, key=_choice, joins=_other_half, most=2)
