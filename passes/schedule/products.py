"""`schedule-products`: rows of a matrix that a warp takes together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from lanelink.dialects.formats import BLOCK_VALUES, Format
from lanelink.dialects.launch import BinaryOp, FoldOp, GemmPartOp, GemmPartsOp, GemvGluOp, GemvOp
from lanelink.dialects.launch.base import activation_shape
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.dialects.tgraph.step import step_function

WARPS = 8
"""Warps of a product's block."""

LANES = 32

LOADS = 8
"""Loads of 16 bytes of stored rows that a lane has in flight in one batch."""


@dataclass(frozen=True)
class Product:
    """
    Products of one activation of `rows` rows of k values by matrices of `outputs` rows each, in one launch.

    `quantized`: the activation is. `paired`: two matrices of as many rows, an output being made of a row of each.
    `quantizes`: the result is written in blocks of 32 outputs. `followed`: a norm of the result, or a rotation of its
    heads, follows in the launch.
    """

    format: Format
    quantized: bool
    k: int
    rows: int
    outputs: tuple[int, ...]
    paired: bool = False
    quantizes: bool = False
    followed: bool = False


def rows_per_warp(product: Product, sms: int) -> int:
    """
    Rows of each matrix that a warp takes together, 2 or 4 (of a pair of matrices 1 or 2), on `sms` multiprocessors.

    Two (one of each of a pair) stream best where rows are long. Twice as many, where short rows leave no more than half
    of a lane's loads in flight, and the busiest multiprocessor has no more outputs for it. Where the kernels take one
    number of rows only, as they do of what something follows in the launch, that.
    """
    plain, *others = rows_known(product.format, product.quantized, product.paired)
    if product.rows > 1 or product.followed or not others:
        return plain
    in_flight = 2 * -(-loads_of(product.format, product.k) // LANES)
    no_more = _busiest(product, 2 * plain, sms) <= _busiest(product, plain, sms)
    return 2 * plain if 2 * in_flight <= LOADS and no_more else plain


def loads_of(format: Format, k: int) -> int:
    """Loads of 16 bytes, or blocks of 32 values, in a stored row of k values."""
    return -(-k // format.values_a_load)


def rows_known(format: Format, quantized: bool, paired: bool) -> tuple[int, ...]:
    """
    The rows of each matrix that a warp may take together, the usual number first.

    A pair by quantized activations goes by two of each, in blocks that have a multiprocessor for themselves; q5_k and
    q6_k by one, their planes taking more registers. Formats of several rows a warp are those that products are usually
    by: f16 and bf16 of f32 activations, q8_0 of quantized ones.
    """
    several = format is Format.Q8_0 if quantized else format in (Format.F16, Format.BF16)
    if not paired:
        return (2, 4) if several else (2,)
    if quantized:
        return (1,) if format in (Format.Q5_K, Format.Q6_K) else (2,)
    return (1, 2) if several else (1,)


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
        followed=_followed(op),
    )


def _followed(op: GemvOp | GemmPartsOp | GemvGluOp) -> bool:
    """Whether more than a sum comes after a product in its launch."""
    after = op.next_op if isinstance(op.parent_op(), FoldOp) else None
    while isinstance(after, BinaryOp):
        after = after.next_op
    return after is not None


__all__ = [
    "WARPS",
    "Product",
    "ScheduleProductsPass",
    "loads_of",
    "product_of",
    "products",
    "rows_known",
    "rows_per_warp",
]
