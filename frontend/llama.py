"""Llama 1, 2 and 3 (https://arxiv.org/abs/2407.21783)."""

from __future__ import annotations

from lanelink.frontend.dense import decoder, self_attention
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.readers import gated_mlp, layer_count
from lanelink.frontend.shapes import DecoderConfig, Layer


def _read(fields: Fields) -> DecoderConfig:
    bias = fields.flag("attention_bias", False)
    attention = self_attention(fields, qkv_bias=bias, output_bias=bias)
    layer = Layer(attention, gated_mlp(fields, bias=fields.flag("mlp_bias", False)))
    return decoder(fields, [layer] * layer_count(fields), default_context=2048)


LLAMA = Family("llama", "LlamaForCausalLM", _read)
