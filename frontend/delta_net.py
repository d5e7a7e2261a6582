"""Linear attention by the gated delta rule (Gated DeltaNet, https://arxiv.org/abs/2412.06464), as Qwen3-Next has it."""

from __future__ import annotations

from xdsl.ir import SSAValue

from lanelink.dialects.tgraph import (
    CausalConvOp,
    CheckpointAttr,
    DecayOp,
    GatedDeltaOp,
    L2NormOp,
    MatmulOp,
    SigmoidOp,
    SiluOp,
    StoredUnit,
    StoredViewAttr,
)
from lanelink.frontend.builders import Outputs, linear
from lanelink.frontend.shapes import DecoderConfig, DeltaNet
from lanelink.frontend.step_builder import StepBuilder
from lanelink.frontend.weights import Place

L2_EPS = 1e-6
"""What the norms of query and key heads add to a sum of squares."""


def delta_net(step: StepBuilder, config: DecoderConfig, part: DeltaNet, x: SSAValue, layer: str) -> SSAValue:
    """W_o · delta(q, k, v, z, β, α): q, k and v of x by a product, a short convolution and silu, q and k normed; the
    write strength β = σ(W_b · x) and the decay α of W_a · x. `layer` names the convolutions' rings,
    f32 [taps - 1, width], and the rule's state, f32 [value_heads · head_dim, head_dim]."""
    q, k, v, z = (linear(step, name, x, config.hidden, of.count, of=of) for name, of in _projections(part).items())
    qs = _convolved(step, part, "q", q, 0, layer)
    ks = _convolved(step, part, "k", k, part.key_width, layer)
    vs = _convolved(step, part, "v", v, 2 * part.key_width, layer)
    qs, ks = (
        [step.add(L2NormOp(each, part.head_dim, L2_EPS), hint) for each in side]
        for side, hint in ((qs, "q"), (ks, "k"))
    )
    beta = step.add(SigmoidOp(_head_gate(step, config, part, "b", x, 0)), "beta")
    a = _head_gate(step, config, part, "a", x, part.group)
    heads = (part.value_heads,)
    decay = step.add(DecayOp(a, step.values("dt_bias", heads), step.values("A_log", heads)), "decay")
    states = step.state(f"{layer}.delta", part.value_width, part.head_dim)
    norm = step.values("norm.weight", (part.head_dim,))
    apart = [qs, ks, vs, *(step.apart(side) for side in (z, beta, decay))]
    ops = [
        GatedDeltaOp(
            rows,
            state,
            norm,
            value_heads=part.value_heads,
            key_heads=part.key_heads,
            head_dim=part.head_dim,
            eps=config.norm_eps,
        )
        for state, rows in zip(states, zip(*apart, strict=True), strict=True)
    ]
    y = step.together([step.add(op, "mixed") for op in ops], v)
    step.keep(f"{layer}.delta", [op.new_state for op in ops])
    return linear(step, "out_proj", y, part.value_width, config.hidden)


def _projections(part: DeltaNet) -> dict[str, Outputs]:
    """The products that the checkpoint keeps as one: of each key head its query, its key, then the values and the
    output gates of the value heads that read it."""
    d, values = part.head_dim, part.group * part.head_dim
    each = 2 * d + 2 * values
    total = part.key_heads * each
    starts = {"q_proj": (0, d), "k_proj": (d, d), "v_proj": (2 * d, values), "z_proj": (2 * d + values, values)}
    return {
        name: Outputs("in_proj_qkvz", total, (part.key_heads, width), (each, 1), start)
        for name, (start, width) in starts.items()
    }


def _convolved(step: StepBuilder, part: DeltaNet, side: str, x: SSAValue, start: int, layer: str) -> list[SSAValue]:
    """silu of the causal convolution of each of x's channels, which are the model's from `start` on, of each
    sequence."""
    width = part.value_width if side == "v" else part.key_width
    view = StoredViewAttr(StoredUnit.ROWS, (width,), (1,), start)
    total = 2 * part.key_width + part.value_width
    place = Place(CheckpointAttr(step.full_name("conv1d.weight"), view=view), (total, 1, part.taps))
    with step.within(f"conv1d.{side}"):
        weight = step.values("weight", (width, part.taps), place=place)
        name = f"{layer}.{side}_ring"
        rings = step.state(name, part.taps - 1, width)
        ops = [CausalConvOp(each, weight, ring) for each, ring in zip(step.apart(x), rings, strict=True)]
        made = [step.add(SiluOp(step.add(op, "convolved")), side) for op in ops]
        step.keep(name, [op.new_ring for op in ops])
        return made


def _head_gate(
    step: StepBuilder, config: DecoderConfig, part: DeltaNet, name: str, x: SSAValue, start: int
) -> SSAValue:
    """A value of each value head of a row, by plain values [hidden, value_heads]: few outputs, which the gates of the
    rule are made of in the same launch. The checkpoint keeps both gates' rows key head by key head."""
    hidden, group = config.hidden, part.group
    view = StoredViewAttr(
        StoredUnit.VALUES, (hidden, part.key_heads, group), (1, 2 * group * hidden, hidden), start * hidden
    )
    full = step.full_name("in_proj_ba.weight")
    place = Place(CheckpointAttr(full, view=view), (2 * part.value_heads, hidden))
    with step.within(f"{name}_proj"):
        return step.add(MatmulOp(x, step.values("weight", (hidden, part.value_heads), place=place)), name)
