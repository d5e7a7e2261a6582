"""What a step computes, as numbers that do not depend on how its ops are fused."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from lanelink.dialects.tgraph import ConstantOp, FusedOp, LiftedOp
from lanelink.dialects.tgraph.step import step_function, step_return


def formulas(module: ModuleOp, known: dict[object, int]) -> list[int]:
    """
    The results as numbers of formulas: two values have one number exactly if the same ops compute them of the same
    arguments and constants, fused or not. `known` holds the numbers given so far.
    """
    of: dict[SSAValue, int] = {}

    def read(block: Block) -> None:
        for op in block.ops:
            if isinstance(op, FusedOp):
                of.update(zip(op.body.block.args, [of[v] for v in op.inputs], strict=True))
                read(op.body.block)
                of.update(zip(op.outputs, [of[v] for v in op.yielded], strict=True))
            elif isinstance(op, LiftedOp | ConstantOp):
                formula = (op.name, frozenset(op.properties.items()), *[of[v] for v in op.operands])
                for k, result in enumerate(op.results):
                    of[result] = known.setdefault((k, result.type, formula), len(known))

    func = step_function(module)
    of.update((a, known.setdefault(("argument", a.index), len(known))) for a in func.body.block.args)
    read(func.body.block)
    return [of[v] for v in step_return(func).operands]
