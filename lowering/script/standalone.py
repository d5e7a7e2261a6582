"""What a written-out step runs by. Its text becomes the head of every script, so it imports nothing of lanelink."""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

CHUNK = 64 << 20
"""Bytes of weights copied to the device at a time."""

GRAPH_EDGES_DRIVER = 12030
"""The first driver whose graphs let a launch begin before the one before it ends (CUDA 12.3)."""

USUAL_CLUSTER = 8
"""Blocks of a cluster that a function may be launched with before it is allowed more."""

DEFAULT_SHARED = 48 << 10
"""Bytes of shared memory that a launch may have without its function being allowed more."""


class ScriptError(Exception):
    """What keeps the step from running; the message is one line."""


class At(NamedTuple):
    """An address: `offset` bytes into the step's one allocation."""

    offset: int


Argument = At | int | float | None
"""A kernel's argument: an address, an i32, an f32, or the null address."""


class Launch(NamedTuple):
    """One launch. `dependent`: it waits itself for the launch before, and may begin before that one ends. `together`:
    its blocks wait for each other. `cluster`: as many neighbouring blocks reach each other's shared memory.
    `carveout`: percent of the first-level cache that it prefers as shared memory, where it does."""

    module: str
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    dependent: bool
    together: bool
    cluster: int
    carveout: int | None
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Step:
    """One decoding step. All places are byte offsets into one allocation of `size` bytes: the first `zeroed` bytes
    begin as zeros, the last, from `weights` on, as the file `weights_file`. `rows`: tokens it takes, of one sequence or
    one each of as many `sequences`."""

    rows: int
    sequences: int
    context: int | None
    vocabulary: int | None
    size: int
    zeroed: int
    weights: int
    weights_file: str
    modules: dict[str, tuple[str, str]]
    token: int
    chosen: int | None
    carries_token: bool
    launches: tuple[Launch, ...]


def check(result: tuple[Any, ...], asked: str) -> Any:
    """What a driver call gives beside its status. ScriptError naming `asked` where it failed."""
    status, *values = result
    if int(status):
        raise ScriptError(f"{asked}: expected CUDA_SUCCESS, got {getattr(status, 'name', int(status))}")
    return values[0] if len(values) == 1 else tuple(values)


