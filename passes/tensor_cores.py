"""
Products on tensor cores: which they are, what a block takes of them, and what their launches leave to others.

A tile is some rows of x by some outputs, so that no block has a whole row of the result: a norm of it would wait for
the block that ends last, and 64 rows for that one block. It runs as a launch of its own. A head is turned in the launch
that computes it where it lies whole in a tile.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from lanelink.dialects.tgraph import FusedOp, FusionClass
from lanelink.dialects.tgraph.attributes import Q8Type
from lanelink.passes.fuse.views import rotation, rows_product

STREAMED_ROWS = 8
"""Rows of x up to which a product streams its matrix; with more it is bound by its sums, and goes to tensor cores."""

TILE_OUTPUTS, TILE_ROWS = 128, 64
"""The stored rows and the rows of x of a block's tile. Of a pair of matrices it has half as many of each."""

CHUNK = 128
"""Inputs that a block sums between two loads into shared memory."""

BLOCKS = 2
"""Blocks that share a multiprocessor: one sums while the other waits for what it has sent for."""


@dataclass(frozen=True)
class Tail:
    """Tiles from number `first` on are shared by `split` blocks each, by inputs; those before are one block's."""

    first: int
    split: int


def for_tensor_cores(rows: int, quantized: bool) -> bool:
    """Whether a product of so many rows of x is for tensor cores: many of them, of integers."""
    return quantized and rows > STREAMED_ROWS


def whole_heads(hd: int) -> bool:
    """Whether heads of `hd` values lie whole in tiles."""
    return hd >= 1 and TILE_OUTPUTS % hd == 0


def wide_product(op: FusedOp) -> str | None:
    """Why a product on tensor cores does not run with what follows it as one launch, or none; none for a fused op of
    another class."""
    follows = op.fusion_class.data
    if follows not in (FusionClass.GEMV_NORM_EPILOGUE, FusionClass.QKV_HEAD_EPILOGUE):
        return None
    if (rows := _wide_rows(op.parts[0])) is None:
        return None
    if follows is FusionClass.GEMV_NORM_EPILOGUE:
        return f"expected at most {STREAMED_ROWS} quantized rows before a norm of them in one launch, got {rows}"
    turn = rotation(op.parts[1])
    if turn is None or whole_heads(turn.head[0]):
        return None
    return (
        f"expected heads that {TILE_OUTPUTS} outputs hold whole behind {rows} quantized rows, got {turn.head[0]} values"
    )


def _wide_rows(part: Operation) -> int | None:
    """The rows of a product that is for tensor cores."""
    found = rows_product(part)
    if found is None or not isinstance(found.x.type, Q8Type):
        return None
    rows, _ = found.x.type.shape
    return rows if for_tensor_cores(rows, quantized=True) else None


__all__ = [
    "BLOCKS",
    "CHUNK",
    "STREAMED_ROWS",
    "TILE_OUTPUTS",
    "TILE_ROWS",
    "Tail",
    "for_tensor_cores",
    "whole_heads",
    "wide_product",
]
