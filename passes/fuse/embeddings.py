"""A step's embedding with what follows it: its scale, and the first norm."""

from __future__ import annotations

from xdsl.ir import Operation

from lanelink.dialects.tgraph import FusedOp, FusionClass, ScaleOp
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.views import embedding, is_read_once, norm


def _embed_scale(op: Operation) -> Parts | None:
    """A gather of embeddings, then their scale, which alone reads them."""
    if not isinstance(op, ScaleOp) or not is_read_once(op.x):
        return None
    gather = embedding(op.x.owner)
    return None if gather is None or isinstance(gather, FusedOp) else (gather, op)


def _embed_norm(op: Operation) -> Parts | None:
    """
    A gather of embeddings, scaled or not, then the norm of its rows and of nothing added to them, quantized or not.
    The rows themselves are kept where they have other readers, as a residual stream has.
    """
    found = norm(op)
    if found is None or len(found.reads) != 1:
        return None
    gather = embedding(found.reads[0].owner)
    return None if gather is None else (gather, found.op)


EMBED_SCALE = Chain(FusionClass.EMBED_SCALE, _embed_scale)
EMBED_NORM = Chain(FusionClass.EMBED_NORM, _embed_norm)
