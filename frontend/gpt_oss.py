"""gpt-oss (https://arxiv.org/abs/2508.10925): sinks in the softmax, every other layer's window, biases everywhere,
experts with a clamped activation, which the release keeps in MXFP4."""

from __future__ import annotations

from dataclasses import replace

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import ExpertActivation
from lanelink.frontend.dense import decoder, self_attention
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.mixture_fields import expert_count, kept_experts
from lanelink.frontend.readers import alternating, expected, stored_format, windows_of
from lanelink.frontend.rope_fields import rope_fields, rope_of
from lanelink.frontend.shapes import DecoderConfig, Layer, Mixture, Router

ROPE_THETA = 150000.0

ROPE = {
    "rope_type": "yarn",
    "factor": 32.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": False,
    "original_max_position_embeddings": 4096,
}
"""The rotation where the configuration has none."""


def _mixture(fields: Fields) -> Mixture:
    expected(fields, "hidden_act", "silu")  # what it says of an activation that is the clamped one
    experts = expert_count(fields, "num_local_experts", "num_experts")
    return Mixture(
        experts=experts,
        top_k=kept_experts(fields, experts),
        intermediate=fields.integer("intermediate_size"),
        # A softmax of the chosen outputs alone is the softmax of all, made to sum to 1.
        router=Router("router", renormalize=True, bias=True),
        activation=ExpertActivation.CLAMPED_SWIGLU,
        limit=fields.number("swiglu_limit", 7.0, least=1e-6),
        bias=True,
        by_inputs=True,
        packed=Format.MXFP4 if fields.has("quantization_config") else None,
    )


def _read(fields: Fields) -> DecoderConfig:
    rope = rope_fields(fields)
    rope = rope if rope.values else Fields(ROPE, rope.where)
    bias = fields.flag("attention_bias", True)
    attention = self_attention(
        fields,
        rope=rope_of(fields, rope, ROPE_THETA),
        default_head_dim=64,
        qkv_bias=bias,
        output_bias=bias,
    )
    attention = replace(attention, sinks=True)
    window = fields.integer("sliding_window", 128)
    feed_forward = _mixture(fields)
    windows = windows_of(fields, window, alternating(fields))
    layers = [Layer(replace(attention, window=w), feed_forward) for w in windows]
    config = decoder(fields, layers, default_context=131072, default_eps=1e-5)
    # The release in MXFP4 does not say that it keeps the rest in bf16.
    return config if feed_forward.packed is None else replace(config, stored=stored_format(fields, "bfloat16"))


GPT_OSS = Family("gpt_oss", "GptOssForCausalLM", _read, packed="mxfp4")
