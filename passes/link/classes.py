"""
The launches of each class of fused ops the lane links whole: one part's launch, with fields from the others.

Here are those of a dense decoder and the table of all; the others lie in a module a family.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from lanelink.dialects import launch, tgraph
from lanelink.dialects.launch.functions import Act, ActivationAttr
from lanelink.dialects.tgraph import FusedOp, FusionClass, LiftedOp
from lanelink.passes.link.delta import conv_bias_silu, conv_parts, conv_silu_l2norm, gdn_gate_projections, gdn_gating
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.folds import fold, folded
from lanelink.passes.link.gates import attn_output_gate, attn_output_quant, glu_act_mul_quant
from lanelink.passes.link.latent import mla
from lanelink.passes.link.linker import number
from lanelink.passes.link.mixture import moe_token_sort, shared_expert_fusion
from lanelink.passes.link.placement import part_in_place, row_in_place, units_in_place
from lanelink.passes.link.prims import activation_of
from lanelink.passes.link.quant import quantized, row_write_quant

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker

ClassRule = Callable[["Linker", FusedOp], Draft | Sequence[Draft]]

PART_FIELDS = ("w", "bias", "out", "at", "row")
SIDE_FIELDS = ("x", "x_pitch", "x_offset", "norm", "norm_eps", "out", "at", "row", "heads")
TURN_FIELDS = ("cos", "sin", "position", "head_dim", "half")


def link_class(linker: Linker, op: FusedOp) -> list[Draft]:
    """The launches a fused op is, in order, when its class is linked whole."""
    made = CLASSES[op.fusion_class.data](linker, op)
    return [made] if isinstance(made, Draft) else list(made)


def _add_norm(linker: Linker, op: FusedOp) -> Draft:
    add, norm = op.parts
    assert isinstance(add, tgraph.ElementwiseOp) and isinstance(norm, tgraph.FusedRowOp)
    return linker.one(norm).with_(
        x=linker.buffer(add.a), add=linker.buffer(add.b), sum=linker.kept_buffer(add.result), covers=number(add)
    )


def _norm_then_add(linker: Linker, op: FusedOp) -> Draft:
    inner, outer = op.parts
    assert isinstance(inner, tgraph.FusedRowOp)
    draft = linker.one(outer)
    normed, x, add = linker.buffer(inner.result), draft.fields["x"], draft.fields["add"]
    return draft.with_(
        x=linker.buffer(inner.x),
        pre=None if inner.weight is None else linker.buffer(inner.weight),
        pre_eps=inner.eps,
        add=add if x is normed else x,
        covers=number(inner),
    )


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


def _head_epilogue(linker: Linker, op: FusedOp) -> tuple[Draft, Draft]:
    """A product and the rotation of its heads, as the launches of each."""
    product, turn = op.parts
    return linker.one(product), linker.one(turn)


def _qkv_head_epilogue(linker: Linker, op: FusedOp) -> Draft:
    return fold(_head_epilogue(linker, op))


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
    return fold((merged, _rope_parts(turns))) if turns else merged


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


CLASSES: dict[FusionClass, ClassRule] = {
    FusionClass.ADD_NORM: _add_norm,
    FusionClass.NORM_THEN_ADD: _norm_then_add,
    FusionClass.NORM_QUANT: quantized,
    FusionClass.ADD_NORM_QUANT: quantized,
    FusionClass.ELEMENTWISE_QUANT: quantized,
    FusionClass.GLU_ACT_MUL_QUANT: glu_act_mul_quant,
    FusionClass.GEMV_QUANT: quantized,
    FusionClass.ATTN_OUTPUT_QUANT: attn_output_quant,
    FusionClass.GDN_OUTPUT_QUANT: quantized,
    FusionClass.ROW_WRITE_QUANT: row_write_quant,
    FusionClass.GEMM_BIAS: _gemm_bias,
    FusionClass.GEMV_NORM_EPILOGUE: folded,
    FusionClass.EMBED_NORM: folded,
    FusionClass.MOE_DEFERRED_FINALIZE: folded,
    FusionClass.EMBED_SCALE: _embed_scale,
    FusionClass.QK_NORM_ROPE: _qk_norm_rope,
    FusionClass.ROPE_QK_ONE_LAUNCH: _rope_qk_one_launch,
    FusionClass.QKV_HEAD_EPILOGUE: _qkv_head_epilogue,
    FusionClass.MERGED_QKV: _merged_qkv,
    FusionClass.GLU_ACT_MUL: _glu_act_mul,
    FusionClass.GEMV_GATE_UP_GLU: _gemv_gate_up_glu,
    FusionClass.SHARED_EXPERT_FUSION: shared_expert_fusion,
    FusionClass.MOE_TOKEN_SORT: moe_token_sort,
    FusionClass.ATTN_OUTPUT_GATE: attn_output_gate,
    FusionClass.CONV_BIAS_SILU: conv_bias_silu,
    FusionClass.CONV_SILU_L2NORM: conv_silu_l2norm,
    FusionClass.CONV_PARTS: conv_parts,
    FusionClass.GDN_GATING: gdn_gating,
    FusionClass.GDN_GATE_PROJECTIONS: gdn_gate_projections,
    FusionClass.MLA: mla,
    FusionClass.ROW_IN_PLACE: row_in_place,
    FusionClass.PART_IN_PLACE: part_in_place,
    FusionClass.UNITS_IN_PLACE: units_in_place,
    FusionClass.FUSED_SAMPLING: _fused_sampling,
}
"""Class → the launch or launches of a fused op of it."""
