"""A step as it is built: its ops, constants and state, each named by the part of the model it belongs to."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr, TensorType, f16, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import CheckpointAttr, ConstantOp, RopeTableAttr, RowsType, TableKind
from lanelink.frontend.rope import Rope, inverse_frequencies, rounded, table_scale
from lanelink.frontend.weights import Place, Weights


@dataclass
class StepBuilder:
    """Appends ops to `block`, each located at the part of the model it computes, by its checkpoint's name.

    A step takes `rows` tokens from `position` on, over tables of `context` rows. `formats` gathers the formats of the
    matrices that products read; `states` and `kept` what outlives the step, by name, before and after it. Tables of
    keys and values hold `kv`, f32 or f16.
    """

    block: Block
    weights: Weights
    position: SSAValue
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

    def state(self, name: str, rows: int, width: int) -> SSAValue:
        """The table `name` as the step before left it, f32 [rows, width]; `keep` says what this step leaves."""
        return self._argument(name, TensorType(f32, [rows, width]))

    def key_values(self, name: str, width: int) -> SSAValue:
        """The table `name` of keys, values or both as the step before left it, `kv` [context, width]."""
        return self._argument(name, TensorType(f16 if self.kv is Format.F16 else f32, [self.context, width]))

    def _argument(self, name: str, type: Attribute) -> SSAValue:
        value = self.block.insert_arg(type, len(self.block.args))
        value.name_hint = name.replace(".", "_")
        self.states[name] = value
        return value

    def keep(self, name: str, value: SSAValue) -> None:
        """`value` is what the table `name` is after this step."""
        self.kept[name] = value

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

    def _constant(self, source: CheckpointAttr | RopeTableAttr, type: Attribute, hint: str) -> SSAValue:
        return self.add(ConstantOp(source, type), hint)
