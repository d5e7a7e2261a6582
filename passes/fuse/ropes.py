"""Rotations: with the norm of their heads, with the product they turn, and several in one launch."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Operation

from lanelink.dialects.tgraph import FusedRowOp, FusionClass, NormKind, RopeOp
from lanelink.passes.fuse.patterns import Chain, Group, Parts
from lanelink.passes.fuse.views import is_read_once, rotation, rows_product

SIDES = 4
"""The most rotations of one launch."""


def _qk_norm_rope(op: Operation) -> Parts | None:
    """A weighted RMS norm of every head, then the rotation of the same heads, which alone reads it."""
    if not isinstance(op, RopeOp) or not is_read_once(op.x):
        return None
    norm = op.x.owner
    if (
        not isinstance(norm, FusedRowOp)
        or norm.kind.data is not NormKind.RMS
        or norm.cols != op.head_dim
        or norm.weight is None
        or norm.bias is not None
        or norm.residual is not None
    ):
        return None
    return norm, op


def _qkv_head_epilogue(op: Operation) -> Parts | None:
    """
    A product by checkpoint rows, then the rotation of its heads, which alone reads it. The rotation reads the
    product's whole row, so its heads are the row: heads × head_dim = n.
    """
    turn = rotation(op)
    if turn is None or turn.strided or not is_read_once(turn.x):
        return None
    found = rows_product(turn.x.owner)
    return None if found is None else (found.op, turn.op)


def _sides(op: Operation) -> Hashable | None:
    """Rotations of as many rows by the same tables from the same position, of heads of one size turned as far."""
    turn = rotation(op)
    return None if turn is None else (turn.rows, turn.tables, turn.head)


QK_NORM_ROPE = Chain(FusionClass.QK_NORM_ROPE, _qk_norm_rope)
QKV_HEAD_EPILOGUE = Chain(FusionClass.QKV_HEAD_EPILOGUE, _qkv_head_epilogue)
ROPE_QK_ONE_LAUNCH = Group(FusionClass.ROPE_QK_ONE_LAUNCH, key=_sides, joins=lambda members, op: True, most=SIDES)
