"""
What a step of any of the first three levels can be run on without a checkpoint: arguments at random that its ops can
take, and constants at random.

Token ids lie in every table gathered by them; a position leaves room for the step's rows in every table that it names
a row of, and has passed the first rows, so that windows have slid where the tables are longer than they. State is
normal, of variance 1 (a delta rule's d × d states: 1 / d, as large as d rows of unit keys make them).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, StringAttr, f16, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects import launch
from lanelink.dialects.launch.base import Launch
from lanelink.dialects.launch.step import LIFTED
from lanelink.dialects.shaped import element_of, is_memref, is_tensor
from lanelink.dialects.tgraph import (
    AdvanceOp,
    ArgMaxOp,
    AttentionOp,
    FusedOp,
    GatedDeltaOp,
    LiftedOp,
    MoeOp,
    RopeOp,
    RowGatherOp,
    RowsGatherOp,
    RowsType,
    SetRowOp,
    ViewOp,
)
from lanelink.dialects.tgraph.step import POSITION, STATE, TOKEN, step_function
from lanelink.lowering import meanings
from lanelink.lowering.activations import QuantizedRows
from lanelink.lowering.interpreters.launches import at_level_1
from lanelink.lowering.interpreters.lifted import Value
from lanelink.lowering.interpreters.reference import StepInterpreter
from lanelink.lowering.weights import Constants, random_weights

Array: TypeAlias = npt.NDArray[Any]

MAGNITUDES = (1.0, 2.0**-10)
"""
Of the constants of one trial and the next. Of order one, no value of eps shows beside a mean square; of 2^-10, squares
are about 1e-6, and a norm's eps is half of what it divides by.
"""

UNBOUNDED = 16
"""Indices below which an index is drawn that names no row of anything."""

ATTEMPTS = 8
"""Draws to look for one without near ties."""


@dataclass(frozen=True)
class Trial:
    """What a step is run on. `margin`: by how much, of the largest score, the nearest choice in it is decided."""

    arguments: list[Array]
    constants: Constants
    margin: float


def trials(module: ModuleOp, seed: int, margin: float) -> list[Trial]:
    """
    One trial a magnitude of constants, the first at the last position there is room for.

    What an arg-max or a router chooses must not hang on rounding: of up to `ATTEMPTS` draws the first is taken that
    decides every choice by `margin` of its largest score, or else the one that comes nearest to that.
    """
    return [_decided(module, (seed, k), MAGNITUDES[k], margin, last=k == 0) for k in range(len(MAGNITUDES))]


def _decided(module: ModuleOp, seed: tuple[int, int], magnitude: float, margin: float, last: bool) -> Trial:
    best: Trial | None = None
    for attempt in range(ATTEMPTS):
        rng = np.random.default_rng([*seed, attempt])
        constants = random_weights(_constants(module), int(rng.integers(1 << 31)), magnitude)
        arguments = random_arguments(module, rng, last=last)
        found = Trial(arguments, constants, nearest_choice(module, constants, arguments))
        if best is None or found.margin > best.margin:
            best = found
        if best.margin >= margin:
            break
    assert best is not None
    return best


def _constants(module: ModuleOp) -> ModuleOp:
    """A module in which the step's constants are those of the tensor graph."""
    linked = [op for op in module.walk() if isinstance(op, launch.ConstantOp)]
    return ModuleOp([at_level_1(op) for op in linked]) if linked else module


def random_arguments(module: ModuleOp, rng: np.random.Generator, *, last: bool = False) -> list[Array]:
    """Arguments of the module's step; positions are the last that its tables have room for, or of the upper half."""
    func = step_function(module)
    token = next(k for k, mark in marks(func).items() if mark == "token")
    kind = func.body.block.args[token].type
    sizes = static_sizes(kind)
    if len(sizes) != 1 or not _is_index(kind):
        raise InterpretationError(f"expected token ids in one dimension, of i32, got {kind}")
    # Each of a batch's tokens is the next of a sequence of its own.
    sequences = [k for k, mark in marks(func).items() if mark == "position"]
    is_batch = any(static_sizes(func.body.block.args[k].type) == sizes for k in sequences)
    rows = 1 if is_batch else sizes[0]
    # Of no dimensions numpy draws numbers, which are no arrays.
    return [np.asarray(_argument(a, rows, rng, a.index != token, last)) for a in func.body.block.args]


def marks(func: FuncOp) -> dict[int, str]:
    """What arguments of a step, linked or not, are to it: `token`, `position` or a state's name."""
    found: dict[int, str] = {}
    for k, attrs in enumerate(() if func.arg_attrs is None else func.arg_attrs.data):
        if TOKEN in attrs.data or POSITION in attrs.data:
            found[k] = "token" if TOKEN in attrs.data else "position"
        elif isinstance(state := attrs.data.get(STATE), StringAttr):
            found[k] = state.data
    return found


