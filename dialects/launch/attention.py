"""Attention over key and value tables."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.base import (
    LeafLaunch,
    buffer_shape,
    check,
    check_index,
    check_results,
    check_vector,
)


@irdl_op_definition
class AttentionOp(LeafLaunch):
    """
    Causal attention of m query rows over tables; row r sees rows 0 … position + r, the last `window` of them.

    Example:
    ```mlir
    launch.attention(q = %q : memref<1x128xf32>, keys = %k : memref<256x64xf32>, values = %v : memref<256x64xf32>,
                     position = %p : memref<1xi32>, out = %o : memref<1x128xf32>)
      {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 32 : i64, value_dim = 32 : i64, scale = 1.767767e-01 : f32}
      covers [10]
    ```
    """

    name = "launch.attention"

    heads = prop_def(IntegerAttr[I64])
    kv_heads = prop_def(IntegerAttr[I64])
    head_dim = prop_def(IntegerAttr[I64])
    value_dim = prop_def(IntegerAttr[I64])
    scale = prop_def(FloatAttr[Float32Type])
    window = opt_prop_def(IntegerAttr[I64])
    q = operand_def()
    keys = operand_def()
    values = operand_def()
    position = operand_def()
    sinks = opt_operand_def()
    out = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        heads, kv_heads = self.heads.value.data, self.kv_heads.value.data
        head_dim, value_dim = self.head_dim.value.data, self.value_dim.value.data
        if min(heads, kv_heads, head_dim, value_dim) < 1 or heads % kv_heads:
            raise VerifyException(
                f"launch.attention: expected heads of at least 1 grouped evenly, got {heads} over {kv_heads} "
                f"of {head_dim} and {value_dim}"
            )
        if self.window is not None and self.window.value.data < 1:
            raise VerifyException(f"launch.attention window: expected at least 1, got {self.window.value.data}")
        rows, width = buffer_shape(self.q, "launch.attention q")
        check(f"launch.attention q width: {heads} heads of {head_dim}", heads * head_dim, width)
        length, keys = buffer_shape(self.keys, "launch.attention keys")
        check("launch.attention key width", kv_heads * head_dim, keys)
        if length < rows:
            raise VerifyException(f"launch.attention tables: expected at least {rows} rows, got {length}")
        check(
            "launch.attention values",
            (length, kv_heads * value_dim),
            buffer_shape(self.values, "launch.attention values"),
        )
        check_index(self.position, "launch.attention position")
        check_vector(self.sinks, "launch.attention sinks", heads)
        shape = (rows, heads * value_dim)
        check_results("launch.attention", self.out, self.quant, shape)
        if self.out is not None:
            check("launch.attention out", shape, buffer_shape(self.out, "launch.attention out"))
