"""Rings of products of one row: what a warp's slot holds, and where the rings lie in a block's shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import Format
from lanelink.lowering.packed_rows import BYTES_PER_256, packed_pitch
from lanelink.lowering.selection.chip import Chip

# The kernels' own constants (kernels/gemv_ring.cuh).
WARPS = 16
SLOTS = 2
TOGETHER = 2

PLAIN = (Format.F16, Format.BF16)
"""Formats of plain rows, by f32 x, that have entries of rings."""

RINGED = (*PLAIN, Format.Q8_0, Format.Q4_0, Format.Q4_K, Format.Q5_K, Format.MXFP4)
"""Formats that have entries of rings."""

PLAIN_TURN = 512
TURN = 2048
"""Values that a warp sums at a turn: two blocks of 32 a lane (of q8_0 at two), of plain rows twice 8. A row is a whole
number of turns."""

PLAIN_CHUNK = 1024
CHUNKS = (4096, TURN)
"""Values of a chunk, where two whole rows a slot do not fit: each plane's part is then a multiple of 16 bytes. Of q8_0
always the less, and of plain rows, whose last chunk may be shorter, as many bytes: twice as much does not fit, and half
as much leaves room for the next launch's rings, which then take turns with this one's at the memory and slow both."""

_ALIGNMENT = 128


@dataclass(frozen=True)
class Ring:
    """values: of a stored row in a slot. at: bytes of a block's shared memory before the rings. shared: with them."""

    values: int
    at: int
    shared: int


def ring_of(format: Format, k: int, staged: int, room: int, chip: Chip) -> Ring | None:
    """The rings beside `staged` bytes of x in `room` bytes of shared memory; None where there are none to be had."""
    if chip.architecture != "compute_90" or format not in RINGED or k % turn_of(format):
        return None
    at = -(-staged // _ALIGNMENT) * _ALIGNMENT
    for values in _chunks(format, k):
        shared = at + WARPS * SLOTS * TOGETHER * _row_bytes(format, k, values)
        if shared <= room:
            return Ring(values, at, shared)
    return None


def _chunks(format: Format, k: int) -> tuple[int, ...]:
    """The chunks there may be of a row of k values, the longest first."""
    if format in PLAIN:
        return (PLAIN_CHUNK,)
    return (TURN,) if format is Format.Q8_0 else tuple(values for values in (k, *CHUNKS) if k % values == 0)


def turn_of(format: Format) -> int:
    """Values of a stored row that a warp sums at a turn."""
    return PLAIN_TURN if format in PLAIN else TURN


def _row_bytes(format: Format, k: int, values: int) -> int:
    """Bytes of a row's `values` in a slot: a chunk's planes side by side, whole rows as they lie; q8_0's scales behind
    its quants."""
    if format in PLAIN:
        return format.row_bytes(values)
    if format is Format.Q8_0:
        return values + values // 16
    return packed_pitch(format, k) if values == k else values * BYTES_PER_256[format] // 256


__all__ = ["PLAIN", "RINGED", "SLOTS", "TOGETHER", "WARPS", "Ring", "ring_of", "turn_of"]
