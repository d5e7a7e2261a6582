"""Runs a chunk of blocks: every thread in lockstep, the group with the lowest program counter first.

Threads that are at the same basic block form one group, a mask. A branch that its threads disagree on splits the
group; groups that meet join again. As the lowest block always runs next, threads wait for others where their paths
meet (reconvergence), and a group waits at a barrier only once no other can run.
"""

from typing import TypeVar

import numpy as np

from lanelink.lowering.emulator.codegen import CompiledBlock, CompiledEntry
from lanelink.lowering.emulator.errors import EmulatorError
from lanelink.lowering.emulator.flow import numbers_of
from lanelink.lowering.emulator.tensors import Tensors
from lanelink.lowering.emulator.types import Array

Key = TypeVar("Key")

_NONE: frozenset[int] = frozenset()


class Wave(Tensors):
    """The threads of a chunk, and where they are.

    `waiting` holds the groups that can run, by block; `parked` those that wait for other lanes of their warps; `barred`
    those at a barrier of their block, and `meeting` those at one of their cluster, by the block that holds the barrier;
    `polling` those in a loop that waits for another thread's write, which run again once nothing else can. `progress`:
    something else has run since they did.
    """

    code: tuple[CompiledBlock, ...]
    registers: list[Array]
    steps: int

    def run(self, entry: CompiledEntry, registers: list[Array], steps: int) -> int:
        """Run to the end of every thread; `steps` bounds the basic blocks run, and what is left of it is returned."""
        self.code = entry.blocks
        self.registers = registers
        self.waiting: dict[int, Array] = {}
        self.parked: dict[int, Array] = {}
        self.barred: dict[int, Array] = {}
        self.meeting: dict[int, Array] = {}
        self.polling: dict[int, Array] = {}
        self.progress = False
        self.needed: dict[tuple[int, ...], frozenset[int]] = {}
        self.alive: Array | None = None
        self.gone: Array | None = None
        blocks = self.code
        pc: int | None = 0
        m: Array | None = None
        while pc is not None:
            block = blocks[pc]
            steps -= 1
            if steps < 0:
                raise self.site.error(
                    block.ending_at, None, "expected a kernel that ends, got the limit of basic blocks"
                )
            if m is not None and (block.waits or block.waits_register):
                m = self._park(pc, block, m)
                if m is None:
                    pc, m = self._next()
                    continue
            keep = self._keep() if self._others() else _NONE
            value = block.run(registers, self, m, keep)
            pc, m = self._leave(pc, block, value, m)
        return steps

    def _others(self) -> bool:
        """Whether threads are anywhere else than in the group that runs."""
        return bool(self.waiting or self.parked or self.barred or self.meeting or self.polling)

    def _keep(self) -> frozenset[int]:
        """Registers that threads elsewhere still need."""
        key = (*self.waiting, -1, *self.parked, -1, *self.polling, -1, *self.barred, -1, *self.meeting)
        found = self.needed.get(key)
        if found is None:
            blocks = self.code
            needed = 0
            for pc in (*self.waiting, *self.parked, *self.polling, *(pc + 1 for pc in (*self.barred, *self.meeting))):
                needed |= blocks[pc].live_in
            found = self.needed[key] = numbers_of(needed)
        return found

    # Leaving a block

    def _leave(
        self, pc: int, block: CompiledBlock, value: Array | None, m: Array | None
    ) -> tuple[int | None, Array | None]:
        ending = block.ending
        self.progress = self.progress or not block.polls
        if ending == "fall":
            return self._go(pc + 1, m)
        if block.guarded:
            assert value is not None
            taken, left = self._split(value, m)
        else:
            taken, left = True, False
        if block.polls:
            return self._poll(pc, taken, left, m)
        if ending in ("jump", "branch"):
            return self._fork(block.targets[0], taken, pc + 1, left, m)
        if ending == "table":
            assert value is not None
            return self._table(block, value, m)
        # The others act on the threads that take them, and the rest go on.
        if taken is not False:
            mine = m if taken is True else taken
            if ending == "trap":
                raise self.site.error(block.ending_at, self._first(mine), "expected no trap, got one")
            if ending == "exit":
                return self._exit(mine, pc + 1, left, m)
            wait = self._barrier if ending == "barrier" else self._meet
            return wait(pc, mine, left, m)
        return self._go(pc + 1, m)

    def _first(self, m: Array | None) -> int:
        return 0 if m is None else int(m.ravel().argmax())

    def _split(self, p: Array, m: Array | None) -> "tuple[Array | bool, Array | bool]":
        """Who takes a branch and who does not: True for all of the group, False for none, or a mask."""
        if p.size == 1:
            return (True, False) if p.item() else (False, True)
        if m is None:
            count = np.count_nonzero(p)
            if count == p.size:
                return True, False
            if count == 0:
                return False, True
            taken = np.ascontiguousarray(np.broadcast_to(p, (self.blocks, self.threads)))
            return taken, ~taken
        taken = m & p
        if not taken.any():
            return False, True
        left = m & ~p
        if not left.any():
            return True, False
        return taken, left

    def _fork(
        self, target: int, taken: "Array | bool", other: int, left: "Array | bool", m: Array | None
    ) -> tuple[int | None, Array | None]:
        if left is False:
            return self._go(target, m)
        if taken is False:
            return self._go(other, m)
        assert not isinstance(taken, bool) and not isinstance(left, bool)
        self._add(self.waiting, target, taken)
        self._add(self.waiting, other, left)
        return self._next()

    def _table(self, block: CompiledBlock, value: Array, m: Array | None) -> tuple[int | None, Array | None]:
        index = np.broadcast_to(value, (self.blocks, self.threads))
        mine = np.ones(index.shape, bool) if m is None else m
        outside = mine & (index >= len(block.targets))
        if outside.any():
            thread = self._first(outside)
            got = int(index.ravel()[thread])
            raise self.site.error(block.ending_at, thread, f"expected an index below {len(block.targets)}, got {got}")
        for k, target in enumerate(block.targets):
            there = mine & (index == k)
            if there.any():
                self._add(self.waiting, target, there)
        return self._next()

    def _exit(
        self, mine: Array | None, other: int, left: "Array | bool", m: Array | None
    ) -> tuple[int | None, Array | None]:
        everyone = mine is None or (left is False and not self._others())
        if everyone:
            return None, None
        assert mine is not None
        alive = self.alive if self.alive is not None else np.ones((self.blocks, self.threads), bool)
        self.alive = alive & ~mine
        self.gone = ~self.alive
        if left is True or left is False:
            return self._next() if left is False else self._go(other, m)
        return self._go(other, left)

    def _barrier(
        self, pc: int, mine: Array | None, left: "Array | bool", m: Array | None
    ) -> tuple[int | None, Array | None]:
        if mine is None and self.code[pc].barrier[1] is None:
            # Everyone is here.
            if self.races is not None:
                self.races.barrier(self, None)
            return self._go(pc + 1, None)
        self._add(self.barred, pc, np.ones((self.blocks, self.threads), bool) if mine is None else mine)
        if isinstance(left, bool):
            return self._next()
        return self._go(pc + 1, left)

    def _meet(
        self, pc: int, mine: Array | None, left: "Array | bool", m: Array | None
    ) -> tuple[int | None, Array | None]:
        """Threads wait for their cluster, until nothing else can run."""
        here = np.ones((self.blocks, self.threads), bool) if mine is None else mine
        self.check_arrived(here, self.code[pc].ending_at)
        self._add(self.meeting, pc, here)
        if isinstance(left, bool):
            return self._next()
        return self._go(pc + 1, left)

    def _poll(
        self, pc: int, again: "Array | bool", left: "Array | bool", m: Array | None
    ) -> tuple[int | None, Array | None]:
        """Threads whose loop waits for another's write stand aside, until nothing else can run."""
        if again is False:
            self.progress = True
            return self._go(pc + 1, m)
        if isinstance(again, bool):
            again = np.ones((self.blocks, self.threads), bool) if m is None else m
        self._add(self.polling, pc, again)
        if isinstance(left, bool):
            return self._next()
        self.progress = True
        return self._go(pc + 1, left)

    # Choosing who runs

    def _add(self, groups: dict[Key, Array], key: Key, m: Array) -> None:
        there = groups.get(key)
        groups[key] = m if there is None else there | m

    def _go(self, pc: int, m: Array | None) -> tuple[int | None, Array | None]:
        """Go on at a block, unless others are to run first; join those who wait there."""
        if m is None or not (self.waiting or self.parked):
            return pc, m
        self._add(self.waiting, pc, m)
        return self._next()

    def _next(self) -> tuple[int | None, Array | None]:
        """The lowest group that can run; at a standstill barriers are looked at, then loops that wait for others."""
        if not self.waiting and self._others():
            self._release()
        if not self.waiting:
            return None, None
        pc = min(self.waiting)
        m = self.waiting.pop(pc)
        parked = self.parked.pop(pc, None)
        if parked is not None:
            m = m | parked
        if not self._others():
            # Everyone alive is here: no other mask is kept, so that it is the same object from block to block.
            return pc, self.alive
        return pc, m

    def _park(self, pc: int, block: CompiledBlock, m: Array) -> Array | None:
        """Set aside the warps whose members are not all here; the others go on."""
        if self.whole_warps(m) or not self._others():
            return m
        missing: Array | None = None
        members = [np.full((1, 1), mask, np.uint32) for mask in {w[0] for w in block.waits}]
        if block.waits_register is not None:
            members.append(self.registers[block.waits_register[0]])
        for mask in members:
            absent = self.absent(m, mask, self.gone) != 0
            missing = absent if missing is None else missing | absent
        assert missing is not None
        if not missing.any():
            return m
        out = m & self.by_threads(missing)
        self._add(self.parked, pc, out)
        rest = m & ~out
        return rest if rest.any() else None

    # Barriers

    def _release(self) -> None:
        """
        No group can run: let the blocks go whose barrier is complete, or else those look again that wait for others'
        writes. If there is none, or there was none to write since they looked, say who is missing.
        """
        ready = self._complete()
        if ready is None and self._pass_clusters():
            return
        if ready is None:
            if not self.polling or not self.progress:
                raise self._stuck()
            self.waiting, self.polling, self.progress = self.polling, {}, False
            return
        if self.races is not None:
            self.races.barrier(self, ready)
        for pc in list(self.barred):
            out = self.barred[pc] & ready
            if not out.any():
                continue
            rest = self.barred[pc] & ~ready
            if rest.any():
                self.barred[pc] = rest
            else:
                del self.barred[pc]
            self._add(self.waiting, pc + 1, out)

    def _pass_clusters(self) -> bool:
        """Let those go whose cluster has all arrived; whether there are any."""
        ready: Array | None = None
        for pc, m in list(self.meeting.items()):
            out = self.met(m)
            if not out.any():
                continue
            ready = out if ready is None else ready | out
            rest = m & ~out
            if rest.any():
                self.meeting[pc] = rest
            else:
                del self.meeting[pc]
            self._add(self.waiting, pc + 1, out)
        if ready is None:
            return False
        self.pass_cluster(ready)
        return True

    def _complete(self) -> Array | None:
        """Threads, (blocks, threads), whose barrier has all it waits for."""
        ready: Array | None = None
        by_number: dict[tuple[int, int | None], Array] = {}
        for pc, m in self.barred.items():
            self._refuse_torn_warp(pc, m)
            self._add(by_number, self.code[pc].barrier, m)
        for (_, count), m in by_number.items():
            here = m.sum(axis=1, keepdims=True)
            full = here == (self.threads if count is None else count)
            if full.any():
                ready = (m & full) if ready is None else ready | (m & full)
        return ready

    def _refuse_torn_warp(self, pc: int, m: Array) -> None:
        rows = self.by_warps(m)
        some = rows.any(axis=1, keepdims=True)
        torn = some & ~rows & self._there
        for others in (*self.parked.values(), *self.polling.values()):
            # A warp that waits for lanes, or for a write, is reported as that, once nothing else can run.
            torn = torn & ~self.by_warps(others).any(axis=1, keepdims=True)
        if torn.any():
            warp, lane = divmod(int(torn.ravel().argmax()), 32)
            raise self._absent(pc, self._thread_at(warp, lane))

    def _absent(self, pc: int, thread: int) -> EmulatorError:
        at = self.code[pc].ending_at
        return self.site.error(
            at, thread, f"expected every thread of the block at the barrier, got this one {self._whereabouts(thread)}"
        )

    def _whereabouts(self, thread: int) -> str:
        if self.gone is not None and self.gone.ravel()[thread]:
            return "at its end"
        for groups, word in (
            (self.barred, "at a barrier"),
            (self.meeting, "waiting for its cluster"),
            (self.parked, "waiting for lanes"),
            (self.polling, "waiting for a write"),
            (self.waiting, "waiting"),
        ):
            for pc, m in groups.items():
                if m.ravel()[thread]:
                    at = self.code[pc].ending_at
                    line = self.site.instructions[min(at, len(self.site.instructions) - 1)].line
                    return f"{word} near line {line}"
        return "elsewhere"

    def _stuck(self) -> EmulatorError:
        if self.polling:
            pc = min(self.polling)
            thread = self._first(self.polling[pc])
            at, total = self.code[pc].ending_at, self.site.grid[0] * self.site.grid[1] * self.site.grid[2]
            return self.site.error(
                at,
                thread,
                "expected another thread to write what this loop waits for, got none left that can run "
                f"({self.blocks} of {total} blocks run together)",
            )
        if self.parked:
            pc = min(self.parked)
            block = self.code[pc]
            m = self.parked[pc]
            members, at = block.waits[0] if block.waits else (0xFFFFFFFF, block.ending_at)
            mask: Array = np.full((1, 1), members, np.uint32)
            if block.waits_register is not None:
                mask, at = self.registers[block.waits_register[0]], block.waits_register[1]
            absent = self.absent(m, mask, self.gone)
            warp = int((absent != 0).ravel().argmax())
            lane = int(absent.ravel()[warp]).bit_length() - 1
            missing = self._thread_at(warp, max(lane, 0))
            return self.site.error(
                at,
                self._first(m),
                f"expected lane {lane} of the member mask to come, got it {self._whereabouts(missing)}",
            )
        if not self.barred:
            pc = min(self.meeting)
            missing = self.missing_of(self.meeting[pc])
            raise self.site.error(
                self.code[pc].ending_at,
                missing,
                f"expected every thread of the cluster to arrive, got this one {self._whereabouts(missing)}",
            )
        pc = min(self.barred)
        m = self.barred[pc]
        block = int(m.any(axis=1).argmax())
        missing = int((~m[block]).argmax())
        return self._absent(pc, block * self.threads + missing)
