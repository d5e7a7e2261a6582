"""`link`: each op of the step to the launches it runs as (level 2 to level 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from lanelink.dialects.driver import StepOp
from lanelink.dialects.fault import located
from lanelink.dialects.launch import AllocOp
from lanelink.dialects.launch.step import LIFTED, verify_linked
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph.fused import leaves
from lanelink.dialects.tgraph.step import step_function, step_io, step_return, verify_dominance
from lanelink.passes.link.linker import Linker, buffer_type
from lanelink.passes.shim import MakeShim, Shim


@dataclass(frozen=True)
class LinkPass(ModulePass):
    """
    Links the step: values become buffers, ops become launches, and every lifted op is covered by exactly one.

    Carried results leave the function: they lie in the arguments they become. The others are returned as buffers.
    """

    name = "link"

    make_shim: ClassVar[MakeShim] = staticmethod(Shim)
    """What makes the shim of the module's target. A compiler with a lane of its own overrides it in a subclass."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        done = next((each for each in op.ops if isinstance(each, StepOp)), None)
        if done is not None:
            message = f"{self.name}: expected a step of tensors, got driver calls: it is lowered already"
            raise PassFailedException(located(done, message))
        func = step_function(op)
        if LIFTED in func.attributes:
            message = f"{self.name}: expected a step of tensors, got launches: it is linked already"
            raise PassFailedException(located(func, message))
        verify_dominance(op)
        linked = link(func, self.make_shim(module_target(op)))
        parent = func.parent_block()
        assert parent is not None
        parent.insert_op_before(linked, func)
        func.detach()
        func.erase()
        verify_linked(linked)


def link(func: FuncOp, shim: Shim) -> FuncOp:
    """The linked step of a level-2 function."""
    io = step_io(func)
    block = Block(arg_types=[buffer_type(a) for a in func.body.block.args])
    for made, argument in zip(block.args, func.body.block.args, strict=True):
        made.name_hint = argument.name_hint
        made.location = argument.location
    linker = Linker(func, io, shim, block)
    linker.run(func)
    rest = linker.finish(list(step_return(func).operands))
    block.add_op(ReturnOp(*rest))
    for op in list(block.ops):
        if isinstance(op, AllocOp) and not op.result.uses:
            op.detach()
            op.erase()
    kept = [k for k in range(len(func.function_type.outputs)) if k not in io.carries]
    made = FuncOp(
        func.sym_name.data,
        FunctionType.from_lists([a.type for a in block.args], [v.type for v in rest]),
        Region(block),
        visibility=func.sym_visibility,
        arg_attrs=func.arg_attrs,
        res_attrs=_kept_attrs(func.res_attrs, kept),
    )
    made.attributes |= func.attributes
    made.attributes[LIFTED] = IntegerAttr(sum(len(leaves(op)) for op in func.body.block.ops), i64)
    made.location = func.location
    return made


def _kept_attrs(attrs: ArrayAttr[DictionaryAttr] | None, kept: list[int]) -> ArrayAttr[DictionaryAttr] | None:
    return None if attrs is None else ArrayAttr([attrs.data[k] for k in kept])
