"""`schedule-sequences`: launches of one kind that differ in their operands alone, a batch's sequences, as one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from lanelink.dialects.launch import AllocOp, AttentionOp, ConstantOp, Placed, SequencesOp, ViewOp
from lanelink.dialects.launch.accesses import Access, Range, parts, reads_of, writes_of
from lanelink.dialects.launch.base import Launch
from lanelink.dialects.launch.sequences import computed, operand_types
from lanelink.dialects.launch.step import launches
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.schedule.attention import attention_of

MOST_SEQUENCES = 8
"""Sequences that one launch takes: what the kernels' parameters name."""

SHARED = ("sinks", "cos", "sin", "norm", "w", "norm_weight")
"""Operands that launches of several sequences have in common: what the kernels take once."""


@dataclass(frozen=True)
class Work:
    """A launch as what it is like (`kind`, None where it joins no other), what it reads and what it writes."""

    kind: Hashable | None
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


@dataclass
class _Last:
    """The places of the last launches that read and that wrote something."""

    read: int = -1
    written: int = -1

    def note(self, place: int, is_write: bool) -> None:
        if is_write:
            self.written = max(self.written, place)
        else:
            self.read = max(self.read, place)


@dataclass
class _Places:
    """
    Of a buffer, the last launches over all of it, over any of its values, and over those of each run of them that was
    accessed alone: `runs[k]` is of the values from `starts[k]` to the next.
    """

    whole: _Last = field(default_factory=_Last)
    part: _Last = field(default_factory=_Last)
    starts: list[int] = field(default_factory=lambda: [0])
    runs: list[_Last] = field(default_factory=lambda: [_Last()])

    def over(self, values: Range | None) -> list[_Last]:
        """The last launches over any of `values`."""
        return [self.whole, self.part] if values is None else [self.whole, *self._inside(values)]

    def note(self, values: Range | None, place: int, is_write: bool) -> None:
        for last in [self.whole] if values is None else [self.part, *self._inside(values)]:
            last.note(place, is_write)

    def _inside(self, values: Range) -> list[_Last]:
        first, past = (self._cut(at) for at in values)
        return self.runs[first:past]

    def _cut(self, at: int) -> int:
        """The run that begins at a value, cut off from the one around it where there is none yet."""
        k = bisect_left(self.starts, at)
        if k == len(self.starts) or self.starts[k] != at:
            self.starts.insert(k, at)
            self.runs.insert(k, replace(self.runs[k - 1]))
        return k


def gather_sequences(step: Sequence[Work], most: int = MOST_SEQUENCES) -> list[list[int]]:
    """
    The launches of a step, by number, in groups that run as one; groups in the order they run in.

    A launch joins the last group of its kind where nothing that it depends on, and nothing that must come before it,
    runs with that group or after it. It then runs earlier than it did, and everything else where it was. One walk.
    """
    places: dict[Hashable, _Places] = {}
    groups: list[list[int]] = []
    last: dict[Hashable, int] = {}
    for number, work in enumerate(step):
        after = max(_earliest(work, places), default=-1)
        place = -1 if work.kind is None else last.get(work.kind, -1)
        if place > after and len(groups[place]) < most:
            groups[place].append(number)
        else:
            place = len(groups)
            groups.append([number])
            if work.kind is not None:
                last[work.kind] = place
        _note(work, place, places)
    return groups


def _earliest(work: Work, places: dict[Hashable, _Places]) -> Iterable[int]:
    """The places that a launch must run after."""
    for accesses, is_write in ((work.reads, False), (work.writes, True)):
        for access in accesses:
            if (seen := places.get(access.buffer)) is not None:
                for last in seen.over(access.values):
                    yield max(last.written, last.read) if is_write else last.written


def _note(work: Work, place: int, places: dict[Hashable, _Places]) -> None:
    for accesses, is_write in ((work.reads, False), (work.writes, True)):
        for access in accesses:
            places.setdefault(access.buffer, _Places()).note(access.values, place, is_write)


@dataclass(frozen=True)
class ScheduleSequencesPass(ModulePass):
    """
    Puts launches of one kind that differ in their operands alone, and do not depend on one another, into one
    `launch.sequences`, up to eight together: what a batch does sequence by sequence, its rotations, convolutions and
    delta rules, its tables' rows set and its attentions.
    """

    name = "schedule-sequences"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        schedule_sequences(step_function(op))


def schedule_sequences(func: FuncOp) -> None:
    """Gathers the sequences of one linked step."""
    run = [op for op in launches(func) if not isinstance(op, ViewOp)]
    order = {op: k for k, op in enumerate(func.body.block.ops)}
    for group in gather_sequences([work_of(op) for op in run]):
        if len(group) > 1:
            _together([run[k] for k in group], order)


def work_of(op: Launch) -> Work:
    """A launch as plain data."""
    return Work(_kind(op), tuple(reads_of(op)), tuple(writes_of(op)))


def _kind(op: Launch) -> Hashable | None:
    """What makes launches alike; none of one that no kernel runs beside others."""
    if not isinstance(op, SequencesOp.KINDS):
        return None
    members = list(parts(op))
    alike: list[Hashable] = [type(op), *computed(op), *operand_types(op)]
    alike += [part.row is None for part in members if isinstance(part, Placed)]
    alike += [value for part in members for name, value in part.named_operands() if name in SHARED]
    if isinstance(op, AttentionOp):
        alike.append(attention_of(op).by_fours)
    return tuple(alike)


def _together(members: list[Launch], order: dict[Operation, int]) -> None:
    """Puts launches in the place of the first of them."""
    first = members[0]
    for part in (part for member in members[1:] for part in parts(member)):
        for value in part.operands:
            _define_before(value, first, order)
    parent, after = first.parent_block(), first.next_op
    while after is not None and after in members:
        after = after.next_op
    assert parent is not None and after is not None  # a step returns behind its launches
    for member in members:
        member.detach()
    parent.insert_op_before(SequencesOp.of(members), after)


def _define_before(value: SSAValue, launch: Operation, order: dict[Operation, int]) -> None:
    """Moves what defines a buffer, and runs nothing, before a launch where it stands after it."""
    made = value.owner
    if not isinstance(made, AllocOp | ConstantOp | ViewOp) or order[made] < order[launch]:
        return
    if isinstance(made, ViewOp):
        _define_before(made.x, launch, order)
    parent = launch.parent_block()
    assert parent is not None
    made.detach()
    parent.insert_op_before(made, launch)
    order[made] = order[launch] - 1


__all__ = [
    "MOST_SEQUENCES",
    "ScheduleSequencesPass",
    "Work",
    "gather_sequences",
    "schedule_sequences",
    "work_of",
]
