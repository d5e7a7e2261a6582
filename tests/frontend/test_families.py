"""What each family beside the dense ones reads of its config.json, and what it does not understand."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from configs import NAMES, attention, check_refused, config, values_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import CheckpointAttr, ConstantOp, ExpertActivation, Scores
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.frontend.rope import DefaultRope, LinearRope, YarnRope, table_scale
from lanelink.frontend.shapes import (
    Attention,
    DecoderConfig,
    DeltaNet,
    GatedMlp,
    LatentAttention,
    Mixture,
    Router,
    SharedExpert,
)

MODELS = Path(__file__).parents[1] / "models"
ALL = sorted(path.parent for path in MODELS.glob("**/config.json"))


def mixture(found: DecoderConfig, layer: int = -1) -> Mixture:
    part = found.layers[layer].feed_forward
    assert isinstance(part, Mixture)
    return part


def sparse(found: DecoderConfig) -> list[bool]:
    return [isinstance(layer.feed_forward, Mixture) for layer in found.layers]


def windows(found: DecoderConfig) -> list[int | None]:
    return [attention(found, n).window for n in range(len(found.layers))]


@pytest.mark.parametrize("family", ["qwen2_moe", "qwen3_moe"])
def test_layers_without_experts(family: str):
    assert sparse(config(family)) == [True] * 4
    assert sparse(config(family, decoder_sparse_step=2)) == [False, True, False, True]
    assert sparse(config(family, mlp_only_layers=[0, 2, 7])) == [False, True, False, True]
    assert sparse(config(family, mlp_only_layers=[1], decoder_sparse_step=2)) == [False, False, False, True]
    assert config(family, mlp_only_layers=[0]).layers[0].feed_forward == GatedMlp(160)


def test_qwen2_moe():
    found = config("qwen2_moe")
    assert mixture(found) == Mixture(6, 3, 64, Router(), shared=SharedExpert("shared_expert", 96, gated=True))
    assert mixture(config("qwen2_moe", norm_topk_prob=True)).router.renormalize
    assert attention(found).qkv_bias and not attention(found).output_bias
    assert not attention(config("qwen2_moe", qkv_bias=False)).qkv_bias
    slides = {"use_sliding_window": True, "sliding_window": 8}
    assert windows(config("qwen2_moe", max_window_layers=3, **slides)) == [8, None, 8, None]
    assert windows(config("qwen2_moe", max_window_layers=2, **slides)) == [8, None, None, None]
    assert windows(config("qwen2_moe", sliding_window=0)) == [None] * 4


def test_qwen3_moe():
    found = config("qwen3_moe", norm_topk_prob=True)
    assert mixture(found) == Mixture(6, 3, 64, Router(renormalize=True))
    assert attention(found).head_norm and attention(found).head_dim == 16
    assert mixture(config("qwen3_moe", num_experts=None, num_local_experts=8)).experts == 8
    assert windows(config("qwen3_moe", use_sliding_window=True, sliding_window=8)) == [8] * 4


def test_qwen3_next():
    found = config("qwen3_next")
    assert [type(layer.mixer) for layer in found.layers] == [DeltaNet, DeltaNet, DeltaNet, Attention]
    assert found.layers[0].mixer == DeltaNet(key_heads=2, value_heads=6, head_dim=128, taps=4)
    part = attention(found, 3)
    assert (part.head_dim, part.rotated, part.gated, part.head_norm) == (256, 64, True, True)
    assert found.norm_plus_one and mixture(found).router.renormalize
    every_other = config("qwen3_next", full_attention_interval=2)
    assert [type(layer.mixer) for layer in every_other.layers] == [DeltaNet, Attention] * 2
    inside = {"rope_parameters": {"partial_rotary_factor": 0.5}, "partial_rotary_factor": 0.125}
    assert attention(config("qwen3_next", **inside), 3).rotated == 128


def test_gpt_oss():
    found = config("gpt_oss")
    part = attention(found)
    assert (part.head_dim, part.sinks, part.qkv_bias, part.output_bias) == (64, True, True, True)
    assert windows(found) == [128, None, 128, None]
    assert part.rope == YarnRope(150000.0, 32.0, 4096, 32.0, 1.0, False, 0.1 * log(32) + 1)
    expected = Mixture(
        6,
        3,
        160,
        Router("router", renormalize=True, bias=True),
        activation=ExpertActivation.CLAMPED_SWIGLU,
        limit=7.0,
        bias=True,
        by_inputs=True,
    )
    assert mixture(found) == expected and found.norm_eps == 1e-5
    packed = config("gpt_oss", quantization_config={"quant_method": "mxfp4"}, swiglu_limit=5.0)
    assert mixture(packed) == replace(expected, packed=Format.MXFP4, limit=5.0)
    assert (found.stored, packed.stored) == (Format.F32, Format.BF16)


def test_gemma2():
    found = config("gemma2", head_dim=16, query_pre_attn_scalar=144, torch_dtype="bfloat16")
    assert found.tied and found.sandwich and found.norm_plus_one
    assert found.embedding_scale == 9.8125, "the root of 96, 9.798, in bf16"
    assert config("gemma2", dtype="float32").embedding_scale == pytest.approx(sqrt(96), rel=1e-7)
    assert (found.logit_softcap, attention(found).softcap, attention(found).scale) == (30.0, 50.0, 1 / 12)
    assert attention(config("gemma2", query_pre_attn_scalar=256, head_dim=256)).scale is None
    assert windows(found) == [4096, None] * 2
    uncapped = config("gemma2", final_logit_softcapping=None, attn_logit_softcapping=None)
    assert uncapped.logit_softcap is None and attention(uncapped).softcap is None


def test_gemma3():
    found = config("gemma3_text", sliding_window=8)
    assert windows(found) == [8] * 4, "the sixth layer is the first that attends fully"
    every_other = config("gemma3_text", sliding_window=8, sliding_window_pattern=2)
    assert windows(every_other) == [8, None, 8, None]
    sliding, full = attention(every_other, 0), attention(every_other, 1)
    assert (sliding.rope, full.rope) == (DefaultRope(1e4), DefaultRope(1e6))
    assert full.head_norm and full.softcap is None and every_other.logit_softcap is None
    older = {"rope_theta": 5e5, "rope_local_base_freq": 100, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    found = config("gemma3_text", sliding_window_pattern=2, **older)
    assert (attention(found, 0).rope, attention(found, 1).rope) == (DefaultRope(100.0), LinearRope(5e5, 8.0))


YARN = {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1}


def test_deepseek_v2():
    found = config("deepseek_v2", rope_scaling={**YARN, "mscale": 0.707, "mscale_all_dim": 0.707})
    part = found.layers[0].mixer
    assert isinstance(part, LatentAttention)
    assert (part.q_rank, part.query_dim, part.latent_width, part.interleaved) == (None, 48, 80, True)
    assert table_scale(part.rope) == 1, "both factors of one size: the tables stay, the scores are sharpened"
    assert part.scale == pytest.approx((0.0707 * log(40) + 1) ** 2 / sqrt(48))
    assert sparse(found) == [False, True, True, True]
    assert mixture(found) == Mixture(6, 3, 64, Router(), shared=SharedExpert("shared_experts", 128, gated=False))
    grouped = {"topk_method": "group_limited_greedy", "n_group": 3, "topk_group": 2, "routed_scaling_factor": 16.0}
    assert mixture(config("deepseek_v2", **grouped)).router == Router(groups=(3, 2), group_best=1, routed_scale=16.0)
    without = config("deepseek_v2", without=("q_lora_rank",)).layers[0].mixer
    assert isinstance(without, LatentAttention) and without.q_rank == 1536, "V2's own default"


def test_deepseek_v3():
    found = config("deepseek_v3", q_lora_rank=48, rope_interleave=False)
    part = found.layers[0].mixer
    assert isinstance(part, LatentAttention) and (part.q_rank, part.interleaved) == (48, False)
    router = Router(scores=Scores.SIGMOID, renormalize=True, routed_scale=2.5, groups=(3, 2), selection_bias=True)
    assert mixture(found).router == router
    whole = config("deepseek_v3", n_group=1, topk_group=1, routed_scaling_factor=1.0)
    assert mixture(whole).router == replace(router, groups=None, routed_scale=None)
    assert sparse(config("deepseek_v3", first_k_dense_replace=9)) == [False] * 4


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "more_kept_than_there_are": ("qwen3_moe", {"num_experts_per_tok": 7}, "num_experts_per_tok: expected an integer"),
    "experts_missing": ("qwen3_moe", {"num_experts": None}, "num_experts: expected an integer from 1 to 65536, got"),
    "dense_layers_not_numbers": ("qwen3_moe", {"mlp_only_layers": ["0"]}, "mlp_only_layers: expected a list of int"),
    "dense_layer_below_0": (
        "qwen2_moe",
        {"mlp_only_layers": [-1]},
        "mlp_only_layers: expected a list of integers from 0",
    ),
    "sparse_step_0": ("qwen2_moe", {"decoder_sparse_step": 0}, "decoder_sparse_step: expected an integer from 1"),
    "value_heads": (
        "qwen3_next",
        {"linear_num_value_heads": 5},
        "expected a multiple of linear_num_key_heads 2, got 5",
    ),
    "value_width": ("qwen3_next", {"linear_value_head_dim": 64}, "linear_value_head_dim: expected linear_key_head_dim"),
    "taps": ("qwen3_next", {"linear_conv_kernel_dim": 1}, "linear_conv_kernel_dim: expected an integer from 2 to 64"),
    "odd_part": ("qwen3_next", {"head_dim": 20}, "partial_rotary_factor: expected an even part of a head of 20"),
    "sliding_delta": (
        "qwen3_next",
        {"layer_types": ["sliding_attention"] * 4},
        "expected linear_attention or full_att",
    ),
    "delta_act": ("qwen3_next", {"hidden_act": "gelu"}, "hidden_act: expected 'silu', got 'gelu'"),
    "other_packing": ("gpt_oss", {"quantization_config": {"quant_method": "awq"}}, "f32, f16 or bf16, or mxfp4, got"),
    "yarn_base": ("gpt_oss", {"rope_scaling": {**YARN, "rope_theta": 1}}, "rope_theta: expected a number above 1"),
    "yarn_factor": ("gpt_oss", {"rope_scaling": {**YARN, "factor": 0.5}}, "factor: expected a number from 1"),
    "both_ways": ("gemma2", {"use_bidirectional_attention": True}, "use_bidirectional_attention: expected false"),
    "cap_0": ("gemma2", {"attn_logit_softcapping": 0}, "attn_logit_softcapping: expected a number from 1e-06"),
    "rope_kinds": (
        "gemma3_text",
        {"rope_parameters": {"rope_type": "default"}},
        "full_attention and sliding_attention",
    ),
    "pattern_0": ("gemma3_text", {"sliding_window_pattern": 0}, "sliding_window_pattern: expected an integer from 1"),
    "latent_kv_heads": ("deepseek_v2", {"num_key_value_heads": 2}, "expected num_attention_heads 6, got 2"),
    "odd_turned": ("deepseek_v2", {"qk_rope_head_dim": 15}, "qk_rope_head_dim: expected an even number"),
    "method": ("deepseek_v2", {"topk_method": "noaux_tc"}, "topk_method: expected greedy or group_limited_greedy, got"),
    "scores": ("deepseek_v3", {"scoring_func": "softmax"}, "scoring_func: expected 'sigmoid', got 'softmax'"),
    "groups": ("deepseek_v3", {"n_group": 4}, "n_group: expected a divisor of the 6 experts, got 4"),
    "groups_of_one": ("deepseek_v3", {"n_group": 6}, "n_group: expected groups of 2 experts or more, got 6"),
    "groups_kept": ("deepseek_v3", {"topk_group": 4}, "topk_group: expected an integer from 1 to 3, got 4"),
    "no_room": ("deepseek_v3", {"topk_group": 1}, "expected groups with room for num_experts_per_tok, got 1"),
    "frequency": ("deepseek_v2", {"moe_layer_freq": 2}, "moe_layer_freq: expected 1, got 2"),
    "mlp_bias": ("deepseek_v2", {"mlp_bias": True}, "mlp_bias: expected false, got True"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong(case: str):
    check_refused(*WRONG[case])


def named(module: ModuleOp) -> set[str]:
    """Every stored tensor that a step takes something of."""
    sources = [op.source for op in module.walk() if isinstance(op, ConstantOp)]
    return {name for source in sources if isinstance(source, CheckpointAttr) for name in source.tensors}


@pytest.mark.parametrize("path", ALL, ids=[path.name for path in ALL])
def test_every_tensor_is_read(path: Path):
    """And, without weights, the same step."""
    module = import_checkpoint(path, context=64)
    assert named(module) == set(open_directory(path).tensors)
    assert str(import_checkpoint(path / "config.json", context=64, no_weights=True)) == str(module)


@pytest.mark.parametrize(
    ("model", "tensor"),
    [
        ("qwen3_moe", "model.layers.1.mlp.experts.3.up_proj.weight"),
        ("qwen2_moe", "model.layers.0.mlp.shared_expert_gate.weight"),
        ("qwen3_next", "model.layers.2.linear_attn.A_log"),
        ("gpt_oss", "model.layers.1.self_attn.sinks"),
        ("gemma3_text", "model.layers.0.pre_feedforward_layernorm.weight"),
        ("deepseek_v2", "model.layers.0.self_attn.kv_b_proj.weight"),
        ("deepseek_v3", "model.layers.1.mlp.gate.e_score_correction_bias"),
    ],
)
def test_missing_tensor(tmp_path: Path, model: str, tensor: str):
    path = tmp_path / model
    path.mkdir()
    (path / "config.json").write_bytes((MODELS / model / "config.json").read_bytes())
    data = (MODELS / model / "model.safetensors").read_bytes()
    renamed = f"{tensor[:-1]}_".encode()  # of one length, so that no offset moves
    (path / "model.safetensors").write_bytes(data.replace(f'"{tensor}"'.encode(), b'"' + renamed + b'"'))
    with pytest.raises(CheckpointError, match=f"expected a tensor '{tensor}'"):
        import_checkpoint(path, context=64)


SIZES = [
    *("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size"),
    *("moe_intermediate_size", "num_experts", "num_local_experts", "n_routed_experts", "num_experts_per_tok"),
    *("shared_expert_intermediate_size", "n_shared_experts", "kv_lora_rank", "q_lora_rank", "qk_nope_head_dim"),
    *("qk_rope_head_dim", "v_head_dim", "linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim"),
    *("linear_value_head_dim", "linear_conv_kernel_dim", "sliding_window", "n_group", "topk_group"),
]


@settings(max_examples=100, deadline=2000)
@given(
    family=st.sampled_from(list(NAMES)),
    keys=st.dictionaries(
        st.sampled_from(SIZES), st.sampled_from([1, 2, 3, 7, 64, 16384, 65536, 2**31 - 1]), min_size=1, max_size=4
    ),
)
@example(family="gpt_oss", keys=dict.fromkeys(["hidden_size", "intermediate_size"], 2**31 - 1))
@example(family="qwen3_next", keys={"hidden_size": 2**31 - 1, "linear_num_value_heads": 2**31 - 1})
def test_sizes_of_any_kind_import_or_say_why(family: str, keys: dict[str, int]):
    """Products of four such sizes are past any index."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(values_of(family, num_hidden_layers=2, **keys)))
        try:
            module = import_checkpoint(path, no_weights=True)
        except CheckpointError as error:
            assert "expected" in str(error) and "got" in str(error) and "\n" not in str(error)
        else:
            module.verify()
