"""Random small steps mean the same before and after fuse, and compute the same ops of the same values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, TensorType, UnitAttr, f32, i32
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
    FusedOp,
    FusedRowOp,
    GeluKind,
    GeluOp,
    LiftedOp,
    MatmulOp,
    NormKind,
    RopeOp,
    RopeTableAttr,
    RowGatherOp,
    RowsGatherOp,
    RowsType,
    ScaleOp,
    SetRowOp,
    SigmoidOp,
    SiluOp,
    SwigluOp,
    TableKind,
)
from lanelink.dialects.tgraph.step import TOKEN, step_function, step_return, verify_dominance
from lanelink.lowering.interpreters.reference import StepInterpreter
from lanelink.lowering.weights import random_weights
from lanelink.passes.fuse import FusePass
from lanelink.passes.quantize_activations import QuantizeActivationsPass

WIDTH, HEAD, CONTEXT, TABLES = 64, 32, 8, 3
FORMATS = (Format.Q8_0, Format.BF16)


class Composer:
    """Adds ops one at a time over one row width, each choice drawn; operands are mostly what was made last."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.rows = draw(st.integers(1, 2))
        table = TensorType(f32, [CONTEXT, WIDTH])
        self.block = Block(arg_types=[TensorType(i32, [self.rows]), *[TensorType(i32, [1])] * 2, *[table] * TABLES])
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.positions: list[SSAValue] = list(self.block.args[1:3])
        self.tables: list[SSAValue] = list(self.block.args[3:])
        self.others: list[SSAValue] = []
        self.names = 0
        turns = TensorType(f32, [2 * CONTEXT, HEAD // 2])
        frequencies = [10.0 ** (-i / 4) for i in range(HEAD // 2)]
        self.turns = [
            [self.add(ConstantOp(RopeTableAttr(kind, frequencies, scale), turns)) for kind in TableKind]
            for scale in (1.0, 0.5)
        ]
        self.pool = [self.gather()]

    def add(self, op: Operation) -> SSAValue:
        return self.builder.insert(op).results[0]

    def constant(self, kind: Attribute) -> SSAValue:
        self.names += 1
        return self.add(ConstantOp(CheckpointAttr(f"c{self.names}"), kind))

    def one_of(self, values: list[SSAValue]) -> SSAValue:
        """One of the last few values, most often the last."""
        back = self.draw(st.sampled_from([0, 0, 0, 1, 2, 3]))
        return values[-1 - min(back, len(values) - 1)]

    def gather(self) -> SSAValue:
        table = self.constant(RowsType(self.draw(st.sampled_from(FORMATS)), CONTEXT, WIDTH))
        token = self.block.args[0]
        return self.add(RowGatherOp(table, token) if self.rows == 1 else RowsGatherOp(table, token))

    def product(self) -> SSAValue:
        kind = RowsType(self.draw(st.sampled_from(FORMATS)), WIDTH, WIDTH, transposed=True)
        plain = TensorType(f32, [WIDTH, WIDTH])
        return self.add(
            MatmulOp(self.one_of(self.pool), self.constant(self.draw(st.sampled_from([kind, kind, plain]))))
        )

    def bias(self) -> SSAValue:
        return self.add(
            ElementwiseOp(BinaryKind.ADD, self.one_of(self.pool), self.constant(TensorType(f32, [1, WIDTH])))
        )

    def binary(self) -> SSAValue:
        kind = self.draw(st.sampled_from([BinaryKind.ADD, BinaryKind.MUL]))
        return self.add(ElementwiseOp(kind, self.one_of(self.pool), self.one_of(self.pool)))

    def norm(self) -> SSAValue:
        cols = self.draw(st.sampled_from([WIDTH, HEAD]))
        residual = self.one_of(self.pool) if self.draw(st.integers(0, 4)) == 0 else None
        weight = self.constant(TensorType(f32, [cols]))
        return self.add(
            FusedRowOp(NormKind.RMS, self.one_of(self.pool), cols, eps=1e-6, weight=weight, residual=residual)
        )

    def unary(self) -> SSAValue:
        make: Callable[[SSAValue], Operation] = self.draw(
            st.sampled_from([SiluOp, SigmoidOp, lambda x: GeluOp(GeluKind.TANH, x), lambda x: ScaleOp(x, 0.5)])
        )
        return self.add(make(self.one_of(self.pool)))

    def swiglu(self) -> SSAValue:
        return self.add(SwigluOp(self.one_of(self.pool), self.one_of(self.pool)))

    def rope(self) -> SSAValue:
        cos, sin = self.turns[self.draw(st.integers(0, 3)) == 0]
        position = self.one_of(self.positions)
        return self.add(
            RopeOp(self.one_of(self.pool), cos, sin, position, heads=WIDTH // HEAD, head_dim=HEAD, half=HEAD // 2)
        )

    def set_row(self) -> SSAValue:
        k = self.draw(st.integers(0, TABLES - 1))
        position = self.one_of(self.positions[:2])
        self.tables[k] = self.add(SetRowOp(self.tables[k], self.one_of(self.pool), position))
        return self.one_of(self.pool)

    def attention(self) -> SSAValue:
        keys, values = (self.tables[self.draw(st.integers(0, TABLES - 1))] for _ in range(2))
        heads = WIDTH // HEAD
        return self.add(
            AttentionOp(
                self.one_of(self.pool), keys, values, self.positions[0], heads=heads, kv_heads=heads, head_dim=HEAD
            )
        )

    def choice(self) -> SSAValue:
        self.others.append(self.add(ArgMaxOp(self.one_of(self.pool))))
        return self.one_of(self.pool)

    def advance(self) -> SSAValue:
        self.positions.append(self.add(AdvanceOp(self.positions[0])))
        return self.one_of(self.pool)

    def gated(self) -> SSAValue:
        """A gated pair over one activation, as decoders have it."""
        self.pool += [self.product(), self.product()]
        gate, up = self.pool[-2:]
        if self.draw(st.booleans()):
            return self.add(SwigluOp(gate, up))
        act = self.add(SigmoidOp(gate))
        sides = [act, up] if self.draw(st.booleans()) else [up, act]
        return self.add(ElementwiseOp(BinaryKind.MUL, *sides))

    def residual(self) -> SSAValue:
        """A product added to what came before, and its norm."""
        x = self.one_of(self.pool)
        self.pool.append(self.product())
        sides = [x, self.pool[-1]] if self.draw(st.booleans()) else [self.pool[-1], x]
        self.pool.append(self.add(ElementwiseOp(BinaryKind.ADD, *sides)))
        return self.norm()

    def heads(self) -> SSAValue:
        """A product, with or without a bias and a norm of its heads, turned, landing in a table or not."""
        for make in (self.product, self.bias, self.norm, self.rope, self.set_row):
            if make in (self.product, self.rope) or self.draw(st.booleans()):
                self.pool.append(make())
        return self.pool[-1]

    def compose(self, length: int) -> ModuleOp:
        makers = [self.product, self.product, self.bias, self.binary, self.norm, self.norm, self.unary, self.swiglu]
        makers += [self.rope, self.rope, self.set_row, self.set_row, self.attention, self.gather]
        makers += [self.choice, self.advance, self.gated, self.gated, self.residual, self.residual, self.heads]
        for _ in range(length):
            made = self.draw(st.sampled_from(makers))()
            if made is not self.pool[-1]:
                self.pool.append(made)
        shown = self.draw(st.lists(st.sampled_from(self.pool), max_size=2))
        return self.finish([self.pool[-1], *shown, *self.tables, *self.others, *self.positions])

    def finish(self, outputs: list[SSAValue]) -> ModuleOp:
        self.builder.insert(ReturnOp(*outputs))
        kind = FunctionType.from_lists([a.type for a in self.block.args], [o.type for o in outputs])
        marks = [DictionaryAttr({TOKEN: UnitAttr()}), *[DictionaryAttr({})] * (len(self.block.args) - 1)]
        module = ModuleOp([FuncOp("step", kind, Region(self.block), arg_attrs=ArrayAttr(marks))])
        module.attributes[TARGET] = preset("h200", self.draw(st.sampled_from(Numerics)))
        return module


@st.composite
def steps(draw: st.DrawFn) -> ModuleOp:
    """A random step after quantize-activations."""
    module = Composer(draw).compose(draw(st.integers(3, 20)))
    QuantizeActivationsPass().apply(Context(), module)
    module.verify()
    return module


def formulas(module: ModuleOp, known: dict[object, int]) -> list[int]:
    """
    The results as numbers of formulas: two values have one number exactly if the same ops compute them of the same
    arguments and constants, fused or not. `known` holds the numbers given so far.
    """
    of: dict[SSAValue, int] = {}

    def read(block: Block) -> None:
        for op in block.ops:
            if isinstance(op, FusedOp):
                of.update(zip(op.body.block.args, [of[v] for v in op.inputs], strict=True))
                read(op.body.block)
                of.update(zip(op.outputs, [of[v] for v in op.yielded], strict=True))
            elif isinstance(op, LiftedOp | ConstantOp):
                formula = (op.name, frozenset(op.properties.items()), op.results[0].type, *[of[v] for v in op.operands])
                of[op.results[0]] = known.setdefault(formula, len(known))

    func = step_function(module)
    of.update((a, known.setdefault(("argument", a.index), len(known))) for a in func.body.block.args)
    read(func.body.block)
    return [of[v] for v in step_return(func).operands]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps(), st.integers(0, 5))
def test_fusing_changes_no_value(module: ModuleOp, position: int) -> None:
    before = module.clone()
    FusePass().apply(Context(), module)
    module.verify()
    verify_dominance(module)
    known: dict[object, int] = {}
    assert formulas(module, known) == formulas(before, known)
    rng = np.random.default_rng(position)
    func = step_function(module)
    inputs = [np.full(a.type.get_shape(), position, np.int32) for a in func.body.block.args[:3]]
    inputs += [rng.standard_normal(a.type.get_shape(), np.float32) for a in func.body.block.args[3:]]
    constants = random_weights(before)
    expected = StepInterpreter(before, constants).run(inputs)
    got = StepInterpreter(module, constants).run(inputs)
    for a, b in zip(expected, got, strict=True):
        np.testing.assert_array_equal(a, b)
