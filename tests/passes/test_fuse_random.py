"""Random small steps mean the same before and after fuse, and compute the same ops of the same values."""

from __future__ import annotations

import numpy as np
from composer import Composer, Drawn
from formulas import formulas
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.context import Context

from lanelink.dialects.tgraph.step import step_function, verify_dominance
from lanelink.lowering.interpreters.reference import StepInterpreter
from lanelink.lowering.weights import random_weights
from lanelink.passes.fuse import FusePass
from lanelink.passes.quantize_activations import QuantizeActivationsPass


@st.composite
def steps(draw: st.DrawFn) -> Drawn:
    """A random step after quantize-activations."""
    module = Composer(draw).compose(draw(st.integers(3, 20)))
    QuantizeActivationsPass().apply(Context(), module)
    module.verify()
    return Drawn(module)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps(), st.integers(0, 5))
def test_fusing_changes_no_value(drawn: Drawn, position: int) -> None:
    module = drawn.module
    before = module.clone()
    FusePass().apply(Context(), module)
    module.verify()
    verify_dominance(module)
    known: dict[object, int] = {}
    assert formulas(module, known) == formulas(before, known)
    rng = np.random.default_rng(position)
    func = step_function(module)
    inputs = [np.full(a.type.get_shape(), position, np.int32) for a in func.body.block.args[:3]]
    inputs += [rng.standard_normal(a.type.get_shape(), np.float32) for a in func.body.block.args[3:]]
    constants = random_weights(before)
    expected = StepInterpreter(before, constants).run(inputs)
    got = StepInterpreter(module, constants).run(inputs)
    for a, b in zip(expected, got, strict=True):
        np.testing.assert_array_equal(a, b)
