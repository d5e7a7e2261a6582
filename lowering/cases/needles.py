"""Cases of attention in which one position decides the result, so that a kernel that loses it is seen to.

Of a thousand random keys none weighs more than the tolerance by much. Here one does, at a place where kernels share
positions out: a table's or window's first, the last ones, the edges of tiles and of what a cluster takes at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, product

from lanelink.dialects.formats import Format
from lanelink.lowering.cases.attention import AttentionShape, attention
from lanelink.lowering.cases.case import Case
from lanelink.lowering.cases.sequences import attentions
from lanelink.lowering.cases.turned_attention import turned_attention
from lanelink.lowering.functions import Activation

Make = Callable[[AttentionShape], Case]
Needle = tuple[Make, AttentionShape]
"""What makes a case, and of which shape."""

EDGES = (0, 31, 32, 511, 512, 1023, 1024)
"""The first position of a table, and both sides of the edges of a tile of a block, of the first tiles of all blocks of
a cluster, and of their second ones."""

SHARES = (0.2, 0.5, 0.9, 0.35, 0.7)
"""Shares of the weight, in turn."""


def wrong(s: AttentionShape) -> AttentionShape:
    """The shape whose results are those of losing the needle, or of taking it in where no row of a window sees it."""
    if s.rows_of_needle or s.window is None:
        return replace(s, share=1e-30)
    return replace(s, window=s.window + 1)


def small_needles() -> Iterator[Needle]:
    """Few rows, one row in a cluster, general heads, turned heads, tables of f16, several sequences."""
    one = AttentionShape(1, 2, 1, 64, 64, 1100, 1200, early=True, settled=True)
    yield attention, replace(one, needle=1023, share=0.2)
    yield attention, replace(one, window=600, needle=501)
    yield attention, replace(one, window=600, needle=500, share=0.9)  # just outside
    yield _turned(one, ""), replace(one, needle=512, share=0.7)
    yield _turned(one, ""), replace(one, needle=1100, share=0.35)
    wide = replace(one, hd=128, vd=128, at=520, length=540)
    yield _turned(wide, "QK"), replace(wide, needle=511)
    few = AttentionShape(3, 2, 1, 64, 64, 62, 96)
    yield attention, replace(few, needle=31)
    yield _turned(few, "q"), replace(few, needle=63, share=0.9)
    general = AttentionShape(1, 4, 2, 32, 32, 520, 600)
    yield attention, replace(general, sinks=True, needle=0, share=0.2)
    yield _turned(general, "K"), replace(general, needle=519)
    yield attention, replace(general, stored=Format.F16, needle=512)
    yield partial(attentions, 3), replace(general, at=70, length=96, needle=32, share=0.7)


def full_needles() -> Iterator[Needle]:
    """Every edge that a step sees, by kernels, positions and windows."""
    number = count()
    for heads, kv, hd in ((8, 2, 64), (6, 2, 128), (28, 4, 128), (8, 2, 80), (8, 1, 256)):
        plain = hd in (64, 128)
        for at, window in _seen((33, 511, 1024, 1600, 2047) if plain else (33, 600), (None, 512, 700)):
            shape = AttentionShape(1, heads, kv, hd, hd, at, 2048, window, at == 511, at % 3, early=True, settled=True)
            for needle in _edges(shape):
                s = replace(shape, needle=needle, share=SHARES[next(number) % len(SHARES)])
                yield attention, s
                yield _turned(s, "" if needle == at else ("", "QK")[needle % 2]), s
    for (m, hd), (at, window) in product(((2, 64), (3, 128), (8, 64), (5, 96)), _seen((40, 600), (None, 100))):
        shape = AttentionShape(m, 8, 2, hd, hd, at, 1100, window, gate=Activation.SIGMOID if m == 2 else None)
        for needle in _edges(shape):
            s = replace(shape, needle=needle, share=SHARES[next(number) % len(SHARES)])
            yield attention, s
            yield _turned(s, ""), s
    for hd, (at, window) in product((64, 128, 256), _seen((63, 1025), (None, 100))):
        shape = AttentionShape(1, 8, 2, hd, hd, at, 1100, window, planes=1)
        for needle in _edges(shape):
            s = replace(shape, needle=needle, share=SHARES[next(number) % len(SHARES)])
            yield attention, replace(s, stored=Format.F16)
            yield partial(attentions, 2 + at % 3), replace(s, stored=Format.F16 if needle % 2 else Format.F32)
    long = AttentionShape(1, 32, 8, 128, 128, 40000, 40960, early=True, settled=True)
    for needle in (0, 1024, 32767, 39999, 40000):
        yield _turned(long, ""), replace(long, needle=needle)


def _turned(s: AttentionShape, norms: str) -> Make:
    return partial(turned_attention, half=s.hd // 2, norms=norms)


def _seen(ends: Sequence[int], windows: Sequence[int | None]) -> list[tuple[int, int | None]]:
    """Positions, each with the windows that have begun to slide there."""
    return [(at, window) for at, window in product(ends, windows) if window is None or window <= at]


def _edges(s: AttentionShape) -> list[int]:
    """The edges among the positions that a shape's first row sees, and those of what it sees: the one before the first,
    the first, the last but one and the last."""
    first = s.first_seen(0)
    inside = {p for p in EDGES if first <= p <= s.at}
    return sorted(inside | {max(first - 1, 0), first, s.at - 1, s.at})


def small() -> Iterator[Case]:
    """Some of each kernel."""
    yield from (make(s) for make, s in small_needles())


def full() -> Iterator[Case]:
    """All of them."""
    yield from (make(s) for make, s in full_needles())


__all__ = ["Make", "Needle", "full", "full_needles", "small", "small_needles", "wrong"]
