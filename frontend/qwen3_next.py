"""Qwen3-Next: three layers of four mix positions by the gated delta rule (https://arxiv.org/abs/2412.06464), the fourth
by attention with a gated output; all have a mixture with a shared expert. Norms multiply by 1 + w, but not the delta
rule's."""

from __future__ import annotations

from dataclasses import replace

from lanelink.frontend.dense import decoder, self_attention
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.mixture_fields import sparse_layers
from lanelink.frontend.qwen2_moe import gated_shared
from lanelink.frontend.readers import expected, gated_mlp, layer_count, layer_kinds
from lanelink.frontend.rope_fields import FULL, partial_factor, rope_fields, rope_of
from lanelink.frontend.shapes import Attention, DecoderConfig, DeltaNet, Layer

LINEAR = "linear_attention"

MOST_TAPS = 64
"""Rows of a convolution past which a config.json is taken for a mistake."""


def _attention(fields: Fields) -> Attention:
    bias = fields.flag("attention_bias", False)
    rope = rope_fields(fields)
    whole = self_attention(
        fields, rope=rope_of(fields, rope), default_head_dim=256, head_norm=True, qkv_bias=bias, output_bias=bias
    )
    factor = partial_factor(fields, rope, 0.25)
    rotated = int(whole.head_dim * factor)
    if rotated < 2 or rotated % 2:
        raise fields.error("partial_rotary_factor", f"an even part of a head of {whole.head_dim}", factor)
    return replace(whole, rotated=rotated, gated=True)


def _delta_net(fields: Fields) -> DeltaNet:
    keys, values = fields.integer("linear_num_key_heads", 16), fields.integer("linear_num_value_heads", 32)
    if values % keys:
        raise fields.error("linear_num_value_heads", f"a multiple of linear_num_key_heads {keys}", values)
    width = fields.integer("linear_key_head_dim", 128)
    value_width = fields.integer("linear_value_head_dim", 128)
    if value_width != width:
        raise fields.error("linear_value_head_dim", f"linear_key_head_dim {width}", value_width)
    return DeltaNet(keys, values, width, fields.integer("linear_conv_kernel_dim", 4, least=2, most=MOST_TAPS))


def _read(fields: Fields) -> DecoderConfig:
    expected(fields, "hidden_act", "silu")  # of the convolutions and the delta rule's gate, too
    every = fields.integer("full_attention_interval", 4)
    default = [LINEAR if (layer + 1) % every else FULL for layer in range(layer_count(fields))]
    kinds = layer_kinds(fields, (LINEAR, FULL), default)
    attention, delta = _attention(fields), _delta_net(fields)
    sparse, dense = gated_shared(fields, renormalize=True), gated_mlp(fields)
    layers = [
        Layer(delta if kind == LINEAR else attention, sparse if is_sparse else dense)
        for kind, is_sparse in zip(kinds, sparse_layers(fields), strict=True)
    ]
    return replace(decoder(fields, layers), norm_plus_one=True)


QWEN3_NEXT = Family("qwen3_next", "Qwen3NextForCausalLM", _read)
