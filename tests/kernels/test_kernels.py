"""Every kernel, as committed, on the PTX emulator against its numpy meaning; each case twice, from the same memory."""

from __future__ import annotations

import struct
from functools import cache

import numpy as np
import pytest

from lanelink.kernels.build import ptx_path
from lanelink.lowering.cases.case import Bytes, Case
from lanelink.lowering.cases.lists import small
from lanelink.lowering.emulator import Emulator, Entry, Module
from lanelink.lowering.selection.calls import F32, I32, Address, Argument, KernelCall, ScratchKind
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.select import select

# Few multiprocessors, so that blocks take several tiles each and grids stay small.
CHIP = Chip("small", (9, 0), 2, 100)
CASES = list(small())
NEWEST = "compute_90"


@cache
def emulator() -> Emulator:
    return Emulator()


@cache
def module(stem: str, architecture: str) -> Module:
    path = ptx_path(stem, architecture)
    return emulator().load(path.read_text(), path.name)


def entry(call: KernelCall, architecture: str) -> Entry:
    return module(call.module, architecture).entries[call.entry]


class Memory:
    """A case's buffers and scratch on the emulator."""

    def __init__(self, case: Case, call: KernelCall) -> None:
        self.sizes = {n: c if isinstance(c, int) else c.size for n, c in case.buffers.items()}
        self.addresses: dict[object, int] = {}
        for name, content in case.buffers.items():
            self.addresses[name] = emulator().alloc(self.sizes[name], name)
            if not isinstance(content, int):
                emulator().write(self.addresses[name], content)
        for scratch in call.scratch:
            self.addresses[scratch.kind] = emulator().alloc(scratch.bytes, scratch.kind.value)
            if scratch.kind is ScratchKind.COUNTERS:
                emulator().write(self.addresses[scratch.kind], bytes(scratch.bytes))

    def read(self, name: str) -> Bytes:
        return np.frombuffer(emulator().read(self.addresses[name], self.sizes[name]), np.uint8)

    def packed(self, argument: Argument) -> bytes:
        match argument:
            case Address():
                return struct.pack("<Q", self.addresses[argument.ref] + argument.offset)
            case I32():
                return struct.pack("<i", argument.value)
            case F32():
                return struct.pack("<f", argument.value)
            case _:
                return struct.pack("<Q", 0)

    def free(self) -> None:
        for address in self.addresses.values():
            emulator().free(address)


def run(case: Case, chip: Chip = CHIP, architecture: str = NEWEST) -> dict[str, float]:
    """The worst error over tolerance of each result."""
    call = select(case.spec, chip)
    memory = Memory(case, call)
    try:
        arguments = [memory.packed(a) for a in call.arguments]
        emulator().launch(entry(call, architecture), call.grid, call.block, call.shared, arguments)
        counters = call.scratch_bytes(ScratchKind.COUNTERS)
        if counters:
            assert not any(emulator().read(memory.addresses[ScratchKind.COUNTERS], counters))
        return case.worst(memory.read)
    finally:
        memory.free()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_kernel(case: Case) -> None:
    worst = run(case)
    assert all(w <= 1 for w in worst.values()), worst
