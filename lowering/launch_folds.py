"""The specs of launches of several parts: merged products, rotations of several sides, and folds."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from lanelink.dialects import launch
from lanelink.dialects.launch.base import Launch, activation_shape, buffer_shape
from lanelink.dialects.tgraph.elementwise import BinaryKind
from lanelink.lowering.launch_attention import turned_attention_spec
from lanelink.lowering.launch_mixture import folded_moe_spec, moe_spec
from lanelink.lowering.launch_operands import (
    activation,
    address,
    head_norm,
    kept_by,
    landing,
    norm_of,
    optional_address,
    placed,
    read_rows,
    rotation,
    rows,
    table_of,
    unit_placed,
    unit_read,
    weights_of,
)
from lanelink.lowering.launch_products import gemm_parts_spec, gemv_spec, glu_spec, parts_of, products_spec
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import SelectionError
from lanelink.lowering.selection.moe_specs import MoeSpec
from lanelink.lowering.selection.operands import Quantized, Rows, Unnormed
from lanelink.lowering.selection.specs import GatherSpec, GemvSpec, GluSpec, RopeFold, RopeSide, RopeSpec, Turn

Side = launch.RopeOp | launch.RopeSideOp


def rope_parts_spec(op: launch.RopePartsOp) -> RopeSpec:
    """Several sides turned by the same tables."""
    sides = _sides(op)
    return RopeSpec(rotation(op), buffer_shape(sides[0].x, op.name)[0], tuple(rope_side(side) for side in sides))


def rope_side(side: Side) -> RopeSide:
    """The heads of one side: where they are read, their norm, where they land."""
    norm = head_norm(side.norm, side.norm_eps)
    x, y = read_rows(side, side.x), landing(side, side.out)
    return RopeSide(x, y, side.heads.value.data, norm, unit_read(side), unit_placed(side))


def fold_spec(op: launch.FoldOp) -> GemvSpec | GluSpec | GatherSpec | MoeSpec | AttentionSpec:
    """
    A product, a gather or a mixture whose rows are normed, or whose heads are turned, or that is added to rows, in its
    own launch; products, or a mixture, of a row that is normed first; an attention whose heads are turned first.

    Raises SelectionError for another sequence of parts, and for parts that do not read one another so.
    """
    match op.members():
        case [launch.NormOp() as norm, *rest]:
            return _normed_first(op, norm, _sequence(op, rest))
        case [launch.RopePartsOp() as turn, launch.AttentionOp() as attention]:
            return turned_attention_spec(op, turn, attention)
        case members:
            return _sequence(op, members)


def _sequence(fold: launch.FoldOp, members: list[Launch]) -> GemvSpec | GluSpec | GatherSpec | MoeSpec:
    """The parts of a fold, or those behind its leading norm."""
    match members:
        case [launch.GemvOp() as product]:
            return gemv_spec(product)
        case [launch.GemmPartsOp() as products]:
            return gemm_parts_spec(products)
        case [launch.GemvGluOp() as pair]:
            return glu_spec(pair)
        case [launch.GemvOp() as product, launch.NormOp() as norm]:
            return _product_norm(fold, product, norm)
        case [launch.GemvOp() as product, launch.BinaryOp() as add]:
            return _product_added(fold, product, add)
        case [launch.GatherOp() as gather, launch.NormOp() as norm]:
            return _gather_norm(fold, gather, norm)
        case [launch.GemvOp() | launch.GemmPartsOp() as products, launch.RopeOp() | launch.RopePartsOp() as turn]:
            return _products_turned(fold, products, turn)
        case [launch.MoeOp() as mixture]:
            return moe_spec(mixture)
        case [launch.MoeOp() as mixture, launch.NormOp() as norm]:
            return folded_moe_spec(fold, mixture, None, norm)
        case [launch.MoeOp() as mixture, launch.BinaryOp() as add]:
            return folded_moe_spec(fold, mixture, add, None)
        case [launch.MoeOp() as mixture, launch.BinaryOp() as add, launch.NormOp() as norm]:
            return folded_moe_spec(fold, mixture, add, norm)
        case members:
            raise SelectionError(
                "launch.fold",
                "gemv, gather or moe and norm; moe, binary and norm; gemv or moe and binary; gemv or gemm_parts and "
                "rope or rope_parts; a norm before a gemv, gemm_parts, gemv_glu or moe; or rope_parts and attention",
                ", ".join(m.name.removeprefix("launch.") for m in members),
            )


def _normed_first(
    fold: launch.FoldOp, norm: launch.NormOp, rest: GemvSpec | GluSpec | GatherSpec | MoeSpec
) -> GemvSpec | GluSpec | MoeSpec:
    """Products, or a mixture, of what a norm gives, which no buffer holds."""
    result = norm.out if norm.quant is None else norm.quant
    if isinstance(rest, GatherSpec) or result is None or rest.x != activation(result):
        raise SelectionError("launch.fold norm", "products of its rows behind it", "others")
    width = activation_shape(norm.x, norm.name)[1]
    fields = [n for n in ("pre", "add", "sum", "at", "row", "x_pitch", "unit_pitch") if getattr(norm, n) is not None]
    plain = None if norm.out is None else rows(norm.out)
    if isinstance(rest, MoeSpec):
        if rest.router_x not in (None, plain):
            raise SelectionError("launch.fold norm", "its f32 rows read by the mixture's router", "others")
    elif plain is not None and norm.quant is not None:
        fields.append("out beside quant")
    kept = any(kept_by(fold, value) for value in (norm.out, norm.quant) if value is not None)
    if fields or norm.cols.value.data != width or kept:
        got = fields[0] if fields else f"groups of {norm.cols.value.data}, or a result that others read"
        raise SelectionError("launch.fold norm", f"a plain norm of whole rows of {width} for its fold alone", got)
    planes = rest.x.planes if isinstance(rest.x, Quantized) else 0
    unnormed = Unnormed(rows(norm.x), optional_address(norm.w), norm.eps.value.data, planes)
    if isinstance(rest, MoeSpec):
        return replace(rest, x=unnormed, router_x=None)
    return replace(rest, x=unnormed)


def _product_added(fold: launch.FoldOp, product: launch.GemvOp, add: launch.BinaryOp) -> GemvSpec:
    """A product added to rows."""
    out = _own_rows(product)
    plain = add.gate is None and add.kind.data is BinaryKind.ADD and add.quant is None and add.out is not None
    sides = [side for side in (add.a, add.b) if side is not out]
    if not plain or len(sides) != 1 or add.a.type != add.b.type or kept_by(fold, out):
        raise SelectionError("launch.fold binary", "the product, which nothing else reads, and rows added", "others")
    assert add.out is not None
    return replace(products_spec(product, [rows(add.out)]), residual=rows(sides[0]))


def _own_rows(product: launch.GemvOp) -> SSAValue:
    """The buffer of its own that a product's f32 rows fill."""
    placements = (product.quant, product.index, product.row, product.unit_pitch)
    if product.out is None or any(field is not None for field in placements):
        raise SelectionError("launch.fold product", "f32 rows in a buffer of their own", "another result")
    return product.out


