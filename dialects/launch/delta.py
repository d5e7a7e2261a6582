"""Launches of linear attention by the gated delta rule: decay, l2 norm, convolutions, the rule itself, its gates."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, UnitAttr
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
    LeafLaunch,
    buffer_shape,
    check,
    check_results,
    check_vector,
)
from lanelink.dialects.launch.products import check_splits
from lanelink.dialects.tgraph.attributes import check_number


@irdl_op_definition
class DecayOp(LeafLaunch):
    """
    exp(−exp(a_log) · softplus(a + dt_bias)), a value a row and head.

    Example:
    ```mlir
    launch.decay(a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>,
                 out = %y : memref<1x4xf32>) covers [3]
    ```
    """

    name = "launch.decay"

    a = operand_def()
    dt_bias = operand_def()
    a_log = operand_def()
    out = operand_def()

    def verify_(self) -> None:
        shape = buffer_shape(self.a, "launch.decay a")
        check_vector(self.dt_bias, "launch.decay dt_bias", shape[1])
        check_vector(self.a_log, "launch.decay a_log", shape[1])
        check("launch.decay out", shape, buffer_shape(self.out, "launch.decay out"))


@irdl_op_definition
class L2NormOp(LeafLaunch):
    """
    x / sqrt(Σx² + eps) of every `cols` values.

    Example:
    ```mlir
    launch.l2norm(x = %x : memref<1x64xf32>, out = %y : memref<1x64xf32>)
      {cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3]
    ```
    """

    name = "launch.l2norm"

    cols = prop_def(IntegerAttr[I64])
    eps = prop_def(FloatAttr[Float32Type])
    x = operand_def()
    out = operand_def()

    def verify_(self) -> None:
        shape = buffer_shape(self.x, "launch.l2norm x")
        check_groups("launch.l2norm cols", shape[1], self.cols.value.data)
        check_number("launch.l2norm eps", self.eps, least=0)
        check("launch.l2norm out", shape, buffer_shape(self.out, "launch.l2norm out"))


def check_groups(what: str, width: int, cols: int) -> None:
    """Checks that groups of `cols` values fill a row of `width`."""
    if cols < 1 or width % cols:
        raise VerifyException(f"{what}: expected a divisor of the row's {width} values, got {cols}")


def check_conv(op: ConvOp | ConvPartOp) -> tuple[int, int]:
    """Checks a convolution's weight, ring and result; (rows, taps)."""
    rows, channels = buffer_shape(op.x, f"{op.name} x")
    held, taps = buffer_shape(op.w, f"{op.name} w")
    check(f"{op.name} w channels", channels, held)
    if taps < 2:
        raise VerifyException(f"{op.name} w: expected at least 2 taps, got {taps}")
    check(f"{op.name} ring", (taps - 1, channels), buffer_shape(op.ring, f"{op.name} ring"))
    check(f"{op.name} out", (rows, channels), buffer_shape(op.out, f"{op.name} out"))
    if op.l2_cols is not None:
        check_groups(f"{op.name} l2_cols", channels, op.l2_cols.value.data)
    return rows, taps


@irdl_op_definition
class ConvOp(LeafLaunch):
    """
    A depthwise causal convolution over the ring's rows and x's, the ring moved on in place; then silu, then the l2
    norm of every `l2_cols` values, where given.

    Example:
    ```mlir
    launch.conv(x = %x : memref<1x64xf32>, w = %w : memref<64x4xf32>, ring = %r : memref<3x64xf32>,
                out = %y : memref<1x64xf32>) {silu, l2_cols = 32 : i64, eps = 1.000000e-06 : f32} covers [3, 4, 5]
    ```
    """

    name = "launch.conv"
    WRITES: ClassVar[tuple[str, ...]] = ("out", "ring")

    silu = opt_prop_def(UnitAttr)
    l2_cols = opt_prop_def(IntegerAttr[I64])
    eps = opt_prop_def(FloatAttr[Float32Type])
    x = operand_def()
    w = operand_def()
    ring = operand_def()
    out = operand_def()

    def reads(self) -> list[SSAValue]:
        return [self.x, self.w, self.ring]

    def verify_(self) -> None:
        check_conv(self)
        if (self.l2_cols is None) != (self.eps is None):
            raise VerifyException("launch.conv: expected l2_cols and eps together, got one without the other")
        check_number("launch.conv eps", self.eps, least=0)


