"""Launches head by head: one matrix a head, and two rows joined."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, irdl_op_definition, operand_def, opt_operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.formats import BLOCK_VALUES
from lanelink.dialects.launch.base import activation_shape, buffer_shape, check, check_index
from lanelink.dialects.launch.placement import PlacedInUnits, ReadsUnits
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType


@irdl_op_definition
class HeadGemvOp(ReadsUnits, PlacedInUnits):
    """
    Head h of the result is head h of x by that head's matrix, checkpoint rows head after head: each row one output
    (transposed) or one input.

    Example:
    ```mlir
    launch.head_gemv(x = %x : memref<1x384xf32>, w = %w : !tgraph.rows<q8_0, 256x32, transposed>,
                     out = %y : memref<1x256xf32>)
      {heads = 4 : i64, inputs = 32 : i64, outputs = 64 : i64, x_pitch = 96 : i64, x_offset = 0 : i64} covers [5, 6]
    ```
    """

    name = "launch.head_gemv"

    heads = prop_def(IntegerAttr[I64])
    inputs = prop_def(IntegerAttr[I64])
    outputs = prop_def(IntegerAttr[I64])
    x = operand_def()
    w = operand_def()
    out = operand_def()
    at = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return self.at

    def verify_(self) -> None:
        heads, inputs, outputs = self.heads.value.data, self.inputs.value.data, self.outputs.value.data
        if min(heads, inputs, outputs) < 1 or inputs % BLOCK_VALUES or outputs % BLOCK_VALUES:
            raise VerifyException(
                f"launch.head_gemv: expected heads of whole blocks of {BLOCK_VALUES} values, "
                f"got {heads} of {inputs} to {outputs}"
            )
        weight = self.w.type
        if not isinstance(weight, RowsType):
            raise VerifyException(f"launch.head_gemv w: expected !tgraph.rows, got {weight}")
        expected = (heads * outputs, inputs) if weight.is_transposed else (heads * inputs, outputs)
        check("launch.head_gemv w", expected, weight.shape)
        if isinstance(self.x.type, Q8Type):
            rows, width = activation_shape(self.x, "launch.head_gemv x")
            check("launch.head_gemv x width", heads * inputs, width)
            if self.x_pitch is not None or not weight.format.data.is_block:
                raise VerifyException(
                    f"launch.head_gemv x: expected whole rows and a block format over a quantized x, got {weight}"
                )
        else:
            rows, units = self.unit_rows(self.x, inputs)
            check("launch.head_gemv x heads", heads, units)
        check_index(self.at, "launch.head_gemv at")
        self.check_units(self.out, rows, heads, outputs)


@irdl_op_definition
class JoinOp(PlacedInUnits):
    """
    Head h of the result is head h of a, then head h of b.

    Example:
    ```mlir
    launch.join(a = %a : memref<1x128xf32>, b = %b : memref<1x64xf32>, out = %y : memref<1x192xf32>)
      {heads = 4 : i64} covers [7]
    ```
    """

    name = "launch.join"

    heads = prop_def(IntegerAttr[I64])
    a = operand_def()
    b = operand_def()
    out = operand_def()
    at = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return self.at

    def verify_(self) -> None:
        heads = self.heads.value.data
        rows, wide_a = buffer_shape(self.a, "launch.join a")
        rows_b, wide_b = buffer_shape(self.b, "launch.join b")
        check("launch.join b rows", rows, rows_b)
        if heads < 1 or wide_a % heads or wide_b % heads:
            raise VerifyException(
                f"launch.join heads: expected to divide rows of {wide_a} and {wide_b} values, got {heads}"
            )
        check_index(self.at, "launch.join at")
        self.check_units(self.out, rows, heads, (wide_a + wide_b) // heads)
