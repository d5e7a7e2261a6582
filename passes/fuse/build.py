"""Building fused ops: where one may stand in its block, what it takes in, what it keeps."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from lanelink.dialects.tgraph import ConstantOp, FusedOp, FusionClass, LiftedOp, YieldOp
from lanelink.dialects.tgraph.fused import make_block

Part = LiftedOp | FusedOp
"""What a fused op is made of."""

_BEFORE_ALL = -1


class Places:
    """
    The order of a block's ops, taken once. A fused op takes the place of one of its parts, so the order holds while
    ops are fused and nothing is ever counted again.
    """

    def __init__(self, block: Block) -> None:
        self._at: dict[Operation, int] = {op: k for k, op in enumerate(block.ops)}
        self._after_all = len(self._at)

    def of(self, op: Operation) -> int:
        """The place of an op; after every other where it is in a later block."""
        return self._at.get(op, self._after_all)

    def defined(self, value: SSAValue) -> int:
        """The place where a value is defined; before every op for arguments and what earlier blocks define."""
        return self._at.get(value.owner, _BEFORE_ALL) if isinstance(value.owner, Operation) else _BEFORE_ALL

    def hand_over(self, parts: Sequence[Part], place: int, fused: FusedOp) -> None:
        """Gives `place`, one of the parts', to the fused op."""
        for part in parts:
            del self._at[part]
        self._at[fused] = place

    def standing(self, parts: Sequence[Part]) -> int | None:
        """
        The last of the parts' places where an op made of them could stand: after the definition of all it takes in and
        before the first reader of anything it hands on. None where there is no such place.
        """
        inside = set[Operation](parts)
        after = max((self.defined(v) for v in taken_in(parts)), default=_BEFORE_ALL)
        before = min(
            (self.of(use.operation) for r in _results(parts) for use in r.uses if use.operation not in inside),
            default=self._after_all,
        )
        return max((p for p in map(self.of, parts) if after < p < before), default=None)


def constants_first(block: Block) -> None:
    """
    Moves a block's constants in front of its other ops, in their order. They compute nothing, and so need not keep
    their readers from going together.
    """
    first = block.first_op
    while isinstance(first, ConstantOp):
        first = first.next_op
    if first is None:
        return
    late = [op for op in block.ops if isinstance(op, ConstantOp) and op is not first]
    for constant in late:
        constant.detach()
        block.insert_op_before(constant, first)


def taken_in(parts: Sequence[Part]) -> list[SSAValue]:
    """What the parts read of values they do not define: each once, in the order of reading."""
    inside = set[Operation](parts)
    return list(dict.fromkeys(v for part in parts for v in part.operands if v.owner not in inside))


def handed_on(parts: Sequence[Part]) -> list[OpResult]:
    """The parts' results that something else reads, in the parts' order."""
    inside = set[Operation](parts)
    return [r for r in _results(parts) if any(use.operation not in inside for use in r.uses)]


def build_fused(fusion_class: FusionClass, members: Sequence[Part], places: Places) -> FusedOp | None:
    """
    Moves ops of one block into a fused op of the class, which takes over their readers; None, with nothing changed,
    where no place in the block would keep every definition before its readers, or nothing reads any of them.

    The parts keep their order, numbers, attributes and locations; the fused op takes the last known location.
    """
    parts = sorted(members, key=places.of)
    place = places.standing(parts)
    kept = handed_on(parts)
    if place is None or not kept:
        return None
    inputs = taken_in(parts)
    anchor = next(part for part in parts if places.of(part) == place)
    body = make_block(inputs)
    fused = FusedOp(fusion_class, inputs, [r.type for r in kept], Region(body))
    known = [part.location for part in parts if not isinstance(part.location, UnknownLoc)]
    if known:
        fused.location = known[-1]
    Rewriter.insert_op(fused, InsertPoint.before(anchor))
    places.hand_over(parts, place, fused)
    _move(parts, body, inputs)
    inside = set[Operation](parts)
    for old, new in zip(kept, fused.outputs, strict=True):
        old.replace_uses_with_if(new, lambda use: use.operation not in inside)
    body.add_op(YieldOp(*kept))
    return fused


def _move(parts: Sequence[Part], body: Block, inputs: Sequence[SSAValue]) -> None:
    """Moves the parts into the body, where its arguments stand for `inputs`."""
    inner: dict[SSAValue, SSAValue] = {}
    for outer, argument in zip(inputs, body.args, strict=True):
        argument.name_hint = outer.name_hint
        inner[outer] = argument
    for part in parts:
        part.detach()
        part.operands = [inner.get(v, v) for v in part.operands]
        body.add_op(part)


def _results(parts: Sequence[Part]) -> list[OpResult]:
    return [r for part in parts for r in part.results]
