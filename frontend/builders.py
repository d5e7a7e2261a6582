"""The pieces that decoders are made of, each a function that reads like its paper's equation."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr, TensorType, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import (
    BinaryKind,
    CheckpointAttr,
    ConstantOp,
    ElementwiseOp,
    FusedRowOp,
    GeluKind,
    GeluOp,
    MatmulOp,
    NormKind,
    RopeOp,
    RopeTableAttr,
    RowGatherOp,
    RowsGatherOp,
    RowsType,
    SwigluOp,
    TableKind,
)
from lanelink.frontend.config import Activation
from lanelink.frontend.weights import Place, Weights


@dataclass
class StepBuilder:
    """Appends ops to `block`, each located at the part of the model it computes, by its checkpoint's name.

    `formats` gathers the formats of the matrices that products read.
    """

    block: Block
    weights: Weights
    formats: set[Format] = field(default_factory=set[Format])
    _scope: str = ""

    @contextmanager
    def within(self, name: str) -> Generator[None]:
        """Names are below `name` of the present part: `within("layers.3")`, then `within("mlp")`."""
        outer = self._scope
        self._scope = self.full_name(name)
        try:
            yield
        finally:
            self._scope = outer

    def full_name(self, name: str) -> str:
        """The checkpoint's name of `name` inside the present part."""
        return f"{self._scope}.{name}" if self._scope else name

    def add(self, op: Operation, hint: str) -> SSAValue:
        """Appends `op`, located at the present part; its result prints as `hint`."""
        op.location = NameLoc(StringAttr(self._scope), NoneAttr())
        self.block.add_op(op)
        op.results[0].name_hint = hint
        return op.results[0]

    def rows(self, name: str, rows: int, cols: int, *, transposed: bool, place: Place | None = None) -> SSAValue:
        """The matrix `name` as the checkpoint stores it; CheckpointError where it has none of that shape.

        `place`: where Hugging Face's layout keeps it, where that is not a tensor of its own in that shape.
        """
        found = self.weights.matrix(self.full_name(name), (rows, cols), place)
        if transposed:
            self.formats.add(found.format)
        return self._constant(found.source, RowsType(found.format, rows, cols, transposed=transposed), "w")

    def values(self, name: str, shape: tuple[int, ...], *, place: Place | None = None) -> SSAValue:
        """The tensor `name` as plain values; CheckpointError where the checkpoint has none of that shape.

        A row [1, W] is a vector of the checkpoint's. `place` as in `rows`.
        """
        source = self.weights.values(self.full_name(name), shape, place).source
        return self._constant(source, TensorType(f32, shape), "v")

    def _constant(self, source: CheckpointAttr | RopeTableAttr, type: Attribute, hint: str) -> SSAValue:
        return self.add(ConstantOp(source, type), hint)

    def rotation_tables(self, frequencies: NDArray[np.float32], context: int) -> tuple[SSAValue, SSAValue]:
        """The cos and sin tables, f32 [context, head_dim / 2], of a rotation's inverse frequencies."""
        type = TensorType(f32, [context, len(frequencies)])
        cos = self._constant(RopeTableAttr(TableKind.COS, frequencies.tolist()), type, "cos")
        sin = self._constant(RopeTableAttr(TableKind.SIN, frequencies.tolist()), type, "sin")
        return cos, sin


def embedding(step: StepBuilder, name: str, token: SSAValue, rows: int, *, vocabulary: int, hidden: int) -> SSAValue:
    """The table's row of each of `rows` tokens, [rows, hidden]."""
    with step.within(name):
        table = step.rows("weight", vocabulary, hidden, transposed=False)
        op = RowGatherOp(table, token) if rows == 1 else RowsGatherOp(table, token)
        return step.add(op, "x")


def linear(
    step: StepBuilder,
    name: str,
    x: SSAValue,
    inputs: int,
    outputs: int,
    *,
    bias: bool = False,
    hint: str | None = None,
) -> SSAValue:
    """x · Wᵀ + b, as `torch.nn.Linear`; prints as `hint`, by its name where there is none."""
    hint = name.removesuffix("_proj") if hint is None else hint
    with step.within(name):
        y = step.add(MatmulOp(x, step.rows("weight", outputs, inputs, transposed=True)), hint)
        if bias:
            y = step.add(ElementwiseOp(BinaryKind.ADD, y, step.values("bias", (1, outputs))), hint)
        return y


def rms_norm(step: StepBuilder, name: str, x: SSAValue, cols: int, eps: float) -> SSAValue:
    """x / sqrt(mean(x²) + eps) · w over every `cols` values: a whole row, or each of its heads."""
    with step.within(name):
        weight = step.values("weight", (cols,))
        return step.add(FusedRowOp(NormKind.RMS, x, cols, eps=eps, weight=weight), name)


def rotary(
    step: StepBuilder,
    x: SSAValue,
    tables: tuple[SSAValue, SSAValue],
    position: SSAValue,
    *,
    heads: int,
    head_dim: int,
) -> SSAValue:
    """Every head of row r turned by position + r."""
    op = RopeOp(x, *tables, position, heads=heads, head_dim=head_dim, half=head_dim // 2)
    return step.add(op, "rotated")


def add(step: StepBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """a + b: the residual stream and a layer's part of it."""
    return step.add(ElementwiseOp(BinaryKind.ADD, a, b), "x")


def gated_mlp(
    step: StepBuilder, x: SSAValue, activation: Activation, *, hidden: int, intermediate: int, bias: bool
) -> SSAValue:
    """W_down · (act(W_gate · x) ⊙ W_up · x) (Shazeer, "GLU variants improve transformer")."""
    gate = linear(step, "gate_proj", x, hidden, intermediate, bias=bias)
    up = linear(step, "up_proj", x, hidden, intermediate, bias=bias)
    return linear(step, "down_proj", _gated(step, activation, gate, up), intermediate, hidden, bias=bias)


def _gated(step: StepBuilder, activation: Activation, gate: SSAValue, up: SSAValue) -> SSAValue:
    match activation:
        case Activation.SILU:
            return step.add(SwigluOp(gate, up), "gated")
        case Activation.GELU | Activation.GELU_TANH:
            kind = GeluKind.EXACT if activation is Activation.GELU else GeluKind.TANH
            return step.add(ElementwiseOp(BinaryKind.MUL, step.add(GeluOp(kind, gate), "gelu"), up), "gated")
