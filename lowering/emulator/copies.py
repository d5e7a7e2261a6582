"""Asynchronous copies into shared memory (PTX ISA 9.7.9.25, cp.async): they land when the thread that began them waits.

Until then their bytes count as unwritten, whatever was there before, so that a read that does not wait is found; and as
written by the thread where the copy begins, so that a read of another thread that is not over yet is found too.
"""

from dataclasses import dataclass

import numpy as np

from lanelink.lowering.emulator.access import Places
from lanelink.lowering.emulator.atomics import AtomicMemory
from lanelink.lowering.emulator.regions import DEFINED
from lanelink.lowering.emulator.types import Array

_SHIFTS = {4: 2, 8: 3, 16: 4}


@dataclass(slots=True)
class _Copy:
    """Copies of `size` bytes under way: where each lands, its thread (flat, in the chunk), its bytes, its group."""

    size: int
    offsets: Array
    lanes: Array
    values: Array
    groups: Array


class CopyingMemory(AtomicMemory):
    """A chunk's memory, and the copies into it."""

    _ended: Array | None = None
    _under_way: tuple[_Copy, ...] = ()

    def _committed(self) -> Array:
        """The groups that each thread has ended."""
        if self._ended is None:
            self._ended = np.zeros(self.blocks * self.threads, np.int64)
        return self._ended

    def copy(
        self, to: Array, to_offset: int, source: Array, offset: int, size: int, given: Array, m: Array | None, at: int
    ) -> None:
        """cp.async: `size` bytes from global to shared memory, of which `given` are read and the rest are zero."""
        tag = np.dtype("u4")
        count = size // 4
        if given.size != 1 or int(given.item()) not in (0, size):
            raise self.site.error(at, None, f"expected cp.async of all or none of its {size} bytes")
        if int(given.item()) == 0:
            values: list[Array] = [np.zeros((1, 1), tag)] * count
        else:
            loaded = self.load("global", source, offset, tag, count, m, at, "weak")
            values = loaded if isinstance(loaded, list) else [loaded]
        places = self.places("shared", to, to_offset, size, m, at, True, each=True)
        if places is None:
            return
        if self.races is not None:
            self._watch(places, size, at, write=True, strong=False)
        offsets = places.offsets.ravel()
        places.memory.shadows[4].reshape(-1)[_words(offsets, size)] &= ~np.uint32(DEFINED * 0x01010101)
        together = np.stack([self._chosen(v, places.lanes) for v in values], axis=1)
        lanes = np.arange(self.blocks * self.threads) if places.lanes is None else places.lanes
        begun = _Copy(size, offsets, lanes, together, self._committed().take(lanes))
        self._under_way = (*self._under_way, begun)

    def end_copies(self, m: Array | None) -> None:
        """cp.async.commit_group: what a thread has begun since the last is one group."""
        self._committed()[... if m is None else m.ravel()] += 1

    def wait_for_copies(self, most: int, m: Array | None, at: int) -> None:
        """cp.async.wait_group: all but the last `most` groups of each thread land; of -1, what is in none as well."""
        committed = self._committed()
        left: list[_Copy] = []
        for copy in self._under_way:
            done = copy.groups < committed.take(copy.lanes) - most
            if m is not None:
                done &= m.ravel().take(copy.lanes)
            if done.any():
                self._land(copy, None if done.all() else done, at)
            if not done.all():
                rest = ~done
                kept = (copy.offsets[rest], copy.lanes[rest], copy.values[rest], copy.groups[rest])
                left.append(_Copy(copy.size, *kept))
        self._under_way = tuple(left)

    def _land(self, copy: _Copy, done: Array | None, at: int) -> None:
        memory = self.rows["shared"].bytes
        offsets, lanes, values = copy.offsets, copy.lanes, copy.values
        if done is not None:
            offsets, lanes, values = offsets[done], lanes[done], values[done]
        places = Places(memory, offsets, (self.blocks, self.threads), lanes, False, True)
        if self.races is not None:
            self._watch(places, copy.size, at, write=True, strong=False)
        view = memory.views["c16" if copy.size == 16 else f"u{copy.size}"]
        view[offsets >> _SHIFTS[copy.size]] = values.view(view.dtype).reshape(-1)
        self._define(places, copy.size)


def _words(offsets: Array, size: int) -> Array:
    """The words of 4 bytes that copies of `size` bytes fill."""
    return ((offsets >> 2)[:, None] + np.arange(size // 4)).reshape(-1)
