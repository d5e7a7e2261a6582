"""Absorbed latent attention (DeepSeek-V2, section 2.1), which a lane may run expanded over a wide chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, OpResult, SSAValue

from lanelink.dialects.tgraph import (
    AttentionOp,
    FusedOp,
    FusionClass,
    HeadMatmulOp,
    HeadSliceOp,
    JoinOp,
    LiftedOp,
    QuantizeOp,
    RowsType,
)
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.origin import outer


@dataclass(frozen=True)
class Latent:
    """The lifted ops of an absorbed latent attention."""

    unrotated: HeadSliceOp | None
    """The part of each of the query's heads that no position turns, where it is cut out of them."""
    query: SSAValue
    """What it is cut out of, or that part of every head itself."""
    absorb: HeadMatmulOp
    """That part by each head's key matrix: the query in the latent space."""
    join: JoinOp
    """The absorbed query with its rotated part, head by head."""
    values: HeadSliceOp
    """The latent values of each row of the table."""
    attention: AttentionOp
    expand: HeadMatmulOp
    """What was attended to by each head's value matrix."""
    quantizes: tuple[QuantizeOp, ...]
    """Of the unrotated part and of what was attended to, where the products read them quantized."""

    def leaves(self) -> Iterator[LiftedOp]:
        """All of them."""
        if self.unrotated is not None:
            yield self.unrotated
        yield from (self.absorb, self.join, self.values, self.attention, self.expand, *self.quantizes)

    @property
    def pitch(self) -> int:
        """Values from one head's unrotated part to the next."""
        return (self.absorb.inputs if self.unrotated is None else self.unrotated.every).value.data

    @property
    def offset(self) -> int:
        """Values of a head before its unrotated part."""
        return 0 if self.unrotated is None else self.unrotated.start.value.data


def latent(expand: Operation) -> Latent | None:
    """
    The absorbed latent attention that ends in a product a head, whatever is fused inside it already.

    Its table has one key head: the latent values, then the rotated ones that all heads share. The query is joined in
    the same order, the values are the first of every table row, and both matrices are checkpoint rows.
    """
    if not isinstance(expand, HeadMatmulOp):
        return None
    attended, after = _plain(expand.x)
    if not isinstance(attended, AttentionOp):
        return None
    join, values = _maker(attended.q), _maker(attended.values)
    if not isinstance(join, JoinOp) or not isinstance(values, HeadSliceOp):
        return None
    absorb = _maker(join.a)
    if not isinstance(absorb, HeadMatmulOp):
        return None
    made, before = _plain(absorb.x)
    unrotated = made if isinstance(made, HeadSliceOp) else None
    query = before[0].x if before else absorb.x
    if unrotated is not None:
        query = unrotated.x
    elif any(isinstance(quantize.parent_op(), FusedOp) for quantize in before):
        return None  # the product's own launch quantizes it, and may keep no other form
    found = Latent(unrotated, query, absorb, join, values, attended, expand, (*before, *after))
    return found if _is_absorbed(found) else None


def _is_absorbed(found: Latent) -> bool:
    """Whether the parts are those of one latent attention over one table."""
    a, values = found.attention, found.values
    forms = a.window is None and a.sinks is None and a.softcap is None and a.position is not None
    of_rows = all(isinstance(op.weight.type, RowsType) for op in (found.absorb, found.expand))
    heads = {op.heads for op in (found.absorb, found.join, a, found.expand)}
    in_keys = values.start.value.data == 0 and values.width == a.value_dim
    table = _made(values.x) is _made(a.keys) and a.kv_heads.value.data == 1
    cut = found.unrotated is None or found.unrotated.width == found.absorb.inputs
    absorbed = cut and found.absorb.outputs == a.value_dim
    return forms and of_rows and len(heads) == 1 and in_keys and table and absorbed


def _mla(op: Operation) -> Parts | None:
    """
    An absorbed latent attention, no value of which but the last is read by anything else. Where the rotation of the
    query writes the joined query in place, it is a part as well.
    """
    found = latent(op)
    if found is None:
        return None
    holders = [_holder(leaf, op) for leaf in found.leaves()]
    parts = list(dict.fromkeys(holder for holder in holders if holder is not None))
    inside = set[Operation](parts)
    dropped = [r for part in parts if part is not op for r in part.results]
    alone = None not in holders and all(r.get_user_of_unique_use() in inside for r in dropped)
    return parts if alone else None


def _holder(leaf: LiftedOp, beside: Operation) -> Part | None:
    """The op in the block of `beside` that a lifted op is, or is inside of."""
    op: Operation | None = leaf
    while op is not None and op.parent is not beside.parent:
        op = op.parent_op()
    return op if isinstance(op, Part) else None


def _made(value: SSAValue) -> SSAValue:
    """The lifted op's result, or argument of the step, that a value is, across the regions of fused ops."""
    while True:
        if (above := outer(value)) is not None:
            value = above
        elif isinstance(value, OpResult) and isinstance(value.op, FusedOp):
            value = value.op.yielded[value.index]
        else:
            return value


def _maker(value: SSAValue) -> object:
    """The lifted op that makes a value."""
    return _made(value).owner


def _plain(value: SSAValue) -> tuple[object, tuple[QuantizeOp, ...]]:
    """The lifted op that makes a value, and the quantize between them, where there is one."""
    maker = _maker(value)
    return (_maker(maker.x), (maker,)) if isinstance(maker, QuantizeOp) else (maker, ())


MLA = Chain(FusionClass.MLA, _mla)
