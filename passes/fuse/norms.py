"""A norm with the residual sum before it."""

from __future__ import annotations

from xdsl.ir import Operation

from lanelink.dialects.tgraph import BinaryKind, ElementwiseOp, FusionClass
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.views import row_norm


def _add_norm(op: Operation) -> Parts | None:
    """A sum of two equal shapes, then the norm of its rows. The sum is kept where it has other readers."""
    norm = row_norm(op)
    if norm is None or norm.residual is not None:
        return None
    add = norm.x.owner
    if not isinstance(add, ElementwiseOp) or add.kind.data is not BinaryKind.ADD or add.a.type != add.b.type:
        return None
    return add, norm


ADD_NORM = Chain(FusionClass.ADD_NORM, _add_norm)
