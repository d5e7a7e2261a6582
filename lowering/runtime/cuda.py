"""The CUDA backend: a plan on a GPU, one step captured into one graph and replayed."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from lanelink.dialects.driver import PlanesAttr
from lanelink.lowering.parameters import pack_block
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.runtime.backend import BackendError, Ids, Logits, Positions, check_sequence, check_step
from lanelink.lowering.runtime.cuda_api import CudaApi, CudaError, GpuMissing, Handle, LaunchShape, gpu_missing
from lanelink.lowering.runtime.cuda_checks import (
    DEFAULT_SHARED,
    USUAL_CLUSTER,
    DeviceFacts,
    NotRunnable,
    check_cluster,
    check_cluster_device,
    check_launch,
    check_memory,
    check_together,
)
from lanelink.lowering.runtime.loader import Loaded, Loader
from lanelink.lowering.runtime.modules import EntryLoads
from lanelink.lowering.runtime.phases import Phases
from lanelink.lowering.runtime.plan import Memory, Place, Plan, PlanBuffer, PlanLaunch
from lanelink.lowering.runtime.repacker import Repacker, staged
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.signatures import committed_ptx
from lanelink.passes.arena import aligned

AHEAD = 4
"""Steps that `decode` puts on the stream before it waits for the first: enough that the device never waits for the
host, few enough that an id comes soon after it is known."""


class CudaBackend:
    """A plan on a GPU; `Backend` says the rest. Use it in `with`, or `close` it, to give the device's memory back.

    A step is one graph launch, and a step that carries its token needs nothing from the host. Methods may be called
    from any thread, one at a time. Raises GpuMissing where there is none, NotRunnable where driver or device lack what
    the plan needs, CudaError where a driver call fails, and what `loader` raises.
    """

    name = "cuda"

    def __init__(
        self, plan: Plan, loader: Loader, *, device: int = 0, bindings: Any = None, phases: Phases | None = None
    ) -> None:
        self.plan = plan
        self._phases = phases or Phases()
        self.shape = plan.shape
        self.launches_per_step = len(plan.launches)
        with self._phases.phase("context"):
            self._api = CudaApi(device, bindings)
        self._owned = ExitStack()
        self._owned.callback(self._api.release)
        self._closed = False
        try:
            with self._api.current():
                self._open(loader)
        except BaseException:
            self.close()
            raise
        self._positions = Positions(self.shape)
        self._ran = False

    def _open(self, loader: Loader) -> None:
        api, phase = self._api, self._phases.phase
        self.facts: DeviceFacts = api.facts()
        offsets, total = _laid_out(self.plan)
        check_memory(self.plan, _needed(self.plan), self.facts)
        with phase("memory"):
            base = api.alloc(total)
        self._own(api.free, base)
        # The driver compiles while weights are on their way; it gives no memory meanwhile.
        loads = EntryLoads(api, self.plan, self.facts)
        self._own(EntryLoads.close, loads)
        self._buffers = [base + offset for offset in offsets]
        with phase("weights"):
            self._load_constants(loader)
        with phase("compiling that weights did not hide"):
            self._functions = loads.functions()
        self._check_launches()
        self._stream: Handle = api.stream()
        self._own(api.close_stream, self._stream)
        self._events: list[Handle] = []
        for _ in range(AHEAD):
            event = api.event()
            self._own(api.close_event, event)
            self._events.append(event)
        size = 4 * self.shape.rows
        pinned = api.alloc_host(AHEAD * size)
        self._own(api.free_host, pinned)
        self._slots = [pinned + k * size for k in range(AHEAD)]
        self._zero()
        with phase("capture"):
            self._graph: Handle = self.capture(self.plan.launches)
        api.synchronize(self._stream)
        self._own(self._settle, self._stream)

    def _own(self, free: Any, held: Any) -> None:
        """Has `close` free what is held, last taken first."""

        def release() -> None:
            with self._api.current():
                free(held)

        self._owned.callback(release)

    def _check_launches(self) -> None:
        """Checks every launch against its entry's and the device's limits, and opts into the shared memory it takes."""
        api, functions = self._api, self._functions
        limits = {key: api.function_facts(function) for key, function in functions.items()}
        shared = dict.fromkeys(functions, 0)
        for launch in self.plan.launches:
            key = (launch.module, launch.entry)
            check_launch(launch, self.facts, *limits[key])
            check_cluster_device(launch, self.facts)
            shared[key] = max(shared[key], launch.shared)
        for key, most in shared.items():
            if most + limits[key][0] > DEFAULT_SHARED:
                api.allow_shared(functions[key], most)
        for launch in self.plan.launches:
            function = functions[launch.module, launch.entry]
            if launch.carveout is not None:
                api.prefer_shared(function, launch.carveout)
            if launch.cluster > USUAL_CLUSTER:
                api.allow_wide_clusters(function)
            if launch.cluster > 1:
                check_cluster(launch, self.facts, api.resident_clusters(function, _shape(launch)))
            if launch.together:
                check_together(launch, self.facts, api.resident(function, launch.block, launch.shared))

    def _load_constants(self, loader: Loader) -> None:
        """Brings every constant to its place; a checkpoint's rows are laid out on the device."""
        seen: dict[Hashable, int] = {}
        with Repacker(self._api, self.facts, _longest_row(self.plan)) as repacker:
            for buffer, address in zip(self.plan.buffers, self._buffers, strict=True):
                if buffer.constant is None:
                    continue
                loaded = loader(buffer.constant)
                _check_found(buffer, loaded)
                source = None if loaded.same is None else seen.get(loaded.same)
                if source is not None:
                    repacker.copy(address, source, buffer.bytes)
                elif loaded.planes is None:
                    repacker.plain(address, loaded.found)
                else:
                    repacker.rows(address, loaded.planes, loaded.found)
                seen.setdefault(loaded.same, address)

    # Backend

    @property
    def positions(self) -> tuple[int, ...]:
        """As in `Backend`."""
        return tuple(self._positions.at)

    def reset(self, sequence: int | None = None) -> None:
        """As in `Backend`."""
        self._check_open()
        if sequence is None:
            self._ran = False
        else:
            check_sequence(self.shape, sequence, self.plan.states)
        with self._api.current():
            self._zero(sequence)
        self._positions.reset(sequence)

    def step(self, token: int | Sequence[int] | None = None) -> None:
        """As in `Backend`."""
        self._check_open()
        ids = check_step(self.shape, token, self._positions.at, carried=self._ran and self.plan.carries_token)
        with self._api.current():
            if ids is not None:
                self._api.upload_async(self._address(self.plan.token), ids.ctypes.data, ids.nbytes, self._stream)
            self._api.replay(self._graph, self._stream)
        self._positions.advance()
        self._ran = True

    def decode(self, count: int) -> Iterator[Ids]:
        """As in `Backend`; up to `AHEAD` steps ahead of the ids given, which `positions` counts too."""
        context = self.shape.context
        fit = count if context is None else max(0, min(count, context - max(self._positions.at)))
        waiting: deque[int] = deque()
        for k in range(fit):
            self._step_into(k % AHEAD)
            waiting.append(k % AHEAD)
            if len(waiting) == AHEAD:
                yield self._wait_for(waiting.popleft())
        while waiting:
            yield self._wait_for(waiting.popleft())
        if fit < count:
            self.step()  # says what does not fit

    def run_ahead(self, count: int) -> None:
        """Puts `count` steps on the stream, each of the id the one before chose, and waits for the last.

        What `decode` does without reading the ids: the device's own speed. BackendError where they do not fit.
        """
        for _ in range(count):
            self.step()
        with self._api.current():
            self._api.synchronize(self._stream)

    def chosen(self) -> Ids:
        """As in `Backend`."""
        if not self._ran or self.plan.chosen is None:
            raise BackendError("chosen: expected a step that chooses ids to have run, got none")
        return self.read(self.plan.chosen).view(np.int32)

    def logits(self) -> Logits:
        """As in `Backend`."""
        if not self._ran or self.plan.logits is None:
            raise BackendError("logits: expected a step that returns logits to have run, got none")
        return self.read(self.plan.logits).view(np.float32).reshape(self.shape.rows, -1)

    # The device

    def read(self, place: Place) -> npt.NDArray[np.uint8]:
        """A copy of what lies at a place of the plan once all steps so far have run."""
        self._check_open()
        data = np.empty(place.bytes, np.uint8)
        with self._api.current():
            self._api.download_async(data.ctypes.data, self._address(place), place.bytes, self._stream)
            self._api.synchronize(self._stream)
        return data

    def write(self, place: Place, data: npt.NDArray[Any]) -> None:
        """Writes at a place of the plan, after all steps so far."""
        self._check_open()
        if data.nbytes != place.bytes:
            raise BackendError(f"write: expected {place.bytes} bytes, got {data.nbytes}")
        held = np.ascontiguousarray(data)
        with self._api.current():
            self._api.upload_async(self._address(place), held.ctypes.data, held.nbytes, self._stream)
            self._api.synchronize(self._stream)

    def capture(self, launches: Sequence[PlanLaunch]) -> Handle:
        """A graph of launches of the plan in this order, which lives as long as the backend does."""
        api = self._api
        ordered = self.facts.orders_programmatically
        with api.current():
            with api.capture(self._stream) as graphs:
                for k, launch in enumerate(launches):
                    self._launch(launch, dependent=ordered and launch.dependent and k > 0)
            graph = api.instantiate(graphs[0])
        self._own(api.close_graph, graph)
        return graph

    def seconds(self, graph: Handle, replays: int) -> float:
        """Device time of `replays` replays of a graph made by `capture`, one after another."""
        self._check_open()
        begun, ended = self._events[:2]
        with self._api.current():
            self._api.replay(graph, self._stream)
            self._api.record(begun, self._stream)
            for _ in range(replays):
                self._api.replay(graph, self._stream)
            self._api.record(ended, self._stream)
            self._api.wait(ended)
            return self._api.milliseconds(begun, ended) / 1000

    def close(self) -> None:
        """Frees everything; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self._owned.close()

    def _settle(self, stream: Handle) -> None:
        """Waits for what still runs, so that nothing is freed under it; a fault there was already reported, or nobody
        asked for its results."""
        with suppress(CudaError):
            self._api.synchronize(stream)

    def __enter__(self) -> CudaBackend:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _launch(self, launch: PlanLaunch, *, dependent: bool) -> None:
        parameters = committed_ptx(launch.module, self.plan.modules[launch.module]).parameters(launch.entry)
        block = np.frombuffer(pack_block(launch.arguments, parameters, self._resolve), np.uint8)
        pointers = np.array([block.ctypes.data + p.offset for p in parameters], np.uint64)
        # The driver reads the parameters during the call, so both arrays may go after it.
        self._api.launch(
            self._functions[launch.module, launch.entry],
            _shape(launch),
            pointers.ctypes.data,
            self._stream,
            dependent=dependent,
            label=launch.name,
        )

    def _step_into(self, slot: int) -> None:
        """A step whose ids are copied to a pinned slot once it has run."""
        self.step()
        place = self.plan.chosen
        assert place is not None
        with self._api.current():
            self._api.download_async(self._slots[slot], self._address(place), place.bytes, self._stream)
            self._api.record(self._events[slot], self._stream)

    def _wait_for(self, slot: int) -> Ids:
        with self._api.current():
            self._api.wait(self._events[slot])
        held = (ctypes.c_int32 * self.shape.rows).from_address(self._slots[slot])
        return np.array(held, np.int32)

    def _zero(self, sequence: int | None = None) -> None:
        for place in self.plan.zeroed(sequence):
            self._api.zero_async(self._address(place), place.bytes, self._stream)

    def _address(self, place: Place) -> int:
        return self._buffers[place.buffer] + place.offset

    def _resolve(self, address: Address) -> int:
        assert isinstance(address.ref, int)
        return self._buffers[address.ref] + address.offset

    def _check_open(self) -> None:
        if self._closed:
            raise BackendError("cuda: expected an open backend, got a closed one")


def check_room(plan: Plan, *, device: int = 0, bindings: Any = None) -> DeviceFacts:
    """Checks that a device has the memory a plan takes, and says what the device is; nothing is allocated there.

    Raises GpuMissing where there is none, NotRunnable where too little of its memory is free.
    """
    api = CudaApi(device, bindings)
    try:
        with api.current():
            facts = api.facts()
        check_memory(plan, _needed(plan), facts)
        return facts
    finally:
        api.release()


def _needed(plan: Plan) -> int:
    """Bytes of device memory that a plan takes while it is loaded."""
    loaded = plan.bytes_of(Memory.CONSTANT)
    return _laid_out(plan)[1] + (min(loaded, staged(_longest_row(plan))) if loaded else 0)


def _longest_row(plan: Plan) -> int:
    """Bytes of the longest stored row of the plan's constants; 0 where none has rows."""
    layouts = [b.constant.layout for b in plan.buffers if b.constant is not None]
    rows = (layout.format.data.row_bytes(layout.shape[1]) for layout in layouts if isinstance(layout, PlanesAttr))
    return max(rows, default=0)


