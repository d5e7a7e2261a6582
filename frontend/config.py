"""config.json of a dense decoder, in the spellings of transformers 4 and 5, as one typed record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from os.path import isdir
from pathlib import Path

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import MappedFile
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.json_file import read_object
from lanelink.frontend.llama import LLAMA
from lanelink.frontend.qwen2 import QWEN2
from lanelink.frontend.qwen3 import QWEN3
from lanelink.frontend.rope import DefaultRope, LinearRope, Llama3Rope, Rope

FAMILIES: tuple[Family, ...] = (LLAMA, QWEN2, QWEN3)

MOST_LAYERS = 1024
"""Layers past which a config.json is taken for a mistake, or worse: each becomes a dozen ops."""


class Activation(StrEnum):
    """The feed-forward's activation, on the gate."""

    SILU = "silu"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"


_ACTIVATIONS = {
    "silu": Activation.SILU,
    "swish": Activation.SILU,
    "gelu": Activation.GELU,
    "gelu_new": Activation.GELU_TANH,
    "gelu_pytorch_tanh": Activation.GELU_TANH,
}

_STORED = {"float32": Format.F32, "float16": Format.F16, "bfloat16": Format.BF16}

_FULL, _SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True)
class DecoderConfig:
    """A dense decoder's shape. Sizes count values or rows."""

    family: Family
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    max_context: int
    """Positions the model was made for (`max_position_embeddings`)."""
    norm_eps: float
    activation: Activation
    rope: Rope
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    tied: bool
    """Whether the output head is the embedding table."""
    stored: Format
    """How the weights were saved, by the configuration (`dtype`); the checkpoint itself has the last word."""
    windows: tuple[int | None, ...]
    """One a layer: a query at position p reads positions past p - window, or every one where None."""

    @property
    def layers(self) -> int:
        """How many layers."""
        return len(self.windows)

    @property
    def query_width(self) -> int:
        """Values of all query heads of a row; differs from `hidden` where heads × head_dim does."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Values of all key heads, or all value heads, of a row."""
        return self.kv_heads * self.head_dim


def read_config(path: Path) -> DecoderConfig:
    """The configuration in `path`, a config.json or a directory that holds one.

    Raises CheckpointError, naming the key, what was expected and what was found, where it is missing, malformed, of an
    architecture not in FAMILIES, or asks for what the family's layers do not have here.
    """
    file = MappedFile.open(path / "config.json" if isdir(path) else path)
    return parse_config(Fields(read_object(file), str(file.path)))


def parse_config(fields: Fields) -> DecoderConfig:
    """The configuration that `fields` says; see `read_config`."""
    family = _family(fields)
    _refuse_repacked(fields)
    heads = fields.integer("num_attention_heads")
    attention_bias = family.reads_attention_bias and fields.flag("attention_bias", False)
    return DecoderConfig(
        family=family,
        hidden=(hidden := fields.integer("hidden_size")),
        intermediate=fields.integer("intermediate_size"),
        heads=heads,
        kv_heads=_kv_heads(fields, heads),
        head_dim=_head_dim(fields, family, hidden, heads),
        vocabulary=fields.integer("vocab_size"),
        max_context=fields.integer("max_position_embeddings", family.default_context),
        norm_eps=fields.number("rms_norm_eps", 1e-6, least=1e-30),
        activation=_activation(fields),
        rope=_rope(fields),
        qkv_bias=family.always_qkv_bias or attention_bias,
        output_bias=attention_bias,
        mlp_bias=family.reads_mlp_bias and fields.flag("mlp_bias", False),
        tied=fields.flag("tie_word_embeddings", family.default_tied),
        stored=_stored(fields),
        windows=_windows(fields, family),
    )


def _family(fields: Fields) -> Family:
    """The family that `architectures` names; `model_type` alone decides where there is none."""
    names = fields.texts("architectures")
    if not names:
        by_type = {family.model_type: family for family in FAMILIES}
        model_type = fields.text("model_type")
        if model_type not in by_type:
            raise fields.error("model_type", f"one of {', '.join(by_type)}", model_type)
        return by_type[model_type]
    by_class = {family.class_name: family for family in FAMILIES}
    if names[0] not in by_class:
        raise fields.error("architectures", f"one of {', '.join(by_class)}", names[0])
    family = by_class[names[0]]
    model_type = fields.text("model_type", family.model_type)
    if model_type != family.model_type:
        raise fields.error("model_type", f"{family.model_type}, as architectures says", model_type)
    return family


def _refuse_repacked(fields: Fields) -> None:
    """A checkpoint repacked by GPTQ, AWQ and the like holds other tensors than its architecture's."""
    if fields.has("quantization_config"):
        method = fields.object("quantization_config").text("quant_method", "unnamed")
        raise fields.error("quantization_config", "weights as f32, f16 or bf16", f"quant_method {method}")


