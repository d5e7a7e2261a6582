"""Products: with their bias, with the norm of their sum, and several of one activation."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import BinaryKind, ElementwiseOp, FusionClass, MatmulOp
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Chain, Group, Parts
from lanelink.passes.fuse.views import (
    Rotation,
    from_outside,
    is_constant,
    is_fused,
    is_read_once,
    norm,
    rotation,
    rows_product,
)

PARTS = 4
"""The most products of one launch."""


def _gemm_bias(op: Operation) -> Parts | None:
    """A product, then the sum, which alone reads it, with a constant row, on either side."""
    if not isinstance(op, ElementwiseOp) or op.kind.data is not BinaryKind.ADD:
        return None
    for result, bias in ((op.a, op.b), (op.b, op.a)):
        if isinstance(result.owner, MatmulOp) and is_read_once(result) and is_constant(bias):
            _, width = matrix(result, "matmul result")
            return (result.owner, op) if matrix(bias, "bias") == (1, width) else None
    return None


def _gemv_norm_epilogue(op: Operation) -> Parts | None:
    """
    A product by checkpoint rows, then the norm of its rows, or of its sum with a residual on either side, which alone
    reads it; where one side of the sum is normed before, that side. The norm may keep the sum and be quantized.
    """
    found = norm(op)
    if found is None:
        return None
    for value in found.folds:
        before = rows_product(value.owner)
        if before is not None and is_read_once(value):
            return before.op, found.op
    return None


@dataclass(frozen=True)
class _Projection:
    """A member of merged_qkv: a product, turned or not, landing in a table or not."""

    x: SSAValue
    format: Format
    turn: tuple[object, ...] | None
    """What turned members of one launch share: tables, position and the size of a head."""


def _projection(op: Operation) -> _Projection | None:
    if is_fused(op, FusionClass.QKV_HEAD_EPILOGUE):
        first, last = op.parts[0], op.parts[-1]
    elif is_fused(op, FusionClass.ROW_IN_PLACE):
        first, last = op.parts[0], None
    else:
        first, last = op, None
    before = rows_product(first)
    if before is None or before.format is None:
        return None
    turned = rotation(last)
    return _Projection(from_outside(before.x, op), before.format, None if turned is None else _turn(turned, op))


def _turn(turned: Rotation, op: Operation) -> tuple[object, ...]:
    tables = (None if v is None else from_outside(v, op) for v in turned.tables)
    return (*tables, *turned.head)


def _shared(op: Operation) -> Hashable | None:
    """Products of one activation by checkpoint rows of one format."""
    found = _projection(op)
    return None if found is None else (found.x, found.format)


def _turns_alike(members: Parts, op: Part) -> bool:
    """Whether the members that are turned, and op where it is, share tables, position and the size of a head."""
    turns = {found.turn for m in (*members, op) if (found := _projection(m)) is not None and found.turn is not None}
    return len(turns) <= 1


GEMM_BIAS = Chain(FusionClass.GEMM_BIAS, _gemm_bias)
GEMV_NORM_EPILOGUE = Chain(FusionClass.GEMV_NORM_EPILOGUE, _gemv_norm_epilogue)
MERGED_QKV = Group(FusionClass.MERGED_QKV, key=_shared, joins=_turns_alike, most=PARTS)
