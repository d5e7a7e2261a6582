"""The CUDA driver calls that the runtime makes, typed, each through one checker. Needs `cuda.bindings` when opened."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from math import prod
from typing import Any, NamedTuple

from lanelink.dialects.driver.launch import Extent
from lanelink.lowering.runtime.backend import BackendError
from lanelink.lowering.runtime.cuda_checks import DeviceFacts

Handle = Any
"""What the driver gives for a context, module, function, stream, event or graph; only its own calls read it."""


class LaunchShape(NamedTuple):
    """A launch's blocks and threads, bytes of dynamic shared memory, and the blocks of a cluster along x."""

    grid: Extent
    block: Extent
    shared: int
    cluster: int = 1


class CudaError(BackendError):
    """A driver call that failed: what was asked, and the driver's own name for what went wrong."""


class GpuMissing(BackendError):
    """There is no GPU to run on, or no library to reach it with; the message says which."""


def check(result: tuple[Any, ...], asked: str) -> Any:
    """What a driver call gives beside its status: nothing, one value, or several.

    Raises CudaError naming `asked` and the error where the status is not CUDA_SUCCESS.
    """
    status, *values = result
    if int(status):
        raise CudaError(f"cuda: {asked}: expected CUDA_SUCCESS, got {getattr(status, 'name', int(status))}")
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def load_bindings() -> Any:
    """The module `cuda.bindings.driver`. Raises GpuMissing where it is not installed or finds no driver."""
    try:
        bindings: Any = import_module("cuda.bindings.driver")
    except ImportError as error:
        raise GpuMissing(f"cuda: expected the package cuda-bindings, got: {error}") from None
    try:
        status, *_ = bindings.cuInit(0)
    except Exception as error:  # the package raises its own errors, of no common base, where libcuda is not there
        raise GpuMissing(f"cuda: expected an NVIDIA driver, got: {str(error).splitlines()[0]}") from None
    if int(status):
        raise GpuMissing(f"cuda: expected a GPU, got {status.name} from cuInit")
    return bindings


def gpu_missing() -> str | None:
    """Why this machine cannot run on a GPU, in one line; None where it can."""
    try:
        bindings = load_bindings()
        count: int = check(bindings.cuDeviceGetCount(), "count the devices")
    except BackendError as error:
        return str(error)
    return None if count else "cuda: expected at least 1 device, got 0"


