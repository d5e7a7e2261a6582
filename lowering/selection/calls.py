"""A kernel call as plain data: what selection answers, and what a runtime packs and launches."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum


class SelectionError(ValueError):
    """A launch that no kernel runs: names the field, what was expected and what was found."""

    def __init__(self, where: str, expected: object, got: object) -> None:
        super().__init__(f"{where}: expected {expected}, got {got}")
        self.where = where
        self.expected = expected
        self.got = got


class ScratchKind(Enum):
    """The two kinds of memory a kernel needs beside its operands.

    COUNTERS are u32 words, zero before the first launch; every kernel leaves them zero. PARTIALS are uninitialised.
    Both are read and written only between a kernel's own wait for its predecessor and its end, so that all launches
    of one stream may share them.
    """

    COUNTERS = "counters"
    PARTIALS = "partials"


@dataclass(frozen=True)
class Scratch:
    """`bytes` of scratch memory, 256-byte aligned."""

    kind: ScratchKind
    bytes: int


@dataclass(frozen=True)
class Address:
    """A device address: `offset` bytes into the buffer that `ref` names (a ScratchKind for the call's scratch)."""

    ref: Hashable
    offset: int = 0

    def at(self, offset: int) -> Address:
        """The address `offset` bytes further on."""
        return Address(self.ref, self.offset + offset)


@dataclass(frozen=True)
class I32:
    """A signed 32-bit argument. Raises SelectionError for a number of more bits."""

    value: int

    def __post_init__(self) -> None:
        if not -(2**31) <= self.value < 2**31:
            raise SelectionError("kernel argument", "a whole number of 32 bits", self.value)


@dataclass(frozen=True)
class F32:
    """A 32-bit float argument."""

    value: float


@dataclass(frozen=True)
class Null:
    """A null address: an operand that this call has not."""


Argument = Address | I32 | F32 | Null


@dataclass(frozen=True)
class KernelCall:
    """One launch.

    module      stem of the PTX file, without the architecture: `kernels/ptx/MODULE.ARCHITECTURE.ptx`
    entry       the entry's name in it
    grid, block blocks of the grid and threads of the block, (x, y, z)
    shared      bytes of dynamic shared memory; where these and the entry's static ones pass 48 KiB, the function's
                limit must be raised first
    arguments   one per `.param` of the entry, in its order
    dependent   the compute_90 build waits for its predecessor itself (programmatic dependent launch is allowed)
    scratch     what its ScratchKind addresses need
    together    its blocks wait for each other: all of them must be resident
    cluster     neighbouring blocks, along x, that reach each other's shared memory (compute_90); 1: none do
    carveout    percent of a multiprocessor's first-level cache that it prefers as shared memory, in a step where all
                have one that take dynamic shared memory; None: what the driver sees fit for the launch alone
    """

    module: str
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    arguments: tuple[Argument, ...]
    dependent: bool = True
    scratch: tuple[Scratch, ...] = ()
    together: bool = False
    cluster: int = 1
    carveout: int | None = None

    def scratch_bytes(self, kind: ScratchKind) -> int:
        """Bytes of scratch of one kind; 0 where it needs none."""
        return sum(s.bytes for s in self.scratch if s.kind is kind)


ALL_SHARED = 100
"""The carveout of launches that neighbours run beside: where two launches' shares differ, the later one waits until all
blocks of the other have left a multiprocessor."""


def optional(address: Address | None) -> Argument:
    """The address, or a null one."""
    return Null() if address is None else address


__all__ = [
    "ALL_SHARED",
    "F32",
    "I32",
    "Address",
    "Argument",
    "KernelCall",
    "Null",
    "Scratch",
    "ScratchKind",
    "SelectionError",
    "optional",
]
