"""Running one op, or a few, on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lanelink.lowering.interpreters.reference import StepInterpreter
from lanelink.lowering.weights import Constants, Key, StoredRows

Array: TypeAlias = npt.NDArray[Any]
Build: TypeAlias = Callable[..., "Operation | Sequence[Operation]"]
Arrays: TypeAlias = Mapping[Key, "StoredRows | npt.NDArray[np.float32]"]


def compiled(build: Build, inputs: Sequence[Array], constants: Arrays | None = None) -> StepInterpreter:
    """Of a function whose arguments stand for `inputs`, whose body `build` makes, and whose result is its last op's."""
    types = [TensorType(f32 if a.dtype == np.float32 else i32, a.shape) for a in inputs]
    block = Block(arg_types=types)
    made = build(*block.args)
    ops = [made] if isinstance(made, Operation) else list(made)
    block.add_ops(ops)
    results: list[SSAValue] = list(ops[-1].results)
    block.add_op(ReturnOp(*results))
    func = FuncOp("step", FunctionType.from_lists(types, [r.type for r in results]), Region(block))
    module = ModuleOp([func])
    module.verify()
    return StepInterpreter(module, Constants(constants or {}), func)


@pytest.fixture
def run() -> Callable[..., Array]:
    """run(build, *inputs): the last op's first result."""

    def run_op(build: Build, *inputs: Array, constants: Arrays | None = None) -> Array:
        return compiled(build, inputs, constants).run(inputs)[0]

    return run_op


@pytest.fixture
def interpreter() -> Callable[..., StepInterpreter]:
    """interpreter(build, inputs): the same, not yet run."""
    return compiled


@pytest.fixture
def rng() -> np.random.Generator:
    """The same numbers in every run."""
    return np.random.default_rng(20240229)
