"""The CUDA backend, its device played by the emulator: what it asks of the driver, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from lanelink.bench import Options, bench
from lanelink.dialects.driver import PlanesAttr
from lanelink.dialects.formats import Format
from lanelink.lowering.runtime import cuda_api
from lanelink.lowering.runtime.backend import BackendError
from lanelink.lowering.runtime.cuda import CudaBackend, CudaError, GpuMissing, NotRunnable, check_room
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.generation import generate
from lanelink.lowering.runtime.loader import Loaded, RandomLoader
from lanelink.lowering.runtime.plan import Place

MODELS = Path(__file__).parent.parent / "models"


@pytest.fixture(scope="module")
def llama(prepared: Any) -> Any:
    return prepared("llama", architecture="compute_90")


def test_decodes_as_the_emulator(fake_cuda: Any, llama: Any) -> None:
    emulator = EmulatorBackend(llama.plan, llama.loader)
    with CudaBackend(llama.plan, llama.loader, bindings=fake_cuda) as cuda:
        prompt = [32, 97, 104, 101]
        assert generate(cuda, prompt, 12) == generate(emulator, prompt, 12)
        np.testing.assert_array_equal(cuda.logits(), emulator.logits())
        assert cuda.positions == emulator.positions == (15,)
        assert cuda.plan.position is not None
        assert cuda.read(cuda.plan.position).view(np.int32) == [15]
    assert cuda.launches_per_step == len(llama.plan.launches)


def test_a_step_is_one_graph(fake_cuda: Any, llama: Any) -> None:
    with CudaBackend(llama.plan, llama.loader, bindings=fake_cuda) as cuda:
        launched = list(fake_cuda.launches)
        fake_cuda.log.clear()
        cuda.step(3)
        cuda.step()
        assert fake_cuda.launches == launched
        assert [call for call in fake_cuda.log if not call.startswith("cuCtx")] == [
            *("cuMemcpyHtoDAsync", "cuGraphLaunch"),
            "cuGraphLaunch",
        ]
    names = [launch.entry for launch in llama.plan.launches]
    assert [name for name, _ in launched] == names
    assert [dependent for _, dependent in launched] == [False] + [True] * (len(names) - 1)


@pytest.mark.parametrize(("what", "value"), [("driver", 12020), ("capability", 8)])
def test_launches_wait_in_order_where_graphs_know_no_dependence(
    fake_cuda: Any, prepared: Any, what: str, value: int
) -> None:
    if what == "driver":
        fake_cuda.driver = 12040
        plan = prepared("llama", architecture="compute_80").plan
    else:
        fake_cuda.attributes["COMPUTE_CAPABILITY_MAJOR"] = value
        plan = prepared("llama", architecture="compute_80").plan
    with CudaBackend(plan, RandomLoader(), bindings=fake_cuda):
        assert not any(dependent for _, dependent in fake_cuda.launches)


def test_reset_begins_anew(fake_cuda: Any, llama: Any) -> None:
    with CudaBackend(llama.plan, llama.loader, bindings=fake_cuda) as cuda:
        cuda.step(5)
        cuda.step()
        first = cuda.logits()
        cuda.reset()
        assert cuda.positions == (0,)
        with pytest.raises(BackendError, match="no earlier step"):
            cuda.step()
        cuda.step(5)
        cuda.step()
        np.testing.assert_array_equal(cuda.logits(), first)


def test_decode_stops_where_the_context_does(fake_cuda: Any, prepared: Any) -> None:
    ready = prepared("llama", context=8)
    with CudaBackend(ready.plan, ready.loader, bindings=fake_cuda) as cuda:
        cuda.step(5)
        ids: list[int] = []
        with pytest.raises(BackendError, match="fit a context of 8, got 9"):
            ids.extend(int(chosen[0]) for chosen in cuda.decode(20))
        assert cuda.positions == (8,)
        cuda.reset()
        cuda.step(5)
        assert len(list(cuda.decode(7))) == 7


def test_works_from_another_thread(fake_cuda: Any, llama: Any) -> None:
    found: list[Any] = []
    with CudaBackend(llama.plan, llama.loader, bindings=fake_cuda) as cuda:

        def run() -> None:
            cuda.step(7)
            found.append(cuda.chosen())

        thread = Thread(target=run)
        thread.start()
        thread.join()
        cuda.reset()
        cuda.step(7)
        np.testing.assert_array_equal(found[0], cuda.chosen())


def test_frees_everything(fake_cuda: Any, llama: Any) -> None:
    cuda = CudaBackend(llama.plan, llama.loader, bindings=fake_cuda)
    assert fake_cuda.allocations and fake_cuda.held == 1
    launched = sorted({launch.entry for launch in llama.plan.launches})
    assert sorted(name for module in fake_cuda.modules for name in module.entries) == launched, "no other is compiled"
    cuda.close()
    cuda.close()
    assert not fake_cuda.allocations and not fake_cuda.modules and fake_cuda.held == 0
    for use in (lambda: cuda.step(1), cuda.reset, lambda: cuda.read(cuda.plan.token)):
        with pytest.raises(BackendError, match="expected an open backend, got a closed one"):
            use()


def test_frees_what_it_took_before_a_fault(fake_cuda: Any, llama: Any) -> None:
    def broken(constant: Any) -> Loaded:
        raise ValueError("no such tensor")

    with pytest.raises(ValueError, match="no such tensor"):
        CudaBackend(llama.plan, broken, bindings=fake_cuda)
    assert not fake_cuda.allocations and fake_cuda.held == 0


def test_bytes_of_another_layout(fake_cuda: Any, llama: Any) -> None:
    with pytest.raises(BackendError, match=r"constant 'cos table': expected 8192 bytes in its layout, got 3"):
        CudaBackend(llama.plan, lambda _: Loaded(np.zeros(3, np.uint8)), bindings=fake_cuda)


def test_constants_of_one_shape_are_copied_on_the_device(fake_cuda: Any, llama: Any) -> None:
    with CudaBackend(llama.plan, RandomLoader(), bindings=fake_cuda):
        shapes = {(b.constant.layout, "table" in b.name or None) for b in llama.plan.buffers if b.constant}
        uploads, copies = fake_cuda.log.count("cuMemcpyHtoDAsync"), fake_cuda.log.count("cuMemcpyDtoDAsync")
    constants = sum(b.constant is not None for b in llama.plan.buffers)
    assert uploads == len(shapes) + 1  # the cos and the sin table differ
    assert uploads + copies == constants


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("cuMemAlloc", r"cuda: allocate \d+ bytes on the device: expected CUDA_SUCCESS, got CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuModuleLoadData", r"cuda: load \w+\.compute_90\.ptx entry \w+: .* got CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuLaunchKernelEx", r"cuda: launch gather @rows::@gather_bf16: .* got CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuStreamEndCapture", "cuda: end the capture of the step: .* got CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuDevicePrimaryCtxRetain", "cuda: open device 0: .* got CUDA_ERROR_OUT_OF_MEMORY"),
    ],
)
def test_failing_calls_are_named(fake_cuda: Any, llama: Any, call: str, message: str) -> None:
    status = type(fake_cuda.cuDeviceGet(0)[0])
    fake_cuda.failing[call] = status.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(CudaError, match=message):
        CudaBackend(llama.plan, llama.loader, bindings=fake_cuda)
    assert not fake_cuda.allocations and fake_cuda.held == 0


def test_no_such_device(fake_cuda: Any, llama: Any) -> None:
    with pytest.raises(GpuMissing, match="expected a device below 1, got 1"):
        CudaBackend(llama.plan, llama.loader, device=1, bindings=fake_cuda)


def test_too_little_memory(fake_cuda: Any, llama: Any) -> None:
    fake_cuda.free = 1000
    message = r"device memory: expected \d+ bytes \(\d+ bytes of constants, 131072 bytes of state, \d+ bytes of working"
    message += r" memory\), got 1000 bytes free of 2.15 GB on Fake GPU"
    with pytest.raises(NotRunnable, match=message):
        CudaBackend(llama.plan, llama.loader, bindings=fake_cuda)
    with pytest.raises(NotRunnable, match=message):
        check_room(llama.plan, bindings=fake_cuda)
    assert not {"cuMemAlloc", "cuMemHostAlloc", "cuModuleLoadData"} & set(fake_cuda.log)
    assert fake_cuda.held == 0


def test_a_shape_past_the_memory_is_not_begun(fake_cuda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_api, "load_bindings", lambda: fake_cuda)
    fake_cuda.free = 1000
    with pytest.raises(NotRunnable, match=r"device memory: expected \d+ bytes .* got 1000 bytes free"):
        bench(str(MODELS / "llama"), Options())
    assert "cuMemAlloc" not in fake_cuda.log


def test_an_older_driver(fake_cuda: Any, llama: Any) -> None:
    fake_cuda.driver = 12030
    message = "expected a driver of CUDA 12.4 or later for PTX 8.4, got CUDA 12.3"
    with pytest.raises(NotRunnable, match=message):
        CudaBackend(llama.plan, llama.loader, bindings=fake_cuda)


def test_an_older_device(fake_cuda: Any, llama: Any) -> None:
    fake_cuda.attributes["COMPUTE_CAPABILITY_MAJOR"] = 8
    message = r"compute capability 9.0 or later for sm_90, got 8.0 \(Fake GPU\)"
    with pytest.raises(NotRunnable, match=message):
        CudaBackend(llama.plan, llama.loader, bindings=fake_cuda)


def test_much_shared_memory_is_opted_into(fake_cuda: Any, prepared: Any) -> None:
    ready = prepared("llama")
    with CudaBackend(ready.plan, ready.loader, bindings=fake_cuda):
        pass
    needed = {launch.entry: launch.shared for launch in ready.plan.launches if launch.shared > 48 * 1024}
    assert set(fake_cuda.shared_allowed) >= set(needed)


def test_timing_a_graph_of_chosen_launches(fake_cuda: Any, llama: Any) -> None:
    with CudaBackend(llama.plan, llama.loader, bindings=fake_cuda) as cuda:
        cuda.step(1)
        graph = cuda.capture(llama.plan.launches[:2])
        assert cuda.seconds(graph, 3) == 0.002


@pytest.mark.parametrize("format", [Format.Q8_0, Format.Q4_0])
def test_quantized_rows_are_laid_out_on_the_device(fake_cuda: Any, prepared: Any, format: Format) -> None:
    ready = prepared("llama", quantize=format)
    with CudaBackend(ready.plan, ready.loader, bindings=fake_cuda) as backend:
        laid_out = [name for name, _ in fake_cuda.launches if name.startswith("repack_")]
        rows = 0
        for k, buffer in enumerate(ready.plan.buffers):
            if buffer.constant is None:
                continue
            loaded = ready.loader(buffer.constant)
            rows += loaded.planes is not None and loaded.planes.format.data is format
            assert backend.read(Place(k, 0, buffer.bytes)).tobytes() == loaded.data.tobytes()
    assert laid_out == [f"repack_{format.value}_rows"] * rows and rows > 0


def test_rows_of_another_size(fake_cuda: Any, prepared: Any) -> None:
    ready = prepared("llama", quantize=Format.Q8_0)

    def short(constant: Any) -> Loaded:
        found = ready.loader(constant)
        return found if found.planes is None else Loaded(found.found[34:], found.planes)

    with pytest.raises(BackendError, match=r"expected \d+ bytes of #driver.planes<q8_0, \d+x\d+>'s rows, got \d+"):
        CudaBackend(ready.plan, short, bindings=fake_cuda)
    assert not fake_cuda.allocations and fake_cuda.held == 0


def test_planes_of_another_size(fake_cuda: Any, prepared: Any) -> None:
    ready = prepared("llama", quantize=Format.Q8_0)

    def other(constant: Any) -> Loaded:
        found = ready.loader(constant)
        return found if found.planes is None else Loaded(found.found, PlanesAttr(Format.Q8_0, 1, 32))

    with pytest.raises(BackendError, match=r"expected planes of \d+ bytes, got 272"):
        CudaBackend(ready.plan, other, bindings=fake_cuda)
