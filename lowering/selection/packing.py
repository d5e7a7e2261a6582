"""Helpers that turn a spec's operands into arguments, and check them; shared by the kernels' selections."""

from __future__ import annotations

from dataclasses import replace

from lanelink.dialects.formats import BLOCK_VALUES, Format
from lanelink.dialects.launch.products import MOST_SPLITS
from lanelink.lowering.selection.calls import F32, I32, Address, Argument, Null, SelectionError, optional
from lanelink.lowering.selection.specs import HeadNorm, Norm, Quantized, Rows, Unnormed
from lanelink.passes.schedule.splits import inner_share

MAX_GRID_X = 2**31 - 1
"""Blocks a grid's first dimension may have."""

MAX_GRID_YZ = 65535
"""Blocks a grid's second and third dimension may have."""

NOT_NORMED: tuple[Argument, ...] = (I32(0), Null(), F32(0.0))
"""The kernels' InputNorm or HeadNorm of what is read as it is."""


def require(condition: bool, where: str, expected: object, got: object) -> None:
    """Raises SelectionError unless `condition`."""
    if not condition:
        raise SelectionError(where, expected, got)


def rows_of_step(m: int, where: str, most: int = MAX_GRID_YZ) -> None:
    """Checks the number of a step's rows against what a grid dimension holds."""
    require(1 <= m <= most, f"{where} rows", f"1 to {most}", m)


def fixed(rows: Rows, where: str, stored: Format = Format.F32) -> Address:
    """The address of row 0 of rows at a fixed row, whose values are `stored` so."""
    require(rows.stored is stored, where, f"rows of {stored.value}", f"a table of {rows.stored.value}")
    if isinstance(rows.row, Address):
        raise SelectionError(where, "rows at a fixed row", "a row named on the device")
    return rows.address.at(stored.block_bytes * rows.pitch * rows.row)


def reading(rows: Rows, where: str, stored: Format = Format.F32) -> tuple[Argument, I32]:
    """(address, pitch) of rows that are read, whose values are `stored` so."""
    return fixed(rows, where, stored), I32(rows.pitch)


def writing(rows: Rows | None, stored: Format = Format.F32) -> tuple[Argument, I32, Argument]:
    """(base, pitch, row) of a destination whose values are `stored` so: the kernels' Rows; null where there is none."""
    if rows is None:
        return Null(), I32(0), Null()
    if not isinstance(rows.row, Address):
        return fixed(rows, "rows written", stored), I32(rows.pitch), Null()
    require(rows.stored is stored, "rows written", f"rows of {stored.value}", f"a table of {rows.stored.value}")
    return rows.address, I32(rows.pitch), rows.row


def quantizing(quantized: Quantized | None, cols: int, where: str) -> tuple[Argument, I32]:
    """(buffer, planes) of a quantized result of rows of `cols` values; no planes where there is none."""
    if quantized is None:
        return Null(), I32(0)
    require(cols % BLOCK_VALUES == 0, f"{where} quantized", f"rows of a multiple of {BLOCK_VALUES} values", cols)
    require(quantized.planes in (1, 2), f"{where} quantized", "1 or 2 planes", quantized.planes)
    require(quantized.rows is None, f"{where} quantized", "a buffer of the launch's rows", quantized.rows)
    return quantized.address, I32(quantized.planes)


def quantizing_rows(quantized: Quantized | None, m: int, cols: int, where: str) -> tuple[Argument, ...]:
    """(buffer, planes, rows, first row, row): the kernels' QuantizedRows, in which m rows of `cols` values may land
    among others."""
    if quantized is None:
        return Null(), I32(0), I32(m), I32(0), Null()
    held = m if quantized.rows is None else quantized.rows
    row = quantized.row
    inside = m <= held and (isinstance(row, Address) or 0 <= row <= held - m)
    require(inside, f"{where} quantized", f"{m} rows inside", (held, row))
    first, named = (I32(0), row) if isinstance(row, Address) else (I32(row), Null())
    return *quantizing(replace(quantized, rows=None), cols, where), I32(held), first, named


def input_norm(x: Rows | Quantized | Unnormed) -> tuple[Argument, ...]:
    """(present, weight, eps) of the norm of a row that is read: the kernels' InputNorm.

    Row and weights are copied by 16 bytes; buffers begin at a multiple of as many."""
    if not isinstance(x, Unnormed):
        return NOT_NORMED
    row = fixed(x.row, "row that is normed as it is read").offset
    weight = 0 if x.weight is None else x.weight.offset
    for what, offset in (("row", row), ("weights of a row", weight)):
        require(offset % 16 == 0, f"{what} that is normed as it is read", "an offset of a multiple of 16 bytes", offset)
    return I32(1), optional(x.weight), F32(x.eps)


def some_result(y: Rows | None, quantized: Quantized | None, where: str) -> None:
    """Checks that a launch writes something."""
    require(y is not None or quantized is not None, f"{where} result", "f32 rows or a quantized form", "neither")


def head_norm(norm: HeadNorm | None) -> tuple[Argument, ...]:
    """(present, weight, eps) of a per-head norm."""
    if norm is None:
        return NOT_NORMED
    return I32(1), optional(norm.weight), F32(norm.eps)


NO_NORM: tuple[Argument, ...] = (
    *(F32(0.0), Null(), Null(), I32(0), Null(), I32(0)),
    *(I32(0), Null(), F32(0.0), Null(), I32(0), Null(), Null(), I32(0)),
)
"""The kernels' NORM_PARAMS where there is no norm."""


def norm_arguments(norm: Norm, cols: int, where: str) -> tuple[Argument, ...]:
    """The kernels' NORM_PARAMS, in their order."""
    some_result(norm.y, norm.quantized, where)
    add = (Null(), I32(0)) if norm.add is None else reading(norm.add, f"{where} add")
    kept = (Null(), I32(0)) if norm.sum is None else reading(norm.sum, f"{where} sum")
    return (
        F32(norm.eps),
        optional(norm.weight),
        *add,
        *kept,
        *head_norm(norm.pre),
        *writing(norm.y),
        *quantizing(norm.quantized, cols, where),
    )


def shares(k: int, splits: int, where: str) -> tuple[int, int]:
    """(inputs of a share, shares) of k inputs in at most `splits` shares."""
    require(1 <= splits <= MOST_SPLITS, f"{where} splits", f"1 to {MOST_SPLITS}", splits)
    share = inner_share(k, splits)
    return share, -(-k // share)


def shared_floats(cols: int, shared_bytes: int, where: str) -> int:
    """Bytes of a row of `cols` floats in shared memory, checked against what a block may be given."""
    require(4 * cols <= shared_bytes, f"{where} width", f"at most {shared_bytes // 4} values", cols)
    return 4 * cols


__all__ = [
    "MAX_GRID_X",
    "MAX_GRID_YZ",
    "NO_NORM",
    "fixed",
    "head_norm",
    "input_norm",
    "norm_arguments",
    "quantizing",
    "quantizing_rows",
    "reading",
    "require",
    "rows_of_step",
    "shared_floats",
    "shares",
    "some_result",
    "writing",
]
