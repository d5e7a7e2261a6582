"""Barriers in shared memory and the copies they count (PTX ISA 9.7.13.15, mbarrier; 9.7.9.25, cp.async.bulk).

A barrier's word is opaque to a program; here it holds, from the low bits up, the arrivals that a phase expects, those
it still lacks, the bytes it still lacks, and the phase's parity. A bulk copy lands when a thread looks at its barrier:
until then its bytes count as unwritten, so that a read that does not wait is found.
"""

from dataclasses import dataclass, replace

import numpy as np

from lanelink.lowering.emulator.access import Places
from lanelink.lowering.emulator.copies import CopyingMemory
from lanelink.lowering.emulator.regions import DEFINED
from lanelink.lowering.emulator.types import Array

MOST_ARRIVALS = MOST_BYTES = 2**20 - 1
_PIECE = 16


@dataclass(frozen=True, slots=True)
class _Phase:
    """A barrier's word: arrivals that each phase expects, and what the present one lacks."""

    expected: int
    pending: int
    owed: int
    parity: int

    @staticmethod
    def of(word: int) -> "_Phase":
        return _Phase(word & MOST_ARRIVALS, word >> 20 & MOST_ARRIVALS, (word >> 40 & 0x3FFFFF) - 2**20, word >> 63)

    @property
    def word(self) -> int:
        return self.expected | self.pending << 20 | (self.owed + 2**20) << 40 | self.parity << 63

    def settled(self) -> "_Phase":
        """The next phase, where this one lacks nothing more."""
        if self.pending or self.owed:
            return self
        return replace(self, pending=self.expected, parity=self.parity ^ 1)


@dataclass(frozen=True, slots=True)
class _Bulk:
    """A copy under way: the place of its barrier's word, where it lands, and its bytes."""

    barrier: int
    first: int
    values: Array


