"""The launches of linear attention that kernels exist for: convolutions, l2 norms, gates, the gated delta rule.

Sizes and pitches count values, `m` is the rows of the step, as in `lowering.selection.specs`. `constant` says that a
launch's matrices are constants: they may be read before what ran before it has ended.
"""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.operands import Quantized, Rows


@dataclass(frozen=True)
class ConvPart:
    """A depthwise causal convolution of x [m, channels] by `weights` f32 [channels, taps].

    `ring`, f32 [taps - 1, channels], holds the rows before x, oldest first, and is moved on in place. `cols`: every
    such group of the result has an l2 norm.
    """

    x: Rows
    weights: Address
    ring: Address
    channels: int
    y: Rows
    cols: int | None = None


@dataclass(frozen=True)
class ConvSpec:
    """Up to four convolutions in one launch, each with silu where `silu`, and then its l2 norm with `eps`."""

    parts: tuple[ConvPart, ...]
    m: int
    taps: int
    silu: bool = False
    eps: float = 0.0
    constant: bool = False


@dataclass(frozen=True)
class L2Spec:
    """x / sqrt(sum x^2 + eps) of m rows of `cols` values."""

    x: Rows
    y: Rows
    m: int
    cols: int
    eps: float


@dataclass(frozen=True)
class GatesSpec:
    """decay = exp(-exp(a_log) * softplus(a + dt_bias)), and beta = sigmoid(b) where there are `b` and `beta`.

    a, b, beta and decay are f32 [m, heads], dt_bias and a_log [heads].
    """

    a: Address
    dt_bias: Address
    a_log: Address
    decay: Address
    m: int
    heads: int
    b: Address | None = None
    beta: Address | None = None


@dataclass(frozen=True)
class GateProjSpec:
    """
    The gates of x * wb and x * wa: x [m, k], both matrices f32 [k, heads], the rest as in GatesSpec; k in `splits`
    shares, each a block's.
    """

    x: Rows
    wb: Address
    wa: Address
    dt_bias: Address
    a_log: Address
    beta: Address
    decay: Address
    m: int
    k: int
    heads: int
    constant: bool = False
    splits: int = 1


@dataclass(frozen=True)
class DeltaSpec:
    """The gated delta rule over m rows (`lowering.meanings.gated_delta`), gated by silu(z).

    q and k are [m, key_heads * d], v and z [m, value_heads * d], beta and decay f32 [m, value_heads]. `state`, f32
    [value_heads * d, d], keys by values, is moved on in place. `norm_weight` is f32 [d].
    """

    q: Rows
    k: Rows
    v: Rows
    z: Rows
    beta: Address
    decay: Address
    state: Address
    norm_weight: Address
    m: int
    value_heads: int
    key_heads: int
    d: int
    eps: float
    y: Rows | None = None
    quantized: Quantized | None = None


__all__ = ["ConvPart", "ConvSpec", "DeltaSpec", "GateProjSpec", "GatesSpec", "L2Spec"]
