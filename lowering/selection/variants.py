"""The product kernels' shapes of block: which entries there are, and what a block of each takes."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.lowering.selection.ring import TOGETHER as RING_TOGETHER
from lanelink.lowering.selection.ring import WARPS as RING_WARPS
from lanelink.passes.schedule.products import WARPS


@dataclass(frozen=True)
class Variant:
    """Entries of one shape of block: their suffix, the rows of x a block takes, the stored rows that a warp takes
    together (of a gated pair, of both matrices), the blocks that an SM holds, and the warps of a block."""

    suffix: str
    rows: int
    together: int
    blocks_per_sm: int
    warps: int = WARPS


SHORT = Variant("r1", 1, 2, 3)
SHORT_ALONE = Variant("r1s", 1, 2, 3)
LONG = Variant("r1l", 1, 2, 2)
FOUR = Variant("r4", 4, 2, 2)
"""Short batches leave room for three blocks an SM, long ones for two; four rows of x share each weight. With what may
follow a product in its launch, short batches spill registers: those of formats that products are usually by have an
entry without."""

BLOCKWISE = Variant("r1", 1, 2, 2)
ONE_OF_FOUR = Variant("r4", 1, 2, 2)
"""One row of x by a format whose 16 bytes are a block of 32 values: quantized in entries of one length of batch, f32 in
those of four rows, which share the step's rows out over the groups there are."""

FOUR_TOGETHER = Variant("r1w4", 1, 4, 2)
PAIRS_TOGETHER = Variant("r1w2", 1, 4, 2)
"""Four stored rows a warp, and two of each of a gated pair."""

WIDE = Variant("r1x", 1, 2, 1, warps=16)
WIDE_PAIRS = Variant("r1x", 1, 4, 1, warps=16)
"""Blocks that have a multiprocessor for themselves, so that x is staged once there. Gated pairs by quantized x, of one
or two rows of each matrix; by f32 x where each block has a tile at most. Products of a row that they norm themselves,
by blocks of 32 values, where each block has two tiles at most."""

RINGS = Variant("r1b", 1, RING_TOGETHER, 1, warps=RING_WARPS)
"""One row of x of one plane, or of f32, by weights that each warp copies into a ring of its own in shared memory."""


__all__ = [
    "BLOCKWISE",
    "FOUR",
    "FOUR_TOGETHER",
    "LONG",
    "ONE_OF_FOUR",
    "PAIRS_TOGETHER",
    "RINGS",
    "SHORT",
    "SHORT_ALONE",
    "WIDE",
    "WIDE_PAIRS",
    "Variant",
]
