"""Value-by-value launches, and the quantizing of rows."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.base import LeafLaunch, buffer_shape, check, check_results
from lanelink.dialects.launch.functions import ActivationAttr
from lanelink.dialects.tgraph.attributes import Q8Type, check_number
from lanelink.dialects.tgraph.elementwise import BinaryKindAttr


@irdl_op_definition
class BinaryOp(LeafLaunch):
    """
    a ∘ b, or a ∘ act(b) with a gate; b may be one row or one column, repeated.

    Example:
    ```mlir
    launch.binary(a = %a : memref<1x64xf32>, b = %b : memref<1x64xf32>, out = %y : memref<1x64xf32>)
      {kind = #tgraph<binary_kind add>} covers [5]
    ```
    """

    name = "launch.binary"

    kind = prop_def(BinaryKindAttr)
    gate = opt_prop_def(ActivationAttr)
    a = operand_def()
    b = operand_def()
    out = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        rows, width = buffer_shape(self.a, "launch.binary a")
        b = buffer_shape(self.b, "launch.binary b")
        if b not in ((rows, width), (1, width), (rows, 1)):
            raise VerifyException(f"launch.binary b: expected {rows}x{width}, 1x{width} or {rows}x1, got {b[0]}x{b[1]}")
        check_f32("launch.binary", self, (rows, width))


@irdl_op_definition
class SwigluOp(LeafLaunch):
    """
    silu(gate) · up.

    Example:
    ```mlir
    launch.swiglu(gate = %g : memref<1x64xf32>, up = %u : memref<1x64xf32>, out = %y : memref<1x64xf32>) covers [5]
    ```
    """

    name = "launch.swiglu"

    gate = operand_def()
    up = operand_def()
    out = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        shape = buffer_shape(self.gate, "launch.swiglu gate")
        check("launch.swiglu up", shape, buffer_shape(self.up, "launch.swiglu up"))
        check_f32("launch.swiglu", self, shape)


@irdl_op_definition
class UnaryOp(LeafLaunch):
    """
    act(x).

    Example:
    ```mlir
    launch.unary(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {act = #launch<act silu>} covers [5]
    ```
    """

    name = "launch.unary"

    act = prop_def(ActivationAttr)
    x = operand_def()
    out = operand_def()

    def verify_(self) -> None:
        check("launch.unary out", buffer_shape(self.x, "launch.unary x"), buffer_shape(self.out, "launch.unary out"))


@irdl_op_definition
class ScaleOp(LeafLaunch):
    """
    factor · x.

    Example:
    ```mlir
    launch.scale(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>) {factor = 8.000000e+00 : f32} covers [5]
    ```
    """

    name = "launch.scale"

    factor = prop_def(FloatAttr[Float32Type])
    x = operand_def()
    out = operand_def()

    def verify_(self) -> None:
        check_number("launch.scale factor", self.factor)
        check("launch.scale out", buffer_shape(self.x, "launch.scale x"), buffer_shape(self.out, "launch.scale out"))


@irdl_op_definition
class QuantOp(LeafLaunch):
    """
    x quantized in blocks of 32.

    Example:
    ```mlir
    launch.quant(x = %x : memref<1x64xf32>, quant = %q : !tgraph.q8<1x64>) covers [5]
    ```
    """

    name = "launch.quant"

    x = operand_def()
    quant = operand_def(Q8Type)

    def verify_(self) -> None:
        check_results("launch.quant", None, self.quant, buffer_shape(self.x, "launch.quant x"))


def check_f32(name: str, op: BinaryOp | SwigluOp, shape: tuple[int, int]) -> None:
    """Checks the f32 and quantized results of an elementwise launch."""
    check_results(name, op.out, op.quant, shape)
    if op.out is not None:
        check(f"{name} out", shape, buffer_shape(op.out, f"{name} out"))
