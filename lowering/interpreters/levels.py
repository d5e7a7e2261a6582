"""One step at any level a module is at, run on arrays: what it leaves for the next step, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch.step import LIFTED
from lanelink.dialects.tgraph.step import step_function, step_io
from lanelink.lowering.interpreters.launch_forms import kept
from lanelink.lowering.interpreters.launches import LaunchInterpreter
from lanelink.lowering.interpreters.reference import StepInterpreter
from lanelink.lowering.weights import Constants

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """What a step leaves, the same at every level: its arguments as the next step finds them, and the results that it
    carries nowhere, in their order, quantized rows as the f32 values they stand for."""

    arguments: list[Array]
    results: list[Array]


Step: TypeAlias = Callable[[Sequence[Array]], Outcome]
"""One step of given arguments, which it leaves as they are."""


def step_of(module: ModuleOp, constants: Constants) -> Step:
    """The step of a module of level 1, 2 or 3; `constants` are resolved at level 1 or 2.

    Raises what `StepInterpreter` and `LaunchInterpreter` raise.
    """
    func = step_function(module)
    if LIFTED in func.attributes:
        linked = LaunchInterpreter(module, constants, func)

        def launches(arguments: Sequence[Array]) -> Outcome:
            held = [a.copy() for a in arguments]
            return Outcome(results=linked.run(held), arguments=held)

        return launches

    carries = step_io(func).carries
    tensors = StepInterpreter(module, constants, func)

    def lifted(arguments: Sequence[Array]) -> Outcome:
        held = list(arguments)
        results = tensors.run(arguments)
        for result, argument in carries.items():
            held[argument] = results[result]
        rest = [value for k, value in enumerate(results) if k not in carries]
        # A result may be an argument itself: copies keep one step's arrays out of another's.
        return Outcome([a.copy() for a in held], [kept(r) for r in rest])

    return lifted


__all__ = ["Outcome", "Step", "step_of"]
