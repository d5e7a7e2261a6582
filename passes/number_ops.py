"""`number-ops`: gives every lifted op of a step its number."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from lanelink.dialects.tgraph import LiftedOp
from lanelink.dialects.tgraph.lifted import int_attr


@dataclass(frozen=True)
class NumberOpsPass(ModulePass):
    """
    Numbers the lifted ops of every function 0, 1, 2 … in the order of the text, those inside fused ops with the rest.
    Numbers already there are replaced, so a second run changes nothing.
    """

    name = "number-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        number_ops(op)


def number_ops(module: ModuleOp) -> None:
    """Numbers the lifted ops of each of the module's functions, from 0."""
    for func in module.ops:
        if isinstance(func, FuncOp):
            lifted = (inner for inner in func.walk() if isinstance(inner, LiftedOp))
            for number, inner in enumerate(lifted):
                inner.number = int_attr(number)
