"""Kernel calls of several sequences' launches as one: their spec, and which kernels take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lanelink.lowering.selection.attention import ENTRIES, attention
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import F32, I32, Address, Argument, KernelCall, Null, SelectionError
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.delta import DELTA_ENTRIES, MOST_CONVS, conv, delta
from lanelink.lowering.selection.delta_specs import ConvSpec, DeltaSpec
from lanelink.lowering.selection.elementwise import unary
from lanelink.lowering.selection.packing import require, rows_of_step
from lanelink.lowering.selection.rows import ROPE_SIDES, copy, rope
from lanelink.lowering.selection.specs import CopySpec, RopeSpec, UnarySpec
from lanelink.passes.schedule.sequences import MOST_SEQUENCES

Member = AttentionSpec | ConvSpec | CopySpec | DeltaSpec | RopeSpec | UnarySpec
"""What several sequences' launches may be."""


@dataclass(frozen=True)
class SequencesSpec:
    """Launches of one kind and shape, each over buffers of its own, as one: `members`, 2 to 8 of them."""

    members: tuple[Member, ...]


@dataclass(frozen=True)
class Together:
    """
    The entry that runs several sequences' launches of another entry: its parameters are each sequence's `own`, by their
    places in the other's, eight times, then what is left of the other's, which all have in common.
    """

    entry: str
    own: tuple[int, ...]


def _each(first: int, step: int, count: int, places: Sequence[int]) -> tuple[int, ...]:
    """The places inside each of `count` groups of `step` parameters, which begin at parameter `first`."""
    return tuple(first + step * k + place for k in range(count) for place in places)


DELTA_OWN = (0, 2, 4, 6, 8, 9, 10, 19, 22)
"""q, k, v, z, beta, decay, state, y and its quantized form."""

ATTENTION_OWN = (0, 3, 5, 8, 41, 44, 47, 50)
"""q, keys, values, position, gate, y, its quantized form and the row of it."""

TOGETHER = {
    # x, y and its row
    "copy_rows": Together("copy_sequences", (0, 4, 6)),
    # x, y and its row, a table of f16
    "set_rows_f16": Together("set_rows_f16_sequences", (0, 2, 4)),
    # x, y and its row, its quantized form and its rows, fixed and named
    "unary_rows": Together("unary_sequences", (0, 6, 8, 9, 12, 13)),
    # position; of each side x, y and its row
    "rope_heads": Together("rope_sequences", (2, *_each(6, 11, ROPE_SIDES, (0, 3, 5)))),
    # of each convolution x, ring and y
    "conv_channels": Together("conv_sequences", _each(5, 9, MOST_CONVS, (0, 3, 4))),
    **{entry: Together(f"{entry}_sequences", DELTA_OWN) for _, entry, _ in DELTA_ENTRIES},
    **{e.name: Together(f"{e.module}_sequences", ATTENTION_OWN) for e in ENTRIES if not e.tailed and e.head is None},
}
"""Entry of one sequence → the entry of several."""

ONE: dict[type[Member], Callable[[Any, Chip], KernelCall]] = {
    AttentionSpec: lambda spec, chip: attention(spec, chip, most_queries=True),
    ConvSpec: conv,
    CopySpec: copy,
    DeltaSpec: delta,
    RopeSpec: rope,
    UnarySpec: unary,
}
"""The call of one sequence's launch alone."""


def sequences(spec: SequencesSpec, chip: Chip) -> KernelCall:
    """The call of several sequences' launches. Raises SelectionError for what no kernel runs together."""
    count, first = len(spec.members), spec.members[0]
    require(2 <= count <= MOST_SEQUENCES, "sequences", f"2 to {MOST_SEQUENCES}", count)
    for member in spec.members:
        require(type(member) is type(first), "sequences", f"members as {type(first).__name__}", member)
    members: Sequence[Member] = spec.members
    attentions = [m for m in members if isinstance(m, AttentionSpec)]
    if attentions:
        # A position that one of them may not read early, none does; nor rows of its tables.
        early, settled = all(m.early for m in attentions), all(m.settled for m in attentions)
        members = [replace(m, early=early, settled=settled) for m in attentions]
        require(all(m.turns is None for m in attentions), "sequences", "attentions that turn nothing", "one that does")
    alone = [ONE[type(m)](m, chip) for m in members]
    x, y, z = alone[0].grid
    rows_of_step(z * count, "sequences, blocks of rows:")
    together = TOGETHER.get(alone[0].entry)
    if together is None:
        raise SelectionError("sequences", f"one of {', '.join(TOGETHER)}", alone[0].entry)
    own, common = _arguments(alone, together)
    if attentions:
        common = (*common, I32(z))
    scratch = tuple(replace(s, bytes=count * s.bytes) for s in alone[0].scratch)
    return replace(alone[0], entry=together.entry, grid=(x, y, z * count), arguments=(*own, *common), scratch=scratch)


def _arguments(alone: Sequence[KernelCall], together: Together) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """What is each sequence's own, with null ones for the sequences there are not, and what all have in common."""
    first, *others = alone
    common = [k for k in range(len(first.arguments)) if k not in together.own]
    for call in others:
        for name in ("entry", "grid", "block", "shared", "scratch"):
            expected, got = getattr(first, name), getattr(call, name)
            require(expected == got, f"sequences, {name} of a member", expected, got)
        for k in common:
            expected, got = first.arguments[k], call.arguments[k]
            where = f"sequences, parameter {k} of {first.entry}"
            require(expected == got, where, f"the first member's, {_in_words(expected)}", _in_words(got))
    own = [tuple(call.arguments[k] for k in together.own) for call in alone]
    none: tuple[Argument, ...] = tuple(I32(0) if isinstance(a, I32) else Null() for a in own[0])
    padded = [*own, *[none] * (MOST_SEQUENCES - len(own))]
    return tuple(a for each in padded for a in each), tuple(first.arguments[k] for k in common)


def _in_words(argument: Argument) -> str:
    match argument:
        case I32() | F32():
            return str(argument.value)
        case Address():
            return f"a buffer from byte {argument.offset} on"
        case Null():
            return "none"


__all__ = ["TOGETHER", "Member", "SequencesSpec", "sequences"]
