"""`schedule-dependent-launch`: which launches may start before the launch before them ends."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass

from lanelink.dialects.launch import AttentionOp, DeltaOp, GatherOp, ViewOp
from lanelink.dialects.launch.base import CompoundLaunch, Launch, Placed
from lanelink.dialects.launch.step import launches, root
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


def start_of(op: Launch, settled: bool = False) -> Start:
    """What a launch does first, and how wide it is; `settled`: it holds an attention, all of whose tables' older rows
    may be read before the wait."""
    first = op
    while isinstance(first, CompoundLaunch):
        first = first.members()[0]
    # A gather's rows are picked by an index, and the index may come from the launch before.
    picked = isinstance(first, GatherOp)
    constants = any(isinstance(value.type, RowsType) for value in op.reads())
    # A delta rule sends for its state, which it alone reads: to the second-level cache, where nothing is read too soon.
    loads_first = (constants and not picked) or isinstance(first, DeltaOp) or settled
    return Start(loads_first, sum(_values(value) for value in set(op.writes())))


def _values(buffer: SSAValue) -> int:
    if isinstance(buffer.type, Q8Type):
        return prod(buffer.type.shape)
    return prod(buffer.type.get_shape()) if is_memref(buffer.type) else 0


class Written:
    """What the launches of a step have written so far: of each buffer, the indices that named the rows, None among them
    where no index did."""

    def __init__(self) -> None:
        self._indices: dict[Hashable, set[SSAValue | None]] = {}

    def add(self, op: Launch) -> None:
        """Notes a launch."""
        for part in leaves(op):
            index = part.index if isinstance(part, Placed) else None
            for value in part.writes():
                self._indices.setdefault(root(value), set()).add(index)

    def holds(self, buffer: Hashable) -> bool:
        """Whether a buffer, no view of one, is among what was written."""
        return buffer in self._indices

    def settles(self, op: AttentionOp) -> bool:
        """
        Whether the rows of an attention's tables before its position are there since before the step.

        The tables are arguments of the step, whose rows lie where they are from step to step; nothing ahead in the step
        writes the position, nor rows of the tables but from the position on.
        """
        tables = [root(op.keys), root(op.values)]
        at_position = all(self._indices.get(table, set()) <= {op.position} for table in tables)
        return (
            at_position
            and not self.holds(root(op.position))
            and all(isinstance(table, BlockArgument) for table in tables)
        )


def leaves(op: Launch) -> Iterator[Launch]:
    """A launch, or the parts it is made of, in order."""
    if isinstance(op, CompoundLaunch):
        for member in op.members():
            yield from leaves(member)
    else:
        yield op


@dataclass(frozen=True)
class ScheduleDependentLaunchPass(ModulePass):
    """
    Marks as `dependent` the launches that should start early. The step's first never does: nothing comes before it.
    Marks as `settled` the attentions whose tables' older rows may be read before the wait.

    `lower-to-driver` makes programmatic dependent launches of those whose kernel waits for its predecessor itself. A
    launch without the mark begins when its predecessor has ended.
    """

    name = "schedule-dependent-launch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sms = module_target(op).sms.data
        run = [each for each in launches(step_function(op)) if not isinstance(each, ViewOp)]
        written = Written()
        for k, each in enumerate(run):
            attentions = [part for part in leaves(each) if isinstance(part, AttentionOp)]
            settled = bool(attentions) and all(written.settles(part) for part in attentions)
            written.add(each)
            each.dependent = UnitAttr() if k > 0 and starts_early(start_of(each, settled), sms) else None
            for part in attentions:
                part.settled = UnitAttr() if settled else None


__all__ = ["ScheduleDependentLaunchPass", "Start", "Written", "leaves", "start_of", "starts_early"]