def _kv_heads(fields: Fields, heads: int) -> int:
    kv_heads = fields.integer("num_key_value_heads", heads)
    if heads % kv_heads:
        raise fields.error("num_key_value_heads", f"a divisor of num_attention_heads {heads}", kv_heads)
    return kv_heads


WIDEST_HEAD = 16384
"""Far past any architecture's; a rotation's table of frequencies is made before the tensors' shapes are compared."""


def _head_dim(fields: Fields, family: Family, hidden: int, heads: int) -> int:
    default = family.default_head_dim if "head_dim" not in fields.values else None
    if default is None and not fields.has("head_dim"):
        if hidden % heads:
            raise fields.error(
                "hidden_size", f"a multiple of num_attention_heads {heads} where there is no head_dim", hidden
            )
        default = hidden // heads
    head_dim = fields.integer("head_dim", default)
    if head_dim > WIDEST_HEAD:
        raise fields.error("head_dim", f"at most {WIDEST_HEAD}", head_dim)
    if head_dim % 2:
        raise fields.error("head_dim", "an even number, to rotate pairs of values", head_dim)
    return head_dim


def _activation(fields: Fields) -> Activation:
    name = fields.text("hidden_act", "silu")
    if name not in _ACTIVATIONS:
        raise fields.error("hidden_act", f"one of {', '.join(_ACTIVATIONS)}", name)
    return _ACTIVATIONS[name]


def _stored(fields: Fields) -> Format:
    """`dtype` is transformers 5's name of `torch_dtype`; its default is f32."""
    key = "dtype" if fields.has("dtype") else "torch_dtype"
    name = fields.text(key, "float32")
    if name not in _STORED:
        raise fields.error(key, f"one of {', '.join(_STORED)}", name)
    return _STORED[name]


def _rope(fields: Fields) -> Rope:
    """`rope_parameters` is transformers 5's name of `rope_scaling`; where both are there the older one's keys count.

    rope_theta inside either wins over the one at top level, as in transformers' `convert_rope_params_to_dict`.
    """
    newer, older = fields.object("rope_parameters"), fields.object("rope_scaling")
    rope = Fields({**newer.values, **older.values}, older.where if older.values else newer.where)
    for name in (_FULL, _SLIDING):
        if rope.has(name):
            raise rope.error(name, "one rotation for all layers", rope.values[name])
    partial = (rope if rope.has("partial_rotary_factor") else fields).number("partial_rotary_factor", 1.0, least=0)
    if partial != 1:
        raise fields.error("partial_rotary_factor", "1, the whole of each head rotated", partial)
    theta = (rope if rope.has("rope_theta") else fields).number("rope_theta", 10000.0, least=1)
    kind = rope.text("rope_type", rope.text("type", "default"))
    match kind:
        case "default":
            return DefaultRope(theta)
        case "linear":
            return LinearRope(theta, rope.number("factor", least=1))
        case "llama3":
            low = rope.number("low_freq_factor", least=1e-6)
            high = rope.number("high_freq_factor", least=1e-6)
            if high <= low:
                raise rope.error("high_freq_factor", f"a number above low_freq_factor {low:g}", high)
            original = rope.integer("original_max_position_embeddings")
            return Llama3Rope(theta, rope.number("factor", least=1), low, high, original)
        case _:
            raise rope.error("rope_type" if rope.has("rope_type") else "type", "default, linear or llama3", kind)


def _windows(fields: Fields, family: Family) -> tuple[int | None, ...]:
    layers = fields.integer("num_hidden_layers", most=MOST_LAYERS)
    if not family.reads_windows:
        return (None,) * layers
    # The key alone has a default; null means no window even where windows are asked for.
    is_null = "sliding_window" in fields.values and not fields.has("sliding_window")
    slides = fields.flag("use_sliding_window", False) and not is_null
    window = fields.integer("sliding_window", 4096) if slides else None
    kinds = _layer_types(fields, layers, window)
    if window is None and _SLIDING in kinds:
        raise fields.error(
            "layer_types", "full_attention only, without use_sliding_window and a sliding_window", _SLIDING
        )
    return tuple(window if kind == _SLIDING else None for kind in kinds)


def _layer_types(fields: Fields, layers: int, window: int | None) -> Sequence[str]:
    if not fields.has("layer_types"):
        if window is None:
            return [_FULL] * layers
        first = fields.integer("max_window_layers", 28, least=0)
        return [_SLIDING if layer >= first else _FULL for layer in range(layers)]
    kinds = fields.texts("layer_types")
    if len(kinds) != layers:
        raise fields.error("layer_types", f"{layers} entries, one a layer", f"{len(kinds)} entries")
    for kind in kinds:
        if kind not in (_FULL, _SLIDING):
            raise fields.error("layer_types", f"{_FULL} or {_SLIDING}", kind)
    return kinds
