"""Kernel calls that lay a checkpoint's file rows out as planes, a chunk at a time, as a runtime loads them."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import BLOCK_VALUES, Format
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection.calls import I32, Address, KernelCall, Null
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.packing import require

MODULE = "repack"
PLAIN_ENTRY = "repack_plain_rows"
THREADS = 256
MOST_PIECES = 2**31 - 1


@dataclass(frozen=True)
class RepackSpec:
    """Rows `first` to `first + rows` of a matrix of `all_rows` by `cols` values.

    `file` holds these rows as the checkpoint stores them, one behind another; `planes` is the whole matrix
    (`lowering.repack`), and zero where nothing was written.
    """

    format: Format
    file: Address
    planes: Address
    first: int
    rows: int
    all_rows: int
    cols: int


def repack(spec: RepackSpec, chip: Chip) -> KernelCall:
    """The call of a chunk: a thread a block of 32 values, or of plain values, 16 bytes of a row."""
    end = spec.first + spec.rows
    require(0 <= spec.first < end <= spec.all_rows, "repacked rows", f"some of {spec.all_rows}", (spec.first, end))
    layout = plane_layout(spec.format, spec.all_rows, spec.cols)
    if spec.format.is_block:
        pieces = spec.cols // BLOCK_VALUES
        entry = f"repack_{spec.format.value}_rows"
        scales = spec.planes.at(layout.scales_offset) if spec.format is Format.Q8_0 else Null()
        rest = (I32(pieces), I32(spec.first), I32(layout.pitch), scales)
    else:
        pieces, entry = layout.pitch // 16, PLAIN_ENTRY
        rest = (I32(spec.format.row_bytes(spec.cols)), I32(spec.first), I32(layout.pitch))
    require(spec.rows * pieces <= MOST_PIECES, "repacked chunk", f"at most {MOST_PIECES} blocks", spec.rows * pieces)
    grid = (-(-spec.rows * pieces // THREADS), 1, 1)
    arguments = (spec.file, spec.planes, I32(spec.rows), *rest)
    return KernelCall(MODULE, entry, grid, (THREADS, 1, 1), 0, arguments)


__all__ = ["MODULE", "RepackSpec", "repack"]