class Device:
    """The step on a GPU, captured into one graph."""

    def __init__(self, step: Step, folder: Path, number: int) -> None:
        try:
            self._cuda: Any = import_module("cuda.bindings.driver")
        except ImportError as error:
            raise ScriptError(f"expected the package cuda-python, got: {error}") from None
        self._step = step
        cuda = self._cuda
        try:
            started = cuda.cuInit(0)
        except Exception as error:  # the package raises errors of its own where libcuda is not there
            raise ScriptError(f"expected an NVIDIA driver, got: {str(error).splitlines()[0]}") from None
        check(started, "start the driver")
        device = check(cuda.cuDeviceGet(number), f"take device {number}")
        check(cuda.cuCtxPushCurrent(check(cuda.cuDevicePrimaryCtxRetain(device), "open the device")), "use the device")
        self._device = device
        self._functions = self._load(folder)
        free, _ = check(cuda.cuMemGetInfo(), "read the free memory")
        if free < step.size:
            raise ScriptError(f"device memory: expected {step.size} bytes free, got {free}")
        self._base = int(check(cuda.cuMemAlloc(step.size), f"allocate {step.size} bytes"))
        self._stream = check(cuda.cuStreamCreate(1), "make a stream")
        self._upload_weights(folder / step.weights_file)
        self.reset()
        self._graph = self._capture(device)

    def _load(self, folder: Path) -> dict[tuple[str, str], Any]:
        cuda, modules = self._cuda, dict[str, Any]()
        for name, (file, digest) in self._step.modules.items():
            text = (folder / file).read_bytes()
            if hashlib.sha256(text).hexdigest() != digest:
                raise ScriptError(f"{folder / file}: expected the PTX this script was written with, got another")
            modules[name] = check(cuda.cuModuleLoadData(text + b"\0"), f"load {file}")
        functions = dict[tuple[str, str], Any]()
        shared_kind = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        static_kind = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
        cluster_kind = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        carveout_kind = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
        for key in dict.fromkeys((launch.module, launch.entry) for launch in self._step.launches):
            function = check(cuda.cuModuleGetFunction(modules[key[0]], key[1].encode()), f"find the entry {key[1]}")
            most = max(at.shared for at in self._step.launches if (at.module, at.entry) == key)
            if most + check(cuda.cuFuncGetAttribute(static_kind, function), "read its memory") > DEFAULT_SHARED:
                check(cuda.cuFuncSetAttribute(function, shared_kind, most), f"allow {most} bytes of shared memory")
            percent = next(at.carveout for at in self._step.launches if (at.module, at.entry) == key)
            if percent is not None:
                check(cuda.cuFuncSetAttribute(function, carveout_kind, percent), f"prefer {percent} % shared memory")
            if any(at.cluster > USUAL_CLUSTER for at in self._step.launches if (at.module, at.entry) == key):
                check(cuda.cuFuncSetAttribute(function, cluster_kind, 1), "allow clusters of more than 8 blocks")
            functions[key] = function
        for launch in self._step.launches:
            self._check_together(launch, functions[launch.module, launch.entry])
        return functions

    def _check_together(self, launch: Launch, function: Any) -> None:
        """ScriptError where blocks that wait for each other would not all be resident."""
        if not launch.together:
            return
        cuda, blocks = self._cuda, math.prod(launch.grid)
        ask = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
        each = check(ask(function, math.prod(launch.block), launch.shared), f"count the blocks of {launch.entry}")
        kind = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
        held = each * check(cuda.cuDeviceGetAttribute(kind, self._device), "count the device's multiprocessors")
        if blocks > held:
            raise ScriptError(f"{launch.entry}: expected at most {held} blocks on this device, got {blocks}")

    def _upload_weights(self, path: Path) -> None:
        size = self._step.size - self._step.weights
        if not size:
            return
        held = np.memmap(path, np.uint8, "r")
        if held.size != size:
            raise ScriptError(f"{path}: expected {size} bytes, got {held.size}")
        for first in range(0, size, CHUNK):
            part = np.ascontiguousarray(held[first : first + CHUNK])
            target = self._base + self._step.weights + first
            check(self._cuda.cuMemcpyHtoD(target, part.ctypes.data, part.size), f"copy {path} to the device")

    def _capture(self, device: Any) -> Any:
        cuda = self._cuda
        kind = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
        major = check(cuda.cuDeviceGetAttribute(kind, device), "read the device's capability")
        early = major >= 9 and check(cuda.cuDriverGetVersion(), "read the driver's version") >= GRAPH_EDGES_DRIVER
        mode = cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        check(cuda.cuStreamBeginCapture(self._stream, mode), "begin to capture the step")
        for k, launch in enumerate(self._step.launches):
            self._launch(launch, dependent=early and launch.dependent and k > 0)
        graph = check(cuda.cuStreamEndCapture(self._stream), "end the capture of the step")
        return check(cuda.cuGraphInstantiate(graph, 0), "instantiate the step's graph")

    def _launch(self, launch: Launch, *, dependent: bool) -> None:
        cuda = self._cuda
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = launch.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = launch.block
        config.sharedMemBytes, config.hStream = launch.shared, self._stream
        attributes = list[Any]()
        if dependent:
            attribute = cuda.CUlaunchAttribute()
            attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attribute.value.programmaticStreamSerializationAllowed = 1
            attributes.append(attribute)
        if launch.cluster > 1:
            attribute = cuda.CUlaunchAttribute()
            attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            value = attribute.value
            value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = launch.cluster, 1, 1
            attributes.append(attribute)
        if attributes:
            config.attrs, config.numAttrs = attributes, len(attributes)
        # The driver copies the arguments during the call.
        held = [self._argument(argument) for argument in launch.arguments]
        pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(h) for h in held))
        function = self._functions[launch.module, launch.entry]
        check(cuda.cuLaunchKernelEx(config, function, ctypes.addressof(pointers), 0), f"launch {launch.entry}")

    def _argument(self, argument: Argument) -> ctypes.c_uint64 | ctypes.c_int32 | ctypes.c_float:
        if argument is None:
            return ctypes.c_uint64(0)
        if isinstance(argument, At):
            return ctypes.c_uint64(self._base + argument.offset)
        return ctypes.c_int32(argument) if isinstance(argument, int) else ctypes.c_float(argument)

    def reset(self) -> None:
        """Zeroes the state, the token and the position: the next step begins a new sequence."""
        check(self._cuda.cuMemsetD8Async(self._base, 0, self._step.zeroed, self._stream), "zero the state")

    def run(self, ids: Sequence[int] | None) -> None:
        """One step, of `ids` or of those that the step before left."""
        if ids is not None:
            held = np.array(ids, np.int32)
            where = self._base + self._step.token
            # From pageable memory: the array may go once the call returns.
            check(self._cuda.cuMemcpyHtoDAsync(where, held.ctypes.data, held.nbytes, self._stream), "copy the ids")
        check(self._cuda.cuGraphLaunch(self._graph, self._stream), "replay the step")

    def chosen(self) -> list[int]:
        """The ids that the last step chose."""
        if self._step.chosen is None:
            raise ScriptError("expected a step that chooses ids, got one that does not")
        held = np.empty(self._step.rows, np.int32)
        where = self._base + self._step.chosen
        check(self._cuda.cuMemcpyDtoHAsync(held.ctypes.data, where, held.nbytes, self._stream), "copy the chosen ids")
        check(self._cuda.cuStreamSynchronize(self._stream), "wait for the step")
        return [int(id) for id in held]


