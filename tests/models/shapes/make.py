"""Makes the checkpoints beside this file: every architecture in shapes that the trained models do not have.

Run by hand, with PyTorch and transformers, which nothing else of the project needs; ../README.md names the versions.
Weights are random and rounded to bf16, everything else is as `transformers` loads such a checkpoint, computed in f32 by
the architecture's own code. Beside each checkpoint lies `oracle.npz`: `prompt` ids, `logits` f32 [T, vocabulary] at its
positions, `greedy` ids chosen after it.
"""

from __future__ import annotations

import sys
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM

PROMPT, GREEDY = 24, 12

COMMON: dict[str, Any] = {
    "hidden_size": 96,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 96,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-3,  # so that a norm that has an eps of its own shows
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
EXPERTS = {"num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 32}
WINDOW = {"use_sliding_window": True, "sliding_window": 5}
ROOT = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 24}
"""A hidden size whose root, which embeddings are scaled by, is the same in every type."""
LATENT = {
    "num_key_value_heads": 6,
    "kv_lora_rank": 32,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 64,
    "n_routed_experts": 6,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 32,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
}


def yarn(**keys: object) -> dict[str, object]:
    """A rotation whose interpolated pairs a prompt of 24 positions tells from plain ones."""
    return {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 8, **keys}


LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 100.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}

SHAPES: dict[str, dict[str, Any]] = {
    "llama_scaled": {"model_type": "llama", "attention_bias": True, "mlp_bias": True, "rope_parameters": LLAMA3},
    "llama_linear": {
        "model_type": "llama",
        "num_key_value_heads": 6,
        "rope_parameters": {"rope_type": "linear", "rope_theta": 1000.0, "factor": 2.5},
        "hidden_act": "gelu_pytorch_tanh",
        "tie_word_embeddings": True,
    },
    "qwen2_window": {"model_type": "qwen2", "num_key_value_heads": 1, "max_window_layers": 1, **WINDOW},
    "qwen3_window": {"model_type": "qwen3", "attention_bias": True, "max_window_layers": 0, **WINDOW},
    "qwen2_moe_dense": {
        "model_type": "qwen2_moe",
        "num_hidden_layers": 4,
        "mlp_only_layers": [3],
        "decoder_sparse_step": 2,
        "norm_topk_prob": True,
        "shared_expert_intermediate_size": 64,
        "max_window_layers": 3,
        **WINDOW,
        **EXPERTS,
    },
    "qwen3_moe_dense": {
        "model_type": "qwen3_moe",
        "num_hidden_layers": 3,
        "mlp_only_layers": [1],
        "norm_topk_prob": False,
        **WINDOW,
        **EXPERTS,
    },
    "qwen3_next_three": {
        "model_type": "qwen3_next",
        "num_hidden_layers": 3,
        "layer_types": ["linear_attention", "full_attention", "linear_attention"],
        "mlp_only_layers": [2],
        "attention_bias": True,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 6,
        "linear_key_head_dim": 32,
        "linear_value_head_dim": 32,
        "linear_conv_kernel_dim": 3,
        "shared_expert_intermediate_size": 64,
        "rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5},
        **EXPERTS,
    },
    "gpt_oss_window": {
        "model_type": "gpt_oss",
        "intermediate_size": 32,
        "num_local_experts": 6,
        "num_experts_per_tok": 3,
        "sliding_window": 5,
        "rope_parameters": yarn(beta_fast=4.0, beta_slow=1.0, truncate=False),
    },
    "gemma2_scalar": {
        "model_type": "gemma2",
        **ROOT,
        "sliding_window": 5,
        "query_pre_attn_scalar": 10,
        "final_logit_softcapping": 5.0,
        "attn_logit_softcapping": 4.0,
        "tie_word_embeddings": True,
    },
    "gemma3_pattern": {
        "model_type": "gemma3_text",
        **ROOT,
        "num_hidden_layers": 3,
        "sliding_window_pattern": 3,
        "sliding_window": 5,
        "query_pre_attn_scalar": 10,
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "rope_theta": 1000.0, "factor": 8.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 50.0},
        },
        "tie_word_embeddings": True,
    },
    "deepseek_v2_lite": {
        "model_type": "deepseek_v2",
        "q_lora_rank": None,
        "topk_method": "greedy",
        "routed_scaling_factor": 1.0,
        "rope_parameters": yarn(mscale=0.707, mscale_all_dim=0.707),
        **LATENT,
    },
    "deepseek_v2_groups": {
        "model_type": "deepseek_v2",
        "q_lora_rank": 48,
        "attention_bias": True,
        "topk_method": "group_limited_greedy",
        "n_group": 3,
        "topk_group": 2,
        "routed_scaling_factor": 16.0,
        "rope_parameters": yarn(mscale=1.0, mscale_all_dim=0.5),
        **LATENT,
    },
    "deepseek_v3_halves": {
        "model_type": "deepseek_v3",
        "q_lora_rank": None,
        "rope_interleave": False,
        "n_group": 3,
        "topk_group": 2,
        "routed_scaling_factor": 1.5,
        "norm_topk_prob": True,
        "rope_parameters": yarn(mscale=1.0, mscale_all_dim=1.0),
        **LATENT,
    },
}


