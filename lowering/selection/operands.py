"""The operands that specs of every kind name: f32 rows, quantized buffers, a head's norm."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import Format
from lanelink.lowering.selection.calls import Address


@dataclass(frozen=True)
class Rows:
    """f32 rows: row r begins `pitch * (row + r)` values past `address`.

    `row` is 0, a fixed row of a table, or the address of an i32 on the device that holds the row. A table of keys or
    values may be `stored` as f16, to which what is written is rounded.
    """

    address: Address
    pitch: int
    row: Address | int = 0
    stored: Format = Format.F32


@dataclass(frozen=True)
class Quantized:
    """A buffer of activations quantized in blocks of 32, of 1 or 2 planes (`lowering.activations`).

    It holds `rows` rows, those of a launch where None, which land from `row` on: a fixed one, or the address of an i32
    on the device that holds it.
    """

    address: Address
    planes: int = 1
    rows: int | None = None
    row: Address | int = 0


@dataclass(frozen=True)
class Unnormed:
    """One f32 row that a launch norms as it reads it, x / rms(x) * weight, and quantizes in `planes` planes; 0: f32.

    `weight` f32 [k], or None for ones.
    """

    row: Rows
    weight: Address | None
    eps: float
    planes: int = 0


@dataclass(frozen=True)
class HeadNorm:
    """RMSNorm of each head before it turns: `weight` f32 [hd], or None for a plain norm."""

    weight: Address | None
    eps: float


__all__ = ["HeadNorm", "Quantized", "Rows", "Unnormed"]
