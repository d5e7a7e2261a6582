"""
What every launch op has in common: named operands, the lifted ops it covers, which operands it writes.

All launches share one assembly form, so that each reads as a call with named arguments:

    launch.norm(x = %0 : memref<1x64xf32>, out = %1 : memref<1x64xf32>) {cols = 64 : i64, ...} covers [3, 4]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    f16,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, OptOperandDef, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.attribute_syntax import parse_attributes
from lanelink.dialects.fault import OpFault
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType

Fields = Mapping[str, SSAValue | Attribute | None]
"""A launch's operands and properties, by name."""

MOST_LIFTED = 2**31 - 1
"""The largest number of a lifted op that text may name."""

MOST_INDEXED = 2**31 - 1
"""The most rows, and values of one, that the i32 of a device counts."""

SEGMENTS = "operandSegmentSizes"

OUTSIDE = (SEGMENTS, "covers")
"""Fields that the dictionary of a launch does not hold."""


class Launch(IRDLOperation, ABC):
    """
    A kernel launch, or a part of one, over buffers. `WRITES` names the operands it writes. `dependent`: it may start
    before the launch before it ends.
    """

    WRITES: ClassVar[tuple[str, ...]] = ("out", "quant")

    dependent = opt_prop_def(UnitAttr)

    @classmethod
    def from_fields(cls, fields: Fields, regions: Sequence[Region] = ()) -> Self:
        """Builds the op from its operands and properties by name; KeyError for a name it does not have."""
        definition = cls.get_irdl_definition()
        names = [name for name, _ in definition.operands]
        if unknown := set(fields) - set(names) - set(definition.properties):
            raise KeyError(f"{cls.name}: expected fields of {names} and {sorted(definition.properties)}, got {unknown}")
        operands: list[SSAValue | Sequence[SSAValue]] = []
        for name, kind in definition.operands:
            value = fields.get(name)
            assert value is None or isinstance(value, SSAValue)
            if isinstance(kind, OptOperandDef):
                operands.append(() if value is None else (value,))
            elif value is None:
                raise KeyError(f"{cls.name}: expected the operand '{name}', got none")
            else:
                operands.append(value)
        properties = {k: v for k, v in fields.items() if isinstance(v, Attribute) and k not in names}
        return cls(operands=operands, properties=properties, regions=regions)

    def named_operands(self) -> Iterator[tuple[str, SSAValue]]:
        """The operands it has, by name."""
        for name, _ in self.get_irdl_definition().operands:
            value = getattr(self, name)
            if value is not None:
                yield name, value

    def writes(self) -> list[SSAValue]:
        """Buffers it writes."""
        return [v for name, v in self.named_operands() if name in self.WRITES]

    def reads(self) -> list[SSAValue]:
        """Buffers, constants and indices it reads."""
        return [v for name, v in self.named_operands() if name not in self.WRITES]

    @abstractmethod
    def covered(self) -> list[int]:
        """Numbers of the lifted ops it computes."""

    # Assembly

    def print(self, printer: Printer) -> None:
        self.print_operands(printer)
        self.print_fields(printer)

    def print_operands(self, printer: Printer) -> None:
        """`(name = %value : type, ...)`."""
        printer.print_string("(")

        def operand(pair: tuple[str, SSAValue]) -> None:
            printer.print_string(f"{pair[0]} = ")
            printer.print_operand(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)

        printer.print_list(list(self.named_operands()), operand)
        printer.print_string(")")

    def print_fields(self, printer: Printer, hidden: Sequence[str] = (), *, keyword: bool = False) -> None:
        """Properties and attributes as one dictionary but for those `hidden`, then what is covered."""
        held = {**self.properties, **self.attributes}
        printer.print_op_attributes(held, reserved_attr_names=(*OUTSIDE, *hidden), print_keyword=keyword)
        covers = self.properties.get("covers")
        if covers is not None:
            printer.print_string(" covers [")
            printer.print_list(self.covered(), printer.print_int)
            printer.print_string("]")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        fields = cls.parse_operands(parser)
        return cls.parse_fields(parser, fields, ())

    @classmethod
    def parse_operands(cls, parser: Parser) -> dict[str, SSAValue | Attribute | None]:
        """The named operands."""
        names = [name for name, _ in cls.get_irdl_definition().operands]
        found: dict[str, SSAValue | Attribute | None] = {}

        def operand() -> None:
            at = parser.pos
            name = parser.parse_identifier()
            if name not in names or name in found:
                parser.raise_error(
                    f"expected one of {', '.join(names)}, each at most once, got '{name}'", at, parser.pos
                )
            parser.parse_punctuation("=")
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            found[name] = parser.resolve_operand(value, parser.parse_type())

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, operand)
        for name, kind in cls.get_irdl_definition().operands:
            if name not in found and not isinstance(kind, OptOperandDef):
                parser.raise_error(f"expected the operand '{name}' of {cls.name}, got none")
        return found

    @classmethod
    def parse_fields(
        cls, parser: Parser, fields: dict[str, SSAValue | Attribute | None], regions: Sequence[Region]
    ) -> Self:
        """Properties, attributes and what is covered; builds the op."""
        definition = cls.get_irdl_definition()
        extra: dict[str, Attribute] = {}
        for name, value in parse_attributes(parser, cls.name, OUTSIDE).items():
            if name in definition.properties:
                fields[name] = value
            else:
                extra[name] = value
        if "covers" in definition.properties:
            fields["covers"] = covers_attr(parse_covers(parser))
        op = cls.from_fields(fields, regions)
        op.attributes |= extra
        return op


