"""Qwen2 and Qwen2.5 (https://arxiv.org/abs/2407.10671): biases on query, key and value, none on the output."""

from __future__ import annotations

from dataclasses import replace

from lanelink.frontend.dense import decoder, self_attention
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.readers import gated_mlp, layer_count, qwen_window, windows_of
from lanelink.frontend.rope_fields import FULL, SLIDING
from lanelink.frontend.shapes import DecoderConfig, Layer


def dense_windows(fields: Fields) -> tuple[int | None, ...]:
    """The windows of Qwen2's and Qwen3's layers: from `max_window_layers` on, where there are no `layer_types`."""
    layers, window = layer_count(fields), qwen_window(fields)
    first = layers if window is None else fields.integer("max_window_layers", 28, least=0)
    return windows_of(fields, window, [SLIDING if layer >= first else FULL for layer in range(layers)])


def _read(fields: Fields) -> DecoderConfig:
    attention, mlp = self_attention(fields, qkv_bias=True), gated_mlp(fields)
    layers = [Layer(replace(attention, window=window), mlp) for window in dense_windows(fields)]
    return decoder(fields, layers)


QWEN2 = Family("qwen2", "Qwen2ForCausalLM", _read)
