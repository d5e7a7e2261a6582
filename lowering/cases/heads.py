"""Cases of rows taken head by head: one matrix a head, two rows joined."""

from __future__ import annotations

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.lowering import meanings
from lanelink.lowering.activations import quantize
from lanelink.lowering.cases.case import UNIT, Builder, Case, Units
from lanelink.lowering.cases.products import build_weights
from lanelink.lowering.selection.head_specs import HeadGemvSpec, JoinSpec
from lanelink.lowering.selection.operands import Quantized, Rows


def head_gemv(
    format: Format,
    planes: int,
    m: int,
    heads: int,
    inputs: int,
    outputs: int,
    rows_are_outputs: bool,
    x_units: Units | None = None,
    y_units: Units | None = None,
    at: int | None = None,
    seed: int = 0,
) -> Case:
    """One matrix a head over f32 rows (planes 0) or quantized ones; with `at` into rows of a table."""
    b = Builder(seed)
    x = b.normal(m, heads * inputs)
    operand: Rows | Quantized
    if planes:
        q = quantize(x, planes)
        x, operand = q.dequantize(), Quantized(b.put("x", q.pack()), planes)
    elif x_units is None:
        operand = b.rows("x", x, gap=4)
    else:
        operand = b.units("x", x, inputs, x_units)
    stored = (heads * outputs, inputs) if rows_are_outputs else (heads * inputs, outputs)
    w, weights = build_weights(b, "w", format, *stored)
    matrices = meanings.head_matrices(w, heads, rows_are_outputs=rows_are_outputs)
    y = meanings.head_product(x, matrices)
    per_head = np.abs(x.astype(np.float64)).reshape(m, heads, inputs)
    # A thread adds at most a sixteenth of a head's terms one after another, or a lane 32 values a word; a tree of 5, or
    # 64 sums, follow. Values with a min add it apart: the terms are then up to three times as large.
    bound = 3 * (inputs / 16 + 100) * UNIT * np.einsum("mhi,hoi->mho", per_head, np.abs(matrices.astype(np.float64)))
    bound = bound.reshape(m, -1)
    if at is not None:
        b.index("at", at)
    if at is None and y_units is None:
        to = b.out("y", y, bound)
    else:
        units = y_units or Units(outputs, 0)
        to = b.into_units("y", y, bound, outputs, units, at or 0, None if at is None else "at")
    pitches = (x_units and x_units.pitch, y_units and y_units.pitch)
    spec = HeadGemvSpec(operand, weights, format, rows_are_outputs, heads, inputs, outputs, m, to, *pitches)
    form = "outputs" if rows_are_outputs else "inputs"
    words = f"{heads} of {format.value} x {planes} planes, {inputs} to {outputs}, rows are {form}"
    return b.done(f"head product m={m} {words} x {x_units} y {y_units} at {at}", spec)


def join(
    m: int, heads: int, a_width: int, b_width: int, units: Units | None = None, at: int | None = None, seed: int = 0
) -> Case:
    """Two rows joined, or into units of rows of a table."""
    b = Builder(seed)
    left, right = b.normal(m, heads * a_width), b.normal(m, heads * b_width)
    y = meanings.join(left, right, heads)
    width = a_width + b_width
    if units is None and at is None:
        to = b.out("y", y, 0.0)
    else:
        to = b.into_units("y", y, 0.0, width, units or Units(width, 0), at or 0, None if at is None else "at")
    if at is not None:
        b.index("at", at)
    unit = None if units is None else units.pitch
    spec = JoinSpec(b.rows("a", left, gap=4), b.rows("b", right), a_width, b_width, heads, m, to, unit)
    return b.done(f"join {m}x{heads} heads of {a_width} and {b_width} into {units} at {at}", spec)


__all__ = ["head_gemv", "join"]
