"""Releases' configurations without their weights (tests/models/released, of the facts their authors publish)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.driver import LaunchOp
from lanelink.dialects.formats import Format
from lanelink.dialects.launch import MoeOp
from lanelink.dialects.tgraph import ConstantOp, RowsType
from lanelink.dialects.tgraph.step import step_function
from lanelink.frontend.importer import import_checkpoint
from lanelink.pipeline import Level, lower

RELEASED = Path(__file__).parents[1] / "models" / "released"

LAUNCHES = {
    "qwen3_235b_a22b": 94 * 4 + 3,
    "gpt_oss_120b": 36 * 4 + 3,
    "deepseek_v2_lite": 10 + 26 * 9 + 3,
    "deepseek_v2": 12 + 59 * 11 + 3,
}
"""Four launches a layer; of DeepSeek's nine, ten of its dense one, two more with a latent query; and the step's own
three."""


def launches(module: ModuleOp) -> int:
    """How many a step is lowered to, down to the calls of the driver."""
    return sum(isinstance(op, LaunchOp) for op in lower(module).walk())


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_step_of_a_release(name: str):
    """Some ten thousand ops at most: seconds of one core, of which the time is told by the process's own clock."""
    begin = time.process_time()
    module = import_checkpoint(RELEASED / f"{name}.json", no_weights=True)
    assert launches(module) == LAUNCHES[name]
    assert time.process_time() - begin < 30, "about 4 s on an idle core"


def test_gpt_oss_experts_are_as_released():
    module = import_checkpoint(RELEASED / "gpt_oss_120b.json", no_weights=True)
    kinds = [op.result.type for op in module.walk() if isinstance(op, ConstantOp)]
    packed = [kind.shape for kind in kinds if isinstance(kind, RowsType) and kind.format.data is Format.MXFP4]
    assert set(packed) == {(128 * 2880, 2880)} and len(packed) == 3 * 36


def test_deepseek_v2_chooses_in_groups():
    """236 billion parameters: 6 of 160 experts, from the best 3 of 8 groups, and a scaled sum."""
    step = step_function(lower(import_checkpoint(RELEASED / "deepseek_v2.json", no_weights=True), Level.LAUNCHES))
    found = [op for op in step.walk() if isinstance(op, MoeOp)]
    assert len(found) == 59
    assert {op.grouping for op in found} == {(8, 3, 1)}
    assert {op.routed_scale.value.data for op in found if op.routed_scale} == {16.0}
