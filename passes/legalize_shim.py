"""`legalize-shim`: applies the shim's answers. Native fused ops stay, decomposed ones become their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from lanelink.dialects.fault import located
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph import FusedOp, LiftedOp
from lanelink.dialects.tgraph.fused import numbers
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.shim import Answer, MakeShim, Shim


@dataclass(frozen=True)
class LegalizeShimPass(ModulePass):
    """
    Asks the shim of the module's target for every op. A native fused op is left, one to decompose is replaced by its
    parts, and a refusal fails the pipeline, naming op number, op, class and reason.
    """

    name = "legalize-shim"

    make_shim: ClassVar[MakeShim] = staticmethod(Shim)
    """What makes the shim of the module's target. A compiler with a lane of its own overrides it in a subclass."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        shim = self.make_shim(module_target(op))
        for each in list(step_function(op).body.block.ops):
            legalize(each, shim)


def legalize(op: Operation, shim: Shim) -> None:
    """Applies the shim's answer to one op of the step."""
    if isinstance(op, LiftedOp):
        if (why := shim.refuses(op)) is not None:
            raise PassFailedException(located(op, f"{_named(op)}: {why}"))
        return
    if not isinstance(op, FusedOp):
        return
    support = shim.answer(op)
    if support.answer is Answer.REFUSE:
        raise PassFailedException(located(op, f"{_named(op)}: {support.reason}"))
    if support.answer is Answer.DECOMPOSE:
        for part in decompose(op):
            legalize(part, shim)
        return
    for leaf in op.leaves():
        if (why := shim.refuses(leaf)) is not None:
            raise PassFailedException(located(leaf, f"{_named(leaf)} in {op.fusion_class.data.value}: {why}"))


def decompose(op: FusedOp) -> list[Operation]:
    """Replaces a fused op by its parts; returns them."""
    parts: list[Operation] = list(op.parts)
    block = op.body.block
    terminator = block.last_op
    assert terminator is not None
    kept = list(terminator.operands)
    Rewriter.erase_op(terminator)
    Rewriter.inline_block(block, InsertPoint.before(op), list(op.inputs))
    Rewriter.replace_op(op, [], kept)
    return parts


def _named(op: Operation) -> str:
    found = numbers(op)
    which = "unnumbered op" if not found else f"op {found[0]}" if len(found) == 1 else f"ops {found}"
    fused = f" ({op.fusion_class.data.value})" if isinstance(op, FusedOp) else ""
    return f"{which} {op.name}{fused}"
