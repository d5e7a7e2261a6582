"""
The link of one step: values to buffers, each op to the launches it runs as.

A value of the step gets one buffer. A table that is written is written in place, unless a reader later in the step
still needs its old rows; it is copied first then. Results that the step carries to the next one end in the argument
they become.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException
from xdsl.utils.hints import isa

from lanelink.dialects.launch import AllocOp, ConstantOp, CopyOp, ViewOp
from lanelink.dialects.tgraph import ConstantOp as TensorConstantOp
from lanelink.dialects.tgraph import FusedOp, LiftedOp, SetRowOp
from lanelink.dialects.tgraph import ViewOp as TensorViewOp
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.dialects.tgraph.fused import YieldOp
from lanelink.dialects.tgraph.step import StepIo, located
from lanelink.passes.link.draft import Draft
from lanelink.passes.origin import outer
from lanelink.passes.shim import Answer, Shim

T = TypeVar("T")


def buffer_type(kind: Attribute) -> Attribute:
    """The type of the buffer that holds a value: a memref for a tensor; rows and quantized activations stay."""
    if isa(kind, TensorType[Attribute]):
        return MemRefType(kind.element_type, kind.get_shape())
    if isinstance(kind, RowsType | Q8Type):
        return kind
    raise PassFailedException(f"link: expected a tensor, rows or quantized activations, got {kind}")


class Linker:
    """Links the ops of one step into `block`, whose arguments are the step's arguments as buffers."""

    def __init__(self, func: FuncOp, io: StepIo, shim: Shim, block: Block) -> None:
        self.io = io
        self.shim = shim
        self.block = block
        self.buffers: dict[SSAValue, SSAValue] = dict(zip(func.body.block.args, block.args, strict=True))
        self.order = {op: k for k, op in enumerate(func.body.block.ops)}

    # Buffers

    def buffer(self, value: SSAValue) -> SSAValue:
        """The buffer of a value, allocated where it has none yet."""
        found = self.buffers.get(value)
        if found is None:
            found = self.alloc(buffer_type(value.type))
            found.name_hint = value.name_hint
            self.buffers[value] = found
        return found

    def alloc(self, kind: Attribute) -> SSAValue:
        """A new buffer."""
        op = AllocOp(kind)
        self.block.add_op(op)
        return op.result

    def kept_buffer(self, value: SSAValue) -> SSAValue | None:
        """The buffer of a value inside a fused op where something reads it outside its producer's launch."""
        return self.buffer(value) if kept(value) else None

    def table_buffer(self, op: SetRowOp) -> SSAValue:
        """The buffer a set_row writes: its table's own, or a copy where a reader still needs the old rows."""
        held = self.buffer(op.table)
        if self._still_read(op):
            fresh = self.alloc(held.type)
            self.emit(Draft(CopyOp, {"x": held, "out": fresh}, location=op.location))
            held = fresh
        self.buffers[op.result] = held
        return held

    def _still_read(self, op: SetRowOp) -> bool:
        value, user = op.table, op
        user_op: Operation = user
        while True:
            owner = value.owner
            if isinstance(owner, TensorConstantOp):
                return True
            for other in _readers(value):
                if other is not user_op and not self._before(other, user_op):
                    return True
                if _views(other):
                    return True
            above = outer(value)
            if above is None:
                return False
            parent = user_op.parent_op()
            assert parent is not None
            value, user_op = above, parent

    def _before(self, a: Operation, b: Operation) -> bool:
        if a in self.order and b in self.order:
            return self.order[a] < self.order[b]
        # Inside a fused op: a handful of parts.
        return a.is_before_in_block(b)

    # Ops

    def run(self, func: FuncOp) -> None:
        """Links every op of the step but its return."""
        for op in func.body.block.ops:
            if isinstance(op, TensorConstantOp):
                made = ConstantOp(op.source, buffer_type(op.result.type))
                made.location = op.location
                made.result.name_hint = op.result.name_hint
                self.block.add_op(made)
                self.buffers[op.result] = made.result
            elif isinstance(op, LiftedOp | FusedOp):
                for draft in self.link(op):
                    self.emit(draft)

    def emit(self, draft: Draft) -> None:
        """Adds a launch to the step."""
        self.block.add_op(draft.build())

    def link(self, op: LiftedOp | FusedOp) -> list[Draft]:
        """The launches an op runs as, in order; a view names a buffer and runs nothing."""
        from lanelink.passes.link.classes import link_class
        from lanelink.passes.link.prims import link_prim

        if isinstance(op, TensorViewOp):
            self._view(op)
            return []
        if isinstance(op, LiftedOp):
            if (why := self.shim.refuses(op)) is not None:
                raise self.error(op, why)
            return [link_prim(self, op)]
        support = self.shim.answer(op)
        if support.answer is Answer.REFUSE:
            raise self.error(op, support.reason)
        if support.answer is Answer.DECOMPOSE:
            return self.inside(op, lambda linker, f: [d for part in f.parts for d in linker.link(part)])
        return [self.inside(op, link_class)]

    def inside(self, op: FusedOp, rule: Callable[[Linker, FusedOp], T]) -> T:
        """Applies a rule to a fused op, its arguments bound to its operands' buffers, its results to what it keeps."""
        for argument, operand in zip(op.body.block.args, op.inputs, strict=True):
            self.buffers[argument] = self.buffer(operand)
        made = rule(self, op)
        for result, inner in zip(op.outputs, op.yielded, strict=True):
            self.buffers[result] = self.buffer(inner)
        return made

    def one(self, op: LiftedOp | FusedOp) -> Draft:
        """The launch of a part that runs as one."""
        drafts = self.link(op)
        if len(drafts) != 1:
            raise self.error(op, f"expected a part that runs as one launch, got {len(drafts)}")
        return drafts[0]

    def whole(self, op: FusedOp) -> Draft:
        """The launch of a fused op linked whole, whatever the shim answers for its class; an error where it misfits."""
        from lanelink.passes.link.classes import link_class

        if (why := self.shim.fits(op)) is not None:
            raise self.error(op, why)
        return self.inside(op, link_class)

    def error(self, op: Operation, why: str) -> PassFailedException:
        """What went wrong with an op, where."""
        return PassFailedException(located(op, f"link {op.name}: {why}"))

    def _view(self, op: TensorViewOp) -> None:
        view = ViewOp(self.buffer(op.x), op.offset.value.data, number(op), buffer_type(op.result.type))
        view.location = op.location
        self.block.add_op(view)
        self.buffers[op.result] = view.result

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
            if held in arguments:
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


def _readers(value: SSAValue) -> Iterator[Operation]:
    return (use.operation for use in value.uses)


def _views(op: Operation) -> bool:
    """Whether an op names part of a buffer it reads, so that the buffer lives on under another name."""
    if isinstance(op, FusedOp):
        return any(isinstance(leaf, TensorViewOp) for leaf in op.leaves())
    return isinstance(op, TensorViewOp)
