"""`fuse`: which lifted ops of a step go together, and under which class."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from lanelink.passes.fuse.build import constants_first
from lanelink.passes.fuse.patterns import fuse_block
from lanelink.passes.fuse.table import WALKS


@dataclass(frozen=True)
class FusePass(ModulePass):
    """
    Gathers the lifted ops of each function into fused ops, class by class, in the order of `table.WALKS`. Constants
    move to the front. What a fused op drops has no reader outside it; what is read elsewhere it keeps, if its class
    can. Cost: a constant number of passes over each block.
    """

    name = "fuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                for block in func.body.blocks:
                    constants_first(block)
                    fuse_block(block, WALKS)
