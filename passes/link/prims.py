"""The launch of each kind of lifted op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FloatAttr, f32

from lanelink.dialects import launch, tgraph
from lanelink.dialects.launch.functions import Act, ActivationAttr
from lanelink.dialects.tgraph import GeluKind, LiftedOp, RowsType
from lanelink.dialects.tgraph.tables import table_shape
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.layer_prims import LAYER_PRIMS
from lanelink.passes.link.rules import Rule, draft_of, rule

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker


def link_prim(linker: Linker, op: LiftedOp) -> Draft:
    """The launch of a lifted op that the shim does not refuse."""
    found = PRIMS.get(type(op))
    if found is None:
        raise linker.error(op, f"expected one of {', '.join(sorted(k.name for k in PRIMS))}")
    return found(linker, op)


def _matmul(linker: Linker, op: tgraph.MatmulOp) -> Draft:
    kind = launch.GemvOp if isinstance(op.weight.type, RowsType) else launch.GemvF32Op
    return draft_of(op, kind, x=linker.buffer(op.x), w=linker.buffer(op.weight), out=linker.buffer(op.result))


def _elementwise(linker: Linker, op: tgraph.ElementwiseOp) -> Draft:
    a, b = linker.buffer(op.a), linker.buffer(op.b)
    return draft_of(op, launch.BinaryOp, kind=op.kind, a=a, b=b, out=linker.buffer(op.result))


def _swiglu(linker: Linker, op: tgraph.SwigluOp) -> Draft:
    gate, up = linker.buffer(op.gate), linker.buffer(op.up)
    return draft_of(op, launch.SwigluOp, gate=gate, up=up, out=linker.buffer(op.result))


def activation_of(op: LiftedOp) -> Act | None:
    """The activation an op is, where it is one."""
    match op:
        case tgraph.SiluOp():
            return Act.SILU
        case tgraph.SigmoidOp():
            return Act.SIGMOID
        case tgraph.GeluOp():
            return Act.GELU if op.kind.data is GeluKind.EXACT else Act.GELU_TANH
        case _:
            return None


def _unary(linker: Linker, op: tgraph.SiluOp | tgraph.SigmoidOp | tgraph.GeluOp) -> Draft:
    act = activation_of(op)
    assert act is not None
    x, out = linker.buffer(op.x), linker.buffer(op.result)
    return draft_of(op, launch.UnaryOp, act=ActivationAttr(act), x=x, out=out)


def _scale(linker: Linker, op: tgraph.ScaleOp) -> Draft:
    return draft_of(op, launch.ScaleOp, factor=op.factor, x=linker.buffer(op.x), out=linker.buffer(op.result))


def _quantize(linker: Linker, op: tgraph.QuantizeOp) -> Draft:
    return draft_of(op, launch.QuantOp, x=linker.buffer(op.x), quant=linker.buffer(op.result))


def _fused_row(linker: Linker, op: tgraph.FusedRowOp) -> Draft:
    return draft_of(
        op,
        launch.NormOp,
        cols=op.cols,
        eps=op.eps,
        x=linker.buffer(op.x),
        add=None if op.residual is None else linker.buffer(op.residual),
        w=None if op.weight is None else linker.buffer(op.weight),
        out=linker.buffer(op.result),
    )


def _rope(linker: Linker, op: tgraph.RopeOp) -> Draft:
    return draft_of(
        op,
        launch.RopeOp,
        heads=op.heads,
        head_dim=op.head_dim,
        half=op.half,
        x=linker.buffer(op.x),
        cos=linker.buffer(op.cos),
        sin=linker.buffer(op.sin),
        position=None if op.position is None else linker.buffer(op.position),
        out=linker.buffer(op.result),
    )


def _attention(linker: Linker, op: tgraph.AttentionOp) -> Draft:
    assert op.position is not None
    return draft_of(
        op,
        launch.AttentionOp,
        heads=op.heads,
        kv_heads=op.kv_heads,
        head_dim=op.head_dim,
        value_dim=op.value_dim,
        scale=FloatAttr(op.effective_scale, f32),
        window=op.window,
        q=linker.buffer(op.q),
        keys=linker.buffer(op.keys),
        values=linker.buffer(op.values),
        position=linker.buffer(op.position),
        sinks=None if op.sinks is None else linker.buffer(op.sinks),
        out=linker.buffer(op.result),
    )


def _gather(linker: Linker, op: tgraph.RowGatherOp | tgraph.RowsGatherOp) -> Draft:
    if op.index is None:
        # A fixed row of a table computed in the step.
        assert isinstance(op, tgraph.RowGatherOp) and op.row is not None
        return _table_row(linker, op, op.row.value.data)
    return draft_of(
        op,
        launch.GatherOp,
        table=linker.buffer(op.table),
        index=linker.buffer(op.index),
        out=linker.buffer(op.result),
    )


def _table_row(linker: Linker, op: tgraph.RowGatherOp, row: int) -> Draft:
    out = linker.buffer(op.result)
    _, cols = table_shape(op.table, "row_gather table")
    view = launch.ViewOp(linker.buffer(op.table), row * cols, (), out.type)
    linker.block.add_op(view)
    return draft_of(op, launch.CopyOp, x=view.result, out=out)


def _set_row(linker: Linker, op: tgraph.SetRowOp) -> Draft:
    return draft_of(
        op,
        launch.SetRowOp,
        source=linker.buffer(op.source),
        out=linker.table_buffer(op),
        at=None if op.index is None else linker.buffer(op.index),
        row=op.row,
    )


def _head_slice(linker: Linker, op: tgraph.HeadSliceOp) -> Draft:
    x, out = linker.buffer(op.x), linker.buffer(op.result)
    return draft_of(op, launch.SliceOp, start=op.start, width=op.width, every=op.every, x=x, out=out)


def _arg_max(linker: Linker, op: tgraph.ArgMaxOp) -> Draft:
    return draft_of(op, launch.ArgMaxOp, x=linker.buffer(op.x), out=linker.buffer(op.result))


def _advance(linker: Linker, op: tgraph.AdvanceOp) -> Draft:
    return draft_of(op, launch.AdvanceOp, by=op.by, x=linker.buffer(op.position), out=linker.buffer(op.result))


PRIMS: dict[type[LiftedOp], Rule] = dict(
    [
        rule(tgraph.MatmulOp, _matmul),
        rule(tgraph.ElementwiseOp, _elementwise),
        rule(tgraph.SwigluOp, _swiglu),
        rule(tgraph.SiluOp, _unary),
        rule(tgraph.SigmoidOp, _unary),
        rule(tgraph.GeluOp, _unary),
        rule(tgraph.ScaleOp, _scale),
        rule(tgraph.QuantizeOp, _quantize),
        rule(tgraph.FusedRowOp, _fused_row),
        rule(tgraph.RopeOp, _rope),
        rule(tgraph.AttentionOp, _attention),
        rule(tgraph.RowGatherOp, _gather),
        rule(tgraph.RowsGatherOp, _gather),
        rule(tgraph.SetRowOp, _set_row),
        rule(tgraph.HeadSliceOp, _head_slice),
        rule(tgraph.ArgMaxOp, _arg_max),
        rule(tgraph.AdvanceOp, _advance),
        *LAYER_PRIMS,
    ]
)
"""Lifted op → its launch, from its buffers."""
