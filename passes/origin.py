"""Where a value inside fused regions comes from."""

from __future__ import annotations

from xdsl.ir import BlockArgument, SSAValue

from lanelink.dialects.tgraph.constant import ConstantOp
from lanelink.dialects.tgraph.fused import FusedOp


def outer(value: SSAValue) -> SSAValue | None:
    """The operand a fused op's block argument stands for; none for any other value."""
    if not isinstance(value, BlockArgument):
        return None
    parent = value.block.parent_op()
    return parent.inputs[value.index] if isinstance(parent, FusedOp) else None


def origin(value: SSAValue) -> SSAValue:
    """The value of the step itself that `value` stands for, out of every fused region."""
    while (above := outer(value)) is not None:
        value = above
    return value


def constant(value: SSAValue) -> ConstantOp | None:
    """The constant a value stands for, where it is one."""
    owner = origin(value).owner
    return owner if isinstance(owner, ConstantOp) else None
