"""
Where things are: results that land in rows of a table or in units of wider rows as their launch writes them, and parts
of every unit that are read in place.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph import (
    AttentionOp,
    FusedRowOp,
    FusionClass,
    GatedDeltaOp,
    HeadMatmulOp,
    HeadSliceOp,
    JoinOp,
    MoeOp,
    NormKind,
    RopeOp,
    SetRowOp,
)
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.row_sets import sets_every_row
from lanelink.passes.fuse.views import attention, is_fused, is_read_once, product, rotation


def _row_in_place(op: Operation) -> Parts | None:
    """
    A product, a rotation, a product a head, a mixture or a join, or into a fixed row an attention or a delta rule, then
    the set_row that alone reads it, into a table that nothing else reads: the rows land without a copy of the table.
    Of a batch's rows, each put into its own, something else may read the tensor they begin from. Into a table of f16
    they do not land as they are.
    """
    if not isinstance(op, SetRowOp) or not is_read_once(op.source):
        return None
    if element_of(op.table) != f32:
        return None
    source = op.source.owner
    # A norm is left to the fold with the product before it.
    if not isinstance(source, Part) or not lands(source, op) or _is_norm(source):
        return None
    return (source, op) if is_read_once(op.table) or sets_every_row(op) else None


def _part_in_place(op: Operation) -> Parts | None:
    """
    A slice of every so many values, then what alone reads it, each slice as one unit: an RMS norm of each, a rotation
    with its norm or without, a product a head; or an attention whose values are the slice of each of its keys.
    """
    if isinstance(op, AttentionOp):
        piece = _slice(op.values, op.value_dim.value.data)
        return (piece, op) if piece is not None and piece.x is op.keys else None
    read = _read_by_units(op)
    if read is None:
        return None
    piece = _slice(*read)
    return (piece, op) if piece is not None and isinstance(op, Part) else None


def _slice(value: SSAValue, unit: int) -> HeadSliceOp | None:
    """The slice, of `unit` values each, that makes a value and has one reader."""
    piece = value.owner
    if not isinstance(piece, HeadSliceOp) or not is_read_once(value):
        return None
    return piece if piece.width.value.data == unit else None


def _read_by_units(op: Operation) -> tuple[SSAValue, int] | None:
    """What an op reads unit by unit, and the values of a unit."""
    if isinstance(op, FusedRowOp):
        return (op.x, op.cols.value.data) if op.kind.data is NormKind.RMS and op.residual is None else None
    if isinstance(op, HeadMatmulOp):
        return op.x, op.inputs.value.data
    if isinstance(op, RopeOp) or is_fused(op, FusionClass.QK_NORM_ROPE):
        turn = rotation(op)
        return None if turn is None else (turn.x, turn.head[0])
    return None


def _units_in_place(op: Operation) -> Parts | None:
    """
    Two producers, each of which writes one unit of its result after another, then the join that alone reads both and
    whose heads are those units. A producer may be such a join itself, but not one of joins: regions nest no deeper.
    """
    if not isinstance(op, JoinOp):
        return None
    heads = op.heads.value.data
    found = [_producer(value, heads) for value in (op.a, op.b)]
    parts = [part for part in found if part is not None]
    return (*parts, op) if len(parts) == 2 else None


def _producer(value: SSAValue, heads: int) -> Part | None:
    """What makes a value read once, in so many units a row."""
    source = value.owner
    if not isinstance(source, Part) or not is_read_once(value) or _is_nested(source):
        return None
    _, width = matrix(value, "join operand")
    return source if unit_of(source) == width // heads else None


def _is_nested(op: Part) -> bool:
    """Whether an op is a join in place of joins in place."""
    return is_fused(op, FusionClass.UNITS_IN_PLACE) and any(
        is_fused(part, FusionClass.UNITS_IN_PLACE) for part in op.parts
    )


def unit_of(op: Part) -> int | None:
    """
    The values of a unit of what an op's launch can place: a product's or a mixture's row, a rotation's or a product's
    head, a norm's group, a joined head. None for an op that cannot place any.
    """
    if is_fused(op, FusionClass.PART_IN_PLACE, FusionClass.UNITS_IN_PLACE):
        return unit_of(op.parts[-1])
    if is_fused(op, FusionClass.ROW_IN_PLACE):
        return None
    if product(op) is not None or isinstance(op, MoeOp):
        return matrix(op.results[0], "result")[1]
    if isinstance(op, HeadMatmulOp):
        return op.outputs.value.data
    if isinstance(op, FusedRowOp):
        return op.cols.value.data if op.kind.data is NormKind.RMS else None
    if isinstance(op, JoinOp):
        return matrix(op.result, "join result")[1] // op.heads.value.data
    turn = rotation(op)
    return None if turn is None else turn.head[0]


def lands(op: Part, landing: SetRowOp) -> bool:
    """Whether an op's launch can store its result where a set_row puts it."""
    if unit_of(op) is not None:
        return True
    return landing.row is not None and (attention(op) is not None or isinstance(op, GatedDeltaOp))


def _is_norm(op: Part) -> bool:
    last = op.parts[-1] if is_fused(op, FusionClass.PART_IN_PLACE) else op
    return isinstance(last, FusedRowOp)


ROW_IN_PLACE = Chain(FusionClass.ROW_IN_PLACE, _row_in_place)
PART_IN_PLACE = Chain(FusionClass.PART_IN_PLACE, _part_in_place)
UNITS_IN_PLACE = Chain(FusionClass.UNITS_IN_PLACE, _units_in_place)
