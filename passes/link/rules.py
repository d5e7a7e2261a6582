"""What a rule of the link is: from a lifted op to its launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.ir import Attribute, SSAValue

from lanelink.dialects import launch
from lanelink.dialects.tgraph import LiftedOp
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.linker import number

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker

OpT = TypeVar("OpT", bound=LiftedOp)


def draft_of(op: LiftedOp, launch_kind: type[launch.Launch], /, **fields: SSAValue | Attribute | None) -> Draft:
    """A lifted op's launch, of its number and location, with the fields given."""
    return Draft(launch_kind, fields, number(op), location=op.location)


Rule = Callable[["Linker", LiftedOp], Draft]


def rule(kind: type[OpT], link: Callable[[Linker, OpT], Draft]) -> tuple[type[LiftedOp], Rule]:
    """A row of a table of rules."""
    return kind, cast(Rule, link)


__all__ = ["Rule", "draft_of", "rule"]
