"""The lists of cases: `small` for the emulator, whose one core runs every thread, and `FAMILIES` for a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from lanelink.dialects.formats import Format
from lanelink.lowering.cases import (
    delta,
    gemm,
    latent,
    mixture_lists,
    needles,
    norms,
    others,
    products,
    repack,
    turned_attention,
    units,
)
from lanelink.lowering.cases.attention import full_attention, full_f16, small_attention, small_f16
from lanelink.lowering.cases.case import Case
from lanelink.lowering.cases.inputs import BLOCK_INPUTS, BLOCKS, HEAD_SIZES, INPUTS, ROWS, widest, widths
from lanelink.lowering.cases.norms import NormShape
from lanelink.lowering.cases.products import ProductShape
from lanelink.lowering.cases.sequences import full_sequences, small_sequences
from lanelink.lowering.functions import Activation, BinaryOp, Broadcast
from lanelink.lowering.selection.ring import RINGED, turn_of
from lanelink.passes.schedule.products import rows_known


def small() -> Iterator[Case]:
    """Every entry of every module at least once, odd shapes among them."""
    yield from _small_products()
    yield from _small_blocks()
    yield from _small_rows_per_warp()
    yield from _small_folds()
    yield from _small_unnormed()
    yield from _small_rings()
    yield from gemm.small()
    yield from _small_rows()
    yield from small_attention()
    yield from small_f16()
    yield from turned_attention.small()
    yield from small_sequences()
    yield from needles.small()
    yield from _elementwise(rows=(1, 3), widths=(32, 100, 160))
    yield from delta.small()
    yield from latent.small()
    yield from units.small()
    yield from repack.small()
    yield from mixture_lists.small()


def _small_products() -> Iterator[Case]:
    for seed, (format, planes) in enumerate(INPUTS):
        yield products.plain(ProductShape(format, planes, 1, 160, 37), bias=True, seed=seed)
        yield products.plain(ProductShape(format, planes, 1, 96, 90), seed=seed)  # tiles that share out by threes
        yield products.plain(ProductShape(format, planes, 3, 96, 18), seed=seed)
        yield products.gated(ProductShape(format, planes, 1, 64, 32), Activation.SILU, 1, also_f32=True, seed=seed)
        yield products.gated(ProductShape(format, planes, 2, 96, 21), Activation.GELU, 0, also_f32=True, seed=seed)
        yield products.gated(ProductShape(format, planes, 1, 96, 40), Activation.RELU, 0, also_f32=True, seed=seed)
    yield products.plain(ProductShape(Format.F32, 0, 2, 31, 5))  # rows padded to 16 bytes
    yield products.plain(ProductShape(Format.BF16, 0, 1, 45, 5))
    yield products.plain(ProductShape(Format.Q8_0, 1, 1, 4544, 3))
    yield products.plain(ProductShape(Format.Q8_0, 2, 8, 32, 17))
    yield products.plain(ProductShape(Format.Q8_0, 2, 1, 14464, 3))
    yield products.plain(ProductShape(Format.BF16, 0, 1, 14464, 3))
    yield products.plain(ProductShape(Format.F16, 0, 17, 32, 5))
    yield products.quantized(ProductShape(Format.Q8_0, 1, 1, 64, 96), planes=2, also_f32=True)
    yield products.quantized(ProductShape(Format.BF16, 0, 3, 64, 32), planes=1, also_f32=False)
    yield products.parts(ProductShape(Format.Q8_0, 1, 1, 128, 0), (32, 17, 48), 31)
    yield products.parts(ProductShape(Format.BF16, 0, 3, 64, 0), (20, 8, 5, 33), 1)
    yield products.gated(ProductShape(Format.Q8_0, 1, 3, 64, 64), Activation.GELU_TANH, 2, also_f32=False, bias=True)


def _small_blocks() -> Iterator[Case]:
    for seed, (format, planes) in enumerate(BLOCK_INPUTS):
        narrow, wide = widths(format)[:2]
        yield products.plain(ProductShape(format, planes, 1, wide, 19), bias=True, seed=seed)
        yield products.plain(ProductShape(format, planes, 6, narrow, 5), seed=seed)  # two groups
        yield products.gated(ProductShape(format, planes, 1, narrow, 9), Activation.SILU, 0, also_f32=True, seed=seed)
        yield products.gated(ProductShape(format, planes, 3, wide, 32), Activation.GELU, 1, also_f32=True, seed=seed)
    for format in BLOCKS:
        yield products.plain(ProductShape(format, 1, 1, widths(format)[-1], 3))
        yield products.plain(ProductShape(format, 0, 2, 2304, 3))
        yield norms.gathered(format, 2, 512, 1.0, NormShape(planes=1))
        yield norms.gathered(format, 3, 256, 2.5, None)
    yield products.normed(ProductShape(Format.Q4_K, 1, 1, 256, 64), NormShape(add=True, keep_sum=True, planes=1))
    yield products.normed(ProductShape(Format.Q6_K, 0, 3, 256, 64), NormShape(add=True, keep_sum=True), keep=True)
    yield products.normed(ProductShape(Format.MXFP4, 2, 2, 64, 36), NormShape(pre=True))
    yield products.turned(ProductShape(Format.Q4_K, 1, 1, 256, 0), 32, 16, (4, 2, 2), (True, True), 5)
    yield products.turned(ProductShape(Format.Q5_K, 0, 5, 256, 0), 32, 16, (2, 1, 1), (True, True), 5)
    yield products.turned(ProductShape(Format.Q4_0, 2, 2, 32, 0), 80, 40, (2, 1, 1), (False, False), 31)
    yield products.quantized(ProductShape(Format.Q6_K, 1, 1, 256, 64), planes=2, also_f32=True)
    yield products.quantized(ProductShape(Format.Q5_K, 0, 3, 256, 32), planes=1, also_f32=False)
    yield products.parts(ProductShape(Format.Q4_K, 1, 3, 256, 0), (32, 17, 48), 31)


def _small_rows_per_warp() -> Iterator[Case]:
    """Each entry of four stored rows a warp, and of two of each of a gated pair, then what may follow them."""
    for seed, (format, planes) in enumerate(INPUTS + BLOCK_INPUTS):
        narrow, wide = widths(format)[:2]
        for rows in rows_known(format, planes > 0, paired=False)[1:]:
            shape = ProductShape(format, planes, 1, wide, 37 if seed % 2 else 30)
            yield products.by_warp(products.plain(shape, bias=True, seed=seed), rows)
        for rows in rows_known(format, planes > 0, paired=True):
            shape = ProductShape(format, planes, 1, narrow, 32)
            yield products.by_warp(products.gated(shape, Activation.SILU, seed % 3, True, seed=seed), rows)
    followed = (
        products.quantized(ProductShape(Format.Q8_0, 1, 1, 64, 96), planes=2, also_f32=True),
        products.parts(ProductShape(Format.Q8_0, 1, 3, 128, 0), (32, 17, 48), 31),
    )
    yield from (products.by_warp(case, 4) for case in followed)
    gated = ProductShape(Format.BF16, 0, 3, 64, 41)
    yield products.by_warp(products.gated(gated, Activation.GELU_TANH, 0, also_f32=True, bias=True), 2)


def _small_folds() -> Iterator[Case]:
    one_wide = NormShape(add=True, keep_sum=True)
    one, kept = NormShape(add=True, keep_sum=True, planes=1, f32=False), NormShape(add=True, keep_sum=True, planes=2)
    yield products.normed(ProductShape(Format.Q8_0, 1, 1, 96, 160), one)
    yield products.normed(ProductShape(Format.Q8_0, 2, 1, 32, 268), one_wide)
    yield products.normed(ProductShape(Format.Q8_0, 2, 3, 64, 96), kept, keep=True)
    yield products.normed(ProductShape(Format.BF16, 0, 1, 64, 50), NormShape(weight=False))
    yield products.normed(ProductShape(Format.F16, 0, 2, 64, 64), NormShape(pre=True, add=True))
    yield products.normed(ProductShape(Format.F16, 0, 1, 96, 40), NormShape(add=True, keep_sum=True))
    yield products.turned(ProductShape(Format.Q8_0, 1, 1, 64, 0), 32, 16, (4, 2, 2), (True, True), 5)
    yield products.turned(ProductShape(Format.Q8_0, 0, 2, 32, 0), 80, 40, (2, 1, 1), (False, False), 31)
    yield products.turned(ProductShape(Format.BF16, 0, 1, 32, 0), 24, 8, (3, 1), (True,), 0)


def _small_unnormed() -> Iterator[Case]:
    """Rows that a product's launch norms itself; one is longer than its threads hold at once."""
    for seed, (format, planes) in enumerate((*INPUTS, *BLOCK_INPUTS)):
        width = widths(format)[1]
        yield products.plain(ProductShape(format, planes, 1, width, 19 + seed % 2, unnormed=True), seed=seed)
        yield products.gated(
            ProductShape(format, planes, 1, width, 9, unnormed=True), Activation.SILU, 0, True, seed=seed
        )
        yield products.added(ProductShape(format, planes, 1 + seed % 3, width, 21), seed=seed)
    yield products.plain(ProductShape(Format.BF16, 0, 1, 36, 5, unnormed=True))  # padded to 16 bytes
    yield products.plain(ProductShape(Format.Q8_0, 1, 1, 4544, 3, unnormed=True))
    yield products.gated(ProductShape(Format.Q8_0, 1, 1, 64, 32, unnormed=True), Activation.SILU, 1, also_f32=False)
    for format, k in ((Format.Q8_0, 64), (Format.Q4_K, 256)):
        shape = ProductShape(format, 1, 1, k, 0, unnormed=True)
        yield products.turned(shape, 32, 16, (4, 2, 2), (True, True), 5)
    yield products.plain(ProductShape(Format.Q4_K, 1, 1, 256, 133, unnormed=True))  # tiles for narrow blocks


