"""Clusters of blocks (PTX ISA 9.7.13.4, barrier.cluster; 9.7.9.22, mapa): blocks that reach each other's shared memory.

An address of another block's shared memory has that block's rank, plus one, above its lowest bits; one without is the
running block's own. Such an access is refused before the block has met the others at a barrier of the cluster, as they
need not have started yet, and once the other block has ended.
"""

from dataclasses import dataclass, replace

import numpy as np

from lanelink.lowering.emulator.access import Places, Rows
from lanelink.lowering.emulator.arena import Arena
from lanelink.lowering.emulator.barriers import BarrierMemory
from lanelink.lowering.emulator.errors import EmulatorError
from lanelink.lowering.emulator.faults import Extent, Site, unflatten
from lanelink.lowering.emulator.races import Races
from lanelink.lowering.emulator.regions import DEFINED
from lanelink.lowering.emulator.spaces import WINDOWS
from lanelink.lowering.emulator.types import Array

RANK_BIT = 24
"""Where a block's rank begins in an address: no block has 16 MiB of shared memory."""

_LOW = np.uint64((1 << RANK_BIT) - 1)
_ARRIVED = np.iinfo(np.int32).max


def cluster_place(extent: Extent, cluster: Extent) -> tuple[Extent, Extent]:
    """A block's cluster, and its place in it, from its own place in the grid."""
    which = (extent[0] // cluster[0], extent[1] // cluster[1], extent[2] // cluster[2])
    return which, (extent[0] % cluster[0], extent[1] % cluster[1], extent[2] % cluster[2])


def rank_of(place: Extent, cluster: Extent) -> int:
    """The number of a place in a cluster, x fastest."""
    return place[0] + cluster[0] * (place[1] + cluster[1] * place[2])


@dataclass(frozen=True, slots=True)
class _Sent:
    """Values under way to other blocks: of each its barrier's word's place, where it lands, its bytes (n, size)."""

    barriers: Array
    offsets: Array
    values: Array


class ClusteredMemory(BarrierMemory):
    """A chunk's memory where blocks reach into each other's, and who has arrived at their barriers.

    `arrivals` and `meetings` count each thread's barrier.cluster.arrive and .wait.
    """

    def __init__(self, arena: Arena, rows: dict[str, Rows], site: Site, races: Races | None) -> None:
        super().__init__(arena, rows, site, races)
        self.arrivals = np.zeros((self.blocks, self.threads), np.int32)
        self.meetings = np.zeros((self.blocks, self.threads), np.int32)
        # Of each block its cluster's number in the chunk; of each cluster its blocks, rows of the chunk, by rank.
        self.cluster_of = np.zeros(self.blocks, np.int64)
        self.members = np.zeros((self.blocks, 1), np.int64)
        self._place_blocks()

    def _place_blocks(self) -> None:
        cluster = self.site.cluster
        size = cluster[0] * cluster[1] * cluster[2]
        numbers: dict[Extent, int] = {}
        self.members = np.zeros((self.blocks // size, size), np.int64)
        for row in range(self.blocks):
            which, place = cluster_place(unflatten(self.site.first + row, self.site.grid), cluster)
            number = self.cluster_of[row] = numbers.setdefault(which, len(numbers))
            self.members[number, rank_of(place, cluster)] = row

    # Addresses

    def map_address(self, address: Array, rank: Array, m: Array | None, at: int) -> Array:
        """mapa: the same place in the block of a rank."""
        size = self.members.shape[1]
        outside = rank >= size
        if m is not None:
            outside = m & outside
        if outside.any():
            thread = int(np.broadcast_to(outside, (self.blocks, self.threads)).ravel().argmax())
            got = int(np.broadcast_to(rank, (self.blocks, self.threads)).ravel()[thread])
            raise self.site.error(at, thread, f"expected a rank below the {size} blocks of the cluster, got {got}")
        kind = address.dtype.type
        kept = address & kind(np.iinfo(address.dtype).max ^ 0xFFFFFFFF | int(_LOW))  # a generic one's window as well
        return kept | ((rank.astype(address.dtype) + kind(1)) << kind(RANK_BIT))

    def address_rank(self, address: Array) -> Array:
        """getctarank: the rank of the block whose shared memory an address is in."""
        tag = (address >> address.dtype.type(RANK_BIT)).astype(np.uint32) & np.uint32(0xFF)
        own = np.zeros((self.blocks, 1), np.uint32)
        own[self.members] = np.arange(self.members.shape[1], dtype=np.uint32)[:, None]
        return np.where(tag == 0, own, tag - np.uint32(1)).astype(np.uint32)

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
        if space == "generic" and self.members.shape[1] > 1 and self._space_of(address, m, at) == "shared":
            space, offset = "shared::cluster", offset - WINDOWS["shared"]
        if space != "shared::cluster":
            return super().places(space, address, offset, size, m, at, write, each)
        full = (self.blocks, self.threads)
        lanes = None if m is None else self.lanes(m, full)
        everyone = np.arange(self.blocks * self.threads) if lanes is None else lanes
        if everyone.size == 0:
            return None
        asked = np.broadcast_to(address, full).ravel().take(everyone) + np.uint64(offset & 0xFFFFFFFFFFFFFFFF)
        tag, low = (asked >> np.uint64(RANK_BIT)).astype(np.int64), asked & _LOW
        mine = everyone // self.threads
        row = np.where(tag == 0, mine, self.members[self.cluster_of[mine], np.clip(tag - 1, 0, self._ranks - 1)])
        self._check_blocks(tag, mine, row, everyone, at)
        rows = self.rows["shared"]
        where = (full, everyone, m)
        bad = (low > np.uint64(max(0, rows.stride - size))) | ((low & np.uint64(size - 1)) != 0)
        if bad.any() or rows.stride < size:
            self._row_fault(self._of(rows, tag, bad), bad, low, size, where, at, write)
        offsets = low.view(np.int64) + row * rows.stride
        if lanes is None:
            offsets = offsets.reshape(full)
        places = Places(rows.bytes, offsets, full, lanes, False, True)
        unwritten = self._bad_shadow(places, size, write)
        if unwritten is not None:
            self._row_fault(self._of(rows, tag, unwritten.ravel()), unwritten.ravel(), low, size, where, at, write)
        return places

    @property
    def _ranks(self) -> int:
        return self.members.shape[1]

    @staticmethod
    def _of(rows: Rows, tag: Array, bad: Array) -> Rows:
        """Rows as a fault names them: those of the block that the first bad access is in."""
        rank = int(tag[int(bad.argmax())]) - 1
        return rows if rank < 0 else replace(rows, space=f"the shared memory of rank {rank},")

    def _check_blocks(self, tag: Array, mine: Array, row: Array, threads: Array, at: int) -> None:
        """Refuse accesses to blocks that are not there: not of the cluster, not known to have started, or ended."""
        foreign = row != mine
        ended = np.zeros((self.blocks, 1), bool) if self.gone is None else self.gone.all(axis=1, keepdims=True)
        alone = foreign & (self.meetings.ravel().take(threads) == 0)
        faults: tuple[tuple[Array, str], ...] = (
            (tag > self._ranks, f"a rank below the {self._ranks} blocks of the cluster"),
            (foreign & ended.ravel()[row], "a block that has not ended"),
            (alone, "a barrier of the cluster before, so that the other block has started"),
        )
        for bad, expected in faults:
            if bad.any():
                k = int(bad.argmax())
                got = f"an access to the shared memory of rank {int(tag[k]) - 1}"
                raise self.site.error(at, int(threads[k]), f"expected {expected}; got {got}")

    # Stores that barriers count

    _sent: tuple[_Sent, ...] = ()

    def store_async(
        self,
        to: tuple[Array, int],
        barrier: tuple[Array, int],
        values: tuple[Array, ...],
        m: Array | None,
        at: int,
    ) -> None:
        """st.async: `to` and `barrier` are addresses and offsets. Values land when a thread looks at their barrier."""
        size = values[0].dtype.itemsize * len(values)
        word = self.places("shared::cluster", *barrier, 8, m, at, False, each=True)
        places = self.places("shared::cluster", *to, size, m, at, True, each=True)
        if word is None or places is None:
            return
        if self.races is not None:
            self._watch(places, size, at, write=True, strong=False)
            self.races.atomic(self, word, 8, at, "release")
        stride = self.rows["shared"].stride
        if (word.offsets.ravel() // stride != places.offsets.ravel() // stride).any():
            raise self.site.error(at, None, "expected a barrier of the block that the values go to, got another's")
        together = np.stack([self._chosen(v, places.lanes) for v in values], axis=1)
        pieces = np.ascontiguousarray(together).view(np.uint8).reshape(-1, size)
        offsets = places.offsets.ravel()
        shadow = places.memory.shadow
        for k in range(size):
            shadow[offsets + k] &= ~np.uint8(DEFINED)
        self._sent = (*self._sent, _Sent(word.offsets.ravel(), offsets, pieces))

    def land(self, barriers: frozenset[int], at: int) -> None:
        super().land(barriers, at)
        left: list[_Sent] = []
        memory = self.rows["shared"].bytes
        asked = np.fromiter(barriers, np.int64)
        for sent in self._sent:
            done = np.isin(sent.barriers, asked)
            for k in range(sent.values.shape[1] if done.any() else 0):
                memory.data[sent.offsets[done] + k] = sent.values[done, k]
                memory.shadow[sent.offsets[done] + k] |= np.uint8(DEFINED)
            places, counts = np.unique(sent.barriers[done], return_counts=True)
            for place, count in zip(places.tolist(), counts.tolist(), strict=True):
                self.count_bytes(place, count * sent.values.shape[1], at)
            if not done.all():
                rest = ~done
                left.append(_Sent(sent.barriers[rest], sent.offsets[rest], sent.values[rest]))
        self._sent = tuple(left)

    # Barriers of the cluster

    def arrive(self, order: str, aligned: bool, m: Array | None, at: int) -> None:
        """barrier.cluster.arrive: threads that have yet to wait for the others do not arrive again."""
        full = (self.blocks, self.threads)
        here = np.ones(full, bool) if m is None else np.broadcast_to(m, full)
        twice = here & (self.arrivals > self.meetings)
        if twice.any():
            raise self.site.error(
                at, int(twice.ravel().argmax()), "expected barrier.cluster.wait between two arrivals, got none"
            )
        if aligned:
            self._refuse_torn(here, at)
        self.arrivals[here] += 1
        if self.races is not None and order == "release":
            self.races.arrive(self, here)

    def _refuse_torn(self, here: Array, at: int) -> None:
        """Refuse an aligned instruction for some of a warp's threads alone."""
        for first in range(0, self.threads, 32):
            warp = here[:, first : first + 32]
            there = np.ones(warp.shape, bool) if self.gone is None else ~self.gone[:, first : first + 32]
            torn = warp.any(axis=1, keepdims=True) & there & ~warp
            if torn.any():
                block, lane = np.unravel_index(int(torn.argmax()), torn.shape)
                thread = int(block) * self.threads + first + int(lane)
                raise self.site.error(
                    at, thread, "expected every thread of the warp to arrive together, got it elsewhere"
                )

    def check_arrived(self, mine: Array, at: int) -> None:
        """Refuse barrier.cluster.wait of threads that have not arrived."""
        never = mine & (self.arrivals == self.meetings)
        if never.any():
            raise self.site.error(
                at, int(never.ravel().argmax()), "expected barrier.cluster.arrive before the wait, got none"
            )

    def met(self, waiting: Array) -> Array:
        """Of threads that wait, those for whom all of the cluster has arrived; ended ones count as arrived."""
        counts = self.arrivals if self.gone is None else np.where(self.gone, _ARRIVED, self.arrivals)
        least = counts.min(axis=1)[self.members].min(axis=1)
        return waiting & (least[self.cluster_of][:, None] > self.meetings)

    def pass_cluster(self, ready: Array) -> None:
        """Threads go on past the barrier of their cluster."""
        self.meetings[ready] += 1
        if self.races is not None:
            clusters = np.unique(self.cluster_of[ready.any(axis=1)])
            self.races.meet(self, [self.members[c] for c in clusters.tolist()])

    def missing_of(self, waiting: Array) -> int:
        """A thread that others of its cluster wait for."""
        block = int(waiting.any(axis=1).argmax())
        need = int(self.meetings[block][waiting[block]].max()) + 1
        late = np.zeros_like(waiting)
        members = self.members[self.cluster_of[block]]
        late[members] = self.arrivals[members] < need
        if self.gone is not None:
            late &= ~self.gone
        return int(late.ravel().argmax())


def check_cluster(kernel: str, target: str, grid: Extent, cluster: Extent, most: int) -> None:
    """Refuse clusters that no launch can have: of more than `most` blocks, of a grid that is not whole ones, of PTX
    before sm_90.
    """
    size = cluster[0] * cluster[1] * cluster[2]
    if any(c < 1 for c in cluster) or size > most:
        raise EmulatorError(f"kernel {kernel}: expected a cluster of 1 to {most} blocks, got {cluster}")
    if any(g % c for g, c in zip(grid, cluster, strict=True)):
        raise EmulatorError(f"kernel {kernel}: expected a grid that clusters {cluster} divide, got {grid}")
    if size > 1 and int("".join(filter(str.isdigit, target)) or 0) < 90:
        raise EmulatorError(f"kernel {kernel}: expected PTX of sm_90 or later for clusters, got {target}")


__all__ = ["RANK_BIT", "ClusteredMemory", "check_cluster", "cluster_place", "rank_of"]
