"""From launches to the specs that kernels are chosen by: a table of launch op to the function that reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from lanelink.dialects import launch
from lanelink.dialects.launch.base import Launch, buffer_shape, index_count, table_shape
from lanelink.dialects.launch.sizes import buffer_bytes
from lanelink.dialects.tgraph.attributes import RowsType
from lanelink.lowering.functions import Activation, BinaryOp, Broadcast
from lanelink.lowering.launch_attention import (
    attention_spec,
    latent_attend_spec,
    latent_spec,
    placed_quantized,
)
from lanelink.lowering.launch_delta import (
    conv_parts_spec,
    conv_spec,
    decay_spec,
    delta_spec,
    gate_proj_spec,
    gates_spec,
    l2_norm_spec,
)
from lanelink.lowering.launch_folds import fold_spec, rope_parts_spec, rope_side
from lanelink.lowering.launch_heads import head_gemv_spec, join_spec
from lanelink.lowering.launch_mixture import moe_spec
from lanelink.lowering.launch_operands import (
    address,
    landing,
    norm_of,
    optional_address,
    optional_whole,
    placed,
    quantized,
    read_rows,
    rotation,
    rows,
    table_of,
    table_rows,
    unit_placed,
    unit_read,
)
from lanelink.lowering.launch_products import gemm_parts_spec, gemv_spec, glu_spec
from lanelink.lowering.selection.calls import SelectionError
from lanelink.lowering.selection.sequences import Member, SequencesSpec
from lanelink.lowering.selection.specs import (
    Advance,
    AdvanceSpec,
    ArgMaxSpec,
    BinarySpec,
    CopySpec,
    GatherSpec,
    NormSpec,
    QuantizeSpec,
    RopeSpec,
    Rows,
    SwigluSpec,
    UnarySpec,
    ValuesSpec,
)
from lanelink.lowering.selection.union import Spec

OpT = TypeVar("OpT", bound=Launch)


def launch_spec(op: Launch) -> Spec:
    """
    What a launch asks of a kernel; its addresses name SSA values, whose roots are allocs, constants and arguments.

    Raises SelectionError for a launch of a kind that no kernel computes.
    """
    rule = SPECS.get(type(op))
    if rule is None:
        raise SelectionError(op.name, f"one of {', '.join(sorted(k.name for k in SPECS))}", op.name)
    return rule(op)


def _gemv_f32(op: launch.GemvF32Op) -> ValuesSpec:
    m, k = buffer_shape(op.x, op.name)
    _, n = buffer_shape(op.w, op.name)
    splits = optional_whole(op.splits) or 1
    return ValuesSpec(rows(op.x), address(op.w), m, k, n, landing(op, op.out), optional_address(op.bias), splits)


def _advance(op: launch.AdvanceOp) -> AdvanceSpec:
    return AdvanceSpec(address(op.x), address(op.out), op.by.value.data, index_count(op.x, op.name))


def _gather(op: launch.GatherOp) -> GatherSpec:
    table, format, table_rows, cols = table_of(op)
    m, _ = buffer_shape(op.out, op.name)
    scale = 1.0 if op.scale is None else op.scale.value.data
    return GatherSpec(table, format, table_rows, cols, address(op.index), m, rows(op.out), scale)


def _norm(op: launch.NormOp) -> NormSpec:
    m, width = buffer_shape(op.x, op.name)
    cols, x_unit = op.cols.value.data, unit_read(op)
    units = width // (cols if x_unit is None else x_unit)
    return NormSpec(read_rows(op, op.x), m, cols, norm_of(op), units, x_unit, unit_placed(op))


def _rope(op: launch.RopeOp) -> RopeSpec:
    m, _ = buffer_shape(op.x, op.name)
    return RopeSpec(rotation(op), m, (rope_side(op),))


def _arg_max(op: launch.ArgMaxOp) -> ArgMaxSpec:
    m, n = buffer_shape(op.x, op.name)
    advance = None
    if op.token is not None and op.position is not None:
        advance = Advance(address(op.token), address(op.position))
    return ArgMaxSpec(rows(op.x), n, m, address(op.out), advance)


def _binary(op: launch.BinaryOp) -> BinarySpec:
    m, n = buffer_shape(op.a, op.name)
    b_rows, b_width = buffer_shape(op.b, op.name)
    repeated = Broadcast.ROW if b_width == n else Broadcast.COLUMN
    return BinarySpec(
        op=BinaryOp(op.kind.data.value),
        a=rows(op.a),
        b=rows(op.b),
        m=m,
        n=n,
        broadcast=Broadcast.NONE if (b_rows, b_width) == (m, n) else repeated,
        gate=Activation.NONE if op.gate is None else Activation(op.gate.data.value),
        y=None if op.out is None else rows(op.out),
        quantized=quantized(op.quant),
    )


def _swiglu(op: launch.SwigluOp) -> SwigluSpec:
    m, n = buffer_shape(op.gate, op.name)
    y = None if op.out is None else rows(op.out)
    return SwigluSpec(rows(op.gate), rows(op.up), m, n, y, quantized(op.quant))


def _unary(op: launch.UnaryOp) -> UnarySpec:
    m, n = buffer_shape(op.x, op.name)
    return UnarySpec(rows(op.x), m, n, Activation(op.act.data.value), y=rows(op.out))


def _scale(op: launch.ScaleOp) -> UnarySpec:
    m, n = buffer_shape(op.x, op.name)
    return UnarySpec(rows(op.x), m, n, factor=op.factor.value.data, y=rows(op.out))


def _quant(op: launch.QuantOp) -> QuantizeSpec:
    m, n = buffer_shape(op.x, op.name)
    written = quantized(op.quant)
    assert written is not None
    return QuantizeSpec(rows(op.x), m, n, written)


def _copy(op: launch.CopyOp) -> CopySpec:
    # Words of 4 bytes whatever they hold: f32, i32, or quantized blocks, which are whole words too.
    if isinstance(op.x.type, RowsType):
        raise SelectionError("launch.copy x", "a buffer of the step", op.x.type)
    words, rest = divmod(buffer_bytes(op.x.type), 4)
    if rest:
        raise SelectionError("launch.copy x", "a whole number of words", op.x.type)
    return CopySpec(Rows(address(op.x), words), Rows(address(op.out), words), 1, words)


def _set_row(op: launch.SetRowOp) -> CopySpec | UnarySpec:
    m, width = buffer_shape(op.source, op.name)
    if op.quant is None:
        assert op.out is not None
        return CopySpec(rows(op.source), landing(op, op.out), m, width)
    return UnarySpec(rows(op.source), m, width, y=placed(op, op.out), quantized=placed_quantized(op, op.quant))


def _slice(op: launch.SliceOp) -> CopySpec:
    m, held = table_shape(op.x, op.name)
    start, width, every = op.start.value.data, op.width.value.data, op.every.value.data
    return CopySpec(table_rows(op.x, start), table_rows(op.out), m, width, held // every, every, width)


def _sequences(op: launch.SequencesOp) -> SequencesSpec:
    members = [launch_spec(member) for member in op.members()]
    alike = [m for m in members if isinstance(m, Member)]
    if len(alike) != len(members):
        raise SelectionError("launch.sequences", "launches that run several at once", op.members()[0].name)
    return SequencesSpec(tuple(alike))


Rule = Callable[[Launch], Spec]


def _rule(kind: type[OpT], read: Callable[[OpT], Spec]) -> tuple[type[Launch], Rule]:
    return kind, cast(Rule, read)


SPECS: dict[type[Launch], Rule] = dict(
    [
        _rule(launch.GemvOp, gemv_spec),
        _rule(launch.GemvF32Op, _gemv_f32),
        _rule(launch.GemmPartsOp, gemm_parts_spec),
        _rule(launch.GemvGluOp, glu_spec),
        _rule(launch.GatherOp, _gather),
        _rule(launch.NormOp, _norm),
        _rule(launch.RopeOp, _rope),
        _rule(launch.RopePartsOp, rope_parts_spec),
        _rule(launch.AttentionOp, attention_spec),
        _rule(launch.LatentKeysOp, latent_spec),
        _rule(launch.LatentValuesOp, latent_spec),
        _rule(launch.LatentAttendOp, latent_attend_spec),
        _rule(launch.ArgMaxOp, _arg_max),
        _rule(launch.AdvanceOp, _advance),
        _rule(launch.BinaryOp, _binary),
        _rule(launch.SwigluOp, _swiglu),
        _rule(launch.UnaryOp, _unary),
        _rule(launch.ScaleOp, _scale),
        _rule(launch.QuantOp, _quant),
        _rule(launch.CopyOp, _copy),
        _rule(launch.SetRowOp, _set_row),
        _rule(launch.SliceOp, _slice),
        _rule(launch.HeadGemvOp, head_gemv_spec),
        _rule(launch.JoinOp, join_spec),
        _rule(launch.MoeOp, moe_spec),
        _rule(launch.FoldOp, fold_spec),
        _rule(launch.SequencesOp, _sequences),
        _rule(launch.DecayOp, decay_spec),
        _rule(launch.L2NormOp, l2_norm_spec),
        _rule(launch.ConvOp, conv_spec),
        _rule(launch.ConvPartsOp, conv_parts_spec),
        _rule(launch.GatesOp, gates_spec),
        _rule(launch.GateProjOp, gate_proj_spec),
        _rule(launch.DeltaOp, delta_spec),
    ]
)
"""Launch op → its spec. `launch.view` runs nothing."""

__all__ = ["SPECS", "launch_spec"]
