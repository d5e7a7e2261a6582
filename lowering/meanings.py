"""The one numpy meaning of each launch that kernels implement: pure functions of plain arrays.

Arrays are f32 (weights already decoded, activations already dequantized); arithmetic is f64, rounded to f32 once at
each value a launch stores, so that a kernel's error against a meaning is the kernel's own rounding.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from lanelink.lowering.functions import Activation, BinaryOp

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def product(x: Floats, weights: Floats, bias: Floats | None = None) -> Floats:
    """x [m, k] by weights [n, k], each row one output, plus bias [n]: [m, n]."""
    return _product(x, weights, bias).astype(np.float32)


def gated_pair(
    x: Floats,
    gate: Floats,
    up: Floats,
    act: Activation,
    gate_bias: Floats | None = None,
    up_bias: Floats | None = None,
) -> Floats:
    """act(x · gate + gate_bias) * (x · up + up_bias), gate and up [n, k]: [m, n]."""
    return (_activate(act, _product(x, gate, gate_bias)) * _product(x, up, up_bias)).astype(np.float32)


def norm(
    x: Floats,
    eps: float,
    weight: Floats | None = None,
    add: Floats | None = None,
    pre: tuple[Floats | None, float] | None = None,
) -> tuple[Floats, Floats]:
    """RMSNorm of rows x [m, cols] (Zhang and Sennrich, 2019): (the sum it normed, the normed rows).

    `pre` is the weight and eps of a norm of x itself, taken first; `add` is then added; the result is normed and
    multiplied by `weight` [cols].
    """
    s = x.astype(np.float64)
    if pre is not None:
        s = _rms(s, pre[1]) * (1.0 if pre[0] is None else pre[0].astype(np.float64))
    if add is not None:
        s = s + add.astype(np.float64)
    y = _rms(s, eps) * (1.0 if weight is None else weight.astype(np.float64))
    return s.astype(np.float32), y.astype(np.float32)


def layer_norm(x: Floats, eps: float, weight: Floats | None = None, bias: Floats | None = None) -> Floats:
    """(x - mean) / sqrt(var + eps) of rows x [m, cols], times weight [cols], plus bias [cols] (Ba et al., 2016)."""
    s = x.astype(np.float64)
    s = s - s.mean(axis=-1, keepdims=True)
    y = s / np.sqrt(np.mean(s * s, axis=-1, keepdims=True) + eps)
    if weight is not None:
        y = y * weight.astype(np.float64)
    return (y if bias is None else y + bias.astype(np.float64)).astype(np.float32)


def softmax(x: Floats) -> Floats:
    """exp(x - max) / sum, of rows x [m, cols]."""
    s = x.astype(np.float64)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(np.float32)


def rope(
    x: Floats,
    cos: Floats,
    sin: Floats,
    position: int,
    hd: int,
    head_norm: tuple[Floats | None, float] | None = None,
) -> Floats:
    """Heads of hd values in rows x [m, heads * hd], their first 2 * half values turned by pairs (i, i + half).

    cos and sin are [context, half]; row r turns by their row position + r. `head_norm` is the weight [hd] and eps of
    an RMSNorm of each head, taken first.
    """
    m, half = x.shape[0], cos.shape[1]
    heads = x.astype(np.float64).reshape(m, -1, hd)
    if head_norm is not None:
        weight, eps = head_norm
        heads = _rms(heads, eps) * (1.0 if weight is None else weight.astype(np.float64))
    c, s = (t[position : position + m].astype(np.float64)[:, None, :] for t in (cos, sin))
    low, high, rest = heads[..., :half], heads[..., half : 2 * half], heads[..., 2 * half :]
    turned = np.concatenate([low * c - high * s, high * c + low * s, rest], axis=-1)
    return turned.reshape(x.shape).astype(np.float32)


def attention(
    q: Floats,
    keys: Floats,
    values: Floats,
    position: int | None,
    heads: int,
    kv_heads: int,
    scale: float | None = None,
    window: int | None = None,
    sinks: Floats | None = None,
    softcap: float | None = None,
    *,
    chunked: bool = False,
) -> Floats:
    """Causal attention of q [m, heads * hd] over keys [length, kv * hd] and values [length, kv * vd]: [m, heads * vd].

    Row r attends to positions 0..position + r (all `length` without a position), of which a window w keeps the last w,
    or where `chunked` those of the row's own chunk of w, the first of which begins at 0 (Llama 4). A softcap c turns
    each score s to c * tanh(s / c) (Gemma 2). A sink joins its head's maximum and sum, and carries no value (gpt-oss).
    A row that sees nothing is 0.
    """
    m = q.shape[0]
    hd, vd = q.shape[1] // heads, values.shape[1] // kv_heads
    factor = 1.0 / sqrt(hd) if scale is None else scale
    out = np.zeros((m, heads, vd), np.float64)
    for r in range(m):
        last = keys.shape[0] - 1 if position is None else position + r
        first = _first_seen(last, window, chunked)
        k = keys[first : last + 1].astype(np.float64).reshape(-1, kv_heads, hd)
        v = values[first : last + 1].astype(np.float64).reshape(-1, kv_heads, vd)
        grouped = q[r].astype(np.float64).reshape(kv_heads, heads // kv_heads, hd)
        scores = np.einsum("ghd,pgd->ghp", grouped, k) * factor
        if softcap is not None:
            scores = _capped(scores, softcap)
        out[r] = _weighted(scores, v, sinks).reshape(heads, vd)
    return out.reshape(m, heads * vd).astype(np.float32)


def _first_seen(last: int, window: int | None, chunked: bool) -> int:
    """The first position that the row at `last` attends to."""
    if window is None:
        return 0
    return last - last % window if chunked else max(0, last - window + 1)


def _weighted(scores: Doubles, v: Doubles, sinks: Floats | None) -> Doubles:
    """Softmax of scores [kv, group, positions] over the values v [positions, kv, vd]: [kv, group, vd]."""
    sink = None if sinks is None else sinks.astype(np.float64).reshape(scores.shape[:2])
    peak = scores.max(axis=-1, initial=-np.inf)
    if sink is not None:
        peak = np.maximum(peak, sink)
    e = np.exp(scores - np.where(np.isfinite(peak), peak, 0.0)[..., None])
    total = e.sum(axis=-1)
    if sink is not None:
        total = total + np.exp(sink - peak)
    safe = np.where(total > 0, total, 1.0)
    return np.einsum("ghp,pgd->ghd", e, v) / safe[..., None]


def arg_max(x: Floats) -> Ints:
    """The lowest index of each row's largest value, i32 [m]; a NaN is larger than every number."""
    return np.argmax(x, axis=-1).astype(np.int32)


