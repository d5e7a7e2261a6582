"""Random steps of lifted ops, for the tests of passes and of what a step means at each level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
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
    GeluKind,
    GeluOp,
    HeadSliceOp,
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
    ViewOp,
)
from lanelink.dialects.tgraph.step import CARRY, POSITION, STATE, TOKEN, step_function

WIDTH, HEAD, CONTEXT, TABLES = 64, 32, 8, 3
FORMATS = (Format.Q8_0, Format.BF16)


class Composer:
    """Adds ops one at a time over one row width, each choice drawn; operands are mostly what was made last."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.rows = draw(st.integers(1, 3))
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

    def makers(self) -> list[Callable[[], SSAValue]]:
        """What is drawn from; what stands twice is drawn as often."""
        makers = [self.product, self.product, self.bias, self.binary, self.norm, self.norm, self.unary, self.swiglu]
        makers += [self.rope, self.rope, self.set_row, self.set_row, self.attention, self.gather]
        return [*makers, self.choice, self.advance, self.gated, self.gated, self.residual, self.residual, self.heads]

    def compose(self, length: int) -> ModuleOp:
        for _ in range(length):
            made = self.draw(st.sampled_from(self.makers()))()
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


class StepComposer(Composer):
    """Adds what shows whether buffers are shared rightly: old tables, views, fixed rows, and what the step carries."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(draw)
        self.versions = list(self.tables)
        self.extras: list[SSAValue] = []

    def set_row(self) -> SSAValue:
        k = self.draw(st.integers(0, TABLES - 1))
        # Mostly the table as it is; at times as it was.
        table = self.draw(st.sampled_from([self.tables[k], self.tables[k], *self.versions]))
        row = self.draw(st.sampled_from([None, None, 0, CONTEXT - self.rows]))
        at = self.one_of(self.positions[:2]) if row is None else None
        self.tables[k] = self.add(SetRowOp(table, self.one_of(self.pool), at, row))
        self.versions.append(self.tables[k])
        return self.one_of(self.pool)

    def attention(self) -> SSAValue:
        keys, values = (self.draw(st.sampled_from(self.versions[-4:])) for _ in range(2))
        heads = WIDTH // HEAD
        sinks = self.constant(TensorType(f32, [heads])) if self.draw(st.booleans()) else None
        window = self.draw(st.sampled_from([None, 1, 3]))
        at = self.one_of(self.positions[:2])
        op = AttentionOp(
            self.one_of(self.pool),
            keys,
            values,
            at,
            heads=heads,
            kv_heads=heads,
            head_dim=HEAD,
            window=window,
            sinks=sinks,
        )
        return self.add(op)

    def view(self) -> SSAValue:
        """Rows of a table, as a name for them."""
        first = self.draw(st.integers(0, CONTEXT - self.rows))
        table = self.draw(st.sampled_from(self.versions))
        return self.add(ViewOp(table, first * WIDTH, TensorType(f32, [self.rows, WIDTH])))

    def fixed_row(self) -> SSAValue:
        """A table's row, beside the rest of the step."""
        row = self.draw(st.integers(0, CONTEXT - 1))
        self.extras.append(self.add(RowGatherOp(self.draw(st.sampled_from(self.versions)), row=row)))
        return self.pool[-1]

    def set_in_view(self) -> SSAValue:
        """A part of a table with its first rows set: the table itself stays."""
        half = TensorType(f32, [CONTEXT // 2, WIDTH])
        part = self.add(ViewOp(self.draw(st.sampled_from(self.versions)), 2 * WIDTH, half))
        self.extras.append(self.add(SetRowOp(part, self.one_of(self.pool), row=0)))
        return self.pool[-1]

    def slice(self) -> SSAValue:
        """The second half of every head, beside the rest of the step."""
        self.extras.append(self.add(HeadSliceOp(self.one_of(self.pool), start=HEAD // 2, width=HEAD // 2, every=HEAD)))
        return self.pool[-1]

    def makers(self) -> list[Callable[[], SSAValue]]:
        return [*super().makers(), self.attention, self.view, self.fixed_row, self.set_in_view, self.slice]

    def finish(self, outputs: list[SSAValue]) -> ModuleOp:
        """Returns what was made, some of it carried: tables in any order, the choice, the position moved on."""
        draw, args = self.draw, self.block.args
        carried: list[tuple[SSAValue, int]] = []
        order = draw(st.permutations(range(TABLES)))
        last = [*self.tables, *args[3:]]
        # As many of the newest tables as are drawn become arguments, each its own or another's.
        for k in range(draw(st.integers(0, TABLES))):
            carried.append((draw(st.sampled_from(last)), 3 + order[k]))
        chosen = [v for v in self.others if v.type == args[0].type]
        if chosen and draw(st.booleans()):
            carried.append((draw(st.sampled_from(chosen)), 0))
        if draw(st.booleans()):
            carried.append((draw(st.sampled_from(self.positions)), 1))
        results = [*outputs, *self.extras, *draw(st.lists(st.sampled_from(args), max_size=1))]
        return self._marked(results, carried)

    def _marked(self, results: list[SSAValue], carried: list[tuple[SSAValue, int]]) -> ModuleOp:
        self.builder.insert(ReturnOp(*(v for v, _ in carried), *results))
        types = [v.type for v, _ in carried] + [v.type for v in results]
        states = {k: STATE for _, k in carried if k >= 3}
        args = [{TOKEN: UnitAttr()}, {POSITION: UnitAttr()}, *({} for _ in self.block.args[2:])]
        args = [a | ({STATE: StringAttr(f"table{k}")} if k in states else {}) for k, a in enumerate(args)]
        marks = [{CARRY: IntegerAttr(k, i64)} for _, k in carried] + [{} for _ in results]
        func = FuncOp(
            "step",
            FunctionType.from_lists([a.type for a in self.block.args], types),
            Region(self.block),
            arg_attrs=ArrayAttr([DictionaryAttr(a) for a in args]),
            res_attrs=ArrayAttr([DictionaryAttr(m) for m in marks]),
        )
        module = ModuleOp([func])
        module.attributes[TARGET] = preset("h200", self.draw(st.sampled_from(Numerics)))
        return module


def random_arguments(module: ModuleOp, position: int) -> list[npt.NDArray[Any]]:
    """What a drawn step is given: random token ids, this position in every place of one, and random state."""
    rng = np.random.default_rng(position)
    token, *positions = step_function(module).body.block.args[:3]
    arguments = [rng.integers(0, CONTEXT, token.type.get_shape(), np.int32)]
    arguments += [np.full(a.type.get_shape(), position, np.int32) for a in positions]
    states = step_function(module).body.block.args[3:]
    return [*arguments, *(rng.standard_normal(a.type.get_shape(), np.float32) for a in states)]


class Drawn:
    """
    A drawn module, which a failing test shows as its text. Field by field, as it would be shown else, an op shows its
    operands, and they their ops, which takes forever.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module

    def __repr__(self) -> str:
        return f"\n{self.module}\n"
