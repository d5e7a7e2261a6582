"""What every architecture's layers become: how many launches, by which classes; and what the lane refuses of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, NameLoc
from xdsl.utils.exceptions import PassFailedException

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.base import Launch
from lanelink.dialects.tgraph import FusedOp
from lanelink.dialects.tgraph.step import step_function
from lanelink.frontend.importer import import_checkpoint
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parents[1] / "models"

DENSE = {"merged_qkv", "row_in_place", "gemv_norm_epilogue", "add_norm", "gemv_gate_up_glu", "embed_norm"}
SPARSE = (DENSE | {"moe_deferred_finalize"}) - {"gemv_gate_up_glu"}
SHARED = SPARSE | {"shared_expert_fusion", "gemv_gate_up_glu"}
TURNED = {"qkv_head_epilogue"}

LAYERS: dict[str, tuple[list[int], set[str]]] = {
    "llama": ([5, 5], DENSE | TURNED),
    "qwen2": ([5, 5], DENSE | TURNED | {"gemm_bias"}),
    "qwen3": ([5, 5], DENSE | TURNED | {"qk_norm_rope"}),
    "qwen2_moe": ([4, 4], SHARED | TURNED | {"gemm_bias"}),
    "qwen3_moe": ([4, 4], SPARSE | TURNED | {"qk_norm_rope"}),
    "qwen3_next": (
        [6, 6, 6, 4],
        {
            *(SHARED | TURNED),
            *("conv_parts", "conv_silu_l2norm", "conv_bias_silu", "gdn_gate_projections", "gdn_gating"),
            *("qk_norm_rope", "attn_output_gate", "glu_act_mul"),
        },
    ),
    "gpt_oss": ([4, 4], SPARSE | TURNED | {"gemm_bias"}),
    "gemma3_text": ([5, 5], DENSE | TURNED | {"qk_norm_rope", "norm_then_add", "embed_scale", "glu_act_mul"}),
    "deepseek_v2": ([10, 9], SHARED | {"units_in_place", "part_in_place"}),
}
"""Launches of each layer, and all classes beside the step's `fused_sampling`; docs/architectures.md."""


def imported(name: str, **options: Any) -> ModuleOp:
    return import_checkpoint(MODELS / name, context=128, **options)


@pytest.mark.parametrize("name", LAYERS)
def test_launches_and_classes(name: str):
    module = imported(name)
    launches, classes = LAYERS[name]
    fused = [op for op in lower(module, Level.FUSED).walk() if isinstance(op, FusedOp)]
    assert {op.fusion_class.data.value for op in fused} == classes | {"fused_sampling"}
    counted: Counter[str] = Counter()
    for op in step_function(lower(module, Level.LAUNCHES)).body.block.ops:
        if isinstance(op, Launch):
            assert isinstance(op.location, NameLoc)
            parts = op.location.desc.data.split(".")
            counted[".".join(parts[:3]) if parts[:2] == ["model", "layers"] else "beside"] += 1
    assert counted == {"beside": 3, **{f"model.layers.{n}": count for n, count in enumerate(launches)}}


@pytest.mark.parametrize("name", [name for name in LAYERS if name != "deepseek_v2"])
def test_integer_products_cost_no_launch(name: str):
    """What a product reads is quantized where it is made."""
    kinds = [
        [op.name for op in step_function(lower(module, Level.LAUNCHES)).body.block.ops if isinstance(op, Launch)]
        for module in (imported(name), imported(name, quantize=Format.Q8_0))
    ]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gemma2", "model.layers.0.self_attn: op 10 tgraph.attention: expected scores without a soft cap, got one"),
        ("deepseek_v3", "model.layers.1.mlp: op 46 tgraph.moe in moe_deferred_finalize: expected softmax scores"),
    ],
)
def test_what_the_lane_refuses(name: str, reason: str):
    """By op and reason; that they run on the reference backend is among the oracles' tests."""
    with pytest.raises(PassFailedException) as error:
        lower(imported(name), Level.LAUNCHES)
    assert reason in str(error.value)
