"""Linear attention against loops over Python floats, written from the papers: several rows over states not zero."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lanelink.dialects.tgraph import CausalConvOp, DecayOp, DeltaGate, GatedDeltaOp, L2NormOp
from lanelink.lowering import meanings
from lanelink.lowering.interpreters.reference import StepInterpreter

Array = npt.NDArray[Any]
Run = Callable[..., Array]
Compile = Callable[..., StepInterpreter]


def logistic(x: float) -> float:
    return 1 / (1 + exp(-x))


def decayed(a: float, dt_bias: float, a_log: float) -> float:
    return exp(-exp(a_log) * log(1 + exp(a + dt_bias)))


def normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, np.float32)


def test_decay(run: Run, rng: np.random.Generator):
    a, dt_bias, a_log = normal(rng, 3, 5) * np.float32(3), normal(rng, 5), normal(rng, 5)
    result = run(DecayOp, a, dt_bias, a_log)
    assert result.dtype == np.float32
    for r in range(3):
        for h in range(5):
            expected = decayed(float(a[r, h]), float(dt_bias[h]), float(a_log[h]))
            assert result[r, h] == pytest.approx(expected, rel=1e-5)


def test_decay_of_what_would_overflow(run: Run):
    """softplus(x) is x where exp(x) is past every float, and 0 where it is below all; nothing is NaN."""
    a = np.array([[1000.0, -1000.0]], np.float32)
    result = run(DecayOp, a, np.zeros(2, np.float32), np.full(2, log(1e-3), np.float32))
    np.testing.assert_allclose(result, [[exp(-1), 1]], rtol=1e-6)


@pytest.mark.parametrize("cols", [3, 4, 12])
def test_l2norm(run: Run, rng: np.random.Generator, cols: int):
    """A large eps, so that leaving it out, or a mean in place of the sum, shows."""
    x = normal(rng, 2, 12)
    result = run(lambda v: L2NormOp(v, cols, 0.5), x)
    for r in range(2):
        for first in range(0, 12, cols):
            group = [float(v) for v in x[r, first : first + cols]]
            expected = [v / sqrt(sum(u * u for u in group) + 0.5) for v in group]
            np.testing.assert_allclose(result[r, first : first + cols], expected, rtol=1e-6)


def convolved(x: Array, weight: Array, ring: Array) -> tuple[Array, Array]:
    """Row r of the result takes the last `taps` rows up to row r, the newest by the last tap."""
    taps = weight.shape[1]
    seen = [*ring.tolist(), *x.tolist()]
    out = np.zeros(x.shape)
    for r in range(len(x)):
        now = len(ring) + r
        for c in range(x.shape[1]):
            out[r, c] = sum(seen[now - back][c] * float(weight[c, taps - 1 - back]) for back in range(taps))
    return out, np.array(seen[-(taps - 1) :], np.float32)


@pytest.mark.parametrize("taps", [2, 4])
@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_causal_conv(interpreter: Compile, rng: np.random.Generator, rows: int, taps: int):
    """Fewer rows than the ring's, as many, and more; the ring given is left as it was."""
    x, weight, ring = normal(rng, rows, 5), normal(rng, 5, taps), normal(rng, taps - 1, 5)
    before = ring.copy()
    out, moved = interpreter(CausalConvOp, [x, weight, ring]).run([x, weight, ring])
    expected, expected_ring = convolved(x, weight, ring)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(moved, expected_ring)
    np.testing.assert_array_equal(ring, before)
    assert out.dtype == moved.dtype == np.float32


def test_rows_at_once_are_rows_one_by_one(interpreter: Compile, rng: np.random.Generator):
    x, weight, ring = normal(rng, 6, 3), normal(rng, 3, 4), normal(rng, 3, 3)
    whole, last = interpreter(CausalConvOp, [x, weight, ring]).run([x, weight, ring])
    one = interpreter(CausalConvOp, [x[:1], weight, ring])
    for r in range(6):
        out, ring = one.run([x[r : r + 1], weight, ring])
        np.testing.assert_array_equal(out[0], whole[r])
    np.testing.assert_array_equal(ring, last)


VALUE_HEADS, HEAD_DIM = 6, 4


def delta_rule(inputs: list[Array], key_heads: int, eps: float, gate: Callable[[float], float]) -> tuple[Array, Array]:
    """
    The rule as the paper writes it, S = decay·(I − beta·k kᵀ) S + beta·k vᵀ, with the d × d matrix written out; then
    the output's norm and gate.
    """
    q, k, v, z, beta, decay, state, weight = inputs
    d, rows = HEAD_DIM, len(q)
    out, new = np.zeros((rows, VALUE_HEADS * d)), np.zeros(state.shape)
    for h in range(VALUE_HEADS):
        group = h // (VALUE_HEADS // key_heads)
        s = state[h * d : (h + 1) * d].astype(float)
        for r in range(rows):
            key = k[r, group * d : (group + 1) * d].astype(float)
            value = v[r, h * d : (h + 1) * d].astype(float)
            b = float(beta[r, h])
            keep = np.array([[float(i == j) - b * key[i] * key[j] for j in range(d)] for i in range(d)])
            s = float(decay[r, h]) * keep @ s + b * np.outer(key, value)
            o = [sum(float(q[r, group * d + i]) * s[i, j] for i in range(d)) / sqrt(d) for j in range(d)]
            rms = sqrt(sum(u * u for u in o) / d + eps)
            for j in range(d):
                out[r, h * d + j] = float(weight[j]) * o[j] / rms * gate(float(z[r, h * d + j]))
        new[h * d : (h + 1) * d] = s
    return out, new


