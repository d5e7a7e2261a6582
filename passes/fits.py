"""
Which fused ops the kernels of their class can run, as one table: class → what its parts must be, and what else holds.

A fused op may come from anywhere, so nothing is taken from its class but the launch it asks for: what the launch leaves
out (a result nobody keeps, a value read only inside) is looked for here. An op that does not fit runs as its parts.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from lanelink.dialects.tgraph import (
    AdvanceOp,
    ArgMaxOp,
    BinaryKind,
    ElementwiseOp,
    FusedOp,
    FusedRowOp,
    FusionClass,
    GeluOp,
    MatmulOp,
    QuantizeOp,
    RopeOp,
    RowGatherOp,
    RowsGatherOp,
    ScaleOp,
    SetRowOp,
    SigmoidOp,
    SiluOp,
    SwigluOp,
)
from lanelink.dialects.tgraph.attributes import indices, matrix
from lanelink.dialects.tgraph.step import step_io
from lanelink.passes.fit import Fit
from lanelink.passes.fits_layers import LAYER_FITS
from lanelink.passes.fuse.placement import lands
from lanelink.passes.fuse.views import (
    Product,
    from_outside,
    is_fused,
    norm,
    rotation,
    row_norm,
    rows_product,
)
from lanelink.passes.origin import constant, origin

MOST_PARTS = 4
"""Products, or sides of a rotation, that one launch takes."""


def misfit(op: FusedOp) -> str | None:
    """Why the kernels of its class cannot run a fused op, or none."""
    row = FITS.get(op.fusion_class.data)
    if row is None:
        return f"expected a class that is linked whole, got {op.fusion_class.data.value}"
    if not row.made_of(op):
        return f"expected {row.parts}, got {', '.join(_name(part) for part in op.parts)}"
    if not row.keeps_all and any(value.owner is not op.parts[-1] for value in op.yielded):
        return f"expected to keep the result of {_name(op.parts[-1])} alone, got an earlier part's"
    return next((why for more in row.also if (why := more(op)) is not None), None)


def _name(part: Operation) -> str:
    return part.fusion_class.data.value if isinstance(part, FusedOp) else part.name.removeprefix("tgraph.")


# What the parts are


def _add_norm(op: FusedOp) -> bool:
    match op.parts:
        case [ElementwiseOp() as add, FusedRowOp() as after]:
            return _is_sum(add) and add.a.type == add.b.type and after.x is add.result
        case _:
            return False


def _is_sum(op: ElementwiseOp) -> bool:
    return op.kind.data is BinaryKind.ADD


def _quantizes(produces: Callable[[Operation], bool]) -> Callable[[FusedOp], bool]:
    def made_of(op: FusedOp) -> bool:
        match op.parts:
            case [producer, QuantizeOp() as quantize]:
                return produces(producer) and _last_result(producer, quantize.x)
            case _:
                return False

    return made_of


def _last_result(producer: Operation, value: object) -> bool:
    """Whether a value is what an op's own last part computes, which is what its launch calls its result."""
    if isinstance(producer, FusedOp):
        last = producer.parts[-1]
        return any(
            value is r and inner.owner is last for r, inner in zip(producer.outputs, producer.yielded, strict=True)
        )
    return value is producer.results[0]


def _gemm_bias(op: FusedOp) -> bool:
    match op.parts:
        case [MatmulOp() as matmul, ElementwiseOp() as add]:
            sides = (add.b,) if add.a is matmul.result else (add.a,)
            _, width = matrix(matmul.result, "matmul result")
            return (
                _is_sum(add)
                and matmul.result in add.operands
                and all(bias is not matmul.result and bias.type == TensorType(f32, [1, width]) for bias in sides)
            )
        case _:
            return False


def _qk_norm_rope(op: FusedOp) -> bool:
    match op.parts:
        case [FusedRowOp() as before, RopeOp() as rope]:
            return rope.x is before.result and before.cols == rope.head_dim and before.residual is None
        case _:
            return False


def _row_in_place(op: FusedOp) -> bool:
    match op.parts:
        case [producer, SetRowOp() as landing]:
            can = not is_fused(producer, FusionClass.ROW_IN_PLACE) and lands(producer, landing)
            return can and landing.source is producer.results[0] and landing.source.has_one_use()
        case _:
            return False


