"""Level 3 in numpy: the launches of a linked step, one after another, over buffers that they write in place.

Buffers are arrays in the sizes of their types and `QuantizedRows`; checkpoint rows come decoded, in the checkpoint's
own order. What a launch computes is `lowering.meanings`, the same functions its kernels are compared with; here is
only which operand is which argument. A launch of several parts, or a fold, runs its parts in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects import launch, tgraph
from lanelink.dialects.fault import located
from lanelink.dialects.formats import BLOCK_VALUES
from lanelink.dialects.launch.accesses import root
from lanelink.dialects.launch.base import CompoundLaunch, Launch, LeafLaunch, Placed
from lanelink.dialects.launch.placement import PlacedInUnits
from lanelink.dialects.launch.step import LIFTED
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.attributes import Q8Type, RopeTableAttr
from lanelink.dialects.tgraph.checkpoint import CheckpointAttr
from lanelink.dialects.tgraph.step import step_function, step_return
from lanelink.lowering import meanings
from lanelink.lowering.activations import QuantizedRows, quantize
from lanelink.lowering.functions import Activation, BinaryOp
from lanelink.lowering.interpreters.arena import UNWRITTEN_INDEX, arena_of, placed, unwrite
from lanelink.lowering.interpreters.elements import DTYPES
from lanelink.lowering.interpreters.launch_forms import (
    Array,
    Buffer,
    Floats,
    Make,
    Meaning,
    Operands,
    Results,
    activation_of,
    entry,
    kept,
    read_units,
    row_of,
)
from lanelink.lowering.interpreters.layer_launches import LAYER_MEANINGS
from lanelink.lowering.weights import Constants

Instruction: TypeAlias = Callable[[list[Buffer]], None]

QUANTIZES_ROWS = (launch.AttentionOp, launch.SetRowOp)
"""Launches whose quantized form lands in rows of a wider tensor as their f32 form does."""


class LaunchInterpreter:
    """A linked step ready to run: its launches as closures over buffers, its constants decoded.

    Built from a module of one linked step, or from `func` where it is given, and the constants resolved from the step
    at level 1 or 2. Raises InterpretationError for an op without a meaning, WeightError for a constant that `constants`
    lacks.
    """

    def __init__(self, module: ModuleOp, constants: Constants, func: FuncOp | None = None) -> None:
        self.func = step_function(module) if func is None else func
        if LIFTED not in self.func.attributes:
            raise InterpretationError(f"step @{self.func.sym_name.data}: expected a linked one ({LIFTED}), got none")
        self._constants = constants
        self._slots: dict[SSAValue, int] = {}
        self._initial: list[Buffer] = []
        self._instructions: list[Instruction] = []
        self._arena = arena_of(self.func)
        self._unwritten: dict[SSAValue, Buffer] = {}
        block = self.func.body.block
        self._arguments = [_unwritten(a.type, f"argument {a.index} of @{self.func.sym_name.data}") for a in block.args]
        for argument, initial in zip(block.args, self._arguments, strict=True):
            self._slot(argument, initial)
        last = step_return(self.func)
        for op in block.ops:
            if op is not last:
                self._compile(op)
        self._outputs = [self._slot_of(last, value) for value in last.operands]

    def run(self, arguments: Sequence[Array]) -> list[Array]:
        """Runs one step over `arguments`, which it writes in place; gives copies of the buffers it returns.

        Quantized rows are returned as the f32 values they stand for.
        One contiguous array an argument of the function, of its type's sizes and numbers; InterpretationError
        otherwise. A buffer of the step's own starts as NaN (`UNWRITTEN_INDEX` for indices), so a read of what nothing
        wrote is seen in what it leads to. The buffers of a planned step lie in one arena, as the plan says.
        """
        self._check(arguments)
        buffers = self._initial.copy()
        buffers[: len(arguments)] = arguments
        for instruction in self._instructions:
            instruction(buffers)
        return [kept(buffers[k]) for k in self._outputs]

    def _check(self, arguments: Sequence[Array]) -> None:
        if len(arguments) != len(self._arguments):
            raise InterpretationError(f"step: expected {len(self._arguments)} arguments, got {len(arguments)}")
        for k, (array, like) in enumerate(zip(arguments, self._arguments, strict=True)):
            if array.shape != like.shape or array.dtype != like.dtype:
                raise InterpretationError(
                    f"step argument {k}: expected {like.dtype} of {list(like.shape)}, "
                    f"got {array.dtype} of {list(array.shape)}"
                )
            if not array.flags.c_contiguous or not array.flags.writeable:
                raise InterpretationError(f"step argument {k}: expected a contiguous array that can be written")

    def _slot(self, value: SSAValue, initial: Buffer) -> int:
        slot = len(self._initial)
        self._slots[value] = slot
        self._initial.append(initial)
        return slot

    def _slot_of(self, op: Operation, value: SSAValue) -> int:
        slot = self._slots.get(value)
        if slot is None:
            raise InterpretationError(located(op, f"{op.name}: a buffer does not dominate its use"))
        return slot

    def _compile(self, op: Operation) -> None:
        match op:
            case launch.ConstantOp():
                self._slot(op.result, self._constants.values(at_level_1(op)))
            case launch.AllocOp() if self._arena is not None:
                self._unwritten[op.result] = placed(op, self._arena)
                self._slot(op.result, self._unwritten[op.result])
            case launch.AllocOp():
                self._instructions.append(_alloc(op, self._slot(op.result, _NOTHING)))
            case launch.ViewOp():
                self._instructions.append(_view(op, self._slot_of(op, op.x), self._slot(op.result, _NOTHING)))
            case Launch():
                self._begin(op)
                for part, operands in _parts(op, {}):
                    slots = {name: self._slot_of(op, value) for name, value in operands.items()}
                    self._instructions.append(_instruction(part, slots))
            case _:
                raise InterpretationError(located(op, f"expected launches and buffers in a linked step, got {op.name}"))

    def _begin(self, op: Launch) -> None:
        """Makes the buffers of an arena that a launch is the first to write unwritten, as it begins."""
        roots = dict.fromkeys(root(value) for value in op.writes())
        first = [self._unwritten.pop(value) for value in roots if value in self._unwritten]
        if first:
            self._instructions.append(lambda buffers: unwrite(first))


_NOTHING: Buffer = np.zeros(0, np.float32)
"""What a slot holds before its instruction has run."""


def at_level_1(op: launch.ConstantOp) -> tgraph.ConstantOp:
    """The constant as the tensor graph had it, by which its values are found."""
    kind = op.result.type
    if is_memref(kind):
        kind = TensorType(kind.element_type, kind.get_shape())
    assert isinstance(op.source, CheckpointAttr | RopeTableAttr)
    return tgraph.ConstantOp(op.source, kind)


def _unwritten(kind: Attribute, what: str) -> Array:
    """An array of a buffer's sizes that nothing has written yet."""
    if is_memref(kind) and (dtype := DTYPES.get(kind.element_type)) is not None:
        return np.full(kind.get_shape(), np.nan if dtype.kind == "f" else UNWRITTEN_INDEX, dtype)
    raise InterpretationError(f"{what}: expected a memref of f32, f16 or i32, got {kind}")


