"""Qwen3's dense models (https://arxiv.org/abs/2505.09388): a norm on each query and key head, no biases."""

from __future__ import annotations

from lanelink.frontend.family import Family

QWEN3 = Family(
    model_type="qwen3",
    class_name="Qwen3ForCausalLM",
    head_norm=True,
    reads_attention_bias=True,
    reads_windows=True,
    default_head_dim=128,
)
