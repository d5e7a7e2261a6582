"""Who touched each piece of memory last: the records that race checks compare with."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lanelink.lowering.emulator.types import Array

MANY = -1
"""In place of a thread, warp or block: more than one of them."""


@dataclass(slots=True)
class Accesses:
    """One access a row: who made it, and when.

    `thread`, `warp` and `block` are linear in the grid. `epoch` counts the barriers of the block, and `warp_epoch`
    those of the warp as well; both only grow, from launch to launch.
    """

    thread: Array
    warp: Array
    block: Array
    epoch: Array
    warp_epoch: Array

    def take(self, rows: Array) -> "Accesses":
        return Accesses(*(getattr(self, f).take(rows) for f in FIELDS))

    def each(self) -> Iterator[tuple[int, ...]]:
        """The rows, as numbers in the order of the fields."""
        return zip(*(getattr(self, f).tolist() for f in FIELDS), strict=True)

    def repeat(self, count: int) -> "Accesses":
        """Each row `count` times."""
        return self if count == 1 else Accesses(*(np.repeat(getattr(self, f), count) for f in FIELDS))


FIELDS = ("thread", "warp", "block", "epoch", "warp_epoch")


def _empty(count: int) -> Accesses:
    # Epochs start at 1: zeros say that nobody was here, and cost nothing until they are touched.
    return Accesses(*(np.zeros(count, np.int32) for _ in FIELDS))


class Plane:
    """The last write and the last reads of each granule of some memory.

    A granule is as small as the smallest access seen, so that accesses are whole granules; it is split when a smaller
    one comes.
    """

    def __init__(self, nbytes: int, granule: int) -> None:
        self.granule = granule
        count = -(-nbytes // granule)
        self.writes = _empty(count)
        self.reads = _empty(count)
        self.strong = np.zeros(count, bool)

    def index(self, offsets: Array, size: int) -> tuple[Array, int]:
        """Granules of accesses of `size` bytes, flat, and how many each has."""
        if size < self.granule:
            self._split(self.granule // size)
        each = size // self.granule
        first = offsets // self.granule
        if each == 1:
            return first, 1
        return (first[:, None] + np.arange(each)).ravel(), each

    def _split(self, parts: int) -> None:
        self.granule //= parts
        self.writes = self.writes.repeat(parts)
        self.reads = self.reads.repeat(parts)
        self.strong = np.repeat(self.strong, parts)

    def put_writes(self, index: Array, now: Accesses, strong: bool) -> None:
        for name in FIELDS:
            getattr(self.writes, name)[index] = getattr(now, name)
        self.strong[index] = strong
        self.reads.epoch[index] = 0

    def put_reads(self, index: Array, now: Accesses, kept: Array, before: Accesses) -> None:
        """Record reads; where `kept`, earlier reads stay on the record beside them."""
        for name in FIELDS:
            value: Array = getattr(now, name)
            old: Array = getattr(before, name)
            if name in ("epoch", "warp_epoch"):
                merged = np.where(kept, np.maximum(value, old), value)
            else:
                merged = np.where(kept & (old != value), np.int32(MANY), value)
            record: Array = getattr(self.reads, name)
            record[index] = merged
            if name not in ("epoch", "warp_epoch"):
                # Threads of this very instruction that read one granule: the record holds the last of them.
                record[index[record.take(index) != merged]] = MANY
