"""What the lanes of a warp do together. A warp is 32 threads of a block in linear order; the last may be short."""

from functools import lru_cache

import numpy as np

from lanelink.lowering.emulator.clusters import ClusteredMemory
from lanelink.lowering.emulator.types import Array

_U32 = np.uint32
_ALL = 0xFFFFFFFF
_LANES = np.arange(32, dtype=np.int64)
_BITS = (_U32(1) << np.arange(32, dtype=_U32)).astype(_U32)


@lru_cache(maxsize=512)
def _sources(mode: str, b: int, c: int) -> tuple[Array, Array]:
    """For each lane the lane it reads and whether that is inside its segment (PTX ISA, shfl.sync)."""
    lane = _LANES
    segment, clamp, by = (c >> 8) & 31, c & 31, b & 31
    highest = (lane & segment) | (clamp & ~segment)
    lowest = lane & segment
    if mode == "up":
        source, inside = lane - by, (lane - by) >= highest
    elif mode == "down":
        source, inside = lane + by, (lane + by) <= highest
    elif mode == "bfly":
        source, inside = lane ^ by, (lane ^ by) <= highest
    else:
        source = lowest | (by & ~segment)
        inside = source <= highest
    return np.where(inside, source, lane), inside


class Warps(ClusteredMemory):
    """A chunk's warps, over its memory."""

    def prepare_warps(self) -> None:
        """Set up for blocks of `threads` threads: whole warps, the last filled up with lanes that are not there."""
        self.full = (self.blocks, self.threads)
        self.width = -(-self.threads // 32)
        self.short = self.threads % 32 != 0
        self._there = self.by_warps(np.ones((self.blocks, self.threads), bool))
        self._there_bits = self.bits(self._there)
        self._whole_of: Array | None = None
        self._whole = False

    def by_warps(self, value: Array) -> Array:
        """A value as (blocks * warps, 32); lanes that are not there hold 0."""
        full = value if value.shape == self.full else np.broadcast_to(value, self.full)
        if self.short:
            padded = np.zeros((self.blocks, self.width * 32), value.dtype)
            padded[:, : self.threads] = full
            full = padded
        return full.reshape(-1, 32)

    def by_threads(self, value: Array) -> Array:
        """Back from (blocks * warps, 32), or (blocks * warps, 1), to (blocks, threads)."""
        if value.shape[1] != 32:
            value = np.broadcast_to(value, (self.blocks * self.width, 32))
        whole = value.reshape(self.blocks, -1)
        return whole[:, : self.threads] if self.short else whole

    @staticmethod
    def bits(lanes: Array) -> Array:
        """Rows of 32 booleans as u4, (rows, 1)."""
        return np.packbits(lanes, axis=1, bitorder="little").view("<u4")

    def whole_warps(self, m: Array) -> bool:
        """Whether a mask holds all lanes of each warp that it holds any of. Kept for the mask last asked about."""
        if self._whole_of is not m:
            bits = self.bits(self.by_warps(m))
            self._whole_of = m
            self._whole = bool(((bits == 0) | (bits == self._there_bits)).all())
        return self._whole

    def absent(self, m: Array, members: Array, gone: Array | None) -> Array:
        """Of each warp, (rows, 1): lanes named by its threads in m that are neither in m nor gone for good."""
        here = self.by_warps(m)
        named = self.by_warps(np.broadcast_to(members, m.shape))
        wanted = np.bitwise_or.reduce(np.where(here, named, _U32(0)), axis=1, keepdims=True)
        present = self.bits(here) | ~self._there_bits
        if gone is not None:
            present = present | self.bits(self.by_warps(gone))
        return wanted & ~present

    def _check_members(self, members: Array, m: Array | None, at: int) -> tuple[Array, Array]:
        """Lanes here, as (rows, 32), and the masks they name; every lane must be in its own mask, and every one named
        here.
        """
        here = self._there if m is None else self.by_warps(m)
        if members.size == 1 and int(members.item()) == _ALL:
            if m is not None and not self.whole_warps(m):
                self._refuse_absent(self.absent(m, members, self.gone), at)
            return here, members
        named = self.by_warps(members)
        out = here & ((named & _BITS) == 0)
        if out.any():
            warp, lane = divmod(int(out.ravel().argmax()), 32)
            raise self.site.error(
                at,
                self._thread_at(warp, lane),
                f"expected a member mask that holds lane {lane} itself, got {int(named[warp, lane]):#010x}",
            )
        mask = np.ones((self.blocks, self.threads), bool) if m is None else m
        self._refuse_absent(self.absent(mask, members, self.gone), at)
        return here, named

    def _refuse_absent(self, absent: Array, at: int) -> None:
        if absent.any():
            warp = int(absent.ravel().argmax())
            lane = int(absent.ravel()[warp]).bit_length() - 1
            raise self.site.error(
                at,
                self._thread_at(warp, 0),
                f"expected every lane of the member mask, got lane {lane} of warp {warp % self.width} elsewhere",
            )

    def _thread_at(self, row: int, lane: int) -> int:
        block, warp = divmod(row, self.width)
        return block * self.threads + min(warp * 32 + lane, self.threads - 1)

    def shuffle(
        self, mode: str, a: Array, b: Array, c: Array, members: Array, m: Array | None, at: int, both: bool
    ) -> tuple[Array, Array]:
        """shfl.sync: the value of another lane, and (if `both`) whether that lane is inside the segment."""
        here, named = self._check_members(members, m, at)
        rows = self.by_warps(a)
        if b.size == 1 and c.size == 1:
            source, inside = _sources(mode, int(b.item()), int(c.item()))
            values = rows.take(source, axis=1)
            whole = not self.short and named.size == 1 and (m is None or self.whole_warps(m))
            bad = None if whole else ~here.take(source, axis=1)
            within = np.broadcast_to(inside, rows.shape) if both else values
        else:
            source, within = self._own_sources(mode, self.by_warps(b), self.by_warps(c))
            values = np.take_along_axis(rows, source, axis=1)
            bad = ~np.take_along_axis(here, source, axis=1)
        if bad is not None:
            if named.size != 1:
                bad = bad | (((named >> np.broadcast_to(source, rows.shape).astype(_U32)) & _U32(1)) == 0)
            bad = bad & here
            if bad.any():
                warp, lane = divmod(int(bad.ravel().argmax()), 32)
                asked = int(np.broadcast_to(source, rows.shape)[warp, lane])
                raise self.site.error(
                    at, self._thread_at(warp, lane), f"expected lane {asked} to take part in the shuffle, got it absent"
                )
        return self.by_threads(values), self.by_threads(within) if both else values

    @staticmethod
    def _own_sources(mode: str, b: Array, c: Array) -> tuple[Array, Array]:
        """As `_sources`, where each lane has its own b and c."""
        lane = np.broadcast_to(_LANES, b.shape)
        by, clamp = (b & _U32(31)).astype(np.int64), (c & _U32(31)).astype(np.int64)
        segment = ((c >> _U32(8)) & _U32(31)).astype(np.int64)
        highest = (lane & segment) | (clamp & ~segment)
        if mode == "up":
            source = lane - by
            inside = source >= highest
        else:
            source = {"down": lane + by, "bfly": lane ^ by, "idx": (lane & segment) | (by & ~segment)}[mode]
            inside = source <= highest
        return np.where(inside, source, lane), inside

    def vote(self, mode: str, p: Array, members: Array, m: Array | None, at: int) -> Array:
        """vote.sync over the lanes of each thread's member mask."""
        here, named = self._check_members(members, m, at)
        set_bits = self.bits(self.by_warps(p) & here)
        if named.size == 1:
            named = self.bits(here)
        else:
            set_bits = set_bits & named
        if mode == "ballot":
            return self.by_threads(set_bits)
        if mode == "any":
            return self.by_threads(set_bits != 0)
        if mode == "all":
            return self.by_threads(set_bits == named)
        return self.by_threads((set_bits == 0) | (set_bits == named))

    def active(self, m: Array | None) -> Array:
        """activemask: the lanes that are here now."""
        return self.by_threads(self.bits(self._there if m is None else self.by_warps(m)))

    def _groups(self, here: Array, named: Array) -> Array:
        """(rows, 32 lanes, 32 members): which lanes each lane's mask holds and are here."""
        if named.size == 1:
            return np.broadcast_to(here[:, None, :], (here.shape[0], 32, 32))
        return (((named[:, :, None] & _BITS) != 0) & here[:, None, :]).astype(bool)

    def reduce(self, mode: str, a: Array, members: Array, m: Array | None, at: int) -> Array:
        """redux.sync: sums wrap at 32 bits."""
        here, named = self._check_members(members, m, at)
        rows = self.by_warps(a)
        function, empty = {
            "add": (np.add, 0),
            "min": (np.minimum, np.iinfo(a.dtype).max),
            "max": (np.maximum, np.iinfo(a.dtype).min),
            "and": (np.bitwise_and, np.iinfo(a.dtype).max if a.dtype.kind == "u" else -1),
            "or": (np.bitwise_or, 0),
            "xor": (np.bitwise_xor, 0),
        }[mode]
        if named.size == 1:
            kept = np.where(here, rows, a.dtype.type(empty))
            return self.by_threads(function.reduce(kept, axis=1, dtype=a.dtype, keepdims=True))
        kept = np.where(self._groups(here, named), rows[:, None, :], a.dtype.type(empty))
        return self.by_threads(function.reduce(kept, axis=2, dtype=a.dtype))

    def match(self, a: Array, members: Array, m: Array | None, at: int) -> Array:
        """match.any.sync: the lanes that hold the same value."""
        here, named = self._check_members(members, m, at)
        rows = self.by_warps(a)
        same = (rows[:, :, None] == rows[:, None, :]) & self._groups(here, named)
        return self.by_threads(np.packbits(same, axis=2, bitorder="little").view("<u4")[..., 0])

    def elect(self, members: Array, m: Array | None, at: int) -> tuple[Array, Array]:
        """elect.sync: the lowest lane of the member mask leads."""
        here, named = self._check_members(members, m, at)
        named = self.bits(here) if named.size == 1 else named
        lowest = named & (~named + _U32(1))
        leader = np.bitwise_count(lowest - _U32(1)).astype(_U32)
        leader = np.broadcast_to(leader, here.shape)
        return self.by_threads(leader), self.by_threads(leader == _LANES)

    def warp_barrier(self, members: Array, m: Array | None, at: int) -> None:
        """bar.warp.sync: the lanes are here already; what they wrote is ordered for the others."""
        self._check_members(members, m, at)
        if self.races is not None:
            self.races.warp_barrier(self, m)
