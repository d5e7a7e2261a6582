"""What the lit files of the link show also runs: each of their steps leaves the same as launches as it did before."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from levels import parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lanelink.dialects.launch import LaunchDialect
from lanelink.dialects.launch.base import CompoundLaunch, LeafLaunch
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.pipeline import PASSES
from lanelink.validate import ValidationError, validate

LINK = Path(__file__).parents[2] / "filecheck" / "passes" / "link"
FILES = sorted(path.name for path in LINK.glob("*.mlir") if not path.name.startswith("refused"))
NOT_RUN = {"gemv.mlir: gemv"}
"""A step that takes quantized rows in, which no step's arguments are."""


@cache
def linked(name: str) -> list[ModuleOp]:
    """The steps of a lit file after its passes and the plan of its buffers, validated after each."""
    text = (LINK / name).read_text("utf-8")
    (pipeline,) = re.findall(r"^// RUN: lanelink-opt %s -p (\S+)", text, re.MULTILINE)
    passes = [kind() for kind in PASSES if kind.name in pipeline.split(",")]
    made: list[ModuleOp] = []
    for chunk in text.split("// -----"):
        module = parsed(chunk)
        if f"{name}: {step_function(module).sym_name.data}" in NOT_RUN:
            with pytest.raises(ValidationError, match=r"expected a tensor or a memref, got !tgraph\.q8"):
                validate(module, passes)
            continue
        made.append(validate(module, [*passes, PlanBuffersPass()]))
    return made


@pytest.mark.parametrize("name", FILES)
def test_what_is_shown_means_the_same(name: str) -> None:
    assert linked(name) or name in {each.partition(":")[0] for each in NOT_RUN}


def test_every_launch_is_shown_and_run() -> None:
    seen: set[type[Operation]] = {type(op) for name in FILES for module in linked(name) for op in module.walk()}
    kinds = {op for op in LaunchDialect.operations if issubclass(op, LeafLaunch | CompoundLaunch)}
    # The schedule makes this one, after the link.
    assert {op.name for op in kinds - seen} == {"launch.sequences"}
