"""`schedule-products`: rows of a matrix that a warp takes together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from lanelink.dialects.formats import BLOCK_VALUES, Format
from lanelink.dialects.launch import GemmPartOp, GemmPartsOp, GemvGluOp, GemvOp
from lanelink.dialects.launch.base import activation_shape
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.dialects.tgraph.step import step_function

WARPS = 8
"""Warps of a product's block."""

LANES = 32

PLAIN_LOADS, BLOCK_LOADS = 8, 4
"""Loads of a stored row that a lane has in flight in one batch: of 16 bytes of values, and of blocks of 32 values."""


@dataclass(frozen=True)
class Product:
    """
    Products of one activation of `rows` rows of k values by matrices of `outputs` rows each, in one launch.

    `quantized`: the activation is. `paired`: two matrices of as many rows, an output being made of a row of each.
    `quantizes`: the result is written in blocks of 32 outputs.
    """

    format: Format
    quantized: bool
    k: int
    rows: int
    outputs: tuple[int, ...]
    paired: bool = False
    quantizes: bool = False


def rows_per_warp(product: Product, sms: int) -> int:
    """
    Rows of each matrix that a warp takes together, 1, 2 or 4 (of a pair of matrices 1 or 2), on `sms` multiprocessors.

    Two (one of each of a pair) stream best where rows are long and outputs many. One, where that takes a quarter or
    more off the outputs of the busiest multiprocessor: there are few outputs. Twice as many, where so many short rows
    leave no more than half of a lane's loads in flight, and there are outputs enough for two blocks a multiprocessor.
    """
    plain = 1 if product.paired else 2
    if product.rows > 1 or not _has_variants(product):
        return plain
    usual, most = _busiest(product, plain, sms), _tiles(product, 2 * plain)
    if not product.paired and 4 * _busiest(product, 1, sms) <= 3 * usual:
        return 1
    in_flight = 2 * -(-loads_of(product.format, product.k) // LANES)
    short = 2 * in_flight <= (PLAIN_LOADS if product.format.has_plain_loads else BLOCK_LOADS)
    if short and most >= 2 * sms and _busiest(product, 2 * plain, sms) <= usual:
        return 2 * plain
    return plain


def loads_of(format: Format, k: int) -> int:
    """Loads of 16 bytes, or blocks of 32 values, in a stored row of k values."""
    return -(-k // format.values_a_load)


def _has_variants(product: Product) -> bool:
    """Products by f32 activations of blocks of 32 values are bound by decoding them: one variant serves."""
    return product.quantized or product.format.has_plain_loads


def _outputs_a_tile(product: Product, together: int) -> int:
    """Outputs that a block computes before it takes others."""
    return BLOCK_VALUES if product.quantizes else WARPS * together


def _tiles(product: Product, together: int) -> int:
    return sum(-(-n // _outputs_a_tile(product, together)) for n in product.outputs)


def _busiest(product: Product, together: int, sms: int) -> int:
    """Outputs of the multiprocessor that has most, tiles being shared out one by one."""
    return -(-_tiles(product, together) // sms) * _outputs_a_tile(product, together)


@dataclass(frozen=True)
class ScheduleProductsPass(ModulePass):
    """Writes `per_warp` on every product by checkpoint rows, alone, in parts, paired, or first in a fold."""

    name = "schedule-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sms = module_target(op).sms.data
        for each in products(op):
            each.per_warp = IntegerAttr(rows_per_warp(product_of(each), sms), i64)


def products(module: ModuleOp) -> Iterator[GemvOp | GemmPartsOp | GemvGluOp]:
    """The products by checkpoint rows of a linked step."""
    for launch in launches(step_function(module)):
        yield from (op for op in launch.walk() if isinstance(op, GemvOp | GemmPartsOp | GemvGluOp))


def product_of(op: GemvOp | GemmPartsOp | GemvGluOp) -> Product:
    """A launch of products as plain numbers."""
    rows, k = activation_shape(op.x, op.name)
    match op:
        case GemvOp():
            weights, quant = [op.w], op.quant
        case GemvGluOp():
            weights, quant = [op.wg], op.quant
        case GemmPartsOp():
            weights, quant = [part.w for part in op.members() if isinstance(part, GemmPartOp)], None
    kinds = [w.type for w in weights if isinstance(w.type, RowsType)]
    return Product(
        format=kinds[0].format.data,
        quantized=isinstance(op.x.type, Q8Type),
        k=k,
        rows=rows,
        outputs=tuple(kind.shape[0] for kind in kinds),
        paired=isinstance(op, GemvGluOp),
        quantizes=quant is not None,
    )


__all__ = ["WARPS", "Product", "ScheduleProductsPass", "loads_of", "product_of", "products", "rows_per_warp"]
