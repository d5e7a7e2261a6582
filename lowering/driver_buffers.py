"""A linked step's buffers as `driver` names them: arena slices, tables, constants in their device layout, scratch."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import PassFailedException, VerifyException

from lanelink.dialects.driver import (
    ArenaOp,
    BufferOp,
    ConstantOp,
    Io,
    IoOp,
    PlanesAttr,
    Scratch,
    ScratchOp,
    SliceOp,
    StateOp,
    ValuesAttr,
)
from lanelink.dialects.fault import located
from lanelink.dialects.launch import AllocOp, AttentionOp, Placed, RopeOp, RopePartsOp
from lanelink.dialects.launch import ConstantOp as LaunchConstantOp
from lanelink.dialects.launch.base import buffer_shape, table_shape
from lanelink.dialects.launch.sizes import buffer_bytes
from lanelink.dialects.launch.step import launches
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.attributes import RopeTableAttr, RowsType
from lanelink.dialects.tgraph.checkpoint import CheckpointAttr
from lanelink.dialects.tgraph.step import LOGITS, POSITION, STATE, TOKEN, step_return
from lanelink.lowering.launch_operands import address
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection.calls import KernelCall, ScratchKind
from lanelink.passes.plan_buffers import ARENA, OFFSET


@dataclass(frozen=True)
class LinkedIo:
    """What the arguments and results of a linked step are, by their numbers. Carried results have left it."""

    token: int
    position: int | None
    states: dict[int, str]
    logits: int | None


def linked_io(func: FuncOp) -> LinkedIo:
    """Reads the argument and result attributes of a linked step (`tgraph.step` says what they mean)."""
    tokens, positions = _marked(func.arg_attrs, TOKEN), _marked(func.arg_attrs, POSITION)
    if len(tokens) != 1 or len(positions) > 1:
        raise VerifyException(
            f"step @{func.sym_name.data}: expected one {TOKEN} argument and at most one {POSITION}, "
            f"got {len(tokens)} and {len(positions)}"
        )
    states = {k: name.data for k, name in _marked(func.arg_attrs, STATE).items() if isinstance(name, StringAttr)}
    return LinkedIo(
        token=next(iter(tokens)),
        position=next(iter(positions), None),
        states=states,
        logits=next(iter(_marked(func.res_attrs, LOGITS)), None),
    )


def _marked(attrs: ArrayAttr[DictionaryAttr] | None, name: str) -> dict[int, Attribute]:
    return {k: held.data[name] for k, held in enumerate(attrs or ()) if name in held.data}


@dataclass(frozen=True)
class StepIoBuffers:
    """What the decoding loop needs of a linked step: its sizes, and the buffers its results lie in."""

    rows: int
    context: int | None
    chosen: SSAValue | None
    logits: SSAValue | None


def step_buffers(func: FuncOp) -> StepIoBuffers:
    """
    Reads a linked step. What is returned beside the logits and has the token's type are the ids it chose; without such
    a result they are the token itself, where a launch writes it. VerifyException as `linked_io` raises it.
    """
    io = linked_io(func)
    token = func.body.block.args[io.token]
    returned = step_return(func).operands
    chosen = next((v for k, v in enumerate(returned) if k != io.logits and v.type == token.type), None)
    if chosen is None and any(token in launch.writes() for launch in launches(func)):
        chosen = token
    return StepIoBuffers(
        rows=buffer_bytes(token.type) // 4,
        context=min((rows for _, rows in _tables(func)), default=None),
        chosen=chosen,
        logits=None if io.logits is None else returned[io.logits],
    )


def _tables(func: FuncOp) -> Iterator[tuple[SSAValue, int]]:
    """Every table that the position or another index on the device names rows of, and its rows."""
    for op in func.walk():
        if isinstance(op, Placed) and op.index is not None:
            out: SSAValue | None = getattr(op, "out", None)
            if out is not None:
                yield out, table_shape(out, op.name)[0]
        if isinstance(op, RopeOp | RopePartsOp) and op.position is not None:
            yield op.cos, buffer_shape(op.cos, op.name)[0]
        elif isinstance(op, AttentionOp):
            yield op.keys, table_shape(op.keys, op.name)[0]


class DriverBuffers:
    """The driver ops that make the buffers of a step's launches, each made once and named as in the launches."""

    def __init__(self, func: FuncOp, calls: Sequence[KernelCall]) -> None:
        self.func = func
        self._io = linked_io(func)
        self._scratch = {
            kind: ScratchOp(Scratch(kind.value), most)
            for kind in ScratchKind
            if (most := max((call.scratch_bytes(kind) for call in calls), default=0))
        }
        self._arena = self._make_arena()
        self._rows = dict(_tables(func))
        self._made: dict[SSAValue, BufferOp] = {}
        self._constants: dict[tuple[Attribute, Attribute], ConstantOp] = {}
        for argument in func.body.block.args:
            self._add(argument, self._argument(argument))
        for op in func.body.block.ops:
            if isinstance(op, AllocOp):
                self._add(op.result, self._slice(op))
            elif isinstance(op, LaunchConstantOp):
                self._add(op.result, self._constant(op))

    def ops(self) -> list[BufferOp]:
        """
        The ops, each after what it reads. A slice or constant that no launch made so far reads is dropped: what a fold
        leaves between its parts is never stored.
        """
        own: list[BufferOp] = []
        for op in dict.fromkeys(self._made.values()):
            if isinstance(op, SliceOp | ConstantOp) and not op.result.uses:
                op.erase()
            else:
                own.append(op)
        return [*([] if self._arena is None else [self._arena]), *self._scratch.values(), *own]

    def value(self, ref: Hashable, user: Operation) -> SSAValue:
        """The buffer that a kernel call's address names, for the launch `user`."""
        if isinstance(ref, ScratchKind):
            return self._scratch[ref].result
        assert isinstance(ref, SSAValue), "selection names buffers as launch_operands made them"
        made = self._made.get(cast("SSAValue", ref))
        if made is None:
            message = "lower-to-driver: expected an alloc, a constant or an argument of the step, got another buffer"
            raise PassFailedException(located(user, message))
        return made.result

    def whole(self, value: SSAValue, user: Operation) -> SSAValue:
        """The buffer of a value as it is, a view's as a slice of its source's."""
        place = address(value)
        held = self.value(place.ref, user)
        if place.ref is value:
            return held
        made = SliceOp(held, place.offset, buffer_bytes(value.type))
        self._add(value, made)
        return made.result

    def _add(self, value: SSAValue, made: BufferOp) -> None:
        if value.name_hint is not None and made.result.name_hint is None:
            made.result.name_hint = value.name_hint
        self._made[value] = made

    def _make_arena(self) -> ArenaOp | None:
        size = self.func.attributes.get(ARENA)
        if not isinstance(size, IntegerAttr):
            raise PassFailedException(
                located(
                    self.func,
                    f"lower-to-driver: expected buffers laid out by plan-buffers ({ARENA}), got {size or 'none'}",
                )
            )
        if not size.value.data:
            return None
        arena = ArenaOp(size.value.data)
        arena.result.name_hint = "arena"
        return arena

    def _argument(self, argument: BlockArgument) -> BufferOp:
        k = argument.index
        try:
            size = buffer_bytes(argument.type)
        except VerifyException as error:
            raise PassFailedException(located(self.func, f"lower-to-driver argument {k}: {error}")) from None
        if k == self._io.token:
            return IoOp(Io.TOKEN, size)
        if k == self._io.position:
            return IoOp(Io.POSITION, size)
        state = self._io.states.get(k)
        if state is None:
            raise PassFailedException(
                located(self.func, f"lower-to-driver argument {k}: expected a token, position or state, got neither")
            )
        return StateOp(state, size, self._rows.get(argument))

    def _slice(self, op: AllocOp) -> SliceOp:
        offset = op.attributes.get(OFFSET)
        if not isinstance(offset, IntegerAttr) or self._arena is None:
            got = f"{offset or 'none'} ({op.result.type})"
            raise PassFailedException(located(op, f"lower-to-driver: expected an offset of plan-buffers, got {got}"))
        made = SliceOp(self._arena.result, offset.value.data, buffer_bytes(op.result.type))
        made.location = op.location
        return made

    def _constant(self, op: LaunchConstantOp) -> ConstantOp:
        """The constant in its layout: checkpoint rows as planes, whichever way they are read; values as they are."""
        assert isinstance(op.source, CheckpointAttr | RopeTableAttr)
        layout, size = device_layout(op.result)
        found = self._constants.get((op.source, layout))
        if found is None:
            found = self._constants[op.source, layout] = ConstantOp(op.source, layout, size)
            found.location = op.location
        return found


def device_layout(constant: OpResult) -> tuple[PlanesAttr | ValuesAttr, int]:
    """A constant's layout on the device and its bytes."""
    kind = constant.type
    if isinstance(kind, RowsType):
        rows, cols = kind.shape
        return PlanesAttr(kind.format.data, rows, cols), plane_layout(kind.format.data, rows, cols).total_bytes
    size = buffer_bytes(kind)
    assert is_memref(kind)
    return ValuesAttr(kind.get_shape()), size


__all__ = ["DriverBuffers", "StepIoBuffers", "device_layout", "step_buffers"]
