"""`schedule-sequences`: launches of one kind that differ in their operands alone, a batch's sequences, as one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from lanelink.dialects.launch import AllocOp, AttentionOp, ConstantOp, Placed, SequencesOp, ViewOp
from lanelink.dialects.launch.base import Launch
from lanelink.dialects.launch.sequences import Rows, computed, operand_types, parts, written_rows
from lanelink.dialects.launch.step import launches, root
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.schedule.attention import attention_of

MOST_SEQUENCES = 8
"""Sequences that one launch takes: what the kernels' parameters name."""

SHARED = ("sinks", "cos", "sin", "norm", "w", "norm_weight")
"""Operands that launches of several sequences have in common: what the kernels take once."""


@dataclass(frozen=True)
class Access:
    """A buffer that a launch reads or writes; `rows` [first, past) where it is those alone."""

    buffer: Hashable
    rows: Rows | None = None


@dataclass(frozen=True)
class Work:
    """A launch as what it is like (`kind`, None where it joins no other), what it reads and what it writes."""

    kind: Hashable | None
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


@dataclass
class _Places:
    """Of a buffer, the place of the last launch that read it, wrote it all or any of it, and wrote each of its rows."""

    read: int = -1
    whole: int = -1
    part: int = -1
    rows: dict[int, int] = field(default_factory=dict[int, int])

    def written(self, rows: Rows | None) -> int:
        """The place of the last launch that wrote any of `rows`."""
        if rows is None:
            return max(self.whole, self.part)
        return max(self.whole, *(self.rows.get(row, -1) for row in range(*rows)))


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
    for access in work.reads:
        if (seen := places.get(access.buffer)) is not None:
            yield seen.written(access.rows)
    for access in work.writes:
        if (seen := places.get(access.buffer)) is not None:
            yield max(seen.read, seen.written(access.rows))


def _note(work: Work, place: int, places: dict[Hashable, _Places]) -> None:
    for access in work.reads:
        seen = places.setdefault(access.buffer, _Places())
        seen.read = max(seen.read, place)
    for access in work.writes:
        seen = places.setdefault(access.buffer, _Places())
        if access.rows is None:
            seen.whole = max(seen.whole, place)
            continue
        seen.part = max(seen.part, place)
        for row in range(*access.rows):
            seen.rows[row] = max(seen.rows.get(row, -1), place)


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
    return Work(
        kind=_kind(op),
        reads=tuple(Access(root(value)) for value in op.reads()),
        writes=tuple(Access(buffer, rows) for buffer, rows in written_rows(op)),
    )


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
    for member in members[1:]:
        for value in member.operands:
            _define_before(value, first, order)
    body = Block()
    made = SequencesOp.from_fields({}, [Region(body)])
    made.location = first.location
    parent = first.parent_block()
    assert parent is not None
    parent.insert_op_before(made, first)
    for member in members:
        member.detach()
        body.add_op(member)


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
    "Access",
    "ScheduleSequencesPass",
    "Work",
    "gather_sequences",
    "schedule_sequences",
    "work_of",
]
