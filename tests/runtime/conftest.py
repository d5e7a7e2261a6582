"""A stand-in for `cuda.bindings.driver` that keeps its memory in the emulator and runs launches there."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from xdsl.context import Context

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.emulator import Emulator, Entry
from lanelink.lowering.launch_to_driver import LowerToDriverPass
from lanelink.lowering.runtime.loader import Loader, SourceLoader
from lanelink.lowering.runtime.plan import Plan, read_plan
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parent.parent / "models"


class Status(IntEnum):
    """The driver's statuses that tests meet."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_NO_DEVICE = 100


class _Names:
    """An enum of the driver whose members are their own names."""

    def __getattr__(self, name: str) -> str:
        return name


@dataclass
class FakeCuda:
    """The driver calls of the runtime. `attributes` and `driver` are what the device says, `failing` what each named
    call answers instead of success. Calls that need a context refuse where none is current in the thread."""

    driver: int = 13000
    devices: int = 1
    free: int = 1 << 30
    attributes: dict[str, int] = field(
        default_factory=lambda: {
            "COMPUTE_CAPABILITY_MAJOR": 9,
            "COMPUTE_CAPABILITY_MINOR": 0,
            "MAX_GRID_DIM_X": 2**31 - 1,
            "MAX_GRID_DIM_Y": 65535,
            "MAX_GRID_DIM_Z": 65535,
            "MAX_BLOCK_DIM_X": 1024,
            "MAX_BLOCK_DIM_Y": 1024,
            "MAX_BLOCK_DIM_Z": 64,
            "MAX_THREADS_PER_BLOCK": 1024,
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
        }
    )
    failing: dict[str, Status] = field(default_factory=dict[str, Status])

    CUdevice_attribute = _Names()
    CUfunction_attribute = _Names()
    CUlaunchAttributeID = _Names()
    CUstreamCaptureMode = _Names()

    def __post_init__(self) -> None:
        self.emulator = Emulator()
        self.allocations: set[int] = set()
        self.held = 0
        self.log: list[str] = []
        self.shared_allowed: dict[str, int] = {}
        self.wide_clusters: set[str] = set()
        self.carveouts: dict[str, int] = {}
        self.clusters_held = 8
        self.modules: list[Any] = []
        self.launches: list[tuple[str, bool]] = []
        self._pinned: dict[int, Any] = {}
        self._capturing: list[Callable[[], None]] | None = None
        self._thread = threading.local()
        self._one = threading.Lock()

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if not name.startswith("cu"):
            return found

        def call(*arguments: Any) -> tuple[Any, ...]:
            self.log.append(name)
            if name in self.failing:
                return (self.failing[name], None)
            free_standing = ("cuInit", "cuDevice", "cuCtxPush", "cuDriver")
            if not name.startswith(free_standing) and not getattr(self._thread, "depth", 0):
                return (Status.CUDA_ERROR_INVALID_CONTEXT, None)
            with self._one:  # the emulator knows one thread, and modules come from several
                given = found(*arguments)
            return (Status.CUDA_SUCCESS, *(given if isinstance(given, tuple) else () if given is None else (given,)))

        return call

    # Device and context

    def cuInit(self, flags: int) -> None:
        assert flags == 0

    def cuDeviceGetCount(self) -> int:
        return self.devices

    def cuDeviceGet(self, number: int) -> int:
        return number

    def cuDevicePrimaryCtxRetain(self, device: int) -> str:
        self.held += 1
        return "context"

    def cuDevicePrimaryCtxRelease(self, device: int) -> None:
        self.held -= 1

    def cuCtxPushCurrent(self, context: str) -> None:
        self._thread.depth = getattr(self._thread, "depth", 0) + 1

    def cuCtxPopCurrent(self) -> str:
        self._thread.depth -= 1
        return "context"

    def cuDeviceGetName(self, length: int, device: int) -> bytes:
        return b"Fake GPU\0\0"

    def cuMemGetInfo(self) -> tuple[int, int]:
        return self.free, 1 << 31

    def cuDriverGetVersion(self) -> int:
        return self.driver

    def cuDeviceGetAttribute(self, kind: str, device: int) -> int:
        return self.attributes[kind.removeprefix("CU_DEVICE_ATTRIBUTE_")]

    # Modules

    def cuModuleLoadData(self, image: bytes) -> Any:
        assert image.endswith(b"\0")
        self.modules.append(self.emulator.load(image[:-1].decode()))
        return self.modules[-1]

    def cuModuleUnload(self, module: Any) -> None:
        self.modules.remove(module)

    def cuModuleGetFunction(self, module: Any, name: bytes) -> Entry:
        return module.entries[name.decode()]

    def cuFuncGetAttribute(self, kind: str, function: Entry) -> int:
        return function.info.static_shared if kind.endswith("SHARED_SIZE_BYTES") else 1024

    def cuFuncSetAttribute(self, function: Entry, kind: str, value: int) -> None:
        if kind == "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED":
            self.wide_clusters.add(function.name)
            return
        if kind == "CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT":
            self.carveouts[function.name] = value
            return
        assert kind == "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
        self.shared_allowed[function.name] = value

    # Memory

    def cuMemAlloc(self, size: int) -> int:
        address = self.emulator.alloc(size)
        self.allocations.add(address)
        return address

    def cuMemFree(self, address: int) -> None:
        self.allocations.remove(address)
        self.emulator.free(address)

    def cuMemHostAlloc(self, size: int, flags: int) -> int:
        buffer = ctypes.create_string_buffer(size)
        address = ctypes.addressof(buffer)
        self._pinned[address] = buffer
        return address

    def cuMemFreeHost(self, address: int) -> None:
        del self._pinned[address]

    def cuMemcpyHtoD(self, device: int, host: int, size: int) -> None:
        self.emulator.write(device, ctypes.string_at(host, size))

    def cuMemcpyHtoDAsync(self, device: int, host: int, size: int, stream: str) -> None:
        self.emulator.write(device, ctypes.string_at(host, size))

    def cuMemcpyDtoHAsync(self, host: int, device: int, size: int, stream: str) -> None:
        ctypes.memmove(host, self.emulator.read(device, size), size)

    def cuMemcpyDtoDAsync(self, target: int, source: int, size: int, stream: str) -> None:
        self.emulator.write(target, self.emulator.read(source, size))

    def cuMemsetD8Async(self, address: int, value: int, size: int, stream: str) -> None:
        self.emulator.write(address, bytes([value]) * size)

    # Streams, events, graphs

    def cuStreamCreate(self, flags: int) -> str:
        return "stream"

    def cuStreamDestroy(self, stream: str) -> None: ...

    def cuStreamSynchronize(self, stream: str) -> None: ...

    def cuEventCreate(self, flags: int) -> object:
        return object()

    def cuEventDestroy(self, event: object) -> None: ...

    def cuEventRecord(self, event: object, stream: str) -> None: ...

    def cuEventSynchronize(self, event: object) -> None: ...

    def cuEventElapsedTime(self, begun: object, ended: object) -> float:
        return 2.0

    def cuStreamBeginCapture(self, stream: str, mode: str) -> None:
        self._capturing = []

    def cuStreamEndCapture(self, stream: str) -> Any:
        graph, self._capturing = self._capturing, None
        return SimpleNamespace(nodes=graph)

    def cuGraphInstantiate(self, graph: Any, flags: int) -> Any:
        return graph

    def cuGraphDestroy(self, graph: Any) -> None: ...

    def cuGraphExecDestroy(self, graph: Any) -> None: ...

    def cuGraphLaunch(self, graph: Any, stream: str) -> None:
        for node in graph.nodes:
            node()

    # Launches

    def CUlaunchConfig(self) -> Any:
        return SimpleNamespace(attrs=[], numAttrs=0)

    def CUlaunchAttribute(self) -> Any:
        return SimpleNamespace(value=SimpleNamespace(clusterDim=SimpleNamespace(x=1, y=1, z=1)))

    def cuOccupancyMaxActiveClusters(self, function: Entry, config: Any) -> int:
        assert self._cluster(config)[0] > 1
        return self.clusters_held

    @staticmethod
    def _cluster(config: Any) -> tuple[int, int, int]:
        for attribute in config.attrs[: config.numAttrs]:
            if attribute.id == "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION":
                return attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z
        return 1, 1, 1

    def cuLaunchKernelEx(self, config: Any, function: Entry, parameters: int, extra: int) -> None:
        assert extra == 0
        params = function.info.params
        pointers = (ctypes.c_uint64 * len(params)).from_address(parameters)
        # The driver copies the parameters during the call; so does this.
        packed = [ctypes.string_at(pointer, p.size) for pointer, p in zip(pointers, params, strict=True)]
        order = "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"
        self.launches.append((function.name, any(a.id == order for a in config.attrs)))
        cluster = self._cluster(config)
        assert cluster[0] <= 8 or function.name in self.wide_clusters
        grid = (config.gridDimX, config.gridDimY, config.gridDimZ)
        block = (config.blockDimX, config.blockDimY, config.blockDimZ)
        shared = config.sharedMemBytes
        assert shared + function.info.static_shared <= max(48 * 1024, self.shared_allowed.get(function.name, 0) + 1024)

        def run() -> None:
            self.emulator.launch(function, grid, block, shared, packed, cluster=cluster)

        if self._capturing is None:
            run()
        else:
            self._capturing.append(run)


@dataclass(frozen=True)
class Prepared:
    """A model's step as a plan, and its constants."""

    plan: Plan
    loader: Loader


def prepare(
    model: str,
    *,
    architecture: Any = None,
    context: int = 128,
    quantize: Format | None = None,
    numerics: Numerics | None = None,
    rope_format: Format = Format.BF16,
) -> Prepared:
    """A checkpoint of tests/models as a plan. Rotation frequencies are those of the trained ones' oracles' program."""
    step = import_checkpoint(
        MODELS / model, context=context, quantize=quantize, numerics=numerics, rope_format=rope_format
    )
    module = lower(step, Level.SCHEDULED)
    for each in (PlanBuffersPass(), LowerToDriverPass(architecture=architecture)):
        each.apply(Context(), module)
    module.verify()
    return Prepared(read_plan(module), SourceLoader(open_directory(MODELS / model)))


@pytest.fixture
def fake_cuda() -> FakeCuda:
    return FakeCuda()


@pytest.fixture(scope="session")
def prepared() -> Callable[..., Prepared]:
    return prepare
