"""Global memory: allocations with gaps between them, in one growing arena."""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from lanelink.lowering.emulator.errors import EmulatorError
from lanelink.lowering.emulator.regions import CONSTANT, DEFINED, UNWRITTEN, WRITTEN, Bytes
from lanelink.lowering.emulator.spaces import GLOBAL_BASE
from lanelink.lowering.emulator.types import Array

ALIGNMENT = 256
GAP = 4096
MOST_BYTES = 1 << 38


@dataclass(slots=True)
class Allocation:
    """Bytes [start, start + size) of the arena, as offsets from its base.

    `whole` says that every byte has been written. That is looked up when it would help, and never while `checked` is
    the launch that last looked.
    """

    start: int
    size: int
    name: str
    live: bool = True
    constant: bool = False
    whole: bool = False
    checked: int = -1

    @property
    def end(self) -> int:
        return self.start + self.size

    @property
    def address(self) -> int:
        return GLOBAL_BASE + self.start

    def describe(self) -> str:
        kind = "" if self.live else "freed "
        name = repr(self.name) if self.name else "without a name"
        return f"{kind}allocation {name} of {self.size} bytes at {self.address:#x}"


class Arena:
    """Live and freed allocations by address, over one Bytes."""

    def __init__(self) -> None:
        self.bytes = Bytes(1 << 20)
        self.starts: list[int] = []
        self.allocations: list[Allocation] = []
        self.top = GAP
        self.launch = 0

    def alloc(self, nbytes: int, name: str, *, constant: bool = False) -> Allocation:
        if nbytes < 1 or nbytes > MOST_BYTES:
            raise EmulatorError(f"alloc {name!r}: expected 1 to {MOST_BYTES} bytes, got {nbytes}")
        start = self._place(nbytes)
        allocation = Allocation(start, nbytes, name, constant=constant)
        where = bisect_right(self.starts, start)
        self.starts.insert(where, start)
        self.allocations.insert(where, allocation)
        self.bytes.shadow[start : allocation.end] = UNWRITTEN
        return allocation

    def _place(self, nbytes: int) -> int:
        """A free range with a gap after it: past all others, or where freed ones lay once the arena is full."""
        need = _rounded(nbytes) + GAP
        if self.top + need > self.bytes.size:
            reused = self._reused(need)
            if reused is not None:
                return reused
            size = self.bytes.size
            while self.top + need > size:
                size *= 2
            try:
                self.bytes.grow(size)
            except MemoryError:
                raise EmulatorError(f"alloc: expected {nbytes} bytes of memory, got none from the system") from None
        start = self.top
        self.top += need
        return start

    def _reused(self, need: int) -> int | None:
        """The first run of freed allocations that is long enough; their addresses are forgotten."""
        first = None
        for i, allocation in enumerate(self.allocations):
            if allocation.live:
                first = None
                continue
            first = i if first is None else first
            start = self.allocations[first].start
            end = self.allocations[i + 1].start if i + 1 < len(self.allocations) else self.top
            if end - start >= need:
                del self.allocations[first : i + 1]
                del self.starts[first : i + 1]
                return start
        return None

    def free(self, address: int) -> None:
        allocation = self.at(address)
        if allocation is None or not allocation.live or allocation.address != address:
            raise EmulatorError(
                f"free: expected the address of a live allocation, got {address:#x}; {self.nearest(address)}"
            )
        allocation.live = False
        allocation.whole = False
        self.bytes.shadow[allocation.start : allocation.end] = 0

    def at(self, address: int) -> Allocation | None:
        """The allocation, live or freed, that holds an address."""
        offset = address - GLOBAL_BASE
        where = bisect_right(self.starts, offset) - 1
        if where < 0:
            return None
        found = self.allocations[where]
        return found if offset < found.end else None

    def span(self, first: int, end: int) -> Allocation | None:
        """The live allocation that holds all of [first, end), as offsets."""
        where = bisect_right(self.starts, first) - 1
        if where < 0:
            return None
        found = self.allocations[where]
        return found if found.live and end <= found.end else None

    def spans(self, offsets: Array, size: int) -> list[tuple[Allocation, Array | None]]:
        """The allocations that accesses (checked before) lie in, each with the rows of its own (None: all of them)."""
        one = self.span(int(offsets.min()), int(offsets.max()) + size)
        if one is not None:
            return [(one, None)]
        which = np.searchsorted(np.array(self.starts), offsets, side="right") - 1
        return [(self.allocations[k], np.flatnonzero(which == k)) for k in np.unique(which).tolist()]

    def nearest(self, address: int) -> str:
        """Words for what lies at, or nearest to, an address."""
        if not self.allocations:
            return "there are no allocations"
        found = self.at(address)
        if found is not None:
            return f"inside {found.describe()}, at byte {address - found.address}"
        offset = address - GLOBAL_BASE
        where = bisect_right(self.starts, offset)
        near = [self.allocations[i] for i in (where - 1, where) if 0 <= i < len(self.allocations)]
        closest = min(near, key=lambda a: max(a.start - offset, offset - a.end + 1))
        if offset < closest.start:
            return f"{closest.start - offset} bytes before {closest.describe()}"
        return f"{offset - closest.end} bytes past the end of {closest.describe()}"

    def host_range(self, address: int, nbytes: int, what: str) -> tuple[int, int, Allocation]:
        offset = address - GLOBAL_BASE
        allocation = self.span(offset, offset + nbytes) if nbytes >= 0 else None
        if allocation is None:
            raise EmulatorError(
                f"{what}: expected {nbytes} bytes inside one live allocation, got address {address:#x}, "
                f"{self.nearest(address)}"
            )
        return offset, offset + nbytes, allocation

    def write(self, address: int, data: "np.ndarray[tuple[int], np.dtype[np.uint8]]") -> None:
        first, end, allocation = self.host_range(address, len(data), "write")
        self.bytes.data[first:end] = data
        self.bytes.shadow[first:end] = CONSTANT if allocation.constant else WRITTEN
        if first == allocation.start and end == allocation.end:
            allocation.whole = True

    def read(self, address: int, nbytes: int) -> bytes:
        first, end, _ = self.host_range(address, nbytes, "read")
        undefined = (self.bytes.shadow[first:end] & DEFINED) == 0
        if undefined.any():
            at = int(undefined.argmax())
            raise EmulatorError(
                f"read: expected bytes that were written, got byte {at} of {nbytes} unwritten at {address + at:#x}, "
                f"{self.nearest(address + at)}"
            )
        return self.bytes.data[first:end].tobytes()

    def whole(self, allocation: Allocation) -> bool:
        """Whether every byte is written; looked up at most once a launch."""
        if not allocation.whole and allocation.checked != self.launch:
            allocation.checked = self.launch
            shadow = self.bytes.shadow[allocation.start : allocation.end]
            allocation.whole = bool((shadow & DEFINED).all())
        return allocation.whole


def _rounded(nbytes: int) -> int:
    return (nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
