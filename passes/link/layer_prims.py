"""The launch of each kind of lifted op that only layers beside a dense decoder's have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from lanelink.dialects import launch, tgraph
from lanelink.dialects.tgraph.lifted import int_attr
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.rules import draft_of, rule

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker


def _decay(linker: Linker, op: tgraph.DecayOp) -> Draft:
    names = ("a", "dt_bias", "a_log")
    return draft_of(op, launch.DecayOp, **_operands(linker, op, names), out=linker.buffer(op.result))


def _l2norm(linker: Linker, op: tgraph.L2NormOp) -> Draft:
    x, out = linker.buffer(op.x), linker.buffer(op.result)
    return draft_of(op, launch.L2NormOp, cols=op.cols, eps=op.eps, x=x, out=out)


def _causal_conv(linker: Linker, op: tgraph.CausalConvOp) -> Draft:
    x, w, out = linker.buffer(op.x), linker.buffer(op.weight), linker.buffer(op.result)
    ring = linker.state_buffer(op, 2, op.new_ring)
    return draft_of(op, launch.ConvOp, x=x, w=w, ring=ring, out=out)


def _gated_delta(linker: Linker, op: tgraph.GatedDeltaOp) -> Draft:
    names = ("q", "k", "v", "z", "beta", "decay", "norm_weight")
    return draft_of(
        op,
        launch.DeltaOp,
        value_heads=op.value_heads,
        key_heads=op.key_heads,
        head_dim=op.head_dim,
        eps=op.eps,
        **_operands(linker, op, names),
        state=linker.state_buffer(op, 6, op.new_state),
        out=linker.buffer(op.result),
    )


MOE_OPERANDS = (
    "x",
    "router_x",
    "router",
    "gate",
    "up",
    "down",
    "router_bias",
    "gate_bias",
    "up_bias",
    "down_bias",
)


def _moe(linker: Linker, op: tgraph.MoeOp) -> Draft:
    return draft_of(
        op,
        launch.MoeOp,
        act=op.act,
        experts=op.experts,
        top_k=op.top_k,
        hidden=op.hidden,
        renormalize=op.renormalize,
        limit=op.limit,
        routed_scale=op.routed_scale,
        groups=op.groups,
        kept_groups=op.kept_groups,
        group_best=None if op.groups is None else int_attr(op.best_of_group),
        **_operands(linker, op, MOE_OPERANDS),
        out=linker.buffer(op.result),
    )


def _join(linker: Linker, op: tgraph.JoinOp) -> Draft:
    return draft_of(
        op, launch.JoinOp, heads=op.heads, a=linker.buffer(op.a), b=linker.buffer(op.b), out=linker.buffer(op.result)
    )


def _head_matmul(linker: Linker, op: tgraph.HeadMatmulOp) -> Draft:
    return draft_of(
        op,
        launch.HeadGemvOp,
        heads=op.heads,
        inputs=op.inputs,
        outputs=op.outputs,
        x=linker.buffer(op.x),
        w=linker.buffer(op.weight),
        out=linker.buffer(op.result),
    )


def _operands(linker: Linker, op: tgraph.LiftedOp, names: tuple[str, ...]) -> dict[str, SSAValue | None]:
    """The buffers of the operands that have the same names in the launch."""
    values: dict[str, SSAValue | None] = {name: getattr(op, name) for name in names}
    return {name: None if value is None else linker.buffer(value) for name, value in values.items()}


LAYER_PRIMS = (
    rule(tgraph.DecayOp, _decay),
    rule(tgraph.L2NormOp, _l2norm),
    rule(tgraph.CausalConvOp, _causal_conv),
    rule(tgraph.GatedDeltaOp, _gated_delta),
    rule(tgraph.MoeOp, _moe),
    rule(tgraph.JoinOp, _join),
    rule(tgraph.HeadMatmulOp, _head_matmul),
)
"""Lifted op → its launch, from its buffers."""

__all__ = ["LAYER_PRIMS"]
