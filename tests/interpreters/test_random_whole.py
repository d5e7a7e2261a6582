"""Random steps of the whole language mean the same at every level, and are the same text there and back."""

from __future__ import annotations

from collections import Counter

from composer import Drawn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from levels import parsed
from whole import a_step, examples
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from examples import printed
from lanelink.dialects.launch.step import LIFTED, launches
from lanelink.dialects.tgraph.fused import leaves
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.pipeline import PASSES, Level
from lanelink.validate import ValidatedPipeline

TO_A_PLAN = [*(kind() for kind in PASSES[: Level.SCHEDULED.value]), PlanBuffersPass()]


@st.composite
def steps(draw: st.DrawFn) -> Drawn:
    module = a_step(draw, 3)
    module.verify()
    return Drawn(module)


LEVELS = ("number-ops", "fuse", "schedule-rotations")
"""The passes that end a level, the last of them with its schedule."""


def check(previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
    """What holds of a step at any level: it comes back from its text, and its ops are numbered or covered once each."""
    if previous is None or previous.name not in LEVELS:
        return
    text = printed(module)
    assert printed(parsed(text)) == text
    func = step_function(module)
    if LIFTED in func.attributes:
        found = Counter(n for launch in launches(func) for n in launch.covered())
        count = func.attributes[LIFTED].value.data
    else:
        lifted = [leaf for op in func.body.block.ops for leaf in leaves(op)]
        found = Counter(leaf.number.value.data for leaf in lifted)
        count = len(lifted)
    assert found == Counter(range(count))


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(steps(), st.integers(0, 1000))
def test_every_level_means_the_same(drawn: Drawn, seed: int) -> None:
    module = drawn.module.clone()
    ValidatedPipeline(tuple(TO_A_PLAN), check, seed).apply(Context(), module)
