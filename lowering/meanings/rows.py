"""Rows: products, norms, rotations, tables, parts of rows, and functions value by value."""

from __future__ import annotations

import numpy as np

from lanelink.lowering.functions import Activation, BinaryOp
from lanelink.lowering.meanings.arithmetic import Floats, Ints, activate64, capped64, product64, rms64


def product(x: Floats, weights: Floats, bias: Floats | None = None) -> Floats:
    """x [m, k] by weights [n, k], each row one output, plus bias [n]: [m, n]."""
    return product64(x, weights, bias).astype(np.float32)


def gated_pair(
    x: Floats,
    gate: Floats,
    up: Floats,
    act: Activation,
    gate_bias: Floats | None = None,
    up_bias: Floats | None = None,
) -> Floats:
    """act(x · gate + gate_bias) * (x · up + up_bias), gate and up [n, k]: [m, n]."""
    return (activate64(act, product64(x, gate, gate_bias)) * product64(x, up, up_bias)).astype(np.float32)


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
        s = rms64(s, pre[1]) * (1.0 if pre[0] is None else pre[0].astype(np.float64))
    if add is not None:
        s = s + add.astype(np.float64)
    y = rms64(s, eps) * (1.0 if weight is None else weight.astype(np.float64))
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
        heads = rms64(heads, eps) * (1.0 if weight is None else weight.astype(np.float64))
    c, s = (t[position : position + m].astype(np.float64)[:, None, :] for t in (cos, sin))
    low, high, rest = heads[..., :half], heads[..., half : 2 * half], heads[..., 2 * half :]
    turned = np.concatenate([low * c - high * s, high * c + low * s, rest], axis=-1)
    return turned.reshape(x.shape).astype(np.float32)


def arg_max(x: Floats) -> Ints:
    """The lowest index of each row's largest value, i32 [m]; a NaN is larger than every number."""
    return np.argmax(x, axis=-1).astype(np.int32)


def gather(table: Floats, index: Ints, scale: float = 1.0) -> Floats:
    """Rows of table [rows, cols] by index [m], times scale; an index outside the table reads its nearest row."""
    picked = table[np.clip(index, 0, table.shape[0] - 1)]
    return (picked.astype(np.float64) * scale).astype(np.float32)


def set_rows(table: Floats, rows: Floats, at: int) -> Floats:
    """The table with rows [m, cols] written from row `at` on; the table given is left as it is. One of f16 takes the
    nearest values, ties to even, and infinity for what is past them."""
    out = table.copy()
    with np.errstate(over="ignore"):
        out[at : at + rows.shape[0]] = rows
    return out


def slice_units(x: Floats, every: int, start: int, width: int) -> Floats:
    """Values [start, start + width) of every `every` values of each row."""
    m = x.shape[0]
    return x.reshape(m, -1, every)[:, :, start : start + width].reshape(m, -1).copy()


def binary(op: BinaryOp, a: Floats, b: Floats, gate: Activation = Activation.NONE) -> Floats:
    """op(a, gate(b)); b [m, n], or [1, n] or [m, 1] repeated over a [m, n]."""
    left, right = a.astype(np.float64), activate64(gate, b.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        return _BINARY[op](left, right).astype(np.float32)


def swiglu(gate: Floats, up: Floats) -> Floats:
    """silu(gate) * up."""
    return binary(BinaryOp.MUL, up, gate, Activation.SILU)


def unary(act: Activation, x: Floats, factor: float = 1.0) -> Floats:
    """factor * act(x)."""
    return (factor * activate64(act, x.astype(np.float64))).astype(np.float32)


def soft_cap(x: Floats, cap: float) -> Floats:
    """cap * tanh(x / cap) (Gemma 2)."""
    return capped64(x.astype(np.float64), cap).astype(np.float32)


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
