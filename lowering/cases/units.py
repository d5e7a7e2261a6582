"""The lists of cases of units read and written in place, one matrix a head, and joined heads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from lanelink.dialects.formats import Format
from lanelink.lowering.cases import placements
from lanelink.lowering.cases.case import Case, Units
from lanelink.lowering.cases.heads import head_gemv, join
from lanelink.lowering.cases.inputs import BLOCK_INPUTS, HEAD_SIZES, INPUTS, ROWS
from lanelink.lowering.cases.norms import NormShape
from lanelink.lowering.cases.products import ProductShape


def small() -> Iterator[Case]:
    """Every entry at least once, odd shapes among them."""
    yield from _small_placements()
    yield from _small_heads()


def _small_placements() -> Iterator[Case]:
    yield placements.norm(1, 4, 32, Units(96, 32), Units(48, 8), 3)
    yield placements.norm(3, 1, 64, Units(96, 0), Units(96, 0), 5)
    yield placements.norm(2, 3, 45, None, Units(64, 1), None)
    yield placements.norm(2, 5, 32, Units(33, 1), None, 1)
    yield placements.norm_of_units(2, 3, 64, Units(80, 16), NormShape(pre=True, add=True, keep_sum=True, planes=2))
    yield placements.norm_of_units(1, 4, 32, Units(96, 64), NormShape(add=True, keep_sum=True, f32=False, planes=1))
    yield placements.rope(1, 32, 16, (4, 1), Units(96, 64), Units(80, 48), 7)
    yield placements.rope(3, 20, 7, (2, 2), Units(21, 1), Units(23, 2), 0)
    yield placements.products(ProductShape(Format.BF16, 0, 1, 64, 0), (32, 17), Units(16, 16), 2)
    yield placements.products(ProductShape(Format.Q8_0, 1, 3, 64, 0), (20, 40, 8), Units(24, 4), 4)
    yield placements.turned(ProductShape(Format.Q8_0, 2, 2, 64, 0), 24, 5, Units(40, 16), 3)
    yield placements.turned(ProductShape(Format.Q4_K, 0, 1, 256, 0), 32, 2, Units(96, 64), 9)
    yield placements.normed(ProductShape(Format.Q8_0, 1, 1, 64, 96), Units(32, 0), 6)
    yield placements.normed(ProductShape(Format.BF16, 0, 3, 40, 64), Units(20, 4), 2)
    yield placements.values_product(2, 45, 40, Units(24, 8), 3)


def _small_heads() -> Iterator[Case]:
    for seed, ((format, planes), rows_are_outputs) in enumerate(product(INPUTS + BLOCK_INPUTS, (True, False))):
        size = 256 if format.block_values == 256 else 96
        across = (size, 64) if rows_are_outputs else (64, size)
        yield head_gemv(format, planes, 1 + seed % 2, 3, *across, rows_are_outputs, seed=seed)
    yield head_gemv(Format.BF16, 0, 2, 4, 32, 160, True, Units(96, 64), Units(192, 32), 5)
    yield head_gemv(Format.BF16, 0, 3, 4, 32, 160, False, Units(96, 64), Units(192, 0), None)
    yield head_gemv(Format.Q8_0, 0, 1, 2, 32, 32, True, None, None, 4)
    yield head_gemv(Format.Q4_0, 2, 1, 2, 32, 32, False, None, Units(40, 8), 4)
    yield head_gemv(Format.MXFP4, 0, 1, 2, 2080, 32, True)  # several words a lane
    yield head_gemv(Format.F16, 0, 1, 1, 544, 288, False)
    yield join(1, 4, 32, 16)
    yield join(3, 2, 45, 3, at=5)
    yield join(2, 3, 64, 32, Units(128, 16), 7)
    yield join(2, 1, 8, 2, Units(11, 1))


def full() -> Iterator[Case]:
    """The shapes of models, and every size of head."""
    for hd, m in product(HEAD_SIZES, ROWS):
        yield placements.norm(m, 5, hd, Units(2 * hd, hd), Units(hd + 64, 64), 9, seed=hd)
        yield placements.norm_of_units(m, 4, hd, Units(hd + 8, 8), NormShape(pre=m == 2, add=True, keep_sum=True), hd)
        yield placements.rope(m, hd, hd // 2, (16, 1), Units(3 * hd, 2 * hd), Units(hd + 512, 512), 31, seed=hd)
        yield placements.turned(ProductShape(Format.Q8_0, m % 3, m, 512, 0), hd, 5, Units(hd + 16, 16), 7, seed=hd)
    for format, planes in INPUTS + BLOCK_INPUTS:
        size = 256 if format.block_values == 256 else 96
        yield placements.products(ProductShape(format, planes, 3, size, 0), (576, 33, 64), Units(32, 16), 2)
        yield placements.normed(ProductShape(format, planes, 3, size, 544), Units(64, 0), 6)
        for m, (inputs, outputs) in product((1, 3, 17), ((128, 512), (size, 160), (512, size))):
            for rows_are_outputs in (True, False):
                stored = inputs if rows_are_outputs else outputs
                if stored % format.block_values == 0:
                    yield head_gemv(format, planes, m, 4, inputs, outputs, rows_are_outputs, seed=m)
        if planes == 0:
            yield head_gemv(format, 0, 2, 3, 512, 512, True, Units(576, 0), Units(576, 64), 3)
            yield head_gemv(format, 0, 2, 3, 512, 512, False, Units(576, 64), Units(576, 0), None)
    for m, (a, b) in product((1, 3, 17), ((512, 64), (45, 3), (128, 64))):
        yield join(m, 16, a, b)
        yield join(m, 16, a, b, Units(a + b + 24, 8), 5)


__all__ = ["full", "small"]
