"""Metadata of well-known models as the configuration that their config.json gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf_files import Pair, f32, flag, pack, string, u32

from lanelink.frontend.config import parse_config
from lanelink.frontend.fields import Fields
from lanelink.frontend.gguf_config import read_gguf_config
from lanelink.frontend.gguf_file import open_gguf

EPS = float(np.float32(1e-6))
"""As the file keeps it."""


def pairs(name: str, integers: dict[str, int], numbers: dict[str, float], texts: dict[str, str]) -> list[Pair]:
    found: list[Pair] = [("general.architecture", string(name))]
    found += [(f"{name}.{key}", u32(value)) for key, value in integers.items()]
    found += [(f"{name}.{key}", f32(value)) for key, value in numbers.items()]
    return found + [(f"{name}.{key}", string(value)) for key, value in texts.items()]


YARN = {"beta_fast": 32, "beta_slow": 1, "factor": 40, "original_max_position_embeddings": 4096, "type": "yarn"}

DEEPSEEK_V2_LITE = (
    pairs(
        "deepseek2",
        {
            "block_count": 27,
            "context_length": 163840,
            "embedding_length": 2048,
            "feed_forward_length": 10944,
            "attention.head_count": 16,
            "attention.head_count_kv": 16,
            "attention.key_length": 192,
            "attention.value_length": 128,
            "attention.kv_lora_rank": 512,
            "rope.dimension_count": 64,
            "rope.scaling.original_context_length": 4096,
            "leading_dense_block_count": 1,
            "expert_count": 64,
            "expert_used_count": 6,
            "expert_shared_count": 2,
            "expert_feed_forward_length": 1408,
            "vocab_size": 102400,
        },
        {
            "attention.layer_norm_rms_epsilon": 1e-6,
            "rope.freq_base": 10000.0,
            "rope.scaling.factor": 40.0,
            "rope.scaling.yarn_log_multiplier": 0.0707,
            "expert_weights_scale": 1.0,
        },
        {"rope.scaling.type": "yarn"},
    ),
    {
        "model_type": "deepseek_v2",
        "hidden_size": 2048,
        "intermediate_size": 10944,
        "moe_intermediate_size": 1408,
        "n_shared_experts": 2,
        "n_routed_experts": 64,
        "num_experts_per_tok": 6,
        "num_hidden_layers": 27,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "kv_lora_rank": 512,
        "q_lora_rank": None,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "first_k_dense_replace": 1,
        "max_position_embeddings": 163840,
        "rope_theta": 10000,
        "rope_scaling": YARN | {"mscale": 0.707, "mscale_all_dim": 0.707},
        "routed_scaling_factor": 1.0,
        "topk_method": "greedy",
        "n_group": 1,
        "topk_group": 1,
        "vocab_size": 102400,
        "tie_word_embeddings": True,  # there is no output.weight in a file without tensors
        "rms_norm_eps": EPS,
    },
)

DEEPSEEK_V3 = (
    [
        *pairs(
            "deepseek2",
            {
                "block_count": 61,
                "context_length": 163840,
                "embedding_length": 7168,
                "feed_forward_length": 18432,
                "attention.head_count": 128,
                "attention.head_count_kv": 1,
                "attention.key_length": 576,
                "attention.value_length": 512,
                "attention.key_length_mla": 192,
                "attention.value_length_mla": 128,
                "attention.kv_lora_rank": 512,
                "attention.q_lora_rank": 1536,
                "rope.dimension_count": 64,
                "rope.scaling.original_context_length": 4096,
                "leading_dense_block_count": 3,
                "expert_count": 256,
                "expert_used_count": 8,
                "expert_shared_count": 1,
                "expert_feed_forward_length": 2048,
                "expert_gating_func": 2,
                "expert_group_count": 8,
                "expert_group_used_count": 4,
                "vocab_size": 129280,
            },
            {
                "attention.layer_norm_rms_epsilon": 1e-6,
                "rope.freq_base": 10000.0,
                "rope.scaling.factor": 40.0,
                "rope.scaling.yarn_log_multiplier": 0.1,
                "expert_weights_scale": 2.5,
            },
            {"rope.scaling.type": "yarn"},
        ),
        ("deepseek2.expert_weights_norm", flag(1)),
    ],
    {
        "model_type": "deepseek_v3",
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "n_shared_experts": 1,
        "n_routed_experts": 256,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "num_key_value_heads": 128,
        "kv_lora_rank": 512,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "first_k_dense_replace": 3,
        "max_position_embeddings": 163840,
        "rope_theta": 10000,
        "rope_scaling": YARN | {"mscale": 1.0, "mscale_all_dim": 1.0},
        "routed_scaling_factor": 2.5,
        "topk_method": "noaux_tc",
        "scoring_func": "sigmoid",
        "norm_topk_prob": True,
        "n_group": 8,
        "topk_group": 4,
        "vocab_size": 129280,
        "tie_word_embeddings": True,
        "rms_norm_eps": EPS,
    },
)

GEMMA3_27B = (
    pairs(
        "gemma3",
        {
            "block_count": 62,
            "context_length": 131072,
            "embedding_length": 5376,
            "feed_forward_length": 21504,
            "attention.head_count": 32,
            "attention.head_count_kv": 16,
            "attention.key_length": 128,
            "attention.value_length": 128,
            "attention.sliding_window": 1024,
            "vocab_size": 262208,
        },
        {"attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1e6, "rope.scaling.factor": 8.0},
        {"rope.scaling.type": "linear"},
    ),
    {
        "model_type": "gemma3_text",
        "hidden_size": 5376,
        "intermediate_size": 21504,
        "num_hidden_layers": 62,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "head_dim": 128,
        "query_pre_attn_scalar": 168,
        "sliding_window": 1024,
        "sliding_window_pattern": 6,
        "rope_theta": 1000000.0,
        "rope_local_base_freq": 10000.0,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "max_position_embeddings": 131072,
        "vocab_size": 262208,
        "torch_dtype": "bfloat16",
        "rms_norm_eps": EPS,
    },
)

GEMMA2_27B = (
    pairs(
        "gemma2",
        {
            "block_count": 46,
            "context_length": 8192,
            "embedding_length": 4608,
            "feed_forward_length": 36864,
            "attention.head_count": 32,
            "attention.head_count_kv": 16,
            "attention.key_length": 128,
            "attention.value_length": 128,
            "attention.sliding_window": 4096,
            "vocab_size": 256000,
        },
        {"attention.layer_norm_rms_epsilon": 1e-6},
        {},
    ),
    {
        "model_type": "gemma2",
        "hidden_size": 4608,
        "intermediate_size": 36864,
        "num_hidden_layers": 46,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "head_dim": 128,
        "query_pre_attn_scalar": 144,
        "sliding_window": 4096,
        "attn_logit_softcapping": 50.0,
        "final_logit_softcapping": 30.0,
        "max_position_embeddings": 8192,
        "vocab_size": 256000,
        "torch_dtype": "bfloat16",
        "rms_norm_eps": EPS,
    },
)

KNOWN = {
    "DeepSeek-V2-Lite": DEEPSEEK_V2_LITE,
    "DeepSeek-V3": DEEPSEEK_V3,
    "Gemma 3 27B": GEMMA3_27B,
    "Gemma 2 27B": GEMMA2_27B,
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_models(tmp_path: Path, name: str):
    """Equal in every field, in f64 as both are read."""
    metadata, config = KNOWN[name]
    path = tmp_path / "m.gguf"
    path.write_bytes(pack(metadata, []))
    keys: dict[str, Any] = config
    assert read_gguf_config(open_gguf(path)) == parse_config(Fields(keys, "config.json"))
