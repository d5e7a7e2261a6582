"""What is measured of a plan on a GPU, its device played by the emulator, whose every event is 2 ms after another."""

from __future__ import annotations

from typing import Any

import pytest

from lanelink.lowering.runtime.cuda import CudaBackend
from lanelink.lowering.runtime.loader import RandomLoader
from lanelink.lowering.runtime.profile import ceiling, measure, profile, timed
from lanelink.lowering.selection.chip import Chip


@pytest.fixture(scope="module")
def plan(prepared: Any) -> Any:
    return prepared("llama", architecture="compute_90", context=16).plan


def test_kinds_are_launches_that_are_alike(fake_cuda: Any, plan: Any) -> None:
    sizes = list(range(100, 100 + len(plan.launches)))
    of_layers = [k for k, launch in enumerate(plan.launches) if "attention" in launch.label]
    for at in of_layers:
        sizes[at] = 7
    with CudaBackend(plan, RandomLoader(), bindings=fake_cuda) as backend:
        found = profile(backend, sizes, 3, replays=1)
    assert sum(kind.times for kind in found.kinds) == len(plan.launches)
    attention = next(kind for kind in found.kinds if "attention" in kind.launch.label)
    assert (attention.times, attention.bytes) == (len(of_layers), 7)
    # Every graph takes 2 ms a replay here, so a launch takes its share of that, and nothing in the step.
    assert attention.seconds == pytest.approx(0.002 / len(of_layers))
    assert attention.in_step == pytest.approx(0.0)
    assert attention.gap == pytest.approx(-attention.seconds)
    # The first launch has nothing before it.
    assert found.kinds[0].in_step == pytest.approx(0.002)
    assert found.step == pytest.approx(0.002)


def test_rates_are_of_whole_runs(fake_cuda: Any, plan: Any) -> None:
    with CudaBackend(plan, RandomLoader(), bindings=fake_cuda) as backend:
        fake_cuda.log.clear()
        rates = measure(backend, tokens=3, runs=2)
    assert rates.decode > 0 and rates.replay > 0
    # Each of the two runs of both kinds: a first step, then three.
    assert fake_cuda.log.count("cuGraphLaunch") == 2 * 2 * 4


def test_a_position_is_kept_between_measurements(fake_cuda: Any, plan: Any) -> None:
    with CudaBackend(plan, RandomLoader(), bindings=fake_cuda) as backend:
        timed(backend, plan.launches, 5, replays=2)
        assert plan.position is not None
        # From position 5 on: the replay that is not timed, and two that are.
        assert backend.read(plan.position).view("i4") == [8]


def test_the_ceiling_is_bytes_over_time(fake_cuda: Any) -> None:
    size = 1 << 16
    assert ceiling(Chip("small", (9, 0), 2, 100), size, fake_cuda) == pytest.approx(size / (0.002 / 3))
    assert set(fake_cuda.launches) == {("stream_words", False)}
    assert not fake_cuda.allocations
