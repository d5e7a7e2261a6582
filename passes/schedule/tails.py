"""`schedule-tails`: how the last tiles of a tensor-core product are shared out."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from lanelink.dialects.launch.target import module_target
from lanelink.passes.schedule.products import Product, product_of, products
from lanelink.passes.tensor_cores import BLOCKS, CHUNK, TILE_OUTPUTS, TILE_ROWS, Tail, for_tensor_cores

LEAST_CHUNKS = 4
"""Chunks that a share of a tile has at least: fewer do not pay for adding the shares up."""

MOST_SHARES = 8


def on_tensor_cores(product: Product) -> bool:
    """Whether a product is for tensor cores: many rows of integers by a format in blocks."""
    return for_tensor_cores(product.rows, product.quantized)


def tiles_of(product: Product) -> int:
    """The tiles of a product's result, over all of its matrices; a pair's are of as many outputs as they have rows of
    each matrix."""
    outputs = TILE_OUTPUTS // 2 if product.paired else TILE_OUTPUTS
    return -(-product.rows // TILE_ROWS) * sum(-(-n // outputs) for n in product.outputs)


def tail_of(tiles: int, chunks: int, places: int) -> Tail | None:
    """
    The tail of `tiles` equal tiles of `chunks` chunks of inputs, of which `places` are summed at a time.

    The last wave has `tiles % places` tiles, and leaves the other places idle for as long as a whole wave takes. Where
    those are at least as many again, each tile of the last wave is split by its inputs over as many blocks as there are
    places for, none with fewer than LEAST_CHUNKS chunks. None where there is nothing to gain.
    """
    left = tiles % places
    if not left:
        return None
    split = min(places // left, chunks // LEAST_CHUNKS, MOST_SHARES)
    return Tail(tiles - left, split) if split > 1 else None


@dataclass(frozen=True)
class ScheduleTailsPass(ModulePass):
    """
    Writes `tail_from` and `tail_split` on the products for tensor cores whose last tiles are to be split, and takes
    them off all others. A batch's products, a row of each of several sequences, are left whole.
    """

    name = "schedule-tails"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        for each in products(op):
            product = product_of(each)
            tail = None
            if on_tensor_cores(product) and not target.batch.data:
                tail = tail_of(tiles_of(product), -(-product.k // CHUNK), BLOCKS * target.sms.data)
            each.tail_from = None if tail is None else IntegerAttr(tail.first, i64)
            each.tail_split = None if tail is None else IntegerAttr(tail.split, i64)


__all__ = ["ScheduleTailsPass", "on_tensor_cores", "tail_of", "tiles_of"]
