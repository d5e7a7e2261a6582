"""Row-wise ops: norms over groups of a row, and rotary positions."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, f32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.floats import F32
from lanelink.dialects.tgraph.attributes import check_number, matrix, positive, same, vector
from lanelink.dialects.tgraph.lifted import INDEX, LiftedOp, int_attr, opt_operand


class NormKind(StrEnum):
    """What a row is reduced by."""

    RMS = "rms"
    LAYERNORM = "layernorm"
    SOFTMAX = "softmax"


@irdl_attr_definition
class NormKindAttr(EnumAttribute[NormKind], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<norm_kind rms>`."""

    name = "tgraph.norm_kind"


@irdl_op_definition
class FusedRowOp(LiftedOp):
    """
    A norm of every group of `cols` consecutive values: of a whole row, or of each head of it.

    rms: x / sqrt(mean(x²) + eps) (Zhang and Sennrich, 2019); layernorm: (x − mean) / sqrt(var + eps); softmax:
    exp(x − max) / Σ. The residual, where given, is added to x first; then weight and bias, one value a column.

    Example:
    ```mlir
    %y = tgraph.fused_row rms %x weight %w : tensor<128xf32> cols 128 eps 1.000000e-06
      : tensor<1x128xf32>
    ```
    """

    name = "tgraph.fused_row"

    SAME: ClassVar = VarConstraint("T", AnyAttr())

    kind = prop_def(NormKindAttr)
    cols = prop_def(IntegerAttr[I64])
    eps = opt_prop_def(FloatAttr[Float32Type])
    x = operand_def(SAME)
    weight = opt_operand_def()
    bias = opt_operand_def()
    residual = opt_operand_def(SAME)
    result = result_def(SAME)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    custom_directives = (F32,)

    assembly_format = (
        "$kind $x (`weight` $weight^ `:` type($weight))? (`bias` $bias^ `:` type($bias))? "
        "(`residual` $residual^)? `cols` $cols (`eps` custom<F32>($eps)^)? "
        "(`number` $number^)? attr-dict `:` type($x)"
    )

    def __init__(
        self,
        kind: NormKind,
        x: SSAValue,
        cols: int,
        *,
        eps: float | None = None,
        weight: SSAValue | None = None,
        bias: SSAValue | None = None,
        residual: SSAValue | None = None,
    ) -> None:
        super().__init__(
            operands=[x, opt_operand(weight), opt_operand(bias), opt_operand(residual)],
            properties={
                "kind": NormKindAttr(kind),
                "cols": int_attr(cols),
                "eps": None if eps is None else FloatAttr(eps, f32),
            },
            result_types=[x.type],
        )

    def verify_(self) -> None:
        _, width = matrix(self.x, "fused_row x")
        cols = self.cols.value.data
        if cols < 1 or width % cols:
            raise VerifyException(f"fused_row cols: expected a divisor of the row's {width} values, got {cols}")
        if self.kind.data is NormKind.SOFTMAX:
            for name in ("weight", "bias", "eps"):
                if getattr(self, name) is not None:
                    raise VerifyException(f"fused_row softmax: expected no {name}, got one")
        elif self.eps is None:
            raise VerifyException(f"fused_row {self.kind.data.value}: expected an eps, got none")
        check_number("fused_row eps", self.eps, least=0)
        if self.weight is not None:
            vector(self.weight, "fused_row weight", cols)
        if self.bias is not None:
            vector(self.bias, "fused_row bias", cols)


@irdl_op_definition
class RopeOp(LiftedOp):
    """
    Rotary position embedding (Su et al., RoFormer): turns the pairs (i, i+half) of the first
    2·half values of every head.

    Row r of x takes row position+r of the cos and sin tables ([P, half]); without a position the tables hold the rows
    themselves ([R, half]). out[i] = x[i]·cos − x[i+half]·sin, out[i+half] = x[i+half]·cos + x[i]·sin.

    Example:
    ```mlir
    %y = tgraph.rope %x, %cos, %sin at %pos heads 4 head_dim 32 half 16
      : (tensor<1x128xf32>, tensor<256x16xf32>, tensor<256x16xf32>, tensor<1xi32>) -> tensor<1x128xf32>
    ```
    """

    name = "tgraph.rope"

    heads = prop_def(IntegerAttr[I64])
    head_dim = prop_def(IntegerAttr[I64])
    half = prop_def(IntegerAttr[I64])
    x = operand_def()
    cos = operand_def()
    sin = operand_def()
    position = opt_operand_def(INDEX)
    result = result_def()

    assembly_format = (
        "$x `,` $cos `,` $sin (`at` $position^)? `heads` $heads `head_dim` $head_dim `half` $half "
        "(`number` $number^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        x: SSAValue,
        cos: SSAValue,
        sin: SSAValue,
        position: SSAValue | None,
        *,
        heads: int,
        head_dim: int,
        half: int,
    ) -> None:
        super().__init__(
            operands=[x, cos, sin, opt_operand(position)],
            properties={"heads": int_attr(heads), "head_dim": int_attr(head_dim), "half": int_attr(half)},
            result_types=[x.type],
        )

    def verify_(self) -> None:
        rows, width = matrix(self.x, "rope x")
        heads, head_dim, half = self.heads.value.data, self.head_dim.value.data, self.half.value.data
        positive(heads=heads, head_dim=head_dim, half=half)
        same(f"rope x width: {heads} heads of {head_dim}", heads * head_dim, width)
        if 2 * half > head_dim:
            raise VerifyException(f"rope half: expected at most {head_dim // 2} in a head of {head_dim}, got {half}")
        cos, sin = matrix(self.cos, "rope cos"), matrix(self.sin, "rope sin")
        same("rope tables: sin against cos", cos, sin)
        same("rope table width", half, cos[1])
        if self.position is None:
            same("rope table rows without a position", rows, cos[0])
        elif cos[0] < rows:
            raise VerifyException(f"rope table rows: expected at least the step's {rows}, got {cos[0]}")
        same("rope result", (rows, width), matrix(self.result, "rope result"))