GATES: dict[DeltaGate, Callable[[float], float]] = {
    DeltaGate.SILU: lambda x: x * logistic(x),
    DeltaGate.SIGMOID: logistic,
}


def delta_inputs(rng: np.random.Generator, rows: int, key_heads: int) -> list[Array]:
    wide, narrow = VALUE_HEADS * HEAD_DIM, key_heads * HEAD_DIM
    rates = [rng.uniform(0.1, 1, (rows, VALUE_HEADS)).astype(np.float32) for _ in range(2)]
    rows_of = [normal(rng, rows, width) for width in (narrow, narrow, wide, wide)]
    return [*rows_of, *rates, normal(rng, wide, HEAD_DIM), normal(rng, HEAD_DIM)]


def delta_op(key_heads: int, eps: float, gate: DeltaGate) -> Callable[..., GatedDeltaOp]:
    return lambda *v: GatedDeltaOp(
        (v[0], v[1], v[2], v[3], v[4], v[5]),
        v[6],
        v[7],
        value_heads=VALUE_HEADS,
        key_heads=key_heads,
        head_dim=HEAD_DIM,
        eps=eps,
        gate=gate,
    )


@pytest.mark.parametrize("gate", list(DeltaGate))
@pytest.mark.parametrize("key_heads", [1, 2, 6])
@pytest.mark.parametrize("rows", [1, 5])
def test_gated_delta(interpreter: Compile, rng: np.random.Generator, rows: int, key_heads: int, gate: DeltaGate):
    """Value heads by one, grouped and each its own key head; the state given is left as it was."""
    inputs = delta_inputs(rng, rows, key_heads)
    before = inputs[6].copy()
    out, state = interpreter(delta_op(key_heads, 0.25, gate), inputs).run(inputs)
    expected, expected_state = delta_rule(inputs, key_heads, 0.25, GATES[gate])
    assert out.dtype == state.dtype == np.float32
    # Terms of either sign cancel in what is stored: a few ulps of the largest of them.
    np.testing.assert_allclose(state, expected_state, rtol=1e-5, atol=1e-6 * np.abs(expected_state).max())
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_array_equal(inputs[6], before)


def test_what_was_written_is_read_back(interpreter: Compile, rng: np.random.Generator):
    """With beta 1 and a unit key, the value read by that key is the one just written, whatever the state held."""
    inputs = delta_inputs(rng, 1, VALUE_HEADS)
    key = inputs[1].reshape(VALUE_HEADS, HEAD_DIM)
    key /= np.sqrt((key * key).sum(axis=1, keepdims=True))
    inputs[4][:] = 1
    _, state = interpreter(delta_op(VALUE_HEADS, 1e-6, DeltaGate.SILU), inputs).run(inputs)
    for h in range(VALUE_HEADS):
        read = key[h] @ state[h * HEAD_DIM : (h + 1) * HEAD_DIM]
        np.testing.assert_allclose(read, inputs[2][0, h * HEAD_DIM : (h + 1) * HEAD_DIM], rtol=1e-5, atol=1e-5)


# What a launch computes in one


@pytest.mark.parametrize("l2", [None, (3, 0.5)])
@pytest.mark.parametrize("silu", [False, True])
def test_a_convolution_with_what_follows_it(rng: np.random.Generator, silu: bool, l2: tuple[int, float] | None):
    x, weight, ring = normal(rng, 4, 6), normal(rng, 6, 3), normal(rng, 2, 6)
    out, moved = meanings.causal_conv(x, weight, ring, silu=silu, l2=l2)
    expected, expected_ring = convolved(x, weight, ring)
    if silu:
        expected = np.vectorize(GATES[DeltaGate.SILU])(expected)
    if l2 is not None:
        for r in range(4):
            for first in (0, 3):
                group = expected[r, first : first + 3]
                expected[r, first : first + 3] = group / sqrt(sum(v * v for v in group) + 0.5)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(moved, expected_ring)


def test_gates_and_their_products(rng: np.random.Generator):
    x, wb, wa, dt_bias, a_log = normal(rng, 3, 7), normal(rng, 4, 7), normal(rng, 4, 7), normal(rng, 4), normal(rng, 4)
    b = [[sum(float(x[r, i]) * float(wb[h, i]) for i in range(7)) for h in range(4)] for r in range(3)]
    a = [[sum(float(x[r, i]) * float(wa[h, i]) for i in range(7)) for h in range(4)] for r in range(3)]
    beta = [[logistic(v) for v in row] for row in b]
    decay = [[decayed(v, float(dt_bias[h]), float(a_log[h])) for h, v in enumerate(row)] for row in a]
    rounded = (np.array(t, np.float32) for t in (b, a))
    for got in (meanings.gate_projections(x, wb, wa, dt_bias, a_log), meanings.gates(*rounded, dt_bias, a_log)):
        np.testing.assert_allclose(got[0], beta, rtol=1e-5)
        np.testing.assert_allclose(got[1], decay, rtol=1e-4)
        assert got[0].dtype == got[1].dtype == np.float32
