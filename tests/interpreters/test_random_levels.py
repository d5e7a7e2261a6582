"""Random small steps mean the same as tensors, fused and as launches."""

from __future__ import annotations

import numpy as np
from composer import CONTEXT, Drawn, StepComposer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from levels import check_levels

from lanelink.dialects.tgraph.step import step_function


@st.composite
def steps(draw: st.DrawFn) -> Drawn:
    module = StepComposer(draw).compose(draw(st.integers(3, 20)))
    module.verify()
    return Drawn(module)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps(), st.integers(0, 3))
def test_every_level_means_the_same(drawn: Drawn, position: int) -> None:
    module = drawn.module
    rng = np.random.default_rng(position)
    token, *positions = step_function(module).body.block.args[:3]
    arguments = [rng.integers(0, CONTEXT, token.type.get_shape(), np.int32)]
    arguments += [np.full(a.type.get_shape(), position, np.int32) for a in positions]
    arguments += [
        rng.standard_normal(a.type.get_shape(), np.float32) for a in step_function(module).body.block.args[3:]
    ]
    check_levels(module, arguments, steps=1)
