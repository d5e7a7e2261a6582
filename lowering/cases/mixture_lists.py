"""The lists of a mixture's cases: few and narrow ones for the emulator, the wide sweep for a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.mixture import ExpertActivation
from lanelink.lowering.cases.case import Case
from lanelink.lowering.cases.mixtures import MoeShape, SharedShape, mixture
from lanelink.lowering.cases.norms import NormShape

Q8_0, Q4_0, Q4_K, Q5_K, Q6_K = Format.Q8_0, Format.Q4_0, Format.Q4_K, Format.Q5_K, Format.Q6_K
F32, F16, BF16, MXFP4 = Format.F32, Format.F16, Format.BF16, Format.MXFP4
CLAMPED = ExpertActivation.CLAMPED_SWIGLU
SUMMED = NormShape(add=True, keep_sum=True, planes=1)


def small() -> Iterator[Case]:
    """Every entry, every format under f32 and quantized rows, every form of router, shared expert and destination."""
    for shape in (
        MoeShape(Q8_0, 1, 1, 128, 192, 6, 3, router=BF16, renormalize=True),
        MoeShape(Q8_0, 2, 1, 96, 96, 6, 3, router=Q8_0, biases=True, act=CLAMPED),
        MoeShape(Q8_0, 1, 1, 64, 32, 6, 3, router="values", renormalize=True, ties=True),
        MoeShape(Q8_0, 1, 1, 64, 64, 60, 7, router=F16, shared=SharedShape(Q8_0, 192, column=F32)),
        MoeShape(MXFP4, 1, 1, 96, 64, 12, 4, router=BF16, act=CLAMPED, biases=True, at=5),
        MoeShape(Q4_K, 1, 1, 256, 256, 3, 2, down=Q6_K, units=(300, 20)),
        MoeShape(Q5_K, 2, 1, 256, 96, 4, 2, up=Q4_0, down=Q8_0, shared=SharedShape(Q4_0, 32, column="values")),
        MoeShape(
            Q8_0, 1, 1, 192, 64, 1, 1, router=Q8_0, shared=SharedShape(Q8_0, 64, column=Q8_0), plus=True, then=SUMMED
        ),
        MoeShape(BF16, 0, 1, 45, 20, 6, 3, router=BF16, gap=3),
        MoeShape(F32, 0, 1, 31, 37, 5, 5, router=F32, biases=True, act=ExpertActivation.GELU_TANH),
        MoeShape(F16, 0, 1, 64, 90, 6, 2, router="values", shared=SharedShape(BF16, 45, F16, "values")),
        MoeShape(Q8_0, 0, 1, 96, 64, 4, 2, up=BF16, down=F32, router=Q4_0),
        MoeShape(Q4_K, 0, 1, 256, 256, 3, 2, down=Q6_K, router=Q5_K),
        MoeShape(Q4_0, 0, 1, 96, 64, 4, 2, down=MXFP4, then=NormShape(planes=1)),
        MoeShape(BF16, 0, 3, 45, 20, 6, 3, router=BF16, gap=3, at=1),
        MoeShape(MXFP4, 0, 5, 96, 64, 5, 3, up=Q4_0, biases=True, act=ExpertActivation.GELU),
        MoeShape(Q8_0, 1, 2, 96, 32, 60, 4, shared=SharedShape(Q8_0, 96, column=Q8_0), renormalize=True),
        MoeShape(Q8_0, 2, 8, 64, 96, 6, 4, router=Q8_0, biases=True, act=CLAMPED),
        MoeShape(Q4_K, 1, 3, 256, 256, 3, 2, down=Q6_K, router="values", plus=True, then=SUMMED, keep=True),
        MoeShape(Q8_0, 1, 17, 64, 32, 12, 3, shared=SharedShape(Q8_0, 64, column=F32)),
        MoeShape(Q8_0, 1, 1, 64, 64, 24, 3, router=BF16, groups=(8, 3, 1), scale=16.0, shared=SharedShape(Q8_0, 64)),
        MoeShape(BF16, 0, 1, 31, 20, 15, 4, router="values", groups=(5, 3, 1), ties=True, renormalize=True),
        MoeShape(BF16, 0, 5, 31, 20, 14, 5, groups=(2, 1, 3), scale=0.3, biases=True),
        MoeShape(Q8_0, 1, 3, 64, 32, 21, 6, groups=(3, 2, 2), renormalize=True, scale=2.5),
        MoeShape(Q8_0, 1, 1, 64, 192, 6, 5, router=BF16, plus=True, normed=True),
        MoeShape(Q6_K, 1, 1, 256, 256, 3, 2, router=Q6_K, biases=True, normed=True),
        MoeShape(BF16, 0, 1, 100, 45, 6, 3, router=F32, shared=SharedShape(BF16, 30), normed=True),
        MoeShape(Q8_0, 2, 1, 96, 32, 4, 2, router="values", normed=True),
        MoeShape(F32, 0, 1, 36, 37, 4, 2, normed=True),
        MoeShape(Q8_0, 1, 1, 64, 64, 300, 9, router=F16, renormalize=True),
        MoeShape(Q4_K, 1, 1, 256, 256, 5, 3, router=Q4_K, shared=SharedShape(Q4_K, 256, column=F32)),
        MoeShape(BF16, 0, 1, 31, 37, 5, 3, router=BF16, then=NormShape(), act=ExpertActivation.GELU),
        MoeShape(Q8_0, 1, 1, 64, 704, 8, 7, router=Q8_0, plus=True, normed=True),  # hidden rows heard in two parts
        MoeShape(Q8_0, 1, 1, 2304, 64, 2, 2, router=Q8_0, normed=True),  # a block has one of the router's rows, or none
    ):
        yield mixture(shape, seed=shape.width)


def _widths(format: Format) -> tuple[tuple[int, int], ...]:
    """(Width, hidden) of odd and of ordinary sizes."""
    if format.block_values == 256:
        return ((256, 768), (768, 256), (2048, 256))
    if format.is_block:
        return ((32, 96), (96, 160), (2880, 224))
    return ((31, 45), (96, 161), (2048, 200))


def _grouped() -> Iterator[Case]:
    """Groups of odd and even sizes, kept from one to all, ranked by one score and several, ties across them, scaled."""
    for groups, each in product(range(1, 9), (1, 3, 7, 20)):
        for kept, best, rows in product(sorted({1, -(-groups // 2), groups}), sorted({1, min(2, each), each}), (1, 6)):
            shape = MoeShape(BF16, 0, rows, 40, 24, groups * each, min(6, kept * each), groups=(groups, kept, best))
            shape = replace(shape, scale=(16.0, None)[kept % 2], renormalize=best == 2)
            yield mixture(shape, seed=groups + each)
            if each > 1 and best == 1:
                yield mixture(replace(shape, router="values", ties=True), seed=each)
    deepseek = MoeShape(Q8_0, 1, 1, 1024, 96, 160, 6, router=BF16, groups=(8, 3, 1), scale=16.0)
    for rows, shared in product((1, 17), (None, SharedShape(Q8_0, 192))):
        yield mixture(replace(deepseek, rows=rows, shared=shared))
    for groups, experts in ((32, 8192), (32, 32), (1, 33), (2, 512)):
        yield mixture(MoeShape(BF16, 0, 2, 31, 16, experts, 1, groups=(groups, 1, 1), scale=0.1))


def full() -> Iterator[Case]:
    """Formats by forms of x, sizes and rows; counts of experts; routers; what is beside and behind a mixture."""
    for (format, planes), rows in product(product(Format, (0, 1, 2)), (1, 2, 3, 8, 17)):
        if (planes and not format.is_block) or (rows in (2, 8) and format not in (Q8_0, BF16)):
            continue
        for width, hidden in _widths(format):
            if width >= 2048 and rows in (2, 3):
                continue
            shape = MoeShape(format, planes, rows, width, hidden, 4, 2, renormalize=rows != 3, biases=rows == 2)
            yield mixture(shape, seed=rows)
    for (experts, top_k), rows in product(
        ((1, 1), (6, 6), (60, 4), (128, 8), (288, 32), (512, 10), (33, 32)), (1, 3, 17)
    ):
        yield mixture(MoeShape(Q8_0, 1, rows, 96, 96, experts, top_k, router=BF16, renormalize=True), seed=experts)
        yield mixture(MoeShape(BF16, 0, rows, 96, 40, experts, top_k), seed=experts)
    yield mixture(MoeShape(Q8_0, 1, 1, 2048, 64, 128, 8, renormalize=True))
    yield mixture(MoeShape(Q8_0, 1, 64, 2048, 96, 12, 4, renormalize=True))  # several passes
    yield mixture(MoeShape(BF16, 0, 40, 2048, 96, 12, 4))
    yield mixture(MoeShape(MXFP4, 1, 1, 2880, 736, 4, 3, router=BF16, biases=True, act=CLAMPED, renormalize=True))
    yield from _grouped()
    for router, rows, planes in product((*Format, "values"), (1, 5), (0, 1)):
        yield mixture(MoeShape(Q8_0, planes, rows, 768, 32, 24, 4, router=router, biases=True), seed=rows)
    for column, hidden, rows in product((None, *Format, "values"), (96, 1408), (1, 9)):
        shared = SharedShape(Q8_0, hidden, column=column)
        yield mixture(MoeShape(Q8_0, 1, rows, 768, 96, 6, 4, shared=shared), seed=rows)
        yield mixture(MoeShape(BF16, 0, rows, 768, 90, 6, 4, shared=SharedShape(F16, hidden, column=column)), seed=rows)
    for down, up, rows in product(Format, (Q4_K, Q8_0), (1, 4)):
        yield mixture(MoeShape(Q4_K, 0, rows, 768, 256, 3, 2, up=up, down=down), seed=rows)
        if down.is_block:
            yield mixture(MoeShape(Q4_K, 2, rows, 768, 256, 3, 2, up=up, down=down), seed=rows)
    for act, rows in product(ExpertActivation, (1, 3)):
        yield mixture(MoeShape(Q8_0, 1, rows, 96, 64, 6, 3, act=act, biases=True), seed=rows)
    for rows, then in product((1, 3, 17), (SUMMED, NormShape(planes=2), NormShape(pre=True, add=True), NormShape())):
        yield mixture(MoeShape(Q8_0, 1, rows, 2048, 96, 6, 3, plus=rows == 3, then=then, keep=rows == 17), seed=rows)
        yield mixture(MoeShape(BF16, 0, rows, 100, 90, 6, 3, plus=True, then=NormShape(add=True)), seed=rows)
    yield mixture(MoeShape(Q8_0, 1, 17, 96, 64, 6, 3, units=(200, 64)))
    yield mixture(MoeShape(Q8_0, 1, 17, 96, 64, 6, 3, at=9))
    yield mixture(MoeShape(BF16, 0, 2, 64, 20000, 3, 3))  # hidden rows staged a few at a time
    yield mixture(MoeShape(Q8_0, 1, 1, 64, 24000, 4, 3, router="values", ties=True))


__all__ = ["full", "small"]