def _product_norm(fold: launch.FoldOp, product: launch.GemvOp, norm: launch.NormOp) -> GemvSpec:
    out = _own_rows(product)
    _check_normed(fold, out, norm)
    kept = rows(out) if kept_by(fold, out) else None
    return replace(products_spec(product, [kept]), then=norm_of(norm))


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
        y=rows(gather.out) if kept_by(fold, gather.out) else None,
        scale=1.0 if gather.scale is None else gather.scale.value.data,
        then=norm_of(norm),
    )


def _check_normed(fold: launch.FoldOp, out: SSAValue, norm: launch.NormOp) -> None:
    """Checks that a norm takes whole rows of what the part before it wrote."""
    if norm.x is not out or norm.add is out:
        raise SelectionError("launch.fold norm x", "the rows of the part before it", "another buffer")
    if norm.x_pitch is not None:
        raise SelectionError("launch.fold norm x", "the rows of the part before it", "units of them")
    width = buffer_shape(out, fold.name)[1]
    if norm.cols.value.data != width:
        raise SelectionError("launch.fold norm cols", f"whole rows of {width} values", norm.cols.value.data)


def _products_turned(
    fold: launch.FoldOp, products: launch.GemvOp | launch.GemmPartsOp, turn: launch.RopeOp | launch.RopePartsOp
) -> GemvSpec:
    sides = {side.x: side for side in _sides(turn)}
    if len(sides) < len(_sides(turn)):
        raise SelectionError("launch.fold rotation x", "another product for each of its sides", "one turned twice")
    if isinstance(products, launch.GemvOp) and products.quant is not None:
        raise SelectionError("launch.fold turned product", "f32 rows", "a quantized form")
    turns: list[Turn | None] = []
    results: list[Rows | None] = []
    for part in parts_of(products):
        side = None if part.out is None else sides.pop(part.out, None)
        if side is None:
            turns.append(None)
            results.append(placed(part, part.out))
            continue
        _check_turned(fold, part, side, side.heads.value.data * turn.head_dim.value.data)
        turns.append(Turn(head_norm(side.norm, side.norm_eps), unit_placed(side)))
        results.append(landing(side, side.out))
    if sides:
        raise SelectionError("launch.fold rotation x", "a product of the fold", f"{len(sides)} other buffers")
    return replace(products_spec(products, results), then=RopeFold(rotation(turn), tuple(turns)))


def _check_turned(fold: launch.FoldOp, part: launch.GemvOp | launch.GemmPartOp, side: Side, outputs: int) -> None:
    """Checks that a side takes all of a product of `outputs` values, which nothing else reads."""
    what = "launch.fold turned product"
    assert part.out is not None
    if kept_by(fold, part.out):
        raise SelectionError(what, "a rotation as its only reader", "another reader")
    if any(field is not None for field in (part.index, part.row, part.unit_pitch)):
        raise SelectionError(what, "rows in a buffer of their own", "rows or units of another")
    if side.x_pitch is not None:
        raise SelectionError(what, "all of its values turned", "units of them")
    if outputs != weights_of(part.w)[2]:
        raise SelectionError(what, f"{outputs} outputs, its heads", weights_of(part.w)[2])


def _sides(op: launch.RopeOp | launch.RopePartsOp) -> list[Side]:
    if isinstance(op, launch.RopeOp):
        return [op]
    return [side for side in op.members() if isinstance(side, launch.RopeSideOp)]


__all__ = ["fold_spec", "rope_parts_spec", "rope_side"]
