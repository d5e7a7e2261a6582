"""Mixtures of experts: with their shared expert, over a chunk's rows one by one, and with the norm that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.ir import Attribute, Operation, SSAValue

from lanelink.dialects.tgraph import (
    BinaryKind,
    ElementwiseOp,
    ExpertActivation,
    FusedOp,
    FusionClass,
    GeluKind,
    GeluOp,
    MatmulOp,
    MoeOp,
    QuantizeOp,
    SetRowOp,
    SigmoidOp,
    SiluOp,
    SwigluOp,
    ViewOp,
)
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Chain, Parts
from lanelink.passes.fuse.row_sets import row_sets
from lanelink.passes.fuse.views import (
    f32_form,
    from_outside,
    is_fused,
    is_read_once,
    last_result,
    mixture,
    norm,
    product,
    rows_product,
)

# A shared expert


def _shared_expert_fusion(op: Operation) -> Parts | None:
    """
    A mixture, a shared expert over the same activation, and their sum, on either side, which alone reads both.

    The shared expert is a gated pair with the mixture's activation and its down product, all by checkpoint rows and
    without biases; times a column, sigmoid of a product of the same activation, where it is gated. Each of its values
    is read by the next alone.
    """
    if not _is_sum(op):
        return None
    for mixed, shared in ((op.a, op.b), (op.b, op.a)):
        moe = mixed.owner
        if isinstance(moe, MoeOp) and is_read_once(mixed) and is_read_once(shared):
            parts = _gated_expert(shared, moe)
            if parts is not None:
                return (moe, *parts, op)
    return None


def _is_sum(op: object) -> TypeGuard[ElementwiseOp]:
    """Whether an op adds two tensors of one shape."""
    return isinstance(op, ElementwiseOp) and op.kind.data is BinaryKind.ADD and op.a.type == op.b.type


def _gated_expert(value: SSAValue, moe: MoeOp) -> Parts | None:
    """What makes a shared expert's output, times its gate or not."""
    mul = value.owner
    if not isinstance(mul, ElementwiseOp):
        return _expert(value, moe)
    if mul.kind.data is not BinaryKind.MUL or not is_read_once(mul.a):
        return None
    gate, expert = _expert_gate(mul.b, moe), _expert(mul.a, moe)
    return None if gate is None or expert is None else (*gate, *expert, mul)


def _expert_gate(value: SSAValue, moe: MoeOp) -> Parts | None:
    """
    A column of one gate a row: the sigmoid of a product, without a bias, of what the mixture or its router reads. (A
    gate a value would be a glu_act_mul by now.)
    """
    sigmoid = value.owner
    if not isinstance(sigmoid, SigmoidOp) or not is_read_once(value):
        return None
    found = product(sigmoid.x.owner)
    if found is None or not isinstance(found.op, MatmulOp) or not is_read_once(sigmoid.x):
        return None
    of_moe = found.x in (moe.x, moe.router_x, f32_form(moe.x))
    return (found.op, sigmoid) if of_moe else None


def _expert(value: SSAValue, moe: MoeOp) -> Parts | None:
    """A gated pair and its down product."""
    down = value.owner
    if not isinstance(down, MatmulOp) or rows_product(down) is None or not is_read_once(down.x):
        return None
    # A pair that is quantized keeps its f32 form only for other readers, which would lose it.
    found = last_result(down.x)
    if not isinstance(found, FusedOp) or len(found.outputs) != 1:
        return None
    pair = found.parts[0] if is_fused(found, FusionClass.GLU_ACT_MUL_QUANT) else found
    if not is_fused(pair, FusionClass.GEMV_GATE_UP_GLU):
        return None
    gate = pair.parts[0]
    if not isinstance(gate, MatmulOp) or not isinstance(pair.parts[1], MatmulOp):
        return None
    same = from_outside(gate.x, found) is moe.x and _activation(pair) is moe.act.data
    return (found, down) if same else None


