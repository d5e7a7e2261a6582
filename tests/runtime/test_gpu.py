"""On a GPU, where there is one: the oracle's tokens, the same bits twice. `benchmarks/device_check.py` checks more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanelink.lowering.runtime.cuda import CudaBackend, gpu_missing
from lanelink.lowering.runtime.generation import generate

MODELS = Path(__file__).parent.parent / "models"
MISSING = gpu_missing()

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(MISSING is not None, reason=str(MISSING))]


@pytest.mark.parametrize("model", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("architecture", ["compute_80", None])
def test_tokens(prepared: Any, model: str, architecture: str | None) -> None:
    ready = prepared(model, architecture=architecture)
    oracle = np.load(MODELS / model / "oracle.npz")
    prompt, expected = oracle["prompt0"].tolist(), oracle["greedy0"].tolist()
    with CudaBackend(ready.plan, ready.loader) as cuda:
        first = (generate(cuda, prompt, len(expected)), cuda.logits())
        again = (generate(cuda, prompt, len(expected)), cuda.logits())
    assert first[0] == again[0] == expected
    np.testing.assert_array_equal(first[1], again[1])
