"""The formats, forms of activations and widths that lists of cases are made of."""

from __future__ import annotations

from itertools import product

from lanelink.dialects.formats import Format

INPUTS = (
    (Format.F32, 0),
    (Format.F16, 0),
    (Format.BF16, 0),
    (Format.Q8_0, 0),
    (Format.Q8_0, 1),
    (Format.Q8_0, 2),
)
"""Each form of plain and 8-bit weights, and of the activation, that products have entries for."""

BLOCKS = (Format.Q4_0, Format.Q4_K, Format.Q5_K, Format.Q6_K, Format.MXFP4)
BLOCK_INPUTS = tuple(product(BLOCKS, (0, 1, 2)))
"""The same of weights whose 16 bytes are a block of 32 values."""


def widths(format: Format) -> tuple[int, ...]:
    """Rows of few and of many blocks, in counts that no power of two divides much."""
    return (256, 768, 4352) if format.block_values == 256 else (32, 96, 160, 4544)


def widest(format: Format) -> int:
    """A row of hundreds of blocks, which are no multiple of what a block of threads takes at a time."""
    return 14592 if format.block_values == 256 else 14464


ROWS = (1, 2, 3, 8, 17)
"""Rows of a step: fewer and more than a product's groups of four take, whole groups and not."""

HEAD_SIZES = (32, 64, 80, 96, 112, 128, 256)
"""Sizes of heads that models have."""

__all__ = ["BLOCKS", "BLOCK_INPUTS", "HEAD_SIZES", "INPUTS", "ROWS", "widest", "widths"]
