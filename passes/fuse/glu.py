"""Gated linear units: the activation with its product, and both with the two matrices before them."""

from __future__ import annotations

from xdsl.ir import Operation

from lanelink.dialects.tgraph import (
    BinaryKind,
    ElementwiseOp,
    FusedOp,
    FusionClass,
    GeluOp,
    SigmoidOp,
    SiluOp,
    SwigluOp,
)
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.views import is_fused, is_read_once, rows_product


def _glu_act_mul(op: Operation) -> Parts | None:
    """An activation, then its product with another tensor of its shape, on either side, which alone reads it."""
    if not isinstance(op, ElementwiseOp) or op.kind.data is not BinaryKind.MUL or op.a.type != op.b.type:
        return None
    for side in (op.a, op.b):
        act = side.owner
        if isinstance(act, SiluOp | SigmoidOp | GeluOp) and is_read_once(side):
            return act, op
    return None


def _gemv_gate_up_glu(op: Operation) -> Parts | None:
    """
    Two products of one activation by checkpoint rows of one format, then the gated unit that alone reads them; its
    operands have one shape, and so have the products.
    """
    if not isinstance(op, SwigluOp | FusedOp) or not (
        isinstance(op, SwigluOp) or is_fused(op, FusionClass.GLU_ACT_MUL)
    ):
        return None
    if len(op.operands) != 2 or not all(map(is_read_once, op.operands)):
        return None
    gate, up = (rows_product(value.owner) for value in op.operands)
    if gate is None or up is None or gate.x is not up.x or gate.format != up.format:
        return None
    return gate.op, up.op, op


GLU_ACT_MUL = Chain(FusionClass.GLU_ACT_MUL, _glu_act_mul)
GEMV_GATE_UP_GLU = Chain(FusionClass.GEMV_GATE_UP_GLU, _gemv_gate_up_glu)
