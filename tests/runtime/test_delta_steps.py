"""Delta-rule layers through all levels: the shipped kernels leave what the lifted ops leave, step after step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from delta_steps import VOCABULARY, delta_step
from levels import RELATIVE, check_close, parsed
from xdsl.context import Context

from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.interpreters.levels import Outcome, Step, step_of
from lanelink.lowering.interpreters.reference import zero_inputs
from lanelink.lowering.launch_to_driver import LowerToDriverPass
from lanelink.lowering.random_step import marks
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.loader import ConstantsLoader
from lanelink.lowering.runtime.plan import Memory, read_plan
from lanelink.lowering.weights import random_weights
from lanelink.passes.legalize_shim import LegalizeShimPass
from lanelink.passes.link import LinkPass
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.pipeline import Level, lower

Array = npt.NDArray[Any]
LAYERS = ("apart", "joined", "apart")
STEPS = 5


@dataclass(frozen=True)
class Prepared:
    """A step's meaning, its arguments before the first step and their names, and its kernels on the emulator."""

    meaning: Step
    arguments: list[Array]
    names: dict[int, str]
    kernels: EmulatorBackend


def prepare(
    numerics: Numerics,
    rows: int,
    format: str,
    *,
    fused: bool = True,
    architecture: Any = None,
    races: bool = False,
) -> Prepared:
    """A step of `LAYERS`, and its kernels, linked from what `fuse` makes of it or op by op."""
    module = parsed(delta_step(LAYERS, rows, format))
    module.attributes[TARGET] = preset("h200", numerics)
    constants = random_weights(module)
    tensors = lower(module, Level.TENSORS)
    linked = lower(module, Level.SCHEDULED) if fused else tensors.clone()
    names = marks(step_function(linked))
    passes = () if fused else (LegalizeShimPass(), LinkPass())
    for each in (*passes, PlanBuffersPass(), LowerToDriverPass(architecture=architecture)):
        each.apply(Context(), linked)
    backend = EmulatorBackend(read_plan(linked), ConstantsLoader(constants), races=races)
    arguments = zero_inputs(step_function(tensors))
    return Prepared(step_of(tensors, constants), arguments, names, backend)


def logits_of(outcome: Outcome) -> Array:
    (logits,) = outcome.results
    return logits


def check_steps(ready: Prepared, rows: int, numerics: Numerics) -> None:
    """Holds the kernels of some steps, each from what the one before left, to their meaning."""
    rng = np.random.default_rng(rows)
    arguments = ready.arguments
    for step in range(1, STEPS + 1):
        token = rng.integers(0, VOCABULARY, rows, np.int32)
        outcome = ready.meaning([token, *arguments[1:]])
        ready.kernels.step(token.tolist())
        # Each side starts from what it left itself, so that a step's rounding is added to the ones before.
        off = step * RELATIVE[numerics]
        check_close(ready.kernels.logits(), logits_of(outcome), off)
        for k, name in ready.names.items():
            if name != "token":
                held = ready.kernels.read_buffer(Memory.STATE, name)
                expected = outcome.arguments[k]
                check_close(np.frombuffer(held, np.float32).reshape(expected.shape), expected, off)
        arguments = outcome.arguments


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(
    ("numerics", "format"),
    [(Numerics.DEQUANT, "bf16"), *((numerics, "q8_0") for numerics in Numerics)],
    ids=lambda v: v if isinstance(v, str) else v.value,
)
def test_states_and_logits_of_steps_one_after_another(numerics: Numerics, format: str, rows: int) -> None:
    check_steps(prepare(numerics, rows, format), rows, numerics)


def test_a_launch_an_op() -> None:
    """Nothing fused: convolutions without silu, l2 norms, sigmoids and decays of their own."""
    ready = prepare(Numerics.TWO_PASS_INT8, 2, "q8_0", fused=False)
    labels = {launch.label for launch in ready.kernels.plan.launches}
    assert labels >= {"conv", "unary", "l2norm", "decay", "delta", "gemv_f32", "quant"}
    assert not labels & {"conv_parts", "gates", "gate_proj"}
    check_steps(ready, 2, Numerics.TWO_PASS_INT8)


def test_the_older_architecture_is_as_near_without_a_race_and_the_same_twice() -> None:
    ready = prepare(Numerics.DEQUANT, 2, "bf16", architecture="compute_80", races=True)
    tokens = [[3, 70], [95, 0]]
    arguments, twice = ready.arguments, list[bytes]()
    for _ in range(2):
        ready.kernels.reset()
        for token in tokens:
            ready.kernels.step(token)
        twice.append(ready.kernels.logits().tobytes())
    assert twice[0] == twice[1]
    for token in tokens:
        outcome = ready.meaning([np.array(token, np.int32), *arguments[1:]])
        arguments = outcome.arguments
    check_close(ready.kernels.logits(), logits_of(outcome), len(tokens) * RELATIVE[Numerics.DEQUANT])


def test_every_class_of_the_family_runs_whole() -> None:
    """A layer as the importer writes it is five launches; one cut up after its convolution adds slices and norms."""
    labels = [launch.label for launch in prepare(Numerics.INT8, 1, "q8_0").kernels.plan.launches]
    apart = ["conv_parts", "gate_proj", "delta"]
    joined = ["conv", *["slice"] * 3, *["l2norm"] * 2, "gates", "delta"]
    assert [label for label in labels if label in (*apart, *joined)] == [*apart, *joined, *apart]
    # Beside them the products of a layer's sides and its output product; before and after all layers the embedding,
    # the head, the choice and the copy of it.
    assert len(labels) == 2 * len(apart) + len(joined) + 2 * len(LAYERS) + 4
