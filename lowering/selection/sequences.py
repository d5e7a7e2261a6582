"""Kernel calls of several sequences' launches as one: their spec, and which kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.attention import ENTRIES, attention, entry_for, value_unit
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import (
    F32,
    I32,
    Address,
    Argument,
    KernelCall,
    Null,
    Scratch,
    ScratchKind,
    SelectionError,
    optional,
)
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.operands import Rows
from lanelink.lowering.selection.packing import fixed, require, rows_of_step, writing
from lanelink.lowering.selection.rows import copy, copy_grid
from lanelink.lowering.selection.specs import CopySpec
from lanelink.passes.schedule.sequences import MOST_SEQUENCES


@dataclass(frozen=True)
class SequencesSpec:
    """Launches of one kind and shape, each over buffers of its own, as one: `members`, 2 to 8 of them."""

    members: tuple[CopySpec, ...] | tuple[AttentionSpec, ...]


MemberT = TypeVar("MemberT", CopySpec, AttentionSpec)

QUERIES = max(entry.queries for entry in ENTRIES)
"""Queries of a block of the entries that take sequences."""


def sequences(spec: SequencesSpec, chip: Chip) -> KernelCall:
    """The call of several sequences' launches. Raises SelectionError for what no kernel runs together."""
    count = len(spec.members)
    require(2 <= count <= MOST_SEQUENCES, "sequences", f"2 to {MOST_SEQUENCES}", count)
    first = spec.members[0]
    if isinstance(first, CopySpec):
        return _copies([m for m in spec.members if isinstance(m, CopySpec)], count, chip)
    return _attentions([m for m in spec.members if isinstance(m, AttentionSpec)], count, chip)


def _alike(members: Sequence[MemberT], shapes: Sequence[MemberT], count: int) -> None:
    """Checks members against the first of them, all but their addresses."""
    require(len(members) == count, "sequences", "members of one kind", f"{count - len(members)} others")
    for shape in shapes[1:]:
        require(shape == shapes[0], "sequences", f"members as {shapes[0]}", shape)


def _copies(members: list[CopySpec], count: int, chip: Chip) -> KernelCall:
    first = members[0]
    at = first.x.address
    shapes = [replace(m, x=_anywhere(m.x, at), y=_anywhere(m.y, at)) for m in members]
    _alike(members, shapes, count)
    copy(first, chip)
    require(first.units == 1, "sequences", "whole rows to copy", f"{first.units} runs a row")
    own = [(fixed(m.x, "sequences x"), writing(m.y)[0], writing(m.y)[2]) for m in members]
    grid, block = copy_grid(first.width, 1, first.m, "sequences")
    shared = (I32(first.x.pitch), I32(first.y.pitch), I32(first.width))
    arguments = (*_padded(own), *shared)
    return KernelCall("elementwise", "copy_sequences", (grid[0], grid[1], count), block, 0, arguments)


def _attentions(members: list[AttentionSpec], count: int, chip: Chip) -> KernelCall:
    first = members[0]
    at = first.q.address
    shapes = [
        replace(
            m,
            position=at,
            **{name: _anywhere(getattr(m, name), at) for name in ("q", "keys", "values")},
            y=None if m.y is None else _anywhere(m.y, at),
            gate=None if m.gate is None else replace(m.gate, x=_anywhere(m.gate.x, at)),
        )
        for m in members
    ]
    _alike(members, shapes, count)
    alone = [attention(m, chip) for m in members]
    entries = {entry_for(m) for m in members}
    require(len(entries) == 1, "sequences", "attentions that one entry runs", sorted(e.name for e in entries))
    entry = next((e for e in ENTRIES if e.module == entry_for(first).module and e.queries == QUERIES), None)
    if entry is None or entry.tailed or first.quantized is not None or first.q_unit is not None or first.y is None:
        raise SelectionError("sequences", "f32 attentions of values of at most 256", "another form")
    blocks, _, row_blocks = alone[0].grid
    rows_of_step(row_blocks * count, "sequences, blocks of rows:")
    shared = entry.shared_bytes(first.hd, first.vd)
    most = chip.shared_bytes - 1024
    require(shared <= most, "attention head", f"{most} bytes of shared memory", shared)
    own = [
        (
            *(fixed(m.q, "sequences q"), fixed(m.keys, "sequences keys"), fixed(m.values, "sequences values")),
            m.position,
            Null() if m.gate is None else fixed(m.gate.x, "sequences gate"),
            writing(m.y)[0],
        )
        for m in members
    ]
    pitch, act = (0, Activation.NONE) if first.gate is None else (first.gate.x.pitch, first.gate.act)
    arguments = (
        *_padded(own),
        *(I32(first.q.pitch), I32(first.keys.pitch), I32(first.values.pitch), I32(value_unit(first))),
        *(I32(int(all(m.early for m in members))), I32(first.m), I32(first.heads), I32(first.heads // first.kv_heads)),
        *(I32(first.block_heads), I32(first.block_rows), I32(row_blocks), I32(first.hd), I32(first.vd)),
        *(I32(first.window or 0), optional(first.sinks), F32(first.scale), I32(first.splits)),
        *(Address(ScratchKind.PARTIALS), Address(ScratchKind.COUNTERS)),
        *(I32(pitch), I32(act.code), I32(first.y.pitch)),
    )
    scratch = tuple(Scratch(s.kind, count * s.bytes) for s in alone[0].scratch)
    name = f"{entry.module}_sequences"
    grid = (blocks, first.splits, row_blocks * count)
    return KernelCall(entry.module, name, grid, (entry.threads, 1, 1), shared, arguments, scratch=scratch)


def _anywhere(rows: Rows, at: Address) -> Rows:
    """Rows of the same pitch at a stand-in of an address, or of a row named on the device."""
    return replace(rows, address=at, row=at if isinstance(rows.row, Address) else 0)


def _padded(own: Sequence[tuple[Argument, ...]]) -> tuple[Argument, ...]:
    """Every member's own arguments, and null ones for the sequences there are not."""
    none = tuple(Null() for _ in own[0])
    return tuple(a for each in (*own, *[none] * (MOST_SEQUENCES - len(own))) for a in each)


__all__ = ["SequencesSpec", "sequences"]
