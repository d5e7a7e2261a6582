"""What each lifted op of `tgraph` means: a table of op class to a function of arrays, made once an op.

Values are f32 arrays, i32 arrays (indices, positions, token ids) and `QuantizedRows`; checkpoint rows come decoded, in
the checkpoint's own order. The arithmetic is `lowering.meanings`, which the kernels are compared with too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import I64, IntegerAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects.fault import located
from lanelink.dialects.tgraph.attention import AttentionOp
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.dialects.tgraph.block_attention import FullAttentionOp, LutAttentionOp
from lanelink.dialects.tgraph.delta import CausalConvOp, DecayOp, GatedDeltaOp, L2NormOp
from lanelink.dialects.tgraph.elementwise import (
    ElementwiseOp,
    GeluKind,
    GeluOp,
    ReluOp,
    ScaleOp,
    SigmoidOp,
    SiluOp,
    SoftcapOp,
    SwigluOp,
)
from lanelink.dialects.tgraph.heads import HeadMatmulOp, JoinOp
from lanelink.dialects.tgraph.integers import IntClampOp, IntRequantOp
from lanelink.dialects.tgraph.lifted import LiftedOp
from lanelink.dialects.tgraph.mixture import MoeOp
from lanelink.dialects.tgraph.products import MatmulOp, QuantizeOp
from lanelink.dialects.tgraph.rows import FusedRowOp, NormKind, RopeOp
from lanelink.dialects.tgraph.sampling import AdvanceOp, ArgMaxOp
from lanelink.dialects.tgraph.shape import HeadSliceOp, TransposeOp, ViewOp
from lanelink.dialects.tgraph.tables import RowGatherOp, RowsGatherOp, SetRowOp
from lanelink.lowering import meanings
from lanelink.lowering.activations import QuantizedRows, quantize
from lanelink.lowering.functions import Activation, BinaryOp

Floats: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int32]
Value: TypeAlias = Floats | Ints | QuantizedRows
Function: TypeAlias = Callable[..., Value | tuple[Value, ...]]
"""From the op's operands, in order, to its result, or to a tuple of its results where it has several."""

Unary: TypeAlias = Callable[[Floats], Floats]
Binary: TypeAlias = Callable[[Floats, Floats], Floats]
Product: TypeAlias = Callable[[Floats | QuantizedRows, Floats], Floats]
IntUnary: TypeAlias = Callable[[Ints], Ints]


def function_of(op: LiftedOp) -> Function:
    """The meaning of one op. Raises InterpretationError for an op, or a form of it, that has none."""
    make = MEANINGS.get(type(op))
    if make is None:
        raise InterpretationError(located(op, f"{op.name}: expected an op with a meaning, got one with none"))
    return make(op)


def _matmul(op: MatmulOp) -> Product:
    outputs = _outputs(op.weight)
    return lambda x, weight: meanings.product(_activation(x), outputs(weight))


def _activation(x: Floats | QuantizedRows) -> Floats:
    """The f32 rows that an activation stands for."""
    return x.dequantize() if isinstance(x, QuantizedRows) else x


def _outputs(weight: SSAValue) -> Callable[[Floats], Floats]:
    """What gives a product's matrix as rows that are its outputs."""
    if isinstance(weight.type, RowsType) and weight.type.is_transposed:
        return lambda held: held
    return lambda held: held.T


def _quantize(op: QuantizeOp) -> Callable[[Floats], QuantizedRows]:
    planes = op.result.type.planes.data
    return lambda x: quantize(x, planes)


def _elementwise(op: ElementwiseOp) -> Binary:
    kind = BinaryOp(op.kind.data.value)
    return lambda a, b: meanings.binary(kind, a, b)


def _swiglu(op: SwigluOp) -> Binary:
    return meanings.swiglu


def _unary(act: Activation) -> Callable[[LiftedOp], Unary]:
    return lambda op: lambda x: meanings.unary(act, x)


def _gelu(op: GeluOp) -> Unary:
    act = Activation.GELU if op.kind.data is GeluKind.EXACT else Activation.GELU_TANH
    return lambda x: meanings.unary(act, x)


def _scale(op: ScaleOp) -> Unary:
    factor = op.factor.value.data
    return lambda x: meanings.unary(Activation.NONE, x, factor)


def _softcap(op: SoftcapOp) -> Unary:
    cap = op.cap.value.data
    return lambda x: meanings.soft_cap(x, cap)


def _transpose(op: TransposeOp) -> Unary:
    return lambda x: x.T.copy()


