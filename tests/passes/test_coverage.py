"""
Nothing of the language is without its tests: each lifted op, class and launch has a round trip, a verifier's case, a
meaning, a link rule or a refusal, a lit file of its own and a row of the docs; and what is added without them is found.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from pathlib import Path

import pytest
from xdsl.irdl import irdl_op_definition

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

ALIKE = {"tgraph.sigmoid": "tgraph.silu", "tgraph.gelu": "tgraph.silu", "tgraph.relu": "tgraph.silu"}
"""Ops without a verifier of their own → one that has the same."""


@cache
def text(folder: str, pattern: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).glob(pattern)))


def names(word: str, folder: str, pattern: str) -> bool:
    """Whether files name an op or a class, not as the beginning of another's name."""
    return re.search(rf"\b{re.escape(word)}(?![\w])", text(folder, pattern)) is not None


def lacks(checks: dict[str, bool]) -> set[str]:
    return {what for what, found in checks.items() if not found}


def lacks_lifted(op: type[LiftedOp]) -> set[str]:
    """What a lifted op is without."""
    short, alike = op.name.removeprefix("tgraph."), ALIKE.get(op.name, op.name)
    refused = rf"^// CHECK: op \d+ {re.escape(op.name)}: "
    shown = names(op.name, "filecheck", "passes/link/*.mlir")
    return lacks(
        {
            "round trip": names(op.name, "filecheck", "dialects/tgraph/ops_*.mlir"),
            "verifier's case": re.search(
                rf"does not verify: (tgraph\.)?{alike.removeprefix('tgraph.')}\b",
                text("filecheck", "dialects/tgraph/invalid_*.mlir"),
            )
            is not None,
            "meaning": op in LIFTED_MEANINGS,
            "meaning's case": names(op.__name__, "tests", "interpreters/*.py")
            or names(f"tgraph.{short}", "tests", "interpreters/*.py"),
            # A view names a buffer.
            "link or refusal": shown
            if op in PRIMS or op is ViewOp
            else re.search(refused, text("filecheck", "passes/legalize-shim/refused*.mlir"), re.MULTILINE) is not None,
        }
    )


def lacks_class(fusion_class: Enum) -> set[str]:
    """What a class is without."""
    value = str(fusion_class.value)
    patterns: list[Enum] = [pattern.fusion_class for walk in WALKS for pattern in walk]
    return lacks(
        {
            "pattern": patterns.count(fusion_class) == 1,
            "link rule": fusion_class in CLASSES,
            "fit": fusion_class in FITS,
            "row of the docs": f"\n| `{value}` | " in text("docs", "classes.md"),
            "fuse case": f"tgraph.fused {value}(" in text("filecheck", f"passes/fuse/{value}.mlir"),
            "link case": "launch." in text("filecheck", f"passes/link/{value}.mlir"),
        }
    )


def lacks_launch(op: type[LeafLaunch] | type[CompoundLaunch]) -> set[str]:
    """What a launch is without."""
    return lacks(
        {
            "round trip": names(op.name, "filecheck", "dialects/launch/ops_*.mlir"),
            "verifier's case": re.search(
                rf"does not verify: {re.escape(op.name)}\b", text("filecheck", "dialects/launch/invalid_*.mlir")
            )
            is not None,
            # The meaning of a compound launch is its members'. Each is run where the link's lit files are.
            "meaning": issubclass(op, CompoundLaunch) or op in LAUNCH_MEANINGS,
            # What the link makes, or the schedule makes of it.
            "link case": any(names(op.name, "filecheck", f"passes/{by}/*.mlir") for by in ("link", "schedule")),
        }
    )


@pytest.mark.parametrize("op", LIFTED, ids=lambda op: op.name)
def test_lifted_ops(op: type[LiftedOp]) -> None:
    assert lacks_lifted(op) == set()


@pytest.mark.parametrize("fusion_class", FusionClass)
def test_classes(fusion_class: FusionClass) -> None:
    assert lacks_class(fusion_class) == set()


@pytest.mark.parametrize("op", [*LEAVES, *COMPOUND], ids=lambda op: op.name)
def test_launches(op: type[LeafLaunch] | type[CompoundLaunch]) -> None:
    assert lacks_launch(op) == set()


# What is added without any of it


@irdl_op_definition
class UntestedOp(LiftedOp):
    """A lifted op that nothing but this file knows."""

    name = "tgraph.untested"


@irdl_op_definition
class UntestedLaunchOp(LeafLaunch):
    """A launch that nothing but this file knows."""

    name = "launch.untested"


class UntestedClass(Enum):
    """A class that nothing but this file knows."""

    UNTESTED = "untested"


def test_what_is_added_alone_is_found() -> None:
    assert lacks_lifted(UntestedOp) == {"round trip", "verifier's case", "meaning", "meaning's case", "link or refusal"}
    assert lacks_launch(UntestedLaunchOp) == {"round trip", "verifier's case", "meaning", "link case"}
    expected = {"pattern", "link rule", "fit", "row of the docs", "fuse case", "link case"}
    assert lacks_class(UntestedClass.UNTESTED) == expected


def test_an_op_whose_cases_are_anothers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that begins another's, or a meaning that is taken away, is missed by itself."""
    op = next(op for op in LIFTED if op.name == "tgraph.matmul")
    monkeypatch.delitem(LIFTED_MEANINGS, op)
    assert lacks_lifted(op) == {"meaning"}
    monkeypatch.setattr(UntestedOp, "name", "tgraph.mat")
    assert "round trip" in lacks_lifted(UntestedOp)
