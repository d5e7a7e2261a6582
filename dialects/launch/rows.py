"""Norms and rotations."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import HasParent, NoTerminator
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.fault import OpFault
from lanelink.dialects.launch.base import (
    CompoundLaunch,
    buffer_shape,
    check,
    check_index,
    check_results,
    check_vector,
)
from lanelink.dialects.launch.placement import PlacedInUnits, ReadsUnits
from lanelink.dialects.tgraph.attributes import check_number


@irdl_op_definition
class NormOp(ReadsUnits, PlacedInUnits):
    """
    RMSNorm of every `cols` values: s = x + add (stored in `sum` where given), out = s / rms(s) · w.

    With `pre`, x is first normed itself: s = x / rms(x) · pre + add (a sandwich of norms). Units are the `cols` values.

    Example:
    ```mlir
    launch.norm(x = %x : memref<1x64xf32>, add = %r : memref<1x64xf32>, sum = %s : memref<1x64xf32>,
                w = %w : memref<64xf32>, quant = %q : !tgraph.q8<1x64>)
      {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [7, 8, 9]
    ```
    """

    name = "launch.norm"
    WRITES: ClassVar[tuple[str, ...]] = ("out", "quant", "sum")

    cols = prop_def(IntegerAttr[I64])
    eps = prop_def(FloatAttr[Float32Type])
    pre_eps = opt_prop_def(FloatAttr[Float32Type])
    x = operand_def()
    pre = opt_operand_def()
    add = opt_operand_def()
    sum = opt_operand_def()
    w = opt_operand_def()
    out = opt_operand_def()
    quant = opt_operand_def()
    at = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return self.at

    def verify_(self) -> None:
        cols = self.cols.value.data
        rows, width = buffer_shape(self.x, "launch.norm x")
        if self.x_pitch is None and (cols < 1 or width % cols):
            raise VerifyException(f"launch.norm cols: expected a divisor of the row's {width} values, got {cols}")
        _, units = self.unit_rows(self.x, cols)
        shape = (rows, units * cols)
        for name in ("add", "sum"):
            value: SSAValue | None = getattr(self, name)
            if value is not None:
                check(f"launch.norm {name}", shape, buffer_shape(value, f"launch.norm {name}"))
        if (self.pre is None) != (self.pre_eps is None):
            raise VerifyException("launch.norm: expected pre and pre_eps together, got one without the other")
        check_number("launch.norm eps", self.eps, least=0)
        check_number("launch.norm pre_eps", self.pre_eps, least=0)
        check_vector(self.pre, "launch.norm pre", cols)
        check_vector(self.w, "launch.norm w", cols)
        check_index(self.at, "launch.norm at")
        check_results("launch.norm", self.out, self.quant, shape)
        self.check_units(self.out, rows, units, cols)


def check_heads(op: str, heads: int, head_dim: int, half: int) -> None:
    """Checks the sizes of a rotation."""
    if min(heads, head_dim, half) < 1 or 2 * half > head_dim:
        raise VerifyException(
            f"{op}: expected heads of at least 1 and a rotation inside the head, "
            f"got {heads} heads of {head_dim} turned by {half} pairs"
        )


def check_tables(op: RopeOp | RopePartsOp) -> int | None:
    """Checks a rotation's tables and position; returns the rows it turns where there is no position: the tables'."""
    check_index(op.position, f"{op.name} position")
    check(f"{op.name}: sin table against cos", op.cos.type, op.sin.type)
    rows, width = buffer_shape(op.cos, f"{op.name} cos")
    check(f"{op.name}: table width", op.half.value.data, width)
    return rows if op.position is None else None


@irdl_op_definition
class RopeOp(ReadsUnits, PlacedInUnits):
    """
    Rotary position embedding of every head, each after its own RMSNorm where `norm_eps` is given (with a
    weight a value of a head where `norm` is). Units are the heads.

    Example:
    ```mlir
    launch.rope(x = %x : memref<1x128xf32>, norm = %n : memref<32xf32>, cos = %c : memref<256x16xf32>,
      sin = %s : memref<256x16xf32>,
                position = %p : memref<1xi32>, out = %y : memref<1x128xf32>)
      {heads = 4 : i64, head_dim = 32 : i64, half = 16 : i64, norm_eps = 1.000000e-06 : f32} covers [3, 4]
    ```
    """

    name = "launch.rope"

    heads = prop_def(IntegerAttr[I64])
    head_dim = prop_def(IntegerAttr[I64])
    half = prop_def(IntegerAttr[I64])
    norm_eps = opt_prop_def(FloatAttr[Float32Type])
    x = operand_def()
    norm = opt_operand_def()
    cos = operand_def()
    sin = operand_def()
    position = opt_operand_def()
    out = operand_def()
    at = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return self.at

    def verify_(self) -> None:
        check_side(self, self, check_tables(self))


@irdl_op_definition
class RopeSideOp(ReadsUnits, PlacedInUnits):
    """
    One side of a `launch.rope_parts`: its heads, their norm, and where they land.

    Example:
    ```mlir
    launch.rope_parts(cos = %c : memref<256x16xf32>, sin = %s : memref<256x16xf32>, position = %p : memref<1xi32>)
      attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %k : memref<1x64xf32>, out = %t : memref<256x64xf32>, at = %p : memref<1xi32>)
        {heads = 2 : i64} covers [6]
    }
    ```
    """

    name = "launch.rope_side"

    heads = prop_def(IntegerAttr[I64])
    norm_eps = opt_prop_def(FloatAttr[Float32Type])
    x = operand_def()
    norm = opt_operand_def()
    out = operand_def()
    at = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = lazy_traits_def(lambda: (HasParent(RopePartsOp),))

    @property
    def index(self) -> SSAValue | None:
        return self.at


@irdl_op_definition
class RopePartsOp(CompoundLaunch):
    """
    Several rotations of as many rows by the same tables at the same position, as one launch.

    Example:
    ```mlir
    launch.rope_parts(cos = %c : memref<256x16xf32>, sin = %s : memref<256x16xf32>, position = %p : memref<1xi32>)
      attributes {head_dim = 32 : i64, half = 16 : i64} {
      launch.rope_side(x = %q : memref<1x128xf32>, out = %qr : memref<1x128xf32>) {heads = 4 : i64} covers [5]
      launch.rope_side(x = %k : memref<1x64xf32>, out = %kr : memref<1x64xf32>) {heads = 2 : i64} covers [6]
    }
    ```
    """

    name = "launch.rope_parts"

    head_dim = prop_def(IntegerAttr[I64])
    half = prop_def(IntegerAttr[I64])
    cos = operand_def()
    sin = operand_def()
    position = opt_operand_def()
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        self.verify_members((RopeSideOp,))
        rows = check_tables(self)
        for side in self.body.block.ops:
            assert isinstance(side, RopeSideOp)
            try:
                rows = check_side(side, self, rows)
            except VerifyException as error:
                raise OpFault.of(side, error) from None


def check_side(side: RopeOp | RopeSideOp, holder: RopeOp | RopePartsOp, expected: int | None) -> int:
    """Checks the heads of one rotation, their norm, their rows where expected and where they land; returns the rows."""
    heads, head_dim = side.heads.value.data, holder.head_dim.value.data
    check_heads(side.name, heads, head_dim, holder.half.value.data)
    rows, width = buffer_shape(side.x, f"{side.name} x")
    if side.x_pitch is None:
        check(f"{side.name} x width: {heads} heads of {head_dim}", heads * head_dim, width)
    _, units = side.unit_rows(side.x, head_dim)
    check(f"{side.name} x heads", heads, units)
    if expected is not None:
        check(f"{side.name} x rows", expected, rows)
    table_rows, _ = buffer_shape(holder.cos, f"{holder.name} cos")
    if table_rows < rows:
        raise VerifyException(f"{holder.name} tables: expected at least {rows} rows, got {table_rows}")
    check_number(f"{side.name} norm_eps", side.norm_eps, least=0)
    check_vector(side.norm, f"{side.name} norm", head_dim)
    if side.norm is not None and side.norm_eps is None:
        raise VerifyException(f"{side.name}: expected norm_eps beside norm, got none")
    check_index(side.at, f"{side.name} at")
    side.check_units(side.out, rows, heads, head_dim)
    return rows
