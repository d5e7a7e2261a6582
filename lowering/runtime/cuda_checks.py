"""What a driver and a device allow, against what a plan asks of them: plain data, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from lanelink.dialects.driver.launch import Extent
from lanelink.lowering.runtime.backend import BackendError
from lanelink.lowering.runtime.plan import Memory, Plan, PlanLaunch
from lanelink.lowering.signatures import PtxText

DEFAULT_SHARED = 48 * 1024
"""Bytes of dynamic shared memory an entry may be launched with before it is allowed more."""

USUAL_CLUSTER = 8
"""Blocks of a cluster that a function may be launched with before it is allowed more."""

GRAPH_EDGES_DRIVER = 12030
"""The first driver whose graphs keep programmatic dependence between launches (CUDA 12.3)."""


class NotRunnable(BackendError):
    """A plan that this driver or device cannot run: what it needs, what there is."""


@dataclass(frozen=True)
class DeviceFacts:
    """A device: `driver` as the API counts versions (12040 is 12.4), `shared` bytes a block may be given by opt-in,
    `free` and `total` bytes of memory."""

    name: str
    driver: int
    capability: tuple[int, int]
    grid: Extent
    block: Extent
    threads: int
    shared: int
    free: int
    total: int

    @property
    def orders_programmatically(self) -> bool:
        """Whether launches in a graph may begin before the launch before them ends."""
        return self.capability >= (9, 0) and self.driver >= GRAPH_EDGES_DRIVER


def least_driver(ptx: tuple[int, int]) -> int:
    """The first driver that loads a PTX version, as the API counts (PTX ISA manual, release notes)."""
    major, minor = ptx
    if major == 8:
        # CUDA 12.6 brought no new PTX, so the versions fall one behind from there.
        return 12000 + 10 * (minor if minor <= 5 else minor + 1)
    return 1000 * (major + 4) + 10 * minor


def check_ptx(ptx: PtxText, facts: DeviceFacts) -> None:
    """Checks that the driver loads the PTX's version, and that the device runs its architecture."""
    least = least_driver(ptx.version)
    if facts.driver < least:
        raise NotRunnable(
            f"{ptx.name}: expected a driver of CUDA {_version(least)} or later for PTX "
            f"{ptx.version[0]}.{ptx.version[1]}, got CUDA {_version(facts.driver)}"
        )
    digits = ptx.target.removeprefix("sm_")
    exact = digits.endswith("a")
    digits = digits.rstrip("abcdefghijklmnopqrstuvwxyz")
    needed = (int(digits[:-1]), int(digits[-1]))
    fits = facts.capability == needed if exact else facts.capability >= needed
    if not fits:
        raise NotRunnable(
            f"{ptx.name}: expected a device of compute capability {needed[0]}.{needed[1]}"
            f"{' exactly' if exact else ' or later'} for {ptx.target}, "
            f"got {facts.capability[0]}.{facts.capability[1]} ({facts.name})"
        )


def check_launch(launch: PlanLaunch, facts: DeviceFacts, static_shared: int, threads: int) -> None:
    """Checks a launch's sizes; `static_shared` and `threads` are its entry's own memory and limit of threads."""
    where = f"launch {launch.name}"
    for what, sizes, most in (("grid", launch.grid, facts.grid), ("block", launch.block, facts.block)):
        for axis, size, limit in zip("xyz", sizes, most, strict=True):
            if not 1 <= size <= limit:
                raise NotRunnable(f"{where} {what} {axis}: expected 1 to {limit}, got {size}")
    limit = min(threads, facts.threads)
    if prod(launch.block) > limit:
        raise NotRunnable(f"{where} block: expected at most {limit} threads, got {prod(launch.block)}")
    if launch.shared + static_shared > facts.shared:
        raise NotRunnable(
            f"{where} shared memory: expected at most {facts.shared} bytes a block on {facts.name}, "
            f"got {launch.shared} and {static_shared} of the kernel's own"
        )


def check_together(launch: PlanLaunch, facts: DeviceFacts, resident: int) -> None:
    """Checks that the device, which holds `resident` of them at once, holds all blocks that wait for each other."""
    blocks = prod(launch.grid)
    if launch.together and blocks > resident:
        raise NotRunnable(
            f"launch {launch.name}: expected at most {resident} blocks, which "
            f"{facts.name} holds at once, as they wait for each other, got {blocks}: import for this device's "
            "multiprocessors"
        )


def check_cluster_device(launch: PlanLaunch, facts: DeviceFacts) -> None:
    """Checks that the device knows clusters, where the launch has them."""
    if launch.cluster > 1 and facts.capability < (9, 0):
        raise NotRunnable(
            f"launch {launch.name}: expected a device of compute capability 9.0 or "
            f"later for clusters of {launch.cluster} blocks, got {facts.capability[0]}.{facts.capability[1]} "
            f"({facts.name})"
        )


def check_cluster(launch: PlanLaunch, facts: DeviceFacts, resident: int) -> None:
    """Checks that the device, which holds `resident` of its clusters at once, holds any."""
    if resident < 1:
        raise NotRunnable(
            f"launch {launch.name}: expected room for a cluster of "
            f"{launch.cluster} blocks of {prod(launch.block)} threads, got none on {facts.name}"
        )


def check_memory(plan: Plan, needed: int, facts: DeviceFacts) -> None:
    """Checks that `needed` bytes, those of all the plan's buffers, are free."""
    if needed > facts.free:
        parts = ", ".join(_parts(plan))
        raise NotRunnable(
            f"device memory: expected {_size(needed)} ({parts}), got {_size(facts.free)} free of "
            f"{_size(facts.total)} on {facts.name}"
        )


def _parts(plan: Plan) -> Iterator[str]:
    names = {Memory.CONSTANT: "constants", Memory.STATE: "state", Memory.ARENA: "working memory"}
    return (f"{_size(plan.bytes_of(memory))} of {what}" for memory, what in names.items())


def _version(driver: int) -> str:
    return f"{driver // 1000}.{driver % 1000 // 10}"


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 10**7 else f"{count} bytes"


__all__ = [
    "DEFAULT_SHARED",
    "USUAL_CLUSTER",
    "DeviceFacts",
    "NotRunnable",
    "check_cluster",
    "check_cluster_device",
    "check_launch",
    "check_memory",
    "check_ptx",
    "check_together",
    "least_driver",
]
