"""What a checkpoint reference takes of the stored tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import Adjust, CheckpointAttr, ConstantOp, RowsType, StoredUnit, StoredViewAttr
from lanelink.lowering.formats import decode, encode
from lanelink.lowering.stored import WeightError, read_stored
from lanelink.lowering.weights import random_weights, resolve

Array = npt.NDArray[Any]
ROWS, VALUES = StoredUnit.ROWS, StoredUnit.VALUES


@dataclass(frozen=True)
class Held:
    format: Format
    shape: tuple[int, ...]
    bytes: Array

    def raw(self) -> Array:
        return self.bytes


def held(values: Array, format: Format = Format.F32) -> Held:
    return Held(format, values.shape, encode(format, values.reshape(-1, values.shape[-1])).reshape(-1))


class Tensors:
    def __init__(self, **tensors: Held) -> None:
        self.tensors = tensors

    def tensor(self, name: str) -> Held:
        return self.tensors[name.replace(".", "_")]


def draw(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


def read(attr: CheckpointAttr, shape: tuple[int, ...], **tensors: Held) -> Array:
    format, data = read_stored(attr, Tensors(**tensors), shape)
    return decode(format, data.shape[0], shape[-1], data).reshape(shape)


def test_a_rotation_pairs_that_lie_side_by_side():
    """4 heads of 6 rows, pair i at rows 2i and 2i + 1; wanted at rows i and i + 3."""
    stored = draw(24, 32)
    attr = CheckpointAttr("w", view=StoredViewAttr(ROWS, [4, 2, 3], [6, 1, 2]))
    expected = [head * 6 + 2 * pair + side for head in range(4) for side in range(2) for pair in range(3)]
    for format in (Format.BF16, Format.Q8_0):
        found = read(attr, (24, 32), w=held(stored, format))
        np.testing.assert_array_equal(found, decode(format, 24, 32, held(stored[expected], format).bytes))


def test_a_part_of_each_group():
    stored = draw(12, 8)
    attr = CheckpointAttr("w", view=StoredViewAttr(ROWS, [3, 2], [4, 1], 1))
    np.testing.assert_array_equal(read(attr, (6, 8), w=held(stored)), stored[[1, 2, 5, 6, 9, 10]])


def test_a_stack_is_its_rows():
    stored = draw(3, 4, 8)
    np.testing.assert_array_equal(read(CheckpointAttr("w"), (12, 8), w=held(stored)), stored.reshape(12, 8))
    one = CheckpointAttr("w", view=StoredViewAttr(ROWS, [4], [1], 4))
    np.testing.assert_array_equal(read(one, (4, 8), w=held(stored)), stored[1])


def test_matrices_stored_the_other_way_and_interleaved():
    """Of [experts, inputs, gate and up in turn], the ups as [experts · outputs, inputs]."""
    stored = draw(2, 5, 6)
    attr = CheckpointAttr("w", view=StoredViewAttr(VALUES, [2, 3, 5], [30, 2, 6], 1))
    expected = stored[:, :, 1::2].transpose(0, 2, 1).reshape(6, 5)
    for format, kind in ((Format.F32, np.float32), (Format.F16, np.float16)):
        np.testing.assert_array_equal(read(attr, (6, 5), w=held(stored, format)), expected.astype(kind))


def test_a_series_of_tensors():
    parts = [draw(3, 8) + k for k in range(3)]
    tensors = {f"e_{k}_w": held(part) for k, part in enumerate(parts)}
    np.testing.assert_array_equal(read(CheckpointAttr("e.*.w", count=3), (9, 8), **tensors), np.concatenate(parts))
    rows = CheckpointAttr("e.*.w", count=3, view=StoredViewAttr(ROWS, [3], [3], 2))
    np.testing.assert_array_equal(read(rows, (3, 8), **tensors), [part[2] for part in parts])
    vectors = {f"b_{k}": held(part[0]) for k, part in enumerate(parts)}
    np.testing.assert_array_equal(read(CheckpointAttr("b.*", count=3), (3, 8), **vectors), [part[0] for part in parts])


@given(st.data())
def test_any_view(data: st.DataObject):
    """Unit by unit, as the reference's docstring says."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    steps = data.draw(st.lists(st.integers(1, 5), min_size=len(sizes), max_size=len(sizes)))
    view = StoredViewAttr(ROWS, sizes, steps, data.draw(st.integers(0, 3)))
    stored = draw(view.last + 1 + data.draw(st.integers(0, 2)), 3)
    units = [view.offset.data + sum(i * s for i, s in zip(at, steps, strict=True)) for at in np.ndindex(*sizes)]
    np.testing.assert_array_equal(read(CheckpointAttr("w", view=view), (view.units, 3), w=held(stored)), stored[units])


