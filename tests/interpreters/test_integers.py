"""The ops of integer networks against Python's own integers and fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lanelink.dialects.tgraph import IntClampOp, IntRequantOp

Array = npt.NDArray[Any]
Run = Callable[..., Array]

LOWEST, HIGHEST = -(2**31), 2**31 - 1


def requantized(x: int, multiplier: int, shift: int, zero_point: int) -> int:
    scaled = Fraction(x * multiplier, 2**shift)
    away = floor(abs(scaled) + Fraction(1, 2)) * (1 if scaled >= 0 else -1)
    return max(LOWEST, min(HIGHEST, away + zero_point))


@pytest.mark.parametrize("zero_point", [0, -3, HIGHEST, LOWEST])
@pytest.mark.parametrize(
    ("multiplier", "shift"),
    [(1, 0), (1, 1), (3, 2), (1518500250, 40), (HIGHEST, 31), (HIGHEST, 0), (HIGHEST, 62), (1, 62), (5, 33)],
)
def test_int_requant(run: Run, rng: np.random.Generator, multiplier: int, shift: int, zero_point: int):
    x = rng.integers(LOWEST, HIGHEST, (3, 40), np.int32, endpoint=True)
    x[0, :7] = [0, 1, -1, LOWEST, HIGHEST, 7, -7]
    x[1, :40] = np.arange(-20, 20)
    got = run(lambda v: IntRequantOp(v, multiplier=multiplier, shift=shift, zero_point=zero_point), x)
    assert got.dtype == np.int32
    expected = [[requantized(v, multiplier, shift, zero_point) for v in row] for row in x.tolist()]
    assert got.tolist() == expected


def test_halves_go_away_from_zero(run: Run):
    x = np.array([[1, -1, 3, -3, 5, -5, 6, -6]], np.int32)
    halved = run(lambda v: IntRequantOp(v, multiplier=1, shift=1), x)
    assert halved.tolist() == [[1, -1, 2, -2, 3, -3, 3, -3]]


@pytest.mark.parametrize(("low", "high"), [(-128, 127), (0, 0), (5, 9), (-9, -5), (LOWEST, HIGHEST)])
def test_int_clamp(run: Run, rng: np.random.Generator, low: int, high: int):
    x = rng.integers(-300, 300, (2, 50), np.int32)
    x[0, :4] = [LOWEST, HIGHEST, low, high]
    got = run(lambda v: IntClampOp(v, low, high), x)
    assert got.dtype == np.int32
    assert got.tolist() == [[max(low, min(high, v)) for v in row] for row in x.tolist()]
