"""Reading rows of tables by an index, and writing rows into state."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, f32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.tgraph.attributes import RowsType, indices, matrix, same, state_table
from lanelink.dialects.tgraph.lifted import INDEX, LiftedOp, check_row, opt_int_attr, opt_operand


def table_shape(table: SSAValue, what: str) -> tuple[int, int]:
    """(rows, cols) of a table of checkpoint rows or of values."""
    if isinstance(table.type, RowsType):
        if table.type.is_transposed:
            raise VerifyException(f"{what}: expected rows that are not transposed, got {table.type}")
        return table.type.shape
    return matrix(table, what)


@irdl_op_definition
class RowGatherOp(LiftedOp):
    """
    One row of a table, by an index on the device or a fixed row.

    Example:
    ```mlir
    %x = tgraph.row_gather %table at %token : (!tgraph.rows<bf16, 256x128>, tensor<1xi32>) -> tensor<1x128xf32>
    ```
    """

    name = "tgraph.row_gather"

    table = operand_def()
    index = opt_operand_def(INDEX)
    row = opt_prop_def(IntegerAttr[I64])
    result = result_def()

    assembly_format = (
        "$table (`at` $index^)? (`row` $row^)? (`number` $number^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, table: SSAValue, index: SSAValue | None = None, row: int | None = None) -> None:
        _, cols = table_shape(table, "row_gather table")
        super().__init__(
            operands=[table, opt_operand(index)],
            properties={"row": opt_int_attr(row)},
            result_types=[TensorType(f32, [1, cols])],
        )

    def verify_(self) -> None:
        rows, cols = table_shape(self.table, "row_gather table")
        check_row("row_gather", self.index, self.row, rows)
        same("row_gather result", (1, cols), matrix(self.result, "row_gather result"))


@irdl_op_definition
class RowsGatherOp(LiftedOp):
    """
    A list of rows of a table.

    Example:
    ```mlir
    %x = tgraph.rows_gather %table at %tokens : (!tgraph.rows<bf16, 256x128>, tensor<3xi32>) -> tensor<3x128xf32>
    ```
    """

    name = "tgraph.rows_gather"

    table = operand_def()
    index = operand_def()
    result = result_def()

    assembly_format = "$table `at` $index (`number` $number^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, table: SSAValue, index: SSAValue) -> None:
        _, cols = table_shape(table, "rows_gather table")
        count = indices(index, "rows_gather index")
        super().__init__(operands=[table, index], result_types=[TensorType(f32, [count, cols])])

    def verify_(self) -> None:
        _, cols = table_shape(self.table, "rows_gather table")
        expected = (indices(self.index, "rows_gather index"), cols)
        same("rows_gather result", expected, matrix(self.result, "rows_gather result"))


@irdl_op_definition
class SetRowOp(LiftedOp):
    """
    The table with the source's rows written from a named or fixed row on, each value rounded to the nearest (ties to
    even) where the table is of f16. The result is tied to the table it overwrites: it is the same state, one write
    later.

    Example:
    ```mlir
    %t1 = tgraph.set_row %t0, %rows at %pos
      : (tensor<256x64xf32>, tensor<1x64xf32>, tensor<1xi32>) -> tensor<256x64xf32>
    ```
    """

    name = "tgraph.set_row"

    table = operand_def()
    source = operand_def()
    index = opt_operand_def(INDEX)
    row = opt_prop_def(IntegerAttr[I64])
    result = result_def()

    assembly_format = (
        "$table `,` $source (`at` $index^)? (`row` $row^)? (`number` $number^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(
        self, table: SSAValue, source: SSAValue, index: SSAValue | None = None, row: int | None = None
    ) -> None:
        super().__init__(
            operands=[table, source, opt_operand(index)],
            properties={"row": opt_int_attr(row)},
            result_types=[table.type],
        )

    def verify_(self) -> None:
        rows, cols = state_table(self.table, "set_row table")
        count, width = matrix(self.source, "set_row source")
        same("set_row source width against the table's", cols, width)
        if count > rows:
            raise VerifyException(f"set_row source: expected at most the table's {rows} rows, got {count}")
        check_row("set_row", self.index, self.row, rows, count)
        same("set_row result", self.table.type, self.result.type)
