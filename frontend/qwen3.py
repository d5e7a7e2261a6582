"""Qwen3's dense models (https://arxiv.org/abs/2505.09388): a norm on each query and key head, no biases."""

from __future__ import annotations

from dataclasses import replace

from lanelink.frontend.dense import decoder, self_attention
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.qwen2 import dense_windows
from lanelink.frontend.readers import gated_mlp
from lanelink.frontend.shapes import DecoderConfig, Layer


def _read(fields: Fields) -> DecoderConfig:
    bias = fields.flag("attention_bias", False)
    attention = self_attention(fields, default_head_dim=128, head_norm=True, qkv_bias=bias, output_bias=bias)
    mlp = gated_mlp(fields)
    layers = [Layer(replace(attention, window=window), mlp) for window in dense_windows(fields)]
    return decoder(fields, layers)


QWEN3 = Family("qwen3", "Qwen3ForCausalLM", _read)
