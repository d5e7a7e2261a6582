"""Types and attributes of `tgraph`: checkpoint rows, quantized activations, where a constant's values come from."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    Float32Type,
    FloatAttr,
    IntAttr,
    TensorType,
    f16,
    f32,
    i32,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.attribute_syntax import verified
from lanelink.dialects.floats import parse_f32, print_f32
from lanelink.dialects.formats import BLOCK_VALUES, Format
from lanelink.dialects.shaped import is_tensor


@irdl_attr_definition
class FormatAttr(EnumAttribute[Format], SpacedOpaqueSyntaxAttribute):
    """A stored format of matrix rows, `#tgraph<format q8_0>`."""

    name = "tgraph.format"


@irdl_attr_definition
class RowsType(ParametrizedAttribute, TypeAttribute):
    """
    A constant matrix kept as its checkpoint stores it: `!tgraph.rows<FORMAT, ROWSxCOLS[, transposed]>`.

    ROWS and COLS count values in the checkpoint's own order. `transposed` says that each checkpoint row is one
    output of the product that reads it (W^T of the product), as `torch.nn.Linear` stores its weight.
    """

    name = "tgraph.rows"

    format: FormatAttr
    rows: IntAttr
    cols: IntAttr
    transposed: IntAttr

    def __init__(self, format: Format, rows: int, cols: int, *, transposed: bool = False) -> None:
        super().__init__(FormatAttr(format), IntAttr(rows), IntAttr(cols), IntAttr(int(transposed)))

    @property
    def is_transposed(self) -> bool:
        """Whether each checkpoint row is one output."""
        return bool(self.transposed.data)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, cols) in the checkpoint's order."""
        return self.rows.data, self.cols.data

    def verify(self) -> None:
        rows, cols = self.shape
        if rows < 1 or cols < 1:
            raise VerifyException(f"rows: expected a matrix of at least 1x1, got {rows}x{cols}")
        block = self.format.data.block_values
        if cols % block:
            raise VerifyException(
                f"rows: expected columns a multiple of {block} (a {self.format.data.value} block), got {cols}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        at = parser.pos
        with parser.in_angle_brackets():
            format = parser.parse_str_enum(Format)
            parser.parse_punctuation(",")
            rows, cols = parse_matrix(parser)
            transposed = False
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("transposed")
                transposed = True
        return verified(parser, at, cls, (FormatAttr(format), IntAttr(rows), IntAttr(cols), IntAttr(int(transposed))))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.format.data.value}, {self.rows.data}x{self.cols.data}")
            if self.is_transposed:
                printer.print_string(", transposed")


@irdl_attr_definition
class Q8Type(ParametrizedAttribute, TypeAttribute):
    """
    Activations quantized for products by block formats: `!tgraph.q8<RxW[, two_plane]>`.

    R rows of W values in blocks of 32, one f32 scale a block. One plane holds x = s*q1 with s = max|x|/127; a second
    plane holds the residual, x = s*(q1 + q2/254).
    """

    name = "tgraph.q8"

    rows: IntAttr
    cols: IntAttr
    planes: IntAttr

    def __init__(self, rows: int, cols: int, planes: int = 1) -> None:
        super().__init__(IntAttr(rows), IntAttr(cols), IntAttr(planes))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, values a row)."""
        return self.rows.data, self.cols.data

    def verify(self) -> None:
        rows, cols = self.shape
        if rows < 1 or cols < 1 or cols % BLOCK_VALUES:
            raise VerifyException(f"q8: expected rows of a multiple of {BLOCK_VALUES} values, got {rows}x{cols}")
        if self.planes.data not in (1, 2):
            raise VerifyException(f"q8: expected 1 or 2 planes, got {self.planes.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        at = parser.pos
        with parser.in_angle_brackets():
            rows, cols = parse_matrix(parser)
            planes = 1
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("two_plane")
                planes = 2
        return verified(parser, at, cls, (IntAttr(rows), IntAttr(cols), IntAttr(planes)))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows.data}x{self.cols.data}")
            if self.planes.data == 2:
                printer.print_string(", two_plane")


_LARGEST_FREQUENCY = 65536
"""Radians a position; one is already the fastest in use, and past this an f32 angle means little."""


class TableKind(StrEnum):
    """Which of the two rotation tables."""

    COS = "cos"
    SIN = "sin"


@irdl_attr_definition
class TableKindAttr(EnumAttribute[TableKind], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<table_kind cos>`."""

    name = "tgraph.table_kind"


