"""A step of level 1 run to its end: lowered whole and launched on the emulator, beside what its tensors mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from levels import check_close
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch import Launch
from lanelink.dialects.tgraph.step import step_function, step_io
from lanelink.lowering.interpreters.levels import step_of
from lanelink.lowering.interpreters.reference import zero_inputs
from lanelink.lowering.launch_to_driver import LowerToDriverPass
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.loader import ConstantsLoader
from lanelink.lowering.runtime.plan import Memory, read_plan
from lanelink.lowering.weights import random_weights
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.pipeline import Level, lower


class Emulated:
    """
    A step's launches on the emulator and its tensors in numpy, over the same random weights, from zero states.

    `linked` is what the module's launches are, by default those that `link` makes; `architecture` whose PTX runs.
    """

    def __init__(
        self,
        module: ModuleOp,
        seed: int = 0,
        *,
        linked: ModuleOp | None = None,
        architecture: Any = None,
        races: bool = True,
    ) -> None:
        constants = random_weights(module, seed)
        self.linked = lower(module, Level.LAUNCHES) if linked is None else linked
        planned = self.linked.clone()
        for each in (PlanBuffersPass(), LowerToDriverPass(architecture=architecture)):
            each.apply(Context(), planned)
        planned.verify()
        self.backend = EmulatorBackend(read_plan(planned), ConstantsLoader(constants), races=races)
        # Products read quantized activations where the numerics say so.
        tensors = lower(module, Level.TENSORS)
        self._reference = step_of(tensors, constants)
        self._arguments = zero_inputs(step_function(tensors))
        self._io = step_io(step_function(tensors))
        # An outcome's results are those that the step carries nowhere.
        logits, carries = self._io.logits, self._io.carries
        self._logits = None if logits is None else sum(k not in carries for k in range(logits))

    def launches(self) -> list[Launch]:
        """The step's launches and the parts of compound ones."""
        return [op for op in self.linked.walk() if isinstance(op, Launch)]

    def check_step(self, tokens: Sequence[int], relative: float) -> None:
        """Runs one more step: its logits, where it has some, and its states must be those of the tensors, but for
        `relative` of each's largest value."""
        self.backend.step(tokens)
        self._arguments[self._io.token] = np.array(tokens, np.int32)
        outcome = self._reference(self._arguments)
        self._arguments = outcome.arguments
        if self._logits is not None:
            check_close(self.backend.logits(), outcome.results[self._logits], relative)
        for argument, name in self._io.states.items():
            expected = self._arguments[argument]
            got = np.frombuffer(self.backend.read_buffer(Memory.STATE, name), expected.dtype)
            check_close(got.reshape(expected.shape), expected, relative)


__all__ = ["Emulated"]
