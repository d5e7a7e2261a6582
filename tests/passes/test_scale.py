"""What compiling takes grows as the step does: counted in calls, not in seconds."""

from __future__ import annotations

import cProfile
import gc
from collections.abc import Callable

import pytest
from levels import parsed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from examples import printed
from lanelink.collector import collector_off
from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.pipeline import PASSES, Level, lower
from lanelink.verify import verify_module

Decoder = Callable[..., ModuleOp]


def calls(work: Callable[[], object]) -> int:
    """How many calls Python makes in `work`."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def stages(module: ModuleOp) -> dict[str, int]:
    """The calls of each stage from a step's text to that of its launches."""
    text = printed(module)
    taken = {"parse and verify": calls(lambda: parsed(text))}
    for each in PASSES[: Level.SCHEDULED.value]:
        taken[each.name] = calls(lambda each=each: each().apply(Context(), module))
        taken[f"verify after {each.name}"] = calls(lambda: verify_module(module))
    taken["print"] = calls(lambda: printed(module))
    return taken


def test_every_stage_is_linear_in_layers(decoder: Decoder) -> None:
    few, many = (stages(decoder(Numerics.INT8, layers=layers, format=Format.Q8_0, biases=True)) for layers in (3, 12))
    # What does not grow with layers makes the ratio less than four; bisections and the like a little more of it.
    assert {name: many[name] / few[name] for name in few if many[name] > 4.1 * few[name]} == {}


def test_the_collector_stays_out_of_lowering(decoder: Decoder) -> None:
    module = decoder(Numerics.INT8, layers=8)
    begun: list[str] = []

    def told(phase: str, info: dict[str, int]) -> None:
        begun.append(phase)

    gc.collect()
    gc.callbacks.append(told)
    try:
        lower(module)
        inside = len(begun)
        with pytest.raises(ZeroDivisionError), collector_off():
            assert not gc.isenabled()
            raise ZeroDivisionError
    finally:
        gc.callbacks.remove(told)
    assert gc.isenabled()
    # One may begin when it is let on again.
    assert inside <= 2


def test_the_collector_stays_off_where_it_was() -> None:
    gc.disable()
    try:
        with collector_off():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
