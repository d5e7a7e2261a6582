"""Constants brought to a GPU through pinned memory that several threads fill; file rows become planes on the device."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from lanelink.dialects.driver import PlanesAttr
from lanelink.lowering.parameters import pack_each
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.runtime.cuda_api import CudaApi, CudaError, Handle, LaunchShape
from lanelink.lowering.runtime.cuda_checks import DeviceFacts, check_ptx
from lanelink.lowering.selection.calls import Address, KernelCall
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.repack import MODULE, RepackSpec, repack
from lanelink.lowering.signatures import committed_ptx

Bytes = npt.NDArray[np.uint8]
HeldT = TypeVar("HeldT")

CHUNK = 8 << 20
"""Bytes of a stage: enough that a transfer's start costs nothing beside it, few enough that pinning them all is
quick."""

READERS = max(1, min(16, (os.cpu_count() or 1) - 2))
"""Threads that fill stages. One copies from mapped pages at a tenth of what a bus of 16 fast lanes takes."""

BESIDE = 2
"""Stages beside one a reader: those on their way to the device."""

ALIGN = 256
"""Bytes that what lies in a stage begins at a multiple of."""


def staged(longest_row: int) -> int:
    """The most bytes of device memory that a repacker of such rows holds."""
    return (READERS + BESIDE) * max(CHUNK, longest_row)


@dataclass
class _Stage:
    """Memory on the host, pinned, and on the device, of which `used` bytes are given out; `left` once what lies there
    is on its way and `free` says when it has come."""

    host: int
    device: int
    free: Handle
    used: int = 0
    left: bool = False


@dataclass(frozen=True)
class _Part:
    """Bytes that a reader copies to a stage, and what is asked of the device once they are there."""

    filled: Future[int]
    data: Bytes
    send: Callable[[], None]


class Repacker:
    """Writes constants to the device, whose context must be current; use it in `with`, at whose end all are written.

    `readers` threads copy to stages of `chunk` bytes, or of the longest row of a matrix, on the host; they go to the
    device in the order in which they were asked for. Of stages, `BESIDE` more than readers are held at most, on either
    side, and given back.
    Raises NotRunnable where the device does not run the kernels, CudaError where a call of the driver fails.
    """

    def __init__(
        self, api: CudaApi, facts: DeviceFacts, longest_row: int, chunk: int = CHUNK, readers: int = READERS
    ) -> None:
        self._api = api
        self._size = max(chunk, longest_row)
        self._owned = ExitStack()
        self._most = readers
        self._stages: list[_Stage] = []
        self._turn = 0
        self._pending: deque[_Part | _Stage] = deque()
        self._functions: dict[str, Handle] = {}
        # The choice of these calls asks nothing more of a chip.
        self._chip = Chip(facts.name, facts.capability, 1, facts.shared // 1024)
        self._ptx = committed_ptx(MODULE, self._chip.architecture)
        check_ptx(self._ptx, facts)
        self._stream = self._own(api.stream(), api.close_stream)
        self._readers = ThreadPoolExecutor(readers, "lanelink-reader")

    def _own(self, held: HeldT, free: Callable[[HeldT], None]) -> HeldT:
        self._owned.callback(free, held)
        return held

    def rows(self, target: int, planes: PlanesAttr, file: Bytes) -> None:
        """Lays the file rows of a whole matrix out as planes at the address `target`. `file` is read until the end."""
        format, (rows, cols) = planes.format.data, planes.shape
        layout, row_bytes = plane_layout(format, rows, cols), format.row_bytes(cols)
        if not format.is_block and row_bytes == layout.pitch:
            self.plain(target, file)
            return
        self._api.zero_async(target, layout.total_bytes, self._stream)
        at_once = self._size // row_bytes
        for first in range(0, rows, at_once):
            count = min(at_once, rows - first)

            def send(host: int, device: int, first: int = first, count: int = count) -> None:
                self._api.upload_async(device, host, count * row_bytes, self._stream)
                spec = RepackSpec(format, Address(device), Address(target), first, count, rows, cols)
                self._launch(repack(spec, self._chip))

            self._put(file[first * row_bytes : (first + count) * row_bytes], send)

    def plain(self, target: int, data: Bytes) -> None:
        """Writes bytes that lie on the device as they are. `data` is read until the end."""
        for first in range(0, data.size, self._size):
            part = data[first : first + self._size]

            def send(host: int, device: int, to: int = target + first, size: int = part.size) -> None:
                self._api.upload_async(to, host, size, self._stream)

            self._put(part, send)

    def copy(self, target: int, source: int, size: int) -> None:
        """Writes again what was written at `source`."""
        self._send_all()
        self._api.copy_async(target, source, size, self._stream)

    def _put(self, data: Bytes, send: Callable[[int, int], None]) -> None:
        """Has a reader copy bytes to a stage; `send`, of where they then are on the host and may be on the device, is
        called in turn."""
        stage, at = self._room(data.size)
        filled = self._readers.submit(ctypes.memmove, stage.host + at, data.ctypes.data, data.size)
        self._pending.append(_Part(filled, data, lambda: send(stage.host + at, stage.device + at)))
        while len(self._pending) > self._most:
            self._send_first()

    def _room(self, size: int) -> tuple[_Stage, int]:
        """A stage and where in it there is room; the next one, once it is free of what it held, where this one has
        none."""
        most = self._most + BESIDE
        if self._stages:
            stage = self._stages[self._turn % most]
            at = -(-stage.used // ALIGN) * ALIGN
            if at + size <= self._size:
                stage.used = at + size
                return stage, at
            self._pending.append(stage)
            self._turn += 1
        if len(self._stages) < most:
            self._stages.append(self._stage())
        stage = self._stages[self._turn % most]
        if stage.used:
            while not stage.left:
                self._send_first()
            self._api.wait(stage.free)
        stage.used, stage.left = size, False
        return stage, 0

    def _stage(self) -> _Stage:
        api = self._api
        host = self._own(api.alloc_host(self._size), api.free_host)
        device = self._own(api.alloc(self._size), api.free)
        return _Stage(host, device, self._own(api.event(), api.close_event))

    def _send_first(self) -> None:
        """Asks of the device what is next in turn."""
        first = self._pending.popleft()
        if isinstance(first, _Stage):
            self._api.record(first.free, self._stream)
            first.left = True
        else:
            first.filled.result()
            first.send()

    def _send_all(self) -> None:
        while self._pending:
            self._send_first()

    def _launch(self, call: KernelCall) -> None:
        function = self._functions.get(call.entry)
        if function is None:
            module = self._own(self._api.load(self._ptx.only([call.entry]), self._ptx.name), self._api.unload)
            function = self._functions[call.entry] = self._api.function(module, call.entry)

        def resolved(address: Address) -> int:
            assert isinstance(address.ref, int)
            return address.ref + address.offset

        held = [ctypes.create_string_buffer(value, len(value)) for value in pack_each(call.arguments, resolved)]
        pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(value) for value in held))
        shape = LaunchShape(call.grid, call.block, call.shared)
        where = ctypes.addressof(pointers)
        self._api.launch(function, shape, where, self._stream, dependent=False, label=call.entry)

    def __enter__(self) -> Repacker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Nothing is freed under what still runs; a fault of it is told where nothing else is.
        with self._owned, self._readers:
            if error is None:
                self._send_all()
                self._api.synchronize(self._stream)
            else:
                self._readers.shutdown(wait=True, cancel_futures=True)
                with suppress(CudaError):
                    self._api.synchronize(self._stream)


__all__ = ["CHUNK", "Repacker", "staged"]
