"""config.json in the spellings of transformers 4 and 5, and an error for each way of being wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from configs import BASE, NAMES, OWN, attention, check_refused, config, values_of
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.config import FAMILIES, family_of, read_config
from lanelink.frontend.fields import Fields
from lanelink.frontend.rope import DefaultRope, LinearRope, Llama3Rope, inverse_frequencies
from lanelink.frontend.shapes import Activation, Attention, DecoderConfig, DeltaNet, GatedMlp

MODELS = Path(__file__).parents[1] / "models"


def test_models():
    llama, qwen2, qwen3 = (read_config(MODELS / name) for name in ("llama", "qwen2", "qwen3"))
    for found in (llama, qwen2, qwen3):
        assert (found.hidden, found.vocabulary, len(found.layers)) == (128, 256, 2)
        assert (found.norm_eps, found.max_context, found.stored) == (1e-6, 2048, Format.BF16)
        assert found.layers[0] == found.layers[1]
        assert found.layers[0].feed_forward == GatedMlp(256, Activation.SILU)
    assert (llama.tied, qwen2.tied, qwen3.tied) == (False, True, True)
    plain = Attention(heads=4, kv_heads=2, head_dim=32, rope=DefaultRope(1e4), rotated=32)
    assert attention(llama) == plain
    assert attention(qwen2) == replace(plain, qkv_bias=True)
    assert attention(qwen3) == replace(plain, head_norm=True, rope=DefaultRope(1e6))
    assert (plain.query_width, plain.kv_width) == (128, 64)


def test_file_alone(tmp_path: Path):
    path = tmp_path / "shape.json"
    path.write_text(json.dumps({"model_type": "llama", **BASE}))
    assert read_config(path).hidden == 96


def test_transformers_4_spelling_of_qwen3():
    """Qwen3-8B's config.json as its authors published it."""
    found = config(
        "qwen3",
        attention_bias=False,
        head_dim=128,
        hidden_act="silu",
        hidden_size=4096,
        intermediate_size=12288,
        max_position_embeddings=40960,
        max_window_layers=36,
        num_attention_heads=32,
        num_hidden_layers=36,
        num_key_value_heads=8,
        rms_norm_eps=1e-06,
        rope_scaling=None,
        rope_theta=1000000,
        sliding_window=None,
        tie_word_embeddings=False,
        torch_dtype="bfloat16",
        use_sliding_window=False,
        vocab_size=151936,
    )
    assert len(found.layers) == 36 and set(found.layers) == {found.layers[0]} and not found.tied
    part = attention(found)
    assert part.rope == DefaultRope(1e6) and part.window is None and part.head_norm and part.head_dim == 128


def test_architecture_by_model_type_alone():
    assert [family.model_type for family in FAMILIES] == list(NAMES)
    for name, family in zip(NAMES, FAMILIES, strict=True):
        for key in ("architectures", "model_type"):
            kept = {k: v for k, v in values_of(name).items() if k != key}
            assert family_of(Fields(kept, "config.json")) is family


def test_head_dim():
    assert attention(config()).head_dim == 16
    assert attention(config(head_dim=None)).head_dim == 16
    wide = attention(config(head_dim=40))
    assert (wide.head_dim, wide.rotated, wide.query_width, wide.kv_width) == (40, 40, 240, 80)
    assert attention(config("qwen3")).head_dim == 128, "Qwen3's own default"
    assert attention(config("qwen3", head_dim=None)).head_dim == 16


def test_kv_heads():
    assert attention(config(without=("num_key_value_heads",))).kv_heads == 6
    assert attention(config(num_key_value_heads=None)).kv_heads == 6
    assert attention(config(num_key_value_heads=1)).kv_heads == 1