def _small_rings() -> Iterator[Case]:
    """Rows that each warp copies into a ring, whole and in chunks: a warp takes several, some, or none."""
    for seed, format in enumerate(RINGED):
        shape = ProductShape(format, int(format.is_block), 1, 4096, 0)
        whole, chunks = replace(shape, k=turn_of(format)), shape
        yield products.plain(replace(whole, n=137, unnormed=True), seed=seed)
        yield products.plain(replace(chunks, n=7 + 64 * seed), bias=True, seed=seed)
        yield products.gated(replace(chunks, n=64), Activation.SILU, 1, also_f32=seed % 2 == 1, seed=seed)
    for format in (Format.Q8_0, Format.Q4_K, Format.BF16):
        shape = ProductShape(format, int(format.is_block), 1, 2048, 0)
        yield products.parts(replace(shape, unnormed=True), (33, 1, 90), 7)
        yield products.added(replace(shape, k=6144, n=65))
        yield products.quantized(replace(shape, n=96), planes=2, also_f32=True)
        yield products.gated(replace(shape, n=96, unnormed=True), Activation.SILU, 1, also_f32=False)
        yield products.gated(replace(shape, n=33), Activation.GELU, 0, also_f32=True, bias=True)
        yield products.plain(replace(shape, n=66, unnormed=True))  # a norm without weights
    shorter = ProductShape(Format.BF16, 0, 1, 2560, 0)  # its last chunk is
    yield products.plain(replace(shorter, n=66, unnormed=True))
    yield products.gated(replace(shorter, k=1536, n=33), Activation.SILU, 0, also_f32=True)
    yield products.off_sixteen(products.plain(replace(shorter, k=512, n=35)))


