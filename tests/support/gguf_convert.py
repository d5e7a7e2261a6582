"""Small checkpoints as GGUF files where the format's own converter made none: names of tensors and keys are the gguf
package's, what the converter does to tensors is done here."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf import MODEL_ARCH, MODEL_ARCH_NAMES, get_tensor_name_map
from gguf.constants import ExpertGatingFuncType, GGUFValueType, Keys
from gguf_files import Pair, Tensor, array, f32, flag, of_floats, pack, string, u32

from lanelink.frontend.hugging_face import open_directory
from lanelink.lowering.formats import decode

Floats = npt.NDArray[np.float32]


def hugging_face(path: Path) -> tuple[dict[str, Any], dict[str, Floats]]:
    """The configuration and all tensors in f32."""
    checkpoint = open_directory(path)
    found: dict[str, Floats] = {}
    for name, tensor in checkpoint.tensors.items():
        rows = int(np.prod(tensor.shape[:-1]))
        found[name] = decode(tensor.format, rows, tensor.shape[-1], tensor.raw()).reshape(tensor.shape)
    return json.loads((path / "config.json").read_text()), found


def stacked(tensors: Mapping[str, Floats]) -> dict[str, Floats]:
    """Every layer's experts as one tensor."""
    pattern = re.compile(r"(.*\.mlp\.experts)\.(\d+)\.(.*)")
    groups: dict[str, dict[int, Floats]] = {}
    for name, values in tensors.items():
        if found := pattern.fullmatch(name):
            groups.setdefault(f"{found[1]}.{found[3]}", {})[int(found[2])] = values
    rest = {name: values for name, values in tensors.items() if not pattern.fullmatch(name)}
    return rest | {name: np.stack([parts[k] for k in sorted(parts)]) for name, parts in groups.items()}


def heads_apart(config: Mapping[str, Any], tensors: Mapping[str, Floats]) -> dict[str, Floats]:
    """Latent attention's one matrix as a key half, turned over, and a value half, a matrix a head."""
    found: dict[str, Floats] = {}
    heads, nope, value = config["num_attention_heads"], config["qk_nope_head_dim"], config["v_head_dim"]
    for name, values in tensors.items():
        if not name.endswith("kv_b_proj.weight"):
            found[name] = values
            continue
        by_head = values.reshape(heads, nope + value, -1)
        found[name.replace("kv_b", "k_b")] = by_head[:, :nope].transpose(0, 2, 1)
        found[name.replace("kv_b", "v_b")] = by_head[:, nope:]
    return found


def renamed(arch: MODEL_ARCH, layers: int, tensors: Mapping[str, Floats]) -> list[Tensor]:
    """The tensors under the format's names, by the package's own table; f32, which loses nothing."""
    table = get_tensor_name_map(arch, layers)
    out: list[Tensor] = []
    for name, values in tensors.items():
        spelled = name.replace("e_score_correction_bias", "e_score_correction.bias")
        found = table.get_name(spelled, try_suffixes=(".weight", ".bias"))
        assert found is not None, f"the package names no {name}"
        out.append(of_floats(found, np.ascontiguousarray(values)))
    return out


def common(arch: MODEL_ARCH, config: Mapping[str, Any]) -> list[Pair]:
    """What the converter writes of every model."""
    name = MODEL_ARCH_NAMES[arch]
    return [
        (Keys.General.ARCHITECTURE, string(name)),
        (Keys.LLM.BLOCK_COUNT.format(arch=name), u32(config["num_hidden_layers"])),
        (Keys.LLM.CONTEXT_LENGTH.format(arch=name), u32(config["max_position_embeddings"])),
        (Keys.LLM.EMBEDDING_LENGTH.format(arch=name), u32(config["hidden_size"])),
        (Keys.LLM.FEED_FORWARD_LENGTH.format(arch=name), u32(config["intermediate_size"])),
        (Keys.Attention.HEAD_COUNT.format(arch=name), u32(config["num_attention_heads"])),
        (Keys.Attention.LAYERNORM_RMS_EPS.format(arch=name), f32(config["rms_norm_eps"])),
        (Keys.LLM.VOCAB_SIZE.format(arch=name), u32(config["vocab_size"])),
    ]