class CudaApi:
    """The driver on one device. `current` makes its context that of the calling thread; all else needs that.

    `bindings` is `cuda.bindings.driver`, or what a test puts in its place.
    """

    def __init__(self, device: int = 0, bindings: Any = None) -> None:
        self._b: Any = load_bindings() if bindings is None else bindings
        count: int = check(self._b.cuDeviceGetCount(), "count the devices")
        if not 0 <= device < count:
            raise GpuMissing(f"cuda: expected a device below {count}, got {device}")
        self._device: Handle = check(self._b.cuDeviceGet(device), f"take device {device}")
        self._context: Handle = check(self._b.cuDevicePrimaryCtxRetain(self._device), f"open device {device}")

    @contextmanager
    def current(self) -> Generator[None, None, None]:
        """The device's context, current in this thread while inside."""
        check(self._b.cuCtxPushCurrent(self._context), "make the context current")
        try:
            yield
        finally:
            check(self._b.cuCtxPopCurrent(), "leave the context")

    def release(self) -> None:
        """Lets the device go; the last of its users frees what is left on it."""
        check(self._b.cuDevicePrimaryCtxRelease(self._device), "close the device")

    # Facts

    def facts(self) -> DeviceFacts:
        """What the driver and the device allow, and the memory free now."""
        name: bytes = check(self._b.cuDeviceGetName(256, self._device), "read the device's name")
        free, total = check(self._b.cuMemGetInfo(), "read the free memory")
        return DeviceFacts(
            name=name.split(b"\0")[0].decode("ascii", "replace"),
            driver=check(self._b.cuDriverGetVersion(), "read the driver's version"),
            capability=(self._attribute("COMPUTE_CAPABILITY_MAJOR"), self._attribute("COMPUTE_CAPABILITY_MINOR")),
            grid=self._extent("MAX_GRID_DIM"),
            block=self._extent("MAX_BLOCK_DIM"),
            threads=self._attribute("MAX_THREADS_PER_BLOCK"),
            shared=self._attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            free=int(free),
            total=int(total),
        )

    def _extent(self, name: str) -> Extent:
        return self._attribute(f"{name}_X"), self._attribute(f"{name}_Y"), self._attribute(f"{name}_Z")

    def _attribute(self, name: str) -> int:
        kind = getattr(self._b.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(check(self._b.cuDeviceGetAttribute(kind, self._device), f"read the device's {name}"))

    # Modules

    def load(self, ptx: str, name: str) -> Handle:
        """A module from PTX text."""
        return check(self._b.cuModuleLoadData(ptx.encode("ascii") + b"\0"), f"load {name}")

    def unload(self, module: Handle) -> None:
        """Unloads a module."""
        check(self._b.cuModuleUnload(module), "unload a module")

    def function(self, module: Handle, entry: str) -> Handle:
        """An entry of a module."""
        return check(self._b.cuModuleGetFunction(module, entry.encode("ascii")), f"find the entry {entry}")

    def function_facts(self, function: Handle) -> tuple[int, int]:
        """(bytes of static shared memory, threads a block may have) of an entry."""
        kinds = self._b.CUfunction_attribute
        static = check(
            self._b.cuFuncGetAttribute(kinds.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function), "read an entry's memory"
        )
        threads = check(
            self._b.cuFuncGetAttribute(kinds.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
            "read an entry's threads",
        )
        return int(static), int(threads)

    def resident(self, function: Handle, block: Extent, shared: int) -> int:
        """How many blocks of an entry the device holds at once, each of these threads and dynamic shared bytes."""
        ask = self._b.cuOccupancyMaxActiveBlocksPerMultiprocessor
        each = check(ask(function, prod(block), shared), "count an entry's resident blocks")
        return int(each) * self._attribute("MULTIPROCESSOR_COUNT")

    def allow_wide_clusters(self, function: Handle) -> None:
        """Lets launches of an entry have clusters of more blocks than every device of its kind runs."""
        kind = self._b.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        check(self._b.cuFuncSetAttribute(function, kind, 1), "allow clusters of more than 8 blocks")

    def prefer_shared(self, function: Handle, percent: int) -> None:
        """Has an entry's launches prefer so many percent of the first-level cache as shared memory."""
        kind = self._b.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
        check(self._b.cuFuncSetAttribute(function, kind, percent), f"prefer {percent} percent of shared memory")

    def resident_clusters(self, function: Handle, shape: LaunchShape) -> int:
        """How many clusters of a launch the device holds at once."""
        config = self._config(shape)
        self._attributes(config, shape.cluster, dependent=False)
        return int(check(self._b.cuOccupancyMaxActiveClusters(function, config), "count an entry's resident clusters"))

    def allow_shared(self, function: Handle, size: int) -> None:
        """Lets launches of an entry take `size` bytes of dynamic shared memory."""
        kind = self._b.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        check(self._b.cuFuncSetAttribute(function, kind, size), f"allow {size} bytes of dynamic shared memory")

    # Memory

    def alloc(self, size: int) -> int:
        """The address of `size` bytes on the device."""
        return int(check(self._b.cuMemAlloc(size), f"allocate {size} bytes on the device"))

    def free(self, address: int) -> None:
        """Frees device memory."""
        check(self._b.cuMemFree(address), "free device memory")

    def alloc_host(self, size: int) -> int:
        """The address of `size` pinned bytes of the host."""
        return int(check(self._b.cuMemHostAlloc(size, 0), f"allocate {size} pinned bytes on the host"))

    def free_host(self, address: int) -> None:
        """Frees pinned host memory."""
        check(self._b.cuMemFreeHost(address), "free pinned memory")

    def upload_async(self, device: int, host: int, size: int, stream: Handle) -> None:
        """Copies from the host in the stream's order; pageable memory may be reused on return."""
        check(self._b.cuMemcpyHtoDAsync(device, host, size, stream), f"copy {size} bytes to the device")

    def download_async(self, host: int, device: int, size: int, stream: Handle) -> None:
        """Copies to the host in the stream's order."""
        check(self._b.cuMemcpyDtoHAsync(host, device, size, stream), f"copy {size} bytes to the host")

    def copy_async(self, target: int, source: int, size: int, stream: Handle) -> None:
        """Copies on the device in the stream's order."""
        check(self._b.cuMemcpyDtoDAsync(target, source, size, stream), f"copy {size} bytes on the device")

    def zero_async(self, address: int, size: int, stream: Handle) -> None:
        """Zeroes device memory in the stream's order."""
        check(self._b.cuMemsetD8Async(address, 0, size, stream), f"zero {size} bytes on the device")

    # Streams, events, graphs

    def stream(self) -> Handle:
        """A stream that nothing else synchronizes with."""
        return check(self._b.cuStreamCreate(1), "make a stream")

    def close_stream(self, stream: Handle) -> None:
        """Ends a stream."""
        check(self._b.cuStreamDestroy(stream), "end a stream")

    def synchronize(self, stream: Handle) -> None:
        """Waits for all of a stream."""
        check(self._b.cuStreamSynchronize(stream), "wait for the stream")

    def event(self) -> Handle:
        """An event, which can also time."""
        return check(self._b.cuEventCreate(0), "make an event")

    def close_event(self, event: Handle) -> None:
        """Ends an event."""
        check(self._b.cuEventDestroy(event), "end an event")

    def record(self, event: Handle, stream: Handle) -> None:
        """Marks this place of a stream."""
        check(self._b.cuEventRecord(event, stream), "record an event")

    def wait(self, event: Handle) -> None:
        """Waits until a stream has come to the event's place."""
        check(self._b.cuEventSynchronize(event), "wait for an event")

    def milliseconds(self, begun: Handle, ended: Handle) -> float:
        """Device time between two events that have come to pass."""
        return float(check(self._b.cuEventElapsedTime(begun, ended), "time two events"))

    @contextmanager
    def capture(self, stream: Handle) -> Generator[list[Handle], None, None]:
        """Captures what is put on the stream while inside; the list then holds the graph."""
        graphs: list[Handle] = []
        mode = self._b.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        check(self._b.cuStreamBeginCapture(stream, mode), "begin to capture the step")
        try:
            yield graphs
        except BaseException:
            self._b.cuStreamEndCapture(stream)  # the fault that ended the capture is the one to report
            raise
        graphs.append(check(self._b.cuStreamEndCapture(stream), "end the capture of the step"))

    def instantiate(self, graph: Handle) -> Handle:
        """An executable of a captured graph, which is given back."""
        made = check(self._b.cuGraphInstantiate(graph, 0), "instantiate the step's graph")
        check(self._b.cuGraphDestroy(graph), "drop a captured graph")
        return made

    def close_graph(self, graph: Handle) -> None:
        """Ends an executable graph."""
        check(self._b.cuGraphExecDestroy(graph), "end a graph")

    def replay(self, graph: Handle, stream: Handle) -> None:
        """Puts a replay of a graph on the stream."""
        check(self._b.cuGraphLaunch(graph, stream), "replay the step's graph")

    def launch(
        self, function: Handle, shape: LaunchShape, parameters: int, stream: Handle, *, dependent: bool, label: str
    ) -> None:
        """One kernel launch. `parameters` is the address of an array of the arguments' addresses."""
        config = self._config(shape)
        config.hStream = stream
        self._attributes(config, shape.cluster, dependent=dependent)
        check(self._b.cuLaunchKernelEx(config, function, parameters, 0), f"launch {label}")

    def _config(self, shape: LaunchShape) -> Any:
        config: Any = self._b.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = shape.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = shape.block
        config.sharedMemBytes = shape.shared
        return config

    def _attributes(self, config: Any, cluster: int, *, dependent: bool) -> None:
        """What a launch is told beside its sizes."""
        kinds, attributes = self._b.CUlaunchAttributeID, list[Any]()
        if dependent:
            attribute: Any = self._b.CUlaunchAttribute()
            attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attribute.value.programmaticStreamSerializationAllowed = 1
            attributes.append(attribute)
        if cluster > 1:
            attribute = self._b.CUlaunchAttribute()
            attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            value = attribute.value
            value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = cluster, 1, 1
            attributes.append(attribute)
        if attributes:
            config.attrs, config.numAttrs = attributes, len(attributes)


__all__ = ["CudaApi", "CudaError", "GpuMissing", "Handle", "LaunchShape", "check", "gpu_missing", "load_bindings"]