def _argument(value: SSAValue, rows: int, rng: np.random.Generator, is_position: bool, last: bool) -> Array:
    sizes = static_sizes(value.type)
    if not _is_index(value.type):
        drawn = rng.standard_normal(sizes, np.float32) * np.float32(_deviation(value))
        return drawn.astype(np.float16) if element_of(value) == f16 else drawn
    highest = min(_highest(value, rows), default=None)
    if highest is None:
        return rng.integers(0, UNBOUNDED, sizes, np.int32)
    if highest < 0:
        raise InterpretationError(
            f"expected tables with room for the step's {rows} rows, got one that lacks {-highest}"
        )
    if not is_position:
        return rng.integers(0, highest + 1, sizes, np.int32)
    return np.full(sizes, highest, np.int32) if last else rng.integers(highest // 2, highest + 1, sizes, np.int32)


def static_sizes(kind: Attribute) -> tuple[int, ...]:
    """The sizes of a tensor or a buffer."""
    if is_tensor(kind) or is_memref(kind):
        return tuple(kind.get_shape())
    raise InterpretationError(f"expected a tensor or a memref, got {kind}")


def _is_index(kind: Attribute) -> bool:
    return (is_tensor(kind) or is_memref(kind)) and kind.element_type == i32


def _readers(value: SSAValue) -> Iterator[tuple[Operation, SSAValue]]:
    """The ops that read a value, looking into fused ops, each with the name the value has there."""
    for use in value.uses:
        if isinstance(use.operation, FusedOp):
            yield from _readers(use.operation.body.block.args[use.index])
        else:
            yield use.operation, value


def _highest(index: SSAValue, rows: int, seen: frozenset[SSAValue] = frozenset()) -> Iterator[int]:
    """
    For each op that takes `index` as a row, the highest that leaves room for the step's `rows`. `seen`: the indices
    that it was made of, which buffers may be made of again.
    """
    if index in seen:
        return
    seen |= {index}
    for op, value in _readers(index):
        match op:
            case RowGatherOp() | RowsGatherOp() if op.index is value:
                yield _table_rows(op.table) - 1
            case SetRowOp() if op.index is value:
                yield _table_rows(op.table) - _table_rows(op.source)
            case RopeOp():
                yield _table_rows(op.cos) - _table_rows(op.x)
            case AttentionOp():
                yield _table_rows(op.keys) - _table_rows(op.q)
            case AdvanceOp():
                yield from (most - op.by.value.data for most in _highest(op.result, rows, seen))
            case ViewOp():
                yield from _highest(op.result, rows, seen)
            case launch.AdvanceOp() if op.x is value:
                yield from (most - op.by.value.data for most in _highest(op.out, rows, seen))
            case launch.ViewOp():
                yield from _highest(op.result, rows, seen)
            case Launch():
                yield from _highest_in(op, value, rows)
            case _:
                pass


def _highest_in(op: Launch, index: SSAValue, rows: int) -> Iterator[int]:
    operands = dict(op.named_operands())
    if operands.get("index") is index:
        yield _table_rows(operands["table"]) - 1
    if operands.get("at") is index:
        yield _table_rows(operands["out"]) - rows
    if operands.get("position") is index:
        yield from (_table_rows(operands[name]) - rows for name in ("keys", "cos") if name in operands)


def _table_rows(table: SSAValue) -> int:
    kind = table.type
    return kind.shape[0] if isinstance(kind, RowsType) else static_sizes(kind)[0]


def _deviation(state: SSAValue) -> float:
    """The standard deviation of a state's values."""
    for op, value in _readers(state):
        if isinstance(op, GatedDeltaOp) and op.state is value:
            return 1 / sqrt(op.head_dim.value.data)
    return 1.0


def nearest_choice(module: ModuleOp, constants: Constants, arguments: Sequence[Array]) -> float:
    """
    The least distance, of the largest score of its row, between what an arg-max or a router of the step takes and the
    best that it leaves; infinite for a step without choices, and for a linked one, whose choices are not looked at.
    """
    func = step_function(module)
    if LIFTED in func.attributes:
        return float("inf")
    margins = [float("inf")]

    def watch(op: LiftedOp, operands: Sequence[Value], _: Sequence[Value]) -> None:
        if isinstance(op, ArgMaxOp):
            margins.append(_distance(np.asarray(operands[0]), 1))
        elif isinstance(op, MoeOp):
            margins.append(_distance(_scores(op, operands), op.top_k.value.data))

    StepInterpreter(module, constants, func, watch).run(arguments)
    return min(margins)


def _scores(op: MoeOp, operands: Sequence[Value]) -> Array:
    """What a router chooses by, up to what keeps their order where nothing is added to them."""
    names = [name for name, _ in op.get_irdl_definition().operands if getattr(op, name) is not None]
    given = dict(zip(names, operands, strict=True))
    rows, router = _floats(given.get("router_x", given["x"])), _floats(given["router"])
    by_outputs = isinstance(op.router.type, RowsType) and op.router.type.is_transposed
    bias = _floats(given["router_bias"]) if "router_bias" in given else None
    scores = meanings.product(rows, router if by_outputs else router.T, bias)
    if "selection_bias" not in given:
        return scores
    return 1 / (1 + np.exp(-scores.astype(np.float64))) + _floats(given["selection_bias"]).reshape(-1)


def _floats(value: Value) -> npt.NDArray[np.float32]:
    return value.dequantize() if isinstance(value, QuantizedRows) else value.astype(np.float32, copy=False)


def _distance(scores: Array, taken: int) -> float:
    if scores.shape[-1] <= taken:
        return float("inf")
    ordered = np.sort(scores.astype(np.float64), axis=-1)
    gap = ordered[:, -taken] - ordered[:, -taken - 1]
    return float((gap / np.maximum(np.abs(scores).max(axis=-1), np.finfo(np.float32).tiny)).min())


__all__ = ["MAGNITUDES", "Trial", "marks", "nearest_choice", "random_arguments", "static_sizes", "trials"]
