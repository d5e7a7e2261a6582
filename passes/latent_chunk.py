"""
When a chunk's latent attention runs expanded (DeepSeek-V2, section 2.1).

Absorbed, a head of a row costs latent + rope products a position for its score and latent for its values; expanded,
nope + rope and value_dim, once every position's keys and values are made, at latent * (nope + value_dim) products a
head. Expanding pays from where rows * (2 * latent - nope - value_dim) is more than latent * (nope + value_dim):
more than 170 rows at DeepSeek-V2's 512 of latent, 128 and 128. Fewer rows run as the parts.

Where it pays, nope + value_dim is less than 2 * latent: a head is narrower expanded than absorbed, so that one block's
shared memory holds it wherever the attention itself is not refused.
"""

from __future__ import annotations

from lanelink.dialects.tgraph import FusedOp, FusionClass
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.passes.fuse.latent import latent


def expanding_pays(rows: int, latent: int, nope: int, value_dim: int) -> bool:
    """Whether a chunk of `rows` costs fewer products expanded than absorbed, over positions without end."""
    return rows * (2 * latent - nope - value_dim) > latent * (nope + value_dim)


def narrow_chunk(op: FusedOp) -> str | None:
    """Why a latent attention is not run expanded, or none; none for a fused op of another class."""
    if op.fusion_class.data is not FusionClass.MLA or (found := latent(op.parts[-1])) is None:
        return None
    rows, _ = matrix(found.attention.q, "attention q")
    width, nope = found.absorb.outputs.value.data, found.absorb.inputs.value.data
    value_dim = found.expand.outputs.value.data
    if not expanding_pays(rows, width, nope, value_dim):
        return f"expected a chunk that costs less expanded, got {rows} rows of {width} to {nope} and {value_dim} values"
    return None


__all__ = ["expanding_pays", "narrow_chunk"]