def _fused_row(op: FusedRowOp) -> Function:
    kind, cols = op.kind.data, op.cols.value.data
    eps = 0.0 if op.eps is None else op.eps.value.data
    has_weight, has_bias, has_residual = (v is not None for v in (op.weight, op.bias, op.residual))

    def groups(x: Floats) -> Floats:
        return x.reshape(-1, cols)

    def run(x: Floats, *rest: Floats) -> Floats:
        others = iter(rest)
        weight = next(others) if has_weight else None
        bias = next(others) if has_bias else None
        residual = groups(next(others)) if has_residual else None
        match kind:
            case NormKind.RMS:
                y = meanings.norm(groups(x), eps, weight, residual)[1]
                y = y if bias is None else meanings.binary(BinaryOp.ADD, y, bias[None, :])
            case NormKind.LAYERNORM:
                y = meanings.layer_norm(_sum(groups(x), residual), eps, weight, bias)
            case NormKind.SOFTMAX:
                y = meanings.softmax(_sum(groups(x), residual))
        return y.reshape(x.shape)

    return run


def _sum(x: Floats, residual: Floats | None) -> Floats:
    return x if residual is None else meanings.binary(BinaryOp.ADD, x, residual)


def _rope(op: RopeOp) -> Function:
    head_dim, has_position = op.head_dim.value.data, op.position is not None

    def run(x: Floats, cos: Floats, sin: Floats, position: Ints | None = None) -> Floats:
        first = int(position[0]) if position is not None else 0
        if has_position:
            _inside(op, first, x.shape[0], cos.shape[0])
        return meanings.rope(x, cos, sin, first, head_dim)

    return run


def _attention(op: AttentionOp) -> Function:
    heads, kv_heads, scale = op.heads.value.data, op.kv_heads.value.data, op.effective_scale
    window = None if op.window is None else op.window.value.data
    softcap = None if op.softcap is None else op.softcap.value.data
    if heads % kv_heads:
        raise InterpretationError(
            located(op, f"{op.name} heads: expected a multiple of {kv_heads} key heads, got {heads}")
        )
    has_position, has_sinks, chunked = op.position is not None, op.sinks is not None, op.chunked is not None

    def run(q: Floats, keys: Floats, values: Floats, *rest: Ints | Floats) -> Floats:
        first = int(rest[0][0]) if has_position else None
        if first is not None:
            _inside(op, first, q.shape[0], keys.shape[0])
        sinks = cast(Floats, rest[-1]) if has_sinks else None
        return meanings.attention(
            q, keys, values, first, heads, kv_heads, scale, window, sinks, softcap, chunked=chunked
        )

    return run


def _gather(op: RowGatherOp | RowsGatherOp) -> Function:
    if isinstance(op, RowGatherOp) and op.row is not None:
        fixed = np.array([op.row.value.data], np.int32)

        def one(table: Floats) -> Floats:
            return meanings.gather(table, fixed)

        return one
    return meanings.gather


def _set_row(op: SetRowOp) -> Function:
    fixed = _fixed(op.row)

    def run(table: Floats, source: Floats, index: Ints | None = None) -> Floats:
        at = fixed if index is None else int(index[0])
        _inside(op, at, source.shape[0], table.shape[0])
        return meanings.set_rows(table, source, at)

    return run


def _fixed(row: IntegerAttr[I64] | None) -> int:
    return 0 if row is None else row.value.data


def _inside(op: LiftedOp, first: int, count: int, rows: int) -> None:
    if not 0 <= first <= rows - count:
        raise InterpretationError(
            located(op, f"{op.name} position: expected 0 to {rows - count} in a table of {rows} rows, got {first}")
        )


def _view(op: ViewOp) -> Unary:
    offset, shape = op.offset.value.data, shape_of(op.result.type)
    count = int(np.prod(shape))
    return lambda x: x.reshape(-1)[offset : offset + count].reshape(shape)


def _head_slice(op: HeadSliceOp) -> Unary:
    start, width, every = op.start.value.data, op.width.value.data, op.every.value.data
    return lambda x: meanings.slice_units(x, every, start, width)


def _arg_max(op: ArgMaxOp) -> Callable[[Floats], Ints]:
    return meanings.arg_max


def _advance(op: AdvanceOp) -> IntUnary:
    by = np.int32(op.by.value.data)
    return lambda position: position + by


def _decay(op: DecayOp) -> Function:
    return meanings.decay


def _l2_norm(op: L2NormOp) -> Unary:
    cols, eps = op.cols.value.data, op.eps.value.data
    return lambda x: meanings.l2_norm(x, cols, eps)


def _causal_conv(op: CausalConvOp) -> Function:
    return meanings.causal_conv


def _gated_delta(op: GatedDeltaOp) -> Function:
    key_heads, eps, gate = op.key_heads.value.data, op.eps.value.data, Activation(op.gate.data.value)
    return partial(meanings.gated_delta, key_heads=key_heads, eps=eps, gate=gate)


