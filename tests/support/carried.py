"""Random steps as a runtime takes them: everything they leave is a state, which a backend shows."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import BlockArgument, SSAValue

from lanelink.dialects.tgraph import CausalConvOp, GatedDeltaOp, SetRowOp
from lanelink.dialects.tgraph.step import CARRY, POSITION, STATE, TOKEN, step_function, step_return


def carry_all(module: ModuleOp) -> None:
    """
    Makes every argument of a step but its token and position a state, and every result that is no argument what a state
    becomes: the one that was moved on to it, else one more. Arguments that nothing reads go.
    """
    func = step_function(module)
    block, end = func.body.block, step_return(func)
    becomes: dict[SSAValue, BlockArgument] = {}
    for value in end.operands:
        if isinstance(value, BlockArgument) or value in becomes:
            continue
        began = first_of(value)
        free = isinstance(began, BlockArgument) and began not in becomes.values()
        becomes[value] = began if free else block.insert_arg(value.type, len(block.args))
    kept = set(becomes.values())
    held = {k: dict(attrs.data) for k, attrs in enumerate(func.arg_attrs or ())}
    marked = {arg: held.get(arg.index, {}) for arg in block.args}
    for arg in [*block.args]:
        read = any(use.operation is not end for use in arg.uses)
        if not read and arg not in kept and not {TOKEN, POSITION} & marked[arg].keys():
            end.operands = [v for v in end.operands if v is not arg]
            block.erase_arg(arg)
    end.operands = list(becomes)
    arguments = [
        marked[arg] if {TOKEN, POSITION} & marked[arg].keys() else {STATE: StringAttr(f"s{arg.index}")}
        for arg in block.args
    ]
    func.properties["function_type"] = FunctionType.from_lists([a.type for a in block.args], [v.type for v in becomes])
    func.properties["arg_attrs"] = ArrayAttr([DictionaryAttr(a) for a in arguments])
    carried = [DictionaryAttr({CARRY: IntegerAttr(arg.index, i64)}) for arg in becomes.values()]
    func.properties["res_attrs"] = ArrayAttr(carried)
    module.verify()


def first_of(value: SSAValue) -> SSAValue:
    """What a state, moved on by the ops of a step, was before them."""
    while True:
        match value.owner:
            case CausalConvOp() as op if op.new_ring is value:
                value = op.ring
            case GatedDeltaOp() as op if op.new_state is value:
                value = op.state
            case SetRowOp() as op:
                value = op.table
            case _:
                return value


__all__ = ["carry_all", "first_of"]
