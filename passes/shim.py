"""
The shim: what speaks for the target. For every class of fused ops it answers whether the lane links it whole, runs it
as its parts, or refuses it; `fits` says of one fused op whether the kernels of its class can run it.

An embedding compiler with a lane of its own subclasses `Shim` and gives it to `LegalizeShimPass` and `LinkPass`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from lanelink.dialects.launch.target import TargetAttr
from lanelink.dialects.tgraph import FusedOp, FusionClass, LiftedOp
from lanelink.passes.fits import misfit
from lanelink.passes.latent_chunk import narrow_chunk
from lanelink.passes.refusals import refusal
from lanelink.passes.tensor_cores import wide_product


class Answer(Enum):
    """What a lane does with a class."""

    NATIVE = "native"
    DECOMPOSE = "decompose"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Support:
    """A shim's answer for a class; `reason` where it refuses."""

    answer: Answer
    reason: str = ""


NATIVE = Support(Answer.NATIVE)
DECOMPOSE = Support(Answer.DECOMPOSE)


class Shim:
    """This project's own lane: its kernels link every class whole, where the op fits them."""

    def __init__(self, target: TargetAttr) -> None:
        self.target = target

    def supports(self, fusion_class: FusionClass) -> Support:
        """Whether the lane links a class whole, runs it as its parts, or refuses it."""
        del fusion_class
        return NATIVE

    def fits(self, op: FusedOp) -> str | None:
        """Why the kernels of its class cannot run one fused op, or none."""
        return misfit(op) or narrow_chunk(op) or wide_product(op)

    def refuses(self, op: LiftedOp) -> str | None:
        """Why no kernel computes a lifted op, or none."""
        return refusal(op, self.target)

    def answer(self, op: FusedOp) -> Support:
        """
        The answer for one fused op: its class's, but its parts in turn where it does not fit the class's kernels, or
        holds a fused op that is not native itself.
        """
        support = self.supports(op.fusion_class.data)
        if support.answer is Answer.NATIVE and (self.fits(op) is not None or not self._parts_native(op)):
            return DECOMPOSE
        return support

    def _parts_native(self, op: FusedOp) -> bool:
        parts = [part for part in op.parts if isinstance(part, FusedOp)]
        return all(self.answer(part).answer is Answer.NATIVE for part in parts)


MakeShim = Callable[[TargetAttr], Shim]
"""What makes the shim of a target: a shim's class, or any function."""
