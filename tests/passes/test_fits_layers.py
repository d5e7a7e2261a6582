"""Why a fused op of a layer's class does not fit its kernels: the reasons of the lit file's cases, word by word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from levels import parsed

from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph import FusedOp
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.fits_layers import LAYER_FITS
from lanelink.passes.fuse.table import WALKS
from lanelink.passes.latent_chunk import expanding_pays, narrow_chunk
from lanelink.passes.shim import Shim

CASES = Path(__file__).parents[2] / "filecheck" / "passes" / "legalize-shim" / "decomposed_layers.mlir"
CHUNKS = {
    name: text
    for text in CASES.read_text("utf-8").split("// -----")
    for name in re.findall(r"^func\.func @(\w+)", text, re.MULTILINE)
}
PREDICATES = sorted(name for name in CHUNKS if not name.endswith("_fits"))


def outermost(name: str) -> tuple[FusedOp, Shim]:
    """The first fused op of a case's step, and the shim it is asked of."""
    module = parsed(CHUNKS[name])
    ops = step_function(module).body.block.ops
    return next(op for op in ops if isinstance(op, FusedOp)), Shim(module_target(module))


@pytest.mark.parametrize("name", PREDICATES)
def test_each_reason(name: str) -> None:
    (expected,) = re.findall(r"^// Why: (.*)$", CHUNKS[name], re.MULTILINE)
    op, shim = outermost(name)
    assert shim.fits(op) == expected
    neighbour, shim = outermost(f"{name}_fits")
    assert shim.fits(neighbour) is None
    assert neighbour.fusion_class == op.fusion_class


def test_every_predicate_has_a_pair() -> None:
    named = {f.__name__.removeprefix("_") for row in LAYER_FITS.values() for f in row.also}
    # What a shared expert reads is the second half of its predicate; a chunk's width is asked by the shim itself.
    assert named | {"same_rows", "wide_chunk"} == set(PREDICATES)
    assert set(LAYER_FITS) <= {pattern.fusion_class for walk in WALKS for pattern in walk}


def test_expanding_pays_from_the_row_that_makes_it_cheaper() -> None:
    """Products counted out: a head of R rows over P positions, absorbed and expanded, P without end."""
    latent, nope, rope, value = 512, 128, 64, 128
    for rows in (1, 32, 170, 171, 172, 1024):
        absorbed = rows * (latent + rope + latent)
        expanded = rows * (nope + rope + value) + latent * (nope + value)
        assert expanding_pays(rows, latent, nope, value) == (expanded < absorbed)
    assert expanding_pays(171, latent, nope, value) and not expanding_pays(170, latent, nope, value)
    # A head that is wider expanded than absorbed never is.
    assert not expanding_pays(1 << 20, 64, 128, 128)


def test_a_chunk_is_asked_of_latent_attention_alone() -> None:
    assert narrow_chunk(outermost("one_width_fits")[0]) is None
