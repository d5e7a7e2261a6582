"""Loads and stores of a chunk: where each thread's access lies, and every check of it.

Addresses come as (blocks, threads) arrays or smaller ones that broadcast to that; an access is made once for each
distinct row or column of such an array, not for each thread. A dimension that is 1 stays 1 in the loaded values.
"""

from dataclasses import dataclass

import numpy as np

from lanelink.lowering.emulator.arena import Allocation, Arena
from lanelink.lowering.emulator.faults import Fault, Site
from lanelink.lowering.emulator.races import Races
from lanelink.lowering.emulator.regions import ALLOCATED, DEFINED, PATTERNS, WRITABLE, WRITTEN, Bytes
from lanelink.lowering.emulator.spaces import GLOBAL_BASE, WINDOW_BYTES, WINDOWS
from lanelink.lowering.emulator.types import Array

_U8 = np.uint64
_READ = ALLOCATED | DEFINED
_WRITE = ALLOCATED | WRITABLE
_SHIFTS = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4}


@dataclass(frozen=True, slots=True)
class Rows:
    """Memory of which each block (or thread) has its own row: shared, local, and parameters (one row for all)."""

    space: str
    bytes: Bytes
    stride: int
    base: Array
    names: tuple[tuple[int, int, str], ...]


@dataclass(slots=True)
class Places:
    """The accesses of one instruction: byte offsets into `memory`, one a distinct access.

    `shape` is that of the result; `lanes` are the flat places in it that `offsets` holds (None: all, in order).
    """

    memory: Bytes
    offsets: Array
    shape: tuple[int, ...]
    lanes: Array | None
    whole: bool
    writable: bool


