"""Random small steps mean the same as tensors, fused and as launches."""

from __future__ import annotations

from composer import Drawn, StepComposer, random_arguments
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from levels import check_levels


@st.composite
def steps(draw: st.DrawFn) -> Drawn:
    module = StepComposer(draw).compose(draw(st.integers(3, 20)))
    module.verify()
    return Drawn(module)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps(), st.integers(0, 3))
def test_every_level_means_the_same(drawn: Drawn, position: int) -> None:
    module = drawn.module
    check_levels(module, random_arguments(module, position), steps=1)
