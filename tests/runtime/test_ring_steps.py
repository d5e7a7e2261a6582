"""Layers wide enough for rings through all levels: the shipped kernels leave what the lifted ops leave."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from configs import values_of
from emulated import Emulated
from levels import RELATIVE
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import TARGET, Numerics, TargetAttr
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.runtime.plan import read_plan
from lanelink.pipeline import Level, lower

VOCABULARY = 80
HEADS = {"num_attention_heads": 16, "num_key_value_heads": 1, "head_dim": 64}


def imported(
    folder: Path,
    format: Format,
    numerics: Numerics,
    hidden: int,
    inner: int,
    heads: dict[str, int] = HEADS,
    context: int = 8,
) -> ModuleOp:
    """A step of one layer of these widths."""
    sizes = {"hidden_size": hidden, "intermediate_size": inner, "vocab_size": VOCABULARY, "num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps(values_of("qwen3", **sizes, **heads)), encoding="utf-8")
    return import_checkpoint(folder, context=context, quantize=format, numerics=numerics, no_weights=True)


def wide(folder: Path, format: Format, numerics: Numerics, hidden: int, inner: int) -> Emulated:
    """That step on a chip of few multiprocessors, so that warps take several rows."""
    module = imported(folder, format, numerics, hidden, inner)
    module.attributes[TARGET] = TargetAttr("small", 90, 8, 227, numerics)
    return Emulated(module, linked=lower(module, Level.SCHEDULED), races=False)


@pytest.mark.parametrize(
    ("format", "numerics", "hidden", "inner", "entries"),
    [
        # The rings of all warps would hold the vocabulary's product, which norms its row; the pair's and q-k-v's not.
        (Format.BF16, Numerics.DEQUANT, 1024, 2560, ["gemv r1b", "gemv r1b", "glu r1b", "gemv r1b", "gemv r1l"]),
        (Format.F16, Numerics.DEQUANT, 1536, 512, ["gemv r1b", "gemv r1b", "glu r1b", "gemv r1w4", "gemv r1l"]),
        (Format.Q8_0, Numerics.INT8, 2048, 512, ["gemv r1b", "gemv r1w4", "glu r1b", "gemv r1w4", "gemv r1b"]),
    ],
    ids=["bf16", "f16", "q8_0"],
)
def test_wide_layers_step_after_step(
    tmp_path: Path, format: Format, numerics: Numerics, hidden: int, inner: int, entries: list[str]
) -> None:
    ready = wide(tmp_path, format, numerics, hidden, inner)
    products = [launch.entry.split("_") for launch in ready.backend.plan.launches]
    assert [f"{words[0]} {words[-1]}" for words in products if words[0] in ("gemv", "glu")] == entries
    rng = np.random.default_rng(hidden)
    for step in range(1, 3):
        # Each side starts from what it left itself, so that a step's rounding is added to the ones before.
        ready.check_step(rng.integers(0, VOCABULARY, 1).tolist(), step * RELATIVE[numerics])


@pytest.mark.parametrize(("inner", "carveouts"), [(6144, {100}), (1024, {None})], ids=["all", "not all"])
def test_launches_of_a_step_share_memory_alike_or_as_each_likes(
    tmp_path: Path, inner: int, carveouts: set[int | None]
) -> None:
    """The down product of 1024 values has no rings: its weights come by way of the cache that a carveout takes."""
    heads = {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128}
    launches = read_plan(lower(imported(tmp_path, Format.Q8_0, Numerics.INT8, 2048, inner, heads, 512))).launches
    assert {launch.carveout for launch in launches if launch.shared} == carveouts
    assert all(launch.carveout is None for launch in launches if not launch.shared)
