"""A step as it is built: its ops, constants and state, each named by the part of the model it belongs to."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr, TensorType, f16, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lanelink.dialects.formats import Format
from lanelink.dialects.shaped import is_tensor
from lanelink.dialects.tgraph import (
    CheckpointAttr,
    ConstantOp,
    RopeTableAttr,
    RowsGatherOp,
    RowsType,
    SetRowOp,
    TableKind,
    ViewOp,
)
from lanelink.dialects.tgraph.step import state_name
from lanelink.frontend.rope import Rope, inverse_frequencies, rounded, table_scale
from lanelink.frontend.weights import Place, Weights


@dataclass
class StepBuilder:
    """Appends ops to `block`, each located at the part of the model it computes, by its checkpoint's name.

    A step takes `rows` tokens, over tables of `context` rows: of one sequence from its position on, or one each of as
    many sequences as there are `positions` in `position`, each with tables of its own. `formats` gathers the formats of
    the matrices that products read; `states` and `kept` what outlives the step, by name, before and after it. Tables of
    keys and values hold `kv`, f32 or f16.
    """

    block: Block
    weights: Weights
    position: SSAValue
    positions: Sequence[SSAValue]
    rows: int
    context: int
    rope_format: Format = Format.F32
    kv: Format = Format.F32
    formats: set[Format] = field(default_factory=set[Format])
    states: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    kept: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    _tables: dict[tuple[Rope, int], tuple[SSAValue, SSAValue]] = field(
        default_factory=dict[tuple[Rope, int], tuple[SSAValue, SSAValue]]
    )
    _table_rows: dict[tuple[Rope, int], tuple[SSAValue, SSAValue]] = field(
        default_factory=dict[tuple[Rope, int], tuple[SSAValue, SSAValue]]
    )
    _constants: dict[tuple[Attribute, Attribute], SSAValue] = field(
        default_factory=dict[tuple[Attribute, Attribute], SSAValue]
    )
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
        """Appends `op`, located at the present part; its first result prints as `hint`."""
        op.location = NameLoc(StringAttr(self._scope), NoneAttr())
        self.block.add_op(op)
        op.results[0].name_hint = hint
        return op.results[0]

    def apart(self, x: SSAValue) -> list[SSAValue]:
        """The rows of x that are each sequence's: all, or of several sequences one each, [1, width]."""
        if len(self.positions) == 1:
            return [x]
        assert is_tensor(x.type)
        width = x.type.get_shape()[1]
        kind, hint = TensorType(f32, [1, width]), x.name_hint or "row"
        return [self.add(ViewOp(x, s * width, kind), hint) for s in range(len(self.positions))]

    def together(self, parts: Sequence[SSAValue], over: SSAValue) -> SSAValue:
        """The rows of each sequence as one tensor again, of the type of `over`, of which nothing is left."""
        if len(parts) == 1:
            return parts[0]
        for s, part in enumerate(parts):
            over = self.add(SetRowOp(over, part, row=s), part.name_hint or "rows")
        return over

    def state(self, name: str, rows: int, width: int) -> list[SSAValue]:
        """The table `name` of each sequence as the step before left it, f32 [rows, width]; `keep` says what this step
        leaves."""
        return [self._argument(each, TensorType(f32, [rows, width])) for each in self._state_names(name)]

    def key_values(self, name: str, width: int) -> list[SSAValue]:
        """The table `name` of keys, values or both of each sequence as the step before left it, `kv`
        [context, width]."""
        kind = TensorType(f16 if self.kv is Format.F16 else f32, [self.context, width])
        return [self._argument(each, kind) for each in self._state_names(name)]

    def _state_names(self, name: str) -> list[str]:
        count = len(self.positions)
        return [name] if count == 1 else [state_name(name, s) for s in range(count)]

    def _argument(self, name: str, type: Attribute) -> SSAValue:
        value = self.block.insert_arg(type, len(self.block.args))
        value.name_hint = name.replace(".", "_")
        self.states[name] = value
        return value

    def keep(self, name: str, values: Sequence[SSAValue]) -> None:
        """`values` are what each sequence's table `name` is after this step."""
        self.kept.update(zip(self._state_names(name), values, strict=True))

    def matrix(self, name: str, rows: int, cols: int, *, transposed: bool, place: Place | None = None) -> SSAValue:
        """The matrix `name` that a product reads, as the checkpoint stores it: [outputs, inputs] where `transposed`.

        `place`: where Hugging Face's layout keeps it, where that is not a tensor of its own in that shape. Raises
        CheckpointError where the checkpoint has none of that shape.
        """
        found = self.weights.matrix(self.full_name(name), (rows, cols), place)
        self.formats.add(found.format)
        return self._constant(found.source, RowsType(found.format, rows, cols, transposed=transposed), "w")

    def table(self, name: str, rows: int, cols: int) -> SSAValue:
        """The matrix `name` whose rows are looked up; as `matrix`."""
        found = self.weights.matrix(self.full_name(name), (rows, cols))
        return self._constant(found.source, RowsType(found.format, rows, cols), "w")

    def values(self, name: str, shape: tuple[int, ...], *, place: Place | None = None) -> SSAValue:
        """The tensor `name` as plain values; CheckpointError where the checkpoint has none of that shape.

        A row [1, W] is a vector of the checkpoint's. `place` as in `matrix`.
        """
        source = self.weights.values(self.full_name(name), shape, place).source
        return self._constant(source, TensorType(f32, shape), "v")

    def rotation(self, rope: Rope, rotated: int) -> tuple[SSAValue, SSAValue]:
        """The cos and sin tables, f32 [context, rotated / 2], of heads of which `rotated` values are turned."""
        found = self._tables.get((rope, rotated))
        if found is not None:
            return found
        frequencies = rounded(inverse_frequencies(rope, rotated), self.rope_format)
        type, scale = TensorType(f32, [self.context, len(frequencies)]), table_scale(rope)
        cos = self._constant(RopeTableAttr(TableKind.COS, frequencies.tolist(), scale), type, "cos")
        sin = self._constant(RopeTableAttr(TableKind.SIN, frequencies.tolist(), scale), type, "sin")
        self._tables[rope, rotated] = cos, sin
        return cos, sin

    def rotation_rows(self, rope: Rope, rotated: int) -> tuple[SSAValue, SSAValue] | None:
        """The row of both tables at the position of each of a batch's sequences, f32 [sequences, rotated / 2]; none of
        tables whose rows do not load 16 bytes at a time."""
        if rotated // 2 % 4:
            return None
        found = self._table_rows.get((rope, rotated))
        if found is None:
            cos, sin = (RowsGatherOp(table, self.position) for table in self.rotation(rope, rotated))
            found = self._table_rows[rope, rotated] = self.add(cos, "cos_rows"), self.add(sin, "sin_rows")
        return found

    def _constant(self, source: CheckpointAttr | RopeTableAttr, type: Attribute, hint: str) -> SSAValue:
        found = self._constants.get((source, type))
        if found is None:
            found = self._constants[source, type] = self.add(ConstantOp(source, type), hint)
        return found
