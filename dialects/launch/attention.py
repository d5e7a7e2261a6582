"""Attention over key and value tables."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, UnitAttr
from xdsl.ir import SSAValue
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
    Placed,
    buffer_shape,
    check,
    check_index,
    check_vector,
    table_shape,
)
from lanelink.dialects.launch.functions import ActivationAttr
from lanelink.dialects.launch.placement import check_unit
from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph.attributes import check_number


class SharedOut(LeafLaunch, ABC):
    """
    An attention whose queries and positions are shared out over blocks: each takes `block_heads` heads of one key head,
    `block_rows` rows of the step, and one of `splits` of the positions; one of each where nothing says so.
    """

    block_heads = opt_prop_def(IntegerAttr[I64])
    block_rows = opt_prop_def(IntegerAttr[I64])
    splits = opt_prop_def(IntegerAttr[I64])

    def check_shares(self, group: int) -> None:
        """Checks the shares against the heads of a key head."""
        for name in ("block_heads", "block_rows", "splits"):
            field: IntegerAttr[I64] | None = getattr(self, name)
            if field is not None and field.value.data < 1:
                raise VerifyException(f"{self.name} {name}: expected at least 1, got {field.value.data}")
        if self.block_heads is not None and group % self.block_heads.value.data:
            got = self.block_heads.value.data
            raise VerifyException(f"{self.name} block_heads: expected a divisor of {group} heads a key head, got {got}")


@irdl_op_definition
class AttentionOp(Placed, SharedOut):
    """
    Causal attention of m query rows over tables, both of f32 or both of f16; row r sees rows 0 … position + r, the last
    `window` of them.

    With v_pitch the values of key head u are those of each row of `values`, then the keys' own table, from
    u · v_pitch + v_offset on. With a gate the result is multiplied by gate_act of it, value by value: of `gate` from
    value gate_offset on (a batch's row of it). With `row` the result lands in rows of wider tensors from that one on,
    those of `out` and of `quant`: a batch's row of each. `settled`: the tables' rows before the position are there
    since before the step, so that they may be read while the launch ahead still runs.

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
    v_pitch = opt_prop_def(IntegerAttr[I64])
    v_offset = opt_prop_def(IntegerAttr[I64])
    gate_act = opt_prop_def(ActivationAttr)
    gate_offset = opt_prop_def(IntegerAttr[I64])
    settled = opt_prop_def(UnitAttr)
    q = operand_def()
    keys = operand_def()
    values = operand_def()
    position = operand_def()
    sinks = opt_operand_def()
    gate = opt_operand_def()
    out = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return None

    def verify_(self) -> None:
        heads, kv_heads = self.heads.value.data, self.kv_heads.value.data
        head_dim, value_dim = self.head_dim.value.data, self.value_dim.value.data
        if min(heads, kv_heads, head_dim, value_dim) < 1 or heads % kv_heads:
            raise VerifyException(
                f"launch.attention: expected heads of at least 1 grouped evenly, got {heads} over {kv_heads} "
                f"of {head_dim} and {value_dim}"
            )
        self.check_shares(heads // kv_heads)
        if self.window is not None and self.window.value.data < 1:
            raise VerifyException(f"launch.attention window: expected at least 1, got {self.window.value.data}")
        rows, width = buffer_shape(self.q, "launch.attention q")
        check(f"launch.attention q width: {heads} heads of {head_dim}", heads * head_dim, width)
        length, keys = table_shape(self.keys, "launch.attention keys")
        check("launch.attention key width", kv_heads * head_dim, keys)
        if length < rows:
            raise VerifyException(f"launch.attention tables: expected at least {rows} rows, got {length}")
        check(
            "launch.attention values",
            (length, kv_heads * self._value_pitch(value_dim)),
            table_shape(self.values, "launch.attention values"),
        )
        check("launch.attention values of the keys' type", *(element_of(table) for table in (self.keys, self.values)))
        check_index(self.position, "launch.attention position")
        check_number("launch.attention scale", self.scale)
        check_vector(self.sinks, "launch.attention sinks", heads)
        self.check_placed_results(self.out, self.quant, rows, heads * value_dim)
        self._verify_gate(rows, heads * value_dim)

    def _value_pitch(self, value_dim: int) -> int:
        """From one key head's values to the next's."""
        if (self.v_pitch is None) != (self.v_offset is None):
            raise VerifyException("launch.attention: expected v_pitch and v_offset together, got one without the other")
        if self.v_pitch is None or self.v_offset is None:
            return value_dim
        pitch = self.v_pitch.value.data
        check_unit("launch.attention values", value_dim, pitch, self.v_offset.value.data)
        return pitch

    def _verify_gate(self, rows: int, width: int) -> None:
        if (self.gate is None) != (self.gate_act is None):
            raise VerifyException("launch.attention: expected gate and gate_act together, got one without the other")
        if self.gate is None:
            if self.gate_offset is not None:
                raise VerifyException("launch.attention gate_offset: expected a gate beside it, got none")
            return
        held, got = buffer_shape(self.gate, "launch.attention gate")
        check("launch.attention gate width", width, got)
        if self.gate_offset is None:
            check("launch.attention gate rows", rows, held)
            return
        first, within = divmod(self.gate_offset.value.data, width)
        if within or not 0 <= first <= held - rows:
            raise VerifyException(
                f"launch.attention gate_offset: expected the start of one of the rows 0 to {held - rows} of {width} "
                f"values, got {self.gate_offset.value.data}"
            )
