"""Attention against loops: grouped heads, positions, windows that slide, sinks, soft caps, several rows."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, sqrt, tanh
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects.tgraph import AttentionOp

Array = npt.NDArray[Any]
Run = Callable[..., Array]

HEADS, KV_HEADS, HEAD_DIM, VALUE_DIM, CAPACITY = 6, 3, 4, 5, 12


def attend(
    q: Array,
    keys: Array,
    values: Array,
    position: int | None,
    *,
    window: int | None = None,
    chunked: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """One score at a time, over Python floats; the softmax is taken without its maximum."""
    factor = 1 / sqrt(HEAD_DIM) if scale is None else scale
    out = np.zeros((len(q), HEADS * VALUE_DIM))
    for r in range(len(q)):
        last = CAPACITY - 1 if position is None else position + r
        seen = [p for p in range(last + 1) if window is None or p > last - window]
        if window is not None and chunked:
            seen = [p for p in range(last + 1) if p // window == last // window]
        for h in range(HEADS):
            group = h // (HEADS // KV_HEADS)
            weights: list[float] = []
            for p in seen:
                score = factor * sum(
                    float(q[r, h * HEAD_DIM + i]) * float(keys[p, group * HEAD_DIM + i]) for i in range(HEAD_DIM)
                )
                weights.append(exp(score if softcap is None else softcap * tanh(score / softcap)))
            total = sum(weights) + (0.0 if sinks is None else exp(float(sinks[h])))
            for i in range(VALUE_DIM):
                mixed = sum(w * float(values[p, group * VALUE_DIM + i]) for w, p in zip(weights, seen, strict=True))
                out[r, h * VALUE_DIM + i] = mixed / total
    return out


def tables(rng: np.random.Generator, rows: int) -> tuple[Array, Array, Array]:
    return (
        rng.standard_normal((rows, HEADS * HEAD_DIM), np.float32),
        rng.standard_normal((CAPACITY, KV_HEADS * HEAD_DIM), np.float32),
        rng.standard_normal((CAPACITY, KV_HEADS * VALUE_DIM), np.float32),
    )


def build(**options: Any) -> Callable[..., AttentionOp]:
    has_position, has_sinks = options.pop("has_position"), options.pop("has_sinks")

    def op(q: Any, k: Any, v: Any, *rest: Any) -> AttentionOp:
        return AttentionOp(
            q,
            k,
            v,
            rest[0] if has_position else None,
            sinks=rest[-1] if has_sinks else None,
            heads=HEADS,
            kv_heads=KV_HEADS,
            head_dim=HEAD_DIM,
            value_dim=VALUE_DIM,
            **options,
        )

    return op


@pytest.mark.parametrize("has_sinks", [False, True])
@pytest.mark.parametrize("softcap", [None, 0.7])
@pytest.mark.parametrize("window", [None, 1, 3, 100])
@pytest.mark.parametrize(("rows", "position"), [(1, 0), (1, 7), (4, 0), (4, 5), (2, None)])
def test_attention(
    run: Run,
    rng: np.random.Generator,
    rows: int,
    position: int | None,
    window: int | None,
    softcap: float | None,
    has_sinks: bool,
):
    q, keys, values = tables(rng, rows)
    sinks = rng.standard_normal(HEADS, np.float32) * np.float32(2)
    extra: list[Array] = [] if position is None else [np.array([position], np.int32)]
    op = build(has_position=position is not None, has_sinks=has_sinks, window=window, softcap=softcap)
    result = run(op, q, keys, values, *extra, *([sinks] if has_sinks else []))
    expected = attend(q, keys, values, position, window=window, softcap=softcap, sinks=sinks if has_sinks else None)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("window", [1, 4, 5, 100])
@pytest.mark.parametrize(("rows", "position"), [(1, 4), (5, 2), (2, None)])
def test_chunks(run: Run, rng: np.random.Generator, rows: int, position: int | None, window: int):
    """Several rows on either side of a chunk's edge."""
    q, keys, values = tables(rng, rows)
    extra: list[Array] = [] if position is None else [np.array([position], np.int32)]
    op = build(has_position=position is not None, has_sinks=False, window=window, chunked=True)
    expected = attend(q, keys, values, position, window=window, chunked=True)
    np.testing.assert_allclose(run(op, q, keys, values, *extra), expected, rtol=1e-5, atol=1e-6)


def test_a_scale_of_its_own(run: Run, rng: np.random.Generator):
    q, keys, values = tables(rng, 2)
    op = build(has_position=True, has_sinks=False, scale=1.5)
    result = run(op, q, keys, values, np.array([4], np.int32))
    np.testing.assert_allclose(result, attend(q, keys, values, 4, scale=1.5), rtol=1e-5, atol=1e-6)


def test_rows_past_the_position_are_not_read(run: Run, rng: np.random.Generator):
    q, keys, values = tables(rng, 1)
    op = build(has_position=True, has_sinks=False)
    before = run(op, q, keys, values, np.array([6], np.int32))
    keys[7:], values[7:] = np.nan, np.inf
    np.testing.assert_array_equal(run(op, q, keys, values, np.array([6], np.int32)), before)


def test_a_sink_of_the_largest_score_takes_nearly_all(run: Run, rng: np.random.Generator):
    """The sink must join the maximum: exp(200) is past f32, and all other weights are below its smallest."""
    q, keys, values = tables(rng, 1)
    op = build(has_position=True, has_sinks=True)
    sinks = np.full(HEADS, 200, np.float32)
    result = run(op, q, keys, values, np.array([6], np.int32), sinks)
    assert np.abs(result).max() < 1e-30


def test_large_scores_stay_finite(run: Run, rng: np.random.Generator):
    q, keys, values = tables(rng, 1)
    result = run(build(has_position=True, has_sinks=False), q * 1e4, keys, values, np.array([6], np.int32))
    assert np.isfinite(result).all()
    best = np.argmax(q[0, :HEAD_DIM].astype(float) @ keys[:7, :HEAD_DIM].astype(float).T)
    np.testing.assert_allclose(result[0, :VALUE_DIM], values[best, :VALUE_DIM], rtol=1e-6)


@pytest.mark.parametrize("position", [-1, 11])
def test_a_position_past_the_tables_is_refused(run: Run, rng: np.random.Generator, position: int):
    q, keys, values = tables(rng, 2)
    with pytest.raises(InterpretationError, match=rf"expected 0 to 10 in a table of 12 rows, got {position}"):
        run(build(has_position=True, has_sinks=False), q, keys, values, np.array([position], np.int32))


def test_heads_that_do_not_group_are_refused(run: Run, rng: np.random.Generator):
    q = rng.standard_normal((1, 3 * HEAD_DIM), np.float32)
    table = rng.standard_normal((CAPACITY, 2 * HEAD_DIM), np.float32)
    with pytest.raises(InterpretationError, match=r"heads: expected a multiple of 2 key heads, got 3"):
        run(lambda q, t: AttentionOp(q, t, t, None, heads=3, kv_heads=2, head_dim=HEAD_DIM), q, table)
