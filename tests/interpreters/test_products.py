"""Products, quantizing, gathers and row sets against loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import (
    CheckpointAttr,
    ConstantOp,
    MatmulOp,
    QuantizeOp,
    RowGatherOp,
    RowsGatherOp,
    RowsType,
    SetRowOp,
)
from lanelink.lowering.formats import decode, encode
from lanelink.lowering.weights import StoredRows, constant_key

Array = npt.NDArray[Any]
Run = Callable[..., Array]


def rows_constant(values: Array, format: Format, *, transposed: bool) -> tuple[ConstantOp, dict[Any, Any]]:
    rows, cols = values.shape
    op = ConstantOp(CheckpointAttr("w"), RowsType(format, rows, cols, transposed=transposed))
    return op, {constant_key(op): StoredRows(format, rows, cols, encode(format, values))}


def dot_rows(x: Array, w: Array) -> Array:
    """x [m, k] · w [k, n] by sums of Python floats."""
    (m, k), n = x.shape, w.shape[1]
    return np.array([[sum(float(x[r, i]) * float(w[i, c]) for i in range(k)) for c in range(n)] for r in range(m)])


@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("format", [Format.F32, Format.F16, Format.BF16, Format.Q8_0])
def test_matmul_by_checkpoint_rows(run: Run, rng: np.random.Generator, format: Format, transposed: bool):
    x = rng.standard_normal((3, 32 if transposed else 5), np.float32)
    stored = rng.standard_normal((5, 32), np.float32)
    w, constants = rows_constant(stored, format, transposed=transposed)
    y = run(lambda a: [w, MatmulOp(a, w.result)], x, constants=constants)
    kept = decode(format, 5, 32, encode(format, stored))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, dot_rows(x, kept.T if transposed else kept), rtol=1e-5, atol=1e-6)


def test_matmul_by_a_plain_tensor(run: Run, rng: np.random.Generator):
    x, w = rng.standard_normal((2, 7), np.float32), rng.standard_normal((7, 3), np.float32)
    np.testing.assert_allclose(run(MatmulOp, x, w), dot_rows(x, w), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("planes", "most"), [(1, 0.5), (2, 0.5 / 254)])
def test_quantized_products_lose_half_a_step_at_most(run: Run, rng: np.random.Generator, planes: int, most: float):
    x = (rng.standard_normal((2, 64)) * [[1.0], [300.0]]).astype(np.float32)
    stored = np.eye(64, dtype=np.float32)
    w, constants = rows_constant(stored, Format.Q8_0, transposed=True)

    def build(a: Any) -> list[Any]:
        quantized = QuantizeOp(a, planes)
        return [w, quantized, MatmulOp(quantized.result, w.result)]

    y = run(build, x, constants=constants)
    unit = decode(Format.Q8_0, 64, 64, encode(Format.Q8_0, stored))[0, 0]
    for row in range(2):
        for block in (slice(0, 32), slice(32, 64)):
            step = np.abs(x[row, block]).max() / 127
            worst = np.abs(y[row, block] / unit - x[row, block]).max()
            assert 0 < worst <= step * most * 1.01


def test_gathers(run: Run, rng: np.random.Generator):
    table = rng.standard_normal((6, 4), np.float32)
    w, constants = rows_constant(table, Format.BF16, transposed=False)
    kept = decode(Format.BF16, 6, 4, encode(Format.BF16, table))
    index = np.array([4, 0, 4], np.int32)
    gathered = run(lambda i: [w, RowsGatherOp(w.result, i)], index, constants=constants)
    np.testing.assert_array_equal(gathered, [kept[4], kept[0], kept[4]])
    np.testing.assert_array_equal(run(RowGatherOp, table, np.array([5], np.int32)), table[5:6])
    np.testing.assert_array_equal(run(lambda t: RowGatherOp(t, row=2), table), table[2:3])


def test_a_gather_past_the_table_reads_its_nearest_row(run: Run, rng: np.random.Generator):
    table = rng.standard_normal((6, 4), np.float32)
    gathered = run(RowsGatherOp, table, np.array([-1, 6, 2**31 - 1], np.int32))
    np.testing.assert_array_equal(gathered, [table[0], table[5], table[5]])


def test_set_row_leaves_the_table_it_was_given(run: Run, rng: np.random.Generator):
    table, rows = rng.standard_normal((6, 4), np.float32), rng.standard_normal((2, 4), np.float32)
    before = table.copy()
    for at, result in (
        (3, run(SetRowOp, table, rows, np.array([3], np.int32))),
        (4, run(lambda t, r: SetRowOp(t, r, row=4), table, rows)),
    ):
        for r in range(6):
            np.testing.assert_array_equal(result[r], rows[r - at] if at <= r < at + 2 else before[r])
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("at", [-1, 5, 2**31 - 1])
def test_set_row_past_its_table_is_refused(run: Run, rng: np.random.Generator, at: int):
    table, rows = rng.standard_normal((6, 4), np.float32), rng.standard_normal((2, 4), np.float32)
    with pytest.raises(InterpretationError, match=rf"expected 0 to 4 in a table of 6 rows, got {at}$"):
        run(SetRowOp, table, rows, np.array([at], np.int32))


def test_a_values_constant(run: Run):
    w = ConstantOp(CheckpointAttr("w"), TensorType(f32, [2, 2]))
    held = np.array([[1, 2], [3, 4]], np.float32)
    x = np.array([[10, 1]], np.float32)
    y = run(lambda a: [w, MatmulOp(a, w.result)], x, constants={constant_key(w): held})
    np.testing.assert_array_equal(y, [[13, 24]])
