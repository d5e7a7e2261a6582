"""`schedule-splits`: shares of the inner size of products by plain values."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from lanelink.dialects.launch import GateProjOp, GemvF32Op
from lanelink.dialects.launch.base import buffer_shape
from lanelink.dialects.launch.products import MOST_SPLITS
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph.step import step_function

OUTPUTS = 32
"""Neighbouring outputs of a block: a lane each."""

PROJECTED_ROWS = 4
"""Rows of x that a block of gate projections takes; one of a plain product takes one."""

INNER = 64
"""Rows of a matrix that are worth a block: what its warps have in flight."""


def split_inner(k: int, blocks: int, sms: int) -> int:
    """
    Into how many shares an inner size of k is split, where `blocks` blocks make up each share, on a chip of `sms`
    multiprocessors: two blocks on each of them, of whole INNER rows, as long as there are rows enough.
    """
    most = max(1, min(MOST_SPLITS, 2 * sms // blocks))
    splits = min(most, -(-k // INNER))
    return -(-k // inner_share(k, splits))


def inner_share(k: int, splits: int) -> int:
    """Rows of a matrix that a block takes where k are split so: whole INNER of them."""
    return -(-k // (splits * INNER)) * INNER


@dataclass(frozen=True)
class ScheduleSplitsPass(ModulePass):
    """Writes `splits` on every product by a plain f32 matrix, and on gates with the products they are made of."""

    name = "schedule-splits"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sms = module_target(op).sms.data
        for each in step_function(op).walk():
            if isinstance(each, GemvF32Op | GateProjOp):
                rows, k = buffer_shape(each.x, each.name)
                matrix, taken = (each.wb, PROJECTED_ROWS) if isinstance(each, GateProjOp) else (each.w, 1)
                _, outputs = buffer_shape(matrix, each.name)
                blocks = -(-outputs // OUTPUTS) * -(-rows // taken)
                each.splits = IntegerAttr(split_inner(k, blocks, sms), i64)


__all__ = ["INNER", "OUTPUTS", "PROJECTED_ROWS", "ScheduleSplitsPass", "inner_share", "split_inner"]
