"""Attention without state: of a block's rows over each other, unmasked, by softmax or by a lookup table."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, TensorType, f32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.floats import F32
from lanelink.dialects.tgraph.attributes import check_number, matrix, positive, same, static_shape
from lanelink.dialects.tgraph.lifted import LiftedOp, int_attr


def check_heads(op: FullAttentionOp | LutAttentionOp) -> None:
    """Checks q, k and v against the heads they hold, and the result."""
    heads, kv_heads, head_dim = op.heads.value.data, op.kv_heads.value.data, op.head_dim.value.data
    positive(heads=heads, kv_heads=kv_heads, head_dim=head_dim)
    if heads % kv_heads:
        raise VerifyException(f"{op.name} heads: expected a multiple of the {kv_heads} key heads, got {heads}")
    rows, width = matrix(op.q, f"{op.name} q")
    same(f"{op.name} q width: {heads} heads of {head_dim}", heads * head_dim, width)
    keys = matrix(op.keys, f"{op.name} keys")
    same(f"{op.name} key width: {kv_heads} heads of {head_dim}", kv_heads * head_dim, keys[1])
    same(f"{op.name} values", keys, matrix(op.values, f"{op.name} values"))
    same(f"{op.name} result", (rows, width), matrix(op.result, f"{op.name} result"))


@irdl_op_definition
class FullAttentionOp(LiftedOp):
    """
    softmax(scale · q · kᵀ) · v over all rows of k and v, unmasked: an encoder's attention.

    q is [R, heads·head_dim], keys and values [K, kv_heads·head_dim]; scale is 1/sqrt(head_dim) unless given.

    Example:
    ```mlir
    %o = tgraph.full_attention %q, %k, %v heads 4 kv_heads 4 head_dim 32
      : (tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
    ```
    """

    name = "tgraph.full_attention"

    heads = prop_def(IntegerAttr[I64])
    kv_heads = prop_def(IntegerAttr[I64])
    head_dim = prop_def(IntegerAttr[I64])
    scale = opt_prop_def(FloatAttr[Float32Type])
    q = operand_def()
    keys = operand_def()
    values = operand_def()
    result = result_def()

    custom_directives = (F32,)

    assembly_format = (
        "$q `,` $keys `,` $values `heads` $heads `kv_heads` $kv_heads `head_dim` $head_dim "
        "(`scale` custom<F32>($scale)^)? "
        "(`number` $number^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        q: SSAValue,
        keys: SSAValue,
        values: SSAValue,
        *,
        heads: int,
        kv_heads: int,
        head_dim: int,
        scale: float | None = None,
    ) -> None:
        super().__init__(
            operands=[q, keys, values],
            properties={
                "heads": int_attr(heads),
                "kv_heads": int_attr(kv_heads),
                "head_dim": int_attr(head_dim),
                "scale": None if scale is None else FloatAttr(scale, f32),
            },
            result_types=[TensorType(f32, matrix(q, "full_attention q"))],
        )

    @property
    def effective_scale(self) -> float:
        """What scores are multiplied by."""
        return float(self.head_dim.value.data) ** -0.5 if self.scale is None else self.scale.value.data

    def verify_(self) -> None:
        check_heads(self)
        check_number("full_attention scale", self.scale)


@irdl_op_definition
class LutAttentionOp(LiftedOp):
    """
    Attention whose exponential is a lookup table of N weights.

    A score s of q · k takes weight table[N − 1 − min(N − 1, floor((max − s) / step))], max the largest of its row;
    weights are divided by their sum. Shapes as `full_attention`; the table is [N].

    Example:
    ```mlir
    %o = tgraph.lut_attention %q, %k, %v, %lut heads 4 kv_heads 4 head_dim 32 step 1.250000e-01
      : (tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>, tensor<64xf32>) -> tensor<8x128xf32>
    ```
    """

    name = "tgraph.lut_attention"

    heads = prop_def(IntegerAttr[I64])
    kv_heads = prop_def(IntegerAttr[I64])
    head_dim = prop_def(IntegerAttr[I64])
    step = prop_def(FloatAttr[Float32Type])
    q = operand_def()
    keys = operand_def()
    values = operand_def()
    table = operand_def()
    result = result_def()

    custom_directives = (F32,)

    assembly_format = (
        "$q `,` $keys `,` $values `,` $table `heads` $heads `kv_heads` $kv_heads `head_dim` $head_dim "
        "`step` custom<F32>($step) "
        "(`number` $number^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        q: SSAValue,
        keys: SSAValue,
        values: SSAValue,
        table: SSAValue,
        *,
        heads: int,
        kv_heads: int,
        head_dim: int,
        step: float,
    ) -> None:
        super().__init__(
            operands=[q, keys, values, table],
            properties={
                "heads": int_attr(heads),
                "kv_heads": int_attr(kv_heads),
                "head_dim": int_attr(head_dim),
                "step": FloatAttr(step, f32),
            },
            result_types=[TensorType(f32, matrix(q, "lut_attention q"))],
        )

    def verify_(self) -> None:
        check_heads(self)
        check_number("lut_attention step", self.step, above=0)
        shape = static_shape(self.table.type, f32)
        if shape is None or len(shape) != 1:
            raise VerifyException(f"lut_attention table: expected tensor<Nxf32>, got {self.table.type}")
