"""Producers that write their result's quantized form in their own launch, beside its f32 form where that is read."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from lanelink.dialects.tgraph import ElementwiseOp, FusionClass, GatedDeltaOp, QuantizeOp, SwigluOp
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.row_sets import attended_rows, row_sets
from lanelink.passes.fuse.views import attention, is_fused, last_result, row_norm, rows_product


def _quantized(fusion_class: FusionClass, produces: Callable[[Part], bool]) -> Chain:
    """A producer, then the quantize of its result, whatever else reads that."""

    def match(op: Operation) -> Parts | None:
        if not isinstance(op, QuantizeOp):
            return None
        producer = last_result(op.x)
        return (producer, op) if isinstance(producer, Part) and produces(producer) else None

    return Chain(fusion_class, match)


def _is_norm(op: Part) -> bool:
    """A norm of whole rows, or of a part of every row read in place."""
    return row_norm(op.parts[-1] if is_fused(op, FusionClass.PART_IN_PLACE) else op) is not None


def _attn_output_quant(op: Operation) -> Parts | None:
    """
    An attention, then the quantize of its result, whatever else reads that. Of a batch: each sequence's attention and
    the set_row that alone reads it and puts it into its row, then the quantize of all rows.
    """
    if not isinstance(op, QuantizeOp):
        return None
    one = attention(last_result(op.x))
    rows = (one,) if one is not None else attended_rows(op.x)
    return None if rows is None else (*rows, op)


def _row_write_quant(op: Operation) -> Parts | None:
    """The set_rows that put a tensor together row by row, from its first row to its last, then its quantize."""
    if not isinstance(op, QuantizeOp):
        return None
    sets = row_sets(op.x)
    return None if sets is None else (*sets, op)


NORM_QUANT = _quantized(FusionClass.NORM_QUANT, _is_norm)
ADD_NORM_QUANT = _quantized(
    FusionClass.ADD_NORM_QUANT, lambda op: is_fused(op, FusionClass.ADD_NORM, FusionClass.NORM_THEN_ADD)
)
ATTN_OUTPUT_QUANT = Chain(FusionClass.ATTN_OUTPUT_QUANT, _attn_output_quant)
GDN_OUTPUT_QUANT = _quantized(FusionClass.GDN_OUTPUT_QUANT, lambda op: isinstance(op, GatedDeltaOp))
GEMV_QUANT = _quantized(FusionClass.GEMV_QUANT, lambda op: rows_product(op) is not None)
ELEMENTWISE_QUANT = _quantized(FusionClass.ELEMENTWISE_QUANT, lambda op: isinstance(op, ElementwiseOp))
GLU_ACT_MUL_QUANT = _quantized(
    FusionClass.GLU_ACT_MUL_QUANT,
    lambda op: (
        isinstance(op, SwigluOp)
        or is_fused(op, FusionClass.GLU_ACT_MUL, FusionClass.GEMV_GATE_UP_GLU, FusionClass.ATTN_OUTPUT_GATE)
    ),
)
ROW_WRITE_QUANT = Chain(FusionClass.ROW_WRITE_QUANT, _row_write_quant)
