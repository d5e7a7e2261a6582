"""Steps of every architecture that the lane runs, as tensors, fused and linked: the same logits at each level."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from configs import values_of
from levels import check_levels

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.step import step_function
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.interpreters.reference import zero_inputs
from lanelink.lowering.weights import resolve
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parents[1] / "models"
NAMES = [
    *("qwen2_moe", "qwen3_moe", "qwen3_next", "gpt_oss", "gemma3_text", "deepseek_v2"),
    *("shapes/qwen2_moe_dense", "shapes/qwen3_moe_dense", "shapes/qwen3_next_three", "shapes/gpt_oss_window"),
    *("shapes/gemma3_pattern", "shapes/deepseek_v2_lite", "shapes/llama_scaled", "shapes/qwen2_window"),
]
CONTEXT = 32


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("name", NAMES)
def test_same_logits_at_every_level(name: str, rows: int):
    """From position 9 on, so that windows of 5 have begun to slide; state of a sequence that was not there is zero."""
    module = import_checkpoint(MODELS / name, context=CONTEXT, rows=rows)
    constants = resolve(module, open_directory(MODELS / name))
    tokens = np.arange(3, 3 + rows, dtype=np.int32)
    _, _, *states = zero_inputs(step_function(module))
    check_levels(module, [tokens, np.array([9], np.int32), *states], 2, constants)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("name", ["qwen3", "qwen3_next", "gpt_oss", "deepseek_v2"])
def test_tables_of_f16_at_every_level(name: str, rows: int):
    """Rounded where rows are set, whichever launch sets them; the logits are near those over tables of f32."""
    tokens, results = np.arange(3, 3 + rows, dtype=np.int32), list[npt.NDArray[np.float32]]()
    for kv in (Format.F32, Format.F16):
        module = import_checkpoint(MODELS / name, context=CONTEXT, rows=rows, kv=kv)
        constants = resolve(module, open_directory(MODELS / name))
        _, _, *states = zero_inputs(step_function(module))
        tables = [state for state in states if state.dtype == np.float16]
        assert bool(tables) == (kv is Format.F16)
        outcomes = check_levels(module, [tokens, np.array([9], np.int32), *states], 2, constants)
        results.append(outcomes[-1].results[-1])
    exact, rounded = results
    # Keys and values are each off by half a step at most, 2^-11 of them; through a layer's softmax and the two or more
    # layers after it that is some of 2^-8 of the largest logit, and no less than nothing.
    assert 0 < np.abs(rounded - exact).max() < 2.0**-8 * np.abs(exact).max()


@pytest.mark.parametrize("name", NAMES)
def test_same_logits_of_several_sequences(name: str):
    """Each at a position of its own, the last where its tables end after two steps."""
    module = import_checkpoint(MODELS / name, context=CONTEXT, sequences=3)
    constants = resolve(module, open_directory(MODELS / name))
    tokens, positions = np.array([3, 70, 111], np.int32), np.array([9, 0, CONTEXT - 2], np.int32)
    _, _, *states = zero_inputs(step_function(module))
    check_levels(module, [tokens, positions, *states], 2, constants)


@pytest.mark.parametrize("q_rank", [None, 48])
def test_a_wide_chunk_of_latent_attention_runs_expanded(tmp_path: Path, q_rank: int | None):
    """80 rows over 64 latent values: keys and values are made for all heads, and the logits are those of absorption."""
    keys = {"kv_lora_rank": 64, "v_head_dim": 32, "q_lora_rank": q_rank, "num_hidden_layers": 2}
    (tmp_path / "config.json").write_text(json.dumps(values_of("deepseek_v2", **keys)))
    module = import_checkpoint(tmp_path, context=96, rows=80, no_weights=True)
    kinds = {op.name for op in lower(module, Level.LAUNCHES).walk()}
    assert {"launch.latent_keys", "launch.latent_values", "launch.latent_attend"} < kinds
    rounded = import_checkpoint(tmp_path, context=96, rows=80, no_weights=True, kv=Format.F16)
    absorbed = {op.name for op in lower(rounded, Level.LAUNCHES).walk()}
    assert "launch.latent_attend" not in absorbed and "launch.attention" in absorbed, "no kernel expands rows of f16"
    tokens = np.arange(80, dtype=np.int32)
    _, _, *states = zero_inputs(step_function(module))
    check_levels(module, [tokens, np.array([9], np.int32), *states], 1)
