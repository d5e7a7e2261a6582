"""The specs of attention: over tables, and over a latent table's expanded rows."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import SSAValue

from lanelink.dialects import launch
from lanelink.dialects.launch.base import Placed, buffer_shape, table_shape
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.lowering.functions import Activation
from lanelink.lowering.launch_operands import (
    address,
    head_norm,
    is_constant,
    kept_by,
    optional_address,
    optional_whole,
    placed,
    quantized,
    rows,
    table_rows,
)
from lanelink.lowering.selection.attention_specs import AttentionSpec, HeadTurns, KeyTail, OutputGate
from lanelink.lowering.selection.calls import SelectionError
from lanelink.lowering.selection.latent import LatentSpec
from lanelink.lowering.selection.operands import Quantized, Rows


def attention_spec(op: launch.AttentionOp) -> AttentionSpec:
    """What an attention over tables asks of a kernel."""
    m, _ = buffer_shape(op.q, op.name)
    length, _ = table_shape(op.keys, op.name)
    spec = AttentionSpec(
        q=rows(op.q),
        keys=table_rows(op.keys),
        values=table_rows(op.values, 0 if op.v_offset is None else op.v_offset.value.data),
        position=address(op.position),
        heads=op.heads.value.data,
        kv_heads=op.kv_heads.value.data,
        hd=op.head_dim.value.data,
        vd=op.value_dim.value.data,
        length=length,
        m=m,
        scale=op.scale.value.data,
        window=None if op.window is None else op.window.value.data,
        sinks=optional_address(op.sinks),
        y=placed(op, op.out),
        quantized=placed_quantized(op, op.quant),
        v_unit=None if op.v_pitch is None else op.v_pitch.value.data,
        gate=_gate(op),
        settled=op.settled is not None,
    )
    return _shared_out(op, spec)


def turned_attention_spec(
    fold: launch.FoldOp, turn: launch.RopePartsOp, attention: launch.AttentionOp
) -> AttentionSpec:
    """What an attention asks of a kernel that norms and turns its queries, and the keys it sets, itself.

    Raises SelectionError for other rotations than those of its queries and of the step's own keys, by constants.
    """
    what = "launch.fold rotation"
    sides = {side.out: side for side in turn.members() if isinstance(side, launch.RopeSideOp)}
    q, k = sides.get(attention.q), sides.get(attention.keys)
    if q is None or k is None or len(turn.members()) != 2:
        raise SelectionError(what, "two sides, the attention's queries and its table of keys", f"{len(sides)} others")
    placements = [q.index, *(field for side in (q, k) for field in (side.row, side.x_pitch, side.unit_pitch))]
    if any(field is not None for field in placements) or kept_by(fold, attention.q):
        raise SelectionError(what, "queries of its attention alone, whole rows of heads", "another form")
    if k.index is not attention.position or turn.position is not attention.position:
        raise SelectionError(what, "keys set and turned at the attention's position", "another")
    if not is_constant(turn.cos) or not is_constant(turn.sin):
        raise SelectionError(what, "tables that are constants", "others")
    heads = (q.heads.value.data, k.heads.value.data, turn.head_dim.value.data)
    spec = attention_spec(attention)
    if heads != (spec.heads, spec.kv_heads, spec.hd):
        raise SelectionError(what, f"{spec.heads} and {spec.kv_heads} heads of {spec.hd} values", heads)
    turns = HeadTurns(
        k=rows(k.x),
        q_norm=head_norm(q.norm, q.norm_eps),
        k_norm=head_norm(k.norm, k.norm_eps),
        cos=address(turn.cos),
        sin=address(turn.sin),
        half=turn.half.value.data,
    )
    return replace(spec, q=rows(q.x), turns=turns)


def latent_attend_spec(op: launch.LatentAttendOp) -> AttentionSpec:
    """What an attention over expanded rows asks of a kernel: its keys end in the table's rotated values."""
    m, _ = buffer_shape(op.q, op.name)
    length, _ = buffer_shape(op.table, op.name)
    heads, nope = op.heads.value.data, op.nope.value.data
    spec = AttentionSpec(
        q=_from(op.q, op.q_offset),
        keys=rows(op.keys),
        values=rows(op.values),
        position=address(op.position),
        heads=heads,
        kv_heads=heads,
        hd=nope + op.rope.value.data,
        vd=op.value_dim.value.data,
        length=length,
        m=m,
        scale=op.scale.value.data,
        y=None if op.out is None else rows(op.out),
        quantized=quantized(op.quant),
        q_unit=op.q_pitch.value.data,
        tail=KeyTail(nope, rows(op.q_rope), _from(op.table, op.latent)),
    )
    return _shared_out(op, spec)


def latent_spec(op: launch.LatentExpansion) -> LatentSpec:
    """What every head's keys, or values, ask of a kernel."""
    kind = op.w.type
    if not isinstance(kind, RowsType) or not isinstance(op.w.owner, launch.ConstantOp):
        raise SelectionError(f"{op.name} w", "a constant of checkpoint rows", kind)
    length, _ = buffer_shape(op.table, op.name)
    return LatentSpec(
        table=rows(op.table),
        weights=address(op.w),
        format=kind.format.data,
        by_outputs=op.by_outputs,
        heads=op.heads.value.data,
        latent=op.latent.value.data,
        width=op.width.value.data,
        m=op.rows.value.data,
        length=length,
        position=address(op.position),
        y=rows(op.out),
    )


def placed_quantized(op: Placed, quant: SSAValue | None) -> Quantized | None:
    """A quantized result that lands in rows of a tensor as the op's f32 one does."""
    written = quantized(quant)
    if written is None or quant is None or (op.index is None and op.row is None):
        return written
    assert isinstance(quant.type, Q8Type)
    row = address(op.index) if op.index is not None else 0 if op.row is None else op.row.value.data
    return replace(written, rows=quant.type.shape[0], row=row)


def _shared_out(op: launch.AttentionOp | launch.LatentAttendOp, spec: AttentionSpec) -> AttentionSpec:
    """The spec with what a block takes, where the schedule has said it."""
    heads, rows, splits = (optional_whole(field) or 1 for field in (op.block_heads, op.block_rows, op.splits))
    return replace(spec, block_heads=heads, block_rows=rows, splits=splits)


def _gate(op: launch.AttentionOp) -> OutputGate | None:
    if op.gate is None or op.gate_act is None:
        return None
    return OutputGate(Activation(op.gate_act.data.value), _from(op.gate, op.gate_offset))


def _from(value: SSAValue, offset: IntegerAttr[I64] | None) -> Rows:
    """A buffer's rows from value `offset` of the first on, as wide."""
    held = rows(value)
    return held if offset is None else replace(held, address=held.address.at(4 * offset.value.data))


__all__ = [
    "attention_spec",
    "latent_attend_spec",
    "latent_spec",
    "placed_quantized",
    "turned_attention_spec",
]