def _check_found(buffer: PlanBuffer, loaded: Loaded) -> None:
    """Checks that what a loader found fills a constant's buffer."""
    planes, expected, what = loaded.planes, buffer.bytes, "bytes in its layout"
    if planes is not None:
        rows, cols = planes.shape
        held = plane_layout(planes.format.data, rows, cols).total_bytes
        if held != buffer.bytes:
            raise BackendError(f"constant '{buffer.name}': expected planes of {buffer.bytes} bytes, got {held}")
        expected, what = rows * planes.format.data.row_bytes(cols), f"bytes of {planes}'s rows"
    if loaded.found.size != expected:
        raise BackendError(f"constant '{buffer.name}': expected {expected} {what}, got {loaded.found.size}")


def _shape(launch: PlanLaunch) -> LaunchShape:
    return LaunchShape(launch.grid, launch.block, launch.shared, launch.cluster)


def _laid_out(plan: Plan) -> tuple[list[int], int]:
    """Each buffer's offset in one allocation, and its bytes."""
    offsets: list[int] = []
    total = 0
    for buffer in plan.buffers:
        offsets.append(total)
        total += aligned(buffer.bytes)
    return offsets, total


__all__ = ["CudaBackend", "CudaError", "GpuMissing", "NotRunnable", "check_room", "gpu_missing"]
