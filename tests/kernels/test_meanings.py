"""The meanings against their definitions, written out value by value."""

from __future__ import annotations

from math import erf, exp, sqrt, tanh

import numpy as np
import pytest

from lanelink.lowering import meanings
from lanelink.lowering.functions import Activation, BinaryOp

RNG = np.random.default_rng(11)


def normal(*shape: int) -> meanings.Floats:
    return RNG.standard_normal(shape).astype(np.float32)


DEFINITIONS = {
    Activation.NONE: lambda v: v,
    Activation.SILU: lambda v: v / (1 + exp(-v)),
    Activation.SIGMOID: lambda v: 1 / (1 + exp(-v)),
    Activation.GELU: lambda v: 0.5 * v * (1 + erf(v / sqrt(2))),
    Activation.GELU_TANH: lambda v: 0.5 * v * (1 + tanh(sqrt(2 / np.pi) * (v + 0.044715 * v**3))),
    Activation.RELU: lambda v: max(v, 0.0),
    Activation.TANH: tanh,
    Activation.EXP: exp,
    Activation.SQUARE: lambda v: v * v,
}


@pytest.mark.parametrize("act", list(Activation), ids=str)
def test_activations(act: Activation) -> None:
    x = normal(1, 200) * 4
    want = np.array([[DEFINITIONS[act](float(v)) for v in x[0]]])
    assert np.allclose(meanings.unary(act, x), want, rtol=1e-6, atol=1e-7)


def test_sigmoid_of_what_would_overflow() -> None:
    x = np.array([[-1000.0, 1000.0]], np.float32)
    assert meanings.unary(Activation.SIGMOID, x).tolist() == [[0.0, 1.0]]
    assert meanings.unary(Activation.SILU, x).tolist() == [[0.0, 1000.0]]


def test_attention_position_by_position() -> None:
    m, heads, kv, hd, vd, at, window = 2, 4, 2, 8, 6, 5, 3
    q, keys, values, sinks = normal(m, heads * hd), normal(9, kv * hd), normal(9, kv * vd), normal(heads)
    got = meanings.attention(q, keys, values, at, heads, kv, 0.3, window, sinks)
    for r in range(m):
        for h in range(heads):
            g = h // (heads // kv)
            seen = range(at + r - window + 1, at + r + 1)
            dots = [0.3 * float(q[r, h * hd : (h + 1) * hd] @ keys[p, g * hd : (g + 1) * hd]) for p in seen]
            weights = [exp(d) for d in dots]
            total = sum(weights) + exp(float(sinks[h]))
            want = sum(w * values[p, g * vd : (g + 1) * vd] for w, p in zip(weights, seen, strict=True)) / total
            assert np.allclose(got[r, h * vd : (h + 1) * vd], want, rtol=1e-5, atol=1e-6)


def test_attention_does_not_read_past_its_row() -> None:
    keys, values = normal(6, 8), normal(6, 8)
    keys[3:], values[3:] = np.nan, np.nan
    assert np.isfinite(meanings.attention(normal(1, 8), keys, values, 2, 1, 1)).all()


def test_rope_turns_pairs_and_leaves_the_rest() -> None:
    x, angle = normal(2, 10), normal(7, 2)
    got = meanings.rope(x, np.cos(angle), np.sin(angle), 3, 5)
    for r in range(2):
        for head in (0, 5):
            for i in range(2):
                z = complex(x[r, head + i], x[r, head + 2 + i]) * np.exp(1j * float(angle[3 + r, i]))
                assert np.allclose([got[r, head + i], got[r, head + 2 + i]], [z.real, z.imag], atol=1e-6)
            assert got[r, head + 4] == x[r, head + 4]


def test_norm_with_all_that_may_come_before_it() -> None:
    x, add, weight, inner = normal(1, 4), normal(1, 4), normal(4), normal(4)
    first = x[0] / sqrt(float((x[0] ** 2).mean()) + 0.1) * inner
    total, y = meanings.norm(x, 0.2, weight, add, (inner, 0.1))
    want = first + add[0]
    assert np.allclose(total[0], want, atol=1e-6)
    assert np.allclose(y[0], want / sqrt(float((want**2).mean()) + 0.2) * weight, atol=1e-6)


def test_arg_max_takes_the_lowest_index_and_a_nan_first() -> None:
    x = np.array([[1, 3, 3, 0], [1, np.nan, 9, np.nan]], np.float32)
    assert meanings.arg_max(x).tolist() == [1, 1]


def test_gather_reads_the_nearest_row_for_an_index_outside() -> None:
    table = normal(3, 2)
    got = meanings.gather(table, np.array([-4, 1, 77], np.int32), 2.0)
    assert (got == table * 2).all()


def test_rows_and_columns_repeat_and_division_by_zero_is_infinite() -> None:
    a, row, column = normal(2, 3), normal(1, 3), normal(2, 1)
    assert (meanings.binary(BinaryOp.SUB, a, row) == a - row).all()
    assert (meanings.binary(BinaryOp.MUL, a, column, Activation.RELU) == a * np.maximum(column, 0)).all()
    assert meanings.binary(BinaryOp.DIV, np.ones((1, 1), np.float32), np.zeros((1, 1), np.float32)).tolist() == [
        [np.inf]
    ]
