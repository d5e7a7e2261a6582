"""
The shim: what speaks for the target. For every class of fused ops it answers whether the lane links it whole, runs it
as its parts, or refuses it; `fits` says of one fused op whether the kernels of its class can run it.

An embedding compiler with a lane of its own subclasses `Shim` and gives it to `LegalizeShimPass` and `LinkPass`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from lanelink.dialects.launch.target import TargetAttr
from lanelink.dialects.tgraph import (
    AdvanceOp,
    ArgMaxOp,
    FusedOp,
    FusedRowOp,
    FusionClass,
    LiftedOp,
    RopeOp,
)
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.dialects.tgraph.step import step_io
from lanelink.passes.origin import origin
from lanelink.passes.refusals import refusal


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

MOST_PARTS = 4
"""Products, or sides of a rotation, that one launch takes."""


def _norm_of(op: FusedOp) -> FusedRowOp | None:
    return next((leaf for leaf in op.leaves() if isinstance(leaf, FusedRowOp)), None)


def _whole_row_norm(op: FusedOp) -> str | None:
    """A fold's norm runs over its product's or gather's whole row."""
    norm = _norm_of(op)
    assert norm is not None
    _, width = matrix(norm.x, "norm x")
    cols = norm.cols.value.data
    return None if cols == width else f"expected a norm of the whole row of {width} values, got groups of {cols}"


def _one_sum(op: FusedOp) -> str | None:
    """A norm's launch adds one tensor."""
    norm = _norm_of(op)
    assert norm is not None
    return None if norm.residual is None else "expected a norm without a residual of its own beside the add, got one"


def _one_rotation(op: FusedOp) -> str | None:
    """The sides of one launch share tables, position and head size."""
    ropes = [leaf for leaf in op.leaves() if isinstance(leaf, RopeOp)]
    shared = {
        (origin(r.cos), origin(r.sin), None if r.position is None else origin(r.position), r.head_dim, r.half)
        for r in ropes
    }
    return None if len(shared) <= 1 else f"expected rotations by one pair of tables, got {len(shared)}"


def _few_parts(op: FusedOp) -> str | None:
    parts = len(op.parts)
    return None if parts <= MOST_PARTS else f"expected at most {MOST_PARTS} parts, got {parts}"


def _merged(op: FusedOp) -> str | None:
    return _few_parts(op) or _one_rotation(op)


def _advances_step(op: FusedOp) -> str | None:
    """The arg-max picks the step's own next token, and nothing later in the step reads the old token or position."""
    func = op.parent_op()
    if not isinstance(func, FuncOp):
        return "expected a sampling in the step's own block"
    io = step_io(func)
    leaves = list(op.leaves())
    token = next(leaf for leaf in leaves if isinstance(leaf, ArgMaxOp))
    advance = next(leaf for leaf in leaves if isinstance(leaf, AdvanceOp))
    arguments = func.body.block.args
    if io.position is None or origin(advance.position) is not arguments[io.position] or advance.by.value.data != 1:
        return "expected the step's position advanced by one"
    carried = _carried_to(op, func, io.carries)
    if carried.get(token) != io.token or carried.get(advance) != io.position:
        return "expected the arg-max to pick the next step's token and the advance its position"
    old = {arguments[io.token], arguments[io.position]}
    later: Operation | None = op.next_op
    while later is not None:
        if old.intersection(later.operands):
            return f"expected no reader of the old token or position after it, got {later.name}"
        later = later.next_op
    return None


def _carried_to(op: FusedOp, func: FuncOp, carries: dict[int, int]) -> dict[Operation, int]:
    """Each part of `op` whose result the step carries → the argument it becomes."""
    last = func.body.block.last_op
    assert isinstance(last, ReturnOp)
    carried: dict[Operation, int] = {}
    for inner, result in zip(op.yielded, op.outputs, strict=True):
        for k, value in enumerate(last.operands):
            if value is result and k in carries and isinstance(inner.owner, Operation):
                carried[inner.owner] = carries[k]
    return carried


FITS: dict[FusionClass, Callable[[FusedOp], str | None]] = {
    FusionClass.ADD_NORM: _one_sum,
    FusionClass.GEMV_NORM_EPILOGUE: _whole_row_norm,
    FusionClass.EMBED_NORM: _whole_row_norm,
    FusionClass.ROPE_QK_ONE_LAUNCH: _merged,
    FusionClass.MERGED_QKV: _merged,
    FusionClass.FUSED_SAMPLING: _advances_step,
}
"""Class → why a fused op of it does not fit its kernels, or none. A class without a row fits always."""


class Shim:
    """This project's own lane: its kernels link every class of a dense decoder whole, where the op fits them."""

    def __init__(self, target: TargetAttr) -> None:
        self.target = target

    def supports(self, fusion_class: FusionClass) -> Support:
        """Whether the lane links a class whole, runs it as its parts, or refuses it."""
        del fusion_class
        return NATIVE

    def fits(self, op: FusedOp) -> str | None:
        """Why the kernels of its class cannot run one fused op, or none."""
        predicate = FITS.get(op.fusion_class.data)
        return None if predicate is None else predicate(op)

    def refuses(self, op: LiftedOp) -> str | None:
        """Why no kernel computes a lifted op, or none."""
        return refusal(op, self.target)

    def answer(self, op: FusedOp) -> Support:
        """The answer for one fused op: its class's, and its parts as such where it does not fit the class's kernels."""
        support = self.supports(op.fusion_class.data)
        if support.answer is Answer.NATIVE and (self.fits(op) is not None or not self._parts_native(op)):
            return DECOMPOSE
        return support

    def _parts_native(self, op: FusedOp) -> bool:
        parts = [part for part in op.parts if isinstance(part, FusedOp)]
        return all(self.answer(part).answer is not Answer.DECOMPOSE for part in parts)
