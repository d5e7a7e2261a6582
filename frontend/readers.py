"""What the families' configurations have in common: each reader takes the keys of one part."""

from __future__ import annotations

from collections.abc import Sequence

from lanelink.dialects.formats import Format
from lanelink.frontend.fields import Fields
from lanelink.frontend.rope_fields import FULL, SLIDING
from lanelink.frontend.shapes import Activation, GatedMlp

MOST_LAYERS = 1024
"""Layers past which a config.json is taken for a mistake, or worse: each becomes a dozen ops."""

WIDEST_HEAD = 16384
"""Far past any architecture's; a rotation's table of frequencies is made before the tensors' shapes are compared."""

_ACTIVATIONS = {
    "silu": Activation.SILU,
    "swish": Activation.SILU,
    "gelu": Activation.GELU,
    "gelu_new": Activation.GELU_TANH,
    "gelu_pytorch_tanh": Activation.GELU_TANH,
}

_STORED = {"float32": Format.F32, "float16": Format.F16, "bfloat16": Format.BF16}


def layer_count(fields: Fields) -> int:
    """How many layers."""
    return fields.integer("num_hidden_layers", most=MOST_LAYERS)


def head_counts(fields: Fields) -> tuple[int, int]:
    """Query heads, and the key heads they share evenly."""
    heads = fields.integer("num_attention_heads")
    kv_heads = fields.integer("num_key_value_heads", heads)
    if heads % kv_heads:
        raise fields.error("num_key_value_heads", f"a divisor of num_attention_heads {heads}", kv_heads)
    return heads, kv_heads


def head_size(fields: Fields, heads: int, default: int | None = None) -> int:
    """`head_dim`; where there is no such key `default`, and where that is none, or the key null, hidden size over
    heads."""
    if "head_dim" in fields.values:
        default = None
    if default is None and not fields.has("head_dim"):
        hidden = fields.integer("hidden_size")
        if hidden % heads:
            raise fields.error(
                "hidden_size", f"a multiple of num_attention_heads {heads} where there is no head_dim", hidden
            )
        default = hidden // heads
    return even_head(fields, "head_dim", default)


def even_head(fields: Fields, key: str, default: int | None = None) -> int:
    """A number of values of a head of which all are turned."""
    size = fields.integer(key, default)
    if size > WIDEST_HEAD:
        raise fields.error(key, f"at most {WIDEST_HEAD}", size)
    if size % 2:
        raise fields.error(key, "an even number, to rotate pairs of values", size)
    return size


def activation(fields: Fields, key: str = "hidden_act", default: str = "silu") -> Activation:
    """A feed-forward's activation."""
    name = fields.text(key, default)
    if name not in _ACTIVATIONS:
        raise fields.error(key, f"one of {', '.join(_ACTIVATIONS)}", name)
    return _ACTIVATIONS[name]


def gated_mlp(fields: Fields, *, bias: bool = False) -> GatedMlp:
    """The feed-forward of a dense layer."""
    return GatedMlp(fields.integer("intermediate_size"), activation(fields), bias)


def norm_eps(fields: Fields, default: float = 1e-6) -> float:
    """What the norms add to a mean square."""
    return fields.number("rms_norm_eps", default, least=1e-30)


def stored_format(fields: Fields, default: str = "float32") -> Format:
    """`dtype` is transformers 5's name of `torch_dtype`; its default is f32."""
    key = "dtype" if fields.has("dtype") else "torch_dtype"
    name = fields.text(key, default)
    if name not in _STORED:
        raise fields.error(key, f"one of {', '.join(_STORED)}", name)
    return _STORED[name]


def layer_kinds(fields: Fields, known: Sequence[str], default: Sequence[str]) -> list[str]:
    """`layer_types`, one of `known` a layer; `default` where there is none."""
    if not fields.has("layer_types"):
        return list(default)
    kinds = fields.texts("layer_types")
    if len(kinds) != len(default):
        raise fields.error("layer_types", f"{len(default)} entries, one a layer", len(kinds))
    for kind in kinds:
        if kind not in known:
            raise fields.error("layer_types", " or ".join(known), kind)
    return kinds


def qwen_window(fields: Fields) -> int | None:
    """The window of Qwen's sliding layers, where there are to be any. The key alone has a default; null means no window
    even where windows are asked for."""
    is_null = "sliding_window" in fields.values and not fields.has("sliding_window")
    slides = fields.flag("use_sliding_window", False) and not is_null
    return fields.integer("sliding_window", 4096) if slides else None


def windows_of(fields: Fields, window: int | None, default: Sequence[str]) -> tuple[int | None, ...]:
    """The window of each layer, or none, by `layer_types`; by `default` where there is none."""
    kinds = layer_kinds(fields, (FULL, SLIDING), default)
    if window is None and SLIDING in kinds:
        raise fields.error("layer_types", "full_attention only, without a sliding_window in use", SLIDING)
    return tuple(window if kind == SLIDING else None for kind in kinds)


def alternating(fields: Fields, every: int = 2) -> list[str]:
    """The kinds of layers of which the last of `every` attends fully and the others slide."""
    return [FULL if (layer + 1) % every == 0 else SLIDING for layer in range(layer_count(fields))]


def expected(fields: Fields, key: str, value: object) -> None:
    """Checks that a key is missing, null, or the one value that is understood here."""
    if fields.has(key) and (
        fields.values[key] != value or isinstance(fields.values[key], bool) != isinstance(value, bool)
    ):
        raise fields.error(key, str(value).lower() if isinstance(value, bool) else repr(value), fields.values[key])
