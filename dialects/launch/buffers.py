"""Buffers and constants of a linked step. None of these is a launch on the device but `copy`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, f32, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, base, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.attribute_syntax import parse_attributes, parse_i64
from lanelink.dialects.launch.base import (
    OUTSIDE,
    Launch,
    LeafLaunch,
    buffer_shape,
    check,
    covers_attr,
    index_count,
    parse_covers,
)
from lanelink.dialects.launch.sizes import buffer_bytes
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.attributes import RopeTableAttr, RowsType
from lanelink.dialects.tgraph.checkpoint import CheckpointAttr


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """
    A constant in device memory, laid out for its kernels when the step is loaded.

    Example:
    ```mlir
    %w = launch.constant #tgraph.checkpoint<"lm_head.weight"> : !tgraph.rows<bf16, 256x128, transposed>
    ```
    """

    name = "launch.constant"

    source = prop_def(base(CheckpointAttr) | base(RopeTableAttr))
    result = result_def()

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($result)"

    def __init__(self, source: Attribute, type: Attribute) -> None:
        super().__init__(properties={"source": source}, result_types=[type])

    def verify_(self) -> None:
        kind = self.result.type
        if isinstance(self.source, RopeTableAttr):
            _, width = buffer_shape(self.result, "launch.constant of a rotation table")
            check("launch.constant of a rotation table: width", len(self.source.frequencies), width)
        elif isinstance(kind, RowsType):
            self.source.check("launch.constant", kind.shape, rows=True)
        elif is_memref(kind) and _is_values(kind):
            self.source.check("launch.constant", kind.get_shape(), rows=False)
        else:
            raise VerifyException(f"launch.constant: expected !tgraph.rows or a static memref<...xf32>, got {kind}")


@irdl_op_definition
class AllocOp(IRDLOperation):
    """
    A buffer of the step's: f32 rows, indices, or quantized activations. `plan-buffers` gives it its `offset` in bytes
    in the step's arena.

    Example:
    ```mlir
    %b = launch.alloc : memref<1x128xf32>
    ```
    """

    name = "launch.alloc"

    result = result_def()

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: Attribute) -> None:
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        buffer_bytes(self.result.type, "launch.alloc")


@irdl_op_definition
class ViewOp(Launch):
    """
    Names the range of `x` from `offset` values on, or of indices from number `offset` on; nothing runs.

    Example:
    ```mlir
    %v = launch.view %x offset 128 covers [4] : memref<3x128xf32> -> memref<1x128xf32>
    %p = launch.view %positions offset 2 covers [5] : memref<3xi32> -> memref<1xi32>
    ```
    """

    name = "launch.view"

    offset = prop_def(IntegerAttr[I64])
    covers = prop_def(DenseArrayBase[I64])
    x = operand_def()
    result = result_def()

    def __init__(self, x: SSAValue, offset: int, covers: Sequence[int], type: Attribute) -> None:
        super().__init__(
            operands=[x],
            properties={"offset": IntegerAttr(offset, i64), "covers": covers_attr(covers)},
            result_types=[type],
        )

    def covered(self) -> list[int]:
        return list(self.covers.get_values())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.x)
        printer.print_string(f" offset {self.offset.value.data}")
        self.print_fields(printer, ("offset",))
        printer.print_string(" : ")
        printer.print_attribute(self.x.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ViewOp:
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("offset")
        offset = parse_i64(parser, allow_negative=False)
        attributes = parse_attributes(parser, cls.name, (*OUTSIDE, "offset"))
        dependent = attributes.pop("dependent", None)
        covers = parse_covers(parser)
        parser.parse_punctuation(":")
        x = parser.resolve_operand(operand, parser.parse_type())
        parser.parse_punctuation("->")
        op = cls(x, offset, covers, parser.parse_type())
        if dependent is not None:
            op.properties["dependent"] = dependent
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        count = index_count if is_memref(self.x.type) and self.x.type.element_type == i32 else _value_count
        held, taken = count(self.x, "launch.view x"), count(self.result, "launch.view result")
        offset = self.offset.value.data
        if taken > held:
            raise VerifyException(f"launch.view result: expected at most x's {held} values, got {taken}")
        if not 0 <= offset <= held - taken:
            raise VerifyException(
                f"launch.view offset: expected 0 to {held - taken} ({taken} of {held} values), got {offset}"
            )


@irdl_op_definition
class CopyOp(LeafLaunch):
    """
    Copies a whole buffer: a table whose old rows a reader still needs, a result carried to the next step.

    Example:
    ```mlir
    launch.copy(x = %old : memref<256x64xf32>, out = %new : memref<256x64xf32>) covers []
    ```
    """

    name = "launch.copy"

    x = operand_def()
    out = operand_def()

    def verify_(self) -> None:
        buffer_bytes(self.x.type, "launch.copy x")
        check("launch.copy out", self.x.type, self.out.type)


def _value_count(value: SSAValue, what: str) -> int:
    rows, width = buffer_shape(value, what)
    return rows * width


def _is_values(kind: Attribute) -> bool:
    return is_memref(kind) and kind.element_type == f32 and all(d > 0 for d in kind.get_shape())