class Memory:
    """What a chunk of blocks sees of memory.

    `gone`: threads that have ended, where any has; `members`: of each cluster its blocks, rows of the chunk, by rank.
    """

    gone: Array | None = None
    members: Array

    def __init__(self, arena: Arena, rows: dict[str, Rows], site: Site, races: Races | None) -> None:
        self.arena = arena
        self.rows = rows
        self.site = site
        self.races = races
        self.blocks, self.threads = site.blocks, site.threads
        self._lanes_of: Array | None = None
        self._lanes: Array = np.empty(0, np.int64)
        self._recent: dict[int, Allocation] = {}

    # Masks

    def meet(self, m: Array | None, guard: Array) -> Array | None:
        """The threads of a mask that a guard leaves on; None stays None where the guard is true for all."""
        if guard.size == 1 and guard.item():
            return m
        if m is None:
            full = (self.blocks, self.threads)
            return guard if guard.shape == full else np.broadcast_to(guard, full)
        return m & guard

    def lanes(self, m: Array, shape: tuple[int, ...]) -> Array:
        """Flat places of a mask, reduced to rows or columns where the shape has only those."""
        if shape == m.shape:
            if self._lanes_of is not m:
                self._lanes_of, self._lanes = m, m.ravel().nonzero()[0]
            return self._lanes
        axes = tuple(axis for axis in (0, 1) if shape[axis] == 1 and m.shape[axis] != 1)
        return m.any(axis=axes, keepdims=True).ravel().nonzero()[0]

    # Places

    def _space_of(self, address: Array, m: Array | None, at: int) -> str:
        """The one space that the generic addresses of an instruction lie in."""
        values = address if m is None else np.broadcast_to(address, (self.blocks, self.threads))[m]
        if values.size == 0:
            return "global"
        low, high = int(values.min()), int(values.max())
        for space in ("shared", "local", "param"):
            if WINDOWS[space] <= low and high < WINDOWS[space] + WINDOW_BYTES:
                return space
        if low >= GLOBAL_BASE or high < WINDOWS["shared"]:
            return "global"
        raise self.site.error(at, None, f"expected generic addresses of one state space, got {low:#x} to {high:#x}")

    def places(
        self,
        space: str,
        address: Array,
        offset: int,
        size: int,
        m: Array | None,
        at: int,
        write: bool,
        each: bool = False,
    ) -> Places | None:
        """Check an access of `size` bytes and say where it lies; None where no thread takes part.

        `each` keeps every thread's own access apart, as stores and atomics need.
        """
        if space == "generic":
            space = self._space_of(address, m, at)
            if WINDOWS[space]:
                offset -= WINDOWS[space]
        if space in ("global", "const"):
            return self._global(address, offset, size, m, at, write, each)
        rows = self.rows[space]
        base = rows.base
        shape = (self.blocks, self.threads) if each else np.broadcast_shapes(address.shape, base.shape)
        lanes = None
        own = address
        if m is not None:
            lanes = self.lanes(m, shape)
            if lanes.size == 0:
                return None
            own = own.ravel() if own.size == 1 else np.broadcast_to(own, shape).ravel().take(lanes)
            base = np.broadcast_to(base, shape).ravel().take(lanes) if base.size != 1 else base.ravel()
        own = own + _U8(offset & 0xFFFFFFFFFFFFFFFF)
        if int(own.max()) > rows.stride - size or int(np.bitwise_or.reduce(own, axis=None)) & (size - 1):
            bad = (own >= _U8(max(0, rows.stride - size + 1))) | ((own & _U8(size - 1)) != 0)
            self._row_fault(rows, bad, own, size, (shape, lanes, m), at, write)
        offsets = own.view(np.int64) + base
        if lanes is None and offsets.shape != shape:
            offsets = np.broadcast_to(offsets, shape)
        elif lanes is not None and offsets.size != lanes.size:
            offsets = np.broadcast_to(offsets, lanes.shape)
        places = Places(rows.bytes, offsets, shape, lanes, False, True)
        bad = self._bad_shadow(places, size, write)
        if bad is not None:
            full = own if own.shape == offsets.shape else np.broadcast_to(own, offsets.shape)
            self._row_fault(rows, bad, full, size, (shape, lanes, m), at, write)
        return places

    def _row_fault(
        self,
        rows: Rows,
        bad: Array,
        own: Array,
        size: int,
        where: "tuple[tuple[int, ...], Array | None, Array | None]",
        at: int,
        write: bool,
    ) -> None:
        k = int(np.broadcast_to(bad, own.shape).ravel().argmax())
        address = int(own.ravel()[k])
        shape, lanes, m = where
        thread = self._thread(
            k if own.size > 1 else 0,
            shape if own.size > 1 or lanes is None else (1, 1),
            lanes if own.size > 1 else None,
            m,
        )
        fault = Fault(rows.space, address, size, write)
        if address % size:
            raise self.site.misaligned(at, thread, fault)
        for start, length, name in rows.names:
            if start <= address and address + size <= start + length:
                raise self.site.unwritten(at, thread, fault, f"in {name} of {length} bytes at {start:#x}")
        raise self.site.outside(at, thread, fault, _nearest_row(rows, address))

    def _thread(self, k: int, shape: tuple[int, ...], lanes: Array | None, m: Array | None) -> int:
        """The first thread (flat, in the chunk) that made the access at a flat place."""
        place = k if lanes is None else int(lanes[k])
        block, thread = divmod(place, shape[1])
        mine = np.zeros((self.blocks, self.threads), bool)
        mine[block if shape[0] > 1 else slice(None), thread if shape[1] > 1 else slice(None)] = True
        if m is not None:
            mine &= m
        return int(mine.ravel().argmax())

    def _global(
        self, address: Array, offset: int, size: int, m: Array | None, at: int, write: bool, each: bool
    ) -> Places | None:
        shape = (self.blocks, self.threads) if each else address.shape
        lanes = None
        own = address
        if m is not None:
            lanes = self.lanes(m, shape)
            if lanes.size == 0:
                return None
            if own.size != 1:
                own = (own if own.shape == shape else np.broadcast_to(own, shape)).ravel().take(lanes)
            else:
                own = own.ravel()
        shifted = own - _U8((GLOBAL_BASE - offset) & 0xFFFFFFFFFFFFFFFF)
        low, high = int(shifted.min()), int(shifted.max())
        if size > 1 and int(np.bitwise_or.reduce(shifted, axis=None)) & (size - 1):
            self._global_fault((shifted & _U8(size - 1)) != 0, shifted, size, (shape, lanes, m), at, write)
        recent = self._recent.get(at)
        if recent is None or low < recent.start or high + size > recent.end:
            recent = self.arena.span(low, high + size)
            if recent is not None:
                self._recent[at] = recent
        whole = recent is not None and (recent.whole or self.arena.whole(recent))
        if recent is None and high + size > self.arena.bytes.size:
            self._global_fault(shifted > _U8(self.arena.bytes.size - size), shifted, size, (shape, lanes, m), at, write)
        offsets = shifted.view(np.int64)
        writable = recent is not None and not recent.constant
        places = Places(self.arena.bytes, offsets, shape, lanes, whole, writable)
        if not (whole and (writable or not write)):
            bad = self._bad_shadow(places, size, write)
            if bad is not None:
                self._global_fault(bad, shifted, size, (shape, lanes, m), at, write)
        if lanes is None and offsets.shape != shape:
            places.offsets = np.broadcast_to(offsets, shape)
        elif lanes is not None and offsets.size != lanes.size and each:
            places.offsets = np.broadcast_to(offsets, lanes.shape)
        return places

    def _global_fault(
        self,
        bad: Array,
        shifted: Array,
        size: int,
        where: "tuple[tuple[int, ...], Array | None, Array | None]",
        at: int,
        write: bool,
    ) -> None:
        shape, lanes, m = where
        k = int(bad.ravel().argmax())
        address = (int(shifted.ravel()[k]) + GLOBAL_BASE) & 0xFFFFFFFFFFFFFFFF
        single = shifted.size == 1
        thread = self._thread(0 if single else k, (1, 1) if single else shape, None if single else lanes, m)
        fault = Fault("global", address, size, write)
        if address % size:
            raise self.site.misaligned(at, thread, fault)
        found = self.arena.span(address - GLOBAL_BASE, address - GLOBAL_BASE + size)
        if found is None:
            raise self.site.outside(at, thread, fault, self.arena.nearest(address))
        if write:
            raise self.site.constant(at, thread, fault, self.arena.nearest(address))
        raise self.site.unwritten(at, thread, fault, self.arena.nearest(address))

    @staticmethod
    def _bad_shadow(places: Places, size: int, write: bool) -> Array | None:
        """Which accesses meet bytes that are not allocated (or, when reading, not written); None where none does."""
        width = min(size, 8)
        shadow = places.memory.shadows[width]
        index = places.offsets >> _SHIFTS[width] if width > 1 else places.offsets
        want = PATTERNS[_WRITE if write else _READ][width]
        bad: Array | None = None
        for k in range(size // width):
            wrong = (shadow.take(index + k if k else index) & want) != want
            bad = wrong if bad is None else bad | wrong
        assert bad is not None
        return bad if bad.any() else None

    # Accesses

    def load(
        self,
        space: str,
        address: Array,
        offset: int,
        tag: "np.dtype[np.generic]",
        count: int,
        m: Array | None,
        at: int,
        order: str,
    ) -> "Array | list[Array]":
        """The values at an address: one array, or one for each of `count` in a row. Threads not in m get zeros."""
        width = tag.itemsize
        watched = self.races is not None and space not in ("local", "param", "const")
        places = self.places(space, address, offset, width * count, m, at, False, each=watched)
        if places is None:
            nothing = np.zeros((1, 1), tag)
            return nothing if count == 1 else [nothing] * count
        if watched:
            self._watch(places, width * count, at, write=False, strong=order != "weak")
            if order == "acquire" and self.races is not None:
                self.races.acquire(self, places)
        if count == 1:
            view = places.memory.views[tag.str[1:]]
            shift = _SHIFTS[width]
            return self._spread(view.take(places.offsets >> shift if shift else places.offsets), places)
        size = width * count
        view = places.memory.views["c16" if size == 16 else f"u{size}"]
        taken = view.take(places.offsets >> _SHIFTS[size])
        parts = taken.reshape(-1).view(tag).reshape(-1, count).T.copy()
        return [self._spread(part.reshape(taken.shape), places) for part in parts]

    def _watch(self, places: Places, size: int, at: int, *, write: bool, strong: bool) -> None:
        """Check an access for races; memory of one thread alone has none. Strong: volatile, relaxed and the like."""
        if self.races is None or places.memory in (self.rows["local"].bytes, self.rows["param"].bytes):
            return
        if write:
            self.races.write(self, places, size, at, strong=strong)
        else:
            self.races.read(self, places, size, at, strong=strong)

    @staticmethod
    def _spread(values: Array, places: Places) -> Array:
        """Loaded values in the result's shape."""
        lanes = places.lanes
        if lanes is None:
            return values
        if values.size == 1:
            return values.reshape(1, 1)
        if len(lanes) == places.shape[0] * places.shape[1]:
            return values.reshape(places.shape)
        result = np.zeros(places.shape[0] * places.shape[1], values.dtype)
        result[lanes] = values
        return result.reshape(places.shape)

    def _chosen(self, value: Array, lanes: Array | None) -> Array:
        """The values of the threads that take part, flat."""
        full = (self.blocks, self.threads)
        flat = (value if value.shape == full else np.broadcast_to(value, full)).ravel()
        return flat if lanes is None else flat.take(lanes)

    def store(
        self,
        space: str,
        address: Array,
        offset: int,
        tag: "np.dtype[np.generic]",
        values: "tuple[Array, ...]",
        m: Array | None,
        at: int,
        order: str,
    ) -> None:
        """Store a value, or several in a row, for each thread of m. Of threads that write one place, the last wins."""
        count = len(values)
        size = tag.itemsize * count
        places = self.places(space, address, offset, size, m, at, True, each=True)
        if places is None:
            return
        if self.races is not None and space != "local":
            self._watch(places, size, at, write=True, strong=order != "weak")
        index = places.offsets.ravel()
        if size > 1:
            index = index >> _SHIFTS[size]
        if count == 1:
            places.memory.views[tag.str[1:]][index] = self._chosen(values[0], places.lanes)
        else:
            together = np.stack([self._chosen(v, places.lanes) for v in values], axis=1)
            name = "c16" if size == 16 else f"u{size}"
            places.memory.views[name][index] = together.view(places.memory.views[name].dtype).reshape(-1)
        if not places.whole:
            self._define(places, size)

    @staticmethod
    def _define(places: Places, size: int) -> None:
        width = min(size, 8)
        shadow = places.memory.shadows[width]
        written = PATTERNS[WRITTEN][width]
        index = places.offsets >> _SHIFTS[width] if width > 1 else places.offsets
        for k in range(size // width):
            shadow[index + k if k else index] = written


def _nearest_row(rows: Rows, address: int) -> str:
    if not rows.names:
        return f"there is no {rows.space} memory in this launch"
    best = min(rows.names, key=lambda n: max(n[0] - address, address - (n[0] + n[1]) + 1, 0))
    start, length, name = best
    if address < start:
        return f"{start - address} bytes before {name} of {length} bytes at {start:#x}"
    if address < start + length:
        return f"inside {name} of {length} bytes at {start:#x}, at byte {address - start}"
    return f"{address - start - length} bytes past the end of {name} of {length} bytes at {start:#x}"
