"""Random small steps mean the same as tensors, fused and as launches."""

from __future__ import annotations

import numpy as np
from composer import CONTEXT, StepComposer
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from levels import check_levels
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.tgraph.step import step_function


@st.composite
def steps(draw: st.DrawFn) -> ModuleOp:
    module = StepComposer(draw).compose(draw(st.integers(3, 20)))
    module.verify()
    return module


# A failure is shown as it was found: steps are drawn op by op, and shrinking one takes longer than reading it.
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(steps(), st.integers(0, 3))
def test_every_level_means_the_same(module: ModuleOp, position: int) -> None:
    rng = np.random.default_rng(position)
    token, *positions = step_function(module).body.block.args[:3]
    arguments = [rng.integers(0, CONTEXT, token.type.get_shape(), np.int32)]
    arguments += [np.full(a.type.get_shape(), position, np.int32) for a in positions]
    arguments += [
        rng.standard_normal(a.type.get_shape(), np.float32) for a in step_function(module).body.block.args[3:]
    ]
    check_levels(module, arguments, steps=1)
