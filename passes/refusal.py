"""A row of the table of refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lanelink.dialects.launch.target import TargetAttr
from lanelink.dialects.tgraph import LiftedOp

OpT = TypeVar("OpT", bound=LiftedOp)

Refusal = Callable[[LiftedOp, TargetAttr], str | None]
"""Answers why it refuses an op on a target, or none."""


def refuse(kind: type[OpT], holds: Callable[[OpT, TargetAttr], bool], reason: Callable[[OpT], str]) -> Refusal:
    """A row of the table: an op of `kind` where `holds` is refused for `reason`."""

    def why(op: LiftedOp, target: TargetAttr) -> str | None:
        return reason(op) if isinstance(op, kind) and holds(op, target) else None

    return why


__all__ = ["Refusal", "refuse"]
