"""Causal attention over key and value tables."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, TensorType, UnitAttr, f32
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.floats import F32
from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph.attributes import check_number, matrix, positive, same, state_table, vector
from lanelink.dialects.tgraph.lifted import INDEX, LiftedOp, int_attr, opt_int_attr, opt_operand


@irdl_op_definition
class AttentionOp(LiftedOp):
    """
    softmax(scale · q · kᵀ) · v, head by head, causal (Vaswani et al.; grouped heads: Ainslie et al.).

    q is [R, heads·head_dim]; keys [C, kv_heads·head_dim] and values [C, kv_heads·value_dim] are tables, both of f32 or
    both of f16, whose rows 0 … position+r row r attends to (all C rows without a position). `window` keeps the last so
    many of them, or, `chunked`, those of the row's own chunk of so many positions; a sink (one value a head) joins
    the softmax's max and sum and adds no value. scale is 1/sqrt(head_dim) unless given; `softcap` c turns a score s to
    c·tanh(s/c).

    Example:
    ```mlir
    %o = tgraph.attention %q, %k, %v at %pos heads 4 kv_heads 2 head_dim 32 value_dim 32
      : tensor<1x128xf32>, tensor<256x64xf32>, tensor<256x64xf32> -> tensor<1x128xf32>
    ```
    """

    name = "tgraph.attention"

    heads = prop_def(IntegerAttr[I64])
    kv_heads = prop_def(IntegerAttr[I64])
    head_dim = prop_def(IntegerAttr[I64])
    value_dim = prop_def(IntegerAttr[I64])
    window = opt_prop_def(IntegerAttr[I64])
    chunked = opt_prop_def(UnitAttr)
    scale = opt_prop_def(FloatAttr[Float32Type])
    softcap = opt_prop_def(FloatAttr[Float32Type])
    q = operand_def()
    keys = operand_def()
    values = operand_def()
    position = opt_operand_def(INDEX)
    sinks = opt_operand_def()
    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    custom_directives = (F32,)

    assembly_format = (
        "$q `,` $keys `,` $values (`at` $position^)? (`sinks` $sinks^ `:` type($sinks))? "
        "`heads` $heads `kv_heads` $kv_heads "
        "`head_dim` $head_dim `value_dim` $value_dim (`window` $window^)? (`chunked` $chunked^)? "
        "(`scale` custom<F32>($scale)^)? "
        "(`softcap` custom<F32>($softcap)^)? "
        "(`number` $number^)? attr-dict `:` type($q) `,` type($keys) `,` type($values) `->` type($result)"
    )

    def __init__(
        self,
        q: SSAValue,
        keys: SSAValue,
        values: SSAValue,
        position: SSAValue | None,
        *,
        heads: int,
        kv_heads: int,
        head_dim: int,
        value_dim: int | None = None,
        window: int | None = None,
        chunked: bool = False,
        scale: float | None = None,
        softcap: float | None = None,
        sinks: SSAValue | None = None,
    ) -> None:
        value_dim = head_dim if value_dim is None else value_dim
        rows, _ = matrix(q, "attention q")
        super().__init__(
            operands=[q, keys, values, opt_operand(position), opt_operand(sinks)],
            properties={
                "heads": int_attr(heads),
                "kv_heads": int_attr(kv_heads),
                "head_dim": int_attr(head_dim),
                "value_dim": int_attr(value_dim),
                "window": opt_int_attr(window),
                "chunked": UnitAttr() if chunked else None,
                "scale": None if scale is None else FloatAttr(scale, f32),
                "softcap": None if softcap is None else FloatAttr(softcap, f32),
            },
            result_types=[TensorType(f32, [rows, heads * value_dim])],
        )

    @property
    def effective_scale(self) -> float:
        """What scores are multiplied by."""
        return float(self.head_dim.value.data) ** -0.5 if self.scale is None else self.scale.value.data

    def verify_(self) -> None:
        heads, kv_heads = self.heads.value.data, self.kv_heads.value.data
        head_dim, value_dim = self.head_dim.value.data, self.value_dim.value.data
        positive(heads=heads, kv_heads=kv_heads, head_dim=head_dim, value_dim=value_dim)
        if self.window is not None:
            positive(window=self.window.value.data)
        elif self.chunked is not None:
            raise VerifyException("attention chunked: expected a window beside it, got none")
        rows, width = matrix(self.q, "attention q")
        same(f"attention q width: {heads} heads of {head_dim}", heads * head_dim, width)
        capacity, key_width = state_table(self.keys, "attention keys")
        same(f"attention key width: {kv_heads} heads of {head_dim}", kv_heads * head_dim, key_width)
        value_rows, value_width = state_table(self.values, "attention values")
        same(f"attention value width: {kv_heads} heads of {value_dim}", kv_heads * value_dim, value_width)
        same("attention value rows against key rows", capacity, value_rows)
        same("attention values of the keys' type", *(element_of(table) for table in (self.keys, self.values)))
        if capacity < rows:
            raise VerifyException(f"attention tables: expected at least the step's {rows} rows, got {capacity}")
        check_number("attention scale", self.scale)
        check_number("attention softcap", self.softcap, above=0)
        if self.sinks is not None:
            vector(self.sinks, "attention sinks", heads)
        same("attention result", (rows, heads * value_dim), matrix(self.result, "attention result"))
