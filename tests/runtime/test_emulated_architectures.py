"""Greedy tokens of every architecture that the lane runs, by the shipped kernels in the emulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import packed_gpt_oss

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics, module_target
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.loader import SourceLoader
from lanelink.lowering.runtime.plan import read_plan
from lanelink.lowering.runtime.reference import ReferenceBackend
from lanelink.lowering.weights import resolve
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parent.parent / "models"
TOKENS = 8
POSITIONS = 7

TRAINED = [
    ("qwen2_moe", "compute_80"),
    ("qwen3_moe", "compute_90"),
    ("qwen3_next", "compute_80"),
    ("gpt_oss", "compute_90"),
    ("gemma3_text", "compute_90"),
    ("deepseek_v2", "compute_80"),
]
"""Beside the dense families' (test_emulator_tokens.py); each build of the kernels some of the time."""

SHAPES = [
    ("qwen2_moe_dense", "compute_90"),
    ("qwen3_next_three", "compute_90"),
    ("gpt_oss_window", "compute_80"),
    ("gemma3_pattern", "compute_80"),
    ("deepseek_v2_lite", "compute_90"),
    ("deepseek_v2_groups", "compute_80"),
]
"""Shapes that the trained models do not have (tests/models/README.md)."""


def check(ready: Any, prompt: list[int], logits: Any, greedy: list[int]) -> None:
    """A prompt token by token, then tokens of the device's own choice."""
    backend = EmulatorBackend(ready.plan, ready.loader)
    backend.reset()
    for row, id in zip(logits, prompt, strict=True):
        backend.step(id)
        # What is left is the order of f32 sums, and exponentials by the device's approximation (2^-22, relative).
        np.testing.assert_allclose(backend.logits()[0], row, atol=2e-4, rtol=0)
    assert [int(backend.chosen()[0]), *(int(each[0]) for each in backend.decode(len(greedy) - 1))] == greedy


@pytest.mark.parametrize(("model", "architecture"), TRAINED)
def test_tokens_and_logits(prepared: Any, model: str, architecture: str) -> None:
    """The shortest of the oracle's prompts."""
    with np.load(MODELS / model / "oracle.npz") as oracle:
        p = min(range(3), key=lambda p: len(oracle[f"prompt{p}"]))
        prompt, logits, greedy = (oracle[name] for name in (f"prompt{p}", f"prompt{p}_logits", f"greedy{p}"))
    check(prepared(model, architecture=architecture), prompt.tolist(), logits, greedy[:TOKENS].tolist())


@pytest.mark.parametrize(("name", "architecture"), SHAPES)
def test_other_shapes(prepared: Any, name: str, architecture: str) -> None:
    """The prompt's first positions: past windows of 5, and what an emulator has time for."""
    with np.load(MODELS / "shapes" / name / "oracle.npz") as oracle:
        prompt, logits = oracle["prompt"][:POSITIONS], oracle["logits"][:POSITIONS]
    ready = prepared(f"shapes/{name}", architecture=architecture, rope_format=Format.F32)
    check(ready, prompt.tolist(), logits, [int(logits[-1].argmax())])


def check_numerics(path: Path, ids: tuple[int, ...] = (73, 110), **options: Any) -> None:
    """Two tokens on integer units, against the same arithmetic in numpy."""
    step = import_checkpoint(path, context=32, **options)
    assert module_target(step).numerics.data is Numerics.INT8
    tensors = lower(step, Level.TENSORS)
    checkpoint = open_directory(path)
    reference = ReferenceBackend(tensors, resolve(tensors, checkpoint))
    backend = EmulatorBackend(read_plan(lower(step)), SourceLoader(checkpoint))
    for id in ids:
        backend.step(id)
        reference.step(id)
        error = np.sqrt(np.mean((backend.logits() - reference.logits()) ** 2)) / reference.logits().std()
        # A sum's rounding may move a quant by one: 1/127 of its block's largest value.
        assert error < 1e-2


@pytest.mark.parametrize("model", ["qwen2_moe", "qwen3_next", "gemma3_text", "deepseek_v2"])
def test_q8_0_on_integer_units(model: str) -> None:
    check_numerics(MODELS / model, quantize=Format.Q8_0)


def test_groups_on_integer_units() -> None:
    """Of random weights a quant that moves moves others, and all logits; by these ids none comes near a half step."""
    check_numerics(MODELS / "shapes" / "deepseek_v2_groups", (5, 34), quantize=Format.Q8_0)


def test_gpt_oss_as_released(tmp_path: Path) -> None:
    """Experts in MXFP4, the rest in bf16."""
    check_numerics(packed_gpt_oss(MODELS / "gpt_oss", tmp_path)[0])
