"""The reference backend: a step's own meaning, in numpy, at level 1 or 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from lanelink.dialects.tgraph.attention import AttentionOp
from lanelink.dialects.tgraph.rows import RopeOp
from lanelink.dialects.tgraph.step import step_function, step_io
from lanelink.dialects.tgraph.tables import SetRowOp
from lanelink.lowering.interpreters.lifted import shape_of
from lanelink.lowering.interpreters.reference import StepInterpreter, zero_inputs
from lanelink.lowering.runtime.backend import (
    BackendError,
    Ids,
    Logits,
    Positions,
    StepShape,
    check_sequence,
    check_step,
    decode_by_steps,
    is_of,
)
from lanelink.lowering.weights import Constants


class ReferenceBackend:
    """A step of level 1 or 2 and its resolved constants; `Backend` says the rest.

    Raises VerifyException for a module without one step, InterpretationError for an op without a meaning.
    """

    name = "reference"
    launches_per_step = 0

    def __init__(self, module: ModuleOp, constants: Constants) -> None:
        func = step_function(module)
        self._io = step_io(func)
        self.shape = step_shape(func)
        self._interpreter = StepInterpreter(module, constants, func)
        self._chosen = chosen_result(func)
        self._positions = Positions(self.shape)
        self.reset()

    @property
    def positions(self) -> tuple[int, ...]:
        """As in `Backend`."""
        return tuple(self._positions.at)

    def reset(self, sequence: int | None = None) -> None:
        """As in `Backend`."""
        if sequence is None:
            self._inputs = zero_inputs(self._interpreter.func)
            self._results: list[npt.NDArray[Any]] = []
        else:
            self._reset(sequence)
        self._positions.reset(sequence)

    def _reset(self, sequence: int) -> None:
        states, position = self._io.states, self._io.position
        check_sequence(self.shape, sequence, states.values())
        for argument, name in states.items():
            if is_of(name, sequence):
                self._inputs[argument] = np.zeros_like(self._inputs[argument])
        if position is not None:
            moved = self._inputs[position].copy()
            moved[sequence] = 0
            self._inputs[position] = moved

    def step(self, token: int | Sequence[int] | None = None) -> None:
        """As in `Backend`."""
        carried = bool(self._results) and self._io.token in self._io.carries.values()
        ids = check_step(self.shape, token, self._positions.at, carried=carried)
        if ids is not None:
            self._inputs[self._io.token] = ids
        with np.errstate(invalid="ignore"):  # weights that are not finite give results that are not, as on a device
            self._results = self._interpreter.run(self._inputs)
        for result, argument in self._io.carries.items():
            self._inputs[argument] = self._results[result]
        self._positions.advance()

    def decode(self, count: int) -> Iterator[Ids]:
        """As in `Backend`."""
        return decode_by_steps(self, count)

    def chosen(self) -> Ids:
        """As in `Backend`."""
        if not self._results or self._chosen is None:
            raise BackendError("chosen: expected a step that chooses ids to have run, got none")
        return self._results[self._chosen].copy()

    def logits(self) -> Logits:
        """As in `Backend`."""
        if not self._results or self._io.logits is None:
            raise BackendError("logits: expected a step that returns logits to have run, got none")
        return self._results[self._io.logits].copy()


def chosen_result(func: FuncOp) -> int | None:
    """
    Which result of a step of level 1 or 2 holds the ids it chose: what becomes the next step's token, else the first of
    that argument's type that becomes nothing; None of a step that chooses none. Raises VerifyException as `step_io`.
    """
    io, types = step_io(func), func.function_type
    carried = [result for result, argument in io.carries.items() if argument == io.token]
    wanted = types.inputs.data[io.token]
    alike = [k for k, kind in enumerate(types.outputs.data) if k not in io.carries and kind == wanted]
    return next(iter((*carried, *alike)), None)


def step_shape(func: FuncOp) -> StepShape:
    """The sizes of a step of level 1 or 2. Raises VerifyException as `step_io` does."""
    io = step_io(func)
    rows = shape_of(func.function_type.inputs.data[io.token])[0]
    vocabulary = None if io.logits is None else shape_of(func.function_type.outputs.data[io.logits])[-1]
    return StepShape(rows, min(_table_rows(func), default=None), vocabulary, io.sequences)


def _table_rows(func: FuncOp) -> Iterator[int]:
    """The rows of every table that a position or another index on the device names rows of."""
    for op in func.walk():
        if isinstance(op, SetRowOp) and op.index is not None:
            yield shape_of(op.table.type)[0]
        elif isinstance(op, RopeOp) and op.position is not None:
            yield shape_of(op.cos.type)[0]
        elif isinstance(op, AttentionOp) and op.position is not None:
            yield shape_of(op.keys.type)[0]


__all__ = ["ReferenceBackend", "step_shape"]
