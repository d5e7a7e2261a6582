"""Producers that write their result's quantized form in their own launch, beside its f32 form where that is read."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from lanelink.dialects.tgraph import AttentionOp, ElementwiseOp, FusionClass, QuantizeOp, SwigluOp
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.views import is_fused, last_result, row_norm, rows_product


def _quantized(fusion_class: FusionClass, produces: Callable[[Part], bool]) -> Chain:
    """A producer, then the quantize of its result, whatever else reads that."""

    def match(op: Operation) -> Parts | None:
        if not isinstance(op, QuantizeOp):
            return None
        producer = last_result(op.x)
        return (producer, op) if isinstance(producer, Part) and produces(producer) else None

    return Chain(fusion_class, match)


NORM_QUANT = _quantized(FusionClass.NORM_QUANT, lambda op: row_norm(op) is not None)
ADD_NORM_QUANT = _quantized(FusionClass.ADD_NORM_QUANT, lambda op: is_fused(op, FusionClass.ADD_NORM))
ATTN_OUTPUT_QUANT = _quantized(FusionClass.ATTN_OUTPUT_QUANT, lambda op: isinstance(op, AttentionOp))
GEMV_QUANT = _quantized(FusionClass.GEMV_QUANT, lambda op: rows_product(op) is not None)
ELEMENTWISE_QUANT = _quantized(FusionClass.ELEMENTWISE_QUANT, lambda op: isinstance(op, ElementwiseOp))
GLU_ACT_MUL_QUANT = _quantized(
    FusionClass.GLU_ACT_MUL_QUANT,
    lambda op: isinstance(op, SwigluOp) or is_fused(op, FusionClass.GLU_ACT_MUL, FusionClass.GEMV_GATE_UP_GLU),
)
