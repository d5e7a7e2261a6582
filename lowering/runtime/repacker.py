"""Constants brought to a GPU through pinned memory in chunks; file rows are laid out as planes on the device itself."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from lanelink.dialects.driver import PlanesAttr
from lanelink.lowering.parameters import pack_each
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.runtime.cuda_api import CudaApi, CudaError, Handle
from lanelink.lowering.runtime.cuda_checks import DeviceFacts, check_ptx
from lanelink.lowering.selection.calls import Address, KernelCall
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.repack import MODULE, RepackSpec, repack
from lanelink.lowering.signatures import committed_ptx

Bytes = npt.NDArray[np.uint8]
HeldT = TypeVar("HeldT")

CHUNK = 16 << 20
"""Bytes of a chunk: enough that a transfer's start costs nothing beside it."""

STAGES = 2
"""Chunks in flight: one is filled on the host while the other is on its way."""

ARCHITECTURE = "compute_80"
"""The oldest, which every device that runs a plan runs too: these launches follow one another."""

ANY_CHIP = Chip("any", (8, 0), 1, 48)
"""What the choice of these calls asks of a chip: nothing."""


@dataclass(frozen=True)
class _Stage:
    """A chunk's memory on the host, pinned, and on the device, and the event after which both are free again."""

    host: int
    device: int
    free: Handle


class Repacker:
    """Writes constants to the device, whose context must be current; use it in `with`, at whose end all are written.

    It holds `STAGES` chunks on either side, of `chunk` bytes or of the longest row of a matrix, and gives them back.
    Raises NotRunnable where the device does not run the kernels, CudaError where a call of the driver fails.
    """

    def __init__(self, api: CudaApi, facts: DeviceFacts, longest_row: int, chunk: int = CHUNK) -> None:
        self._api = api
        self._chunk = max(chunk, longest_row)
        self._owned = ExitStack()
        self._turn = 0
        self._functions: dict[str, Handle] = {}
        try:
            ptx = committed_ptx(MODULE, ARCHITECTURE)
            check_ptx(ptx, facts)
            self._module = self._own(api.load(ptx.text, ptx.name), api.unload)
            self._stream = self._own(api.stream(), api.close_stream)
            self._stages = [self._stage() for _ in range(STAGES)]
        except BaseException:
            self._owned.close()
            raise

    def _own(self, held: HeldT, free: Callable[[HeldT], None]) -> HeldT:
        self._owned.callback(free, held)
        return held

    def _stage(self) -> _Stage:
        api = self._api
        host = self._own(api.alloc_host(self._chunk), api.free_host)
        device = self._own(api.alloc(self._chunk), api.free)
        return _Stage(host, device, self._own(api.event(), api.close_event))

    def rows(self, target: int, planes: PlanesAttr, file: Bytes) -> None:
        """Lays the file rows of a whole matrix out as planes at the address `target`."""
        format, (rows, cols) = planes.format.data, planes.shape
        layout, row_bytes = plane_layout(format, rows, cols), format.row_bytes(cols)
        if not format.is_block and row_bytes == layout.pitch:
            self.plain(target, file)
            return
        self._api.zero_async(target, layout.total_bytes, self._stream)
        at_once = self._chunk // row_bytes
        for first in range(0, rows, at_once):
            count = min(at_once, rows - first)
            part = file[first * row_bytes : (first + count) * row_bytes]
            stage = self._filled(part)
            self._api.upload_async(stage.device, stage.host, part.size, self._stream)
            spec = RepackSpec(format, Address(stage.device), Address(target), first, count, rows, cols)
            self._launch(repack(spec, ANY_CHIP))
            self._api.record(stage.free, self._stream)

    def plain(self, target: int, data: Bytes) -> None:
        """Writes bytes that lie on the device as they are."""
        for first in range(0, data.size, self._chunk):
            part = data[first : first + self._chunk]
            stage = self._filled(part)
            self._api.upload_async(target + first, stage.host, part.size, self._stream)
            self._api.record(stage.free, self._stream)

    def copy(self, target: int, source: int, size: int) -> None:
        """Writes again what was written at `source`."""
        self._api.copy_async(target, source, size, self._stream)

    def _filled(self, part: Bytes) -> _Stage:
        """The next stage, once it is free of what it held, with bytes on its host side."""
        stage = self._stages[self._turn % STAGES]
        if self._turn >= STAGES:
            self._api.wait(stage.free)
        self._turn += 1
        ctypes.memmove(stage.host, part.ctypes.data, part.size)
        return stage

    def _launch(self, call: KernelCall) -> None:
        function = self._functions.get(call.entry)
        if function is None:
            function = self._functions[call.entry] = self._api.function(self._module, call.entry)

        def resolved(address: Address) -> int:
            assert isinstance(address.ref, int)
            return address.ref + address.offset

        held = [ctypes.create_string_buffer(value, len(value)) for value in pack_each(call.arguments, resolved)]
        pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(value) for value in held))
        shape = (call.grid, call.block, call.shared)
        where = ctypes.addressof(pointers)
        self._api.launch(function, *shape, where, self._stream, dependent=False, label=call.entry)

    def __enter__(self) -> Repacker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Nothing is freed under what still runs; a fault of it is told where nothing else is.
        with self._owned:
            if error is None:
                self._api.synchronize(self._stream)
            else:
                with suppress(CudaError):
                    self._api.synchronize(self._stream)


__all__ = ["CHUNK", "Repacker"]
