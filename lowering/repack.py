"""Weights as the kernels read them: planes that load 16 bytes at a time, made once from the checkpoint's rows.

f32, f16, bf16   rows [n][k], each padded with zeros to a multiple of 16 bytes
q8_0             quants int8 [n][k], then at the next multiple of 256 bytes the scales f16 [n][k / 32], then zeros to
                 a multiple of 16 bytes
q4_0, q4_k, q5_k, q6_k, mxfp4
                 rows [n], each its planes one after the other: see lanelink.lowering.packed_rows

A matrix whose rows split over several launches' parts is repacked part by part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lanelink.dialects.formats import Format
from lanelink.lowering.formats import Q8_0_BLOCK, FormatError, file_rows
from lanelink.lowering.packed_rows import pack_rows, packed_pitch

Bytes = npt.NDArray[np.uint8]

ROW_ALIGN = 16
"""Bytes a plain row's pitch is a multiple of: one load of a lane."""

PLANE_ALIGN = 256
"""Bytes a plane's start is a multiple of, counted from the buffer's."""


_CHUNK_VALUES = 1 << 20
"""Values repacked at a time, which bounds what is held beside the result."""


@dataclass(frozen=True)
class PlaneLayout:
    """Where a repacked matrix's pieces lie, in bytes from its buffer's start.

    `pitch` is the bytes of one row of the first plane; `scales_offset` is where the second plane starts, and the
    buffer's end where there is none.
    """

    format: Format
    rows: int
    cols: int
    pitch: int
    scales_offset: int
    total_bytes: int


@dataclass(frozen=True)
class Packing:
    """How one format is repacked: `layout` of (rows, cols), and `pack` of file rows uint8 [rows, row_bytes] into it."""

    layout: Callable[[int, int], PlaneLayout]
    pack: Callable[[Bytes, PlaneLayout], Bytes]


def plane_layout(format: Format, rows: int, cols: int) -> PlaneLayout:
    """The device layout of a matrix of `rows` by `cols` values. Raises FormatError where they are not whole blocks."""
    if rows < 1 or cols < 1 or cols % format.block_values:
        raise FormatError(
            f"{format.value} planes: expected at least 1 row of a multiple of {format.block_values} values, "
            f"got {rows}x{cols}"
        )
    return PACKINGS[format].layout(rows, cols)


def repack(format: Format, rows: int, cols: int, data: Bytes) -> Bytes:
    """The device planes of a matrix's file bytes. Raises FormatError when the bytes are not such a matrix."""
    layout = plane_layout(format, rows, cols)
    return PACKINGS[format].pack(file_rows(format, rows, cols, data), layout)


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to


def _plain_layout(format: Format) -> Callable[[int, int], PlaneLayout]:
    def layout(rows: int, cols: int) -> PlaneLayout:
        pitch = _aligned(format.row_bytes(cols), ROW_ALIGN)
        return PlaneLayout(format, rows, cols, pitch, rows * pitch, rows * pitch)

    return layout


def _pack_plain(rows: Bytes, layout: PlaneLayout) -> Bytes:
    if rows.shape[1] == layout.pitch:
        return rows.reshape(-1)
    out = np.zeros((layout.rows, layout.pitch), np.uint8)
    out[:, : rows.shape[1]] = rows
    return out.reshape(-1)


def _layout_q8_0(rows: int, cols: int) -> PlaneLayout:
    scales = _aligned(rows * cols, PLANE_ALIGN)
    total = _aligned(scales + 2 * rows * (cols // 32), ROW_ALIGN)
    return PlaneLayout(Format.Q8_0, rows, cols, cols, scales, total)


def _pack_q8_0(rows: Bytes, layout: PlaneLayout) -> Bytes:
    blocks = rows.view(Q8_0_BLOCK)
    out = np.zeros(layout.total_bytes, np.uint8)
    quants = out[: layout.rows * layout.cols].view(np.int8)
    quants.reshape(layout.rows, -1, 32)[...] = blocks["quants"]
    scales = out[layout.scales_offset :].view(np.float16)
    scales[: blocks["scale"].size] = blocks["scale"].reshape(-1)
    return out


def _packed(format: Format) -> Packing:
    """Rows that hold all their planes."""

    def layout(rows: int, cols: int) -> PlaneLayout:
        pitch = packed_pitch(format, cols)
        return PlaneLayout(format, rows, cols, pitch, rows * pitch, rows * pitch)

    def pack(rows: Bytes, layout: PlaneLayout) -> Bytes:
        out = np.empty((layout.rows, layout.pitch), np.uint8)
        step = max(1, _CHUNK_VALUES // layout.cols)
        for first in range(0, layout.rows, step):
            out[first : first + step] = pack_rows(format, rows[first : first + step])
        return out.reshape(-1)

    return Packing(layout, pack)


PACKINGS: dict[Format, Packing] = {
    Format.F32: Packing(_plain_layout(Format.F32), _pack_plain),
    Format.F16: Packing(_plain_layout(Format.F16), _pack_plain),
    Format.BF16: Packing(_plain_layout(Format.BF16), _pack_plain),
    Format.Q8_0: Packing(_layout_q8_0, _pack_q8_0),
    **{format: _packed(format) for format in (Format.Q4_0, Format.Q4_K, Format.Q5_K, Format.Q6_K, Format.MXFP4)},
}


__all__ = ["PACKINGS", "Packing", "PlaneLayout", "plane_layout", "repack"]
