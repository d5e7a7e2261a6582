"""Value-by-value ops: two-operand arithmetic, activations, scaling."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import Float32Type, FloatAttr, f32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.floats import F32
from lanelink.dialects.tgraph.attributes import check_number, matrix, same
from lanelink.dialects.tgraph.lifted import LiftedOp


class BinaryKind(StrEnum):
    """Two-operand arithmetic."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"


@irdl_attr_definition
class BinaryKindAttr(EnumAttribute[BinaryKind], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<binary_kind add>`."""

    name = "tgraph.binary_kind"


class GeluKind(StrEnum):
    """The Gaussian error linear unit by erf, or its tanh form (Hendrycks and Gimpel, 2016)."""

    EXACT = "exact"
    TANH = "tanh"


@irdl_attr_definition
class GeluKindAttr(EnumAttribute[GeluKind], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<gelu_kind tanh>`."""

    name = "tgraph.gelu_kind"


@irdl_op_definition
class ElementwiseOp(LiftedOp):
    """
    a ∘ b, value by value. b has a's shape, or is one row [1,W] repeated for every row, or one column [R,1] repeated
    along it.

    Example:
    ```mlir
    %s = tgraph.elementwise add %a, %b : (tensor<2x128xf32>, tensor<1x128xf32>) -> tensor<2x128xf32>
    ```
    """

    name = "tgraph.elementwise"

    kind = prop_def(BinaryKindAttr)
    a = operand_def()
    b = operand_def()
    result = result_def()

    assembly_format = "$kind $a `,` $b (`number` $number^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, kind: BinaryKind, a: SSAValue, b: SSAValue) -> None:
        super().__init__(operands=[a, b], properties={"kind": BinaryKindAttr(kind)}, result_types=[a.type])

    def verify_(self) -> None:
        rows, width = matrix(self.a, "elementwise a")
        b = matrix(self.b, "elementwise b")
        if b not in ((rows, width), (1, width), (rows, 1)):
            raise VerifyException(
                f"elementwise b: expected {rows}x{width}, 1x{width} or {rows}x1 beside a of {rows}x{width}, "
                f"got {b[0]}x{b[1]}"
            )
        same("elementwise result", (rows, width), matrix(self.result, "elementwise result"))


@irdl_op_definition
class SwigluOp(LiftedOp):
    """
    silu(gate) · up (Shazeer, "GLU variants improve transformer").

    Example:
    ```mlir
    %h = tgraph.swiglu %gate, %up : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
    ```
    """

    name = "tgraph.swiglu"

    gate = operand_def()
    up = operand_def()
    result = result_def()

    assembly_format = "$gate `,` $up (`number` $number^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, gate: SSAValue, up: SSAValue) -> None:
        super().__init__(operands=[gate, up], result_types=[gate.type])

    def verify_(self) -> None:
        shape = matrix(self.gate, "swiglu gate")
        same("swiglu up", shape, matrix(self.up, "swiglu up"))
        same("swiglu result", shape, matrix(self.result, "swiglu result"))


class UnaryOp(LiftedOp, ABC):
    """One value in, one value out, the shape kept."""

    x = operand_def()
    result = result_def()

    def verify_(self) -> None:
        shape = matrix(self.x, f"{self.name} x")
        same(f"{self.name} result", shape, matrix(self.result, f"{self.name} result"))


@irdl_op_definition
class SiluOp(UnaryOp):
    """
    x · sigmoid(x).

    Example:
    ```mlir
    %y = tgraph.silu %x : tensor<1x64xf32> -> tensor<1x64xf32>
    ```
    """

    name = "tgraph.silu"

    assembly_format = "$x (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue) -> None:
        super().__init__(operands=[x], result_types=[x.type])


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """
    1 / (1 + exp(-x)).

    Example:
    ```mlir
    %y = tgraph.sigmoid %x : tensor<1x64xf32> -> tensor<1x64xf32>
    ```
    """

    name = "tgraph.sigmoid"

    assembly_format = "$x (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue) -> None:
        super().__init__(operands=[x], result_types=[x.type])


@irdl_op_definition
class GeluOp(UnaryOp):
    """
    The Gaussian error linear unit, by erf (`exact`) or its `tanh` form.

    Example:
    ```mlir
    %y = tgraph.gelu tanh %x : tensor<1x64xf32> -> tensor<1x64xf32>
    ```
    """

    name = "tgraph.gelu"

    kind = prop_def(GeluKindAttr)

    assembly_format = "$kind $x (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, kind: GeluKind, x: SSAValue) -> None:
        super().__init__(operands=[x], properties={"kind": GeluKindAttr(kind)}, result_types=[x.type])


@irdl_op_definition
class ScaleOp(UnaryOp):
    """
    factor · x.

    Example:
    ```mlir
    %y = tgraph.scale %x by 8.000000e+00 : tensor<1x64xf32> -> tensor<1x64xf32>
    ```
    """

    name = "tgraph.scale"

    factor = prop_def(FloatAttr[Float32Type])

    custom_directives = (F32,)

    assembly_format = "$x `by` custom<F32>($factor) (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue, factor: float) -> None:
        super().__init__(operands=[x], properties={"factor": FloatAttr(factor, f32)}, result_types=[x.type])

    def verify_(self) -> None:
        super().verify_()
        check_number("scale by", self.factor)


@irdl_op_definition
class ReluOp(UnaryOp):
    """
    max(x, 0).

    Example:
    ```mlir
    %y = tgraph.relu %x : tensor<1x64xf32> -> tensor<1x64xf32>
    ```
    """

    name = "tgraph.relu"

    assembly_format = "$x (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue) -> None:
        super().__init__(operands=[x], result_types=[x.type])


@irdl_op_definition
class SoftcapOp(UnaryOp):
    """
    cap · tanh(x / cap) (Gemma 2).

    Example:
    ```mlir
    %y = tgraph.softcap %x at 3.000000e+01 : tensor<1x64xf32> -> tensor<1x64xf32>
    ```
    """

    name = "tgraph.softcap"

    cap = prop_def(FloatAttr[Float32Type])

    custom_directives = (F32,)

    assembly_format = "$x `at` custom<F32>($cap) (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue, cap: float) -> None:
        super().__init__(operands=[x], properties={"cap": FloatAttr(cap, f32)}, result_types=[x.type])

    def verify_(self) -> None:
        super().verify_()
        check_number("softcap at", self.cap, above=0)
