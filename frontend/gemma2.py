"""Gemma 2 (https://arxiv.org/abs/2408.00118): norms around each part, soft caps, a window in every other layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.frontend.dense import decoder, self_attention
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.readers import activation, alternating, expected, stored_format, windows_of
from lanelink.frontend.rope import Rope, rounded
from lanelink.frontend.rope_fields import read_rope
from lanelink.frontend.shapes import Attention, DecoderConfig, GatedMlp, Layer


def gemma_attention(fields: Fields, rope: Rope) -> Attention:
    """Attention whose scores are scaled by 1/sqrt(query_pre_attn_scalar), whatever a head's size."""
    expected(fields, "use_bidirectional_attention", False)
    bias = fields.flag("attention_bias", False)
    whole = self_attention(fields, rope=rope, default_head_dim=256, qkv_bias=bias, output_bias=bias)
    scale = 1 / sqrt(fields.number("query_pre_attn_scalar", 256.0, least=1e-6))
    return replace(whole, scale=None if scale == 1 / sqrt(whole.head_dim) else scale)


def gemma_decoder(fields: Fields, attentions: Sequence[Attention], default_context: int) -> DecoderConfig:
    """The decoder of Gemma 2 and 3 around its layers' attentions."""
    # `hidden_act`, where there is one beside it, is an old name that the models' own code does not look at.
    mlp = GatedMlp(fields.integer("intermediate_size"), activation(fields, "hidden_activation", "gelu_pytorch_tanh"))
    layers = [Layer(attention, mlp) for attention in attentions]
    config = decoder(fields, layers, default_context=default_context, default_tied=True)
    return replace(
        config,
        norm_plus_one=True,
        sandwich=True,
        embedding_scale=_embedding_scale(config.hidden, stored_format(fields)),
        logit_softcap=softcap(fields, "final_logit_softcapping", None),
    )


def _embedding_scale(hidden: int, stored: Format) -> float:
    """sqrt(hidden), which the models' own code rounds to the type of the weights."""
    return float(rounded(np.array([sqrt(hidden)], np.float32), stored)[0])


def softcap(fields: Fields, key: str, default: float | None) -> float | None:
    """A soft cap; null is none."""
    if key in fields.values and not fields.has(key):
        return None
    return fields.number(key, default, least=1e-6) if fields.has(key) or default is not None else None


def _read(fields: Fields) -> DecoderConfig:
    attention = gemma_attention(fields, read_rope(fields))
    attention = replace(attention, softcap=softcap(fields, "attn_logit_softcapping", 50.0))
    windows = windows_of(fields, fields.integer("sliding_window", 4096), alternating(fields))
    config = gemma_decoder(fields, [replace(attention, window=window) for window in windows], 8192)
    return replace(config, logit_softcap=softcap(fields, "final_logit_softcapping", 30.0))


GEMMA2 = Family("gemma2", "Gemma2ForCausalLM", _read)