def generate(device: Device, step: Step, prompts: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """`count` greedy ids after each sequence's prompt. Prompts are fed one id a step; a sequence whose prompt is over
    goes on with what it chose while others are still fed theirs."""
    longest, shortest = max(map(len, prompts)), min(map(len, prompts))
    made: list[list[int]] = [[] for _ in prompts]
    last: list[int] = []
    for done in range(1, longest + count):
        if done <= longest:
            device.run([ids[done - 1] if done <= len(ids) else last[s] for s, ids in enumerate(prompts)])
        else:
            device.run(None if step.carries_token else last)
        if done < shortest:
            continue
        last = device.chosen()
        for own, ids, id in zip(made, prompts, last, strict=True):
            if done >= len(ids) and len(own) < count:
                own.append(id)
    return made


def check_request(step: Step, prompts: Sequence[Sequence[int]], count: int) -> None:
    """ScriptError for prompts or a count that the step does not take."""
    if step.rows != step.sequences:
        raise ScriptError(f"expected a step of 1 row, got {step.rows}: drive it through Device")
    if len(prompts) != step.sequences:
        raise ScriptError(f"--ids: expected it {step.sequences} times, once a sequence, got it {len(prompts)} times")
    longest, shortest = max(map(len, prompts)), min(map(len, prompts))
    if not shortest or count < 1:
        raise ScriptError(f"expected an id and a count of at least 1, got {shortest} ids and {count}")
    # The last id that is chosen is read by no step.
    if step.context is not None and longest + count - 1 > step.context:
        raise ScriptError(f"expected {longest} ids and {count - 1} of those chosen to fit a context of {step.context}")
    most = 2**31 if step.vocabulary is None else step.vocabulary
    for id in (id for ids in prompts for id in ids):
        if not 0 <= id < most:
            raise ScriptError(f"expected ids of 0 to {most - 1}, got {id}")


def number(text: str, least: int = 0) -> int:
    """A whole number of an argument, of at least `least`; ArgumentTypeError, which ends the program with exit code 2,
    for anything else."""
    digits = text.removeprefix("-")
    if len(digits) > 18 and digits.isascii() and digits.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number of at most 18 digits, got one of {len(digits)}")
    if not (digits.isascii() and digits.isdigit() and int(text) >= least):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, got '{text[:40]}'")
    return int(text)


def count_of(text: str) -> int:
    """As `number`, of at least 1."""
    return number(text, least=1)


def numbers(text: str) -> list[int]:
    """As `number`, between commas."""
    return [number(part.strip()) for part in text.split(",")]


def joined(arguments: Sequence[str]) -> list[str]:
    """A command line whose ids below zero are one argument with `--ids`, for `numbers` to refuse: by themselves they
    look like an option."""
    found: list[str] = []
    for argument in arguments:
        if found and found[-1] == "--ids" and argument.startswith("-") and argument[1:2].isdigit():
            found[-1] = f"--ids={argument}"
        else:
            found.append(argument)
    return found


def main(step: Step, folder: Path, arguments: Sequence[str] | None = None) -> int:
    """The script's command line; 0, or 1 with one line on stderr. Bad usage ends the program with 2."""
    parser = argparse.ArgumentParser(description="Decodes greedily with the step of this script.")
    again = "; once for each sequence of a step of several"
    parser.add_argument(
        "--ids", action="append", type=numbers, required=True, metavar="1,2,3", help=f"the prompt's token ids{again}"
    )
    parser.add_argument("-n", type=count_of, required=True, metavar="N", help="tokens to generate")
    parser.add_argument("--device", type=number, default=0, metavar="K")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(joined(sys.argv[1:] if arguments is None else arguments))
    try:
        check_request(step, options.ids, options.n)
        device = Device(step, folder, options.device)
        begun = time.perf_counter()
        made = generate(device, step, options.ids, options.n)
        seconds = time.perf_counter() - begun
    except (ScriptError, OSError) as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        return 1
    if options.json:
        ids = made[0] if step.sequences == 1 else made
        print(json.dumps({"ids": ids, "launches_per_step": len(step.launches), "seconds": seconds}))
    else:
        print("\n".join(",".join(map(str, ids)) for ids in made))
    return 0
