"""
The link of one step: values to buffers, each op to the launches it runs as.

A value of the step gets one buffer. A table that is written is written in place, unless a reader later in the step
still needs its old rows; it is copied first then. Results that the step carries to the next one end in the argument
they become.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue, Use
from xdsl.utils.exceptions import PassFailedException

from lanelink.dialects.fault import located
from lanelink.dialects.launch import AllocOp, ConstantOp, CopyOp, ViewOp
from lanelink.dialects.launch import SetRowOp as SetRowLaunch
from lanelink.dialects.launch.accesses import root
from lanelink.dialects.shaped import is_tensor
from lanelink.dialects.tgraph import ConstantOp as TensorConstantOp
from lanelink.dialects.tgraph import FusedOp, LiftedOp, SetRowOp
from lanelink.dialects.tgraph import ViewOp as TensorViewOp
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.dialects.tgraph.fused import YieldOp
from lanelink.dialects.tgraph.step import StepIo
from lanelink.passes.fuse.row_sets import sets_every_row
from lanelink.passes.link.draft import Draft
from lanelink.passes.shim import Answer, Shim

T = TypeVar("T")


def buffer_type(value: SSAValue) -> Attribute:
    """The type of the buffer that holds a value: a memref for a tensor; rows and quantized activations stay."""
    kind = value.type
    if is_tensor(kind):
        return MemRefType(kind.element_type, kind.get_shape())
    if isinstance(kind, RowsType | Q8Type):
        return kind
    what = f"argument {value.index}" if isinstance(value, BlockArgument) else "result"
    made = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
    assert made is not None
    message = f"link {made.name} {what}: expected a tensor, rows or quantized activations, got {kind}"
    raise PassFailedException(located(made, message))


class Linker:
    """Links the ops of one step into `block`, whose arguments are the step's arguments as buffers."""

    def __init__(self, func: FuncOp, io: StepIo, shim: Shim, block: Block) -> None:
        self.io = io
        self.shim = shim
        self.block = block
        self.buffers: dict[SSAValue, SSAValue] = {}
        self._order: dict[Operation, int] = {op: k for k, op in enumerate(func.body.block.ops)}
        self._values: dict[SSAValue, list[SSAValue]] = {}
        self._copies: list[Draft] = []
        for argument, held in zip(func.body.block.args, block.args, strict=True):
            self.bind(argument, held)

    # Buffers

    def buffer(self, value: SSAValue) -> SSAValue:
        """The buffer of a value, allocated where it has none yet."""
        found = self.buffers.get(value)
        if found is None:
            found = self.alloc(buffer_type(value))
            found.name_hint = value.name_hint
            self.bind(value, found)
        return found

    def alloc(self, kind: Attribute) -> SSAValue:
        """A new buffer."""
        op = AllocOp(kind)
        self.block.add_op(op)
        return op.result

    def bind(self, value: SSAValue, held: SSAValue) -> None:
        """Says that a value lies in a buffer, or in the part of one that a view names."""
        self.buffers[value] = held
        self._values.setdefault(root(held), []).append(value)

    def kept_buffer(self, value: SSAValue) -> SSAValue | None:
        """The buffer of a value inside a fused op where something reads it outside its producer's launch."""
        return self.buffer(value) if kept(value) else None

    def table_buffer(self, op: SetRowOp) -> SSAValue:
        """
        The buffer a set_row writes: its table's own, or where a reader still needs the old rows a copy; a new one where
        it and the sets after it leave none of those.
        """
        slot = op.operands.index(op.table)
        held = self.buffer(op.table)
        if self._needs_old_rows(op, slot, root(held)) and sets_every_row(op):
            return self._fresh(op.result, held)
        return self.state_buffer(op, slot, op.result)

    def state_buffer(self, op: LiftedOp, slot: int, moved: SSAValue) -> SSAValue:
        """
        The buffer in which an op moves operand `slot` on to its result `moved`: that operand's own, or a copy where a
        reader still needs what it holds.
        """
        held = self.buffer(op.operands[slot])
        if self._needs_old_rows(op, slot, root(held)):
            fresh = self._fresh(moved, held)
            self._copies.append(Draft(CopyOp, {"x": held, "out": fresh}, location=op.location))
            return fresh
        # Nothing reads what lay there any more, so no later write need look at it.
        self._values[root(held)] = []
        self.bind(moved, held)
        return held

    def _fresh(self, moved: SSAValue, held: SSAValue) -> SSAValue:
        """A new buffer like `held` for what it is moved on to."""
        fresh = self.alloc(held.type)
        fresh.name_hint = moved.name_hint
        self.bind(moved, fresh)
        return fresh

    def _needs_old_rows(self, op: LiftedOp, slot: int, held: SSAValue) -> bool:
        """Whether anything that reads the buffer's old contents is left, now or at the next step."""
        if isinstance(held.owner, ConstantOp):
            return True
        # An argument that no result becomes is there at the next step as it was.
        if isinstance(held, BlockArgument) and held.index not in self.io.carries.values():
            return True
        return any(self._reads_late(use, op, slot) for value in self._values[held] for use in value.uses)

    def _reads_late(self, use: Use, op: LiftedOp, slot: int) -> bool:
        """Whether a use of old rows reads them after the op that writes over them, or in its launch."""
        reader = use.operation
        if reader is op:
            return use.index != slot
        # What a fused op around the set_row reads is read by its parts, through its block's arguments.
        if reader.is_ancestor(op):
            return False
        return self._place(reader) >= self._place(op)

    def _place(self, op: Operation) -> int:
        """The place in the step's own block of an op or of the fused op that holds it."""
        while op not in self._order:
            above = op.parent_op()
            assert above is not None
            op = above
        return self._order[op]

    def set_row(self, op: SetRowOp, out: SSAValue | None) -> Draft:
        """The launch of a set_row into a buffer other than its table's, or into none."""
        at = None if op.index is None else self.buffer(op.index)
        fields = {"source": self.buffer(op.source), "out": out, "at": at, "row": op.row}
        return Draft(SetRowLaunch, fields, number(op), location=op.location)

    # Ops

    def run(self, func: FuncOp) -> None:
        """Links every op of the step but its return."""
        for op in func.body.block.ops:
            match op:
                case TensorConstantOp():
                    made = ConstantOp(op.source, buffer_type(op.result))
                    made.location = op.location
                    made.result.name_hint = op.result.name_hint
                    self.block.add_op(made)
                    self.bind(op.result, made.result)
                case LiftedOp() | FusedOp():
                    for draft in self.link(op):
                        self.emit(draft)
                case ReturnOp():
                    pass
                case _:
                    raise self.error(op, "expected lifted ops, fused ops and constants in a step")

    def emit(self, draft: Draft) -> None:
        """Adds a launch to the step."""
        self.block.add_op(draft.build())

    def link(self, op: LiftedOp | FusedOp) -> list[Draft]:
        """The launches an op runs as, in order; a view names a buffer and runs nothing."""
        if isinstance(op, TensorViewOp):
            self._view(op)
            return []
        if isinstance(op, FusedOp) and self.shim.answer(op).answer is Answer.DECOMPOSE:
            return self.inside(op, lambda linker, f: [d for part in f.parts for d in linker.link(part)])
        return self._after_copies(self.several(op))

    def one(self, op: LiftedOp | FusedOp) -> Draft:
        """The launch of an op, or of a part, that runs as one."""
        made = self.several(op)
        if len(made) != 1:
            raise self.error(op, f"expected a part that runs as one launch, got one that runs as {len(made)}")
        return made[0]

    def several(self, op: LiftedOp | FusedOp) -> list[Draft]:
        """The launches of an op, or of a part, that is not run as its parts, without the copies they need first."""
        from lanelink.passes.link.classes import link_class
        from lanelink.passes.link.prims import link_prim

        if isinstance(op, LiftedOp):
            if (why := self.shim.refuses(op)) is not None:
                raise self.error(op, why)
            return [link_prim(self, op)]
        support = self.shim.answer(op)
        match support.answer:
            case Answer.REFUSE:
                raise self.error(op, support.reason)
            case Answer.DECOMPOSE:
                raise self.error(op, "expected a part that runs as one launch, got one that runs as its parts")
            case Answer.NATIVE:
                return self.inside(op, link_class)

    def whole(self, op: FusedOp) -> list[Draft]:
        """
        The launches of a fused op linked whole, whatever the shim answers for its class, after the copies of tables
        they need; an error where its class's kernels cannot run it.
        """
        from lanelink.passes.link.classes import link_class

        if (why := self.shim.fits(op)) is not None:
            raise self.error(op, why)
        return self._after_copies(self.inside(op, link_class))

    def inside(self, op: FusedOp, rule: Callable[[Linker, FusedOp], T]) -> T:
        """Applies a rule to a fused op, its arguments bound to its operands' buffers, its results to what it keeps."""
        for argument, operand in zip(op.body.block.args, op.inputs, strict=True):
            self.bind(argument, self.buffer(operand))
        made = rule(self, op)
        for result, inner in zip(op.outputs, op.yielded, strict=True):
            self.bind(result, self.buffer(inner))
        return made

    def _after_copies(self, drafts: list[Draft]) -> list[Draft]:
        """Launches after the copies of the tables they write."""
        copies, self._copies = self._copies, []
        return [*copies, *drafts]

    def error(self, op: Operation, why: str) -> PassFailedException:
        """What went wrong with an op, where."""
        return PassFailedException(located(op, f"link {op.name}: {why}"))

    def _view(self, op: TensorViewOp) -> None:
        view = ViewOp(self.buffer(op.x), op.offset.value.data, number(op), buffer_type(op.result))
        view.location = op.location
        view.result.name_hint = op.result.name_hint
        self.block.add_op(view)
        self.bind(op.result, view.result)

    # The end of the step

    def finish(self, results: list[SSAValue]) -> list[SSAValue]:
        """
        Brings carried results into the arguments they become, and returns the buffers of the others.

        A result that still lies in an argument another result is about to take is moved out of the way first.
        """
        arguments = set(self.block.args)
        moves: list[tuple[SSAValue, SSAValue]] = []
        rest: list[SSAValue] = []
        for k, value in enumerate(results):
            held = self.buffer(value)
            target = self.block.args[self.io.carries[k]] if k in self.io.carries else None
            if held is target:
                continue
            if root(held) in arguments:
                fresh = self.alloc(held.type)
                self.emit(Draft(CopyOp, {"x": held, "out": fresh}))
                held = fresh
            if target is None:
                rest.append(held)
            else:
                moves.append((held, target))
        for held, target in moves:
            self.emit(Draft(CopyOp, {"x": held, "out": target}))
        return rest


def kept(value: SSAValue) -> bool:
    """Whether the fused op that holds `value` hands it on."""
    return any(isinstance(use.operation, YieldOp) for use in value.uses)


def number(op: LiftedOp) -> tuple[int]:
    """The op's number."""
    if op.number is None:
        raise PassFailedException(located(op, f"link {op.name}: expected numbered ops (number-ops), got one without"))
    return (op.number.value.data,)