@irdl_op_definition
class ConvPartOp(LeafLaunch):
    """
    One convolution of a `launch.conv_parts`.

    Example:
    ```mlir
    launch.conv_parts() {
      launch.conv_part(x = %k : memref<1x64xf32>, w = %wk : memref<64x4xf32>, ring = %rk : memref<3x64xf32>,
                       out = %kc : memref<1x64xf32>) covers [3, 4]
      launch.conv_part(x = %v : memref<1x128xf32>, w = %wv : memref<128x4xf32>, ring = %rv : memref<3x128xf32>,
                       out = %vc : memref<1x128xf32>) covers [5, 6]
    }
    ```
    """

    name = "launch.conv_part"
    WRITES: ClassVar[tuple[str, ...]] = ("out", "ring")

    l2_cols = opt_prop_def(IntegerAttr[I64])
    x = operand_def()
    w = operand_def()
    ring = operand_def()
    out = operand_def()

    traits = lazy_traits_def(lambda: (HasParent(ConvPartsOp),))

    def reads(self) -> list[SSAValue]:
        return [self.x, self.w, self.ring]


@irdl_op_definition
class ConvPartsOp(CompoundLaunch):
    """
    Several convolutions with silu, of as many rows and taps, as one launch; those with `l2_cols` share its eps.

    Example:
    ```mlir
    launch.conv_parts() attributes {eps = 1.000000e-06 : f32} {
      launch.conv_part(x = %q : memref<1x64xf32>, w = %wq : memref<64x4xf32>, ring = %rq : memref<3x64xf32>,
                       out = %qc : memref<1x64xf32>) {l2_cols = 32 : i64} covers [3, 4, 5]
      launch.conv_part(x = %v : memref<1x128xf32>, w = %wv : memref<128x4xf32>, ring = %rv : memref<3x128xf32>,
                       out = %vc : memref<1x128xf32>) covers [6, 7]
    }
    ```
    """

    name = "launch.conv_parts"

    eps = opt_prop_def(FloatAttr[Float32Type])
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        self.verify_members((ConvPartOp,), least=2)
        forms: set[tuple[int, int]] = set()
        normed: set[int] = set()
        for part in self.body.block.ops:
            assert isinstance(part, ConvPartOp)
            try:
                forms.add(check_conv(part))
            except VerifyException as error:
                raise OpFault.of(part, error) from None
            if part.l2_cols is not None:
                normed.add(part.l2_cols.value.data)
        if len(forms) > 1:
            raise VerifyException(f"launch.conv_parts: expected one number of rows and taps, got {sorted(forms)}")
        if len(normed) > 1:
            raise VerifyException(f"launch.conv_parts: expected l2 norms of one width, got {sorted(normed)}")
        if bool(normed) != (self.eps is not None):
            raise VerifyException("launch.conv_parts: expected eps where a part has an l2 norm, and nowhere else")
        check_number("launch.conv_parts eps", self.eps, least=0)


