"""Constants written to a device in chunks: the planes are those numpy makes, and everything taken is given back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lanelink.dialects.driver import PlanesAttr
from lanelink.dialects.formats import Format
from lanelink.lowering import formats
from lanelink.lowering.repack import plane_layout, repack
from lanelink.lowering.runtime.cuda_api import CudaApi, CudaError
from lanelink.lowering.runtime.repacker import Repacker

ROWS = 7


@pytest.mark.parametrize("format", list(Format))
@pytest.mark.parametrize(("rows_a_chunk", "readers"), [(0.5, 1), (0.5, 3), (2.0, 1), (7.0, 2)])
def test_rows_in_chunks_are_numpys_planes(fake_cuda: Any, format: Format, rows_a_chunk: float, readers: int) -> None:
    cols = 512 if format.block_values == 256 else 96
    values = np.random.default_rng(3).standard_normal((ROWS, cols)).astype(np.float32)
    file = formats.encode(format, values).reshape(-1)
    row_bytes = format.row_bytes(cols)
    api = CudaApi(0, fake_cuda)
    with api.current():
        size = plane_layout(format, ROWS, cols).total_bytes
        target, second = api.alloc(size), api.alloc(size)
        chunk = int(rows_a_chunk * row_bytes)
        with Repacker(api, api.facts(), row_bytes, chunk=chunk, readers=readers) as repacker:
            repacker.rows(target, PlanesAttr(format, ROWS, cols), file)
            repacker.copy(second, target, size)
        assert fake_cuda.allocations == {target, second}, "chunks are given back"
        expected = repack(format, ROWS, cols, file).tobytes()
        assert fake_cuda.emulator.read(target, size) == expected
        assert fake_cuda.emulator.read(second, size) == expected
    chunks = -(-ROWS // max(1, int(rows_a_chunk)))
    # Plain rows of whole loads lie in a file as they do on the device: bytes, in chunks that need not be whole rows.
    assert fake_cuda.log.count("cuMemcpyHtoDAsync") == chunks
    launched = 0 if row_bytes == plane_layout(format, ROWS, cols).pitch and not format.is_block else chunks
    assert len(fake_cuda.launches) == launched
    # A stage is waited for before it is filled anew: there are two more of them than readers.
    assert fake_cuda.log.count("cuMemHostAlloc") == min(chunks, readers + 2)
    assert fake_cuda.log.count("cuEventSynchronize") == max(0, chunks - readers - 2)
    assert not fake_cuda.modules


def test_small_constants_share_a_stage(fake_cuda: Any) -> None:
    rng = np.random.default_rng(5)
    values = [rng.integers(0, 256, size, np.uint8) for size in (1, 300, 4, 256, 1000, 24)]
    api = CudaApi(0, fake_cuda)
    with api.current():
        targets = [api.alloc(data.size) for data in values]
        with Repacker(api, api.facts(), 32, chunk=2048, readers=2) as repacker:
            for target, data in zip(targets, values, strict=True):
                repacker.plain(target, data)
        for target, data in zip(targets, values, strict=True):
            assert fake_cuda.emulator.read(target, data.size) == data.tobytes()
    # At multiples of 256 bytes: 0, 256, 768 and 1024 fill the first, 0 and 1024 lie in the second.
    assert fake_cuda.log.count("cuMemHostAlloc") == 2


def test_readers_are_waited_for_when_something_fails(fake_cuda: Any) -> None:
    api = CudaApi(0, fake_cuda)
    data = np.arange(64 * 1024, dtype=np.uint32).view(np.uint8)
    with api.current():
        target = api.alloc(data.size)
        with (
            pytest.raises(KeyboardInterrupt),
            Repacker(api, api.facts(), 32, chunk=4096, readers=4) as repacker,
        ):
            repacker.plain(target, data[: 4 * 4096])
            raise KeyboardInterrupt
        assert fake_cuda.allocations == {target}
    assert fake_cuda.log.index("cuMemFreeHost") > fake_cuda.log.index("cuStreamSynchronize")


def test_a_fault_gives_everything_back(fake_cuda: Any) -> None:
    api = CudaApi(0, fake_cuda)
    with api.current():
        target = api.alloc(4096)
        fake_cuda.failing["cuMemcpyHtoDAsync"] = type(fake_cuda.cuDeviceGet(0)[0]).CUDA_ERROR_INVALID_VALUE
        with pytest.raises(CudaError, match="copy 96 bytes to the device"), Repacker(api, api.facts(), 32) as repacker:
            repacker.plain(target, np.arange(96, dtype=np.uint8))
        assert fake_cuda.allocations == {target}


@pytest.mark.parametrize(("capability", "target"), [((8, 0), "sm_80"), ((8, 9), "sm_80"), ((9, 0), "sm_90")])
def test_kernels_are_of_the_devices_architecture(fake_cuda: Any, capability: tuple[int, int], target: str) -> None:
    for name, value in zip(("MAJOR", "MINOR"), capability, strict=True):
        fake_cuda.attributes[f"COMPUTE_CAPABILITY_{name}"] = value
    loaded: list[str] = []
    load = fake_cuda.emulator.load

    def note(text: str) -> Any:
        loaded.append(next(line for line in text.splitlines() if line.startswith(".target")))
        return load(text)

    fake_cuda.emulator.load = note
    file = formats.encode(Format.Q8_0, np.random.default_rng(3).standard_normal((2, 32)).astype(np.float32)).reshape(-1)
    api = CudaApi(0, fake_cuda)
    with api.current():
        address = api.alloc(plane_layout(Format.Q8_0, 2, 32).total_bytes)
        with Repacker(api, api.facts(), 34) as repacker:
            repacker.rows(address, PlanesAttr(Format.Q8_0, 2, 32), file)
    assert loaded == [f".target {target}"]
