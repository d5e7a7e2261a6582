"""Choosing the next token, and moving on to the next position."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, i32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.tgraph.attributes import indices, matrix, same
from lanelink.dialects.tgraph.lifted import LiftedOp, int_attr

_LARGEST_POSITION = 2**31 - 1
"""Positions are i32 on the device."""


@irdl_op_definition
class ArgMaxOp(LiftedOp):
    """
    The lowest index of the largest value, row by row: the greedy choice.

    Example:
    ```mlir
    %t = tgraph.arg_max %logits : tensor<1x256xf32> -> tensor<1xi32>
    ```
    """

    name = "tgraph.arg_max"

    x = operand_def()
    result = result_def()

    assembly_format = "$x (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue) -> None:
        rows, _ = matrix(x, "arg_max x")
        super().__init__(operands=[x], result_types=[TensorType(i32, [rows])])

    def verify_(self) -> None:
        rows, _ = matrix(self.x, "arg_max x")
        same("arg_max result", rows, indices(self.result, "arg_max result"))


@irdl_op_definition
class AdvanceOp(LiftedOp):
    """
    Positions moved on by a step's rows, on the device: its sequence's, or each of a batch's.

    Example:
    ```mlir
    %next = tgraph.advance %position by 1 : (tensor<1xi32>) -> tensor<1xi32>
    ```
    """

    name = "tgraph.advance"

    by = prop_def(IntegerAttr[I64])
    position = operand_def()
    result = result_def()

    assembly_format = "$position `by` $by (`number` $number^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, position: SSAValue, by: int = 1) -> None:
        super().__init__(operands=[position], properties={"by": int_attr(by)}, result_types=[position.type])

    def verify_(self) -> None:
        by = self.by.value.data
        if not 1 <= by <= _LARGEST_POSITION:
            raise VerifyException(f"advance by: expected 1 to {_LARGEST_POSITION}, got {by}")
        same("advance result", indices(self.position, "advance position"), indices(self.result, "advance result"))
