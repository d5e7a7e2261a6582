"""Products by a constant matrix, and the quantizing of their activations."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.tgraph.attributes import Q8Type, RowsType, activation, matrix, same
from lanelink.dialects.tgraph.lifted import LiftedOp


@irdl_op_definition
class MatmulOp(LiftedOp):
    """
    x[m,k] · W → [m,n]. W is checkpoint rows (n×k transposed, or k×n) or a plain tensor<KxNxf32>.

    Over a quantized x, W must be rows of a block format: the product then runs on integer units.

    Example:
    ```mlir
    %y = tgraph.matmul %x, %w : (tensor<1x128xf32>, !tgraph.rows<bf16, 64x128, transposed>) -> tensor<1x64xf32>
    ```
    """

    name = "tgraph.matmul"

    x = operand_def()
    weight = operand_def()
    result = result_def()

    assembly_format = "$x `,` $weight (`number` $number^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, weight: SSAValue) -> None:
        rows, _ = activation(x, "matmul x")
        super().__init__(operands=[x, weight], result_types=[TensorType(f32, [rows, self.weight_shape(weight)[1]])])

    @staticmethod
    def weight_shape(weight: SSAValue, what: str = "matmul weight") -> tuple[int, int]:
        """(k, n) of the matrix a product multiplies by; VerifyException naming `what` where it is none."""
        if isinstance(weight.type, RowsType):
            rows, cols = weight.type.shape
            return (cols, rows) if weight.type.is_transposed else (rows, cols)
        return matrix(weight, what)

    def verify_(self) -> None:
        m, k = activation(self.x, "matmul x")
        inner, n = self.weight_shape(self.weight)
        same("matmul inner dimension: the weight's against x's", inner, k)
        same("matmul result", (m, n), matrix(self.result, "matmul result"))
        if isinstance(self.x.type, Q8Type):
            weight = self.weight.type
            if not isinstance(weight, RowsType) or not weight.format.data.is_block:
                raise VerifyException(f"matmul: expected rows of a block format over a quantized x, got {weight}")


@irdl_op_definition
class QuantizeOp(LiftedOp):
    """
    f32 rows to int8 blocks of 32 with one scale each, in one plane or two.

    Example:
    ```mlir
    %q = tgraph.quantize %x : tensor<1x128xf32> -> !tgraph.q8<1x128>
    ```
    """

    name = "tgraph.quantize"

    x = operand_def()
    result = result_def(Q8Type)

    assembly_format = "$x (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue, planes: int = 1) -> None:
        rows, cols = matrix(x, "quantize x")
        super().__init__(operands=[x], result_types=[Q8Type(rows, cols, planes)])

    def verify_(self) -> None:
        same("quantize result", matrix(self.x, "quantize x"), self.result.type.shape)
