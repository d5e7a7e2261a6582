"""Cases of attention of which one position decides the result: none is blind to losing it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from lanelink.lowering.cases.attention import AttentionShape, attention
from lanelink.lowering.cases.case import Case, Doubles, FloatResult
from lanelink.lowering.cases.needles import Make, full_needles, small_needles, wrong
from lanelink.lowering.cases.turned_attention import turned_attention

EVERY = 17
"""Of the many, one in so many: a count that no loop of theirs divides."""

NEEDLES = [*small_needles(), *islice(full_needles(), 0, None, EVERY)]


def results(case: Case) -> list[FloatResult]:
    return [r for r in case.results if isinstance(r, FloatResult) and r.name.startswith("y")]


def errors(case: Case, other: Case, s: AttentionShape) -> list[Doubles]:
    """What another case's results are off by, over this one's tolerance: of each sequence [rows, heads, values]."""
    pairs = zip(results(case), results(other), strict=True)
    off = (np.abs(r.expected.astype(np.float64) - o.expected) / r.tolerance for r, o in pairs)
    return [e.reshape(s.m, s.heads, s.vd) for e in off]


@pytest.mark.parametrize(("make", "s"), NEEDLES, ids=lambda x: x.words if isinstance(x, AttentionShape) else "")
def test_a_needle_that_is_lost_is_seen(make: Make, s: AttentionShape) -> None:
    """In each head of each row that sees it: by far more than what a kernel may be off by."""
    first, *others = errors(make(s), make(wrong(s)), s)
    assert first[s.rows_of_needle or [0]].max(axis=2).min() > 30
    for k, off in enumerate(others if s.rows_of_needle else (), 1):
        rows = replace(s, at=s.at + k * k).rows_of_needle
        assert off[rows].max(axis=2).min(initial=np.inf) > 30


def test_a_key_of_little_weight_that_is_lost_is_not_seen() -> None:
    """Which is what needles are for: of 1701 random keys, half weigh less than this."""
    s = AttentionShape(1, 2, 1, 64, 64, 1700, 1750, needle=512, share=0.6 / 1701)
    (off,) = errors(turned_attention(s, 32, "QK"), turned_attention(wrong(s), 32, "QK"), s)
    assert off.max() < 1


def test_more_queries_than_a_key_can_answer_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 16 queries of a key head, got 18"):
        attention(AttentionShape(3, 6, 1, 16, 16, 5, 8, needle=3))


def test_a_needle_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="other positions that row 0 sees, got 0 alone"):
        attention(AttentionShape(1, 2, 1, 16, 16, 0, 8, needle=0))


def test_an_own_key_that_is_normed_is_no_needle() -> None:
    with pytest.raises(ValueError, match=r"before the step's 5, whose keys are normed, got 6"):
        turned_attention(AttentionShape(2, 2, 1, 32, 32, 5, 8, needle=6), 16, "K")
