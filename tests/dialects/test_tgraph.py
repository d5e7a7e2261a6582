"""Constructors of every op, and what they make of what they are given."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tensors import floats, ints, two_parts
from xdsl.dialects.builtin import TensorType, f16, i32
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from examples import printed
from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import (
    AdvanceOp,
    ArgMaxOp,
    AttentionOp,
    BinaryKind,
    CausalConvOp,
    CheckpointAttr,
    ConstantOp,
    DecayOp,
    DeltaGate,
    ElementwiseOp,
    ExpertActivation,
    FullAttentionOp,
    FusedOp,
    FusedRowOp,
    FusionClass,
    GatedDeltaOp,
    GeluKind,
    GeluOp,
    HeadMatmulOp,
    HeadSliceOp,
    IntClampOp,
    IntRequantOp,
    JoinOp,
    L2NormOp,
    LutAttentionOp,
    MatmulOp,
    MoeOp,
    NormKind,
    Q8Type,
    QuantizeOp,
    ReluOp,
    RopeOp,
    RopeTableAttr,
    RowGatherOp,
    RowsGatherOp,
    RowsType,
    ScaleOp,
    Scores,
    SetRowOp,
    SigmoidOp,
    SiluOp,
    SoftcapOp,
    SwigluOp,
    TableKind,
    TGraph,
    TransposeOp,
    ViewOp,
    YieldOp,
)

ROWS = RowsType(Format.BF16, 96, 64, transposed=True)
TABLE = RowsType(Format.BF16, 96, 64)

INTEGERS = TensorType(i32, [2, 8])
EXPERTS = [
    RowsType(Format.BF16, rows, cols, transposed=True)
    for rows, cols in ((4, 16), (4 * 8, 16), (4 * 8, 16), (4 * 16, 8))
]
BIASES = {
    "router_bias": floats(1, 4),
    "gate_bias": floats(4, 8),
    "up_bias": floats(4, 8),
    "down_bias": floats(4, 16),
    "selection_bias": floats(1, 4),
}

Make = Callable[..., Operation]
CONSTRUCTED: dict[str, tuple[list[Attribute], Make, Attribute]] = {
    # name: (operand types, constructor, result type)
    "matmul": ([floats(2, 64), ROWS], MatmulOp, floats(2, 96)),
    "matmul, not transposed": ([floats(2, 96), TABLE], MatmulOp, floats(2, 64)),
    "matmul, values": ([floats(2, 64), floats(64, 7)], MatmulOp, floats(2, 7)),
    "matmul, q8": ([Q8Type(2, 64), RowsType(Format.Q8_0, 96, 64, transposed=True)], MatmulOp, floats(2, 96)),
    "quantize": ([floats(2, 64)], QuantizeOp, Q8Type(2, 64)),
    "quantize, two planes": ([floats(2, 64)], lambda x: QuantizeOp(x, 2), Q8Type(2, 64, 2)),
    "elementwise": ([floats(2, 8)] * 2, lambda a, b: ElementwiseOp(BinaryKind.ADD, a, b), floats(2, 8)),
    "swiglu": ([floats(2, 8)] * 2, SwigluOp, floats(2, 8)),
    "silu": ([floats(2, 8)], SiluOp, floats(2, 8)),
    "sigmoid": ([floats(2, 8)], SigmoidOp, floats(2, 8)),
    "relu": ([floats(2, 8)], ReluOp, floats(2, 8)),
    "softcap": ([floats(2, 8)], lambda x: SoftcapOp(x, 30.0), floats(2, 8)),
    "transpose": ([floats(2, 8)], TransposeOp, floats(8, 2)),
    "gelu": ([floats(2, 8)], lambda x: GeluOp(GeluKind.TANH, x), floats(2, 8)),
    "scale": ([floats(2, 8)], lambda x: ScaleOp(x, 0.5), floats(2, 8)),
    "softmax": ([floats(2, 8)], lambda x: FusedRowOp(NormKind.SOFTMAX, x, 8), floats(2, 8)),
    "layernorm": (
        [floats(2, 8), floats(4), floats(4), floats(2, 8)],
        lambda x, w, b, r: FusedRowOp(NormKind.LAYERNORM, x, 4, eps=1e-5, weight=w, bias=b, residual=r),
        floats(2, 8),
    ),
    "rope": (
        [floats(2, 32), floats(9, 4), floats(9, 4), ints(1)],
        lambda x, c, s, p: RopeOp(x, c, s, p, heads=4, head_dim=8, half=4),
        floats(2, 32),
    ),
    "rope, cut tables": (
        [floats(2, 32), floats(2, 3), floats(2, 3)],
        lambda x, c, s: RopeOp(x, c, s, None, heads=4, head_dim=8, half=3),
        floats(2, 32),
    ),
    "attention": (
        [floats(2, 32), floats(9, 16), floats(9, 16), ints(1)],
        lambda q, k, v, p: AttentionOp(q, k, v, p, heads=4, kv_heads=2, head_dim=8),
        floats(2, 32),
    ),
    "attention, all": (
        [floats(2, 32), floats(9, 16), floats(9, 6), ints(1), floats(4)],
        lambda q, k, v, p, s: AttentionOp(
            q, k, v, p, heads=4, kv_heads=2, head_dim=8, value_dim=3, window=5, scale=0.5, softcap=30.0, sinks=s
        ),
        floats(2, 12),
    ),
    "row_gather": ([TABLE, ints(1)], RowGatherOp, floats(1, 64)),
    "row_gather, fixed": ([floats(9, 16)], lambda t: RowGatherOp(t, row=8), floats(1, 16)),
    "rows_gather": ([TABLE, ints(3)], RowsGatherOp, floats(3, 64)),
    "set_row": ([floats(9, 16), floats(2, 16), ints(1)], SetRowOp, floats(9, 16)),
    "set_row, fixed": ([floats(9, 16), floats(2, 16)], lambda t, s: SetRowOp(t, s, row=7), floats(9, 16)),
    "view": ([floats(4, 8)], lambda x: ViewOp(x, 8, floats(2, 12)), floats(2, 12)),
    "head_slice": ([floats(4, 32)], lambda x: HeadSliceOp(x, start=2, width=3, every=8), floats(4, 12)),
    "arg_max": ([floats(4, 32)], ArgMaxOp, ints(4)),
    "advance": ([ints(1)], lambda p: AdvanceOp(p, 4), ints(1)),
    "decay": ([floats(2, 4), floats(4), floats(4)], DecayOp, floats(2, 4)),
    "l2norm": ([floats(2, 8)], lambda x: L2NormOp(x, 4, 1e-6), floats(2, 8)),
    "join": ([floats(2, 8), floats(2, 4)], lambda a, b: JoinOp(a, b, 4), floats(2, 12)),
    "head_matmul": (
        [floats(2, 64), RowsType(Format.BF16, 12, 32, transposed=True)],
        lambda x, w: HeadMatmulOp(x, w, heads=2, inputs=32, outputs=6),
        floats(2, 12),
    ),
    "head_matmul, not transposed": (
        [floats(2, 6), RowsType(Format.BF16, 6, 5)],
        lambda x, w: HeadMatmulOp(x, w, heads=2, inputs=3, outputs=5),
        floats(2, 10),
    ),
    "head_matmul, values": (
        [floats(2, 6), floats(6, 5)],
        lambda x, w: HeadMatmulOp(x, w, heads=2, inputs=3, outputs=5),
        floats(2, 10),
    ),
    "head_matmul, q8": (
        [Q8Type(2, 64), RowsType(Format.Q8_0, 10, 32, transposed=True)],
        lambda x, w: HeadMatmulOp(x, w, heads=2, inputs=32, outputs=5),
        floats(2, 10),
    ),
    "int_requant": ([INTEGERS], lambda x: IntRequantOp(x, multiplier=3, shift=1), INTEGERS),
    "int_requant, zero point": ([INTEGERS], lambda x: IntRequantOp(x, multiplier=3, shift=1, zero_point=-7), INTEGERS),
    "int_clamp": ([INTEGERS], lambda x: IntClampOp(x, -128, 127), INTEGERS),
    "full_attention": (
        [floats(8, 32), floats(5, 16), floats(5, 16)],
        lambda q, k, v: FullAttentionOp(q, k, v, heads=4, kv_heads=2, head_dim=8),
        floats(8, 32),
    ),
    "full_attention, scale": (
        [floats(8, 32), floats(5, 16), floats(5, 16)],
        lambda q, k, v: FullAttentionOp(q, k, v, heads=4, kv_heads=2, head_dim=8, scale=0.5),
        floats(8, 32),
    ),
    "lut_attention": (
        [floats(8, 32), floats(5, 16), floats(5, 16), floats(9)],
        lambda q, k, v, t: LutAttentionOp(q, k, v, t, heads=4, kv_heads=2, head_dim=8, step=0.125),
        floats(8, 32),
    ),
    "moe": (
        [floats(2, 16), *EXPERTS],
        lambda *given: MoeOp(*given, experts=4, top_k=2, hidden=8),
        floats(2, 16),
    ),
    "moe, all": (
        [floats(2, 16), *EXPERTS, floats(2, 16), *BIASES.values()],
        lambda x, r, g, u, d, rx, *biases: MoeOp(
            *(x, r, g, u, d),
            experts=4,
            top_k=2,
            hidden=8,
            scores=Scores.SIGMOID,
            act=ExpertActivation.CLAMPED_SWIGLU,
            renormalize=True,
            weigh_inputs=True,
            limit=7.0,
            routed_scale=2.5,
            groups=(2, 1),
            router_x=rx,
            biases=dict(zip(BIASES, biases, strict=True)),
        ),
        floats(2, 16),
    ),
    "constant": ([], lambda: ConstantOp(CheckpointAttr("w"), ROWS), ROWS),
    "constant, table": (
        [],
        lambda: ConstantOp(RopeTableAttr(TableKind.SIN, [1.0, 0.1], 1.2), floats(9, 2)),
        floats(9, 2),
    ),
}


@pytest.mark.parametrize("name", list(CONSTRUCTED))
def test_constructors(name: str):
    operands, make, result = CONSTRUCTED[name]
    block = Block(arg_types=operands)
    op = make(*block.args)
    block.add_op(op)
    op.verify()
    assert [r.type for r in op.results] == [result]
    assert list(op.operands) == list(block.args)
    assert f'"{op.name}"' in printed(op, generic=True)


STATEFUL: dict[str, tuple[list[Attribute], Make, list[Attribute]]] = {
    # name: (operand types, constructor, result types: the result, then the state moved on)
    "causal_conv": ([floats(2, 8), floats(8, 4), floats(3, 8)], CausalConvOp, [floats(2, 8), floats(3, 8)]),
    "gated_delta": (
        [*[floats(2, 8)] * 2, *[floats(2, 16)] * 2, *[floats(2, 4)] * 2, floats(16, 4), floats(4)],
        lambda q, k, v, z, b, d, s, n: GatedDeltaOp(
            (q, k, v, z, b, d), s, n, value_heads=4, key_heads=2, head_dim=4, eps=1e-6, gate=DeltaGate.SIGMOID
        ),
        [floats(2, 16), floats(16, 4)],
    ),
}


@pytest.mark.parametrize("name", list(STATEFUL))
def test_constructors_of_ops_with_state(name: str):
    operands, make, results = STATEFUL[name]
    block = Block(arg_types=operands)
    op = make(*block.args)
    block.add_op(op)
    op.verify()
    assert [r.type for r in op.results] == results
    assert list(op.operands) == list(block.args)


def test_a_mixture_keeps_what_it_was_given():
    operands, make, _ = CONSTRUCTED["moe, all"]
    args = Block(arg_types=operands).args
    op = make(*args)
    assert isinstance(op, MoeOp)
    assert [op.router_x, *(getattr(op, name) for name in BIASES)] == list(args[5:])
    assert (op.scores.data, op.act.data) == (Scores.SIGMOID, ExpertActivation.CLAMPED_SWIGLU)
    assert op.renormalize is not None
    assert op.weigh_inputs is not None
    assert op.groups is not None
    assert op.kept_groups is not None
    assert (op.groups.value.data, op.kept_groups.value.data, op.best_of_group) == (2, 1, 2)


def test_every_op_has_a_constructor_test():
    tested = {make(*Block(arg_types=operands).args).name for operands, make, _ in (CONSTRUCTED | STATEFUL).values()}
    assert {op.name for op in TGraph.operations} - tested == {"tgraph.fused", "tgraph.yield"}


def test_attention_scale_is_that_of_the_head_unless_given():
    operands, make, _ = CONSTRUCTED["attention"]
    op = make(*Block(arg_types=operands).args)
    assert isinstance(op, AttentionOp)
    assert op.effective_scale == 8**-0.5
    for name, scale in (("full_attention", 8**-0.5), ("full_attention, scale", 0.5)):
        operands, make, _ = CONSTRUCTED[name]
        op = make(*Block(arg_types=operands).args)
        assert isinstance(op, FullAttentionOp)
        assert op.effective_scale == scale


def test_fused_and_its_parts():
    outer = Block(arg_types=[floats(1, 8)])
    inner = two_parts(outer.args[0])
    body = Block(arg_types=[floats(1, 8)])
    nested = two_parts(body.args[0])
    last = ScaleOp(nested.outputs[0], 2.0)
    body.add_ops([nested, last, YieldOp(last.result, nested.outputs[0])])
    op = FusedOp(FusionClass.NORM_QUANT, [inner.outputs[0]], [floats(1, 8)] * 2, Region(body))
    outer.add_ops([inner, op])
    op.verify()
    assert op.parts == [nested, last]
    assert [leaf.name for leaf in op.leaves()] == ["tgraph.silu", "tgraph.sigmoid", "tgraph.scale"]
    assert list(op.yielded) == [last.result, nested.outputs[0]]


def test_q8_of_three_planes_is_refused():
    with pytest.raises(VerifyException, match=r"q8: expected 1 or 2 planes, got 3"):
        Q8Type(1, 32, 3)


def test_a_halves_constant_is_refused():
    with pytest.raises(VerifyException, match=r"got tensor<4xf16>"):
        ConstantOp(CheckpointAttr("w"), TensorType(f16, [4])).verify()
