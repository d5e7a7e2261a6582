"""An attention whose output is gated where it is stored, for one sequence or for each of a batch's."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from lanelink.dialects.tgraph import ElementwiseOp, FusedOp, FusionClass, GeluOp, SigmoidOp, SiluOp
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.row_sets import attended_rows
from lanelink.passes.fuse.views import attention, from_outside, is_fused, is_read_once


def _attn_output_gate(op: Operation) -> Parts | None:
    """
    An attention, then its product with the activation of something else, which alone reads it. Of a batch: each
    sequence's attention, read by the set_row that alone puts it into its row, rows in order from first to last, and the
    product, which alone reads the last of those.
    """
    if not is_fused(op, FusionClass.GLU_ACT_MUL):
        return None
    value = _gated(op)
    if value is None or not is_read_once(value):
        return None
    if (one := attention(value.owner)) is not None:
        return one, op
    rows = attended_rows(value)
    return None if rows is None else (*rows, op)


def _gated(op: FusedOp) -> SSAValue | None:
    """What a gated product multiplies by the activation, where that is of something else."""
    act, product = op.parts
    if not isinstance(act, SiluOp | SigmoidOp | GeluOp) or not isinstance(product, ElementwiseOp):
        return None
    value = from_outside(product.b if product.a is act.result else product.a, op)
    return value if value is not from_outside(act.x, op) else None


ATTN_OUTPUT_GATE = Chain(FusionClass.ATTN_OUTPUT_GATE, _attn_output_gate)
