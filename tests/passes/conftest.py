"""Decoding steps built by hand, for the tests of passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.dialects.tgraph import (
    AdvanceOp,
    ArgMaxOp,
    AttentionOp,
    BinaryKind,
    CheckpointAttr,
    ConstantOp,
    ElementwiseOp,
    FusedRowOp,
    MatmulOp,
    NormKind,
    RopeOp,
    RopeTableAttr,
    RowGatherOp,
    RowsGatherOp,
    RowsType,
    SetRowOp,
    SwigluOp,
    TableKind,
)
from lanelink.dialects.tgraph.step import CARRY, LOGITS, POSITION, STATE, TOKEN


@dataclass(frozen=True)
class Shape:
    """What a dense decoder is built from. Defaults are small; `layers` and `rows` are what tests vary most."""

    layers: int = 2
    rows: int = 1
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    inner: int = 96
    vocabulary: int = 32
    context: int = 8
    format: Format = Format.Q8_0
    head_norms: bool = True
    biases: bool = False


@dataclass
class DecoderBuilder:
    """Builds one step of a dense decoder at level 1, each constant where it is first read."""

    shape: Shape
    block: Block = field(init=False)
    builder: Builder = field(init=False)

    def __post_init__(self) -> None:
        s = self.shape
        table = TensorType(f32, [s.context, s.kv_heads * s.head_dim])
        self.block = Block(arg_types=[TensorType(i32, [s.rows]), TensorType(i32, [1]), *[table] * (2 * s.layers)])
        self.builder = Builder(InsertPoint.at_end(self.block))

    def add(self, op: Operation) -> SSAValue:
        return self.builder.insert(op).results[0]

    def constant(self, name: str, kind: Attribute) -> SSAValue:
        return self.add(ConstantOp(CheckpointAttr(name), kind))

    def product(self, x: SSAValue, name: str, n: int, k: int) -> SSAValue:
        weight = self.constant(f"{name}.weight", RowsType(self.shape.format, n, k, transposed=True))
        return self.add(MatmulOp(x, weight))

    def norm(self, x: SSAValue, name: str, cols: int) -> SSAValue:
        weight = self.constant(f"{name}.weight", TensorType(f32, [cols]))
        return self.add(FusedRowOp(NormKind.RMS, x, cols, eps=1e-6, weight=weight))

    def projection(self, h: SSAValue, layer: int, which: str, heads: int) -> SSAValue:
        s, width = self.shape, heads * self.shape.head_dim
        y = self.product(h, f"layers.{layer}.{which}", width, s.hidden)
        if s.biases:
            bias = self.constant(f"layers.{layer}.{which}.bias", TensorType(f32, [1, width]))
            y = self.add(ElementwiseOp(BinaryKind.ADD, y, bias))
        return y

    def turned(self, y: SSAValue, layer: int, which: str, heads: int) -> SSAValue:
        s = self.shape
        if s.head_norms:
            y = self.norm(y, f"layers.{layer}.{which}_norm", s.head_dim)
        return self.add(
            RopeOp(y, *self.tables, self.block.args[1], heads=heads, head_dim=s.head_dim, half=s.head_dim // 2)
        )

    def layer(self, x: SSAValue, layer: int) -> tuple[SSAValue, SSAValue, SSAValue]:
        s, pos = self.shape, self.block.args[1]
        keys, values = self.block.args[2 + 2 * layer : 4 + 2 * layer]
        h = self.norm(x, f"layers.{layer}.input_norm", s.hidden)
        q = self.turned(self.projection(h, layer, "q", s.heads), layer, "q", s.heads)
        k = self.turned(self.projection(h, layer, "k", s.kv_heads), layer, "k", s.kv_heads)
        v = self.projection(h, layer, "v", s.kv_heads)
        keys = self.add(SetRowOp(keys, k, pos))
        values = self.add(SetRowOp(values, v, pos))
        a = self.add(AttentionOp(q, keys, values, pos, heads=s.heads, kv_heads=s.kv_heads, head_dim=s.head_dim))
        o = self.product(a, f"layers.{layer}.o", s.hidden, s.heads * s.head_dim)
        x = self.add(ElementwiseOp(BinaryKind.ADD, x, o))
        h = self.norm(x, f"layers.{layer}.inner_norm", s.hidden)
        gate = self.product(h, f"layers.{layer}.gate", s.inner, s.hidden)
        up = self.product(h, f"layers.{layer}.up", s.inner, s.hidden)
        down = self.product(self.add(SwigluOp(gate, up)), f"layers.{layer}.down", s.hidden, s.inner)
        return self.add(ElementwiseOp(BinaryKind.ADD, x, down)), keys, values

    def step(self) -> FuncOp:
        """The step: token and position carried (the token for one row alone), logits, and the tables."""
        s = self.shape
        token, position = self.block.args[:2]
        frequencies = [10.0 ** (-i / 4) for i in range(s.head_dim // 2)]
        kind = TensorType(f32, [s.context, s.head_dim // 2])
        self.tables = [self.add(ConstantOp(RopeTableAttr(t, frequencies), kind)) for t in TableKind]
        table = self.constant("embed.weight", RowsType(s.format, s.vocabulary, s.hidden))
        x = self.add(RowGatherOp(table, token) if s.rows == 1 else RowsGatherOp(table, token))
        states: list[SSAValue] = []
        for layer in range(s.layers):
            x, *written = self.layer(x, layer)
            states += written
        logits = self.product(self.norm(x, "norm", s.hidden), "embed", s.vocabulary, s.hidden)
        token = self.add(ArgMaxOp(logits))
        position = self.add(AdvanceOp(position, s.rows))
        outputs = [token, position, logits, *states]
        self.builder.insert(ReturnOp(*outputs))
        return self._function(outputs)

    def _function(self, outputs: list[SSAValue]) -> FuncOp:
        args = [{TOKEN: UnitAttr()}, {POSITION: UnitAttr()}]
        args += [{STATE: StringAttr(f"layers.{k // 2}.{('keys', 'values')[k % 2]}")} for k in range(len(outputs) - 3)]
        carry = [None if self.shape.rows > 1 else 0, 1, None, *range(2, len(outputs) - 1)]
        results = [{} if c is None else {CARRY: IntegerAttr(c, i64)} for c in carry]
        results[2] = {LOGITS: UnitAttr()}
        kind = FunctionType.from_lists([a.type for a in self.block.args], [o.type for o in outputs])
        return FuncOp(
            "step",
            kind,
            Region(self.block),
            arg_attrs=ArrayAttr([DictionaryAttr(a) for a in args]),
            res_attrs=ArrayAttr([DictionaryAttr(r) for r in results]),
        )


Decoder = Callable[..., ModuleOp]


@pytest.fixture
def decoder() -> Decoder:
    """Makes a module of one step: `decoder(numerics, layers=…, rows=…, …)`, fields as in Shape."""

    def make(numerics: Numerics = Numerics.DEQUANT, **fields: object) -> ModuleOp:
        module = ModuleOp([DecoderBuilder(Shape(**fields)).step()])
        module.attributes[TARGET] = preset("h200", numerics)
        module.verify()
        return module

    return make
