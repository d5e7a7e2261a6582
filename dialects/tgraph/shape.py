"""Parts of tensors: a contiguous range without a copy, a slice of every head."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, f32, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph.attributes import element_count, indices, matrix, positive, same, state_table
from lanelink.dialects.tgraph.lifted import LiftedOp, int_attr


@irdl_op_definition
class ViewOp(LiftedOp):
    """
    The contiguous range of values from `offset` on, under the result's shape; no copy. Of indices, such as a batch's
    positions, so many from number `offset` on.

    Example:
    ```mlir
    %r = tgraph.view %x offset 128 : tensor<3x128xf32> -> tensor<1x128xf32>
    %p = tgraph.view %positions offset 2 : tensor<3xi32> -> tensor<1xi32>
    ```
    """

    name = "tgraph.view"

    offset = prop_def(IntegerAttr[I64])
    x = operand_def()
    result = result_def()

    assembly_format = "$x `offset` $offset (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue, offset: int, type: Attribute) -> None:
        super().__init__(operands=[x], properties={"offset": int_attr(offset)}, result_types=[type])

    def verify_(self) -> None:
        check = indices if element_of(self.x) == i32 else matrix
        check(self.x, "view x")
        check(self.result, "view result")
        held, taken = element_count(self.x.type), element_count(self.result.type)
        if taken > held:
            raise VerifyException(f"view result: expected at most x's {held} values, got {taken}")
        offset = self.offset.value.data
        if not 0 <= offset <= held - taken:
            raise VerifyException(f"view offset: expected 0 to {held - taken} ({taken} of {held} values), got {offset}")


@irdl_op_definition
class HeadSliceOp(LiftedOp):
    """
    Takes [start, start+width) of every `every` values of a row, or of a table's rows, which may be of f16.

    Example:
    ```mlir
    %q = tgraph.head_slice %x start 0 width 64 every 128 : tensor<1x512xf32> -> tensor<1x256xf32>
    ```
    """

    name = "tgraph.head_slice"

    start = prop_def(IntegerAttr[I64])
    width = prop_def(IntegerAttr[I64])
    every = prop_def(IntegerAttr[I64])
    x = operand_def()
    result = result_def()

    assembly_format = (
        "$x `start` $start `width` $width `every` $every (`number` $number^)? attr-dict `:` type($x) `->` type($result)"
    )

    def __init__(self, x: SSAValue, *, start: int, width: int, every: int) -> None:
        rows, held = state_table(x, "head_slice x")
        positive(every=every)
        super().__init__(
            operands=[x],
            properties={"start": int_attr(start), "width": int_attr(width), "every": int_attr(every)},
            result_types=[TensorType(element_of(x) or f32, [rows, held // every * width])],
        )

    def verify_(self) -> None:
        rows, held = state_table(self.x, "head_slice x")
        start, width, every = self.start.value.data, self.width.value.data, self.every.value.data
        positive(width=width, every=every)
        if held % every:
            raise VerifyException(f"head_slice every: expected a divisor of the row's {held} values, got {every}")
        if start < 0 or start + width > every:
            raise VerifyException(
                f"head_slice: expected a range inside every {every} values, got [{start}, {start + width})"
            )
        taken = TensorType(element_of(self.x) or f32, [rows, held // every * width])
        same("head_slice result", taken, self.result.type)


@irdl_op_definition
class TransposeOp(LiftedOp):
    """
    Rows to columns.

    Example:
    ```mlir
    %y = tgraph.transpose %x : tensor<3x128xf32> -> tensor<128x3xf32>
    ```
    """

    name = "tgraph.transpose"

    x = operand_def()
    result = result_def()

    assembly_format = "$x (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue) -> None:
        rows, width = matrix(x, "transpose x")
        super().__init__(operands=[x], result_types=[TensorType(f32, [width, rows])])

    def verify_(self) -> None:
        rows, width = matrix(self.x, "transpose x")
        same("transpose result", (width, rows), matrix(self.result, "transpose result"))