def _alloc(op: launch.AllocOp, slot: int) -> Instruction:
    kind = op.result.type

    def run(buffers: list[Buffer]) -> None:
        buffers[slot] = _unwritten_rows(kind) if isinstance(kind, Q8Type) else _unwritten(kind, op.name)

    return run


def _unwritten_rows(kind: Q8Type) -> QuantizedRows:
    rows, cols = kind.shape
    planes = [np.zeros((rows, cols), np.int8) for _ in range(kind.planes.data)]
    # Scales of NaN make every value NaN, whatever the quants.
    scales = np.full((rows, cols // BLOCK_VALUES), np.nan, np.float32)
    return QuantizedRows(planes[0], planes[1] if len(planes) > 1 else None, scales)


def _view(op: launch.ViewOp, source: int, slot: int) -> Instruction:
    kind, offset = op.result.type, op.offset.value.data
    assert is_memref(kind)
    shape = kind.get_shape()
    count = int(np.prod(shape))

    def run(buffers: list[Buffer]) -> None:
        held = buffers[source]
        assert isinstance(held, np.ndarray)
        # Both reshapes of contiguous memory are views: a write through either is seen by the other.
        buffers[slot] = held.reshape(-1)[offset : offset + count].reshape(shape)

    return run


def _parts(op: Launch, outer: Mapping[str, SSAValue]) -> Iterator[tuple[LeafLaunch, Mapping[str, SSAValue]]]:
    """The launches of one kind that `op` is made of, in order, each with its operands and those of what holds it."""
    operands = {**outer, **dict(op.named_operands())}
    if isinstance(op, CompoundLaunch):
        for member in op.members():
            yield from _parts(member, operands)
    else:
        assert isinstance(op, LeafLaunch)
        yield op, operands


def _instruction(op: LeafLaunch, slots: Mapping[str, int]) -> Instruction:
    """Computes what a launch writes, then writes it."""
    make = MEANINGS.get(type(op))
    if make is None:
        raise InterpretationError(located(op, f"{op.name}: expected a launch with a meaning, got one with none"))
    meaning = make(op)
    written = [name for name, _ in op.named_operands() if name in op.WRITES]

    def run(buffers: list[Buffer]) -> None:
        operands = {name: buffers[slot] for name, slot in slots.items()}
        results = meaning(operands)
        for name in written:
            _write(op, name, operands, results)

    return run


def _write(op: LeafLaunch, name: str, operands: Operands, results: Results) -> None:
    held = operands[name]
    if isinstance(held, QuantizedRows):
        rows = quantize(results["out"], held.layout.planes) if name == "quant" else cast(QuantizedRows, results[name])
        # Of some that land in rows of a table, the quantized form does as well.
        first = _first_row(op, operands, *_row_counts(rows, held)) if isinstance(op, QUANTIZES_ROWS) else 0
        _copy(rows, held, first)
        return
    # Where quantized forms are held as f32 rows (a step's exact meaning), they are the result itself.
    value = results["out" if name == "quant" else name]
    if isinstance(op, Placed) and (name == "out" or isinstance(op, QUANTIZES_ROWS)):
        first = _first_row(op, operands, value.shape[0], held.shape[0])
        with np.errstate(over="ignore"):  # past f16, a table of it takes infinity
            _write_units(op, held[first : first + value.shape[0]], value)
    else:
        held[...] = value


def _write_units(op: Placed, rows: Array, value: Array) -> None:
    """Writes a result's rows into a table's, or their units into units of those."""
    if not isinstance(op, PlacedInUnits) or op.unit_pitch is None or op.unit_offset is None:
        rows[...] = value
        return
    pitch, offset = op.unit_pitch.value.data, op.unit_offset.value.data
    units = value.reshape(value.shape[0], rows.shape[1] // pitch, -1)
    # Rows of contiguous memory: the reshape is a view of them.
    rows.reshape(*units.shape[:2], pitch)[:, :, offset : offset + units.shape[2]] = units


def _row_counts(rows: QuantizedRows, held: QuantizedRows) -> tuple[int, int]:
    return rows.plane0.shape[0], held.plane0.shape[0]


def _copy(source: QuantizedRows, held: QuantizedRows, first: int) -> None:
    rows = slice(first, first + source.plane0.shape[0])
    held.plane0[rows] = source.plane0
    held.scales[rows] = source.scales
    if held.plane1 is not None:
        assert source.plane1 is not None
        held.plane1[rows] = source.plane1


def _first_row(op: Placed, operands: Operands, count: int, rows: int) -> int:
    """The table row that a result's first row lands in."""
    if op.index is not None:
        return row_of(op, operands["at"], count, rows)
    return 0 if op.row is None else op.row.value.data


def _product(op: launch.GemvOp | launch.GemmPartOp) -> Meaning:
    return lambda v: {"out": meanings.product(activation_of(v["x"]), v["w"], v.get("bias"))}


def _product_f32(op: launch.GemvF32Op) -> Meaning:
    return lambda v: {"out": meanings.product(v["x"], v["w"].T, v.get("bias"))}


def _glu(op: launch.GemvGluOp) -> Meaning:
    act = Activation(op.act.data.value)
    return lambda v: {
        "out": meanings.gated_pair(activation_of(v["x"]), v["wg"], v["wu"], act, v.get("bg"), v.get("bu"))
    }


def _binary(op: launch.BinaryOp) -> Meaning:
    kind = BinaryOp(op.kind.data.value)
    gate = Activation.NONE if op.gate is None else Activation(op.gate.data.value)
    return lambda v: {"out": meanings.binary(kind, v["a"], v["b"], gate)}


def _swiglu(op: launch.SwigluOp) -> Meaning:
    return lambda v: {"out": meanings.swiglu(v["gate"], v["up"])}


def _unary(op: launch.UnaryOp) -> Meaning:
    act = Activation(op.act.data.value)
    return lambda v: {"out": meanings.unary(act, v["x"])}


def _scale(op: launch.ScaleOp) -> Meaning:
    factor = op.factor.value.data
    return lambda v: {"out": meanings.unary(Activation.NONE, v["x"], factor)}


def _quant(op: launch.QuantOp) -> Meaning:
    return lambda v: {"out": v["x"]}


def _norm(op: launch.NormOp) -> Meaning:
    cols, eps = op.cols.value.data, op.eps.value.data
    pre_eps = None if op.pre_eps is None else op.pre_eps.value.data

    def run(v: Operands) -> Results:
        x = read_units(op, v["x"], cols)
        add: Floats | None = v.get("add")
        pre = None if pre_eps is None else (v["pre"], pre_eps)
        groups = None if add is None else add.reshape(-1, cols)
        total, normed = meanings.norm(x.reshape(-1, cols), eps, v.get("w"), groups, pre)
        return {"sum": total.reshape(x.shape), "out": normed.reshape(x.shape)}

    return run


def _rope(op: launch.RopeOp | launch.RopeSideOp) -> Meaning:
    holder = op.parent_op() if isinstance(op, launch.RopeSideOp) else op
    assert isinstance(holder, launch.RopeOp | launch.RopePartsOp)
    head_dim = holder.head_dim.value.data
    eps = None if op.norm_eps is None else op.norm_eps.value.data

    def run(v: Operands) -> Results:
        x, cos = read_units(op, v["x"], head_dim), v["cos"]
        first = row_of(op, v["position"], x.shape[0], cos.shape[0]) if "position" in v else 0
        head_norm = None if eps is None else (v.get("norm"), eps)
        return {"out": meanings.rope(x, cos, v["sin"], first, head_dim, head_norm)}

    return run


def _attention(op: launch.AttentionOp) -> Meaning:
    heads, kv_heads, scale = op.heads.value.data, op.kv_heads.value.data, op.scale.value.data
    window = None if op.window is None else op.window.value.data
    act = None if op.gate_act is None else Activation(op.gate_act.data.value)
    first_gate = 0 if op.gate_offset is None else op.gate_offset.value.data

    def run(v: Operands) -> Results:
        q, keys, values = v["q"], v["keys"], v["values"]
        first = row_of(op, v["position"], q.shape[0], keys.shape[0])
        if op.v_pitch is not None and op.v_offset is not None:
            values = meanings.slice_units(
                values, op.v_pitch.value.data, op.v_offset.value.data, op.value_dim.value.data
            )
        gate = None
        if act is not None:
            shape = q.shape[0], heads * op.value_dim.value.data
            held: Floats = v["gate"]
            gate = act, held.reshape(-1)[first_gate : first_gate + shape[0] * shape[1]].reshape(shape)
        made = meanings.attention(q, keys, values, first, heads, kv_heads, scale, window, v.get("sinks"), gate=gate)
        return {"out": made}

    return run


def _gather(op: launch.GatherOp) -> Meaning:
    scale = 1.0 if op.scale is None else op.scale.value.data

    def run(v: Operands) -> Results:
        index = v["index"]
        if (index == UNWRITTEN_INDEX).any():
            raise InterpretationError(located(op, f"{op.name} index: expected rows of a table, got what nothing wrote"))
        return {"out": meanings.gather(v["table"], index, scale)}

    return run


def _set_row(op: launch.SetRowOp) -> Meaning:
    return lambda v: {"out": v["source"]}


def _slice(op: launch.SliceOp) -> Meaning:
    start, width, every = op.start.value.data, op.width.value.data, op.every.value.data
    return lambda v: {"out": meanings.slice_units(v["x"], every, start, width)}


def _whole(op: launch.CopyOp) -> Meaning:
    return lambda v: {"out": v["x"]}


def _arg_max(op: launch.ArgMaxOp) -> Meaning:
    def run(v: Operands) -> Results:
        chosen = meanings.arg_max(v["x"])
        moved = {} if "position" not in v else {"token": chosen, "position": v["position"] + np.int32(1)}
        return {"out": chosen, **moved}

    return run


def _advance(op: launch.AdvanceOp) -> Meaning:
    by = np.int32(op.by.value.data)
    return lambda v: {"out": v["x"] + by}


MEANINGS: dict[type[LeafLaunch], Make] = dict(
    [
        entry(launch.GemvOp, _product),
        entry(launch.GemmPartOp, _product),
        entry(launch.GemvF32Op, _product_f32),
        entry(launch.GemvGluOp, _glu),
        entry(launch.BinaryOp, _binary),
        entry(launch.SwigluOp, _swiglu),
        entry(launch.UnaryOp, _unary),
        entry(launch.ScaleOp, _scale),
        entry(launch.QuantOp, _quant),
        entry(launch.NormOp, _norm),
        entry(launch.RopeOp, _rope),
        entry(launch.RopeSideOp, _rope),
        entry(launch.AttentionOp, _attention),
        entry(launch.GatherOp, _gather),
        entry(launch.SetRowOp, _set_row),
        entry(launch.SliceOp, _slice),
        entry(launch.CopyOp, _whole),
        entry(launch.ArgMaxOp, _arg_max),
        entry(launch.AdvanceOp, _advance),
        *LAYER_MEANINGS,
    ]
)
"""Launch of one kind, or part of one of several → what it writes, made once an op."""

__all__ = ["MEANINGS", "UNWRITTEN_INDEX", "LaunchInterpreter", "at_level_1"]
