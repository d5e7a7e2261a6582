"""The specs of launches of several parts: merged products, rotations of several sides, and folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from lanelink.dialects import launch
from lanelink.dialects.launch.base import CompoundLaunch, activation_shape, buffer_shape
from lanelink.lowering.launch_operands import (
    activation,
    address,
    head_norm,
    norm_of,
    optional_address,
    placed,
    rotation,
    rows,
    table_of,
    weights_of,
)
from lanelink.lowering.selection.calls import SelectionError
from lanelink.lowering.selection.specs import (
    GatherSpec,
    GemvPart,
    GemvSpec,
    RopeFold,
    RopeSide,
    RopeSpec,
    Rows,
    Turn,
)

Product = launch.GemvOp | launch.GemmPartOp
Side = launch.RopeOp | launch.RopeSideOp


def gemm_parts_spec(op: launch.GemmPartsOp) -> GemvSpec:
    """Several products of one activation."""
    return _products(op, [placed(part, part.out) for part in _parts(op)])


def rope_parts_spec(op: launch.RopePartsOp) -> RopeSpec:
    """Several sides turned by the same tables."""
    sides = [_side(side) for side in op.members() if isinstance(side, launch.RopeSideOp)]
    first = next(side for side in op.members() if isinstance(side, launch.RopeSideOp))
    return RopeSpec(rotation(op), buffer_shape(first.x, op.name)[0], tuple(sides))


def _side(side: launch.RopeSideOp) -> RopeSide:
    destination = placed(side, side.out)
    assert destination is not None
    return RopeSide(rows(side.x), destination, side.heads.value.data, head_norm(side.norm, side.norm_eps))


def fold_spec(op: launch.FoldOp) -> GemvSpec | GatherSpec:
    """
    A product or a gather whose rows are normed, or whose heads are turned, in its own launch.

    Raises SelectionError for another sequence of parts, and for parts that do not read one another so.
    """
    match op.members():
        case [launch.GemvOp() as product, launch.NormOp() as norm]:
            return _product_norm(op, product, norm)
        case [launch.GatherOp() as gather, launch.NormOp() as norm]:
            return _gather_norm(op, gather, norm)
        case [launch.GemvOp() | launch.GemmPartsOp() as products, launch.RopeOp() | launch.RopePartsOp() as turn]:
            return _products_turned(op, products, turn)
        case members:
            raise SelectionError(
                "launch.fold",
                "gemv or gather and norm, or gemv or gemm_parts and rope or rope_parts",
                ", ".join(m.name.removeprefix("launch.") for m in members),
            )


def _product_norm(fold: launch.FoldOp, product: launch.GemvOp, norm: launch.NormOp) -> GemvSpec:
    out = product.out
    if out is None or product.quant is not None or product.index is not None or product.row is not None:
        raise SelectionError("launch.fold product", "f32 rows in a buffer of their own", "another result")
    _check_normed(fold, out, norm)
    kept = rows(out) if _kept(fold, out) else None
    return replace(_products(product, [kept]), then=norm_of(norm))


def _gather_norm(fold: launch.FoldOp, gather: launch.GatherOp, norm: launch.NormOp) -> GatherSpec:
    _check_normed(fold, gather.out, norm)
    table, format, table_rows, cols = table_of(gather)
    return GatherSpec(
        table=table,
        format=format,
        table_rows=table_rows,
        cols=cols,
        index=address(gather.index),
        m=buffer_shape(gather.out, gather.name)[0],
        y=rows(gather.out) if _kept(fold, gather.out) else None,
        scale=1.0 if gather.scale is None else gather.scale.value.data,
        then=norm_of(norm),
    )


def _check_normed(fold: launch.FoldOp, out: SSAValue, norm: launch.NormOp) -> None:
    """Checks that a norm takes whole rows of what the part before it wrote."""
    if norm.x is not out or norm.add is out:
        raise SelectionError("launch.fold norm x", "the rows of the part before it", "another buffer")
    width = buffer_shape(out, fold.name)[1]
    if norm.cols.value.data != width:
        raise SelectionError("launch.fold norm cols", f"whole rows of {width} values", norm.cols.value.data)


def _products_turned(
    fold: launch.FoldOp, products: launch.GemvOp | launch.GemmPartsOp, turn: launch.RopeOp | launch.RopePartsOp
) -> GemvSpec:
    sides = {side.x: side for side in _sides(turn)}
    turns: list[Turn | None] = []
    results: list[Rows | None] = []
    for part in _parts(products):
        side = None if part.out is None else sides.pop(part.out, None)
        if side is None:
            turns.append(None)
            results.append(placed(part, part.out))
            continue
        assert part.out is not None
        if _kept(fold, part.out):
            raise SelectionError("launch.fold turned product", "a rotation as its only reader", "another reader")
        heads = side.heads.value.data * turn.head_dim.value.data
        if heads != weights_of(part.w)[2]:
            raise SelectionError("launch.fold turned product", f"{heads} outputs, its heads", weights_of(part.w)[2])
        turns.append(Turn(head_norm(side.norm, side.norm_eps)))
        results.append(placed(side, side.out))
    if sides:
        raise SelectionError("launch.fold rotation x", "a product of the fold", f"{len(sides)} other buffers")
    return replace(_products(products, results), then=RopeFold(rotation(turn), tuple(turns)))


def _products(op: launch.GemvOp | launch.GemmPartsOp, results: Sequence[Rows | None]) -> GemvSpec:
    """The products of an op, landing at `results`."""
    m, k = activation_shape(op.x, op.name)
    parts: list[GemvPart] = []
    formats = [weights_of(part.w)[1] for part in _parts(op)]
    for part, y in zip(_parts(op), results, strict=True):
        weights, _, n = weights_of(part.w)
        parts.append(GemvPart(weights, n, y, optional_address(part.bias)))
    return GemvSpec(activation(op.x), formats[0], k, m, tuple(parts))


def _parts(op: launch.GemvOp | launch.GemmPartsOp) -> list[Product]:
    if isinstance(op, launch.GemvOp):
        return [op]
    return [part for part in op.members() if isinstance(part, launch.GemmPartOp)]


def _sides(op: launch.RopeOp | launch.RopePartsOp) -> list[Side]:
    if isinstance(op, launch.RopeOp):
        return [op]
    return [side for side in op.members() if isinstance(side, launch.RopeSideOp)]


def _kept(fold: launch.FoldOp, value: SSAValue) -> bool:
    """Whether anything outside a fold reads a buffer that one of its parts writes."""
    return any(_outermost(use.operation) is not fold for use in value.uses)


def _outermost(op: Operation) -> Operation:
    """The launch of the step that an op is, or is a part of."""
    parent = op.parent_op()
    while isinstance(parent, CompoundLaunch):
        op, parent = parent, parent.parent_op()
    return op


__all__ = ["fold_spec", "gemm_parts_spec", "rope_parts_spec"]
