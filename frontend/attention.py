"""Attention over a layer's key and value tables (Vaswani et al.; grouped heads: https://arxiv.org/abs/2305.13245)."""

from __future__ import annotations

from xdsl.ir import SSAValue

from lanelink.dialects.tgraph import AttentionOp, BinaryKind, ElementwiseOp, SetRowOp, SigmoidOp
from lanelink.frontend.builders import Outputs, linear, rms_norm, rotary
from lanelink.frontend.shapes import Attention, DecoderConfig
from lanelink.frontend.step_builder import StepBuilder


def self_attention(step: StepBuilder, config: DecoderConfig, part: Attention, x: SSAValue, layer: str) -> SSAValue:
    """W_o · (σ(W_g · x) ⊙ attention(rope(norm(W_q · x)), K, V)), once this step's keys and values are in their tables;
    norms and gate where the layer has them. `layer` names its tables, [context, kv_width]."""
    q, gate = _query(step, config, part, x)
    k = linear(step, "k_proj", x, config.hidden, part.kv_width, bias=part.qkv_bias)
    v = linear(step, "v_proj", x, config.hidden, part.kv_width, bias=part.qkv_bias)
    if part.head_norm:
        q, k = (
            rms_norm(step, name, side, part.head_dim, config.norm_eps, plus_one=config.norm_plus_one)
            for name, side in (("q_norm", q), ("k_norm", k))
        )
    q = rotary(step, q, part.rope, heads=part.heads, head_dim=part.head_dim, rotated=part.rotated)
    k = rotary(step, k, part.rope, heads=part.kv_heads, head_dim=part.head_dim, rotated=part.rotated)
    attended = _attend(step, part, q, k, v, layer)
    if gate is not None:
        opened = step.add(SigmoidOp(gate), "opened")
        attended = step.add(ElementwiseOp(BinaryKind.MUL, attended, opened), "attended")
    return linear(step, "o_proj", attended, part.query_width, config.hidden, bias=part.output_bias)


def _query(step: StepBuilder, config: DecoderConfig, part: Attention, x: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """The query of every head, and its gate where there is one: the second half of what the matrix has of a head."""
    if not part.gated:
        return linear(step, "q_proj", x, config.hidden, part.query_width, bias=part.qkv_bias), None
    d, sizes = part.head_dim, (part.heads, part.head_dim)
    q, gate = (Outputs("q_proj", 2 * part.query_width, sizes, (2 * d, 1), side * d) for side in range(2))
    return (
        linear(step, "q_proj", x, config.hidden, part.query_width, bias=part.qkv_bias, of=q),
        linear(step, "gate_proj", x, config.hidden, part.query_width, bias=part.qkv_bias, of=gate),
    )


def _attend(step: StepBuilder, part: Attention, q: SSAValue, k: SSAValue, v: SSAValue, layer: str) -> SSAValue:
    keys_name, values_name = f"{layer}.keys", f"{layer}.values"
    keys, values = (step.key_values(name, part.kv_width) for name in (keys_name, values_name))
    keys = step.add(SetRowOp(keys, k, step.position), "keys")
    values = step.add(SetRowOp(values, v, step.position), "values")
    step.keep(keys_name, keys)
    step.keep(values_name, values)
    op = AttentionOp(
        q,
        keys,
        values,
        step.position,
        heads=part.heads,
        kv_heads=part.kv_heads,
        head_dim=part.head_dim,
        window=part.window,
        scale=part.scale,
        softcap=part.softcap,
        sinks=step.values("sinks", (part.heads,)) if part.sinks else None,
    )
    return step.add(op, "attended")
