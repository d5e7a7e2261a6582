"""Several launches as one, each over what the ones before it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanelink.dialects import launch
from lanelink.dialects.tgraph import FusedOp
from lanelink.passes.link.draft import Draft

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker


def folded(linker: Linker, op: FusedOp) -> list[Draft]:
    """
    A product, gather or mixture, with a sum after it or not, and the norm of its rows; the norm reads what they wrote,
    whichever side of its own sum that is.
    """
    first, *later = op.parts
    *before, opened = linker.several(first)
    members = [opened, *(linker.one(part) for part in later)]
    norm = members[-1]
    # What is normed before its sum is the norm's x already.
    if norm.value("add") is members[-2].value("out") and norm.value("pre") is None:
        members[-1] = norm.with_(x=norm.fields.get("add"), add=norm.fields.get("x"))
    return [*before, fold(members)]


def fold(members: Sequence[Draft]) -> Draft:
    """Launches as one."""
    return Draft(launch.FoldOp, {}, members=tuple(members), location=members[0].location)


__all__ = ["fold", "folded"]
