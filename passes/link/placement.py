"""Launches that read parts of units in place, and whose results land in rows of a table or units of wider rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import I64, IntegerAttr, MemRefType, f32, i64
from xdsl.ir import SSAValue

from lanelink.dialects import launch, tgraph
from lanelink.dialects.tgraph import FusedOp
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.linker import number

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker


def row_in_place(linker: Linker, op: FusedOp) -> list[Draft]:
    """A producer's launch, or each of those that write units of its rows, storing at the table's row."""
    producer, landing = op.parts
    assert isinstance(landing, tgraph.SetRowOp)
    made = linker.several(producer)
    out = linker.table_buffer(landing)
    at = None if landing.index is None else linker.buffer(landing.index)
    made = [_landed(linker, draft, landing, out, at) for draft in made]
    made[-1] = made[-1].with_(covers=number(landing))
    return made


def _landed(linker: Linker, draft: Draft, landing: tgraph.SetRowOp, out: SSAValue, at: SSAValue | None) -> Draft:
    """A launch that stores at the table's row, by its fields for that or, where it has none, in a view of the row."""
    if issubclass(draft.kind, launch.Placed):
        placed = draft.with_(out=out, row=landing.row)
        return placed if at is None else placed.with_(at=at)
    assert landing.row is not None
    rows, width = matrix(landing.source, "set_row source")
    view = launch.ViewOp(out, landing.row.value.data * width, (), MemRefType(f32, [rows, width]))
    view.location = landing.location
    linker.block.add_op(view)
    return draft.with_(out=view.result)


def part_in_place(linker: Linker, op: FusedOp) -> Draft:
    """A reader's launch over a part of every unit; an attention's values lie in its keys' rows."""
    piece, reader = op.parts
    assert isinstance(piece, tgraph.HeadSliceOp)
    draft = linker.one(reader)
    x, every, start = linker.buffer(piece.x), piece.every, piece.start
    if draft.kind is launch.AttentionOp:
        return draft.with_(values=x, v_pitch=every, v_offset=start, covers=number(piece))
    return draft.with_(x=x, x_pitch=every, x_offset=start, covers=number(piece))


def units_in_place(linker: Linker, op: FusedOp) -> list[Draft]:
    """The producers' launches, each writing its units of the joined rows; the join runs nothing."""
    join = op.parts[-1]
    assert isinstance(join, tgraph.JoinOp)
    heads, out = join.heads.value.data, linker.buffer(join.result)
    _, width = matrix(join.result, "join result")
    _, wide_a = matrix(join.a, "join a")
    offsets = {join.a: 0, join.b: wide_a // heads}
    made: list[Draft] = []
    for producer in op.parts[:-1]:
        offset = offsets[producer.results[0]]
        # A producer that is joined itself has placed its units in its own rows, which are these units.
        for draft in linker.several(producer):
            first = offset + _offset(draft)
            made.append(draft.with_(out=out, unit_pitch=_int(width // heads), unit_offset=_int(first)))
    made[-1] = made[-1].with_(covers=number(join))
    return made


def _offset(draft: Draft) -> int:
    held = draft.fields.get("unit_offset")
    return held.value.data if isinstance(held, IntegerAttr) else 0


def _int(value: int) -> IntegerAttr[I64]:
    return IntegerAttr(value, i64)


__all__ = ["part_in_place", "row_in_place", "units_in_place"]
