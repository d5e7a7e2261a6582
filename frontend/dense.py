"""How the configuration of a decoder is read, as Llama, Qwen2 and Qwen3 share it (https://arxiv.org/abs/2302.13971)."""

from __future__ import annotations

from collections.abc import Sequence

from lanelink.frontend.fields import Fields
from lanelink.frontend.readers import head_counts, head_size, norm_eps, stored_format
from lanelink.frontend.rope import Rope
from lanelink.frontend.rope_fields import read_rope
from lanelink.frontend.shapes import Attention, DecoderConfig, Layer


def self_attention(
    fields: Fields,
    *,
    rope: Rope | None = None,
    default_head_dim: int | None = None,
    qkv_bias: bool = False,
    output_bias: bool = False,
    head_norm: bool = False,
) -> Attention:
    """Attention without a window; `rope` is the configuration's one rotation where it is not given."""
    heads, kv_heads = head_counts(fields)
    head_dim = head_size(fields, heads, default_head_dim)
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        rope=read_rope(fields) if rope is None else rope,
        rotated=head_dim,
        qkv_bias=qkv_bias,
        output_bias=output_bias,
        head_norm=head_norm,
    )


def decoder(
    fields: Fields,
    layers: Sequence[Layer],
    *,
    default_context: int = 32768,
    default_eps: float = 1e-6,
    default_tied: bool = False,
) -> DecoderConfig:
    """The decoder around `layers`; the defaults are for keys that are not there."""
    return DecoderConfig(
        hidden=fields.integer("hidden_size"),
        vocabulary=fields.integer("vocab_size"),
        max_context=fields.integer("max_position_embeddings", default_context),
        norm_eps=norm_eps(fields, default_eps),
        tied=fields.flag("tie_word_embeddings", default_tied),
        stored=stored_format(fields),
        layers=tuple(layers),
    )