def _small_rows() -> Iterator[Case]:
    for shape in (
        NormShape(),
        NormShape(weight=False, planes=1),
        NormShape(add=True, keep_sum=True, f32=False, planes=2),
        NormShape(pre=True, add=True, keep_sum=True, planes=1),
    ):
        yield norms.alone(3, 96, shape)
    yield norms.alone(2, 45, NormShape(add=True), gap=3)
    yield norms.alone(1, 4544, NormShape(planes=1))
    for format in (Format.F32, Format.F16, Format.BF16, Format.Q8_0):
        yield norms.gathered(format, 2, 96, 1.0, NormShape(planes=1))
    yield norms.gathered(Format.Q8_0, 3, 160, 2.5, None)
    yield norms.gathered(Format.BF16, 1, 45, 1.0, NormShape(), keep=False)
    yield others.rope(1, 64, 32, (3, 2), (True, True), 7)
    yield others.rope(2, 80, 20, (2,), (False,), 0)
    yield others.rope(3, 320, 160, (1, 1), (True, False), 2)
    yield others.arg_max(1, 5000, advance=True)
    yield others.arg_max(5, 700, advance=True)
    yield others.arg_max(3, 77, ties=True)
    yield others.arg_max(2, 40, nan=True)
    yield others.set_row(3, 48, 5, on_device=True)
    yield others.set_row(1, 32, 0, on_device=False)
    yield others.set_row_f16(3, 48, 5, on_device=True)
    yield others.set_row_f16(2, 37, 4, on_device=False, gap=1)
    yield others.set_row_quantized(1, 64, 2, on_device=False, planes=1, f32=True)
    yield others.set_row_quantized(2, 96, 1, on_device=True, planes=2, f32=False)
    yield others.head_slice(2, 3, 40, 8, 24)
    yield others.advance()
    yield others.stream(3)
    yield others.stream(20000)
    yield others.advance(17)
    yield others.advance(1, 67)
    yield others.values_product(1, 128, 4)
    yield others.values_product(3, 45, 70, bias=True)
    yield others.values_product(2, 133, 40, row=5, splits=3)
    yield others.values_product(3, 300, 33, bias=True, splits=32)