def _activation(pair: FusedOp) -> ExpertActivation | None:
    """A gated pair's activation, where a mixture has it too."""
    for leaf in pair.leaves():
        if isinstance(leaf, SwigluOp | SiluOp):
            return ExpertActivation.SILU
        if isinstance(leaf, GeluOp):
            return ExpertActivation.GELU_TANH if leaf.kind.data is GeluKind.TANH else ExpertActivation.GELU
    return None


# Rows one by one


@dataclass(frozen=True)
class _MixedRow:
    """A row's mixture, and where its row comes from."""

    parts: Sequence[Part]
    """The row's view, its quantize where the mixture reads it quantized, and the mixture."""
    source: SSAValue
    """The tensor whose row it is."""
    form: tuple[object, ...]
    """What the mixtures of one launch share: weights, biases, attributes, and how they read the row."""


def _moe_token_sort(op: Operation) -> Parts | None:
    """
    A chunk's mixtures row by row: views of all rows of a tensor, in order, the same mixture of each, and the set_rows
    that put what they leave together. Of all these only the last is read by anything else.
    """
    if not isinstance(op, SetRowOp):
        return None
    sets = row_sets(op.result)
    if sets is None or len(sets) < 2:
        return None
    found = [row for k, each in enumerate(sets) if (row := _mixed_row(each, k)) is not None]
    if len(found) != len(sets) or any((r.source, r.form) != (found[0].source, found[0].form) for r in found):
        return None
    rows, width = matrix(found[0].source, "chunk")
    if (rows, width) != matrix(op.result, "table"):
        return None
    return [*(part for row in found for part in row.parts), *sets]


def _mixed_row(landing: SetRowOp, row: int) -> _MixedRow | None:
    """The mixture that a set_row alone reads, of row `row` of a tensor, which it and its quantize alone read."""
    moe = landing.source.owner
    if not isinstance(moe, MoeOp) or not is_read_once(landing.source):
        return None
    quantize = moe.x.owner
    if isinstance(quantize, QuantizeOp):
        before, x = (quantize,), quantize.x
        if not is_read_once(moe.x):
            return None
    else:
        before, x = (), moe.x
    view = x.owner
    if not isinstance(view, ViewOp) or moe.router_x not in (None, x):
        return None
    _, width = matrix(view.x, "view x")
    if view.offset.value.data != row * width or matrix(x, "view result") != (1, width):
        return None
    if any(use.operation not in (moe, *before) for use in x.uses):
        return None
    weights = [v for v in moe.operands if v not in (moe.x, moe.router_x)]
    form = (moe.x.type, moe.router_x is None, *weights, *_attributes(moe))
    return _MixedRow((view, *before, moe), view.x, form)


def _attributes(moe: MoeOp) -> list[tuple[str, Attribute]]:
    return sorted((name, value) for name, value in moe.properties.items() if name != "number")


# Folds


def _moe_deferred_finalize(op: Operation) -> Parts | None:
    """
    A mixture, then the norm of its rows or of its sum with a residual on either side, which alone reads it; another
    sum, of the mixture with something else, may stand between them. The norm may keep its sum and be quantized.
    """
    found = norm(op)
    if found is None:
        return None
    for value in found.folds:
        if not is_read_once(value) or found.reads.count(value) > 1:
            continue
        before = _mixture_and_sum(value.owner)
        if before is not None:
            return (*before, found.op)
    return None


def _mixture_and_sum(op: object) -> Parts | None:
    """A mixture; or a sum, on either side of which is a mixture that it alone reads, with that."""
    if (mixed := mixture(op)) is not None:
        return (mixed,)
    if not _is_sum(op):
        return None
    sides = (mixture(side.owner) for side in (op.a, op.b) if is_read_once(side))
    return next(((mixed, op) for mixed in sides if mixed is not None), None)


SHARED_EXPERT_FUSION = Chain(FusionClass.SHARED_EXPERT_FUSION, _shared_expert_fusion)
MOE_TOKEN_SORT = Chain(FusionClass.MOE_TOKEN_SORT, _moe_token_sort)
MOE_DEFERRED_FINALIZE = Chain(FusionClass.MOE_DEFERRED_FINALIZE, _moe_deferred_finalize)
