"""Attention of a block of rows over each other, against loops; and gated attention as one launch."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, floor, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lanelink.dialects.tgraph import FullAttentionOp, LutAttentionOp
from lanelink.lowering import meanings
from lanelink.lowering.functions import Activation

Array = npt.NDArray[Any]
Run = Callable[..., Array]

HEADS, HEAD_DIM = 4, 3


def weighted(q: Array, keys: Array, values: Array, kv_heads: int, weigh: Callable[[list[float]], list[float]]) -> Array:
    """Every row over every row of the keys; `weigh` makes weights of one row's and head's scores."""
    out = np.zeros((len(q), HEADS * HEAD_DIM))
    for r in range(len(q)):
        for h in range(HEADS):
            at = h // (HEADS // kv_heads) * HEAD_DIM
            scores = [sum(float(q[r, h * HEAD_DIM + i]) * float(row[at + i]) for i in range(HEAD_DIM)) for row in keys]
            weights = weigh(scores)
            for i in range(HEAD_DIM):
                mixed = sum(w * float(row[at + i]) for w, row in zip(weights, values, strict=True))
                out[r, h * HEAD_DIM + i] = mixed / sum(weights) if sum(weights) else 0.0
    return out


def block(rng: np.random.Generator, kv_heads: int, rows: int = 5, length: int = 7) -> list[Array]:
    narrow = kv_heads * HEAD_DIM
    return [rng.standard_normal(s, np.float32) for s in ((rows, HEADS * HEAD_DIM), (length, narrow), (length, narrow))]


@pytest.mark.parametrize("scale", [None, 1.5])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_full_attention(run: Run, rng: np.random.Generator, kv_heads: int, scale: float | None):
    """A row sees rows after its own, and tables of another length."""
    inputs = block(rng, kv_heads)
    factor = 1 / sqrt(HEAD_DIM) if scale is None else scale
    got = run(
        lambda q, k, v: FullAttentionOp(q, k, v, heads=HEADS, kv_heads=kv_heads, head_dim=HEAD_DIM, scale=scale),
        *inputs,
    )
    assert got.dtype == np.float32
    expected = weighted(*inputs, kv_heads, lambda scores: [exp(factor * s) for s in scores])
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def look_up(table: Array, step: float) -> Callable[[list[float]], list[float]]:
    def weigh(scores: list[float]) -> list[float]:
        last = len(table) - 1
        return [float(table[last - min(last, floor((max(scores) - s) / step))]) for s in scores]

    return weigh


def lut(kv_heads: int, step: float) -> Callable[..., LutAttentionOp]:
    return lambda q, k, v, t: LutAttentionOp(q, k, v, t, heads=HEADS, kv_heads=kv_heads, head_dim=HEAD_DIM, step=step)


@pytest.mark.parametrize("size", [1, 2, 64])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_lut_attention(run: Run, rng: np.random.Generator, kv_heads: int, size: int):
    """Scores of quarters, a step of halves: scores on the very edges of steps, and past the table."""
    inputs = [np.round(2 * v) / np.float32(2) for v in block(rng, kv_heads)]
    table = np.sort(rng.uniform(0, 1, size)).astype(np.float32)
    got = run(lut(kv_heads, 0.5), *inputs, table)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, weighted(*inputs, kv_heads, look_up(table, 0.5)), rtol=1e-5, atol=1e-6)


def test_a_fine_table_of_exponentials_is_a_softmax(run: Run, rng: np.random.Generator):
    inputs = block(rng, 2)
    table = np.exp(-np.arange(1 << 16)[::-1] / 4096.0).astype(np.float32)
    got = run(lut(2, 1 / 4096), *inputs, table)
    soft = weighted(*inputs, 2, lambda scores: [exp(s) for s in scores])
    # Each weight is off by a step of 1/4096 at most.
    np.testing.assert_allclose(got, soft, atol=2 / 4096 * np.abs(inputs[2]).max())


def test_weights_that_sum_to_nothing_give_nothing(run: Run, rng: np.random.Generator):
    inputs = block(rng, 2)
    np.testing.assert_array_equal(run(lut(2, 0.5), *inputs, np.zeros(4, np.float32)), np.zeros_like(inputs[0]))


@pytest.mark.parametrize("act", [Activation.SIGMOID, Activation.SILU])
def test_a_gate_multiplies_what_attention_gives(rng: np.random.Generator, act: Activation):
    q, keys, values = block(rng, 2)
    gate = rng.standard_normal(q.shape, np.float32)
    got = meanings.attention(q, keys, values, 2, HEADS, 2, window=3, gate=(act, gate))
    plain = meanings.attention(q, keys, values, 2, HEADS, 2, window=3)
    for r in range(len(q)):
        for c in range(q.shape[1]):
            g = float(gate[r, c])
            factor = (1.0 if act is Activation.SIGMOID else g) / (1 + exp(-g))
            assert got[r, c] == pytest.approx(float(plain[r, c]) * factor, rel=1e-6)