@irdl_attr_definition
class RopeTableAttr(ParametrizedAttribute):
    """
    A rotation table, made from its inverse frequencies: `#tgraph.rope_table<cos, [FREQUENCIES], scale SCALE>`.

    Row p, column i is `scale * cos(p * frequency[i])` (or sin), the angle rounded to f32 as the architectures' own
    code takes it (RoFormer, section 3.2; `scale` is YaRN's attention factor, 1 elsewhere). Radians a position.
    """

    name = "tgraph.rope_table"

    kind: TableKindAttr
    frequencies: ArrayAttr[FloatAttr[Float32Type]]
    scale: FloatAttr[Float32Type]

    def __init__(self, kind: TableKind, frequencies: Sequence[float], scale: float = 1.0) -> None:
        values = ArrayAttr([FloatAttr(v, f32) for v in frequencies])
        super().__init__(TableKindAttr(kind), values, FloatAttr(scale, f32))

    @property
    def values(self) -> list[float]:
        """The inverse frequencies, one a pair of a head's values."""
        return [v.value.data for v in self.frequencies]

    def verify(self) -> None:
        if not self.frequencies.data:
            raise VerifyException("rope_table: expected at least one frequency, got none")
        for what, value in [("scale", self.scale.value.data), *(("frequency", v) for v in self.values)]:
            if not 0 <= value <= _LARGEST_FREQUENCY:
                raise VerifyException(f"rope_table {what}: expected 0 to {_LARGEST_FREQUENCY}, got {value}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        at = parser.pos
        with parser.in_angle_brackets():
            kind = parser.parse_str_enum(TableKind)
            parser.parse_punctuation(",")
            values = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_f32(parser))
            parser.parse_punctuation(",")
            parser.parse_keyword("scale")
            scale = parse_f32(parser)
        return verified(parser, at, cls, (TableKindAttr(kind), ArrayAttr(values), scale))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.kind.data.value}, [")
            printer.print_list(self.frequencies, lambda v: print_f32(printer, v))
            printer.print_string("], scale ")
            print_f32(printer, self.scale)


def parse_matrix(parser: AttrParser) -> tuple[int, int]:
    """The `ROWSxCOLS` of a type."""
    at = parser.pos
    dims = parser.parse_dimension_list()
    if len(dims) != 2:
        parser.raise_error(f"expected two dimensions, got {len(dims)}", at)
    if DYNAMIC_INDEX in dims:
        parser.raise_error("expected two numbers as dimensions, got ?", at)
    return dims[0], dims[1]


def static_shape(kind: Attribute, element: Attribute) -> tuple[int, ...] | None:
    """The shape of a tensor of `element` with static dimensions of at least 1; none for anything else."""
    if not is_tensor(kind) or kind.element_type != element or not all(d > 0 for d in kind.get_shape()):
        return None
    return kind.get_shape()


def matrix(value: SSAValue, what: str, element: Attribute = f32) -> tuple[int, int]:
    """(rows, width) of a static two-dimensional tensor of `element`; VerifyException naming `what` otherwise."""
    shape = static_shape(value.type, element)
    if shape is None or len(shape) != 2:
        raise VerifyException(f"{what}: expected a static tensor<RxWx{element}>, got {value.type}")
    return shape[0], shape[1]


def state_table(value: SSAValue, what: str) -> tuple[int, int]:
    """(rows, width) of a table that outlives a step, of f32 values or of f16 ones, to which what is set is rounded."""
    shape = static_shape(value.type, f32) or static_shape(value.type, f16)
    if shape is None or len(shape) != 2:
        raise VerifyException(f"{what}: expected a static tensor<RxWxf32> or tensor<RxWxf16>, got {value.type}")
    return shape[0], shape[1]


def activation(value: SSAValue, what: str) -> tuple[int, int]:
    """(rows, width) of an activation, f32 or quantized."""
    if isinstance(value.type, Q8Type):
        return value.type.shape
    return matrix(value, what)


def vector(value: SSAValue, what: str, length: int, element: Attribute = f32) -> None:
    """Checks that `value` is tensor<LENGTHxELEMENT>."""
    if value.type != TensorType(element, [length]):
        raise VerifyException(f"{what}: expected tensor<{length}x{element}>, got {value.type}")


def indices(value: SSAValue, what: str) -> int:
    """The number of device-resident indices in a tensor<Nxi32>."""
    shape = static_shape(value.type, i32)
    if shape is None or len(shape) != 1:
        raise VerifyException(f"{what}: expected tensor<Nxi32>, got {value.type}")
    return shape[0]


def element_count(kind: Attribute) -> int:
    """Values held by a tensor or quantized type."""
    if isinstance(kind, Q8Type | RowsType):
        return prod(kind.shape)
    if isinstance(kind, TensorType):
        return prod(kind.get_shape())
    raise VerifyException(f"expected a tensor, got {kind}")


def same(what: str, expected: object, got: object) -> None:
    """Raises a VerifyException giving both sides when they differ."""
    if expected != got:
        raise VerifyException(f"{what}: expected {expected}, got {got}")


def check_number(
    what: str, value: FloatAttr[Float32Type] | None, *, least: float | None = None, above: float | None = None
) -> None:
    """Checks that an f32 field, where it is given, is finite, and at least `least` or more than `above`."""
    if value is None:
        return
    got = value.value.data
    if isfinite(got) and (least is None or got >= least) and (above is None or got > above):
        return
    bound = "" if least is None else f" of at least {least:g}"
    bound = bound if above is None else f" of more than {above:g}"
    raise VerifyException(f"{what}: expected a finite number{bound}, got {got}")


def positive(**fields: int) -> None:
    """Raises a VerifyException for the first field below 1."""
    for name, value in fields.items():
        if value < 1:
            raise VerifyException(f"{name}: expected at least 1, got {value}")


__all__ = [
    "FormatAttr",
    "Q8Type",
    "RopeTableAttr",
    "RowsType",
    "TableKind",
    "TableKindAttr",
    "activation",
    "check_number",
    "element_count",
    "indices",
    "matrix",
    "positive",
    "same",
    "state_table",
    "vector",
]