def _turned_product(op: FusedOp) -> bool:
    match op.parts:
        case [first, second]:
            turn = rotation(second)
            return rows_product(first) is not None and turn is not None and turn.x is first.results[0]
        case _:
            return False


def _projection(part: Operation) -> Product | None:
    """The product of a part of a merged launch, where it is one."""
    if isinstance(part, FusedOp) and part.fusion_class.data in (
        FusionClass.QKV_HEAD_EPILOGUE,
        FusionClass.ROW_IN_PLACE,
    ):
        inner = rows_product(part.parts[0])
        return None if inner is None else Product(inner.op, from_outside(inner.x, part), inner.weight)
    return rows_product(part)


def _merged_qkv(op: FusedOp) -> bool:
    found = [_projection(part) for part in op.parts]
    shared = {None if p is None else (p.x, p.format) for p in found}
    return None not in shared and len(shared) == 1 and _side_by_side(op)


def _rotations(op: FusedOp) -> bool:
    found = [rotation(part) for part in op.parts]
    shared = {None if r is None else (r.rows, r.tables, r.head) for r in found}
    return None not in shared and len(shared) == 1 and _side_by_side(op)


def _side_by_side(op: FusedOp) -> bool:
    """Whether no part reads another's result."""
    parts = set[Operation](op.parts)
    return not any(value.owner in parts for part in op.parts for value in part.operands)


def _glu_act_mul(op: FusedOp) -> bool:
    match op.parts:
        case [SiluOp() | SigmoidOp() | GeluOp() as act, ElementwiseOp() as mul]:
            sides = [value is act.results[0] for value in (mul.a, mul.b)]
            return mul.kind.data is BinaryKind.MUL and sum(sides) == 1 and mul.a.type == mul.b.type
        case _:
            return False


def _gated_pair(op: FusedOp) -> bool:
    match op.parts:
        case [first, second, glu] if isinstance(glu, SwigluOp) or is_fused(glu, FusionClass.GLU_ACT_MUL):
            gate, up = rows_product(first), rows_product(second)
            if gate is None or up is None or set(glu.operands) != {gate.result, up.result}:
                return False
            return len(glu.operands) == 2 and gate.x is up.x and gate.weight == up.weight
        case _:
            return False


def _gathers(part: Operation) -> bool:
    """Whether a part gathers rows of a constant table by indices on the device, scaled or not."""
    if isinstance(part, RowGatherOp | RowsGatherOp):
        return part.index is not None and constant(part.table) is not None
    return is_fused(part, FusionClass.EMBED_SCALE)


def _embed_scale(op: FusedOp) -> bool:
    match op.parts:
        case [RowGatherOp() | RowsGatherOp() as gather, ScaleOp() as scale]:
            return _gathers(gather) and scale.x is gather.results[0]
        case _:
            return False


def _normed_product(op: FusedOp) -> bool:
    match op.parts:
        case [before, after]:
            found = norm(after)
            return (
                _is_rows_product(before)
                and found is not None
                and found.reads.count(before.results[0]) == 1
                and before.results[0] in found.folds
            )
        case _:
            return False


def _normed_embedding(op: FusedOp) -> bool:
    match op.parts:
        case [before, after]:
            found = norm(after)
            return _gathers(before) and found is not None and found.reads == (before.results[0],)
        case _:
            return False


def _sampling(op: FusedOp) -> bool:
    return {type(part) for part in op.parts} == {ArgMaxOp, AdvanceOp} and len(op.parts) == 2


# What else their kernels need


def _norm_of(op: FusedOp) -> FusedRowOp:
    return next(leaf for leaf in op.leaves() if isinstance(leaf, FusedRowOp))


def _whole_row_norm(op: FusedOp) -> str | None:
    """A fold's norm runs over its product's or gather's whole row."""
    after = _norm_of(op)
    _, width = matrix(after.x, "norm x")
    cols = after.cols.value.data
    return None if cols == width else f"expected a norm of the whole row of {width} values, got groups of {cols}"


def _one_sum(op: FusedOp) -> str | None:
    """A norm's launch adds one tensor."""
    if _norm_of(op).residual is None:
        return None
    return "expected a norm without a residual of its own beside the add, got one"


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


