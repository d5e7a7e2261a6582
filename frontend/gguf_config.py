"""A GGUF file's metadata as the configuration of a decoder: said again in config.json's keys, and read as those are.

Each architecture's keys are those that its converter writes; what a file does not say is what the format's readers
take it to be, and where tensors say it, it is read off their shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import Checkpoint, CheckpointError, shown
from lanelink.frontend.config import parse_config
from lanelink.frontend.fields import Fields
from lanelink.frontend.gguf_file import GgufModel
from lanelink.frontend.gguf_header import GgufArray
from lanelink.frontend.qwen3_next import LINEAR
from lanelink.frontend.readers import MOST_LAYERS, WIDEST_HEAD
from lanelink.frontend.rope import DefaultRope, DividedRope, Rope, magnitude_scale
from lanelink.frontend.rope_fields import FULL, SLIDING
from lanelink.frontend.shapes import Attention, DecoderConfig, LatentAttention

Keys = dict[str, object]
"""Keys of a config.json."""

ARCHITECTURE = "general.architecture"
ROPE_FACTORS = "rope_freqs.weight"

_SOFTMAX, _SIGMOID = 1, 2
"""`expert_gating_func`."""

LARGE_GEMMA2, LARGE_GEMMA3 = 46, 62
"""Layers of the 27B models, which alone scale scores by hidden size over heads; no key says so."""


@dataclass(frozen=True)
class Metadata:
    """A file's keys, those below its architecture's name by what follows it."""

    model: GgufModel
    name: str

    @property
    def fields(self) -> Fields:
        """All keys."""
        return self.model.metadata

    @property
    def checkpoint(self) -> Checkpoint:
        """The tensors."""
        return self.model.checkpoint

    @property
    def layers(self) -> int:
        """Layers of the decoder, without those that predict further tokens."""
        blocks = self.integer("block_count", most=MOST_LAYERS)
        more = self.integer("nextn_predict_layers", 0, least=0, most=blocks - 1)
        return blocks - more

    def has(self, key: str) -> bool:
        """Whether there is such a key."""
        return self.fields.has(f"{self.name}.{key}")

    def integer(self, key: str, default: int | None = None, *, least: int = 1, most: int = 2**31 - 1) -> int:
        """As `Fields.integer`."""
        return self.fields.integer(f"{self.name}.{key}", default, least=least, most=most)

    def number(self, key: str, default: float | None = None, *, least: float = 0.0) -> float:
        """As `Fields.number`."""
        return self.fields.number(f"{self.name}.{key}", default, least=least)

    def expect(self, key: str, expected: str, fits: bool) -> None:
        """Raises the key's error unless `fits`."""
        if not fits:
            full = f"{self.name}.{key}"
            raise self.fields.error(full, expected, self.fields.values.get(full))

    def holds(self, tensor: str) -> bool:
        """Whether the model has a tensor of that name."""
        return tensor in self.checkpoint

    def size(self, tensor: str, key: str) -> int:
        """How many rows a matrix has, or each of a stack; as `key` says, where there is no such tensor."""
        found = self.checkpoint.tensors.get(tensor)
        return self.integer(key) if found is None or len(found.shape) < 2 else found.shape[-2]

    def flags(self, key: str) -> list[bool] | None:
        """An array of truth values, one a layer; none where there is none."""
        full = f"{self.name}.{key}"
        found = self.fields.values.get(full)
        if not isinstance(found, GgufArray):
            return None
        if found.kind.name != "BOOL" or found.count != self.layers:
            raise self.fields.error(full, f"{self.layers} truth values, one a layer", found)
        return [bool(value) for value in cast(list[int], found.numbers().tolist())]


def read_gguf_config(model: GgufModel) -> DecoderConfig:
    """The configuration of a GGUF model.

    Raises CheckpointError, naming the key, where one is missing, does not fit, or the architecture is not known here.
    """
    config = parse_config(Fields(config_keys(model), model.metadata.where))
    return _divided(config, model) if ROPE_FACTORS in model.checkpoint else config


