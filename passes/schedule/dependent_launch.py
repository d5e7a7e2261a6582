"""`schedule-dependent-launch`: which launches may start before the launch before them ends."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from lanelink.dialects.launch import DeltaOp, GatherOp, ViewOp
from lanelink.dialects.launch.base import CompoundLaunch, Launch
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.dialects.tgraph.step import step_function

VALUES_A_BLOCK = 1024
"""Values that a block of a kernel without constants writes, about: 256 threads of four each."""

BLOCKS_AN_SM = 2
"""Blocks a multiprocessor up to which an early start pays though nothing is loaded before the wait: on an H200 a launch
takes 0.53 us instead of 0.61 at one block an SM, and 0.89 instead of 0.82 at four."""


@dataclass(frozen=True)
class Start:
    """What a launch does first, and how wide it is: whether it has loads under way before it waits, and the values it
    writes."""

    loads_first: bool
    values: int


def starts_early(start: Start, sms: int) -> bool:
    """
    Whether a launch should start before its predecessor ends, on a chip of `sms` multiprocessors.

    One that begins by loading should: what it loads is on its way while the predecessor finishes. Any other gains the
    launch's own latency alone, and loses more than that where its blocks crowd the predecessor's.
    """
    blocks = -(-start.values // VALUES_A_BLOCK)
    return start.loads_first or blocks <= BLOCKS_AN_SM * sms


def start_of(op: Launch) -> Start:
    """What a launch does first, and how wide it is."""
    first = op
    while isinstance(first, CompoundLaunch):
        first = first.members()[0]
    # A gather's rows are picked by an index, and the index may come from the launch before.
    picked = isinstance(first, GatherOp)
    constants = any(isinstance(value.type, RowsType) for value in op.reads())
    # A delta rule sends for its state, which it alone reads: to the second-level cache, where nothing is read too soon.
    loads_first = (constants and not picked) or isinstance(first, DeltaOp)
    return Start(loads_first, sum(_values(value) for value in set(op.writes())))


def _values(buffer: SSAValue) -> int:
    if isinstance(buffer.type, Q8Type):
        return prod(buffer.type.shape)
    return prod(buffer.type.get_shape()) if is_memref(buffer.type) else 0


@dataclass(frozen=True)
class ScheduleDependentLaunchPass(ModulePass):
    """
    Marks as `dependent` the launches that should start early. The step's first never does: nothing comes before it.

    `lower-to-driver` makes programmatic dependent launches of those whose kernel waits for its predecessor itself. A
    launch without the mark begins when its predecessor has ended.
    """

    name = "schedule-dependent-launch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sms = module_target(op).sms.data
        run = [each for each in launches(step_function(op)) if not isinstance(each, ViewOp)]
        for k, each in enumerate(run):
            each.dependent = UnitAttr() if k > 0 and starts_early(start_of(each), sms) else None


__all__ = ["ScheduleDependentLaunchPass", "Start", "start_of", "starts_early"]