def randomize(model: torch.nn.Module, generator: torch.Generator, centred: bool) -> None:
    """Weights that make activations of order 1 and logits of several: nothing left at what it was begun with."""
    for name, parameter in [*model.named_parameters(), *model.named_buffers()]:
        if name.endswith(("inv_freq", "embed_scale")):
            continue
        values = torch.randn(parameter.shape, generator=generator)
        if name.endswith("A_log"):
            values = torch.log(torch.rand(parameter.shape, generator=generator) * 2 + 0.1)
        elif name.endswith("norm.weight"):
            # The delta rule's own norm multiplies by w where the others do by 1 + w.
            centre = 0.0 if centred and "linear_attn" not in name else 1.0
            values = centre + 0.2 * values
        elif parameter.dim() == 1 or name.endswith("_bias"):
            values = 0.3 * values
        elif "embed_tokens" in name:
            values = 0.5 * values
        elif "conv1d" in name:
            values = 0.6 * values
        else:
            inputs = parameter.shape[-2] if "gpt_oss" in type(model).__module__ and "experts" in name else 0
            values = 1.5 * values / sqrt(inputs or parameter.shape[-1])
        parameter.data = values.bfloat16().float()


def make(name: str, where: Path) -> None:
    """Writes one checkpoint and what the architecture's own code makes of it."""
    keys = {**COMMON, **SHAPES[name]}
    config = AutoConfig.for_model(keys.pop("model_type"), **keys)
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(sum(name.encode()))
    randomize(model, generator, centred=config.model_type.startswith(("gemma", "qwen3_next")))
    prompt = torch.randint(0, config.vocab_size, (1, PROMPT), generator=generator)
    ids = prompt
    with torch.no_grad():
        logits = model(prompt).logits[0]
        for _ in range(GREEDY):
            row = model(ids, use_cache=False).logits[:, -1]
            best = row[0].topk(2).values
            assert best[0] - best[1] > 1e-3, "a near tie says nothing"
            ids = torch.cat([ids, row.argmax(-1, keepdim=True)], dim=1)
    folder = where / name
    model.to(torch.bfloat16).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    np.savez_compressed(
        folder / "oracle.npz",
        prompt=prompt[0].numpy().astype(np.int32),
        logits=logits.numpy(),
        greedy=ids[0, PROMPT:].numpy().astype(np.int32),
    )
    print(name, f"logits {float(logits.std()):.2f}", sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    for each in sys.argv[1:] or SHAPES:
        make(each, Path(__file__).parent)
