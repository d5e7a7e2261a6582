"""Ops head by head: two parts joined, and one matrix a head."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, f32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.tgraph.attributes import Q8Type, RowsType, activation, matrix, positive, same
from lanelink.dialects.tgraph.lifted import LiftedOp, int_attr


@irdl_op_definition
class JoinOp(LiftedOp):
    """
    Concatenates two rows head by head: head h of the result is head h of a, then head h of b.

    Example:
    ```mlir
    %y = tgraph.join %a, %b heads 4 : (tensor<1x128xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
    ```
    """

    name = "tgraph.join"

    heads = prop_def(IntegerAttr[I64])
    a = operand_def()
    b = operand_def()
    result = result_def()

    assembly_format = "$a `,` $b `heads` $heads (`number` $number^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, a: SSAValue, b: SSAValue, heads: int) -> None:
        rows, wide_a = matrix(a, "join a")
        _, wide_b = matrix(b, "join b")
        super().__init__(
            operands=[a, b],
            properties={"heads": int_attr(heads)},
            result_types=[TensorType(f32, [rows, wide_a + wide_b])],
        )

    def verify_(self) -> None:
        heads = self.heads.value.data
        positive(heads=heads)
        rows, wide_a = matrix(self.a, "join a")
        rows_b, wide_b = matrix(self.b, "join b")
        same("join b rows", rows, rows_b)
        if wide_a % heads or wide_b % heads:
            raise VerifyException(f"join heads: expected to divide rows of {wide_a} and {wide_b} values, got {heads}")
        same("join result", (rows, wide_a + wide_b), matrix(self.result, "join result"))


@irdl_op_definition
class HeadMatmulOp(LiftedOp):
    """
    One matrix a head: head h of the result is head h of x by W_h, of `inputs` × `outputs` values.

    W is checkpoint rows, head after head: [heads·outputs, inputs] where each row is an output (transposed), or
    [heads·inputs, outputs] where each row is an input; or values [heads·inputs, outputs].

    Example:
    ```mlir
    %y = tgraph.head_matmul %x, %w heads 4 inputs 32 outputs 64
      : (tensor<1x128xf32>, !tgraph.rows<q8_0, 256x32, transposed>) -> tensor<1x256xf32>
    ```
    """

    name = "tgraph.head_matmul"

    heads = prop_def(IntegerAttr[I64])
    inputs = prop_def(IntegerAttr[I64])
    outputs = prop_def(IntegerAttr[I64])
    x = operand_def()
    weight = operand_def()
    result = result_def()

    assembly_format = (
        "$x `,` $weight `heads` $heads `inputs` $inputs `outputs` $outputs (`number` $number^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(self, x: SSAValue, weight: SSAValue, *, heads: int, inputs: int, outputs: int) -> None:
        rows, _ = activation(x, "head_matmul x")
        super().__init__(
            operands=[x, weight],
            properties={"heads": int_attr(heads), "inputs": int_attr(inputs), "outputs": int_attr(outputs)},
            result_types=[TensorType(f32, [rows, heads * outputs])],
        )

    def verify_(self) -> None:
        heads, inputs, outputs = self.heads.value.data, self.inputs.value.data, self.outputs.value.data
        positive(heads=heads, inputs=inputs, outputs=outputs)
        rows, width = activation(self.x, "head_matmul x")
        same(f"head_matmul x width: {heads} heads of {inputs}", heads * inputs, width)
        weight = self.weight.type
        transposed = isinstance(weight, RowsType) and weight.is_transposed
        expected = (heads * outputs, inputs) if transposed else (heads * inputs, outputs)
        got = weight.shape if isinstance(weight, RowsType) else matrix(self.weight, "head_matmul weight")
        same("head_matmul weight", expected, got)
        if isinstance(self.x.type, Q8Type) and not (isinstance(weight, RowsType) and weight.format.data.is_block):
            raise VerifyException(f"head_matmul: expected rows of a block format over a quantized x, got {weight}")
        same("head_matmul result", (rows, heads * outputs), matrix(self.result, "head_matmul result"))
