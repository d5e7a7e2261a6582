"""The launch of each class of fused ops the lane links whole: one part's launch, with fields from the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from lanelink.dialects import launch, tgraph
from lanelink.dialects.launch.functions import Act, ActivationAttr
from lanelink.dialects.tgraph import FusedOp, FusionClass, LiftedOp
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.linker import number
from lanelink.passes.link.prims import activation_of

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker

PART_FIELDS = ("w", "bias", "out", "at", "row")
SIDE_FIELDS = ("x", "norm", "norm_eps", "out", "at", "row", "heads")
TURN_FIELDS = ("cos", "sin", "position", "head_dim", "half")


def link_class(linker: Linker, op: FusedOp) -> Draft:
    """The launch a fused op is when its class is linked whole."""
    return CLASSES[op.fusion_class.data](linker, op)


def _add_norm(linker: Linker, op: FusedOp) -> Draft:
    add, norm = op.parts
    assert isinstance(add, tgraph.ElementwiseOp) and isinstance(norm, tgraph.FusedRowOp)
    return linker.one(norm).with_(
        x=linker.buffer(add.a), add=linker.buffer(add.b), sum=linker.kept_buffer(add.result), covers=number(add)
    )


def _quantized(linker: Linker, op: FusedOp) -> Draft:
    """A producer that writes its result's quantized form, and the f32 form where something reads it."""
    producer, quantize = op.parts
    assert isinstance(quantize, tgraph.QuantizeOp)
    draft = linker.one(producer)
    quant = linker.buffer(quantize.result)
    return draft.with_(quant=quant, out=linker.kept_buffer(quantize.x), covers=number(quantize))


def _gemm_bias(linker: Linker, op: FusedOp) -> Draft:
    product, add = op.parts
    assert isinstance(product, tgraph.MatmulOp) and isinstance(add, tgraph.ElementwiseOp)
    bias = add.b if add.a is product.result else add.a
    return linker.one(product).with_(bias=linker.buffer(bias), out=linker.buffer(add.result), covers=number(add))


def _qk_norm_rope(linker: Linker, op: FusedOp) -> Draft:
    norm, rope = op.parts
    assert isinstance(norm, tgraph.FusedRowOp) and isinstance(rope, tgraph.RopeOp)
    return linker.one(rope).with_(
        x=linker.buffer(norm.x),
        norm=None if norm.weight is None else linker.buffer(norm.weight),
        norm_eps=norm.eps,
        covers=number(norm),
    )


def _row_in_place(linker: Linker, op: FusedOp) -> Draft:
    producer, set_row = op.parts
    assert isinstance(set_row, tgraph.SetRowOp)
    draft = linker.one(producer)
    return draft.with_(
        out=linker.table_buffer(set_row),
        at=None if set_row.index is None else linker.buffer(set_row.index),
        row=set_row.row,
        covers=number(set_row),
    )


def _head_epilogue(linker: Linker, op: FusedOp) -> tuple[Draft, Draft]:
    """A product and the rotation of its heads, as the launches of each."""
    product, turn = op.parts
    return linker.one(product), linker.one(turn)


def _qkv_head_epilogue(linker: Linker, op: FusedOp) -> Draft:
    return _fold(_head_epilogue(linker, op))


def _merged_qkv(linker: Linker, op: FusedOp) -> Draft:
    products: list[Draft] = []
    turns: list[Draft] = []
    for member in op.parts:
        if isinstance(member, FusedOp) and member.fusion_class.data is FusionClass.QKV_HEAD_EPILOGUE:
            product, turn = linker.inside(member, _head_epilogue)
            turns.append(turn)
        else:
            product = linker.one(member)
        products.append(product)
    first = products[0]
    parts = tuple(p.as_(launch.GemmPartOp, PART_FIELDS) for p in products)
    merged = Draft(launch.GemmPartsOp, {"x": first.fields["x"]}, members=parts, location=first.location)
    return _fold((merged, _rope_parts(turns))) if turns else merged


def _rope_parts(turns: list[Draft]) -> Draft:
    sides = tuple(t.as_(launch.RopeSideOp, SIDE_FIELDS) for t in turns)
    shared = {name: turns[0].fields.get(name) for name in TURN_FIELDS}
    return Draft(launch.RopePartsOp, shared, members=sides, location=turns[0].location)


def _rope_qk_one_launch(linker: Linker, op: FusedOp) -> Draft:
    return _rope_parts([linker.one(part) for part in op.parts])


def _glu_act_mul(linker: Linker, op: FusedOp) -> Draft:
    act, product = op.parts
    assert isinstance(act, tgraph.SiluOp | tgraph.SigmoidOp | tgraph.GeluOp)
    assert isinstance(product, tgraph.ElementwiseOp)
    kind = activation_of(act)
    assert kind is not None
    other = product.b if product.a is act.result else product.a
    return linker.one(product).with_(
        a=linker.buffer(other), b=linker.buffer(act.x), gate=ActivationAttr(kind), covers=number(act)
    )


