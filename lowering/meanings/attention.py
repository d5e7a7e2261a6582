"""Attention: causal over tables, by a lookup table, and over the expanded rows of a latent table."""

from __future__ import annotations

from math import sqrt

import numpy as np

from lanelink.lowering.functions import Activation
from lanelink.lowering.meanings.arithmetic import Doubles, Floats, activate64, capped64
from lanelink.lowering.meanings.heads import join


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
    gate: tuple[Activation, Floats] | None = None,
) -> Floats:
    """Causal attention of q [m, heads * hd] over keys [length, kv * hd] and values [length, kv * vd]: [m, heads * vd].

    Row r attends to positions 0..position + r (all `length` without a position), of which a window w keeps the last w,
    or where `chunked` those of the row's own chunk of w, the first of which begins at 0 (Llama 4). A softcap c turns
    each score s to c * tanh(s / c) (Gemma 2). A sink joins its head's maximum and sum, and carries no value (gpt-oss).
    A row that sees nothing is 0. A gate, a function and what it is of [m, heads * vd], multiplies the result
    (Qwen3-Next).
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
            scores = capped64(scores, softcap)
        out[r] = _weighted(scores, v, sinks).reshape(heads, vd)
    flat = out.reshape(m, heads * vd)
    if gate is not None:
        flat = flat * activate64(gate[0], gate[1].astype(np.float64))
    return flat.astype(np.float32)


def latent_attention(
    q: Floats,
    q_rope: Floats,
    keys: Floats,
    values: Floats,
    table: Floats,
    position: int,
    heads: int,
    latent: int,
    scale: float,
) -> Floats:
    """A chunk's attention over a latent table's expanded rows (DeepSeek-V2, section 2.1): [m, heads * vd].

    A query head is unrotated values (q [m, heads * nope]) scored against its head's keys [length, heads * nope], and
    rotated ones (q_rope [m, heads * rope]) against the values of each table row [length, latent + rope] from `latent`
    on, which all heads share. Row r attends to positions 0..position + r of the values [length, heads * vd].
    """
    shared = np.tile(table[:, latent:], (1, heads))
    return attention(join(q, q_rope, heads), join(keys, shared, heads), values, position, heads, heads, scale)


def lut_attention(
    q: Floats, keys: Floats, values: Floats, table: Floats, heads: int, kv_heads: int, step: float
) -> Floats:
    """Attention of q [m, heads * hd] over all rows of keys and values [length, kv * hd], its exponential a table [n].

    A score s = q * k weighs table[n - 1 - min(n - 1, floor((max - s) / step))], max the largest of its row and head;
    the weights are divided by their sum. Where they sum to 0 the result is 0.
    """
    m, n = q.shape[0], table.shape[0]
    grouped = q.astype(np.float64).reshape(m, kv_heads, heads // kv_heads, -1)
    k, v = (t.astype(np.float64).reshape(t.shape[0], kv_heads, -1) for t in (keys, values))
    scores = np.einsum("mghd,pgd->mghp", grouped, k)
    steps = np.floor((scores.max(axis=-1, keepdims=True) - scores) / step)
    weights = table.astype(np.float64)[n - 1 - np.minimum(n - 1, steps).astype(np.int64)]
    total = weights.sum(axis=-1)[..., None]
    mixed = np.einsum("mghp,pgd->mghd", weights, v) / np.where(total == 0, 1.0, total)
    return np.where(total == 0, 0.0, mixed).reshape(m, -1).astype(np.float32)


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


__all__ = ["attention", "latent_attention", "lut_attention"]
