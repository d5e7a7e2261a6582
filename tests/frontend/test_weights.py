"""Where weights are found: under the model's own names, or where a layout keeps them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import CheckpointAttr, StoredUnit, StoredViewAttr
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.weights import AbsentWeights, Found, Place, QuantizedWeights, StoredWeights


@pytest.fixture
def weights(tmp_path: Path) -> StoredWeights:
    arrays = {
        "w": np.ones((4, 32), np.float16),
        "bias": np.ones(4, np.float32),
        "e.0": np.ones((4, 32), np.float16),
        "e.1": np.ones((4, 32), np.float16),
        "e.2": np.ones((4, 32), np.float32),
    }
    safetensors.numpy.save_file(arrays, tmp_path / "model.safetensors")
    return StoredWeights(open_directory(tmp_path))


SERIES = Place(CheckpointAttr("e.*", count=2), (4, 32))
PART = Place(CheckpointAttr("w", view=StoredViewAttr(StoredUnit.ROWS, [2], [2])), (4, 32))


def test_a_tensor_of_its_own(weights: StoredWeights):
    assert weights.matrix("w", (4, 32)) == Found(CheckpointAttr("w"), Format.F16)
    assert weights.values("bias", (1, 4)) == weights.values("bias", (4,)) == Found(CheckpointAttr("bias"), Format.F32)


def test_where_a_layout_keeps_it(weights: StoredWeights):
    assert weights.matrix("experts", (8, 32), SERIES) == Found(SERIES.source, Format.F16)
    assert weights.matrix("part", (2, 32), PART) == Found(PART.source, Format.F16)
    quantized = QuantizedWeights(weights, Format.Q8_0)
    assert quantized.matrix("experts", (8, 32), SERIES) == Found(SERIES.source, Format.Q8_0)
    assert quantized.values("bias", (1, 4)).format is Format.F32
    assert AbsentWeights(Format.BF16).matrix("part", (2, 32), PART) == Found(PART.source, Format.BF16)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (Place(SERIES.source, (4, 16)), r"tensor 'e.0': expected shape \[4, 16\], got \[4, 32\]"),
        (Place(CheckpointAttr("e.*", count=3), (4, 32)), r"tensor 'e.2': expected f16 as those before it, got f32"),
        (Place(CheckpointAttr("e.*", count=4), (4, 32)), r"expected a tensor 'e.3', got none of that name"),
    ],
)
def test_what_is_not_there(weights: StoredWeights, place: Place, message: str):
    with pytest.raises(CheckpointError, match=message):
        weights.matrix("w", (4, 32), place)
