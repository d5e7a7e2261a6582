"""Everything that must hold of a module: its ops' own verifiers, and what only the whole step can show."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from lanelink.dialects.launch.step import verify_linked
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph.step import verify_dominance


def verify_module(module: ModuleOp) -> None:
    """
    Raises VerifyException where an op is wrong, an operand does not dominate its use, a linked step is wrong
    as a whole, or the module's target is no target.
    """
    module.verify()
    module_target(module)
    verify_dominance(module)
    for op in module.ops:
        if isinstance(op, FuncOp) and not op.is_declaration:
            verify_linked(op)
