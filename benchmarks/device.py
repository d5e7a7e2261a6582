"""A GPU through cuda-python's driver binding, for the benchmarks: buffers, launches, graphs and times."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from lanelink.kernels.build import ptx_path
from lanelink.lowering.runtime.cuda_checks import USUAL_CLUSTER
from lanelink.lowering.selection.calls import F32, I32, Address, Argument, KernelCall, ScratchKind
from lanelink.lowering.selection.chip import Chip

DEFAULT_SHARED = 40 * 1024
"""Dynamic shared memory that every kernel may have: 48 KiB less what any has statically, rounded down."""


def check(result: tuple[Any, ...]) -> Any:
    """What a driver call returns beside its code; RuntimeError naming the code where it failed."""
    if result[0] != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"driver call: expected CUDA_SUCCESS, got {result[0].name}")
    rest = result[1:]
    return rest[0] if len(rest) == 1 else rest


@dataclass(frozen=True)
class Timed:
    """Microseconds of one replay: the median of several, and the fastest."""

    median: float
    least: float


class Device:
    """The first GPU, its PTX modules, named buffers and shared scratch.

    Everything is on one stream that the default stream does not wait for: a fill or a copy on that one may come after a
    launch that was asked for later.
    """

    def __init__(self) -> None:
        check(cu.cuInit(0))
        self._device = check(cu.cuDeviceGet(0))
        check(cu.cuCtxSetCurrent(check(cu.cuDevicePrimaryCtxRetain(self._device))))
        self.stream = check(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
        at = cu.CUdevice_attribute
        name = check(cu.cuDeviceGetName(128, self._device)).split(b"\0")[0].decode()
        capability = (
            self.attribute(at.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            self.attribute(at.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        )
        shared = self.attribute(at.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) // 1024
        self.chip = Chip(name, capability, self.attribute(at.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), shared)
        self._functions: dict[tuple[str, str], Any] = {}
        self._modules: dict[str, Any] = {}
        self._shared: dict[tuple[str, str], int] = {}
        self.buffers: dict[Any, int] = {}
        self._sizes: dict[Any, int] = {}

    def attribute(self, which: Any) -> int:
        """A device attribute."""
        return int(check(cu.cuDeviceGetAttribute(which, self._device)))

    def alloc(self, ref: Any, size: int, fill: int | None = None) -> int:
        """A buffer for `ref`, kept between calls while it is large enough; `fill` is the byte to fill it with."""
        if self._sizes.get(ref, -1) < size:
            if ref in self.buffers:
                check(cu.cuMemFree(self.buffers[ref]))
            self.buffers[ref] = int(check(cu.cuMemAlloc(max(size, 256))))
            self._sizes[ref] = max(size, 256)
        if fill is not None:
            check(cu.cuMemsetD8Async(self.buffers[ref], fill, self._sizes[ref], self.stream))
        return self.buffers[ref]

    def put(self, ref: Any, data: np.ndarray[Any, Any]) -> int:
        """A buffer for `ref` that holds `data`."""
        flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        address = self.alloc(ref, flat.size)
        check(cu.cuMemcpyHtoDAsync(address, flat.ctypes.data, flat.size, self.stream))
        return address

    def copy(self, ref: Any, source: int, size: int) -> int:
        """A buffer for `ref` that holds what another does."""
        address = self.alloc(ref, size)
        check(cu.cuMemcpyDtoDAsync(address, source, size, self.stream))
        return address

    def read(self, ref: Any, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The first `size` bytes of a buffer."""
        out = np.empty(size, np.uint8)
        check(cu.cuMemcpyDtoHAsync(out.ctypes.data, self.buffers[ref], size, self.stream))
        self.synchronize()
        return out

    def free(self) -> None:
        """Frees every buffer."""
        for address in self.buffers.values():
            check(cu.cuMemFree(address))
        self.buffers.clear()
        self._sizes.clear()

    def function(self, call: KernelCall) -> Any:
        """The call's kernel, its shared memory limit raised where it must be."""
        key = (call.module, call.entry)
        if call.module not in self._modules:
            text = ptx_path(call.module, self.chip.architecture).read_bytes() + b"\0"
            self._modules[call.module] = check(cu.cuModuleLoadData(text))
        if key not in self._functions:
            self._functions[key] = check(cu.cuModuleGetFunction(self._modules[call.module], call.entry.encode()))
        if call.shared > self._shared.get(key, DEFAULT_SHARED):
            which = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            check(cu.cuFuncSetAttribute(self._functions[key], which, call.shared))
            self._shared[key] = call.shared
        if call.carveout is not None:
            which = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
            check(cu.cuFuncSetAttribute(self._functions[key], which, call.carveout))
        if call.cluster > USUAL_CLUSTER:
            which = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            check(cu.cuFuncSetAttribute(self._functions[key], which, 1))
        return self._functions[key]

    def scratch(self, calls: Sequence[KernelCall]) -> None:
        """Room for the scratch of any of the calls, counters zero."""
        for kind in ScratchKind:
            size = max((c.scratch_bytes(kind) for c in calls), default=0)
            self.alloc(kind, size, fill=0 if kind is ScratchKind.COUNTERS else 0xFF)

    def launch(self, call: KernelCall, overlap: bool) -> None:
        """One launch on the stream; `overlap` lets it start before its predecessor ends."""
        config = cu.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = call.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = call.block
        config.sharedMemBytes = call.shared
        config.hStream = self.stream
        attributes = list[Any]()
        if overlap and call.dependent:
            attribute = cu.CUlaunchAttribute()
            attribute.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attribute.value.programmaticStreamSerializationAllowed = 1
            attributes.append(attribute)
        if call.cluster > 1:
            attribute = cu.CUlaunchAttribute()
            attribute.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            value = attribute.value
            value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = call.cluster, 1, 1
            attributes.append(attribute)
        if attributes:
            config.attrs, config.numAttrs = attributes, len(attributes)
        packed = [self._packed(a) for a in call.arguments]
        values, kinds = tuple(v for v, _ in packed), tuple(k for _, k in packed)
        check(cu.cuLaunchKernelEx(config, self.function(call), (values, kinds), 0))

    def _packed(self, a: Argument) -> tuple[Any, Any]:
        match a:
            case Address():
                return self.buffers[a.ref] + a.offset, ctypes.c_void_p
            case I32():
                return a.value, ctypes.c_int32
            case F32():
                return a.value, ctypes.c_float
            case _:
                return 0, ctypes.c_void_p

    def synchronize(self) -> None:
        """Waits for the stream."""
        check(cu.cuStreamSynchronize(self.stream))

    def graph(self, calls: Sequence[KernelCall], overlap: bool) -> Any:
        """The calls as one graph that can be replayed."""
        for call in calls:
            self.function(call)
        check(cu.cuStreamBeginCapture(self.stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
        for call in calls:
            self.launch(call, overlap)
        return check(cu.cuGraphInstantiate(check(cu.cuStreamEndCapture(self.stream)), 0))

    def replay(self, graph: Any) -> None:
        """One replay of a graph."""
        check(cu.cuGraphLaunch(graph, self.stream))

    def timed(self, work: Callable[[], None], repeats: int = 15, warm: int = 3) -> Timed:
        """Device time of `work`, by events around it."""
        start, stop = check(cu.cuEventCreate(0)), check(cu.cuEventCreate(0))
        times: list[float] = []
        for i in range(warm + repeats):
            check(cu.cuEventRecord(start, self.stream))
            work()
            check(cu.cuEventRecord(stop, self.stream))
            check(cu.cuEventSynchronize(stop))
            if i >= warm:
                times.append(1000.0 * float(check(cu.cuEventElapsedTime(start, stop))))
        return Timed(float(np.median(times)), min(times))
