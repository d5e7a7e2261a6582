"""Memory as flat bytes with a shadow byte for each, seen as values of every size."""

import numpy as np

from lanelink.lowering.emulator.types import Array

ALLOCATED, DEFINED, WRITABLE = 1, 2, 4
"""Bits of a shadow byte: in a live allocation; written; may be written."""

UNWRITTEN = ALLOCATED | WRITABLE
WRITTEN = ALLOCATED | WRITABLE | DEFINED
CONSTANT = ALLOCATED | DEFINED

PATTERNS: dict[int, dict[int, np.unsignedinteger]] = {}
_VIEWS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", "c16")


def pattern(bits: int, size: int) -> "np.unsignedinteger":
    """A shadow byte repeated over an access of 1, 2, 4 or 8 bytes."""
    return np.dtype(f"u{size}").type(int.from_bytes(bytes([bits]) * size, "little"))


for _bits in (ALLOCATED | DEFINED, ALLOCATED | WRITABLE, WRITTEN):
    PATTERNS[_bits] = {size: pattern(_bits, size) for size in (1, 2, 4, 8)}


class Bytes:
    """`size` bytes (a multiple of 16) and their shadow."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.data = np.zeros(size, np.uint8)
        self.shadow = np.zeros(size, np.uint8)
        self.remake_views()

    def remake_views(self) -> None:
        self.views: dict[str, Array] = {tag: self.data.view(tag) for tag in _VIEWS}
        self.shadows: dict[int, Array] = {size: self.shadow.view(f"u{size}") for size in (1, 2, 4, 8)}

    def grow(self, size: int) -> None:
        data, shadow = self.data, self.shadow
        self.data = np.zeros(size, np.uint8)
        self.shadow = np.zeros(size, np.uint8)
        self.data[: self.size] = data
        self.shadow[: self.size] = shadow
        self.size = size
        self.remake_views()
