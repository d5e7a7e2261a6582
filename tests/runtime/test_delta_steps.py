"""Delta-rule layers through all levels: the shipped kernels leave what the lifted ops leave, step after step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delta_steps import VOCABULARY, delta_step
from emulated import Emulated
from levels import RELATIVE, parsed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.frontend.importer import import_checkpoint
from lanelink.passes.legalize_shim import LegalizeShimPass
from lanelink.passes.link import LinkPass
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parent.parent / "models"
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


@pytest.mark.parametrize(
    ("numerics", "rows"), [*((n, 1) for n in Numerics), (Numerics.DEQUANT, 3)], ids=lambda v: getattr(v, "value", v)
)
def test_a_dense_qwen3_next(tmp_path: Path, numerics: Numerics, rows: int) -> None:
    """Three delta layers and one of gated attention as the importer writes them, with dense feed-forward layers; three
    value heads a key head."""
    config = json.loads((MODELS / "qwen3_next" / "config.json").read_text(encoding="utf-8"))
    config |= {"mlp_only_layers": [0, 1, 2, 3], "linear_num_value_heads": 6}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    options = {"context": 32, "rows": rows, "numerics": numerics, "quantize": Format.Q8_0}
    emulated = scheduled(import_checkpoint(tmp_path, no_weights=True, **options), races=False)
    rng = np.random.default_rng(rows)
    for step in range(1, 4):
        # Each layer rounds as a step of one does, and reads what the ones before it left.
        off = step * config["num_hidden_layers"] * RELATIVE[numerics]
        emulated.check_step(rng.integers(0, config["vocab_size"], rows).tolist(), off)
