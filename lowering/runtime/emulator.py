"""The emulator backend: the plan's own PTX, run on the CPU with every access checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lanelink.lowering.emulator import Emulator, EmulatorError, Entry
from lanelink.lowering.parameters import pack_each
from lanelink.lowering.runtime.backend import (
    BackendError,
    Ids,
    Logits,
    Positions,
    check_sequence,
    check_step,
    decode_by_steps,
)
from lanelink.lowering.runtime.loader import Loader
from lanelink.lowering.runtime.plan import Memory, Place, Plan, PlanLaunch
from lanelink.lowering.runtime.ptx import plan_ptx
from lanelink.lowering.selection.calls import Address


class EmulatorBackend:
    """A plan on an emulated device; `Backend` says the rest.

    races: also report accesses of different threads that nothing orders. Raises BackendError for what a kernel does
    wrong, and what `plan_ptx` and `loader` raise.
    """

    name = "emulator"

    def __init__(self, plan: Plan, loader: Loader, *, races: bool = False) -> None:
        self.plan = plan
        self.shape = plan.shape
        self.launches_per_step = len(plan.launches)
        self._emulator = Emulator(races=races)
        entries = _entries(self._emulator, plan)
        self._buffers = [self._emulator.alloc(b.bytes, b.name) for b in plan.buffers]
        for buffer, address in zip(plan.buffers, self._buffers, strict=True):
            if buffer.constant is not None:
                self._emulator.write(address, loader(buffer.constant).data)
        self._launches = [
            (launch, entries[launch.module, launch.entry], self._pack(launch)) for launch in plan.launches
        ]
        self._positions = Positions(self.shape)
        self.reset()

    @property
    def positions(self) -> tuple[int, ...]:
        """As in `Backend`."""
        return tuple(self._positions.at)

    def reset(self, sequence: int | None = None) -> None:
        """As in `Backend`."""
        if sequence is None:
            self._ran = False
        else:
            check_sequence(self.shape, sequence, self.plan.states)
        for place in self.plan.zeroed(sequence):
            self._emulator.write(self._address(place), bytes(place.bytes))
        self._positions.reset(sequence)

    def step(self, token: int | Sequence[int] | None = None) -> None:
        """As in `Backend`."""
        carried = self._ran and self.plan.carries_token
        ids = check_step(self.shape, token, self._positions.at, carried=carried)
        if ids is not None:
            self._emulator.write(self._address(self.plan.token), ids)
        for launch, entry, arguments in self._launches:
            try:
                sizes = (launch.grid, launch.block, launch.shared)
                cluster = (launch.cluster, 1, 1)
                self._emulator.launch(entry, *sizes, arguments, together=launch.together, cluster=cluster)
            except EmulatorError as error:
                raise BackendError(f"emulator: launch {launch.label} of ops {list(launch.covers)}: {error}") from error
        self._positions.advance()
        self._ran = True

    def decode(self, count: int) -> Iterator[Ids]:
        """As in `Backend`."""
        return decode_by_steps(self, count)

    def chosen(self) -> Ids:
        """As in `Backend`."""
        if not self._ran or self.plan.chosen is None:
            raise BackendError("chosen: expected a step that chooses ids to have run, got none")
        return np.frombuffer(self._read(self.plan.chosen), np.int32)

    def logits(self) -> Logits:
        """As in `Backend`."""
        if not self._ran or self.plan.logits is None:
            raise BackendError("logits: expected a step that returns logits to have run, got none")
        return np.frombuffer(self._read(self.plan.logits), np.float32).reshape(self.shape.rows, -1)

    def device_positions(self) -> tuple[int, ...] | None:
        """The position of each sequence as the device holds it, None where the step has none."""
        if self.plan.position is None:
            return None
        return tuple(np.frombuffer(self._read(self.plan.position), np.int32).tolist())

    def read_buffer(self, memory: Memory, name: str) -> bytes:
        """The bytes of one of the plan's buffers, by what it is for and its name."""
        for k, buffer in enumerate(self.plan.buffers):
            if buffer.memory is memory and buffer.name == name:
                return self._read(Place(k, 0, buffer.bytes))
        raise BackendError(f"buffer: expected one of the plan, got {memory.value} '{name}'")

    def _read(self, place: Place) -> bytes:
        return self._emulator.read(self._address(place), place.bytes)

    def _address(self, place: Place) -> int:
        return self._buffers[place.buffer] + place.offset

    def _pack(self, launch: PlanLaunch) -> list[bytes]:
        def resolved(address: Address) -> int:
            assert isinstance(address.ref, int)
            return self._buffers[address.ref] + address.offset

        return pack_each(launch.arguments, resolved)


def _entries(emulator: Emulator, plan: Plan) -> dict[tuple[str, str], Entry]:
    """The entries that the plan launches, from the committed PTX."""
    entries: dict[tuple[str, str], Entry] = {}
    for stem, ptx in plan_ptx(plan).items():
        for name, entry in emulator.load(ptx.text, ptx.name).entries.items():
            entries[stem, name] = entry
    return entries


__all__ = ["EmulatorBackend"]