class LeafLaunch(Launch, ABC):
    """A launch of one kind, or one part of a launch of several."""

    covers = prop_def(DenseArrayBase[I64])

    def covered(self) -> list[int]:
        return list(self.covers.get_values())


class CompoundLaunch(Launch, ABC):
    """One launch made of others, held in its region; it covers what they cover."""

    @classmethod
    def of(cls, members: Sequence[Launch]) -> Self:
        """A launch of these, which stand in no block. That one of them may start early goes: it says so of a whole."""
        for member in members:
            member.dependent = None
        made = cls.from_fields({}, [Region(Block(members))])
        made.location = members[0].location
        return made

    def members(self) -> list[Launch]:
        """The launches, or parts of launches, it holds, in order."""
        return [op for op in self.regions[0].block.ops if isinstance(op, Launch)]

    def covered(self) -> list[int]:
        return sorted(n for m in self.members() for n in m.covered())

    def writes(self) -> list[SSAValue]:
        return [*super().writes(), *(v for m in self.members() for v in m.writes())]

    def reads(self) -> list[SSAValue]:
        return [*super().reads(), *(v for m in self.members() for v in m.reads())]

    def print(self, printer: Printer) -> None:
        self.print_operands(printer)
        # The keyword tells the dictionary's brace from the region's.
        self.print_fields(printer, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.regions[0], print_entry_block_args=False, print_block_terminators=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        fields = cls.parse_operands(parser)
        attributes = parse_attributes(parser, cls.name, OUTSIDE, keyword=True)
        region = parser.parse_region()
        properties = cls.get_irdl_definition().properties
        op = cls.from_fields({**fields, **{k: v for k, v in attributes.items() if k in properties}}, [region])
        op.attributes |= {k: v for k, v in attributes.items() if k not in properties}
        return op

    def verify_members(self, kinds: tuple[type[Operation], ...], least: int = 1) -> None:
        """Checks that the region holds at least `least` ops of `kinds` and nothing else."""
        names = " or ".join(k.name for k in kinds)
        block = self.regions[0].block
        if block.args:
            raise VerifyException(f"{self.name}: expected no block arguments inside, got {len(block.args)}")
        ops = list(block.ops)
        for op in ops:
            if not isinstance(op, kinds):
                raise OpFault(op, f"{self.name}: expected {names} inside, got {op.name}")
            if isinstance(op, Launch) and op.dependent is not None:
                raise OpFault(op, f"{op.name}: expected dependent on the whole of {self.name}, got it on a part")
        if len(ops) < least:
            raise VerifyException(f"{self.name}: expected at least {least} inside, got {len(ops)}")


class Placed(LeafLaunch, ABC):
    """
    A launch whose result may land in rows of a table: from row `at` (an index on the device) or the fixed `row` on,
    one table row a result row. With neither, the result fills a buffer of its own. `ROUNDS`: a table may be of f16, to
    which the result is rounded.
    """

    ROUNDS: ClassVar[bool] = False

    row = opt_prop_def(IntegerAttr[I64])

    @property
    @abstractmethod
    def index(self) -> SSAValue | None:
        """The row index on the device, where there is one."""

    def check_placement(self, out: SSAValue | None, rows: int, width: int) -> None:
        """Checks the destination against a result of rows × width."""
        if out is None:
            if self.index is not None or self.row is not None:
                raise VerifyException(f"{self.name}: expected out beside a row to write it at, got none")
            return
        is_table = self.index is not None or self.row is not None
        held = (table_shape if self.ROUNDS and is_table else buffer_shape)(out, f"{self.name} out")
        self.check_rows_of(f"{self.name} out", held, rows, width)

    def check_placed_results(self, out: SSAValue | None, quant: SSAValue | None, rows: int, width: int) -> None:
        """Checks that there is an f32 form, a quantized one or both, each placed as `at` or `row` says."""
        if out is None and quant is None:
            raise VerifyException(f"{self.name}: expected out, quant or both, got neither")
        if out is not None:
            self.check_placement(out, rows, width)
        if quant is not None:
            if not isinstance(quant.type, Q8Type):
                raise VerifyException(f"{self.name} quant: expected !tgraph.q8, got {quant.type}")
            self.check_rows_of(f"{self.name} quant", quant.type.shape, rows, width)

    def check_rows_of(self, what: str, table: tuple[int, int], rows: int, width: int) -> None:
        """Checks a destination of the sizes `table` against a result of rows × width."""
        if self.index is not None and self.row is not None:
            raise VerifyException(f"{self.name}: expected either at or row, got both")
        held, pitch = table
        if self.index is None and self.row is None:
            check(what, (rows, width), (held, pitch))
            return
        check(f"{what}: table width against the result's", width, pitch)
        if held < rows:
            raise VerifyException(f"{what}: expected a table of at least {rows} rows, got {held}")
        if self.row is not None and not 0 <= self.row.value.data <= held - rows:
            raise VerifyException(f"{self.name} row: expected 0 to {held - rows}, got {self.row.value.data}")


def covers_attr(numbers: Sequence[int]) -> DenseArrayBase[I64]:
    """The `covers` property."""
    return DenseArrayBase.from_list(i64, sorted(numbers))


def parse_covers(parser: Parser) -> list[int]:
    """`covers [N, ...]`; nothing where the keyword is absent."""
    if not parser.parse_optional_keyword("covers"):
        return []

    def number() -> int:
        at = parser.pos
        value = parser.parse_integer(allow_boolean=False, allow_negative=False)
        if value > MOST_LIFTED:
            parser.raise_error(f"expected the number of a lifted op, at most {MOST_LIFTED}, got more", at, parser.pos)
        return value

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number)