def _advances_step(op: FusedOp) -> str | None:
    """The arg-max picks the step's own next token, and nothing later in the step reads the old token or position."""
    func = op.parent_op()
    if not isinstance(func, FuncOp):
        return "expected a sampling in the step's own block"
    leaves = list(op.leaves())
    token = next(leaf for leaf in leaves if isinstance(leaf, ArgMaxOp))
    advance = next(leaf for leaf in leaves if isinstance(leaf, AdvanceOp))
    arguments = func.body.block.args
    rows, positions = indices(token.result, "arg_max result"), indices(advance.position, "advance position")
    if rows != positions:
        return f"expected the choice of one row's token a position, got {rows} rows and {positions} positions"
    io = step_io(func)
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


def _is_norm(part: Operation) -> bool:
    return row_norm(part.parts[-1] if is_fused(part, FusionClass.PART_IN_PLACE) else part) is not None


def _is_rows_product(part: Operation) -> bool:
    return rows_product(part) is not None


def _is_glu(part: Operation) -> bool:
    gated = FusionClass.GLU_ACT_MUL, FusionClass.GEMV_GATE_UP_GLU, FusionClass.ATTN_OUTPUT_GATE
    return isinstance(part, SwigluOp) or is_fused(part, *gated)


FITS: dict[FusionClass, Fit] = {
    FusionClass.ADD_NORM: Fit("a sum and the norm of it", _add_norm, True, (_one_sum,)),
    FusionClass.NORM_QUANT: Fit("a norm of whole rows and its quantize", _quantizes(_is_norm), True),
    FusionClass.ADD_NORM_QUANT: Fit(
        "an add_norm of whole rows and its quantize",
        _quantizes(lambda part: is_fused(part, FusionClass.ADD_NORM, FusionClass.NORM_THEN_ADD)),
        True,
        (_whole_row_norm,),
    ),
    FusionClass.ELEMENTWISE_QUANT: Fit(
        "an elementwise op and its quantize", _quantizes(lambda part: isinstance(part, ElementwiseOp)), True
    ),
    FusionClass.GLU_ACT_MUL_QUANT: Fit("a gated unit and its quantize", _quantizes(_is_glu), True),
    FusionClass.GEMV_QUANT: Fit("a product by checkpoint rows and its quantize", _quantizes(_is_rows_product), True),
    FusionClass.GEMM_BIAS: Fit("a product and its sum with a row", _gemm_bias),
    FusionClass.GEMV_NORM_EPILOGUE: Fit(
        "a product by checkpoint rows and a norm that reads it once",
        _normed_product,
        True,
        (_whole_row_norm,),
    ),
    FusionClass.EMBED_NORM: Fit(
        "a gather from a constant table and the norm of it", _normed_embedding, True, (_whole_row_norm,)
    ),
    FusionClass.EMBED_SCALE: Fit("a gather from a constant table and its scale", _embed_scale),
    FusionClass.QK_NORM_ROPE: Fit("a norm of heads and the rotation of them", _qk_norm_rope),
    FusionClass.ROPE_QK_ONE_LAUNCH: Fit(
        "rotations of as many rows by the same tables, side by side", _rotations, True, (_few_parts, _one_rotation)
    ),
    FusionClass.QKV_HEAD_EPILOGUE: Fit("a product by checkpoint rows and the rotation of its heads", _turned_product),
    FusionClass.MERGED_QKV: Fit(
        "products of one activation by checkpoint rows of one format, side by side",
        _merged_qkv,
        True,
        (_few_parts, _one_rotation),
    ),
    FusionClass.GLU_ACT_MUL: Fit("an activation and its product with as many values", _glu_act_mul),
    FusionClass.GEMV_GATE_UP_GLU: Fit(
        "two products of one activation by rows of one format and size, and the gated unit of them", _gated_pair
    ),
    FusionClass.ROW_IN_PLACE: Fit("what can land in rows of a table and the set_row of it", _row_in_place, True),
    **LAYER_FITS,
    FusionClass.FUSED_SAMPLING: Fit("an arg_max and an advance", _sampling, True, (_advances_step,)),
}
"""Class → what fits it. A class without a row is run as its parts."""

__all__ = ["FITS", "MOST_PARTS", "Fit", "misfit"]