@irdl_op_definition
class DeltaOp(LeafLaunch):
    """
    The gated delta rule over the rows, the state moved on in place; the output normed by `norm_weight` and multiplied
    by silu(z), in f32, quantized, or both.

    Example:
    ```mlir
    launch.delta(q = %q : memref<1x64xf32>, k = %k : memref<1x64xf32>, v = %v : memref<1x128xf32>,
                 z = %z : memref<1x128xf32>, beta = %b : memref<1x4xf32>, decay = %d : memref<1x4xf32>,
                 state = %s : memref<128x32xf32>, norm_weight = %n : memref<32xf32>, out = %y : memref<1x128xf32>)
      {value_heads = 4 : i64, key_heads = 2 : i64, head_dim = 32 : i64, eps = 1.000000e-06 : f32} covers [9]
    ```
    """

    name = "launch.delta"
    WRITES: ClassVar[tuple[str, ...]] = ("out", "quant", "state")

    value_heads = prop_def(IntegerAttr[I64])
    key_heads = prop_def(IntegerAttr[I64])
    head_dim = prop_def(IntegerAttr[I64])
    eps = prop_def(FloatAttr[Float32Type])
    q = operand_def()
    k = operand_def()
    v = operand_def()
    z = operand_def()
    beta = operand_def()
    decay = operand_def()
    state = operand_def()
    norm_weight = operand_def()
    out = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def reads(self) -> list[SSAValue]:
        return [*super().reads(), self.state]

    def verify_(self) -> None:
        hv, hk, d = self.value_heads.value.data, self.key_heads.value.data, self.head_dim.value.data
        if min(hv, hk, d) < 1 or hv % hk:
            raise VerifyException(
                f"launch.delta: expected value heads a multiple of the key heads, got {hv} over {hk} of {d} values"
            )
        rows, _ = buffer_shape(self.q, "launch.delta q")
        for name, width in (("q", hk * d), ("k", hk * d), ("v", hv * d), ("z", hv * d), ("beta", hv), ("decay", hv)):
            check(f"launch.delta {name}", (rows, width), buffer_shape(getattr(self, name), f"launch.delta {name}"))
        check("launch.delta state", (hv * d, d), buffer_shape(self.state, "launch.delta state"))
        check_vector(self.norm_weight, "launch.delta norm_weight", d)
        check_number("launch.delta eps", self.eps, least=0)
        check_results("launch.delta", self.out, self.quant, (rows, hv * d))
        if self.out is not None:
            check("launch.delta out", (rows, hv * d), buffer_shape(self.out, "launch.delta out"))


def check_gates(op: GatesOp | GateProjOp, rows: int, heads: int) -> None:
    """Checks a gating's constants and its two results."""
    check_vector(op.dt_bias, f"{op.name} dt_bias", heads)
    check_vector(op.a_log, f"{op.name} a_log", heads)
    for name in ("beta", "decay"):
        check(f"{op.name} {name}", (rows, heads), buffer_shape(getattr(op, name), f"{op.name} {name}"))


@irdl_op_definition
class GatesOp(LeafLaunch):
    """
    A delta rule's two gates: beta = sigmoid(b), decay = exp(−exp(a_log) · softplus(a + dt_bias)).

    Example:
    ```mlir
    launch.gates(b = %b : memref<1x4xf32>, a = %a : memref<1x4xf32>, dt_bias = %dt : memref<4xf32>,
                 a_log = %al : memref<4xf32>, beta = %x : memref<1x4xf32>, decay = %y : memref<1x4xf32>) covers [5, 6]
    ```
    """

    name = "launch.gates"
    WRITES: ClassVar[tuple[str, ...]] = ("beta", "decay")

    b = operand_def()
    a = operand_def()
    dt_bias = operand_def()
    a_log = operand_def()
    beta = operand_def()
    decay = operand_def()

    def verify_(self) -> None:
        rows, heads = buffer_shape(self.a, "launch.gates a")
        check("launch.gates b", (rows, heads), buffer_shape(self.b, "launch.gates b"))
        check_gates(self, rows, heads)


@irdl_op_definition
class GateProjOp(LeafLaunch):
    """
    A delta rule's gates with their two products: beta = sigmoid(x·wb), decay from x·wa; wb and wa plain f32 [k, heads].
    `splits`: shares of the inputs, each a block's; 1 where nothing says so.

    Example:
    ```mlir
    launch.gate_proj(x = %x : memref<1x128xf32>, wb = %wb : memref<128x4xf32>, wa = %wa : memref<128x4xf32>,
                     dt_bias = %dt : memref<4xf32>, a_log = %al : memref<4xf32>, beta = %b : memref<1x4xf32>,
                     decay = %d : memref<1x4xf32>) covers [3, 4, 5, 6]
    ```
    """

    name = "launch.gate_proj"
    WRITES: ClassVar[tuple[str, ...]] = ("beta", "decay")

    splits = opt_prop_def(IntegerAttr[I64])
    x = operand_def()
    wb = operand_def()
    wa = operand_def()
    dt_bias = operand_def()
    a_log = operand_def()
    beta = operand_def()
    decay = operand_def()

    def verify_(self) -> None:
        rows, inner = buffer_shape(self.x, "launch.gate_proj x")
        k, heads = buffer_shape(self.wb, "launch.gate_proj wb")
        check("launch.gate_proj wb: inputs", inner, k)
        check_splits(self.name, self.splits)
        check("launch.gate_proj wa", (k, heads), buffer_shape(self.wa, "launch.gate_proj wa"))
        check_gates(self, rows, heads)
