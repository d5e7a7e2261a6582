"""Qwen2 and Qwen2.5 (https://arxiv.org/abs/2407.10671): biases on query, key and value, none on the output."""

from __future__ import annotations

from lanelink.frontend.family import Family

QWEN2 = Family(
    model_type="qwen2",
    class_name="Qwen2ForCausalLM",
    always_qkv_bias=True,
    reads_windows=True,
)
