"""Random steps of mixtures of experts, whole or nearly so, lowered to kernels: the emulator leaves what they mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from carried import carry_all
from composer import CONTEXT, Drawn
from emulated import Emulated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layers import LayerComposer
from levels import RELATIVE
from whole import examples
from xdsl.ir import SSAValue

from lanelink.dialects.launch import MoeOp
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.random_step import static_sizes
from lanelink.pipeline import Level, lower


class MixtureComposer(LayerComposer):
    """Adds mixtures, at times with a shared expert, row by row or read by something else, and what stands between."""

    def makers(self) -> list[Callable[[], SSAValue]]:
        return [*[self.mixture] * 4, *[self.reread] * 2, self.product, self.norm, self.residual, self.unary, self.gated]


@st.composite
def steps(draw: st.DrawFn) -> Drawn:
    composer = MixtureComposer(draw)
    composer.pool.append(composer.mixture())
    module = composer.compose(draw(st.integers(1, 3)))
    carry_all(module)
    return Drawn(module)


@settings(
    max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(steps())
def test_random_mixtures(drawn: Drawn) -> None:
    module = drawn.module
    rows = static_sizes(step_function(module).body.block.args[0].type)[0]
    relative = RELATIVE[module_target(module).numerics.data]
    emulated = Emulated(module, linked=lower(module, Level.SCHEDULED), races=False)
    assert any(isinstance(op, MoeOp) for op in emulated.launches())
    rng = np.random.default_rng(0)
    for step in range(1, 3):
        # Each side starts from what it left itself, so that a step's rounding is added to the ones before.
        emulated.check_step(rng.integers(0, CONTEXT, rows, np.int32).tolist(), step * relative)
