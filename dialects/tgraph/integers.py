"""The integer-network ops: in the language, refused by this project's own lane."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, i32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.tgraph.attributes import matrix, same
from lanelink.dialects.tgraph.lifted import LiftedOp, int_attr

LARGEST_SHIFT = 62
"""With a 32-bit accumulator and a multiplier below 2^31, a product's bits and half a step still fit 64 bits."""


@irdl_op_definition
class IntRequantOp(LiftedOp):
    """
    i32 accumulators to a narrower scale: round(x · multiplier / 2^shift) + zero_point, halves away from zero (Jacob et
    al., "Quantization and training of neural networks for efficient integer-arithmetic-only inference").
    What i32 does not hold becomes its nearest end.

    Example:
    ```mlir
    %y = tgraph.int_requant %x multiplier 1518500250 shift 40 zero_point -3 : tensor<1x64xi32> -> tensor<1x64xi32>
    ```
    """

    name = "tgraph.int_requant"

    multiplier = prop_def(IntegerAttr[I64])
    shift = prop_def(IntegerAttr[I64])
    zero_point = prop_def(IntegerAttr[I64])
    x = operand_def()
    result = result_def()

    assembly_format = (
        "$x `multiplier` $multiplier `shift` $shift `zero_point` $zero_point (`number` $number^)? attr-dict `:` "
        "type($x) `->` type($result)"
    )

    def __init__(self, x: SSAValue, *, multiplier: int, shift: int, zero_point: int = 0) -> None:
        super().__init__(
            operands=[x],
            properties={
                "multiplier": int_attr(multiplier),
                "shift": int_attr(shift),
                "zero_point": int_attr(zero_point),
            },
            result_types=[x.type],
        )

    def verify_(self) -> None:
        shape = matrix(self.x, "int_requant x", i32)
        if not 0 < self.multiplier.value.data < 2**31:
            raise VerifyException(f"int_requant multiplier: expected 1 to 2147483647, got {self.multiplier.value.data}")
        if not 0 <= self.shift.value.data <= LARGEST_SHIFT:
            raise VerifyException(f"int_requant shift: expected 0 to {LARGEST_SHIFT}, got {self.shift.value.data}")
        if not -(2**31) <= self.zero_point.value.data < 2**31:
            raise VerifyException(f"int_requant zero_point: expected an i32, got {self.zero_point.value.data}")
        same("int_requant result", shape, matrix(self.result, "int_requant result", i32))


@irdl_op_definition
class IntClampOp(LiftedOp):
    """
    i32 values held inside [low, high].

    Example:
    ```mlir
    %y = tgraph.int_clamp %x low -128 high 127 : tensor<1x64xi32> -> tensor<1x64xi32>
    ```
    """

    name = "tgraph.int_clamp"

    low = prop_def(IntegerAttr[I64])
    high = prop_def(IntegerAttr[I64])
    x = operand_def()
    result = result_def()

    assembly_format = "$x `low` $low `high` $high (`number` $number^)? attr-dict `:` type($x) `->` type($result)"

    def __init__(self, x: SSAValue, low: int, high: int) -> None:
        super().__init__(operands=[x], properties={"low": int_attr(low), "high": int_attr(high)}, result_types=[x.type])

    def verify_(self) -> None:
        shape = matrix(self.x, "int_clamp x", i32)
        low, high = self.low.value.data, self.high.value.data
        if not -(2**31) <= low <= high < 2**31:
            raise VerifyException(f"int_clamp: expected i32 bounds with low at most high, got {low} and {high}")
        same("int_clamp result", shape, matrix(self.result, "int_clamp result", i32))
