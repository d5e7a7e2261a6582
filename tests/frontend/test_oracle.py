"""Imported steps, run in numpy, against what each architecture's own PyTorch code computed (tests/models/README.md)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from checkpoints import interpreter, prompt_step

from lanelink.dialects.formats import Format
from lanelink.lowering.interpreters.reference import zero_inputs

MODELS = Path(__file__).parents[1] / "models"
FAMILIES = tuple(sorted(path.parent.name for path in MODELS.glob("*/oracle.npz")))

Array = npt.NDArray[Any]


@cache
def oracle(family: str) -> dict[str, Array]:
    with np.load(MODELS / family / "oracle.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("p", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_every_greedy_token(family: str, p: int):
    """The prompt as one step of its rows, then 95 steps of one row, each carrying on from the one before."""
    expected = oracle(family)[f"greedy{p}"]
    chosen, *after, logits = prompt_step(MODELS / family, oracle(family)[f"prompt{p}"])
    step, inputs = interpreter(MODELS / family), [chosen[-1:], *after]
    ids, steps = [int(chosen[-1])], [logits[-1]]
    while len(ids) < len(expected):
        *inputs, logits = step.run(inputs)
        ids.append(int(inputs[0][0]))
        steps.append(logits[0])
    assert ids == expected.tolist()
    np.testing.assert_allclose(steps[:32], oracle(family)[f"step{p}_logits"], atol=2e-2, rtol=0)


@pytest.mark.parametrize("p", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_logits_at_every_prompt_position(family: str, p: int):
    """The oracle's program had its rotation frequencies rounded to bf16; ours are, too, only when it is asked for.

    Unrounded, as transformers loads these models, logits part from position 1 on, in step with the position. Rounded,
    what is left is the order of f32 sums: 2e-5 at most.
    """
    prompt, expected = oracle(family)[f"prompt{p}"], oracle(family)[f"prompt{p}_logits"]
    np.testing.assert_allclose(
        prompt_step(MODELS / family, prompt, rope_format=Format.BF16)[-1], expected, atol=1e-4, rtol=0
    )
    unrounded = np.abs(prompt_step(MODELS / family, prompt)[-1] - expected).max(axis=1)
    assert unrounded[0] < 1e-4
    assert 2e-4 < unrounded.max() < 2e-2


def test_the_eleven_are_there():
    assert len(FAMILIES) == 11


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_of_a_prompt_are_steps_of_one(family: str):
    prompt = oracle(family)["prompt0"]
    together = prompt_step(MODELS / family, prompt)[-1]
    step = interpreter(MODELS / family)
    _, *inputs = zero_inputs(step.func)
    for row, token in enumerate(prompt):
        _, *inputs, logits = step.run([np.array([token], np.int32), *inputs])
        np.testing.assert_allclose(logits[0], together[row], atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_q8_0(family: str):
    """Matrices quantized at load: the direction of the logits stays."""
    prompt, expected = oracle(family)["prompt1"], oracle(family)["prompt1_logits"]
    found = prompt_step(MODELS / family, prompt, quantize=Format.Q8_0)[-1]
    # Of all positions at once: where a row of logits is short, as after one byte of gemma3_text's prompt an eighth of
    # the others, an error no larger than theirs turns it further (cosine 0.9985).
    cosine = (found * expected).sum() / np.linalg.norm(found) / np.linalg.norm(expected)
    assert cosine > 0.999
    assert np.abs(found - expected).max() > 1e-2, "it is another set of weights"
