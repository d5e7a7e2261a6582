"""Level 3 in numpy: the launches of delta rules, mixtures and latent attention."""

from __future__ import annotations

import numpy as np

from lanelink.dialects import launch
from lanelink.dialects.launch.base import buffer_shape
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.lowering import meanings
from lanelink.lowering.interpreters.launch_forms import (
    Floats,
    Meaning,
    Operands,
    Results,
    activation_of,
    entry,
    read_units,
    row_of,
)


def _decay(op: launch.DecayOp) -> Meaning:
    del op
    return lambda v: {"out": meanings.decay(v["a"], v["dt_bias"].reshape(-1), v["a_log"].reshape(-1))}


def _l2norm(op: launch.L2NormOp) -> Meaning:
    cols, eps = op.cols.value.data, op.eps.value.data
    return lambda v: {"out": meanings.l2_norm(v["x"], cols, eps)}


def _conv(op: launch.ConvOp | launch.ConvPartOp) -> Meaning:
    holder = op.parent_op() if isinstance(op, launch.ConvPartOp) else op
    assert isinstance(holder, launch.ConvOp | launch.ConvPartsOp)
    silu = not isinstance(holder, launch.ConvOp) or holder.silu is not None
    l2 = None
    if op.l2_cols is not None:
        assert holder.eps is not None
        l2 = (op.l2_cols.value.data, holder.eps.value.data)

    def run(v: Operands) -> Results:
        out, ring = meanings.causal_conv(v["x"], v["w"], v["ring"], silu=silu, l2=l2)
        return {"out": out, "ring": ring}

    return run


def _delta(op: launch.DeltaOp) -> Meaning:
    key_heads, eps = op.key_heads.value.data, op.eps.value.data

    def run(v: Operands) -> Results:
        gates, weight = (v["beta"], v["decay"]), v["norm_weight"].reshape(-1)
        rows = (v["q"], v["k"], v["v"], v["z"])
        out, state = meanings.gated_delta(*rows, *gates, v["state"], weight, key_heads=key_heads, eps=eps)
        return {"out": out, "state": state}

    return run


def _gates(op: launch.GatesOp) -> Meaning:
    del op

    def run(v: Operands) -> Results:
        beta, decay = meanings.gates(v["b"], v["a"], v["dt_bias"].reshape(-1), v["a_log"].reshape(-1))
        return {"beta": beta, "decay": decay}

    return run


def _gate_proj(op: launch.GateProjOp) -> Meaning:
    del op

    def run(v: Operands) -> Results:
        constants = (v["dt_bias"].reshape(-1), v["a_log"].reshape(-1))
        beta, decay = meanings.gate_projections(v["x"], v["wb"].T, v["wa"].T, *constants)
        return {"beta": beta, "decay": decay}

    return run


def _head_gemv(op: launch.HeadGemvOp) -> Meaning:
    heads, inputs = op.heads.value.data, op.inputs.value.data
    weight = op.w.type
    assert isinstance(weight, RowsType)
    outputs = weight.is_transposed

    def run(v: Operands) -> Results:
        x = read_units(op, activation_of(v["x"]), inputs)
        return {"out": meanings.head_product(x, meanings.head_matrices(v["w"], heads, rows_are_outputs=outputs))}

    return run


def _join(op: launch.JoinOp) -> Meaning:
    heads = op.heads.value.data
    return lambda v: {"out": meanings.join(v["a"], v["b"], heads)}


def _moe(op: launch.MoeOp) -> Meaning:
    groups, kept, best = op.grouping or (1, 1, 1)
    routing = meanings.Routing(
        op.top_k.value.data,
        renormalize=op.renormalize is not None,
        routed_scale=1.0 if op.routed_scale is None else op.routed_scale.value.data,
        groups=(groups, kept),
        group_best=best,
    )
    hidden, act = op.hidden.value.data, op.act.data
    limit = None if op.limit is None else op.limit.value.data
    planes = op.x.type.planes.data if isinstance(op.x.type, Q8Type) else 0

    def run(v: Operands) -> Results:
        x = activation_of(v["x"])

        def column(name: str, bias: Floats | None = None) -> Floats:
            """The product of what a router of the operand's form reads."""
            kind = getattr(op, name).type
            by_rows = isinstance(kind, RowsType)
            quantized = by_rows and kind.format.data.is_block
            read = x if quantized or "router_x" not in v else v["router_x"]
            return meanings.product(read, v[name] if by_rows else v[name].T, bias)

        shared = None
        if "shared_gate_rows" in v:
            matrices = (v["shared_gate_rows"], v["shared_up_rows"], v["shared_down_rows"])
            shared = meanings.SharedExpert(*matrices, column("shared_gate") if "shared_gate" in v else None)
        biases = {name: v.get(name) for name in ("gate_bias", "up_bias", "down_bias")}
        experts = meanings.Experts(v["gate"], v["up"], v["down"], hidden, act, limit, **biases)
        logits = column("router", v.get("router_bias"))
        return {"out": meanings.mixture(x, logits, routing, experts, hidden_planes=planes, shared=shared)}

    return run


def _expansion(op: launch.LatentExpansion) -> Meaning:
    heads, rows = op.heads.value.data, op.rows.value.data
    shape = buffer_shape(op.out, op.name)

    def run(v: Operands) -> Results:
        count = row_of(op, v["position"], rows, shape[0]) + rows
        matrices = meanings.head_matrices(v["w"], heads, rows_are_outputs=op.by_outputs)
        out = np.full(shape, np.nan, np.float32)
        out[:count] = meanings.latent_rows(v["table"], matrices, count)
        return {"out": out}

    return run


def _latent_attend(op: launch.LatentAttendOp) -> Meaning:
    heads, latent, scale = op.heads.value.data, op.latent.value.data, op.scale.value.data
    pitch, offset, nope = op.q_pitch.value.data, op.q_offset.value.data, op.nope.value.data

    def run(v: Operands) -> Results:
        q = meanings.slice_units(v["q"], pitch, offset, nope)
        first = row_of(op, v["position"], q.shape[0], v["keys"].shape[0])
        operands = (v["keys"], v["values"], v["table"])
        return {"out": meanings.latent_attention(q, v["q_rope"], *operands, first, heads, latent, scale)}

    return run


LAYER_MEANINGS = (
    entry(launch.DecayOp, _decay),
    entry(launch.L2NormOp, _l2norm),
    entry(launch.ConvOp, _conv),
    entry(launch.ConvPartOp, _conv),
    entry(launch.DeltaOp, _delta),
    entry(launch.GatesOp, _gates),
    entry(launch.GateProjOp, _gate_proj),
    entry(launch.HeadGemvOp, _head_gemv),
    entry(launch.JoinOp, _join),
    entry(launch.MoeOp, _moe),
    entry(launch.LatentKeysOp, _expansion),
    entry(launch.LatentValuesOp, _expansion),
    entry(launch.LatentAttendOp, _latent_attend),
)
"""Launch → what it writes, of those that only layers beside a dense decoder's have."""

__all__ = ["LAYER_MEANINGS"]
