"""Ops head by head against loops: joins, one matrix a head, and latent attention as its three launches compute it."""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.ir import Operation

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import CheckpointAttr, ConstantOp, HeadMatmulOp, JoinOp, QuantizeOp, RowsType
from lanelink.lowering import meanings
from lanelink.lowering.activations import quantize
from lanelink.lowering.formats import decode, encode
from lanelink.lowering.weights import StoredRows, constant_key

Array = npt.NDArray[Any]
Run = Callable[..., Array]

HEADS = 3


def normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, np.float32)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_join(run: Run, rng: np.random.Generator, heads: int):
    a, b = normal(rng, 3, 8), normal(rng, 3, 4)
    joined = run(lambda x, y: JoinOp(x, y, heads), a, b)
    wide_a, wide_b = 8 // heads, 4 // heads
    for r in range(3):
        expected: list[float] = []
        for h in range(heads):
            expected += a[r, h * wide_a : (h + 1) * wide_a].tolist()
            expected += b[r, h * wide_b : (h + 1) * wide_b].tolist()
        assert joined[r].tolist() == expected


def by_heads(x: Array, matrix: Callable[[int, int, int], float], inputs: int, outputs: int) -> Array:
    """Row by row; matrix(head, input, output)."""
    out = np.zeros((len(x), HEADS * outputs))
    for r in range(len(x)):
        for h in range(HEADS):
            for o in range(outputs):
                out[r, h * outputs + o] = sum(float(x[r, h * inputs + i]) * matrix(h, i, o) for i in range(inputs))
    return out


@pytest.mark.parametrize("rows_are_outputs", [True, False])
@pytest.mark.parametrize("format", [Format.F32, Format.BF16, Format.Q8_0])
def test_head_matmul_by_checkpoint_rows(run: Run, rng: np.random.Generator, format: Format, rows_are_outputs: bool):
    inputs, outputs = (32, 5) if rows_are_outputs else (5, 32)
    x = normal(rng, 2, HEADS * inputs)
    shape = (HEADS * outputs, inputs) if rows_are_outputs else (HEADS * inputs, outputs)
    data = encode(format, normal(rng, *shape))
    w = ConstantOp(CheckpointAttr("w"), RowsType(format, *shape, transposed=rows_are_outputs))

    def build(v: Any) -> list[Operation]:
        return [w, HeadMatmulOp(v, w.result, heads=HEADS, inputs=inputs, outputs=outputs)]

    got = run(build, x, constants={constant_key(w): StoredRows(format, *shape, data)})
    kept = decode(format, *shape, data)

    def matrix(h: int, i: int, o: int) -> float:
        return float(kept[h * outputs + o, i] if rows_are_outputs else kept[h * inputs + i, o])

    assert got.dtype == np.float32
    np.testing.assert_allclose(got, by_heads(x, matrix, inputs, outputs), rtol=1e-5, atol=1e-6)


def test_head_matmul_by_values(run: Run, rng: np.random.Generator):
    x, w = normal(rng, 2, HEADS * 4), normal(rng, HEADS * 4, 7)
    got = run(lambda v, m: HeadMatmulOp(v, m, heads=HEADS, inputs=4, outputs=7), x, w)
    expected = by_heads(x, lambda h, i, o: float(w[h * 4 + i, o]), 4, 7)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("planes", [1, 2])
def test_head_matmul_of_quantized_rows(run: Run, rng: np.random.Generator, planes: int):
    x, shape = normal(rng, 2, HEADS * 32), (HEADS * 5, 32)
    data = encode(Format.Q8_0, normal(rng, *shape))
    w = ConstantOp(CheckpointAttr("w"), RowsType(Format.Q8_0, *shape, transposed=True))

    def build(v: Any) -> list[Operation]:
        q = QuantizeOp(v, planes)
        return [w, q, HeadMatmulOp(q.result, w.result, heads=HEADS, inputs=32, outputs=5)]

    got = run(build, x, constants={constant_key(w): StoredRows(Format.Q8_0, *shape, data)})
    kept = decode(Format.Q8_0, *shape, data)
    expected = by_heads(quantize(x, planes).dequantize(), lambda h, i, o: float(kept[h * 5 + o, i]), 32, 5)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


# Latent attention, expanded

NOPE, ROPE, LATENT, VALUE = 4, 2, 6, 5
LENGTH, POSITION, ROWS, SCALE = 9, 3, 4, 0.4


def test_latent_rows_expand_to_every_heads(rng: np.random.Generator):
    """From the latent values of a row alone, and of the rows asked for alone."""
    table, w = normal(rng, LENGTH, LATENT + ROPE), normal(rng, HEADS * NOPE, LATENT)
    table[7:] = np.nan
    matrices = meanings.head_matrices(w, HEADS, rows_are_outputs=True)
    got = meanings.latent_rows(table, matrices, 7)
    assert got.shape == (7, HEADS * NOPE)
    for p in range(7):
        for n in range(HEADS * NOPE):
            expected = sum(float(table[p, i]) * float(w[n, i]) for i in range(LATENT))
            assert got[p, n] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    table[:, LATENT:] = np.nan
    np.testing.assert_array_equal(meanings.latent_rows(table, matrices, 7), got)


def test_latent_attention_as_decode_computes_it_absorbed(rng: np.random.Generator):
    """
    Two ways to the same values: every head's keys and values made and attended to, and, one score at a time, the query
    taken through its head's key matrix to the latent values, and what is read through its value matrix.
    """
    table = normal(rng, LENGTH, LATENT + ROPE)
    keys_w, values_w = normal(rng, HEADS * NOPE, LATENT), normal(rng, HEADS * VALUE, LATENT)
    q, q_rope = normal(rng, ROWS, HEADS * NOPE), normal(rng, ROWS, HEADS * ROPE)
    table[POSITION + ROWS :] = np.nan
    count = POSITION + ROWS
    keys = np.full((LENGTH, HEADS * NOPE), np.nan, np.float32)
    values = np.full((LENGTH, HEADS * VALUE), np.nan, np.float32)
    for held, w in ((keys, keys_w), (values, values_w)):
        held[:count] = meanings.latent_rows(table, meanings.head_matrices(w, HEADS, rows_are_outputs=True), count)
    got = meanings.latent_attention(q, q_rope, keys, values, table, POSITION, HEADS, LATENT, SCALE)
    assert got.shape == (ROWS, HEADS * VALUE)
    kept = table.astype(float)
    for r in range(ROWS):
        for h in range(HEADS):
            absorbed = [
                sum(float(q[r, h * NOPE + n]) * float(keys_w[h * NOPE + n, i]) for n in range(NOPE))
                for i in range(LATENT)
            ]
            query = [*absorbed, *q_rope[r, h * ROPE : (h + 1) * ROPE].tolist()]
            weights = [
                exp(SCALE * sum(a * b for a, b in zip(query, kept[p], strict=True))) for p in range(POSITION + r + 1)
            ]
            read = [sum(w * kept[p, i] for p, w in enumerate(weights)) / sum(weights) for i in range(LATENT)]
            for n in range(VALUE):
                expected = sum(read[i] * float(values_w[h * VALUE + n, i]) for i in range(LATENT))
                assert got[r, h * VALUE + n] == pytest.approx(expected, rel=1e-4, abs=1e-5)
