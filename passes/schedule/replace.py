"""One launch of a linked step in the place of another."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.rewriter import Rewriter

from lanelink.dialects.launch.base import Launch
from lanelink.dialects.launch.fold import FoldOp


def replace_launch(op: Launch, members: Sequence[Launch]) -> Launch:
    """
    Puts one launch in the place of another and gives it: the one member by itself, several as a fold. `members` stand
    in no block; a fold is located where its first member is, as the link's are.
    """
    made = members[0] if len(members) == 1 else FoldOp.of(members)
    Rewriter.replace_op(op, made, [])
    return made


__all__ = ["replace_launch"]
