"""The dense decoder that Llama, Qwen2 and Qwen3 share (https://arxiv.org/abs/2302.13971, section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import AttentionOp, SetRowOp
from lanelink.frontend.builders import StepBuilder, add, embedding, gated_mlp, linear, rms_norm, rotary
from lanelink.frontend.config import DecoderConfig
from lanelink.frontend.rope import inverse_frequencies, rounded


@dataclass(frozen=True)
class Cache:
    """The key and value tables of a layer, each f32 [context, kv_width]."""

    keys: SSAValue
    values: SSAValue


def decoder(
    step: StepBuilder,
    config: DecoderConfig,
    token: SSAValue,
    position: SSAValue,
    caches: list[Cache],
    *,
    rows: int,
    context: int,
    rope_format: Format,
) -> tuple[SSAValue, list[Cache]]:
    """The logits of each of `rows` tokens, f32 [rows, vocabulary], and the caches with the tokens' rows written.

    A tied head is the embedding table read the other way; a head the checkpoint holds all the same is not looked at.
    """
    written: list[Cache] = []
    with step.within("model"):
        with step.within("rotary_emb"):
            frequencies = rounded(inverse_frequencies(config.rope, config.head_dim), rope_format)
            tables = step.rotation_tables(frequencies, context)
        x = embedding(step, "embed_tokens", token, rows, vocabulary=config.vocabulary, hidden=config.hidden)
        for layer, cache in enumerate(caches):
            with step.within(f"layers.{layer}"):
                x, after = _layer(step, config, x, tables, position, cache, window=config.windows[layer])
            written.append(after)
        x = rms_norm(step, "norm", x, config.hidden, config.norm_eps)
    head = "model.embed_tokens" if config.tied else "lm_head"
    return linear(step, head, x, config.hidden, config.vocabulary, hint="logits"), written


def _layer(
    step: StepBuilder,
    config: DecoderConfig,
    x: SSAValue,
    tables: tuple[SSAValue, SSAValue],
    position: SSAValue,
    cache: Cache,
    *,
    window: int | None,
) -> tuple[SSAValue, Cache]:
    """x + attention(norm(x)), then that + mlp(norm(that))."""
    h = rms_norm(step, "input_layernorm", x, config.hidden, config.norm_eps)
    with step.within("self_attn"):
        h, cache = _attention(step, config, h, tables, position, cache, window=window)
    x = add(step, x, h)
    h = rms_norm(step, "post_attention_layernorm", x, config.hidden, config.norm_eps)
    with step.within("mlp"):
        h = gated_mlp(
            step,
            h,
            config.activation,
            hidden=config.hidden,
            intermediate=config.intermediate,
            bias=config.mlp_bias,
        )
    return add(step, x, h), cache


def _attention(
    step: StepBuilder,
    config: DecoderConfig,
    x: SSAValue,
    tables: tuple[SSAValue, SSAValue],
    position: SSAValue,
    cache: Cache,
    *,
    window: int | None,
) -> tuple[SSAValue, Cache]:
    """W_o · attention(rope(norm(W_q · x)), K, V), once this step's keys and values are in their tables."""
    head_dim = config.head_dim
    q = linear(step, "q_proj", x, config.hidden, config.query_width, bias=config.qkv_bias)
    k = linear(step, "k_proj", x, config.hidden, config.kv_width, bias=config.qkv_bias)
    v = linear(step, "v_proj", x, config.hidden, config.kv_width, bias=config.qkv_bias)
    if config.family.head_norm:
        q = rms_norm(step, "q_norm", q, head_dim, config.norm_eps)
        k = rms_norm(step, "k_norm", k, head_dim, config.norm_eps)
    q = rotary(step, q, tables, position, heads=config.heads, head_dim=head_dim)
    k = rotary(step, k, tables, position, heads=config.kv_heads, head_dim=head_dim)
    keys = step.add(SetRowOp(cache.keys, k, position), "keys")
    values = step.add(SetRowOp(cache.values, v, position), "values")
    attended = step.add(
        AttentionOp(
            q,
            keys,
            values,
            position,
            heads=config.heads,
            kv_heads=config.kv_heads,
            head_dim=head_dim,
            window=window,
        ),
        "attended",
    )
    out = linear(step, "o_proj", attended, config.query_width, config.hidden, bias=config.output_bias)
    return out, Cache(keys, values)
