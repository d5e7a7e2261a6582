"""Attention over a layer's key and value tables (Vaswani et al.; grouped heads: https://arxiv.org/abs/2305.13245)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from lanelink.dialects.tgraph import AttentionOp, BinaryKind, ElementwiseOp, SigmoidOp
from lanelink.frontend.builders import Outputs, linear, rms_norm, rotary, table_rows
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
    attended = step.together(_attend(step, part, *(step.apart(rows) for rows in (q, k, v)), layer=layer), q)
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


def _attend(
    step: StepBuilder,
    part: Attention,
    qs: Sequence[SSAValue],
    ks: Sequence[SSAValue],
    vs: Sequence[SSAValue],
    layer: str,
) -> list[SSAValue]:
    """Each sequence's attention over its own tables."""
    tables: list[list[SSAValue]] = []
    held = {side: step.key_values(f"{layer}.{side}", part.kv_width) for side in ("keys", "values")}
    for (side, before), rows in zip(held.items(), (ks, vs), strict=True):
        tables.append(table_rows(step, before, rows, side))
        step.keep(f"{layer}.{side}", tables[-1])
    sinks = step.values("sinks", (part.heads,)) if part.sinks else None
    return [
        step.add(
            AttentionOp(
                q,
                keys,
                values,
                position,
                heads=part.heads,
                kv_heads=part.kv_heads,
                head_dim=part.head_dim,
                window=part.window,
                scale=part.scale,
                softcap=part.softcap,
                sinks=sinks,
            ),
            "attended",
        )
        for q, keys, values, position in zip(qs, *tables, step.positions, strict=True)
    ]
