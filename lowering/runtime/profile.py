"""How fast a plan runs on a GPU: tokens a second, each kind of launch, and the ceiling beside them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanelink.lowering.runtime.backend import StepShape
from lanelink.lowering.runtime.cuda import CudaBackend
from lanelink.lowering.runtime.loader import RandomLoader
from lanelink.lowering.runtime.plan import Memory, Place, Plan, PlanBuffer, PlanLaunch
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.stream import StreamSpec, stream

STREAMED = 8 << 30
"""Bytes that the ceiling is measured with: far more than any cache holds."""

REPLAYS = 20
"""Replays of a graph that are timed together."""


@dataclass(frozen=True)
class Rates:
    """Tokens a second, of all sequences: of decoding, every id of which the host reads, and of replays alone."""

    decode: float
    replay: float


def measure(backend: CudaBackend, tokens: int, runs: int) -> Rates:
    """The medians of `runs` runs of `tokens` greedy tokens of each sequence from position 1 on."""
    rates: dict[str, list[float]] = {"decode": [], "replay": []}
    for _ in range(runs):
        for name, found in rates.items():
            backend.reset()
            backend.step([1] * backend.shape.rows)
            backend.chosen()
            start = time.perf_counter()
            if name == "decode":
                for _ in backend.decode(tokens):
                    pass
            else:
                backend.run_ahead(tokens)
            found.append(backend.shape.sequences * tokens / (time.perf_counter() - start))
    return Rates(statistics.median(rates["decode"]), statistics.median(rates["replay"]))


@dataclass(frozen=True)
class KindTime:
    """
    Launches of one kind: the first of them in the step, how many, the bytes of constants that each reads, the seconds
    of one among its like, and what a step takes longer for having one of them where it stands.
    """

    launch: PlanLaunch
    times: int
    bytes: int
    seconds: float
    in_step: float

    @property
    def gap(self) -> float:
        """Seconds before one in the step in which it could have run."""
        return self.in_step - self.seconds


@dataclass(frozen=True)
class Profile:
    """The kinds of launches of a step, and the seconds of a step."""

    kinds: tuple[KindTime, ...]
    step: float


def profile(backend: CudaBackend, sizes: Sequence[int], position: int, replays: int = REPLAYS) -> Profile:
    """
    Times each kind of launch at one position; `sizes` has the bytes of constants that each launch of the plan reads.

    Launches of one kind read different weights, so caches help no more than in the step, and overlap as launches of the
    step do, though with their own kind. What one takes in the step is what a graph of the step's launches up to it
    takes longer than one up to the launch before.
    """
    launches = backend.plan.launches
    kinds: dict[tuple[object, ...], list[int]] = {}
    for at, (launch, size) in enumerate(zip(launches, sizes, strict=True)):
        kinds.setdefault((launch.label, launch.entry, launch.grid, size), []).append(at)

    def seconds(some: Sequence[PlanLaunch]) -> float:
        return timed(backend, some, position, replays) if some else 0.0

    def kind(found: Sequence[int]) -> KindTime:
        alike, middle = [launches[at] for at in found], found[len(found) // 2]
        before, past = seconds(launches[:middle]), seconds(launches[: middle + 1])
        return KindTime(alike[0], len(alike), sizes[middle], seconds(alike) / len(alike), past - before)

    return Profile(tuple(kind(found) for found in kinds.values()), seconds(launches))


def timed(backend: CudaBackend, launches: Sequence[PlanLaunch], position: int, replays: int = REPLAYS) -> float:
    """Seconds of one replay of the launches: the least of three measurements from `position` on."""
    graph = backend.capture(launches)
    found: list[float] = []
    for _ in range(3):
        backend.reset()
        if backend.plan.position is not None:
            backend.write(backend.plan.position, np.full(backend.shape.sequences, position, np.int32))
        found.append(backend.seconds(graph, replays) / replays)
    return min(found)


def ceiling(chip: Chip, size: int = STREAMED, bindings: Any = None) -> float:
    """Bytes a second that a streaming read of `size` bytes reaches on the GPU. Raises what CudaBackend raises."""
    call = stream(StreamSpec(Address(1), size, Address(0)), chip)
    launch = PlanLaunch(
        call.module, call.entry, call.grid, call.block, call.shared, call.arguments, False, (), "streaming read"
    )
    buffers = (PlanBuffer(Memory.TOKEN, 4, "token"), PlanBuffer(Memory.STATE, size, "data"))
    plan = Plan(
        name="stream",
        modules={call.module: chip.architecture},
        buffers=buffers,
        launches=(launch,),
        token=Place(0, 0, 4),
        position=None,
        chosen=None,
        logits=None,
        shape=StepShape(1, None, None),
    )
    with CudaBackend(plan, RandomLoader(), bindings=bindings) as backend:
        return size / timed(backend, plan.launches, 0, replays=3)


__all__ = ["KindTime", "Profile", "Rates", "ceiling", "measure", "profile", "timed"]
