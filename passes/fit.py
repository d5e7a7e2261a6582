"""What a class's launch takes, as a row of the table of fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lanelink.dialects.tgraph import FusedOp


@dataclass(frozen=True)
class Fit:
    """A row of the table: what a class's launch takes."""

    parts: str
    """The parts, in words."""
    made_of: Callable[[FusedOp], bool]
    """Whether they are those parts, each reading the others as the class's launch computes them."""
    keeps_all: bool = False
    """Whether the launch stores more than its last part's result."""
    also: tuple[Callable[[FusedOp], str | None], ...] = ()
    """What else its kernels need, each answering why an op does not have it, or none."""
