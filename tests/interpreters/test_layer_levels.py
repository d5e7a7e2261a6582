"""Layers of mixtures, delta rules, latent and gated attention mean the same at every level."""

from __future__ import annotations

import numpy as np
import pytest
from layer_texts import DELTA, GATED_ATTENTION, LATENT, MIXTURE, SANDWICH, step_text
from levels import check_levels, parsed
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.interpreters.reference import zero_inputs

LAYERS = {
    "delta": DELTA,
    "gated attention": GATED_ATTENTION,
    "latent": LATENT,
    "mixture": MIXTURE,
    "sandwich": SANDWICH,
}


def check(module: ModuleOp, position: int = 2, steps: int = 1) -> None:
    """Checks a step at every level from random arguments at a position."""
    rng = np.random.default_rng(5)
    arguments = zero_inputs(step_function(module))
    arguments[1][:] = position
    arguments[2:] = [rng.standard_normal(a.shape, np.float32) if a.dtype == np.float32 else a for a in arguments[2:]]
    check_levels(module, arguments, steps)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer(name: str) -> None:
    module = parsed(step_text([LAYERS[name]]))
    module.attributes[TARGET] = preset("h200", Numerics.DEQUANT)
    check(module)


def test_layers_one_after_another() -> None:
    module = parsed(step_text(list(LAYERS.values())))
    module.attributes[TARGET] = preset("h200", Numerics.DEQUANT)
    check(module)
