"""Types and a fused op that tests of the tensor graph are made of."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, f32, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from lanelink.dialects.tgraph import (
    FusedOp,
    FusionClass,
    SigmoidOp,
    SiluOp,
    YieldOp,
)


def floats(*shape: int) -> TensorType[Attribute]:
    """The type of f32 values of a shape."""
    return TensorType(f32, shape)


def ints(count: int) -> TensorType[Attribute]:
    """The type of `count` indices."""
    return TensorType(i32, [count])


def two_parts(x: SSAValue) -> FusedOp:
    """A fused op of two parts, one of the other's result."""
    body = Block(arg_types=[x.type])
    first = SiluOp(body.args[0])
    second = SigmoidOp(first.result)
    body.add_ops([first, second, YieldOp(second.result)])
    return FusedOp(FusionClass.ADD_NORM, [x], [x.type], Region(body))
