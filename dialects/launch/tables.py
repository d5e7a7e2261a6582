"""Rows gathered from tables and set into them, slices of heads, the arg-max and the step's advance."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.base import (
    LeafLaunch,
    Placed,
    buffer_shape,
    check,
    check_index,
    index_count,
    table_shape,
)
from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph.attributes import RowsType, check_number


@irdl_op_definition
class GatherOp(LeafLaunch):
    """
    Rows of a constant table by indices on the device, times `scale` where given.

    Example:
    ```mlir
    launch.gather(table = %e : !tgraph.rows<bf16, 256x128>, index = %t : memref<1xi32>,
      out = %x : memref<1x128xf32>) covers [0]
    ```
    """

    name = "launch.gather"

    scale = opt_prop_def(FloatAttr[Float32Type])
    table = operand_def()
    index = operand_def()
    out = operand_def()

    def verify_(self) -> None:
        table = self.table.type
        if isinstance(table, RowsType):
            if table.is_transposed:
                raise VerifyException(f"launch.gather table: expected rows that are not transposed, got {table}")
            cols = table.shape[1]
        else:
            cols = buffer_shape(self.table, "launch.gather table")[1]
        rows, width = buffer_shape(self.out, "launch.gather out")
        check("launch.gather out width", cols, width)
        check_number("launch.gather scale", self.scale)
        check_index(self.index, "launch.gather index", rows)


@irdl_op_definition
class SetRowOp(Placed):
    """
    Writes rows into a table in place, their quantized form into the rows of a quantized one, or both. A table of f16
    takes the nearest values, ties to even.

    Example:
    ```mlir
    launch.set_row(source = %r : memref<1x64xf32>, out = %t : memref<256x64xf32>, at = %p : memref<1xi32>) covers [6]
    ```
    """

    name = "launch.set_row"
    ROUNDS: ClassVar[bool] = True

    source = operand_def()
    out = opt_operand_def()
    at = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return self.at

    def verify_(self) -> None:
        rows, width = buffer_shape(self.source, "launch.set_row source")
        check_index(self.at, "launch.set_row at")
        if self.at is None and self.row is None:
            raise VerifyException("launch.set_row: expected at or row, got neither")
        self.check_placed_results(self.out, self.quant, rows, width)


@irdl_op_definition
class SliceOp(LeafLaunch):
    """
    [start, start+width) of every `every` values of each row.

    Example:
    ```mlir
    launch.slice(x = %x : memref<1x512xf32>, out = %y : memref<1x256xf32>)
      {start = 0 : i64, width = 64 : i64, every = 128 : i64} covers [4]
    ```
    """

    name = "launch.slice"

    start = prop_def(IntegerAttr[I64])
    width = prop_def(IntegerAttr[I64])
    every = prop_def(IntegerAttr[I64])
    x = operand_def()
    out = operand_def()

    def verify_(self) -> None:
        rows, held = table_shape(self.x, "launch.slice x")
        start, width, every = self.start.value.data, self.width.value.data, self.every.value.data
        if every < 1 or held % every or width < 1 or start < 0 or start + width > every:
            raise VerifyException(
                f"launch.slice: expected a range inside every {every} of {held} values, got [{start}, {start + width})"
            )
        check("launch.slice out", (rows, held // every * width), table_shape(self.out, "launch.slice out"))
        check("launch.slice out: its values against x's", *(element_of(value) for value in (self.x, self.out)))


@irdl_op_definition
class ArgMaxOp(LeafLaunch):
    """
    The lowest index of each row's largest value. With `token` and `position` it also moves the step on, on the device:
    token := the index, position := position + 1, of the one sequence or of a batch's each for itself.

    Example:
    ```mlir
    launch.arg_max(x = %l : memref<1x256xf32>, out = %n : memref<1xi32>, token = %t : memref<1xi32>,
      position = %p : memref<1xi32>) covers [40, 41]
    ```
    """

    name = "launch.arg_max"
    WRITES: ClassVar[tuple[str, ...]] = ("out", "token", "position")

    x = operand_def()
    out = operand_def()
    token = opt_operand_def()
    position = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        rows, _ = buffer_shape(self.x, "launch.arg_max x")
        check_index(self.out, "launch.arg_max out", rows)
        if (self.token is None) != (self.position is None):
            raise VerifyException("launch.arg_max: expected token and position together, got one without the other")
        check_index(self.token, "launch.arg_max token", rows)
        check_index(self.position, "launch.arg_max position", rows)


@irdl_op_definition
class AdvanceOp(LeafLaunch):
    """
    out := position + by, of one position or of several.

    Example:
    ```mlir
    launch.advance(x = %p : memref<1xi32>, out = %n : memref<1xi32>) {by = 1 : i64} covers [41]
    ```
    """

    name = "launch.advance"

    by = prop_def(IntegerAttr[I64])
    x = operand_def()
    out = operand_def()

    def verify_(self) -> None:
        if self.by.value.data < 1:
            raise VerifyException(f"launch.advance by: expected at least 1, got {self.by.value.data}")
        check_index(self.out, "launch.advance out", index_count(self.x, "launch.advance x"))