def _elementwise(rows: tuple[int, ...], widths: tuple[int, ...]) -> Iterator[Case]:
    for op in BinaryOp:
        yield others.binary(op, rows[-1], widths[0])
    for m, n in product(rows, widths):
        yield others.binary(BinaryOp.ADD, m, n, Broadcast.ROW)
        yield others.binary(BinaryOp.MUL, m, n, Broadcast.COLUMN, Activation.SIGMOID, gap=1)
        yield others.swiglu(m, n, planes=1 if n % 32 == 0 else 0)
        if n % 32 == 0:
            yield others.quantize(m, n, 1)
            yield others.quantize(m, n, 2)
    yield others.binary(BinaryOp.MUL, 2, 64, gate=Activation.GELU, planes=2, also_f32=False)
    for act in Activation:
        yield others.unary(act, 2, widths[1], factor=0.5 if act is Activation.NONE else 1.0)


def _wide_products() -> Iterator[Case]:
    for (format, planes), m in product(INPUTS + BLOCK_INPUTS, ROWS):
        for k in widths(format):
            yield products.plain(ProductShape(format, planes, m, k, 513), bias=m == 2, seed=k)
            yield products.gated(ProductShape(format, planes, m, k, 160), Activation.SILU, min(m, 2), m != 3, seed=k)
            norm = NormShape(add=True, keep_sum=True, planes=1)
            yield products.normed(ProductShape(format, planes, m, k, 544), norm, keep=m == 3, seed=k)


def _wide_rows_per_warp() -> Iterator[Case]:
    for format, planes in INPUTS + BLOCK_INPUTS:
        for k, rows in product(widths(format), rows_known(format, planes > 0, paired=False)):
            yield products.by_warp(products.plain(ProductShape(format, planes, 1, k, 513), seed=k), rows)
        for k, rows in product(widths(format), rows_known(format, planes > 0, paired=True)):
            gated = products.gated(ProductShape(format, planes, 1, k, 160), Activation.SILU, 1, True, seed=k)
            yield products.by_warp(gated, rows)


def _widest_products() -> Iterator[Case]:
    for (format, planes), m in product(INPUTS + BLOCK_INPUTS, ROWS):
        k = widest(format)
        yield products.plain(ProductShape(format, planes, m, k, 17))
        yield products.gated(ProductShape(format, planes, m, k, 16), Activation.SILU, 0, True)
        yield products.normed(ProductShape(format, planes, m, k, 32), NormShape(add=True, keep_sum=True, planes=1))


