"""Greedy tokens of every architecture that the lane runs, by the shipped kernels in the emulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanelink.lowering.runtime.emulator import EmulatorBackend

MODELS = Path(__file__).parent.parent / "models"
TOKENS = 8

CASES = [
    ("gemma3_text", "compute_90"),
]
"""Beside the dense families' (test_emulator_tokens.py); each build of the kernels some of the time."""


@pytest.mark.parametrize(("model", "architecture"), CASES)
def test_tokens_and_logits(prepared: Any, model: str, architecture: str) -> None:
    """The shortest of the oracle's prompts, then tokens of the device's own choice."""
    ready = prepared(model, architecture=architecture)
    with np.load(MODELS / model / "oracle.npz") as oracle:
        p = min(range(3), key=lambda p: len(oracle[f"prompt{p}"]))
        prompt, rows, expected = (oracle[name] for name in (f"prompt{p}", f"prompt{p}_logits", f"greedy{p}"))
    backend = EmulatorBackend(ready.plan, ready.loader)
    backend.reset()
    for row, id in zip(rows, prompt.tolist(), strict=True):
        backend.step(id)
        # What is left is the order of f32 sums; logits of up to 40 in steps of 4e-6.
        np.testing.assert_allclose(backend.logits()[0], row, atol=2e-4, rtol=0)
    ids = [int(backend.chosen()[0]), *backend.decode(TOKENS - 1)]
    assert ids == expected[:TOKENS].tolist()