def _gemv_gate_up_glu(linker: Linker, op: FusedOp) -> Draft:
    *products, glu = op.parts
    gate, up, act = _gated(glu)
    found = {_result(p): linker.one(p) for p in products}
    g, u = found[_seen_from(glu, gate)], found[_seen_from(glu, up)]
    joined = linker.one(glu)
    return Draft(
        launch.GemvGluOp,
        {
            "act": ActivationAttr(act),
            "x": g.fields["x"],
            "wg": g.fields["w"],
            "wu": u.fields["w"],
            "bg": g.fields.get("bias"),
            "bu": u.fields.get("bias"),
            "out": joined.fields["out"],
        },
        (*g.covers, *u.covers, *joined.covers),
        location=joined.location,
    )


def _gated(glu: LiftedOp | FusedOp) -> tuple[SSAValue, SSAValue, Act]:
    """(gate, up, activation) of a swiglu, or of a fused activation and product, as values inside `glu`."""
    if isinstance(glu, tgraph.SwigluOp):
        return glu.gate, glu.up, Act.SILU
    assert isinstance(glu, FusedOp)
    act, product = glu.parts
    assert isinstance(act, tgraph.SiluOp | tgraph.SigmoidOp | tgraph.GeluOp)
    assert isinstance(product, tgraph.ElementwiseOp)
    kind = activation_of(act)
    assert kind is not None
    return act.x, product.b if product.a is act.result else product.a, kind


def _seen_from(glu: LiftedOp | FusedOp, value: SSAValue) -> SSAValue:
    """A value inside `glu` as the region around it names it."""
    if isinstance(glu, FusedOp):
        return glu.inputs[glu.body.block.args.index(value)]
    return value


def _result(part: LiftedOp | FusedOp) -> SSAValue:
    return part.results[0]


def _embed_scale(linker: Linker, op: FusedOp) -> Draft:
    gather, scale = op.parts
    assert isinstance(scale, tgraph.ScaleOp)
    return linker.one(gather).with_(out=linker.buffer(scale.result), scale=scale.factor, covers=number(scale))


def _folded(linker: Linker, op: FusedOp) -> Draft:
    """A product or gather and the norm of its row; the norm reads what it wrote, whichever side of the sum that is."""
    first, norm = (linker.one(part) for part in op.parts)
    if norm.value("add") is first.value("out"):
        norm = norm.with_(x=norm.fields.get("add"), add=norm.fields.get("x"))
    return _fold((first, norm))


def _fused_sampling(linker: Linker, op: FusedOp) -> Draft:
    # The two do not read each other and come in either order.
    arg_max = next(part for part in op.parts if isinstance(part, tgraph.ArgMaxOp))
    advance = next(part for part in op.parts if isinstance(part, tgraph.AdvanceOp))
    io = linker.io
    assert io.position is not None
    draft = linker.one(arg_max)
    token, position = linker.block.args[io.token], linker.block.args[io.position]
    linker.bind(arg_max.result, token)
    linker.bind(advance.result, position)
    return draft.with_(token=token, position=position, covers=number(advance))


def _fold(members: tuple[Draft, ...]) -> Draft:
    return Draft(launch.FoldOp, {}, members=members, location=members[0].location)


CLASSES: dict[FusionClass, Callable[[Linker, FusedOp], Draft]] = {
    FusionClass.ADD_NORM: _add_norm,
    FusionClass.NORM_QUANT: _quantized,
    FusionClass.ADD_NORM_QUANT: _quantized,
    FusionClass.ELEMENTWISE_QUANT: _quantized,
    FusionClass.GLU_ACT_MUL_QUANT: _quantized,
    FusionClass.GEMV_QUANT: _quantized,
    FusionClass.ATTN_OUTPUT_QUANT: _quantized,
    FusionClass.GEMM_BIAS: _gemm_bias,
    FusionClass.GEMV_NORM_EPILOGUE: _folded,
    FusionClass.EMBED_NORM: _folded,
    FusionClass.EMBED_SCALE: _embed_scale,
    FusionClass.QK_NORM_ROPE: _qk_norm_rope,
    FusionClass.ROPE_QK_ONE_LAUNCH: _rope_qk_one_launch,
    FusionClass.QKV_HEAD_EPILOGUE: _qkv_head_epilogue,
    FusionClass.MERGED_QKV: _merged_qkv,
    FusionClass.GLU_ACT_MUL: _glu_act_mul,
    FusionClass.GEMV_GATE_UP_GLU: _gemv_gate_up_glu,
    FusionClass.ROW_IN_PLACE: _row_in_place,
    FusionClass.FUSED_SAMPLING: _fused_sampling,
}
"""Class → the launch of a fused op of it."""
