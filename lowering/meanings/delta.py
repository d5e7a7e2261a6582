"""Linear attention by the gated delta rule (Gated DeltaNet, Yang et al., 2024), and what feeds it."""

from __future__ import annotations

from math import sqrt

import numpy as np

from lanelink.lowering.functions import Activation
from lanelink.lowering.meanings.arithmetic import Doubles, Floats, activate64, product64, rms64, sigmoid64


def decay(a: Floats, dt_bias: Floats, a_log: Floats) -> Floats:
    """exp(-exp(a_log) * softplus(a + dt_bias)) of a [m, heads]; dt_bias and a_log hold one value a head."""
    return _decay(a.astype(np.float64), dt_bias, a_log).astype(np.float32)


def gates(b: Floats, a: Floats, dt_bias: Floats, a_log: Floats) -> tuple[Floats, Floats]:
    """A delta rule's two gates of b and a [m, heads]: (beta = sigmoid(b), the decay)."""
    return sigmoid64(b.astype(np.float64)).astype(np.float32), decay(a, dt_bias, a_log)


def gate_projections(x: Floats, wb: Floats, wa: Floats, dt_bias: Floats, a_log: Floats) -> tuple[Floats, Floats]:
    """The gates of x * wb and x * wa, wb and wa [heads, k], each row one output."""
    beta = sigmoid64(product64(x, wb))
    return beta.astype(np.float32), _decay(product64(x, wa), dt_bias, a_log).astype(np.float32)


def l2_norm(x: Floats, cols: int, eps: float) -> Floats:
    """x / sqrt(sum x^2 + eps) of every `cols` consecutive values of rows x [m, n]."""
    return _l2(x.astype(np.float64), cols, eps).astype(np.float32)


def causal_conv(
    x: Floats, weight: Floats, ring: Floats, *, silu: bool = False, l2: tuple[int, float] | None = None
) -> tuple[Floats, Floats]:
    """A depthwise convolution of the ring's rows [taps - 1, channels], oldest first, and then x's [m, channels].

    out[r, c] = sum over j of weight[c, j] * row[r + j][c]; then silu where it is asked for, then the l2 norm of every
    l2[0] values with eps l2[1]. Gives (out, the ring moved on: the last taps - 1 rows); the ring given stays as it is.
    """
    m, taps = x.shape[0], weight.shape[1]
    rows = np.concatenate([ring, x])
    w = weight.astype(np.float64)
    out = np.zeros(x.shape, np.float64)
    for j in range(taps):
        out += rows[j : j + m] * w[:, j]
    if silu:
        out = activate64(Activation.SILU, out)
    if l2 is not None:
        out = _l2(out, *l2)
    return out.astype(np.float32), rows[m:].copy()


def gated_delta(
    q: Floats,
    k: Floats,
    v: Floats,
    z: Floats,
    beta: Floats,
    forget: Floats,
    state: Floats,
    norm_weight: Floats,
    *,
    key_heads: int,
    eps: float,
    gate: Activation = Activation.SILU,
) -> tuple[Floats, Floats]:
    """The gated delta rule over m rows, its output normed and gated: (out [m, value heads * d], the state moved on).

    q and k are [m, key heads * d], v and z [m, value heads * d], beta and forget (the decay) [m, value heads], the
    norm's weight [d]. Value head h reads key head h / (value heads / key heads), and holds d x d of the state
    [value heads * d, d], keys by values. Row by row: S = forget * S; S = S + k (x) beta * (v - k S); o = q S / sqrt(d).
    Then out = norm_weight * o / rms(o) * gate(z). The state given stays as it is.
    """
    m, heads = beta.shape
    d = v.shape[1] // heads
    group = heads // key_heads
    qs, ks = (np.repeat(t.astype(np.float64).reshape(m, key_heads, d), group, axis=1) for t in (q, k))
    vs, zs = (t.astype(np.float64).reshape(m, heads, d) for t in (v, z))
    s = state.astype(np.float64).reshape(heads, d, d)
    o = np.zeros((m, heads, d), np.float64)
    for r in range(m):
        s = s * forget[r][:, None, None]
        error = vs[r] - np.einsum("hkv,hk->hv", s, ks[r])
        s = s + ks[r][:, :, None] * (beta[r][:, None] * error)[:, None, :]
        o[r] = np.einsum("hkv,hk->hv", s, qs[r]) / sqrt(d)
    out = norm_weight.astype(np.float64) * rms64(o, eps) * activate64(gate, zs)
    return out.reshape(m, heads * d).astype(np.float32), s.reshape(state.shape).astype(np.float32)


def _decay(a: Doubles, dt_bias: Floats, a_log: Floats) -> Doubles:
    softplus = np.logaddexp(0.0, a + dt_bias.astype(np.float64))
    return np.exp(-np.exp(a_log.astype(np.float64)) * softplus)


def _l2(x: Doubles, cols: int, eps: float) -> Doubles:
    groups = x.reshape(x.shape[0], -1, cols)
    # A group of zeros without an eps is 0 / 0, NaN as it is on the device.
    with np.errstate(invalid="ignore"):
        return (groups / np.sqrt(np.sum(groups * groups, axis=-1, keepdims=True) + eps)).reshape(x.shape)


__all__ = ["causal_conv", "decay", "gate_projections", "gated_delta", "gates", "l2_norm"]
