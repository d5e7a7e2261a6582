"""Types and attributes of `driver`: device buffers, how constants lie in them, what a launch passes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.attributes import FormatAttr, parse_matrix


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """Device memory, 256-byte aligned: `!driver.buffer`. Its bytes are a property of the op that makes it."""

    name = "driver.buffer"


@irdl_attr_definition
class PlanesAttr(ParametrizedAttribute):
    """
    Checkpoint rows laid in the planes that kernels read: `#driver.planes<q8_0, 64x128>`.

    64 rows of 128 values in the checkpoint's order, whether a product reads them or a gather.
    """

    name = "driver.planes"

    format: FormatAttr
    rows: IntAttr
    cols: IntAttr

    def __init__(self, format: Format, rows: int, cols: int) -> None:
        super().__init__(FormatAttr(format), IntAttr(rows), IntAttr(cols))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, values a row)."""
        return self.rows.data, self.cols.data

    def verify(self) -> None:
        block = self.format.data.block_values
        if min(self.shape) < 1 or self.cols.data % block:
            raise VerifyException(
                f"planes: expected at least 1 row of a multiple of {block} values ({self.format.data.value}), "
                f"got {self.rows.data}x{self.cols.data}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            format = parser.parse_str_enum(Format)
            parser.parse_punctuation(",")
            rows, cols = parse_matrix(parser)
        return (FormatAttr(format), IntAttr(rows), IntAttr(cols))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.format.data.value}, {self.rows.data}x{self.cols.data}")


@irdl_attr_definition
class ValuesAttr(ParametrizedAttribute):
    """Plain f32 values, one after another: `#driver.values<256x16>`."""

    name = "driver.values"

    sizes: ArrayAttr[IntAttr]

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__(ArrayAttr([IntAttr(size) for size in sizes]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes, outermost first."""
        return tuple(size.data for size in self.sizes)

    @property
    def total_bytes(self) -> int:
        """Bytes of all values."""
        return 4 * prod(self.shape)

    def verify(self) -> None:
        if not self.shape or min(self.shape) < 1:
            raise VerifyException(f"values: expected sizes of at least 1, got {list(self.shape)}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (ArrayAttr([IntAttr(size) for size in parser.parse_dimension_list()]),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_dimension_list(self.shape)


class Io(StrEnum):
    """What the decoding loop sets or the step advances, i32 on the device."""

    TOKEN = "token"
    POSITION = "position"


@irdl_attr_definition
class IoAttr(EnumAttribute[Io], SpacedOpaqueSyntaxAttribute):
    """`#driver<io token>`."""

    name = "driver.io"


class Scratch(StrEnum):
    """
    Memory that kernels need beside their operands, shared by all launches of a step. Counters are u32 words, zero
    before the first launch and left zero by each; partials hold nothing between launches.
    """

    COUNTERS = "counters"
    PARTIALS = "partials"


@irdl_attr_definition
class ScratchAttr(EnumAttribute[Scratch], SpacedOpaqueSyntaxAttribute):
    """`#driver<scratch_kind counters>`."""

    name = "driver.scratch_kind"


class Architecture(StrEnum):
    """The virtual architectures that PTX is committed for."""

    COMPUTE_80 = "compute_80"
    COMPUTE_90 = "compute_90"

    @property
    def capability(self) -> tuple[int, int]:
        """The least compute capability that runs it."""
        digits = self.value.removeprefix("compute_")
        return int(digits[:-1]), int(digits[-1])


@irdl_attr_definition
class ArchitectureAttr(EnumAttribute[Architecture], SpacedOpaqueSyntaxAttribute):
    """`#driver<architecture compute_90>`."""

    name = "driver.architecture"


@irdl_attr_definition
class AddressAttr(ParametrizedAttribute):
    """An argument that is the address `offset` bytes into the launch's next buffer: `#driver.address<512>`."""

    name = "driver.address"

    offset: IntAttr

    def __init__(self, offset: int = 0) -> None:
        super().__init__(IntAttr(offset))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_boolean=False)),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_int(self.offset.data)


@irdl_attr_definition
class NullAttr(ParametrizedAttribute):
    """An argument that is a null address: an operand that this launch has not."""

    name = "driver.null"


__all__ = [
    "AddressAttr",
    "Architecture",
    "ArchitectureAttr",
    "BufferType",
    "Io",
    "IoAttr",
    "NullAttr",
    "PlanesAttr",
    "Scratch",
    "ScratchAttr",
    "ValuesAttr",
]
