"""Launches that take rows head by head, as frozen data: see `lowering.selection.specs`."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import Format
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.operands import Quantized, Rows


@dataclass(frozen=True)
class HeadGemvSpec:
    """Head h of y is head h of x [m, heads * inputs] by a matrix of its own: [m, heads * outputs].

    `weights` holds planes (`lowering.repack`) of all the matrices' rows, head after head: `outputs` rows of `inputs`
    values each where `rows_are_outputs`, else `inputs` rows of `outputs` values. Head h of f32 x is `x_unit * h` values
    into a row, and lands so in y by `y_unit`; None is one after another.
    """

    x: Rows | Quantized
    weights: Address
    format: Format
    rows_are_outputs: bool
    heads: int
    inputs: int
    outputs: int
    m: int
    y: Rows
    x_unit: int | None = None
    y_unit: int | None = None


@dataclass(frozen=True)
class JoinSpec:
    """Head h of y is head h of a, of `a_width` values, then head h of b; heads of y lie `y_unit` values apart, or one
    after another."""

    a: Rows
    b: Rows
    a_width: int
    b_width: int
    heads: int
    m: int
    y: Rows
    y_unit: int | None = None


__all__ = ["HeadGemvSpec", "JoinSpec"]