def test_biases():
    def biases(found: DecoderConfig) -> tuple[bool, bool, bool]:
        mlp, part = found.layers[0].feed_forward, attention(found)
        assert isinstance(mlp, GatedMlp)
        return part.qkv_bias, part.output_bias, mlp.bias

    assert biases(config("llama")) == (False, False, False)
    assert biases(config("llama", attention_bias=True)) == (True, True, False)
    assert biases(config("llama", mlp_bias=True)) == (False, False, True)
    assert biases(config("qwen2")) == (True, False, False)
    assert biases(config("qwen2", attention_bias=False, mlp_bias=True)) == (True, False, False)
    assert biases(config("qwen3")) == (False, False, False)
    assert biases(config("qwen3", attention_bias=True)) == (True, True, False)


def test_defaults():
    llama, qwen3 = config("llama"), config("qwen3")
    assert (llama.max_context, qwen3.max_context) == (2048, 32768)
    assert (llama.tied, qwen3.tied) == (False, False)
    assert (llama.norm_eps, attention(llama).rope) == (1e-6, DefaultRope(10_000.0))
    assert llama.layers[0].feed_forward == GatedMlp(160, Activation.SILU)


LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"rope_theta": 5e5}, DefaultRope(5e5)),
        ({"rope_theta": 500_000, "rope_scaling": None}, DefaultRope(5e5)),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}, DefaultRope(1e6)),
        ({"rope_parameters": {"rope_theta": 1e6}, "rope_theta": 5.0}, DefaultRope(1e6)),
        ({"rope_parameters": {"rope_type": "default"}, "rope_theta": 5.0}, DefaultRope(5.0)),
        ({"rope_parameters": None, "rope_scaling": {}}, DefaultRope(1e4)),
        ({"rope_scaling": {"type": "linear", "factor": 2}, "rope_theta": 5e5}, LinearRope(5e5, 2.0)),
        ({"rope_scaling": {"rope_type": "linear", "factor": 2.5}}, LinearRope(1e4, 2.5)),
        ({"rope_scaling": {"rope_type": "llama3", **LLAMA3}, "rope_theta": 5e5}, Llama3Rope(5e5, 8.0, 1.0, 4.0, 8192)),
        ({"rope_scaling": {"rope_type": "llama3", "type": "llama3", **LLAMA3}}, Llama3Rope(1e4, 8.0, 1.0, 4.0, 8192)),
        (
            {"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3}},
            Llama3Rope(5e5, 8.0, 1.0, 4.0, 8192),
        ),
        (
            {
                "rope_parameters": {"rope_theta": 1e6, "rope_type": "default"},
                "rope_scaling": {"type": "linear", "factor": 4.0},
            },
            LinearRope(1e6, 4.0),
        ),
    ],
)
def test_rope(keys: dict[str, object], expected: object):
    assert attention(config(**keys)).rope == expected


def test_activations():
    names = ("silu", "swish", "gelu", "gelu_new", "gelu_pytorch_tanh")
    found = [config(hidden_act=name).layers[0].feed_forward for name in names]
    expected = [Activation.SILU, Activation.SILU, Activation.GELU, Activation.GELU_TANH, Activation.GELU_TANH]
    assert found == [GatedMlp(160, activation) for activation in expected]


