"""Cases of products of many quantized rows, on tensor cores: every form of result, tiles that are not full, tails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from lanelink.dialects.formats import Format
from lanelink.lowering.cases import placements, products
from lanelink.lowering.cases.case import Case, Units
from lanelink.lowering.cases.inputs import BLOCKS, widths
from lanelink.lowering.cases.products import ProductShape
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.specs import GemvSpec, GluSpec
from lanelink.passes.tensor_cores import Tail

FORMATS = (Format.Q8_0, *BLOCKS)

ROWS = (9, 17, 32, 33, 64, 65, 130)
"""Rows of x that fill a tile and that do not, in tiles of 32 and of 64."""


def with_tail(case: Case, first: int, split: int) -> Case:
    """A case of a product whose tiles from `first` on are shared by `split` blocks each."""
    assert isinstance(case.spec, GemvSpec | GluSpec)
    spec = replace(case.spec, tail=Tail(first, split))
    return replace(case, name=f"{case.name}, tiles from {first} shared by {split}", spec=spec)


def small() -> Iterator[Case]:
    """Each entry with one plane and two, and each form of what it writes, in shapes small enough for the emulator."""
    for seed, (format, planes) in enumerate(product(FORMATS, (1, 2))):
        narrow, wide = (256, 512) if format.block_values == 256 else (96, 160)
        few = ProductShape(format, planes, 9 + seed, wide, 131)
        yield with_tail(products.plain(few, bias=seed % 2 == 1, seed=seed), seed % 2, 2)
        pair = ProductShape(format, planes, 33 + seed, narrow, 70)
        yield products.gated(pair, Activation.SILU, 0, also_f32=True, bias=seed % 2 == 0, seed=seed)
    yield from _small_shapes()
    yield from _small_results()


def _small_shapes() -> Iterator[Case]:
    yield products.plain(ProductShape(Format.Q8_0, 1, 64, 32, 128))
    yield products.plain(ProductShape(Format.Q8_0, 2, 65, 160, 1))
    yield with_tail(products.plain(ProductShape(Format.Q8_0, 1, 130, 544, 129)), 3, 5)
    yield with_tail(products.plain(ProductShape(Format.Q8_0, 1, 33, 4544, 5)), 0, 8)
    yield products.plain(ProductShape(Format.MXFP4, 1, 32, 1056, 9))


def _small_results() -> Iterator[Case]:
    """What a tile may become, whole and joined from shares."""
    yield products.quantized(ProductShape(Format.Q8_0, 1, 9, 64, 160), planes=2, also_f32=True)
    yield with_tail(products.quantized(ProductShape(Format.Q4_0, 2, 34, 288, 32), planes=1, also_f32=False), 0, 3)
    yield products.gated(ProductShape(Format.Q8_0, 1, 17, 64, 96), Activation.GELU_TANH, 2, also_f32=False, bias=True)
    yield with_tail(products.gated(ProductShape(Format.Q8_0, 2, 66, 192, 64), Activation.GELU, 1, also_f32=True), 1, 2)
    yield products.added(ProductShape(Format.Q8_0, 1, 33, 96, 131))
    yield products.parts(ProductShape(Format.Q8_0, 1, 35, 128, 0), (130, 17, 48), 31)
    yield with_tail(products.parts(ProductShape(Format.Q4_K, 1, 10, 256, 0), (32, 8, 5, 33), 1), 1, 2)
    shape = ProductShape(Format.Q8_0, 1, 33, 64, 0)
    yield products.turned(shape, 32, 16, (5, 2, 2), (True, True), 5)
    yield products.turned(shape, 128, 32, (2, 1, 1), (True,), 0)
    yield with_tail(products.turned(replace(shape, planes=2, m=9, k=256), 64, 32, (3, 1, 1), (False, False), 31), 2, 2)
    yield placements.products(ProductShape(Format.Q8_0, 1, 12, 96, 0), (48, 130), Units(8, 3), 2)
    yield placements.turned(ProductShape(Format.Q8_0, 1, 9, 32, 0), 32, 3, Units(40, 8), 4)


def wide() -> Iterator[Case]:
    """Every format by rows of every kind; long rows in fewer shapes."""
    for (format, planes), (i, m) in product(product(FORMATS, (1, 2)), enumerate(ROWS)):
        *short, long = widths(format)
        k = short[i % len(short)]
        shape = ProductShape(format, planes, m, k, 0)
        yield products.plain(replace(shape, n=513), bias=i % 2 == 1, seed=m)
        yield products.gated(replace(shape, n=160), Activation.SILU, i % 3, i % 3 != 1, seed=m)
        yield products.added(replace(shape, n=257))
        yield products.quantized(replace(shape, n=160), planes=3 - planes, also_f32=i % 2 == 1)
        yield products.parts(shape, (256, 131, 64), 31)
        yield products.turned(shape, (32, 64, 128)[i % 3], 16, (6, 3, 3), (True, False), m)
        if m in (17, 130):
            shape = replace(shape, k=long)
            yield with_tail(products.plain(replace(shape, n=131), seed=m), m % 2, 4)
            yield with_tail(products.gated(replace(shape, n=64), Activation.SILU, 1, True, seed=m), 0, 8)


__all__ = ["FORMATS", "ROWS", "small", "wide", "with_tail"]
