"""Qwen3's mixtures of experts (https://arxiv.org/abs/2505.09388): Qwen3's attention, experts in most layers."""

from __future__ import annotations

from dataclasses import replace

from lanelink.frontend.dense import decoder, self_attention
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.mixture_fields import expert_count, mixture, sparse_layers
from lanelink.frontend.readers import gated_mlp, qwen_window
from lanelink.frontend.shapes import DecoderConfig, Layer, Router


def _read(fields: Fields) -> DecoderConfig:
    bias = fields.flag("attention_bias", False)
    attention = self_attention(fields, head_norm=True, qkv_bias=bias, output_bias=bias)
    attention = replace(attention, window=qwen_window(fields))  # of every layer: there are no layer types
    experts = expert_count(fields, "num_experts", "num_local_experts")
    sparse = mixture(fields, experts, router=Router(renormalize=fields.flag("norm_topk_prob", False)))
    kinds = sparse_layers(fields)
    dense = None if all(kinds) else gated_mlp(fields)
    return decoder(fields, [Layer(attention, sparse if kind or dense is None else dense) for kind in kinds])


QWEN3_MOE = Family("qwen3_moe", "Qwen3MoeForCausalLM", _read)