def _turned_products() -> Iterator[Case]:
    for (format, planes), hd, at in product(INPUTS + BLOCK_INPUTS, HEAD_SIZES, (0, 31, 1000)):
        m = 1 + at % 4
        shape = ProductShape(format, planes, m, widths(format)[1], 0)
        yield products.turned(shape, hd, hd // 2, (6, 3, 3), (True, True), at, seed=hd)


def _wide_rows() -> Iterator[Case]:
    for hd, at, m in product(HEAD_SIZES, (0, 1, 31, 32, 1000), (1, 3)):
        yield others.rope(m, hd, hd // 2, (5, 2), (True, False), at, seed=hd)
    for m, cols in product(ROWS, (32, 96, 160, 4544, 5120, 14464, 16384)):
        yield norms.alone(m, cols, NormShape(add=True, keep_sum=True, planes=2))
        yield norms.alone(m, cols, NormShape(pre=True, planes=1), gap=4)
        for format in (Format.Q8_0, *BLOCKS):
            if cols % format.block_values == 0:
                yield norms.gathered(format, m, cols, 1.0, NormShape(planes=1))
    yield others.arg_max(3, 151936, advance=True)
    for m, k, n in product(ROWS, (32, 96, 160, 4544, 14464), (1, 48, 513)):
        yield others.values_product(m, k, n, bias=m == 8, splits=(1, 5, 32)[m % 3], seed=k)


def _wide_rings() -> Iterator[Case]:
    """Rings on a wide chip: whole rows and chunks of two sizes, warps of several rows, of one and of none."""
    for seed, format in enumerate(RINGED):
        shape = ProductShape(format, int(format.is_block), 1, 4096, 0)
        yield products.plain(replace(shape, n=301, unnormed=True), bias=True, seed=seed)
        yield products.parts(replace(shape, unnormed=True), (129, 57, 32), 31, seed=seed)
        yield products.added(replace(shape, k=12288, n=99), seed=seed)
        yield products.added(replace(shape, k=14336, n=37), seed=seed)
        yield products.plain(replace(shape, k=8192, n=5, unnormed=True), seed=seed)
        yield products.quantized(replace(shape, n=96), planes=1, also_f32=True, seed=seed)
        gated = replace(shape, n=160, unnormed=True)
        yield products.gated(gated, Activation.SILU, 1, also_f32=seed % 2 == 0, seed=seed)
        yield products.gated(replace(shape, n=207), Activation.GELU, 0, also_f32=True, bias=True, seed=seed)
    for seed, k in enumerate((1536, 3584, 9728)):  # whose last chunk is shorter than the others
        shape = ProductShape(Format.F16 if seed % 2 else Format.BF16, 0, 1, k, 301)
        yield products.plain(shape, bias=True, seed=seed)
        yield products.gated(replace(shape, unnormed=True), Activation.SILU, 0, also_f32=True, seed=seed)
    several = ProductShape(Format.Q4_K, 1, 1, 2048, 4307, unnormed=True)
    yield products.plain(several, bias=True)
    yield products.gated(replace(several, n=4480), Activation.SILU, 1, also_f32=False)


FAMILIES: dict[str, Callable[[], Iterator[Case]]] = {
    "small": small,
    "products": _wide_products,
    "rows-per-warp": _wide_rows_per_warp,
    "rings": _wide_rings,
    "widest-products": _widest_products,
    "turned-products": _turned_products,
    "products-of-many-rows": gemm.wide,
    "rows": _wide_rows,
    "attention": full_attention,
    "attention-f16": full_f16,
    "turned-attention": turned_attention.full,
    "sequences": full_sequences,
    "needles": needles.full,
    "latent": latent.full,
    "elementwise": lambda: _elementwise(rows=(1, 2, 17), widths=(32, 4544, 12288)),
    "delta": delta.wide,
    "units": units.full,
    "repack": repack.full,
    "mixtures": mixture_lists.full,
}
"""The small cases, and the wide ones of each family."""


__all__ = ["FAMILIES", "small"]
