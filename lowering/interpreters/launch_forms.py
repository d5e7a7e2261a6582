"""What the meanings of launches are written in: their operands as arrays, and how some are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects.fault import located
from lanelink.dialects.launch.base import LeafLaunch
from lanelink.dialects.launch.placement import ReadsUnits
from lanelink.lowering import meanings
from lanelink.lowering.activations import QuantizedRows
from lanelink.lowering.interpreters.arena import UNWRITTEN_INDEX

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float32]
Buffer: TypeAlias = Array | QuantizedRows
Operands: TypeAlias = Mapping[str, Any]
"""A launch's buffers by operand name, those of the launch it is a part of among them."""
Results: TypeAlias = Mapping[str, Array]
"""What a launch writes, by operand name; its quantized form is made from `out`."""
Meaning: TypeAlias = Callable[[Operands], Results]
OpT = TypeVar("OpT", bound=LeafLaunch)


def row_of(op: LeafLaunch, index: Array, count: int, rows: int) -> int:
    """The row an index on the device names, of a table of `rows` that `count` rows from it on must lie in."""
    first = int(index[0])
    if not 0 <= first <= rows - count:
        got = "an index nothing wrote" if first == UNWRITTEN_INDEX else first
        raise InterpretationError(
            located(op, f"{op.name} position: expected 0 to {rows - count} in a table of {rows} rows, got {got}")
        )
    return first


def activation_of(x: Floats | QuantizedRows) -> Floats:
    return x.dequantize() if isinstance(x, QuantizedRows) else x


def kept(x: Buffer) -> Array:
    """A copy of what a step returns; of quantized rows the f32 values they stand for."""
    return x.dequantize() if isinstance(x, QuantizedRows) else x.copy()


def read_units(op: ReadsUnits, x: Floats, width: int) -> Floats:
    """The units of `width` values that a launch reads of x, one after another."""
    if op.x_pitch is None or op.x_offset is None:
        return x
    return meanings.slice_units(x, op.x_pitch.value.data, op.x_offset.value.data, width)


Make: TypeAlias = Callable[[LeafLaunch], Meaning]


def entry(kind: type[OpT], make: Callable[[OpT], Meaning]) -> tuple[type[LeafLaunch], Make]:
    return kind, cast(Make, make)


__all__ = [
    "Array",
    "Buffer",
    "Floats",
    "Make",
    "Meaning",
    "Operands",
    "Results",
    "activation_of",
    "entry",
    "kept",
    "read_units",
    "row_of",
]
