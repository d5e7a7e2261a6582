"""Random steps of delta-rule layers, whole or nearly so, lowered to kernels: the emulator leaves what they mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from carried import carry_all
from composer import CONTEXT, HEAD, Drawn
from emulated import Emulated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layers import LayerComposer
from levels import RELATIVE
from whole import examples
from xdsl.ir import SSAValue

from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph import L2NormOp
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.random_step import static_sizes
from lanelink.pipeline import Level, lower


class DeltaComposer(LayerComposer):
    """Adds delta-rule layers, at times with parts left out or read by something else, and what stands between them."""

    def convolved(self, x: SSAValue, k: int) -> SSAValue:
        """Keys are always of length 1 at last: by longer ones a rule forgets more than there is, and its state grows
        without end, and what it was rounded by with it."""
        y = super().convolved(x, k)
        return y if k != 1 or isinstance(y.owner, L2NormOp) else self.add(L2NormOp(y, HEAD, 1e-6))

    def makers(self) -> list[Callable[[], SSAValue]]:
        layers = [self.delta_rule] * 4
        return [*layers, *[self.reread] * 3, self.product, self.norm, self.residual, self.unary, self.gated]


@st.composite
def steps(draw: st.DrawFn) -> Drawn:
    composer = DeltaComposer(draw)
    composer.pool.append(composer.delta_rule())
    module = composer.compose(draw(st.integers(1, 3)))
    carry_all(module)
    return Drawn(module)


@settings(
    max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(steps())
def test_random_delta_layers(drawn: Drawn) -> None:
    module = drawn.module
    rows = static_sizes(step_function(module).body.block.args[0].type)[0]
    relative = RELATIVE[module_target(module).numerics.data]
    emulated = Emulated(module, linked=lower(module, Level.SCHEDULED), races=False)
    rng = np.random.default_rng(0)
    for step in range(1, 4):
        # Each side starts from what it left itself, so that a step's rounding is added to the ones before.
        emulated.check_step(rng.integers(0, CONTEXT, rows, np.int32).tolist(), step * relative)