def gather(table: Floats, index: Ints, scale: float = 1.0) -> Floats:
    """Rows of table [rows, cols] by index [m], times scale; an index outside the table reads its nearest row."""
    picked = table[np.clip(index, 0, table.shape[0] - 1)]
    return (picked.astype(np.float64) * scale).astype(np.float32)


def set_rows(table: Floats, rows: Floats, at: int) -> Floats:
    """The table with rows [m, cols] written from row `at` on; the table given is left as it is."""
    out = table.copy()
    out[at : at + rows.shape[0]] = rows
    return out


def slice_units(x: Floats, every: int, start: int, width: int) -> Floats:
    """Values [start, start + width) of every `every` values of each row."""
    m = x.shape[0]
    return x.reshape(m, -1, every)[:, :, start : start + width].reshape(m, -1).copy()


def binary(op: BinaryOp, a: Floats, b: Floats, gate: Activation = Activation.NONE) -> Floats:
    """op(a, gate(b)); b [m, n], or [1, n] or [m, 1] repeated over a [m, n]."""
    left, right = a.astype(np.float64), _activate(gate, b.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        return _BINARY[op](left, right).astype(np.float32)


def swiglu(gate: Floats, up: Floats) -> Floats:
    """silu(gate) * up."""
    return binary(BinaryOp.MUL, up, gate, Activation.SILU)


def unary(act: Activation, x: Floats, factor: float = 1.0) -> Floats:
    """factor * act(x)."""
    return (factor * _activate(act, x.astype(np.float64))).astype(np.float32)


def soft_cap(x: Floats, cap: float) -> Floats:
    """cap * tanh(x / cap) (Gemma 2)."""
    return _capped(x.astype(np.float64), cap).astype(np.float32)


def _capped(x: Doubles, cap: float) -> Doubles:
    return cap * np.tanh(x / cap)


def _product(x: Floats, weights: Floats, bias: Floats | None) -> Doubles:
    y = x.astype(np.float64) @ weights.astype(np.float64).T
    return y if bias is None else y + bias.astype(np.float64)


def _rms(x: Doubles, eps: float) -> Doubles:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


def _sigmoid(x: Doubles) -> Doubles:
    # exp of a non-positive number on either side, so that nothing overflows.
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


def _erf(x: Doubles) -> Doubles:
    """The error function to 1e-13: its Taylor series below 3, 1 - erfc by a continued fraction above."""
    z = np.abs(x)
    small = np.minimum(z, 3.0)
    term = small.copy()
    total = small.copy()
    for n in range(1, 60):
        term = -term * small * small / n
        total = total + term / (2 * n + 1)
    big = np.maximum(z, 3.0)
    tail = np.zeros_like(big)
    for n in range(60, 0, -1):
        tail = (n / 2) / (big + tail)
    erfc = np.exp(-big * big) / ((big + tail) * sqrt(np.pi))
    return np.copysign(np.where(z < 3.0, total * (2 / sqrt(np.pi)), 1.0 - erfc), x)


def _activate(act: Activation, x: Doubles) -> Doubles:
    match act:
        case Activation.NONE:
            return x
        case Activation.SILU:
            return x * _sigmoid(x)
        case Activation.SIGMOID:
            return _sigmoid(x)
        case Activation.GELU:
            return 0.5 * x * (1.0 + _erf(x / sqrt(2.0)))
        case Activation.GELU_TANH:
            return 0.5 * x * (1.0 + np.tanh(sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)))
        case Activation.RELU:
            return np.maximum(x, 0.0)
        case Activation.TANH:
            return np.tanh(x)
        case Activation.EXP:
            return np.exp(x)
        case Activation.SQUARE:
            return x * x


_BINARY = {
    BinaryOp.ADD: np.add,
    BinaryOp.SUB: np.subtract,
    BinaryOp.MUL: np.multiply,
    BinaryOp.DIV: np.divide,
    BinaryOp.MAX: np.maximum,
    BinaryOp.MIN: np.minimum,
}

__all__ = [
    "arg_max",
    "attention",
    "binary",
    "gated_pair",
    "gather",
    "layer_norm",
    "norm",
    "product",
    "rope",
    "set_rows",
    "slice_units",
    "soft_cap",
    "softmax",
    "swiglu",
    "unary",
]
