"""Delta-rule layers through all levels: the shipped kernels leave what the lifted ops leave, step after step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from delta_steps import VOCABULARY, delta_step
from emulated import Emulated
from levels import RELATIVE, parsed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.passes.legalize_shim import LegalizeShimPass
from lanelink.passes.link import LinkPass
from lanelink.pipeline import Level, lower

LAYERS = ("apart", "joined", "apart")
STEPS = 5


def stepped(numerics: Numerics, rows: int, format: str) -> ModuleOp:
    """A step of `LAYERS` at level 1."""
    module = parsed(delta_step(LAYERS, rows, format))
    module.attributes[TARGET] = preset("h200", numerics)
    return module


def scheduled(module: ModuleOp, **options: Any) -> Emulated:
    """A step on the emulator as the whole pipeline makes it."""
    return Emulated(module, linked=lower(module, Level.SCHEDULED), **options)


def check_steps(emulated: Emulated, rows: int, numerics: Numerics) -> None:
    """Runs steps of random tokens."""
    rng = np.random.default_rng(rows)
    for step in range(1, STEPS + 1):
        token = rng.integers(0, VOCABULARY, rows, np.int32)
        # Each side starts from what it left itself, so that a step's rounding is added to the ones before.
        emulated.check_step(token.tolist(), step * RELATIVE[numerics])


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(
    ("numerics", "format"),
    [(Numerics.DEQUANT, "bf16"), *((numerics, "q8_0") for numerics in Numerics)],
    ids=lambda v: v if isinstance(v, str) else v.value,
)
def test_states_and_logits_of_steps_one_after_another(numerics: Numerics, format: str, rows: int) -> None:
    check_steps(scheduled(stepped(numerics, rows, format), races=False), rows, numerics)


def test_a_launch_an_op() -> None:
    """Nothing fused: convolutions without silu, l2 norms, sigmoids and decays of their own."""
    module = stepped(Numerics.TWO_PASS_INT8, 2, "q8_0")
    linked = lower(module, Level.TENSORS)
    for each in (LegalizeShimPass(), LinkPass()):
        each.apply(Context(), linked)
    emulated = Emulated(module, linked=linked, races=False)
    labels = {launch.label for launch in emulated.backend.plan.launches}
    assert labels >= {"conv", "unary", "l2norm", "decay", "delta", "gemv_f32", "quant"}
    assert not labels & {"conv_parts", "gates", "gate_proj"}
    check_steps(emulated, 2, Numerics.TWO_PASS_INT8)


@pytest.mark.parametrize("architecture", ["compute_80", "compute_90"])
def test_no_race_and_the_same_twice(architecture: str) -> None:
    emulated = scheduled(stepped(Numerics.DEQUANT, 2, "bf16"), architecture=architecture)
    emulated.check_step([3, 70], RELATIVE[Numerics.DEQUANT])
    emulated.check_step([95, 0], 2 * RELATIVE[Numerics.DEQUANT])
    first = emulated.backend.logits()
    emulated.backend.reset()
    for tokens in ([3, 70], [95, 0]):
        emulated.backend.step(tokens)
    np.testing.assert_array_equal(emulated.backend.logits(), first)


def test_every_class_of_the_family_runs_whole() -> None:
    """A layer as the importer writes it is five launches; one cut up after its convolution adds slices and norms."""
    plan = scheduled(stepped(Numerics.INT8, 1, "q8_0"), races=False).backend.plan
    labels = [launch.label for launch in plan.launches]
    apart = ["conv_parts", "gate_proj", "delta"]
    joined = ["conv", *["slice"] * 3, *["l2norm"] * 2, "gates", "delta"]
    assert [label for label in labels if label in (*apart, *joined)] == [*apart, *joined, *apart]
    # Beside them the products of a layer's sides and its output product; before and after all layers the embedding,
    # the head, the choice and the copy of it.
    assert len(labels) == 2 * len(apart) + len(joined) + 2 * len(LAYERS) + 4
