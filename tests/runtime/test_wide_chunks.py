"""Chunks of more rows than a product streams: their products run on tensor cores, in whole imported steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.loader import SourceLoader
from lanelink.lowering.runtime.plan import read_plan
from lanelink.lowering.runtime.reference import ReferenceBackend
from lanelink.lowering.weights import resolve
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parent.parent / "models"

CASES = [
    ("qwen3", Format.Q8_0, Numerics.INT8, 17, ["gemm_q8_0_r32"] * 4),
    ("qwen2", Format.Q4_0, Numerics.TWO_PASS_INT8, 33, ["gemm_q4_0_r64"] * 4),
]
"""Model, format, numerics, rows, and the entries of a layer's products: q, k and v; output; gated pair; down."""


@pytest.mark.parametrize(("model", "format", "numerics", "rows", "layer"), CASES)
def test_a_chunk_on_tensor_cores(model: str, format: Format, numerics: Numerics, rows: int, layer: list[str]) -> None:
    """Two chunks, the second over the keys of the first, against the same arithmetic in numpy."""
    step = import_checkpoint(MODELS / model, context=2 * rows, rows=rows, quantize=format, numerics=numerics)
    tensors = lower(step, Level.TENSORS)
    checkpoint = open_directory(MODELS / model)
    reference = ReferenceBackend(tensors, resolve(tensors, checkpoint))
    plan = read_plan(lower(step))
    entries = [launch.entry for launch in plan.launches if launch.entry.startswith(("gemm", "gemv", "glu"))]
    assert entries[: len(layer)] == layer
    assert all(entry.startswith("gemm") for entry in entries)
    backend = EmulatorBackend(plan, SourceLoader(checkpoint), races=True)
    ids = np.random.default_rng(rows).integers(0, 256, 2 * rows)
    for chunk in (ids[:rows], ids[rows:]):
        backend.step(chunk.tolist())
        reference.step(chunk.tolist())
        error = np.sqrt(np.mean((backend.logits() - reference.logits()) ** 2)) / reference.logits().std()
        # A sum's rounding may move a quant by one: 1/127 of its block's largest value, 1/254 of that in two planes.
        assert error < (1e-2 if numerics is Numerics.INT8 else 1e-4)
