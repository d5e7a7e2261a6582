"""Linear attention by the gated delta rule, and what feeds it: decay, l2 norm, causal convolution."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, TensorType, f32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.floats import F32
from lanelink.dialects.tgraph.attributes import check_number, matrix, positive, same, vector
from lanelink.dialects.tgraph.lifted import LiftedOp, int_attr


@irdl_op_definition
class DecayOp(LiftedOp):
    """
    exp(−exp(a_log) · softplus(a + dt_bias)), a value a row and head (Gated DeltaNet, Yang et al., 2024).

    a is [R, H]; dt_bias and a_log [H].

    Example:
    ```mlir
    %d = tgraph.decay %a, %dt, %al
      : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
    ```
    """

    name = "tgraph.decay"

    a = operand_def()
    dt_bias = operand_def()
    a_log = operand_def()
    result = result_def()

    assembly_format = "$a `,` $dt_bias `,` $a_log (`number` $number^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, a: SSAValue, dt_bias: SSAValue, a_log: SSAValue) -> None:
        super().__init__(operands=[a, dt_bias, a_log], result_types=[a.type])

    def verify_(self) -> None:
        rows, heads = matrix(self.a, "decay a")
        vector(self.dt_bias, "decay dt_bias", heads)
        vector(self.a_log, "decay a_log", heads)
        same("decay result", (rows, heads), matrix(self.result, "decay result"))


@irdl_op_definition
class L2NormOp(LiftedOp):
    """
    x / sqrt(Σx² + eps) of every group of `cols` consecutive values.

    Example:
    ```mlir
    %y = tgraph.l2norm %x cols 32 eps 1.000000e-06 : tensor<1x64xf32> -> tensor<1x64xf32>
    ```
    """

    name = "tgraph.l2norm"

    cols = prop_def(IntegerAttr[I64])
    eps = prop_def(FloatAttr[Float32Type])
    x = operand_def()
    result = result_def()

    custom_directives = (F32,)

    assembly_format = (
        "$x `cols` $cols `eps` custom<F32>($eps) (`number` $number^)? attr-dict `:` type($x) `->` type($result)"
    )

    def __init__(self, x: SSAValue, cols: int, eps: float) -> None:
        super().__init__(
            operands=[x], properties={"cols": int_attr(cols), "eps": FloatAttr(eps, f32)}, result_types=[x.type]
        )

    def verify_(self) -> None:
        rows, width = matrix(self.x, "l2norm x")
        cols = self.cols.value.data
        if cols < 1 or width % cols:
            raise VerifyException(f"l2norm cols: expected a divisor of the row's {width} values, got {cols}")
        check_number("l2norm eps", self.eps, least=0)
        same("l2norm result", (rows, width), matrix(self.result, "l2norm result"))


@irdl_op_definition
class CausalConvOp(LiftedOp):
    """
    A depthwise causal convolution over the rows so far: out[r, c] = Σ_j weight[c, j] · row[r + j][c].

    The rows are the ring's taps − 1, oldest first, then x's; the ring that results holds the last taps − 1 of them.
    x is [R, C], weight [C, taps], the ring (state) [taps − 1, C].

    Example:
    ```mlir
    %y, %ring1 = tgraph.causal_conv %x, %w, %ring0
      : (tensor<1x64xf32>, tensor<64x4xf32>, tensor<3x64xf32>) -> (tensor<1x64xf32>, tensor<3x64xf32>)
    ```
    """

    name = "tgraph.causal_conv"

    x = operand_def()
    weight = operand_def()
    ring = operand_def()
    result = result_def()
    new_ring = result_def()

    assembly_format = "$x `,` $weight `,` $ring (`number` $number^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, weight: SSAValue, ring: SSAValue) -> None:
        super().__init__(operands=[x, weight, ring], result_types=[x.type, ring.type])

    def verify_(self) -> None:
        rows, channels = matrix(self.x, "causal_conv x")
        held, taps = matrix(self.weight, "causal_conv weight")
        same("causal_conv weight channels", channels, held)
        if taps < 2:
            raise VerifyException(f"causal_conv weight: expected at least 2 taps, got {taps}")
        same("causal_conv ring", (taps - 1, channels), matrix(self.ring, "causal_conv ring"))
        same("causal_conv result", (rows, channels), matrix(self.result, "causal_conv result"))
        same("causal_conv new ring", self.ring.type, self.new_ring.type)


class DeltaGate(StrEnum):
    """The activation of a gated delta's output gate."""

    SILU = "silu"
    SIGMOID = "sigmoid"


