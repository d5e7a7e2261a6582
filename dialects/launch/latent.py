"""
A wide chunk's latent attention, expanded (DeepSeek-V2, section 2.1): keys and values of every head are made from the
latent rows once for the chunk, then attended to. Three launches for what decode computes absorbed.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.irdl import AttrSizedOperandSegments, irdl_op_definition, operand_def, opt_operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.attention import SharedOut
from lanelink.dialects.launch.base import (
    LeafLaunch,
    buffer_shape,
    check,
    check_index,
    check_results,
)
from lanelink.dialects.tgraph.attributes import RowsType, check_number


class LatentExpansion(LeafLaunch, ABC):
    """One matrix a head from the latent values of a table's rows to a buffer of as many rows."""

    ROWS_ARE_OUTPUTS: ClassVar[bool]
    """Whether a checkpoint row that is one output of a product (`transposed`) is one of the expansion too: the keys'
    matrix is stored as the query's absorption multiplies by it."""

    heads = prop_def(IntegerAttr[I64])
    latent = prop_def(IntegerAttr[I64])
    width = prop_def(IntegerAttr[I64])
    rows = prop_def(IntegerAttr[I64])
    table = operand_def()
    w = operand_def()
    position = operand_def()
    out = operand_def()

    @property
    def by_outputs(self) -> bool:
        """Whether each row of the matrix, as it is stored, is one output of the expansion; else one input."""
        return isinstance(self.w.type, RowsType) and self.w.type.is_transposed == self.ROWS_ARE_OUTPUTS

    def verify_(self) -> None:
        heads, latent, width = self.heads.value.data, self.latent.value.data, self.width.value.data
        length, held = buffer_shape(self.table, f"{self.name} table")
        rows = self.rows.value.data
        if min(heads, latent, width) < 1 or latent > held or not 1 <= rows <= length:
            raise VerifyException(
                f"{self.name}: expected heads, latent and width of at least 1, latent values inside rows of {held} and "
                f"1 to {length} rows, got {heads}, {latent}, {width} and {rows}"
            )
        weight = self.w.type
        if not isinstance(weight, RowsType):
            raise VerifyException(f"{self.name} w: expected !tgraph.rows, got {weight}")
        expected = (heads * width, latent) if self.by_outputs else (heads * latent, width)
        check(f"{self.name} w", expected, weight.shape)
        check_index(self.position, f"{self.name} position")
        check(f"{self.name} out", (length, heads * width), buffer_shape(self.out, f"{self.name} out"))


@irdl_op_definition
class LatentKeysOp(LatentExpansion):
    """
    Every head's unrotated keys of rows 0 … position + rows − 1: the first `latent` values of each table row by that
    head's matrix, of `width` outputs. It is the matrix that absorbs a query, the other way round: what is an input of
    that product (each row, where the rows are not transposed) is an output here.

    Example:
    ```mlir
    launch.latent_keys(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 256x32>,
                       position = %p : memref<1xi32>, out = %k : memref<256x256xf32>)
      {heads = 4 : i64, latent = 32 : i64, width = 64 : i64, rows = 128 : i64} covers [5]
    ```
    """

    name = "launch.latent_keys"

    ROWS_ARE_OUTPUTS: ClassVar[bool] = False


@irdl_op_definition
class LatentValuesOp(LatentExpansion):
    """
    Every head's values of rows 0 … position + rows − 1, as `launch.latent_keys` makes keys.

    Example:
    ```mlir
    launch.latent_values(table = %t : memref<256x96xf32>, w = %w : !tgraph.rows<q8_0, 128x32, transposed>,
                         position = %p : memref<1xi32>, out = %v : memref<256x128xf32>)
      {heads = 4 : i64, latent = 32 : i64, width = 32 : i64, rows = 128 : i64} covers [8]
    ```
    """

    name = "launch.latent_values"

    ROWS_ARE_OUTPUTS: ClassVar[bool] = True


@irdl_op_definition
class LatentAttendOp(SharedOut):
    """
    The chunk's attention over expanded keys and values. A query head is `nope` unrotated values (unit h of a row of
    `q` at h·q_pitch + q_offset) scored against its head's keys, and `rope` rotated ones (of `q_rope`, head after head)
    against the values of the table's rows from `latent` on, which all heads share.

    Example:
    ```mlir
    launch.latent_attend(q = %q : memref<128x384xf32>, q_rope = %r : memref<128x128xf32>,
                         keys = %k : memref<256x256xf32>, values = %v : memref<256x128xf32>,
                         table = %t : memref<256x64xf32>, position = %p : memref<1xi32>, out = %o : memref<128x128xf32>)
      {heads = 4 : i64, nope = 64 : i64, rope = 32 : i64, latent = 32 : i64, value_dim = 32 : i64,
       q_pitch = 96 : i64, q_offset = 0 : i64, scale = 1.020621e-01 : f32} covers [3, 4, 6, 7, 9]
    ```
    """

    name = "launch.latent_attend"

    heads = prop_def(IntegerAttr[I64])
    nope = prop_def(IntegerAttr[I64])
    rope = prop_def(IntegerAttr[I64])
    latent = prop_def(IntegerAttr[I64])
    value_dim = prop_def(IntegerAttr[I64])
    q_pitch = prop_def(IntegerAttr[I64])
    q_offset = prop_def(IntegerAttr[I64])
    scale = prop_def(FloatAttr[Float32Type])
    q = operand_def()
    q_rope = operand_def()
    keys = operand_def()
    values = operand_def()
    table = operand_def()
    position = operand_def()
    out = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        heads, nope, rope = self.heads.value.data, self.nope.value.data, self.rope.value.data
        latent, value_dim = self.latent.value.data, self.value_dim.value.data
        pitch, offset = self.q_pitch.value.data, self.q_offset.value.data
        if min(heads, nope, rope, latent, value_dim) < 1 or offset < 0 or offset + nope > pitch:
            raise VerifyException(
                f"launch.latent_attend: expected sizes of at least 1 and {nope} values inside every {pitch}, "
                f"got {heads} heads of {nope} + {rope} over {latent}, values of {value_dim}, from {offset}"
            )
        self.check_shares(1)
        rows, width = buffer_shape(self.q, "launch.latent_attend q")
        check("launch.latent_attend q width", heads * pitch, width)
        check(
            "launch.latent_attend q_rope",
            (rows, heads * rope),
            buffer_shape(self.q_rope, "launch.latent_attend q_rope"),
        )
        length, held = buffer_shape(self.table, "launch.latent_attend table")
        check("launch.latent_attend table width", latent + rope, held)
        check("launch.latent_attend keys", (length, heads * nope), buffer_shape(self.keys, "launch.latent_attend keys"))
        check(
            "launch.latent_attend values",
            (length, heads * value_dim),
            buffer_shape(self.values, "launch.latent_attend values"),
        )
        check_index(self.position, "launch.latent_attend position")
        check_number("launch.latent_attend scale", self.scale)
        check_results("launch.latent_attend", self.out, self.quant, (rows, heads * value_dim))
        if self.out is not None:
            check(
                "launch.latent_attend out",
                (rows, heads * value_dim),
                buffer_shape(self.out, "launch.latent_attend out"),
            )
