"""Linear attention's launches as the specs that their kernels are chosen by."""

from __future__ import annotations

from lanelink.dialects import launch
from lanelink.dialects.launch.base import buffer_shape
from lanelink.lowering.launch_operands import address, is_constant, optional_whole, quantized, rows
from lanelink.lowering.selection.delta_specs import (
    ConvPart,
    ConvSpec,
    DeltaSpec,
    GateProjSpec,
    GatesSpec,
    L2Spec,
)
from lanelink.lowering.selection.operands import Rows


def decay_spec(op: launch.DecayOp) -> GatesSpec:
    """A delta rule's decay alone."""
    m, heads = buffer_shape(op.a, op.name)
    return GatesSpec(address(op.a), address(op.dt_bias), address(op.a_log), address(op.out), m, heads)


def gates_spec(op: launch.GatesOp) -> GatesSpec:
    """Both gates of a delta rule."""
    m, heads = buffer_shape(op.a, op.name)
    constants = (address(op.dt_bias), address(op.a_log))
    return GatesSpec(address(op.a), *constants, address(op.decay), m, heads, address(op.b), address(op.beta))


def gate_proj_spec(op: launch.GateProjOp) -> GateProjSpec:
    """Both gates with the products they are made of."""
    m, k = buffer_shape(op.x, op.name)
    _, heads = buffer_shape(op.wb, op.name)
    return GateProjSpec(
        x=rows(op.x),
        wb=address(op.wb),
        wa=address(op.wa),
        dt_bias=address(op.dt_bias),
        a_log=address(op.a_log),
        beta=address(op.beta),
        decay=address(op.decay),
        m=m,
        k=k,
        heads=heads,
        constant=is_constant(op.wb) and is_constant(op.wa),
        splits=optional_whole(op.splits) or 1,
    )


def l2_norm_spec(op: launch.L2NormOp) -> L2Spec:
    """l2 norms of groups, which lie one after another whatever row they are of."""
    m, width = buffer_shape(op.x, op.name)
    cols = op.cols.value.data
    x, y = Rows(address(op.x), cols), Rows(address(op.out), cols)
    return L2Spec(x, y, m * width // cols, cols, op.eps.value.data)


def conv_spec(op: launch.ConvOp) -> ConvSpec:
    """One convolution."""
    m, _ = buffer_shape(op.x, op.name)
    _, taps = buffer_shape(op.w, op.name)
    eps = 0.0 if op.eps is None else op.eps.value.data
    return ConvSpec((_conv_part(op),), m, taps, op.silu is not None, eps, is_constant(op.w))


def conv_parts_spec(op: launch.ConvPartsOp) -> ConvSpec:
    """Convolutions with silu in parts."""
    parts = [part for part in op.members() if isinstance(part, launch.ConvPartOp)]
    m, _ = buffer_shape(parts[0].x, op.name)
    _, taps = buffer_shape(parts[0].w, op.name)
    eps = 0.0 if op.eps is None else op.eps.value.data
    constant = all(is_constant(part.w) for part in parts)
    return ConvSpec(tuple(_conv_part(part) for part in parts), m, taps, silu=True, eps=eps, constant=constant)


def _conv_part(op: launch.ConvOp | launch.ConvPartOp) -> ConvPart:
    _, channels = buffer_shape(op.x, op.name)
    cols = None if op.l2_cols is None else op.l2_cols.value.data
    return ConvPart(rows(op.x), address(op.w), address(op.ring), channels, rows(op.out), cols)


def delta_spec(op: launch.DeltaOp) -> DeltaSpec:
    """The gated delta rule."""
    m, _ = buffer_shape(op.q, op.name)
    return DeltaSpec(
        q=rows(op.q),
        k=rows(op.k),
        v=rows(op.v),
        z=rows(op.z),
        beta=address(op.beta),
        decay=address(op.decay),
        state=address(op.state),
        norm_weight=address(op.norm_weight),
        m=m,
        value_heads=op.value_heads.value.data,
        key_heads=op.key_heads.value.data,
        d=op.head_dim.value.data,
        eps=op.eps.value.data,
        y=None if op.out is None else rows(op.out),
        quantized=quantized(op.quant),
    )


__all__ = [
    "conv_parts_spec",
    "conv_spec",
    "decay_spec",
    "delta_spec",
    "gate_proj_spec",
    "gates_spec",
    "l2_norm_spec",
]