class BarrierMemory(CopyingMemory):
    """A chunk's memory, with barriers that copies arrive at."""

    _bulk: tuple[_Bulk, ...] = ()

    def barrier_init(self, address: Array, offset: int, count: Array, m: Array | None, at: int) -> None:
        """mbarrier.init: phase 0 begins, and lacks `count` arrivals."""
        places = self.places("shared", address, offset, 8, m, at, True, each=True)
        if places is None:
            return
        if self.races is not None:
            self._watch(places, 8, at, write=True, strong=False)
        counts = self._chosen(count, places.lanes).tolist()
        for place, arrivals in zip(places.offsets.ravel().tolist(), counts, strict=True):
            if not 1 <= arrivals <= MOST_ARRIVALS:
                raise self.site.error(at, None, f"expected 1 to {MOST_ARRIVALS} arrivals, got {arrivals}")
            self._put_phase(place, _Phase(arrivals, arrivals, 0, 0))
        self._define(places, 8)

    def barrier_arrive(self, address: Array, offset: int, size: Array, m: Array | None, at: int) -> None:
        """mbarrier.arrive.expect_tx: the phase lacks `size` bytes more, and one arrival less."""
        places = self.places("shared", address, offset, 8, m, at, False, each=True)
        if places is None:
            return
        if self.races is not None:
            self.races.atomic(self, places, 8, at, "release")
        sizes = self._chosen(size, places.lanes).tolist()
        for place, count in zip(places.offsets.ravel().tolist(), sizes, strict=True):
            phase = self._phase(place)
            if not phase.pending:
                raise self.site.error(at, None, f"expected at most {phase.expected} arrivals a phase, got one more")
            arrived = replace(phase, pending=phase.pending - 1, owed=phase.owed + count)
            self._check_owed(arrived, at)
            self._put_phase(place, arrived.settled())

    def barrier_over(self, address: Array, offset: int, parity: Array, m: Array | None, at: int) -> Array:
        """mbarrier.try_wait.parity and test_wait.parity: whether the phase of that parity is over."""
        places = self.places("shared", address, offset, 8, m, at, False, each=True)
        if places is None:
            return np.zeros((1, 1), bool)
        if self.races is not None:
            self._watch(places, 8, at, write=False, strong=True)
        self.land(frozenset(places.offsets.ravel().tolist()), at)
        if self.races is not None:
            self.races.acquire(self, places)
        now = places.memory.views["u8"].take(places.offsets >> 3) >> np.uint64(63)
        asked = self._chosen(parity, places.lanes)
        over: Array = now.ravel() != (asked.astype(np.uint64) & np.uint64(1))
        return self._spread(over, places) if places.lanes is not None else over.reshape(places.shape)

    def copy_bulk(
        self,
        to: tuple[Array, int],
        source: tuple[Array, int],
        size: Array,
        barrier: tuple[Array, int],
        m: Array | None,
        at: int,
    ) -> None:
        """cp.async.bulk from global to shared memory; `to`, `source` and `barrier` are addresses and offsets."""
        lanes = np.arange(self.blocks * self.threads) if m is None else m.ravel().nonzero()[0]
        sizes = np.broadcast_to(size, (self.blocks, self.threads)).ravel().take(lanes).tolist()
        for lane, count in zip(lanes.tolist(), sizes, strict=True):
            if not 0 < count <= MOST_BYTES or count % _PIECE:
                raise self.site.error(at, lane, f"expected a copy of a multiple of {_PIECE} bytes, got {count}")
            mine = np.zeros((self.blocks, self.threads), bool)
            mine.ravel()[lane] = True
            word = self.places("shared", *barrier, 8, mine, at, False, each=True)
            read = self._pieces("global", *source, count, mine, at, write=False)
            written = self._pieces("shared", *to, count, mine, at, write=True)
            assert word is not None
            if self.races is not None:
                self._watch(read, _PIECE, at, write=False, strong=False)
                self._watch(written, _PIECE, at, write=True, strong=False)
            first = int(written.offsets[0])
            written.memory.shadows[4].reshape(-1)[first >> 2 : (first + count) >> 2] &= ~np.uint32(DEFINED * 0x01010101)
            begin = int(read.offsets[0])
            values = read.memory.views["u1"][begin : begin + count].copy()
            self._bulk = (*self._bulk, _Bulk(int(word.offsets.item()), first, values))

    def _pieces(
        self, space: str, address: Array, offset: int, count: int, mine: Array, at: int, *, write: bool
    ) -> Places:
        """The pieces of 16 bytes of one thread's copy, all checked."""
        first = self.places(space, address, offset, _PIECE, mine, at, write, each=True)
        last = self.places(space, address, offset + count - _PIECE, _PIECE, mine, at, write, each=True)
        assert first is not None and last is not None and first.lanes is not None
        offsets = int(first.offsets.item()) + np.arange(0, count, _PIECE)
        lanes = np.broadcast_to(first.lanes, offsets.shape)
        all_of_it = Places(first.memory, offsets, first.shape, lanes, False, first.writable)
        bad = self._bad_shadow(all_of_it, _PIECE, write)
        if bad is not None:
            # The first faulty piece says what is wrong with it.
            self.places(space, address, offset + int(bad.argmax()) * _PIECE, _PIECE, mine, at, write, each=True)
        return all_of_it

    def land(self, barriers: frozenset[int], at: int) -> None:
        """Copies whose barriers are looked at land, in the order in which they began."""
        if not self._bulk:
            return
        memory = self.rows["shared"].bytes
        left: list[_Bulk] = []
        for copy in self._bulk:
            if copy.barrier not in barriers:
                left.append(copy)
                continue
            count = copy.values.size
            memory.views["u1"][copy.first : copy.first + count] = copy.values
            pieces = copy.first + np.arange(0, count, _PIECE)
            self._define(Places(memory, pieces, pieces.shape, None, False, True), _PIECE)
            self.count_bytes(copy.barrier, count, at)
        self._bulk = tuple(left)

    def count_bytes(self, barrier: int, count: int, at: int) -> None:
        """Bytes that a barrier counts have come."""
        phase = self._phase(barrier)
        landed = replace(phase, owed=phase.owed - count)
        self._check_owed(landed, at)
        self._put_phase(barrier, landed.settled())

    def _check_owed(self, phase: _Phase, at: int) -> None:
        if abs(phase.owed) > MOST_BYTES:
            raise self.site.error(at, None, f"expected at most {MOST_BYTES} bytes under way, got {phase.owed}")

    def _phase(self, place: int) -> _Phase:
        return _Phase.of(int(self.rows["shared"].bytes.views["u8"][place >> 3]))

    def _put_phase(self, place: int, phase: _Phase) -> None:
        self.rows["shared"].bytes.views["u8"][place >> 3] = phase.word


__all__ = ["BarrierMemory"]
