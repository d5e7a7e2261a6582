"""Llama 1, 2 and 3 (https://arxiv.org/abs/2407.21783)."""

from __future__ import annotations

from lanelink.frontend.family import Family

LLAMA = Family(
    model_type="llama",
    class_name="LlamaForCausalLM",
    reads_attention_bias=True,
    reads_mlp_bias=True,
    default_context=2048,
)
