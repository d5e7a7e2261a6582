"""The pieces that decoders are made of, each a function that reads like its paper's equation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from math import prod

from xdsl.ir import SSAValue

from lanelink.dialects.tgraph import (
    Adjust,
    BinaryKind,
    CheckpointAttr,
    ElementwiseOp,
    FusedRowOp,
    GeluKind,
    GeluOp,
    MatmulOp,
    NormKind,
    RopeOp,
    RowGatherOp,
    RowsGatherOp,
    SetRowOp,
    StoredUnit,
    StoredViewAttr,
    SwigluOp,
)
from lanelink.frontend.rope import Rope
from lanelink.frontend.shapes import Activation, GatedMlp
from lanelink.frontend.step_builder import StepBuilder
from lanelink.frontend.weights import Place


@dataclass(frozen=True)
class Outputs:
    """Some outputs of a linear layer that the checkpoint keeps as one: of `name`'s `total`, those of a strided view."""

    name: str
    total: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def count(self) -> int:
        """How many."""
        return prod(self.sizes)

    def _source(self, name: str, unit: StoredUnit) -> CheckpointAttr:
        return CheckpointAttr(name, view=StoredViewAttr(unit, self.sizes, self.strides, self.offset))

    def weight(self, step: StepBuilder, inputs: int) -> Place:
        """Where their rows are."""
        full = step.full_name(f"{self.name}.weight")
        return Place(self._source(full, StoredUnit.ROWS), (self.total, inputs))

    def bias(self, step: StepBuilder) -> Place:
        """Where their biases are."""
        full = step.full_name(f"{self.name}.bias")
        return Place(self._source(full, StoredUnit.VALUES), (self.total,))


def embedding(step: StepBuilder, name: str, token: SSAValue, *, vocabulary: int, hidden: int) -> SSAValue:
    """The table's row of each of the step's tokens, [rows, hidden]."""
    with step.within(name):
        table = step.table("weight", vocabulary, hidden)
        op = RowGatherOp(table, token) if step.rows == 1 else RowsGatherOp(table, token)
        return step.add(op, "x")


def linear(
    step: StepBuilder,
    name: str,
    x: SSAValue,
    inputs: int,
    outputs: int,
    *,
    bias: bool = False,
    of: Outputs | None = None,
    hint: str | None = None,
) -> SSAValue:
    """x · Wᵀ + b, as `torch.nn.Linear`; prints as `hint`, by its name where there is none.

    `of`: which outputs of the checkpoint's linear layer these are, where `name` is none of its own there.
    """
    hint = name.removesuffix("_proj") if hint is None else hint
    weight_at, bias_at = (None, None) if of is None else (of.weight(step, inputs), of.bias(step))
    with step.within(name):
        weight = step.matrix("weight", outputs, inputs, transposed=True, place=weight_at)
        y = step.add(MatmulOp(x, weight), hint)
        if bias:
            y = step.add(ElementwiseOp(BinaryKind.ADD, y, step.values("bias", (1, outputs), place=bias_at)), hint)
        return y


def rms_norm(step: StepBuilder, name: str, x: SSAValue, cols: int, eps: float, *, plus_one: bool = False) -> SSAValue:
    """x / sqrt(mean(x²) + eps) · w over every `cols` values: a whole row, or each of its heads; 1 + w for w where
    `plus_one`."""
    with step.within(name):
        place = Place(CheckpointAttr(step.full_name("weight"), adjust=Adjust.PLUS_ONE), (cols,)) if plus_one else None
        weight = step.values("weight", (cols,), place=place)
        return step.add(FusedRowOp(NormKind.RMS, x, cols, eps=eps, weight=weight), name)


def rotary(step: StepBuilder, x: SSAValue, rope: Rope, *, heads: int, head_dim: int, rotated: int) -> SSAValue:
    """The first `rotated` values of every head of row r, turned by position + r; of a batch by each row's position."""
    sizes = {"heads": heads, "head_dim": head_dim, "half": rotated // 2}
    cos, sin = step.rotation(rope, rotated)
    if len(step.positions) == 1:
        return step.add(RopeOp(x, cos, sin, step.positions[0], **sizes), "rotated")
    if (rows := step.rotation_rows(rope, rotated)) is not None:
        return step.add(RopeOp(x, *rows, None, **sizes), "rotated")
    turned = [RopeOp(*each, **sizes) for each in zip(step.apart(x), repeat(cos), repeat(sin), step.positions)]
    return step.together([step.add(op, "rotated") for op in turned], x)


def table_rows(step: StepBuilder, tables: Sequence[SSAValue], rows: Sequence[SSAValue], hint: str) -> list[SSAValue]:
    """Each sequence's table with its rows written from its position on."""
    return [
        step.add(SetRowOp(table, each, position), hint)
        for table, each, position in zip(tables, rows, step.positions, strict=True)
    ]


def add(step: StepBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """a + b: the residual stream and a layer's part of it."""
    return step.add(ElementwiseOp(BinaryKind.ADD, a, b), "x")


def gated_mlp(step: StepBuilder, part: GatedMlp, x: SSAValue, hidden: int) -> SSAValue:
    """W_down · (act(W_gate · x) ⊙ W_up · x) (Shazeer, "GLU variants improve transformer")."""
    gate = linear(step, "gate_proj", x, hidden, part.intermediate, bias=part.bias)
    up = linear(step, "up_proj", x, hidden, part.intermediate, bias=part.bias)
    gated = _gated(step, part.activation, gate, up)
    return linear(step, "down_proj", gated, part.intermediate, hidden, bias=part.bias)


def _gated(step: StepBuilder, activation: Activation, gate: SSAValue, up: SSAValue) -> SSAValue:
    match activation:
        case Activation.SILU:
            return step.add(SwigluOp(gate, up), "gated")
        case Activation.GELU | Activation.GELU_TANH:
            kind = GeluKind.EXACT if activation is Activation.GELU else GeluKind.TANH
            return step.add(ElementwiseOp(BinaryKind.MUL, step.add(GeluOp(kind, gate), "gelu"), up), "gated")