def convert_deepseek(path: Path, out: Path, *, apart: bool = True) -> Path:
    """A DeepSeek checkpoint; `apart`: as today's converter splits its matrices, else as older ones left them."""
    config, tensors = hugging_face(path)
    arch = MODEL_ARCH.DEEPSEEK2
    name, is_v3 = MODEL_ARCH_NAMES[arch], config["model_type"] == "deepseek_v3"
    rank, rotated, nope = config["kv_lora_rank"], config["qk_rope_head_dim"], config["qk_nope_head_dim"]
    integers = {
        Keys.Attention.HEAD_COUNT_KV: 1 if apart else config["num_key_value_heads"],
        Keys.Attention.KEY_LENGTH: rank + rotated if apart else nope + rotated,
        Keys.Attention.VALUE_LENGTH: rank if apart else config["v_head_dim"],
        Keys.Attention.KV_LORA_RANK: rank,
        Keys.Rope.DIMENSION_COUNT: rotated,
        Keys.LLM.LEADING_DENSE_BLOCK_COUNT: config["first_k_dense_replace"],
        Keys.LLM.EXPERT_COUNT: config["n_routed_experts"],
        Keys.LLM.EXPERT_SHARED_COUNT: config["n_shared_experts"],
        Keys.LLM.EXPERT_USED_COUNT: config["num_experts_per_tok"],
        Keys.LLM.EXPERT_FEED_FORWARD_LENGTH: config["moe_intermediate_size"],
        Keys.LLM.EXPERT_GATING_FUNC: ExpertGatingFuncType.SIGMOID if is_v3 else ExpertGatingFuncType.SOFTMAX,
        Keys.LLM.EXPERT_GROUP_COUNT: config["n_group"],
        Keys.LLM.EXPERT_GROUP_USED_COUNT: config["topk_group"],
    }
    if apart:
        integers |= {
            Keys.Attention.KEY_LENGTH_MLA: nope + rotated,
            Keys.Attention.VALUE_LENGTH_MLA: config["v_head_dim"],
        }
    if config["q_lora_rank"] is not None:
        integers[Keys.Attention.Q_LORA_RANK] = config["q_lora_rank"]
    pairs = common(arch, config) + [(key.format(arch=name), u32(value)) for key, value in integers.items()]
    pairs.append((Keys.LLM.EXPERT_WEIGHTS_SCALE.format(arch=name), f32(config["routed_scaling_factor"])))
    if config["norm_topk_prob"]:
        pairs.append((Keys.LLM.EXPERT_WEIGHTS_NORM.format(arch=name), flag(1)))
    tensors = stacked(tensors)
    tensors = heads_apart(config, tensors) if apart else tensors
    out.write_bytes(pack(pairs, renamed(arch, config["num_hidden_layers"], tensors)))
    return out


def convert_gemma3(path: Path, out: Path, *, as_flags: bool) -> Path:
    """A Gemma 3 checkpoint, whose norms are kept with their 1 added; `as_flags`: how the sliding layers are told."""
    config, tensors = hugging_face(path)
    arch = MODEL_ARCH.GEMMA3
    name = MODEL_ARCH_NAMES[arch]
    slides = [kind == "sliding_attention" for kind in config["layer_types"]]
    pattern = array(GGUFValueType.BOOL, [struct.pack("B", s) for s in slides]) if as_flags else u32(len(slides))
    ropes = config["rope_parameters"]
    pairs = [
        *common(arch, config),
        (Keys.Attention.HEAD_COUNT_KV.format(arch=name), u32(config["num_key_value_heads"])),
        (Keys.Attention.KEY_LENGTH.format(arch=name), u32(config["head_dim"])),
        (Keys.Attention.VALUE_LENGTH.format(arch=name), u32(config["head_dim"])),
        (Keys.Attention.SLIDING_WINDOW.format(arch=name), u32(config["sliding_window"])),
        (f"{name}.attention.sliding_window_pattern", pattern),
        (Keys.Rope.FREQ_BASE.format(arch=name), f32(ropes["full_attention"]["rope_theta"])),
    ]
    shifted = {key: values + 1 if key.endswith("norm.weight") else values for key, values in tensors.items()}
    out.write_bytes(pack(pairs, renamed(arch, config["num_hidden_layers"], shifted)))
    return out
