"""Cases of linear attention: convolutions, l2 norms, gates, the gated delta rule; state is moved on in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from lanelink.lowering import meanings
from lanelink.lowering.cases.case import UNIT, Builder, Case, Doubles, FloatResult, Floats, Seed
from lanelink.lowering.cases.norms import EPS, norm_bound
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.delta_specs import (
    ConvPart,
    ConvSpec,
    DeltaSpec,
    GateProjSpec,
    GatesSpec,
    L2Spec,
)

SILU_SLOPE = 1.1
"""The steepest that silu is."""


def l2_bound(x: Floats, bound: Doubles | float, cols: int, eps: float) -> Doubles:
    """What an l2 norm of x's groups may be off by, x being off by `bound`: an RMS norm's bound of as many values, over
    the root of their number."""
    groups = x.reshape(x.shape[0], -1, cols)
    off = np.broadcast_to(np.asarray(bound, np.float64), x.shape).reshape(groups.shape)
    return (norm_bound(groups, off, None, eps / cols) / np.sqrt(cols)).reshape(x.shape)


def conv(
    m: int,
    taps: int,
    parts: tuple[tuple[int, int | None], ...],
    *,
    silu: bool = True,
    ready: bool = True,
    seed: Seed = 0,
) -> Case:
    """Convolutions in one launch, of (channels, values of an l2 norm or None) each."""
    b = Builder(seed)
    made: list[ConvPart] = []
    for i, (channels, cols) in enumerate(parts):
        x, w, ring = b.normal(m, channels), b.constant(channels, taps), b.normal(taps - 1, channels)
        y, after = meanings.causal_conv(x, w, ring, silu=silu, l2=None if cols is None else (cols, EPS))
        plain, _ = meanings.causal_conv(x, w, ring)
        terms, _ = meanings.causal_conv(np.abs(x), np.abs(w), np.abs(ring))
        bound = (taps + 1) * UNIT * terms.astype(np.float64)
        before = plain
        if silu:
            before, _ = meanings.causal_conv(x, w, ring, silu=True)
            bound = SILU_SLOPE * bound + 8 * UNIT * np.abs(before)
        if cols is not None:
            bound = l2_bound(before, bound, cols, EPS)
        state = b.put(f"ring{i}", ring)
        b.results.append(FloatResult(f"ring{i}", after, 0.0))
        made.append(
            ConvPart(b.rows(f"x{i}", x, gap=i), b.put(f"w{i}", w), state, channels, b.out(f"y{i}", y, bound), cols)
        )
    spec = ConvSpec(tuple(made), m, taps, silu, EPS, ready)
    return b.done(f"conv m={m} taps={taps} {parts}{' silu' if silu else ''}", spec)


def l2_norm(m: int, cols: int, seed: int = 0) -> Case:
    """l2 norms alone."""
    b = Builder(seed)
    x = b.normal(m, cols)
    y = meanings.l2_norm(x, cols, EPS)
    spec = L2Spec(b.rows("x", x, gap=2), b.out("y", y, l2_bound(x, 0.0, cols, EPS)), m, cols, EPS)
    return b.done(f"l2_norm {m}x{cols}", spec)


def decay_bound(a: Floats, off: Doubles | float, dt_bias: Floats, a_log: Floats) -> Doubles:
    """What a decay exp(-u), u = exp(a_log) softplus(a + dt_bias), may be off by, a being off by `off`.

    The sum rounds once, and softplus has a slope of at most 1; its own exp and log1p, and exp(a_log), are within some
    units of theirs; an error of u is one of exp(-u) as large, relative.
    """
    total = np.abs(a.astype(np.float64)) + np.abs(dt_bias.astype(np.float64))
    rate = np.exp(a_log.astype(np.float64))
    u = rate * np.logaddexp(0.0, a.astype(np.float64) + dt_bias.astype(np.float64))
    return np.exp(-u) * (rate * (np.asarray(off) + UNIT * total) + 16 * UNIT * u + 8 * UNIT)


def gates(m: int, heads: int, *, with_beta: bool = True, seed: int = 0) -> Case:
    """Both gates, or the decay alone; some steps wide open and some shut."""
    b = Builder(seed)
    left, a = b.normal(m, heads, scale=4.0), b.normal(m, heads, scale=4.0)
    dt_bias, a_log = b.normal(heads), b.normal(heads)
    beta, decay = meanings.gates(left, a, dt_bias, a_log)
    spec = GatesSpec(
        a=b.put("a", a),
        dt_bias=b.put("dt_bias", dt_bias),
        a_log=b.put("a_log", a_log),
        decay=b.out("decay", decay, decay_bound(a, 0.0, dt_bias, a_log)).address,
        m=m,
        heads=heads,
        b=b.put("b", left) if with_beta else None,
        beta=b.out("beta", beta, 8 * UNIT).address if with_beta else None,
    )
    return b.done(f"gates {m}x{heads}{'' if with_beta else ' decay alone'}", spec)


def gate_projections(m: int, k: int, heads: int, *, ready: bool = True, splits: int = 1, seed: int = 0) -> Case:
    """Both gates of their products."""
    b = Builder(seed)
    x, wb, wa = b.normal(m, k), b.normal(k, heads, scale=k**-0.5), b.normal(k, heads, scale=k**-0.5)
    dt_bias, a_log = b.normal(heads), b.normal(heads)
    beta, decay = meanings.gate_projections(x, wb.T, wa.T, dt_bias, a_log)
    # A warp adds at most k / 8 terms one after another, 8 warps' sums and 32 shares' follow.
    rounds = (k / 8 + 42) * UNIT
    b_off, a_off = (rounds * (np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)) for w in (wb, wa))
    a = meanings.product(x, wa.T)
    spec = GateProjSpec(
        x=b.rows("x", x, gap=3),
        wb=b.put("wb", wb),
        wa=b.put("wa", wa),
        dt_bias=b.put("dt_bias", dt_bias),
        a_log=b.put("a_log", a_log),
        # sigmoid is nowhere steeper than 1/4
        beta=b.out("beta", beta, b_off / 4 + 8 * UNIT).address,
        decay=b.out("decay", decay, decay_bound(a, a_off, dt_bias, a_log)).address,
        m=m,
        k=k,
        heads=heads,
        constant=ready,
        splits=splits,
    )
    return b.done(f"gate_projections m={m} k={k} heads={heads} in {splits}", spec)


@dataclass(frozen=True)
class DeltaShape:
    """A gated delta rule: m rows, value heads over key heads of d values; planes 0 for no quantized result."""

    m: int
    value_heads: int
    key_heads: int
    d: int
    planes: int = 0
    f32: bool = True

    @property
    def name(self) -> str:
        """The shape in words."""
        return f"m={self.m} {self.value_heads}/{self.key_heads} heads of {self.d} q8 x{self.planes}"


def rule_bounds(
    q: Doubles, k: Doubles, v: Doubles, beta: Doubles, decay: Doubles, state: Doubles
) -> tuple[Doubles, Doubles, Doubles]:
    """(o [m, d], what each may be off by, what each column of the state may be) of one head's rule in f32.

    q, k and v are [m, d], the gates [m], the state [d, d]. A column's error is followed by its length: as a vector e
    over the keys a row makes it (1 - beta k k^T) decay e, which stretches it by max(1, |1 - beta |k|^2|) at most. What
    the row rounds adds to it: sums of d terms, of which a thread adds 16, a warp's lanes 8 and the warps 8, each by
    UNIT of the sum of their magnitudes, and a few roundings of each new value.
    """
    m, d = v.shape
    sums, few = 40 * UNIT, 4 * UNIT
    error = np.zeros(d)
    o, off = np.zeros((m, d)), np.zeros((m, d))
    s = state
    for r in range(m):
        length = float(np.linalg.norm(k[r]))
        by_key, by_query, dot = k[r] @ s, q[r] @ s, float(q[r] @ k[r])
        keys, queries, dots = np.abs(k[r]) @ np.abs(s), np.abs(q[r]) @ np.abs(s), float(np.abs(q[r]) @ np.abs(k[r]))
        step = beta[r] * (v[r] - decay[r] * by_key)
        rounded = beta[r] * (sums * decay[r] * keys + few * (np.abs(v[r]) + decay[r] * np.abs(by_key)))
        after = decay[r] * s + np.outer(k[r], step)
        terms = np.linalg.norm(decay[r] * np.abs(s) + np.outer(np.abs(k[r]), np.abs(step)), axis=0)
        stretch = max(1.0, abs(1 - beta[r] * length**2))
        o[r] = q[r] @ after
        carried = np.linalg.norm(q[r]) * stretch * decay[r] * error
        own = sums * (decay[r] * queries + dots * np.abs(step)) + abs(dot) * rounded
        off[r] = carried + own + few * (decay[r] * np.abs(by_query) + abs(dot) * np.abs(step))
        error = stretch * decay[r] * error + length * rounded + few * terms
        s = after
    return o / np.sqrt(d), off / np.sqrt(d), np.broadcast_to(error, (d, d))


def delta(shape: DeltaShape, gap: int = 0, seed: Seed = 0) -> Case:
    """The gated delta rule over keys of length 1, its state as large as such keys make it."""
    b = Builder(seed)
    m, hv, hk, d = shape.m, shape.value_heads, shape.key_heads, shape.d
    q, k = (meanings.l2_norm(b.normal(m, hk * d), d, EPS) for _ in range(2))
    v, z = b.normal(m, hv * d), b.normal(m, hv * d, scale=2.0)
    beta, decay = meanings.gates(b.normal(m, hv), b.normal(m, hv), b.normal(hv), b.normal(hv))
    state, weight = b.normal(hv * d, d, scale=d**-0.5), b.constant(d)
    y, after = meanings.gated_delta(q, k, v, z, beta, decay, state, weight, key_heads=hk, eps=EPS)
    bound, state_bound = np.zeros((m, hv, d)), np.zeros((hv, d, d))
    for h in range(hv):
        of, key = slice(h * d, (h + 1) * d), slice(h // (hv // hk) * d, (h // (hv // hk) + 1) * d)
        rule = (q[:, key], k[:, key], v[:, of], beta[:, h], decay[:, h], state[of])
        o, off, state_bound[h] = rule_bounds(*(t.astype(np.float64) for t in rule))
        gate = meanings.unary(Activation.SILU, z[:, of], 1.0).astype(np.float64)
        normed = norm_bound(o.astype(np.float32), off, weight, EPS)
        bound[:, h] = normed * np.abs(gate) + 12 * UNIT * np.abs(y[:, of])
    bound = bound.reshape(m, hv * d)
    at = b.put("state", state)
    b.results.append(FloatResult("state", after, state_bound.reshape(state.shape) + UNIT * np.abs(after)))
    spec = DeltaSpec(
        q=b.rows("q", q, gap),
        k=b.rows("k", k, gap),
        v=b.rows("v", v, gap),
        z=b.rows("z", z, gap),
        beta=b.put("beta", beta),
        decay=b.put("decay", decay),
        state=at,
        norm_weight=b.put("norm_weight", weight),
        m=m,
        value_heads=hv,
        key_heads=hk,
        d=d,
        eps=EPS,
        y=b.out("y", y, bound) if shape.f32 else None,
        quantized=b.quantized("yq", y, bound, shape.planes, "y" if shape.f32 else None) if shape.planes else None,
    )
    return b.done(f"delta {shape.name} gap {gap}", spec)


def small() -> Iterator[Case]:
    """Every entry, every way through it, odd shapes among them."""
    yield conv(1, 4, ((64, 32), (64, 32), (100, None)))
    yield conv(3, 2, ((45, None),), silu=False, ready=False)
    yield conv(5, 3, ((40, 8), (192, 96), (33, None), (8, 8)), seed=1)  # of which the widest group sets the threads
    yield conv(2, 8, ((2100, 1050),), seed=2)  # groups wider than a block
    yield conv(17, 5, ((64, 64),), silu=False, seed=3)
    yield l2_norm(3, 32)
    yield l2_norm(2, 2100)
    yield gates(3, 6)
    yield gates(17, 32, seed=1)
    yield gates(1, 3, with_beta=False)
    yield gate_projections(1, 128, 4, splits=2)
    yield gate_projections(2, 31, 33, ready=False)
    yield gate_projections(5, 600, 16, splits=5, seed=1)
    yield delta(DeltaShape(1, 4, 2, 32))
    yield delta(DeltaShape(3, 3, 1, 64, planes=1), gap=3)
    yield delta(DeltaShape(2, 2, 2, 96, planes=2, f32=False), gap=4)
    yield delta(DeltaShape(1, 3, 1, 128, planes=2))
    yield delta(DeltaShape(17, 1, 1, 32))
    yield delta(DeltaShape(2, 1, 1, 160, planes=1))
    yield delta(DeltaShape(5, 1, 1, 288))


def wide() -> Iterator[Case]:
    """What only a device has time for."""
    for m, taps in product((1, 2, 3, 8, 17), range(2, 9)):
        for cols in (32, 96, 128, 1024):
            yield conv(m, taps, ((2 * cols, cols), (cols, cols), (6 * cols + 5, None)), ready=m != 3, seed=taps)
    yield conv(1, 4, ((2048, 128), (2048, 128), (4096, None)))
    yield conv(300, 4, ((2048, 128), (2048, 128), (4096, None)))
    for m, cols in product((1, 3, 17, 544), (32, 64, 96, 128, 256, 1024, 5000)):
        yield l2_norm(m, cols, seed=m)
    for m, heads in product((1, 2, 3, 8, 17), (1, 2, 3, 6, 16, 32, 48)):
        yield gates(m, heads, seed=m)
        yield gates(m, heads, with_beta=False, seed=m)
        for k in (96, 2048, 4544):
            yield gate_projections(m, k, heads, ready=m != 3, splits=(1, 7, 32)[m % 3], seed=k)
    for m, (hv, hk), d in product(
        (1, 2, 3, 8, 17), ((1, 1), (2, 1), (3, 1), (6, 2), (16, 16), (32, 16)), (32, 64, 96, 128, 256, 1024)
    ):
        if hv * d <= 6144:
            yield delta(DeltaShape(m, hv, hk, d, planes=m % 3, f32=m != 2), gap=m % 4, seed=d)
    yield delta(DeltaShape(300, 2, 1, 128, planes=1))


__all__ = [
    "DeltaShape",
    "conv",
    "decay_bound",
    "delta",
    "gate_projections",
    "gates",
    "l2_bound",
    "l2_norm",
    "rule_bounds",
    "small",
    "wide",
]
