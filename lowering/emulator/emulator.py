"""The emulator: memory, modules and launches."""

import gc
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lanelink.lowering.emulator.arena import Arena
from lanelink.lowering.emulator.clusters import check_cluster
from lanelink.lowering.emulator.codegen import CompiledEntry, compile_entry
from lanelink.lowering.emulator.executor import Wave
from lanelink.lowering.emulator.faults import Extent, Site
from lanelink.lowering.emulator.launching import (
    MOST_CLUSTER,
    Layout,
    check_extents,
    check_local,
    check_together,
    pack_arguments,
    param_rows,
    special_values,
    start_registers,
)
from lanelink.lowering.emulator.parser import parse_ptx
from lanelink.lowering.emulator.ptx import PtxEntry, PtxModule, Variable
from lanelink.lowering.emulator.races import Races
from lanelink.lowering.emulator.spaces import GLOBAL_BASE

THREADS_AT_ONCE = 8192
"""Threads of a chunk: enough to spread the cost of a numpy call, few enough that their registers stay in cache."""

MOST_LOCAL_AT_ONCE = 1 << 28
"""Bytes of local memory of a chunk: kernels that have much of it run in smaller chunks."""

BLOCK_LIMIT = 20_000_000
"""Basic blocks that one launch may run: far above any kernel that ends, so that one that does not is reported."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry point of a loaded module. `addresses` are those of the module's global and constant variables."""

    info: PtxEntry
    module: PtxModule
    code: CompiledEntry = field(repr=False)
    addresses: dict[str, int] = field(repr=False)

    @property
    def name(self) -> str:
        return self.info.name


@dataclass(frozen=True, slots=True)
class Module:
    """A loaded module: `entries` by name."""

    info: PtxModule
    entries: dict[str, Entry]


class Emulator:
    """A device of one stream: launches run to their end when asked for.

    races: report unordered accesses of different threads to one byte, at least one of them a write.
    block_limit: how many basic blocks one launch may run before it is taken not to end.
    threads_at_once: how many threads run together; blocks are run in chunks of about this many, in linear order.
    """

    def __init__(
        self, *, races: bool = False, block_limit: int = BLOCK_LIMIT, threads_at_once: int = THREADS_AT_ONCE
    ) -> None:
        self._arena = Arena()
        self._races = Races() if races else None
        self._block_limit = block_limit
        self._threads_at_once = threads_at_once

    def alloc(self, nbytes: int, name: str = "") -> int:
        """The address, aligned to 256 bytes, of `nbytes` unwritten bytes. `name` appears in messages."""
        return self._arena.alloc(nbytes, name).address

    def free(self, address: int) -> None:
        """Free an allocation by its address. Raises EmulatorError for any other address."""
        self._arena.free(address)
        if self._races is not None:
            self._races.forget(address - GLOBAL_BASE)

    def write(self, address: int, data: "NDArray[np.generic] | bytes | bytearray | memoryview") -> None:
        """Copy from the host; the bytes must lie inside one live allocation, and count as written from then on."""
        if isinstance(data, np.ndarray):
            flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        else:
            flat = np.frombuffer(data, np.uint8)
        self._arena.write(address, flat)

    def read(self, address: int, nbytes: int) -> bytes:
        """Copy to the host; the bytes must lie inside one live allocation and have been written."""
        return self._arena.read(address, nbytes)

    def load(self, ptx: str, name: str = "ptx") -> Module:
        """Parse and decode a module. Raises PtxError, by line, for anything that is not known."""
        module, codes = _decoded(ptx, name)
        addresses = {v.name: self._variable(v) for v in module.variables.values() if v.space in ("global", "const")}
        entries: dict[str, Entry] = {}
        for info in module.entries.values():
            own = {v.name: self._variable(v) for v in info.body.variables.values() if v.space in ("global", "const")}
            entries[info.name] = Entry(info, module, codes[info.name], {**addresses, **own})
        return Module(module, entries)

    def _variable(self, variable: Variable) -> int:
        allocation = self._arena.alloc(max(1, variable.size), variable.name, constant=variable.space == "const")
        if variable.initial:
            self._arena.write(allocation.address, np.frombuffer(variable.initial, np.uint8))
        return allocation.address

    def launch(
        self,
        entry: Entry,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        arguments: Sequence[bytes],
        *,
        together: bool = False,
        cluster: Extent = (1, 1, 1),
    ) -> None:
        """Run a kernel over a grid of blocks with `shared` bytes of dynamic shared memory; `together`: all its blocks
        at a time, for one whose blocks wait for each other. `cluster`: blocks that reach each other's shared memory.

        Each argument is packed little endian in its parameter's size. Raises EmulatorError at the first fault; memory
        then holds what had been written up to it.
        """
        info = entry.info
        check_extents(info, grid, block, shared)
        check_cluster(info.name, entry.module.target, grid, cluster, MOST_CLUSTER)
        params = pack_arguments(info, arguments)
        self._arena.launch += 1
        threads = block[0] * block[1] * block[2]
        total = grid[0] * grid[1] * grid[2]
        at_once = max(1, min(total, self._threads_at_once // threads))
        local = check_local(info, entry.module)
        if local:
            at_once = max(1, min(at_once, MOST_LOCAL_AT_ONCE // (threads * local)))
        size = cluster[0] * cluster[1] * cluster[2]
        # Blocks of a cluster run together; along x they are neighbours, so that a chunk is whole clusters.
        at_once = max(size, at_once - at_once % size)
        if together or size > cluster[0]:
            check_together(info, total, threads, local)
            at_once = total
        if self._races is not None:
            self._races.begin(info, total, threads)
        steps = self._block_limit
        with np.errstate(all="ignore"):
            for first in range(0, total, at_once):
                blocks = min(at_once, total - first)
                instructions = info.body.instructions
                site = Site(info.name, entry.module.name, instructions, grid, block, first, blocks, threads, cluster)
                steps = self._chunk(entry, site, shared, params, steps)

    def _chunk(self, entry: Entry, site: Site, shared: int, params: bytes, steps: int) -> int:
        info = entry.info
        variables = [*entry.module.variables.values(), *info.body.variables.values()]
        shared_layout = Layout("shared", [v for v in variables if v.space == "shared"], shared)
        local_layout = Layout("local", [v for v in variables if v.space == "local"])
        rows = {
            "shared": shared_layout.rows(site.blocks, (site.blocks, 1)),
            "local": local_layout.rows(site.blocks * site.threads, (site.blocks, site.threads)),
            "param": param_rows(info, params),
        }
        addresses = {**entry.addresses, **shared_layout.addresses, **local_layout.addresses}
        special = special_values(site, shared, info.static_shared)
        registers = start_registers(entry.code.program, special, params, addresses)
        wave = Wave(self._arena, rows, site, self._races)
        wave.prepare_warps()
        if self._races is not None:
            self._races.begin_chunk(wave)
        return wave.run(entry.code, registers, steps)


@lru_cache(maxsize=64)
def _decoded(ptx: str, name: str) -> tuple[PtxModule, dict[str, CompiledEntry]]:
    """A module and its entries' code, which say nothing of any one emulator: kept for the next one that loads the same
    text.
    """
    # Decoding makes many small objects and no cycles to speak of: collecting while it runs would near double its time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        module = parse_ptx(ptx, name)
        return module, {info.name: compile_entry(info, module) for info in module.entries.values()}
    finally:
        if collecting:
            gc.enable()