def config_keys(model: GgufModel) -> Keys:
    """The keys of a config.json that says what the metadata does."""
    name = model.metadata.text(ARCHITECTURE)
    found = ARCHITECTURES.get(name)
    if found is None:
        raise model.metadata.error(ARCHITECTURE, f"one of {', '.join(ARCHITECTURES)}", name)
    metadata = Metadata(model, name)
    return _common(metadata) | {"model_type": found.model_type} | found.keys(metadata)


def _divided(config: DecoderConfig, model: GgufModel) -> DecoderConfig:
    """The rotations of a file that keeps what each frequency is divided by."""
    layers = list(config.layers)
    for k, layer in enumerate(layers):
        mixer = layer.mixer
        if isinstance(mixer, Attention | LatentAttention):
            rope = _divided_rope(mixer.rope, mixer.rotated // 2, model)
            layers[k] = replace(layer, mixer=replace(mixer, rope=rope))
    return replace(config, layers=tuple(layers))


def _divided_rope(rope: Rope, pairs: int, model: GgufModel) -> Rope:
    tensor = model.checkpoint.tensor(ROPE_FACTORS, (pairs,))
    where = f"{tensor.path}: tensor {shown(ROPE_FACTORS)}"
    if not isinstance(rope, DefaultRope):
        raise CheckpointError(f"{where}: expected no scaling of the rotation beside it, got {rope}")
    if tensor.format is not Format.F32:
        raise CheckpointError(f"{where}: expected f32, got {tensor.format.value}")
    factors = tensor.raw().view(np.float32)
    if not (np.isfinite(factors) & (factors >= 1e-6)).all():
        raise CheckpointError(f"{where}: expected finite factors of at least 1e-6, got {factors.min():g} among them")
    return DividedRope(rope.theta, tuple(cast(list[float], factors.tolist())))


def _common(m: Metadata) -> Keys:
    """What all architectures have."""
    heads = m.integer("attention.head_count")
    keys: Keys = {
        "hidden_size": m.integer("embedding_length"),
        "num_hidden_layers": m.layers,
        "num_attention_heads": heads,
        "num_key_value_heads": m.integer("attention.head_count_kv", heads),
        "vocab_size": m.size("token_embd.weight", "vocab_size"),
        "max_position_embeddings": m.integer("context_length"),
        "rms_norm_eps": m.number("attention.layer_norm_rms_epsilon"),
        "tie_word_embeddings": not m.holds("output.weight"),
        "rope_theta": m.number("rope.freq_base", 10000.0),
        "attention_bias": m.holds("blk.0.attn_q.bias"),
    }
    scaling = _rope_scaling(m)
    return keys if scaling is None else keys | {"rope_scaling": scaling}


def _heads(m: Metadata) -> Keys:
    """A head's size, and how much of it is turned."""
    heads = m.integer("attention.head_count")
    # Null where there is no such key: hidden size over heads then, in whatever family.
    head_dim = m.integer("attention.key_length", most=WIDEST_HEAD) if m.has("attention.key_length") else None
    size = head_dim or max(m.integer("embedding_length") // heads, 1)
    m.expect("attention.value_length", f"{size}, as of a key", m.integer("attention.value_length", size) == size)
    turned = m.integer("rope.dimension_count", size, most=size)
    return {"head_dim": head_dim, "partial_rotary_factor": turned / size}


def _rope_scaling(m: Metadata) -> Keys | None:
    kind = m.fields.text(f"{m.name}.rope.scaling.type", "linear" if m.has("rope.scale_linear") else "none")
    factor = m.number("rope.scaling.factor", m.number("rope.scale_linear", 1.0))
    match kind:
        case "none":
            return None
        case "linear":
            return {"rope_type": "linear", "factor": factor}
        case "yarn":
            original = m.integer("rope.scaling.original_context_length", m.integer("context_length"))
            keys: Keys = {
                "rope_type": "yarn",
                "factor": factor,
                "original_max_position_embeddings": original,
                "beta_fast": m.number("rope.scaling.yarn_beta_fast", 32.0),
                "beta_slow": m.number("rope.scaling.yarn_beta_slow", 1.0),
            }
            if m.has("rope.scaling.attn_factor"):
                keys["attention_factor"] = m.number("rope.scaling.attn_factor") * magnitude_scale(factor)
            return keys
        case _:
            raise m.fields.error(f"{m.name}.rope.scaling.type", "none, linear or yarn", kind)


def _dense(m: Metadata) -> Keys:
    m.expect("expert_count", "none in a dense model", m.integer("expert_count", 0, least=0) == 0)
    return _heads(m) | {
        "intermediate_size": m.integer("feed_forward_length"),
        "mlp_bias": m.holds("blk.0.ffn_gate.bias"),
    }


def _experts(m: Metadata) -> Keys:
    """A mixture's sizes; layers without a router are dense."""
    return {
        "num_experts": m.integer("expert_count"),
        "num_experts_per_tok": m.integer("expert_used_count"),
        "moe_intermediate_size": m.size("blk.0.ffn_gate_exps.weight", "expert_feed_forward_length"),
        # Of dense layers, where there are any.
        "intermediate_size": m.integer("feed_forward_length", 1, least=0) or 1,
        "mlp_only_layers": [k for k in range(m.layers) if not m.holds(f"blk.{k}.ffn_gate_inp.weight")],
    }


def _qwen2_moe(m: Metadata) -> Keys:
    shared = m.size("blk.0.ffn_gate_shexp.weight", "expert_shared_feed_forward_length")
    return (
        _heads(m)
        | _experts(m)
        | {
            "qkv_bias": m.holds("blk.0.attn_q.bias"),
            "shared_expert_intermediate_size": shared,
            "norm_topk_prob": False,
        }
    )


def _qwen3_moe(m: Metadata) -> Keys:
    return _heads(m) | _experts(m) | {"norm_topk_prob": True}


def _qwen3_next(m: Metadata) -> Keys:
    values = m.integer("ssm.time_step_rank")
    inner = m.integer("ssm.inner_size")
    m.expect("ssm.inner_size", f"a multiple of {values} value heads", inner % values == 0)
    recurrent = m.flags("attention.recurrent_layers")
    if recurrent is None:
        every = m.integer("full_attention_interval", 4)
        recurrent = [(layer + 1) % every != 0 for layer in range(m.layers)]
    return _qwen2_moe(m) | {
        "norm_topk_prob": True,
        "layer_types": [LINEAR if linear else FULL for linear in recurrent],
        "linear_num_key_heads": m.integer("ssm.group_count"),
        "linear_num_value_heads": values,
        "linear_key_head_dim": m.integer("ssm.state_size"),
        "linear_value_head_dim": inner // values,
        "linear_conv_kernel_dim": m.integer("ssm.conv_kernel"),
    }


def _gpt_oss(m: Metadata) -> Keys:
    scaling = _rope_scaling(m)
    return _heads(m) | {
        "num_local_experts": m.integer("expert_count"),
        "num_experts_per_tok": m.integer("expert_used_count"),
        "intermediate_size": m.size("blk.0.ffn_gate_exps.weight", "expert_feed_forward_length"),
        "sliding_window": m.integer("attention.sliding_window"),
        "layer_types": _window_kinds(m, 2),
        # The model's own code interpolates between fractions of pairs.
        "rope_scaling": {"rope_type": "default"} if scaling is None else scaling | {"truncate": False},
    }


def _window_kinds(m: Metadata, every: int) -> list[str]:
    """The kind of each layer: as the file says, or the last of `every` attends fully."""
    slides = m.flags("attention.sliding_window_pattern")
    if slides is None:
        every = m.integer("attention.sliding_window_pattern", every)
        slides = [(layer + 1) % every != 0 for layer in range(m.layers)]
    return [SLIDING if slide else FULL for slide in slides]


def _gemma(m: Metadata, large: int, every: int) -> Keys:
    heads = _heads(m)
    hidden, count = m.integer("embedding_length"), m.integer("attention.head_count")
    head_dim = heads["head_dim"] or hidden / count
    return heads | {
        "intermediate_size": m.integer("feed_forward_length"),
        "sliding_window": m.integer("attention.sliding_window", 4096),
        "layer_types": _window_kinds(m, every),
        "query_pre_attn_scalar": hidden / count if m.layers == large else head_dim,
        # By which the released models round the scale of their embeddings.
        "dtype": "bfloat16",
    }


def _gemma2(m: Metadata) -> Keys:
    return _gemma(m, LARGE_GEMMA2, 2) | {
        "attn_logit_softcapping": m.number("attn_logit_softcapping", 50.0),
        "final_logit_softcapping": m.number("final_logit_softcapping", 30.0),
    }


def _gemma3(m: Metadata) -> Keys:
    caps = ("attn_logit_softcapping", "final_logit_softcapping")
    held: Keys = {cap: m.number(cap) for cap in caps if m.has(cap)}
    return _gemma(m, LARGE_GEMMA3, 6) | held | {"rope_local_base_freq": m.number("rope.freq_base_swa", 10000.0)}


def _deepseek2(m: Metadata) -> Keys:
    rotated = m.integer("rope.dimension_count", most=WIDEST_HEAD)
    split = m.has("attention.key_length_mla")  # keys and values of a head, where the others are of the latent row
    key, value = (f"attention.{side}_length{'_mla' if split else ''}" for side in ("key", "value"))
    width = m.integer(key, most=WIDEST_HEAD)
    m.expect(key, f"more than the {rotated} values that are turned", width > rotated)
    keys: Keys = {
        "num_key_value_heads": m.integer("attention.head_count"),
        "attention_bias": m.holds("blk.0.attn_kv_a_mqa.bias"),
        "kv_lora_rank": m.integer("attention.kv_lora_rank"),
        "q_lora_rank": m.integer("attention.q_lora_rank") if m.has("attention.q_lora_rank") else None,
        "qk_rope_head_dim": rotated,
        "qk_nope_head_dim": width - rotated,
        "v_head_dim": m.integer(value, most=WIDEST_HEAD),
        "intermediate_size": m.integer("feed_forward_length"),
        "first_k_dense_replace": m.integer("leading_dense_block_count", 0, least=0),
        "n_routed_experts": m.integer("expert_count"),
        "n_shared_experts": m.integer("expert_shared_count"),
        "num_experts_per_tok": m.integer("expert_used_count"),
        "moe_intermediate_size": m.integer("expert_feed_forward_length"),
        "routed_scaling_factor": m.number("expert_weights_scale", 1.0) or 1.0,
        "n_group": m.integer("expert_group_count", 1),
        "topk_group": m.integer("expert_group_used_count", 1),
    }
    scaling = _rope_scaling(m)
    if scaling is not None and m.has("rope.scaling.yarn_log_multiplier"):
        sharper = round(m.number("rope.scaling.yarn_log_multiplier") * 10, 6)
        keys["rope_scaling"] = scaling | {"mscale": sharper, "mscale_all_dim": sharper}
    scores = m.integer("expert_gating_func", _SOFTMAX)
    m.expect("expert_gating_func", "1 (softmax) or 2 (sigmoid)", scores in (_SOFTMAX, _SIGMOID))
    if scores == _SIGMOID:
        norm = m.fields.flag(f"{m.name}.expert_weights_norm", False)
        return keys | {"model_type": "deepseek_v3", "norm_topk_prob": norm}
    return keys | {"topk_method": "greedy" if keys["n_group"] == 1 else "group_limited_greedy"}


@dataclass(frozen=True)
class GgufArchitecture:
    """An architecture: the `model_type` it is in config.json, and the keys that are its own."""

    model_type: str
    keys: Callable[[Metadata], Keys]


ARCHITECTURES: Mapping[str, GgufArchitecture] = {
    "llama": GgufArchitecture("llama", _dense),
    "qwen2": GgufArchitecture("qwen2", _dense),
    "qwen3": GgufArchitecture("qwen3", _dense),
    "qwen2moe": GgufArchitecture("qwen2_moe", _qwen2_moe),
    "qwen3moe": GgufArchitecture("qwen3_moe", _qwen3_moe),
    "qwen3next": GgufArchitecture("qwen3_next", _qwen3_next),
    "gpt-oss": GgufArchitecture("gpt_oss", _gpt_oss),
    "gemma2": GgufArchitecture("gemma2", _gemma2),
    "gemma3": GgufArchitecture("gemma3_text", _gemma3),
    "deepseek2": GgufArchitecture("deepseek_v2", _deepseek2),
}
