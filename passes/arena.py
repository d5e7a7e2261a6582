"""Laying buffers in one arena by when they live: plain arithmetic, no IR."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

ALIGN = 256
"""Bytes that every buffer's offset is a multiple of: what cuMemAlloc itself gives."""


@dataclass(frozen=True)
class Lifetime:
    """A buffer of `bytes` that is in use from launch `first` to launch `last`, both included."""

    bytes: int
    first: int
    last: int

    def __post_init__(self) -> None:
        if self.bytes < 1 or self.last < self.first:
            raise ValueError(
                f"lifetime: expected at least 1 byte from a first launch to a last, "
                f"got {self.bytes} bytes from {self.first} to {self.last}"
            )


@dataclass(frozen=True)
class ArenaPlan:
    """Where each buffer lies, in the order they were given, and the bytes of the whole arena."""

    offsets: tuple[int, ...]
    bytes: int


def plan_arena(buffers: Sequence[Lifetime]) -> ArenaPlan:
    """
    Offsets at which no two buffers in use at the same launch overlap; the arena is never larger than all of them laid
    one after another. The same buffers give the same plan.

    One walk over the launches' order: a buffer takes the smallest hole that holds it, the lowest of equals, else the
    arena's end. A hole of n is found by bisection, so thousands of buffers take milliseconds.
    """
    starts = sorted(range(len(buffers)), key=lambda k: (buffers[k].first, -buffers[k].bytes, k))
    ends = sorted(range(len(buffers)), key=lambda k: (buffers[k].last, k))
    offsets = [0] * len(buffers)
    arena = _Arena()
    ended = 0
    for k in starts:
        while buffers[ends[ended]].last < buffers[k].first:
            gone = ends[ended]
            arena.give_back(offsets[gone], aligned(buffers[gone].bytes))
            ended += 1
        offsets[k] = arena.take(aligned(buffers[k].bytes))
    return ArenaPlan(tuple(offsets), arena.most)


def aligned(size: int) -> int:
    """The size rounded up to a multiple of `ALIGN`."""
    return -(-size // ALIGN) * ALIGN


class _Arena:
    """The holes below the arena's end: by size for finding one, by both of their ends for joining neighbours."""

    def __init__(self) -> None:
        self.most = 0
        self._end = 0
        self._by_size: list[tuple[int, int]] = []
        self._size_at: dict[int, int] = {}
        self._start_of_end: dict[int, int] = {}

    def take(self, size: int) -> int:
        at = bisect_left(self._by_size, (size, 0))
        if at == len(self._by_size):
            offset = self._end
            self._end += size
            self.most = max(self.most, self._end)
            return offset
        held, offset = self._by_size[at]
        self._remove(offset, held)
        if held > size:
            self._add(offset + size, held - size)
        return offset

    def give_back(self, offset: int, size: int) -> None:
        after = self._size_at.get(offset + size)
        if after is not None:
            self._remove(offset + size, after)
            size += after
        before = self._start_of_end.get(offset)
        if before is not None:
            held = self._size_at[before]
            self._remove(before, held)
            offset, size = before, held + size
        if offset + size == self._end:
            # The arena's last piece is no hole: the next buffer that fits nowhere begins there.
            self._end = offset
        else:
            self._add(offset, size)

    def _add(self, offset: int, size: int) -> None:
        insort(self._by_size, (size, offset))
        self._size_at[offset] = size
        self._start_of_end[offset + size] = offset

    def _remove(self, offset: int, size: int) -> None:
        del self._by_size[bisect_left(self._by_size, (size, offset))]
        del self._size_at[offset]
        del self._start_of_end[offset + size]


__all__ = ["ALIGN", "ArenaPlan", "Lifetime", "aligned", "plan_arena"]
