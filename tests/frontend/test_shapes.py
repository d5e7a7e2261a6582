"""Every architecture in shapes that the trained models do not have (tests/models/shapes), against its own PyTorch code.

Other head counts, grouped heads, three experts of six, layers that are dense among mixtures, windows shorter than the
prompt, value heads three times the key heads, a latent query, rotations scaled and partial, biases.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from checkpoints import interpreter, prompt_step

from lanelink.frontend.config import parse_config, read_config
from lanelink.frontend.fields import Fields

SHAPES = Path(__file__).parents[1] / "models" / "shapes"
NAMES = sorted(path.parent.name for path in SHAPES.glob("*/oracle.npz"))

Array = npt.NDArray[Any]


@cache
def oracle(name: str) -> dict[str, Array]:
    with np.load(SHAPES / name / "oracle.npz") as file:
        return {key: file[key] for key in file.files}


@pytest.mark.parametrize("name", NAMES)
def test_logits_and_greedy_ids(name: str):
    """Logits of order 1 to 5 in f32: sums of some hundred products in another order part by some 1e-6 each."""
    expected = oracle(name)
    chosen, *after, logits = prompt_step(SHAPES / name, expected["prompt"])
    np.testing.assert_allclose(logits, expected["logits"], atol=1e-4, rtol=0)
    step, inputs, ids = interpreter(SHAPES / name), [chosen[-1:], *after], [int(chosen[-1])]
    while len(ids) < len(expected["greedy"]):
        *inputs, _ = step.run(inputs)
        ids.append(int(inputs[0][0]))
    assert ids == expected["greedy"].tolist()


def older(values: dict[str, Any]) -> dict[str, Any]:
    """A configuration in the keys of transformers 4: without `rope_parameters`, `dtype` and, mostly, layer types."""
    found = {**values, "torch_dtype": values["dtype"]}
    rope = found.pop("rope_parameters")
    del found["dtype"]
    if "full_attention" in rope:
        found["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    found["rope_theta"] = rope["rope_theta"]
    if "partial_rotary_factor" in rope:
        found["partial_rotary_factor"] = rope["partial_rotary_factor"]
    kept = {k: v for k, v in rope.items() if k not in ("rope_theta", "rope_type", "partial_rotary_factor")}
    found["rope_scaling"] = {**kept, "type": rope["rope_type"]} if kept else None
    if values["model_type"] != "qwen3_next":
        found.pop("layer_types", None)
    if values["model_type"] == "gemma3_text":
        found["sliding_window_pattern"] = found.pop("_sliding_window_pattern")
    if values["model_type"] == "qwen3_moe" and "num_local_experts" in found:
        found["num_experts"] = found.pop("num_local_experts")
    return found


@pytest.mark.parametrize("path", [*(SHAPES / name for name in NAMES)], ids=NAMES)
def test_older_spelling(path: Path):
    values = json.loads((path / "config.json").read_text(encoding="utf-8"))
    found = older(values)
    assert "rope_parameters" not in found
    assert parse_config(Fields(found, "config.json")) == read_config(path)