def _moe(op: MoeOp) -> Function:
    routing = meanings.Routing(
        top_k=op.top_k.value.data,
        scores=op.scores.data,
        renormalize=op.renormalize is not None,
        routed_scale=1.0 if op.routed_scale is None else op.routed_scale.value.data,
        groups=None
        if op.groups is None or op.kept_groups is None
        else (op.groups.value.data, op.kept_groups.value.data),
        group_best=op.best_of_group,
    )
    hidden, act, weigh_inputs = op.hidden.value.data, op.act.data, op.weigh_inputs is not None
    limit = None if op.limit is None else op.limit.value.data
    matrices = {name: _outputs(getattr(op, name)) for name in ("router", "gate", "up", "down")}
    # What runs over quantized rows runs on integer units throughout: the hidden rows are quantized alike.
    planes = op.x.type.planes.data if isinstance(op.x.type, Q8Type) else 0
    names = [name for name in _MOE_OPERANDS if getattr(op, name) is not None]

    def run(*operands: Any) -> Floats:
        given = dict(zip(names, operands, strict=True))
        w = {name: outputs(given[name]) for name, outputs in matrices.items()}
        x = _activation(given["x"])
        routed = _activation(given["router_x"]) if "router_x" in given else x
        biases = {name: given.get(name) for name in ("gate_bias", "up_bias", "down_bias")}
        return meanings.mixture(
            x,
            meanings.product(routed, w["router"], given.get("router_bias")),
            routing,
            meanings.Experts(w["gate"], w["up"], w["down"], hidden, act, limit, **biases),
            selection_bias=given.get("selection_bias"),
            weigh_inputs=weigh_inputs,
            hidden_planes=planes,
        )

    return run


_MOE_OPERANDS = [name for name, _ in MoeOp.get_irdl_definition().operands]


def _join(op: JoinOp) -> Binary:
    heads = op.heads.value.data
    return lambda a, b: meanings.join(a, b, heads)


def _head_matmul(op: HeadMatmulOp) -> Product:
    heads, kind = op.heads.value.data, op.weight.type
    rows_are_outputs = isinstance(kind, RowsType) and kind.is_transposed

    def run(x: Floats | QuantizedRows, weight: Floats) -> Floats:
        matrices = meanings.head_matrices(weight, heads, rows_are_outputs=rows_are_outputs)
        return meanings.head_product(_activation(x), matrices)

    return run


def _int_requant(op: IntRequantOp) -> IntUnary:
    multiplier, shift, zero_point = op.multiplier.value.data, op.shift.value.data, op.zero_point.value.data
    return lambda x: meanings.requantize(x, multiplier, shift, zero_point)


def _int_clamp(op: IntClampOp) -> IntUnary:
    low, high = op.low.value.data, op.high.value.data
    return lambda x: meanings.clamp(x, low, high)


def _full_attention(op: FullAttentionOp) -> Callable[[Floats, Floats, Floats], Floats]:
    heads, kv_heads, scale = op.heads.value.data, op.kv_heads.value.data, op.effective_scale
    # Attention without a position: every row sees every row of the tables.
    return lambda q, keys, values: meanings.attention(q, keys, values, None, heads, kv_heads, scale)


def _lut_attention(op: LutAttentionOp) -> Callable[[Floats, Floats, Floats, Floats], Floats]:
    heads, kv_heads, step = op.heads.value.data, op.kv_heads.value.data, op.step.value.data
    return lambda q, keys, values, table: meanings.lut_attention(q, keys, values, table, heads, kv_heads, step)


def shape_of(kind: Attribute) -> tuple[int, ...]:
    """The sizes of a tensor type."""
    if not isinstance(kind, TensorType):
        raise InterpretationError(f"expected a tensor, got {kind}")
    return tuple(kind.get_shape())


MEANINGS: dict[type[LiftedOp], Callable[[Any], Function]] = {
    MatmulOp: _matmul,
    QuantizeOp: _quantize,
    ElementwiseOp: _elementwise,
    SwigluOp: _swiglu,
    SiluOp: _unary(Activation.SILU),
    SigmoidOp: _unary(Activation.SIGMOID),
    ReluOp: _unary(Activation.RELU),
    SoftcapOp: _softcap,
    GeluOp: _gelu,
    ScaleOp: _scale,
    FusedRowOp: _fused_row,
    RopeOp: _rope,
    AttentionOp: _attention,
    RowGatherOp: _gather,
    RowsGatherOp: _gather,
    SetRowOp: _set_row,
    ViewOp: _view,
    HeadSliceOp: _head_slice,
    TransposeOp: _transpose,
    ArgMaxOp: _arg_max,
    AdvanceOp: _advance,
    DecayOp: _decay,
    L2NormOp: _l2_norm,
    CausalConvOp: _causal_conv,
    GatedDeltaOp: _gated_delta,
    MoeOp: _moe,
    JoinOp: _join,
    HeadMatmulOp: _head_matmul,
    IntRequantOp: _int_requant,
    IntClampOp: _int_clamp,
    FullAttentionOp: _full_attention,
    LutAttentionOp: _lut_attention,
}

__all__ = ["MEANINGS", "Function", "Value", "function_of", "shape_of"]