def test_stored_format():
    assert config().stored is Format.F32
    assert config(torch_dtype="float16").stored is Format.F16
    assert config(dtype="bfloat16", torch_dtype="float32").stored is Format.BF16


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, (None,) * 4),
        ({"use_sliding_window": False, "sliding_window": 64, "max_window_layers": 0}, (None,) * 4),
        ({"use_sliding_window": True, "sliding_window": None, "max_window_layers": 0}, (None,) * 4),
        ({"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 3}, (None, None, None, 64)),
        ({"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 0}, (64,) * 4),
        ({"use_sliding_window": True, "max_window_layers": 2}, (None, None, 4096, 4096)),
        ({"use_sliding_window": True, "sliding_window": 64}, (None,) * 4),
        (
            {
                "use_sliding_window": True,
                "sliding_window": 64,
                "max_window_layers": 0,
                "layer_types": ["sliding_attention", "full_attention"] * 2,
            },
            (64, None, 64, None),
        ),
    ],
)
def test_windows(keys: dict[str, object], expected: tuple[int | None, ...]):
    def windows(family: str) -> tuple[int | None, ...]:
        found = config(family, **keys)
        return tuple(attention(found, layer).window for layer in range(4))

    assert windows("qwen2") == windows("qwen3") == expected
    assert windows("llama") == (None,) * 4


WRONG: dict[str, tuple[str, dict[str, object], str]] = {
    "unknown_architecture": (
        "llama",
        {"architectures": ["MambaForCausalLM"]},
        f"architectures: expected one of {', '.join(NAMES.values())}, got 'MambaForCausalLM'",
    ),
    "unknown_model_type": (
        "llama",
        {"architectures": None, "model_type": "mamba"},
        f"model_type: expected one of {', '.join(NAMES)}, got 'mamba'",
    ),
    "no_architecture": ("llama", {"architectures": [], "model_type": None}, "model_type: expected a string"),
    "architecture_against_model_type": (
        "llama",
        {"model_type": "qwen2"},
        "model_type: expected llama, as architectures says, got 'qwen2'",
    ),
    "architectures_not_a_list": ("llama", {"architectures": "llama"}, "expected a list of strings, got 'llama'"),
    "architectures_not_strings": (
        "llama",
        {"architectures": [1]},
        "architectures: expected a list of strings, got [1]",
    ),
    "size_zero": ("llama", {"hidden_size": 0}, "hidden_size: expected an integer from 1 to 2147483647, got 0"),
    "size_negative": ("llama", {"vocab_size": -256}, "vocab_size: expected an integer from 1"),
    "size_too_large": ("llama", {"intermediate_size": 2**31}, "intermediate_size: expected an integer from 1"),
    "size_bool": ("llama", {"num_attention_heads": True}, "num_attention_heads: expected an integer from 1"),
    "size_float": ("llama", {"hidden_size": 96.0}, "hidden_size: expected an integer from 1 to 2147483647, got 96.0"),
    "size_string": ("llama", {"hidden_size": "96"}, "hidden_size: expected an integer from 1 to 2147483647, got '96'"),
    "layers_too_many": ("llama", {"num_hidden_layers": 10**9}, "num_hidden_layers: expected an integer from 1 to 1024"),
    "context_zero": ("llama", {"max_position_embeddings": 0}, "max_position_embeddings: expected an integer from 1"),
    "heads_do_not_divide": (
        "llama",
        {"num_attention_heads": 5, "num_key_value_heads": 5},
        "hidden_size: expected a multiple of num_attention_heads 5 where there is no head_dim, got 96",
    ),
    "kv_heads_do_not_divide": (
        "llama",
        {"num_key_value_heads": 4},
        "num_key_value_heads: expected a divisor of num_attention_heads 6, got 4",
    ),
    "kv_heads_above_heads": (
        "llama",
        {"num_key_value_heads": 12},
        "expected a divisor of num_attention_heads 6, got 12",
    ),
    "head_dim_odd": ("llama", {"head_dim": 15}, "head_dim: expected an even number, to rotate pairs of values, got 15"),
    "head_dim_zero": ("llama", {"head_dim": 0}, "head_dim: expected an integer from 1"),
    "eps_zero": ("llama", {"rms_norm_eps": 0}, "rms_norm_eps: expected a number from 1e-30 to 1e+30, got 0"),
    "eps_bool": ("llama", {"rms_norm_eps": True}, "rms_norm_eps: expected a number"),
    "eps_string": (
        "llama",
        {"rms_norm_eps": "1e-6"},
        "rms_norm_eps: expected a number from 1e-30 to 1e+30, got '1e-6'",
    ),
    "eps_nan": ("llama", {"rms_norm_eps": float("nan")}, "rms_norm_eps: expected a number"),
    "bias_not_a_flag": ("llama", {"attention_bias": 1}, "attention_bias: expected true or false, got 1"),
    "tied_not_a_flag": (
        "llama",
        {"tie_word_embeddings": "yes"},
        "tie_word_embeddings: expected true or false, got 'yes'",
    ),
    "activation": ("llama", {"hidden_act": "mish"}, "hidden_act: expected one of silu, swish, gelu"),
    "activation_not_a_string": ("llama", {"hidden_act": 3}, "hidden_act: expected a string, got 3"),
    "dtype": ("llama", {"torch_dtype": "int8"}, "torch_dtype: expected one of float32, float16, bfloat16, got 'int8'"),
    "theta_below_one": ("llama", {"rope_theta": 0.5}, "rope_theta: expected a number from 1"),
    "theta_infinite": ("llama", {"rope_theta": float("inf")}, "rope_theta: expected a number from 1 to 1e+30, got inf"),
    "theta_in_parameters": ("llama", {"rope_parameters": {"rope_theta": []}}, "rope_parameters: rope_theta: expected"),
    "rope_not_an_object": ("llama", {"rope_scaling": "linear"}, "rope_scaling: expected an object, got 'linear'"),
    "rope_type": (
        "llama",
        {"rope_scaling": {"rope_type": "longrope", "factor": 4.0}},
        "rope_scaling: rope_type: expected default, linear, llama3 or yarn, got 'longrope'",
    ),
    "rope_type_old_key": (
        "llama",
        {"rope_scaling": {"type": "dynamic", "factor": 4.0}},
        "rope_scaling: type: expected default, linear, llama3 or yarn, got 'dynamic'",
    ),
    "linear_without_factor": (
        "llama",
        {"rope_scaling": {"type": "linear"}},
        "rope_scaling: factor: expected a number from 1 to 1e+30, got no such key",
    ),
    "yarn_without_factor": (
        "llama",
        {"rope_scaling": {"type": "yarn"}, "max_position_embeddings": 2048},
        "rope_scaling: factor: expected a number from 1 to 1e+30, got no such key",
    ),
    "llama3_without_context": (
        "llama",
        {"rope_scaling": {"rope_type": "llama3", **LLAMA3, "original_max_position_embeddings": None}},
        "rope_scaling: original_max_position_embeddings: expected an integer from 1 to 2147483647, got None",
    ),
    "llama3_factors_swapped": (
        "llama",
        {"rope_scaling": {"rope_type": "llama3", **LLAMA3, "low_freq_factor": 4.0}},
        "high_freq_factor: expected a number above low_freq_factor 4, got 4.0",
    ),
    "rope_by_layer_type": (
        "qwen3",
        {"rope_parameters": {"full_attention": {"rope_theta": 1e6}}},
        "rope_parameters: full_attention: expected one rotation for all layers",
    ),
    "partial_rotation": (
        "llama",
        {"partial_rotary_factor": 0.5},
        "partial_rotary_factor: expected 1, the whole of each head rotated, got 0.5",
    ),
    "window_zero": (
        "qwen2",
        {"use_sliding_window": True, "sliding_window": 0},
        "sliding_window: expected an integer from 1 to 2147483647, got 0",
    ),
    "layer_types_without_window": (
        "qwen2",
        {"layer_types": ["sliding_attention"] * 4, "sliding_window": 64},
        "layer_types: expected full_attention only",
    ),
    "layer_types_too_few": (
        "qwen3",
        {"layer_types": ["full_attention"] * 3},
        "layer_types: expected 4 entries, one a layer, got 3",
    ),
    "layer_type_unknown": (
        "qwen3",
        {"layer_types": ["full_attention", "linear_attention"] * 2},
        "layer_types: expected full_attention or sliding_attention, got 'linear_attention'",
    ),
    "repacked": (
        "llama",
        {"quantization_config": {"quant_method": "gptq", "bits": 4}},
        "quantization_config: expected weights as f32, f16 or bf16, got 'quant_method gptq'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong(case: str):
    check_refused(*WRONG[case])


@pytest.mark.parametrize("key", [*(k for k in BASE if k != "num_key_value_heads")])
def test_missing_size(key: str):
    with pytest.raises(CheckpointError, match=f"config.json: {key}: expected an integer from 1 to .*, got no such key"):
        config(without=(key,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected a JSON object"),
        ("[]", r"expected a JSON object, got \[\]"),
        ('{"hidden_size": 1, "hidden_size": 2}', "expected each key once, got 'hidden_size' twice"),
    ],
)
def test_malformed_file(tmp_path: Path, text: str, expected: str):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match=f"config.json: {expected}"):
        read_config(tmp_path)


def test_missing_file(tmp_path: Path):
    with pytest.raises(CheckpointError, match=r"config\.json: expected a file, got: No such file or directory"):
        read_config(tmp_path)


HOSTILE = st.sampled_from(
    [
        *(0, -1, 1, 2, 7, 2**31, 2**64, 10**400, 0.0, -1.5, 1e308, float("nan"), float("inf"), True, False, None),
        *("", "llama", "yarn", "\ud800\n", [], [None], [[]], ["full_attention"] * 4, {}, {"rope_type": 1}, {"a": {}}),
    ]
)
KEYS = [
    *BASE,
    *("architectures", "model_type", "head_dim", "max_position_embeddings", "rms_norm_eps", "hidden_act", "dtype"),
    *("attention_bias", "mlp_bias", "tie_word_embeddings", "rope_theta", "rope_parameters", "rope_scaling"),
    *("use_sliding_window", "sliding_window", "max_window_layers", "layer_types", "quantization_config"),
    *("partial_rotary_factor", "swiglu_limit", "sliding_window_pattern", "rope_local_base_freq"),
    *("query_pre_attn_scalar", "attn_logit_softcapping", "final_logit_softcapping", "hidden_activation"),
    *("decoder_sparse_step", "mlp_only_layers", "norm_topk_prob", "topk_method", "scoring_func", "n_group"),
    *("topk_group", "routed_scaling_factor", "full_attention_interval", "rope_interleave", "moe_layer_freq"),
    *(key for own in OWN.values() for key in own),
]
ROPE_KEYS = ["rope_type", "type", "rope_theta", "beta_fast", "mscale", "mscale_all_dim", "attention_factor", *LLAMA3]


@settings(max_examples=800, deadline=1000)
@given(
    family=st.sampled_from(list(NAMES)),
    keys=st.dictionaries(st.sampled_from(KEYS), HOSTILE, max_size=3),
    kind=st.sampled_from(["llama3", "yarn"]),
    rope=st.none() | st.dictionaries(st.sampled_from(ROPE_KEYS), HOSTILE, max_size=2),
)
def test_mutated_configurations_read_or_say_why(
    family: str, keys: dict[str, object], kind: str, rope: dict[str, object] | None
):
    if rope is not None:
        keys = {"rope_scaling": {"rope_type": kind, **LLAMA3, **rope}, **keys}
    try:
        found = config(family, **keys)
    except CheckpointError as error:
        message = str(error)
        assert message.startswith("config.json: ") and "expected" in message and "got" in message
        assert len(message.encode().splitlines()) == 1 and len(message) < 400
        return
    assert 1 <= len(found.layers) <= 1024
    for part in {layer.mixer for layer in found.layers}:
        if isinstance(part, Attention):
            assert part.heads % part.kv_heads == 0
        if not isinstance(part, DeltaNet) and part.rotated <= 4096:
            assert part.rotated % 2 == 0
            assert np.isfinite(inverse_frequencies(part.rope, part.rotated)).all()