def buffer_shape(value: SSAValue, what: str, element: Attribute = f32) -> tuple[int, int]:
    """(rows, width) of a static memref<RxWxELEMENT>, each a number that an index on the device can name."""
    return _shape_of(value, what, element)


def table_shape(value: SSAValue, what: str) -> tuple[int, int]:
    """(rows, width) of a table of keys or values: a static memref of f32, or of f16 that f32 is rounded to."""
    return _shape_of(value, what, f32, f16)


def _shape_of(value: SSAValue, what: str, *elements: Attribute) -> tuple[int, int]:
    kind = value.type
    if is_memref(kind) and kind.element_type in elements:
        shape = kind.get_shape()
        if len(shape) == 2 and all(d > 0 for d in shape):
            if max(shape) > MOST_INDEXED:
                raise VerifyException(f"{what}: expected at most {MOST_INDEXED} rows and values a row, got {kind}")
            return shape[0], shape[1]
    wanted = " or ".join(f"memref<RxWx{element}>" for element in elements)
    raise VerifyException(f"{what}: expected a static {wanted}, got {kind}")


def activation_shape(value: SSAValue, what: str) -> tuple[int, int]:
    """(rows, width) of a buffer of activations, f32 or quantized."""
    if isinstance(value.type, Q8Type):
        return value.type.shape
    return buffer_shape(value, what)


def check(what: str, expected: object, got: object) -> None:
    """Raises a VerifyException giving both sides when they differ."""
    if expected != got:
        raise VerifyException(f"{what}: expected {expected}, got {got}")


def check_vector(value: SSAValue | None, what: str, length: int) -> None:
    """Checks that a value, where given, is `length` f32: memref<LENGTHxf32> or memref<1xLENGTHxf32>."""
    if value is not None and value.type not in (MemRefType(f32, [length]), MemRefType(f32, [1, length])):
        raise VerifyException(f"{what}: expected memref<{length}xf32>, got {value.type}")


def check_index(value: SSAValue | None, what: str, count: int = 1) -> None:
    """Checks that an index, where given, is memref<COUNTxi32>."""
    if value is not None and value.type != MemRefType(i32, [count]):
        raise VerifyException(f"{what}: expected memref<{count}xi32>, got {value.type}")


def index_count(value: SSAValue, what: str) -> int:
    """The number of indices of a static memref<Nxi32>."""
    kind = value.type
    if not is_memref(kind) or kind.element_type != i32 or len(kind.get_shape()) != 1 or kind.get_shape()[0] < 1:
        raise VerifyException(f"{what}: expected a static memref<Nxi32>, got {kind}")
    return kind.get_shape()[0]


def check_results(op: str, out: SSAValue | None, quant: SSAValue | None, shape: tuple[int, int]) -> None:
    """Checks the f32 and the quantized form of a result of `shape`: at least one, each of that shape."""
    if out is None and quant is None:
        raise VerifyException(f"{op}: expected out, quant or both, got neither")
    if quant is not None:
        if not isinstance(quant.type, Q8Type):
            raise VerifyException(f"{op} quant: expected !tgraph.q8, got {quant.type}")
        check(f"{op} quant", shape, quant.type.shape)


def check_rows(value: SSAValue, what: str, n: int | None, k: int) -> int:
    """Checks checkpoint rows of n outputs by k inputs; returns n."""
    kind = value.type
    if not isinstance(kind, RowsType) or not kind.is_transposed:
        raise VerifyException(f"{what}: expected transposed !tgraph.rows, got {kind}")
    rows, cols = kind.shape
    check(f"{what}: inputs", k, cols)
    if n is not None:
        check(f"{what}: outputs", n, rows)
    return rows
