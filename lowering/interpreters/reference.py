"""Levels 1 and 2 in numpy: the reference meaning of a step. A fused op means its parts.

A step is compiled once into a list of closures over numbered slots, so that running it costs little beside the
arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects.fault import located
from lanelink.dialects.shaped import is_tensor
from lanelink.dialects.tgraph.constant import ConstantOp
from lanelink.dialects.tgraph.fused import FusedOp
from lanelink.dialects.tgraph.lifted import LiftedOp
from lanelink.dialects.tgraph.step import step_function, step_return
from lanelink.lowering.interpreters.elements import DTYPES
from lanelink.lowering.interpreters.lifted import Function, Value, function_of
from lanelink.lowering.weights import Constants

Array: TypeAlias = npt.NDArray[Any]
Instruction: TypeAlias = Callable[[list[Value]], None]
Watch: TypeAlias = Callable[[LiftedOp, Sequence[Value], Sequence[Value]], None]
"""Told each lifted op as it has run, its operands and its results."""


class StepInterpreter:
    """A step ready to run: its function's block as closures, its constants decoded.

    Built from a module of one step (`step_function`), or from `func` where it is given, and its resolved constants.
    `watch`, where it is given, is told what every op computes. Raises InterpretationError for an op without a meaning,
    WeightError for a constant that `constants` lacks.
    """

    def __init__(
        self, module: ModuleOp, constants: Constants, func: FuncOp | None = None, watch: Watch | None = None
    ) -> None:
        self.func = step_function(module) if func is None else func
        self._watch = watch
        self._constants = constants
        self._slots: dict[SSAValue, int] = {}
        self._initial: list[Value] = []
        self._instructions: list[Instruction] = []
        block = self.func.body.block
        self._inputs = [_array_type(a.type, f"argument {a.index} of @{self.func.sym_name.data}") for a in block.args]
        for argument in block.args:
            self._slot(argument)
        self._compile(block)
        last = step_return(self.func)
        self._outputs = self._slots_of(last, last.operands)

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """The results of one step of `inputs`, which are left as they are; a result may be an input itself.

        One array an argument of the function, of its type's shape and numbers; InterpretationError otherwise.
        """
        self._check(inputs)
        values = self._initial.copy()
        values[: len(inputs)] = inputs
        for instruction in self._instructions:
            instruction(values)
        return [cast(Array, values[k]) for k in self._outputs]

    def _check(self, inputs: Sequence[Array]) -> None:
        if len(inputs) != len(self._inputs):
            raise InterpretationError(f"step: expected {len(self._inputs)} inputs, got {len(inputs)}")
        for k, (array, (shape, kind)) in enumerate(zip(inputs, self._inputs, strict=True)):
            if array.shape != shape or array.dtype != kind:
                raise InterpretationError(
                    f"step input {k}: expected {kind} of {list(shape)}, got {array.dtype} of {list(array.shape)}"
                )

    def _slot(self, value: SSAValue, initial: Value | None = None) -> int:
        slot = len(self._initial)
        self._slots[value] = slot
        self._initial.append(_NOTHING if initial is None else initial)
        return slot

    def _slots_of(self, op: Operation, values: Sequence[SSAValue]) -> list[int]:
        for k, value in enumerate(values):
            if value not in self._slots:
                raise InterpretationError(located(op, f"{op.name}: operand {k} does not dominate its use"))
        return [self._slots[value] for value in values]

    def _compile(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, ConstantOp):
                self._slot(op.result, self._constants.values(op))
            elif isinstance(op, FusedOp):
                self._slots.update(zip(op.body.block.args, self._slots_of(op, op.operands), strict=True))
                self._compile(op.body.block)
                self._slots.update(zip(op.outputs, self._slots_of(op, op.yielded), strict=True))
            elif isinstance(op, LiftedOp):
                operands = self._slots_of(op, op.operands)
                results = [self._slot(value) for value in op.results]
                function = function_of(op) if self._watch is None else _watched(op, self._watch)
                self._instructions.append(_instruction(function, operands, results))
            elif op is not block.last_op:
                raise InterpretationError(located(op, f"expected lifted ops and constants in a step, got {op.name}"))


_NOTHING: Value = np.zeros(0, np.float32)
"""What a slot holds before its instruction has run."""


def _watched(op: LiftedOp, watch: Watch) -> Function:
    function = function_of(op)

    def run(*operands: Value) -> Value | tuple[Value, ...]:
        made = function(*operands)
        watch(op, operands, made if isinstance(made, tuple) else (made,))
        return made

    return run


def _instruction(function: Function, operands: list[int], results: list[int]) -> Instruction:
    if len(results) != 1:
        return _of_several(function, operands, results)
    (result,) = results
    single = cast(Callable[..., Value], function)
    match operands:
        case [a]:

            def one(values: list[Value]) -> None:
                values[result] = single(values[a])

            return one
        case [a, b]:

            def two(values: list[Value]) -> None:
                values[result] = single(values[a], values[b])

            return two
        case _:

            def many(values: list[Value]) -> None:
                values[result] = single(*[values[k] for k in operands])

            return many


def _of_several(function: Function, operands: list[int], results: list[int]) -> Instruction:
    several = cast(Callable[..., tuple[Value, ...]], function)

    def run(values: list[Value]) -> None:
        for slot, value in zip(results, several(*[values[k] for k in operands]), strict=True):
            values[slot] = value

    return run


def _array_type(kind: Attribute, what: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and number type of a function argument's array."""
    if not is_tensor(kind):
        raise InterpretationError(f"{what}: expected a tensor, got {kind}")
    dtype = DTYPES.get(kind.element_type)
    if dtype is None:
        raise InterpretationError(f"{what}: expected a tensor of f32, f16 or i32, got {kind}")
    return tuple(kind.get_shape()), dtype


def zero_inputs(func: FuncOp) -> list[Array]:
    """Zeros for each argument of a step: an empty state at position 0."""
    types = [
        _array_type(kind, f"argument {k} of @{func.sym_name.data}")
        for k, kind in enumerate(func.function_type.inputs.data)
    ]
    return [np.zeros(shape, kind) for shape, kind in types]


__all__ = ["StepInterpreter", "Watch", "zero_inputs"]
