"""Data races: two accesses of one byte by different threads, one of them at least a plain write, that nothing puts in
order.

What orders accesses: a thread's own program; a barrier of the block; a barrier of the warp (bar.warp.sync; shuffles
and votes order no memory); a barrier of the cluster, for what came before the releasing arrivals of each of its blocks;
and between threads an atomic that reads what another wrote, for what fences (membar.gl or
wider, or a releasing atomic) had covered before that other: those of its own thread, with what its warp did before a
barrier of the warp, and those of its block before a barrier; or an acquiring load in its place. An arrival at a barrier
in shared memory releases, and who sees its phase over acquires. Acquiring needs no fence of its own here, as the
pattern of the last block to arrive is often written without one. Strong accesses (atomics, volatile, relaxed and the
like) do not race with each other.

A kernel that has griddepcontrol.wait may start before the launch ahead of it has ended: until a thread has waited, it
may not read what that launch wrote, nor write what it read or wrote.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lanelink.lowering.emulator.errors import EmulatorError
from lanelink.lowering.emulator.faults import Site
from lanelink.lowering.emulator.ptx import PtxEntry
from lanelink.lowering.emulator.race_records import MANY, Accesses, Plane
from lanelink.lowering.emulator.spaces import GLOBAL_BASE
from lanelink.lowering.emulator.types import Array

if TYPE_CHECKING:
    from lanelink.lowering.emulator.access import Memory, Places

MOST_BLOCKS = 4096
"""Blocks of a launch whose races are checked: each may hold a clock of every other."""


class _Access(NamedTuple):
    """One of Accesses."""

    thread: int
    warp: int
    block: int
    epoch: int
    warp_epoch: int


@dataclass(slots=True)
class _View:
    """What is ordered before something: of each block, epochs below `before`; of each thread in `own`, epochs up to
    its value; of each warp in `warps`, the warp's own epochs below its value.
    """

    before: Array
    own: dict[int, int] = field(default_factory=dict[int, int])
    warps: dict[int, int] = field(default_factory=dict[int, int])

    def join(self, other: "_View") -> None:
        self.before = np.maximum(self.before, other.before)
        for mine, theirs in ((self.own, other.own), (self.warps, other.warps)):
            for key, epoch in theirs.items():
                mine[key] = max(epoch, mine.get(key, 0))

    def copy(self) -> "_View":
        return _View(self.before, dict(self.own), dict(self.warps))

    def covers(self, access: "_Access", others: Array) -> bool:
        """Whether an access (of many threads, warps or blocks, if MANY) is ordered before; `others` are the blocks that
        may have made it beside the asking one.
        """
        if access.block == MANY:
            return bool((self.before[others] > access.epoch).all())
        if self.before[access.block] > access.epoch or self.warps.get(access.warp, 0) > access.warp_epoch:
            return True
        return access.thread != MANY and self.own.get(access.thread, 0) >= access.epoch


class Races:
    """The records of one emulator, and the clocks of the launch under way."""

    def __init__(self) -> None:
        self._planes: dict[int, Plane] = {}
        self._shared: Plane | None = None
        self._next = 1
        self._base = 1
        self._previous = 1

    # Launches

    def begin(self, entry: PtxEntry, blocks: int, threads: int) -> None:
        """Start a launch: every block at a fresh epoch."""
        if blocks > MOST_BLOCKS:
            raise EmulatorError(
                f"kernel {entry.name}: expected at most {MOST_BLOCKS} blocks to check for races, got {blocks}"
            )
        self._previous, self._base = self._base, self._next
        self._blocks, self._threads = blocks, threads
        self._width = -(-threads // 32)
        self._epochs = np.full(blocks, self._base, np.int32)
        # Accesses of earlier epochs of its own block come before a block's next ones: all but those since an arrival.
        self._settled = self._epochs.copy()
        self._arrived = np.zeros(blocks, np.int32)
        self._arriving = np.zeros((blocks, threads), bool)
        self._warp_epochs = np.full(blocks * self._width, self._base, np.int32)
        self._fenced = np.zeros(blocks * threads, np.int32)
        self._fenced_warp = np.zeros(blocks * threads, np.int32)
        self._views: dict[int, _View] = {}
        self._pending: dict[int, dict[int, _View]] = {}
        self._locations: dict[int, _View] = {}
        waits = any(i.opcode == "griddepcontrol" and "wait" in i.modifiers for i in entry.body.instructions)
        self._waited = np.full(blocks * threads, not waits, bool)
        self._next = self._base + 1

    def begin_chunk(self, memory: "Memory") -> None:
        """Blocks of another chunk have shared memory of their own; each is reached by those of its cluster."""
        self._shared = None
        self._locations = {place: view for place, view in self._locations.items() if place >= 0}
        self._peers = {int(b) + memory.site.first: c + memory.site.first for c in memory.members for b in c}

    # Orderings

    def barrier(self, memory: "Memory", ready: Array | None) -> None:
        """The blocks of some threads (None: of the chunk) pass a barrier."""
        first = memory.site.first
        rows = np.arange(memory.blocks) if ready is None else np.flatnonzero(ready.any(axis=1))
        blocks = first + rows
        self._epochs[blocks] += 1
        self._settled[blocks] = self._epochs[blocks]
        warps = self._warp_epochs.reshape(self._blocks, -1)
        warps[blocks] += 1
        self._next = max(self._next, int(self._epochs.max()) + 1, int(warps.max()) + 1)
        waited = self._waited.reshape(self._blocks, -1)
        if not waited[blocks].all():
            waited[blocks] |= waited[blocks].any(axis=1, keepdims=True)
        for block in blocks.tolist():
            for view in self._pending.pop(block, {}).values():
                self._view(block).join(view)

    def arrive(self, memory: "Memory", here: Array) -> None:
        """
        Threads arrive, releasing, at a barrier of their cluster: when the last of a block does, what the block did so
        far is set apart from what it does next.
        """
        first = memory.site.first
        arriving = self._arriving[first : first + memory.blocks]
        arriving |= here
        rows = np.flatnonzero(here.any(axis=1) & (arriving | self._gone(memory)).all(axis=1))
        arriving[rows] = False
        self._epochs[first + rows] += 1
        self._arrived[first + rows] = self._epochs[first + rows]
        self._next = max(self._next, int(self._epochs.max()) + 1)

    def meet(self, memory: "Memory", clusters: "list[Array]") -> None:
        """The blocks of some clusters, rows of the chunk, pass the barrier at which they have arrived."""
        for rows in clusters:
            blocks = memory.site.first + rows
            for block in blocks.tolist():
                view = self._view(block)
                view.before[blocks] = np.maximum(view.before[blocks], self._arrived[blocks])
            self._settled[blocks] = np.maximum(self._settled[blocks], self._arrived[blocks])
            waited = self._waited.reshape(self._blocks, -1)
            waited[blocks] |= waited[blocks].any()

    @staticmethod
    def _gone(memory: "Memory") -> Array:
        return np.zeros((1, 1), bool) if memory.gone is None else memory.gone

    def warp_barrier(self, memory: "Memory", m: Array | None) -> None:
        rows, threads = self._who(memory, m)
        warps = np.unique((rows + memory.site.first) * self._width + threads // 32)
        self._warp_epochs[warps] += 1
        self._next = max(self._next, int(self._warp_epochs.max()) + 1)
        if self._pending:
            for warp in warps.tolist():
                self._share(*divmod(warp, self._width))

    def _share(self, block: int, warp: int) -> None:
        """What lanes of a warp have acquired comes before what any of them does next."""
        mine = self._pending.get(block, {})
        first = block * self._threads + 32 * warp
        lanes = range(first, min(first + 32, (block + 1) * self._threads))
        found = [mine[lane] for lane in lanes if lane in mine]
        if not found:
            return
        joined = found[0].copy()
        for view in found[1:]:
            joined.join(view)
        for lane in lanes:
            mine[lane] = joined.copy()

    def fence(self, memory: "Memory", m: Array | None) -> None:
        rows, threads = self._who(memory, m)
        blocks = rows + memory.site.first
        self._fenced[blocks * self._threads + threads] = self._epochs[blocks]
        self._fenced_warp[blocks * self._threads + threads] = self._warp_epochs[blocks * self._width + threads // 32]

    def wait(self, memory: "Memory", m: Array | None) -> None:
        """griddepcontrol.wait: the launch ahead is over for these threads."""
        rows, threads = self._who(memory, m)
        self._waited[(rows + memory.site.first) * self._threads + threads] = True

    def _view(self, block: int) -> _View:
        view = self._views.get(block)
        if view is None:
            view = self._views[block] = _View(np.zeros(self._blocks, np.int32))
        return view

    @staticmethod
    def _who(memory: "Memory", m: Array | None) -> tuple[Array, Array]:
        """Rows (blocks of the chunk) and threads of a mask."""
        size = memory.blocks * memory.threads
        flat = np.arange(size) if m is None else m.ravel().nonzero()[0]
        rows, threads = np.divmod(flat, memory.threads)
        return rows, threads

    # Accesses

    def read(self, memory: "Memory", places: "Places", size: int, at: int, *, strong: bool = False) -> None:
        """Check reads, and put them on record; strong ones race with no strong write, and are not recorded."""
        for plane, offsets, now, base in self._parts(memory, places, size):
            index, each = plane.index(offsets, size)
            now = now.repeat(each)
            self._check(memory, plane, index, now, at, base, write=False, strong=strong)
            if strong:
                continue
            before = plane.reads.take(index)
            current = before.epoch >= self._base
            kept = current & ~self._ordered(before, now, current, plane)
            plane.put_reads(index, now, kept, before)

    def write(self, memory: "Memory", places: "Places", size: int, at: int, *, strong: bool = False) -> None:
        """Check writes, and put them on record; strong ones (atomics among them) do not race with each other."""
        for plane, offsets, now, base in self._parts(memory, places, size):
            index, each = plane.index(offsets, size)
            now = now.repeat(each)
            self._check(memory, plane, index, now, at, base, write=True, strong=strong)
            plane.put_writes(index, now, strong)
            if not strong:
                other = plane.writes.thread.take(index)
                twice = other != now.thread
                if twice.any():
                    k = int(twice.argmax())
                    access = f"write at {self._place(memory, plane, int(index[k]), base)}"
                    earlier = f"write by {self._someone(memory, int(other[k]), MANY)}"
                    raise self._race(memory, at, int(now.thread[k]), access, earlier)

    def atomic(self, memory: "Memory", places: "Places", size: int, at: int, order: str) -> None:
        """Check atomics against plain accesses; then acquire from, and release to, each place in turn."""
        self.write(memory, places, size, at, strong=True)
        now = self._now(memory, places)
        for place, (thread, warp, block, epoch, warp_epoch) in zip(
            self._names(memory, places).tolist(), now.each(), strict=True
        ):
            if order in ("release", "acq_rel"):
                self._fenced[thread] = epoch
                self._fenced_warp[thread] = warp_epoch
            there = self._acquired(place, thread, block)
            released = self._released(thread, warp, block, epoch)
            if released is None:
                continue
            if there is None:
                there = self._locations[place] = _View(np.zeros(self._blocks, np.int32))
            there.join(released)
            for view in (self._views.get(block), self._pending.get(block, {}).get(thread)):
                if view is not None:
                    there.join(view)

    def acquire(self, memory: "Memory", places: "Places") -> None:
        """A load that acquires: what atomics had released to the place comes before what its thread does next."""
        now = self._now(memory, places)
        offsets = np.broadcast_to(self._names(memory, places), now.thread.shape)
        for place, thread, block in zip(offsets.tolist(), now.thread.tolist(), now.block.tolist(), strict=True):
            self._acquired(place, thread, block)

    @staticmethod
    def _names(memory: "Memory", places: "Places") -> Array:
        """Places as one number each: offsets in global memory, and below zero those in the chunk's shared memory."""
        offsets = places.offsets.ravel()
        return offsets if places.memory is memory.arena.bytes else ~offsets

    def _acquired(self, place: int, thread: int, block: int) -> _View | None:
        """Puts what was released to a place before a thread that reads it; that."""
        there = self._locations.get(place)
        if there is not None:
            mine = self._pending.setdefault(block, {})
            mine.setdefault(thread, _View(np.zeros(self._blocks, np.int32))).join(there)
        return there

    def _released(self, thread: int, warp: int, block: int, epoch: int) -> _View | None:
        """What an atomic of a thread publishes: what its block's fences cover, its own and those before the last
        barrier; with its own, what its warp did before the warp's last barrier ahead of it.
        """
        first = block * self._threads
        fenced = self._fenced[first : first + self._threads]
        counts = (fenced >= self._base) & (fenced < epoch)
        counts[thread - first] = fenced[thread - first] >= self._base
        if not counts.any():
            return None
        view = _View(np.zeros(self._blocks, np.int32))
        if counts[thread - first]:
            view.warps[warp] = int(self._fenced_warp[thread])
        # A fence covers all that barriers had put before it, and what its own thread did since.
        view.before[block] = fenced[counts].max()
        if counts.all() and int(fenced.min()) + 1 > int(view.before[block]):
            view.before[block] = fenced.min() + (1 if int(fenced.max()) < epoch else 0)
        else:
            view.own = {first + int(k): int(fenced[k]) for k in np.flatnonzero(counts)}
        return view

    def _now(self, memory: "Memory", places: "Places") -> Accesses:
        size = memory.blocks * memory.threads
        flat = np.arange(size) if places.lanes is None else places.lanes
        thread = (flat + memory.site.first * self._threads).astype(np.int32)
        block = thread // np.int32(self._threads)
        warp = block * np.int32(self._width) + (thread - block * np.int32(self._threads)) // np.int32(32)
        return Accesses(thread, warp, block, self._epochs.take(block), self._warp_epochs.take(warp))

    def _parts(self, memory: "Memory", places: "Places", size: int) -> "list[tuple[Plane, Array, Accesses, int]]":
        """An instruction's accesses by the plane that records them: plane, offsets in it, who, and the plane's
        address.
        """
        now = self._now(memory, places)
        offsets = places.offsets.ravel()
        if places.memory is not memory.arena.bytes:
            if self._shared is None:
                self._shared = Plane(places.memory.size, size)
            return [(self._shared, offsets, now, 0)]
        allocations = memory.arena.spans(offsets, size)
        parts: list[tuple[Plane, Array, Accesses, int]] = []
        for allocation, chosen in allocations:
            plane = self._planes.get(allocation.start)
            if plane is None or plane.writes.epoch.size * plane.granule < allocation.size:
                plane = self._planes[allocation.start] = Plane(allocation.size, size)
            mine = offsets if chosen is None else offsets[chosen]
            who = now if chosen is None else now.take(chosen)
            parts.append((plane, mine - allocation.start, who, allocation.start + GLOBAL_BASE))
        return parts

    def forget(self, start: int) -> None:
        """An allocation is gone, and its records with it."""
        self._planes.pop(start, None)

    # Checks

    def _ordered(self, before: Accesses, now: Accesses, current: Array, plane: Plane) -> Array:
        """Whether each earlier access comes before the present one; only those of this launch, `current`, are looked
        into.
        """
        same = before.block == now.block
        ordered = before.thread == now.thread
        ordered |= same & (before.epoch < self._settled.take(now.block))
        ordered |= same & (before.warp == now.warp) & (before.warp_epoch < now.warp_epoch)
        if not self._views and not self._pending:
            return ordered
        left = np.flatnonzero(current & ~ordered)
        if left.size == 0:
            return ordered
        earlier = (before.thread, before.warp, before.block, before.epoch, before.warp_epoch)
        asked = np.stack([each[left] for each in (*earlier, now.block, now.thread)], axis=1)
        unique, place = np.unique(asked, axis=0, return_inverse=True)
        shared = plane is self._shared
        answers = np.array([self._covered(_Access(*row[:5]), *row[5:], shared=shared) for row in unique.tolist()], bool)
        ordered[left] = answers[place.reshape(-1)]
        return ordered

    def _covered(self, access: _Access, me: int, asking: int, *, shared: bool) -> bool:
        others = self._peers[me] if shared else np.arange(self._blocks)
        others = others[others != me]
        view = self._views.get(me)
        if view is not None and view.covers(access, others):
            return True
        pending = self._pending.get(me, {}).get(asking)
        return pending is not None and pending.covers(access, others)

    def _check(
        self,
        memory: "Memory",
        plane: Plane,
        index: Array,
        now: Accesses,
        at: int,
        base: int,
        *,
        write: bool,
        strong: bool,
    ) -> None:
        records = [("write", plane.writes)] + ([("read", plane.reads)] if write else [])
        for word, record in records:
            epochs = record.epoch.take(index)
            if int(epochs.max()) >= self._base:
                before = record.take(index)
                current = before.epoch >= self._base
                bad = current & ~self._ordered(before, now, current, plane)
                if strong and word == "write":
                    bad &= ~plane.strong.take(index)
                if bad.any():
                    k = int(bad.argmax())
                    access = f"{'write' if write else 'read'} at {self._place(memory, plane, int(index[k]), base)}"
                    earlier = f"{word} by {self._someone(memory, int(before.thread[k]), int(before.block[k]))}"
                    raise self._race(memory, at, int(now.thread[k]), access, earlier)
            if base and self._previous < self._base:
                early = (epochs >= self._previous) & (epochs < self._base) & ~self._waited.take(now.thread)
                if early.any():
                    k = int(early.argmax())
                    thread = int(now.thread[k]) - memory.site.first * self._threads
                    raise memory.site.error(
                        at,
                        thread,
                        f"{'write' if write else 'read'} at global address {base + int(index[k]) * plane.granule:#x}: "
                        f"expected griddepcontrol.wait before touching what the launch ahead {word}s, got none yet",
                    )

    def _race(self, memory: "Memory", at: int, thread: int, access: str, earlier: str) -> EmulatorError:
        site: Site = memory.site
        return site.error(
            at,
            thread - site.first * self._threads,
            f"race: {access}: expected it ordered (by a barrier, or a fence and an atomic) after the {earlier}, "
            "got nothing between",
        )

    @staticmethod
    def _place(memory: "Memory", plane: Plane, granule: int, base: int) -> str:
        offset = granule * plane.granule
        if base:
            return f"global address {base + offset:#x}, {memory.arena.nearest(base + offset)}"
        return f"shared address {offset % memory.rows['shared'].stride:#x}"

    def _someone(self, memory: "Memory", thread: int, block: int) -> str:
        if thread != MANY:
            return memory.site.who(*divmod(thread, self._threads))
        return "several threads" if block == MANY else f"several threads of block {block}"
