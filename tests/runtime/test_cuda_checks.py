"""What a driver and a device must allow, as plain numbers; the one checker of driver calls; a machine without a GPU."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from types import SimpleNamespace

import pytest

from lanelink.lowering.runtime import cuda_api
from lanelink.lowering.runtime.cuda_api import CudaError, GpuMissing, check, gpu_missing
from lanelink.lowering.runtime.cuda_checks import (
    DeviceFacts,
    NotRunnable,
    check_cluster,
    check_cluster_device,
    check_launch,
    check_ptx,
    check_together,
    least_driver,
)
from lanelink.lowering.runtime.plan import PlanLaunch
from lanelink.lowering.signatures import read_ptx

FACTS = DeviceFacts(
    "H200", 13000, (9, 0), (2**31 - 1, 65535, 65535), (1024, 1024, 64), 1024, 232448, 10**11, 14 * 10**10
)
LAUNCH = PlanLaunch("m", "f", (1, 1, 1), (32, 1, 1), 0, (), False, (), "gemv")


def ptx(version: str = "8.4", target: str = "sm_90"):
    return read_ptx(f".version {version}\n.target {target}\n.address_size 64\n", "m.ptx")


@pytest.mark.parametrize(
    ("version", "driver"),
    [
        *(((7, 0), 11000), ((7, 8), 11080), ((8, 0), 12000), ((8, 4), 12040), ((8, 5), 12050), ((8, 6), 12070)),
        *(((8, 8), 12090), ((9, 0), 13000), ((9, 5), 13050)),
    ],
)
def test_least_driver(version: tuple[int, int], driver: int) -> None:
    assert least_driver(version) == driver


def test_ptx_newer_than_the_driver() -> None:
    check_ptx(ptx("9.0"), FACTS)
    message = "m.ptx: expected a driver of CUDA 13.5 or later for PTX 9.5, got CUDA 13.0"
    with pytest.raises(NotRunnable, match=message):
        check_ptx(ptx("9.5"), FACTS)


@pytest.mark.parametrize(
    ("target", "capability", "runs"),
    [
        *(("sm_80", (8, 0), True), ("sm_80", (9, 0), True), ("sm_90", (8, 9), False), ("sm_90", (10, 0), True)),
        *(("sm_90a", (9, 0), True), ("sm_90a", (10, 0), False), ("sm_100", (9, 0), False)),
    ],
)
def test_architecture(target: str, capability: tuple[int, int], runs: bool) -> None:
    facts = replace(FACTS, capability=capability)
    if runs:
        check_ptx(ptx(target=target), facts)
    else:
        exactly = "exactly" if target.endswith("a") else "or later"
        with pytest.raises(NotRunnable, match=rf"{exactly} for {target}, got {capability[0]}.{capability[1]} \(H200\)"):
            check_ptx(ptx(target=target), facts)


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (replace(LAUNCH, grid=(1, 65536, 1)), "launch gemv @m::@f grid y: expected 1 to 65535, got 65536"),
        (replace(LAUNCH, grid=(1, 1, 70000)), "grid z: expected 1 to 65535, got 70000"),
        (replace(LAUNCH, grid=(2**31, 1, 1)), "grid x: expected 1 to 2147483647, got 2147483648"),
        (replace(LAUNCH, grid=(0, 1, 1)), "grid x: expected 1 to 2147483647, got 0"),
        (replace(LAUNCH, block=(1, 1, 65)), "block z: expected 1 to 64, got 65"),
        (replace(LAUNCH, block=(512, 1, 1)), "block: expected at most 256 threads, got 512"),
        (
            replace(LAUNCH, shared=232000),
            "shared memory: expected at most 232448 bytes a block on H200, got 232000 and 1000 of the kernel's own",
        ),
    ],
)
def test_launch_limits(launch: PlanLaunch, message: str) -> None:
    with pytest.raises(NotRunnable, match=message):
        check_launch(launch, FACTS, static_shared=1000, threads=256)


def test_launch_at_the_limits() -> None:
    check_launch(replace(LAUNCH, grid=(2**31 - 1, 65535, 65535), shared=231448), FACTS, 1000, 256)


def test_clusters_are_of_devices_that_know_and_hold_them() -> None:
    clusters = replace(LAUNCH, grid=(32, 1, 1), label="attention", cluster=16)
    check_cluster_device(clusters, FACTS)
    check_cluster_device(replace(clusters, cluster=1), replace(FACTS, capability=(8, 0)))
    with pytest.raises(NotRunnable, match=r"capability 9.0 or later for clusters of 16 blocks, got 8.0 \(H200\)"):
        check_cluster_device(clusters, replace(FACTS, capability=(8, 0)))
    check_cluster(clusters, FACTS, 1)
    with pytest.raises(
        NotRunnable, match=r"attention @m::@f: expected room for a cluster of 16 blocks .* none on H200"
    ):
        check_cluster(clusters, FACTS, 0)


def test_blocks_that_wait_for_each_other_are_all_resident() -> None:
    together = replace(LAUNCH, grid=(132, 2, 1), label="moe", together=True)
    check_together(together, FACTS, 264)
    check_together(replace(together, together=False), FACTS, 1)
    with pytest.raises(NotRunnable, match="launch moe @m::@f: expected at most 263 blocks, which H200 holds at once"):
        check_together(together, FACTS, 263)


class Status(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_LAUNCH_FAILED = 719


def test_the_one_checker() -> None:
    assert check((Status.CUDA_SUCCESS,), "x") is None
    assert check((Status.CUDA_SUCCESS, 4), "x") == 4
    assert check((Status.CUDA_SUCCESS, 4, 5), "x") == (4, 5)
    with pytest.raises(CudaError, match="cuda: wait: expected CUDA_SUCCESS, got CUDA_ERROR_LAUNCH_FAILED"):
        check((Status.CUDA_ERROR_LAUNCH_FAILED, None), "wait")


@pytest.mark.parametrize(
    ("imported", "message"),
    [
        (ImportError("No module named 'cuda'"), "expected the package cuda-bindings, got: No module named 'cuda'"),
        (RuntimeError("libcuda.so.1 not found\nmore"), "expected an NVIDIA driver, got: libcuda.so.1 not found$"),
        ((SimpleNamespace(name="CUDA_ERROR_NO_DEVICE", __int__=lambda: 100),), ""),
    ],
)
def test_a_machine_without_a_gpu(monkeypatch: pytest.MonkeyPatch, imported: object, message: str) -> None:
    class NoDevice(IntEnum):
        CUDA_ERROR_NO_DEVICE = 100

    def importing(name: str) -> object:
        if isinstance(imported, ImportError):
            raise imported

        def init(flags: int) -> tuple[IntEnum]:
            if isinstance(imported, RuntimeError):
                raise imported
            return (NoDevice.CUDA_ERROR_NO_DEVICE,)

        return SimpleNamespace(cuInit=init)

    monkeypatch.setattr(cuda_api, "import_module", importing)
    message = message or "expected a GPU, got CUDA_ERROR_NO_DEVICE from cuInit"
    with pytest.raises(GpuMissing, match=message):
        cuda_api.load_bindings()
    found = gpu_missing()
    assert found is not None and found.startswith("cuda: expected")
