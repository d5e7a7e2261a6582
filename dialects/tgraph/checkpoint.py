"""What a constant takes of a checkpoint: a tensor or a numbered series, a view of it, a change to its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr, StringAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.attribute_syntax import parse_string, verified

MOST_TENSORS = 1 << 16
"""Tensors of one numbered series; models have some hundreds of experts."""

LARGEST_INDEX = 1 << 62
"""Past any stored unit, and inside what numpy indexes by."""


class StoredUnit(StrEnum):
    """What a view moves: whole stored rows (a tensor's innermost dimension), or single values of a plain format."""

    ROWS = "rows"
    VALUES = "values"


@irdl_attr_definition
class StoredUnitAttr(EnumAttribute[StoredUnit], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<stored_unit rows>`."""

    name = "tgraph.stored_unit"


class Adjust(StrEnum):
    """
    What a constant's values are of the stored ones: `plus_one` 1 + x, a norm's weight kept as its distance from 1;
    `log_negated` log(−x), a decay's logarithm kept as −exp of it.
    """

    PLUS_ONE = "plus_one"
    LOG_NEGATED = "log_negated"


@irdl_attr_definition
class AdjustAttr(EnumAttribute[Adjust], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<adjust plus_one>`."""

    name = "tgraph.adjust"


@irdl_attr_definition
class StoredViewAttr(ParametrizedAttribute):
    """
    A strided view of stored units: `#tgraph.stored_view<rows offset 128 sizes [16, 64] strides [192, 1]>`.

    Unit (i, j, ...) of the view is stored unit offset + i·strides[0] + j·strides[1] + ..., and the view's units follow
    one another with the last index fastest. The example takes 64 rows of every 192, from 128, of 16 heads. Over
    several tensors, units are counted through all of them.
    """

    name = "tgraph.stored_view"

    unit: StoredUnitAttr
    offset: IntAttr
    sizes: ArrayAttr[IntAttr]
    strides: ArrayAttr[IntAttr]

    def __init__(self, unit: StoredUnit, sizes: Sequence[int], strides: Sequence[int], offset: int = 0) -> None:
        super().__init__(StoredUnitAttr(unit), IntAttr(offset), _integers(sizes), _integers(strides))

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes, outermost first."""
        return tuple(size.data for size in self.sizes)

    @property
    def steps(self) -> tuple[int, ...]:
        """Its strides in units, outermost first."""
        return tuple(stride.data for stride in self.strides)

    @property
    def units(self) -> int:
        """How many units it has."""
        return prod(self.shape)

    @property
    def last(self) -> int:
        """The largest stored unit it reads."""
        return self.offset.data + sum((n - 1) * step for n, step in zip(self.shape, self.steps, strict=True))

    def verify(self) -> None:
        if not self.shape or len(self.shape) != len(self.steps):
            raise VerifyException(
                f"stored_view: expected as many strides as sizes, and one at least, "
                f"got {len(self.shape)} sizes and {len(self.steps)} strides"
            )
        for what, values in (("sizes", self.shape), ("strides", self.steps)):
            if min(values) < 1:
                raise VerifyException(f"stored_view {what}: expected at least 1 each, got {list(values)}")
        if self.offset.data < 0:
            raise VerifyException(f"stored_view offset: expected at least 0, got {self.offset.data}")
        if max(self.units, self.last) > LARGEST_INDEX:
            raise VerifyException(f"stored_view: expected units up to 2^62, got {max(self.units, self.last)}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return _parse_view(parser).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_fields(printer)

    def print_fields(self, printer: Printer) -> None:
        """The text between the brackets."""
        printer.print_string(
            f"{self.unit.data.value} offset {self.offset.data} sizes {list(self.shape)} strides {list(self.steps)}"
        )


def _integers(values: Sequence[int]) -> ArrayAttr[IntAttr]:
    return ArrayAttr([IntAttr(value) for value in values])


def _parse_view(parser: AttrParser) -> StoredViewAttr:
    at = parser.pos
    unit = StoredUnitAttr(parser.parse_str_enum(StoredUnit))
    parser.parse_keyword("offset")
    offset = IntAttr(parser.parse_integer(allow_boolean=False))
    parser.parse_keyword("sizes")
    sizes = _parse_integers(parser)
    parser.parse_keyword("strides")
    strides = _parse_integers(parser)
    parameters = verified(parser, at, StoredViewAttr, (unit, offset, sizes, strides))
    return StoredViewAttr.new(parameters)


def _parse_integers(parser: AttrParser) -> ArrayAttr[IntAttr]:
    def one() -> int:
        return parser.parse_integer(allow_boolean=False)

    return _integers(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, one))


@irdl_attr_definition
class CheckpointAttr(ParametrizedAttribute):
    """
    A constant named by its checkpoint, `#tgraph.checkpoint<"model.norm.weight">`, with what stands between it and the
    stored tensor:

    - `tensors N`: the rows of N tensors one after another; the name's `*` stands for 0 to N − 1 (a mixture's experts).
    - a view: the units it takes of them, in its order (a part of a fused matrix, rows that a file keeps permuted).
    - an adjustment of plain values.

    Example:
    ```mlir
    #tgraph.checkpoint<"model.layers.0.mlp.experts.*.up_proj.weight", tensors 128>
    #tgraph.checkpoint<"blk.0.attn_q.weight", rows offset 0 sizes [4, 2, 16] strides [32, 1, 2]>
    #tgraph.checkpoint<"model.norm.weight", plus_one>
    ```
    """

    name = "tgraph.checkpoint"

    tensor: StringAttr
    count: IntAttr | NoneAttr
    view: StoredViewAttr | NoneAttr
    adjust: AdjustAttr | NoneAttr

    def __init__(
        self,
        tensor: str,
        *,
        count: int | None = None,
        view: StoredViewAttr | None = None,
        adjust: Adjust | None = None,
    ) -> None:
        super().__init__(
            StringAttr(tensor),
            NoneAttr() if count is None else IntAttr(count),
            NoneAttr() if view is None else view,
            NoneAttr() if adjust is None else AdjustAttr(adjust),
        )

    @property
    def tensors(self) -> Iterator[str]:
        """The names of the stored tensors, in order."""
        if isinstance(self.count, NoneAttr):
            yield self.tensor.data
        else:
            before, _, after = self.tensor.data.partition("*")
            yield from (f"{before}{k}{after}" for k in range(self.count.data))

    @property
    def stored_view(self) -> StoredViewAttr | None:
        """The view, where there is one."""
        return None if isinstance(self.view, NoneAttr) else self.view

    @property
    def adjustment(self) -> Adjust | None:
        """What is done to the values, where anything is."""
        return None if isinstance(self.adjust, NoneAttr) else self.adjust.data

    def verify(self) -> None:
        if not self.tensor.data:
            raise VerifyException("checkpoint: expected a tensor's name, got an empty string")
        if isinstance(self.count, NoneAttr):
            return
        if not 1 <= self.count.data <= MOST_TENSORS:
            raise VerifyException(f"checkpoint tensors: expected 1 to {MOST_TENSORS}, got {self.count.data}")
        if self.tensor.data.count("*") != 1:
            raise VerifyException(f"checkpoint tensors: expected one * in the name for their number, got {self.tensor}")

    def check(self, what: str, shape: Sequence[int], *, rows: bool) -> None:
        """
        Checks that a constant of sizes `shape` can be taken so: `rows` where it keeps the stored format, else plain
        values. Raises a VerifyException that begins with `what`.
        """
        if rows and self.adjustment is not None:
            raise VerifyException(f"{what}: expected {self.adjustment} of plain values, got it of rows")
        view = self.stored_view
        if view is None:
            return
        wanted = prod(shape[:-1]) if view.unit.data is StoredUnit.ROWS else prod(shape)
        if view.units != wanted:
            raise VerifyException(
                f"{what}: expected a view of {wanted} {view.unit.data.value} for a constant of "
                f"{'x'.join(map(str, shape))}, got one of {view.units}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        at = parser.pos
        count: IntAttr | NoneAttr = NoneAttr()
        view: StoredViewAttr | NoneAttr = NoneAttr()
        adjust: AdjustAttr | NoneAttr = NoneAttr()
        with parser.in_angle_brackets():
            tensor = StringAttr(parse_string(parser))
            more = parser.parse_optional_punctuation(",")
            if more and parser.parse_optional_keyword("tensors"):
                count = IntAttr(parser.parse_integer(allow_boolean=False))
                more = parser.parse_optional_punctuation(",")
            found = next((a for a in Adjust if more and parser.parse_optional_keyword(a.value)), None)
            if found is not None:
                adjust, more = AdjustAttr(found), None
            if more:
                view = _parse_view(parser)
                if parser.parse_optional_punctuation(","):
                    adjust = AdjustAttr(parser.parse_str_enum(Adjust))
        return verified(parser, at, cls, (tensor, count, view, adjust))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.tensor.data)
            if not isinstance(self.count, NoneAttr):
                printer.print_string(f", tensors {self.count.data}")
            if (view := self.stored_view) is not None:
                printer.print_string(", ")
                view.print_fields(printer)
            if (adjustment := self.adjustment) is not None:
                printer.print_string(f", {adjustment.value}")


__all__ = [
    "Adjust",
    "AdjustAttr",
    "CheckpointAttr",
    "StoredUnit",
    "StoredUnitAttr",
    "StoredViewAttr",
]
