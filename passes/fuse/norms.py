"""A norm with the residual sum before it, and with the norm of what that sum adds."""

from __future__ import annotations

from xdsl.ir import Operation

from lanelink.dialects.tgraph import BinaryKind, ElementwiseOp, FusedRowOp, FusionClass, NormKind
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.views import is_fused, is_read_once, norm, row_norm


def _add_norm(op: Operation) -> Parts | None:
    """A sum of two equal shapes, then the norm of its rows. The sum is kept where it has other readers."""
    found = row_norm(op)
    if found is None or found.residual is not None:
        return None
    add = found.x.owner
    if not isinstance(add, ElementwiseOp) or add.kind.data is not BinaryKind.ADD or add.a.type != add.b.type:
        return None
    return add, found


def _norm_then_add(op: Operation) -> Parts | None:
    """
    A weighted RMS norm of whole rows, then the norm of its sum with other rows, on either side, which alone reads it.
    Each has its own eps. The sum is kept where it has other readers.
    """
    if not isinstance(op, FusedRowOp) and not is_fused(op, FusionClass.ADD_NORM):
        return None
    outer = norm(op)
    if outer is None or len(outer.reads) != 2 or outer.reads[0] is outer.reads[1]:
        return None
    for value in outer.reads:
        inner = row_norm(value.owner)
        if inner is not None and is_read_once(value) and _is_plain(inner):
            return inner, outer.op
    return None


def _is_plain(inner: FusedRowOp) -> bool:
    kind = inner.kind.data is NormKind.RMS
    return kind and inner.weight is not None and inner.bias is None and inner.residual is None


ADD_NORM = Chain(FusionClass.ADD_NORM, _add_norm)
NORM_THEN_ADD = Chain(FusionClass.NORM_THEN_ADD, _norm_then_add)