def test_rows_that_follow_one_another_are_not_copied():
    stored = held(draw(8, 4))
    view = StoredViewAttr(ROWS, [2, 2], [2, 1], 3)
    assert np.shares_memory(read_stored(CheckpointAttr("w", view=view), Tensors(w=stored), (4, 4))[1], stored.bytes)


def values(attr: CheckpointAttr, *shape: int, **tensors: Held) -> Array:
    op = ConstantOp(attr, TensorType(f32, shape))
    return resolve(ModuleOp([op]), Tensors(**tensors)).values(op)


def test_values_of_blocks():
    """Plain values may come from blocks, which are decoded before they are viewed."""
    stored = held(draw(4, 32), Format.Q8_0)
    attr = CheckpointAttr("w", view=StoredViewAttr(VALUES, [32, 2], [1, 64], 32))
    np.testing.assert_array_equal(values(attr, 32, 2, w=stored), decode(Format.Q8_0, 4, 32, stored.bytes)[1::2].T)


def test_adjusted_values():
    x = np.array([-0.5, 0.25, 3], np.float32)
    np.testing.assert_array_equal(values(CheckpointAttr("w", adjust=Adjust.PLUS_ONE), 3, w=held(x)), x + 1)
    logs = np.array([-2, 0.5, 7], np.float32)
    decays = held(-np.exp(logs))
    # One rounding of the exponential, and one of the logarithm: some 2^-23 relative, times |log| up to 7.
    found = values(CheckpointAttr("w", adjust=Adjust.LOG_NEGATED), 3, w=decays)
    np.testing.assert_allclose(found, logs, atol=2e-6, rtol=0)


MATRIX = held(draw(6, 32))


@pytest.mark.parametrize(
    ("attr", "tensors", "message"),
    [
        (
            CheckpointAttr("w", view=StoredViewAttr(ROWS, [2], [6])),
            {"w": MATRIX},
            r"tensor 'w': expected at least 7 rows for its view, got 6",
        ),
        (
            CheckpointAttr("w", view=StoredViewAttr(VALUES, [2, 32], [160, 1], 1)),
            {"w": MATRIX},
            r"tensor 'w': expected at least 193 values for its view, got 192",
        ),
        (
            CheckpointAttr("w", view=StoredViewAttr(ROWS, [2], [1 << 60])),
            {"w": MATRIX},
            r"tensor 'w': expected at least 1152921504606846977 rows for its view, got 6",
        ),
        (
            CheckpointAttr("w", view=StoredViewAttr(ROWS, [2], [1])),
            {"w": held(draw(6, 16))},
            r"tensor 'w': expected rows of 32 values to view, got 16",
        ),
        (
            CheckpointAttr("w", view=StoredViewAttr(VALUES, [2, 32], [32, 1])),
            {"w": held(draw(6, 32), Format.Q8_0)},
            r"tensor 'w': expected f32, f16 or bf16 to view by values, got q8_0",
        ),
        (
            CheckpointAttr("w.*", count=2),
            {"w_0": held(draw(1, 32)), "w_1": held(draw(1, 32), Format.F16)},
            r"tensor 'w.1': expected f32 \[1, 32\] as of 'w.0', got f16 \[1, 32\]",
        ),
        (
            CheckpointAttr("w.*", count=2),
            {"w_0": MATRIX, "w_1": MATRIX},
            r"tensor 'w.\*': expected shape \[2, 32\], got 2 of \[6, 32\]",
        ),
    ],
)
def test_what_does_not_fit(attr: CheckpointAttr, tensors: dict[str, Held], message: str):
    op = ConstantOp(attr, RowsType(Format.F32, 2, 32, transposed=True))
    with pytest.raises(WeightError, match=message):
        resolve(ModuleOp([op]), Tensors(**tensors))


def test_a_logarithm_that_is_none():
    with pytest.raises(WeightError, match=r"tensor 'w': expected values below 0 for their logarithm, got 0"):
        values(CheckpointAttr("w", adjust=Adjust.LOG_NEGATED), 2, w=held(np.array([-1, 0], np.float32)))


def test_parts_of_one_tensor_are_drawn_apart():
    def part(offset: int) -> ConstantOp:
        view = StoredViewAttr(ROWS, [4], [2], offset)
        return ConstantOp(CheckpointAttr("w", view=view), RowsType(Format.F32, 4, 32))

    first, second = part(0), part(1)
    drawn = random_weights(ModuleOp([first, second]))
    assert not np.array_equal(drawn.values(first), drawn.values(second))
