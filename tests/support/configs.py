"""Small configurations of every family of decoders, as config.json says them."""

from __future__ import annotations

from typing import Any

import pytest

from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.config import parse_config
from lanelink.frontend.fields import Fields
from lanelink.frontend.shapes import Attention, DecoderConfig

BASE: dict[str, Any] = {
    "hidden_size": 96,
    "intermediate_size": 160,
    "num_hidden_layers": 4,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "vocab_size": 300,
}

_EXPERTS = {"num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 64}
_SHARED = {**_EXPERTS, "shared_expert_intermediate_size": 96}
_LATENT = {
    "num_key_value_heads": 6,
    "kv_lora_rank": 64,
    "q_lora_rank": None,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
    "n_routed_experts": 6,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 64,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
}

NAMES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "qwen2_moe": "Qwen2MoeForCausalLM",
    "qwen3_moe": "Qwen3MoeForCausalLM",
    "qwen3_next": "Qwen3NextForCausalLM",
    "gpt_oss": "GptOssForCausalLM",
    "gemma2": "Gemma2ForCausalLM",
    "gemma3_text": "Gemma3ForCausalLM",
    "deepseek_v2": "DeepseekV2ForCausalLM",
    "deepseek_v3": "DeepseekV3ForCausalLM",
}
"""`model_type` and the class that `architectures` names."""

OWN: dict[str, dict[str, Any]] = {
    "qwen2_moe": _SHARED,
    "qwen3_moe": _EXPERTS,
    "qwen3_next": {**_SHARED, "linear_num_key_heads": 2, "linear_num_value_heads": 6},
    "gpt_oss": {"num_local_experts": 6, "num_experts_per_tok": 3},
    "deepseek_v2": _LATENT,
    "deepseek_v3": {**_LATENT, "n_group": 3, "topk_group": 2},
}
"""What a family's configuration cannot do without, beside BASE."""


def values_of(family: str, /, **keys: object) -> dict[str, object]:
    """The keys of a small configuration, `keys` changed."""
    names = {"architectures": [NAMES[family]], "model_type": family}
    return {**names, **BASE, **OWN.get(family, {}), **keys}


def config(family: str = "llama", /, without: tuple[str, ...] = (), **keys: object) -> DecoderConfig:
    """What is read of such a configuration."""
    values = values_of(family, **keys)
    return parse_config(Fields({k: v for k, v in values.items() if k not in without}, "config.json"))


def attention(found: DecoderConfig, layer: int = 0) -> Attention:
    """A layer's attention."""
    mixer = found.layers[layer].mixer
    assert isinstance(mixer, Attention)
    return mixer


def check_refused(family: str, keys: dict[str, object], expected: str) -> None:
    """That a configuration with `keys` is refused, in words that hold `expected`."""
    with pytest.raises(CheckpointError) as error:
        config(family, **keys)
    assert str(error.value).startswith("config.json: ") and expected in str(error.value)
