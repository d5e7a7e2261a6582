"""
Nothing of the language is without its tests: each lifted op, class and launch has a round trip, a verifier's case, a
meaning, a link rule or a refusal, and a lit file of its own.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from lanelink.dialects.launch import LaunchDialect
from lanelink.dialects.launch.base import CompoundLaunch, LeafLaunch
from lanelink.dialects.tgraph import FusionClass, LiftedOp, TGraph, ViewOp
from lanelink.lowering.interpreters.launches import MEANINGS as LAUNCH_MEANINGS
from lanelink.lowering.interpreters.lifted import MEANINGS as LIFTED_MEANINGS
from lanelink.passes.fits import FITS
from lanelink.passes.fuse.table import WALKS
from lanelink.passes.link.classes import CLASSES
from lanelink.passes.link.prims import PRIMS

ROOT = Path(__file__).parents[2]
FILECHECK = ROOT / "filecheck"

LIFTED = [op for op in TGraph.operations if issubclass(op, LiftedOp)]
LEAVES = [op for op in LaunchDialect.operations if issubclass(op, LeafLaunch)]
COMPOUND = [op for op in LaunchDialect.operations if issubclass(op, CompoundLaunch)]


@cache
def text(pattern: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(FILECHECK.glob(pattern)))


def names(word: str, pattern: str) -> bool:
    """Whether files name an op or a class, not as the beginning of another's name."""
    return re.search(rf"\b{re.escape(word)}(?![\w])", text(pattern)) is not None


@pytest.mark.parametrize("op", LIFTED, ids=lambda op: op.name)
def test_lifted_ops(op: type[LiftedOp]) -> None:
    assert names(op.name, "dialects/tgraph/ops_*.mlir")
    assert op in LIFTED_MEANINGS
    if op is ViewOp:
        # A view names a buffer.
        assert names(op.name, "passes/link/view.mlir")
    elif op in PRIMS:
        assert names(op.name, "passes/link/*.mlir")
    else:
        assert re.search(rf"// CHECK: op \d+ {op.name}: ", text("passes/legalize-shim/refused*.mlir"))


@pytest.mark.parametrize("fusion_class", FusionClass)
def test_classes(fusion_class: FusionClass) -> None:
    assert [p.fusion_class for walk in WALKS for p in walk].count(fusion_class) == 1
    assert fusion_class in CLASSES and fusion_class in FITS
    for folder in ("fuse", "link"):
        assert (FILECHECK / "passes" / folder / f"{fusion_class.value}.mlir").exists()


@pytest.mark.parametrize("op", [*LEAVES, *COMPOUND], ids=lambda op: op.name)
def test_launches(op: type[LeafLaunch] | type[CompoundLaunch]) -> None:
    assert names(op.name, "dialects/launch/ops_*.mlir")
    assert re.search(rf"does not verify: {op.name}\b", text("dialects/launch/invalid_*.mlir"))
    # The meaning of a compound launch is its members'.
    assert op in COMPOUND or op in LAUNCH_MEANINGS
    assert names(op.name, "passes/link/*.mlir")