@irdl_attr_definition
class DeltaGateAttr(EnumAttribute[DeltaGate], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<delta_gate silu>`."""

    name = "tgraph.delta_gate"


@irdl_op_definition
class GatedDeltaOp(LiftedOp):
    """
    The gated delta rule over R rows (Gated DeltaNet, Yang et al., 2024), its output normed and gated.

    Each value head h has a state S of d × d (keys by values) and reads key head h / (value_heads / key_heads). Row by
    row: S ← decay·S; S ← S + k ⊗ beta·(v − kᵀS); o = (q/√d)ᵀS. Then out = norm_weight · o / rms(o) · gate(z).

    q and k are [R, key_heads·d], v and z [R, value_heads·d], beta and decay [R, value_heads], the state (state)
    [value_heads·d, d], the norm's weight [d].

    Example:
    ```mlir
    %y, %s1 = tgraph.gated_delta silu %q, %k, %v, %z, %beta, %decay, %s0, %gn
      value_heads 4 key_heads 2 head_dim 32 eps 1.000000e-06
      : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
         tensor<128x32xf32>, tensor<32xf32>) -> (tensor<1x128xf32>, tensor<128x32xf32>)
    ```
    """

    name = "tgraph.gated_delta"

    gate = prop_def(DeltaGateAttr)
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
    result = result_def()
    new_state = result_def()

    custom_directives = (F32,)

    assembly_format = (
        "$gate $q `,` $k `,` $v `,` $z `,` $beta `,` $decay `,` $state `,` $norm_weight "
        "`value_heads` $value_heads `key_heads` $key_heads `head_dim` $head_dim `eps` custom<F32>($eps) "
        "(`number` $number^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        inputs: tuple[SSAValue, SSAValue, SSAValue, SSAValue, SSAValue, SSAValue],
        state: SSAValue,
        norm_weight: SSAValue,
        *,
        value_heads: int,
        key_heads: int,
        head_dim: int,
        eps: float,
        gate: DeltaGate = DeltaGate.SILU,
    ) -> None:
        """`inputs`: q, k, v, z, beta, decay."""
        v = inputs[2]
        super().__init__(
            operands=[*inputs, state, norm_weight],
            properties={
                "gate": DeltaGateAttr(gate),
                "value_heads": int_attr(value_heads),
                "key_heads": int_attr(key_heads),
                "head_dim": int_attr(head_dim),
                "eps": FloatAttr(eps, f32),
            },
            result_types=[v.type, state.type],
        )

    def verify_(self) -> None:
        hv, hk, d = self.value_heads.value.data, self.key_heads.value.data, self.head_dim.value.data
        positive(value_heads=hv, key_heads=hk, head_dim=d)
        if hv % hk:
            raise VerifyException(f"gated_delta: expected value heads a multiple of the {hk} key heads, got {hv}")
        check_number("gated_delta eps", self.eps, least=0)
        rows, _ = matrix(self.q, "gated_delta q")
        for name, width in (("q", hk * d), ("k", hk * d), ("v", hv * d), ("z", hv * d), ("beta", hv), ("decay", hv)):
            same(f"gated_delta {name}", (rows, width), matrix(getattr(self, name), f"gated_delta {name}"))
        same("gated_delta state", (hv * d, d), matrix(self.state, "gated_delta state"))
        vector(self.norm_weight, "gated_delta norm_weight", d)
        same("gated_delta result", TensorType(f32, [rows, hv * d]), self.result.type)
        same("gated_delta new state", self.state.type, self.new_state.type)
