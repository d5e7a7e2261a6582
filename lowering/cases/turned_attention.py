"""Cases of attention that norms and turns its queries and the step's own keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from lanelink.lowering import meanings
from lanelink.lowering.cases.attention import AttentionShape, error_bound, needle_key, scheduled, stored
from lanelink.lowering.cases.case import UNIT, Builder, Case, Doubles, FloatResult, Floats
from lanelink.lowering.cases.norms import EPS
from lanelink.lowering.cases.products import turn_bound
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.attention_specs import AttentionSpec, HeadTurns, OutputGate
from lanelink.lowering.selection.operands import HeadNorm

Norm = tuple[Floats | None, float] | None


def turned_attention(s: AttentionShape, half: int, norms: str = "", seed: int = 0) -> Case:
    """
    Attention at a position of tables whose rows from the position on are NaN: of keys until the launch sets the step's
    own, of values past the step. `half` pairs of each head turn; `norms` has a letter for each side that is normed, `q`
    and `k`, capital where the norm has a weight.
    """
    b = Builder(seed)
    q, k = b.normal(s.m, s.heads * s.hd), b.normal(s.m, s.kv_heads * s.hd)
    keys, values = b.normal(s.length, s.kv_heads * s.hd), b.normal(s.length, s.kv_heads * s.vd)
    keys[s.at :], values[s.at + s.m :] = np.nan, np.nan
    angles = b.normal(s.length, half)
    cos, sin = np.cos(angles), np.sin(angles)
    normed = [_norm(b, side, norms, s.hd) for side in "qk"]
    sink = b.normal(s.heads) if s.sinks else None
    turned_q = meanings.rope(q, cos, sin, s.at, s.hd, normed[0])
    if s.needle is not None:
        _put_needle(s, (cos, sin), normed[1], turned_q, k, keys, sink)
    turned_k = meanings.rope(k, cos, sin, s.at, s.hd, normed[1])
    off_q, off_k = (turn_bound(x, 0.0, s.hd, norm) for x, norm in zip((q, k), normed, strict=True))
    after, off = keys.copy(), np.zeros(keys.shape)
    after[s.at : s.at + s.m], off[s.at : s.at + s.m] = turned_k, off_k
    held = b.normal(s.m, s.heads * s.vd, scale=2.0)
    gate = None if s.gate is None else (s.gate, held)
    seen = (turned_q, after, values, s.at, s.heads, s.kv_heads, s.hd**-0.5, s.window, sink)
    plain, y = meanings.attention(*seen), meanings.attention(*seen, gate=gate)
    bound = error_bound(plain, s.hd) + _of_scores(s, turned_q, off_q, after, off, values)
    if gate is not None:
        # The gate's own value is off by a few UNIT of it and of its argument.
        bound = (bound + 16 * UNIT * np.abs(plain)) * (1 + np.abs(held))
    key_rows = b.rows("keys", keys)
    b.results.append(FloatResult("keys", after, off))
    spec = AttentionSpec(
        q=b.rows("q", q, s.gap),
        keys=key_rows,
        values=b.rows("values", values, s.gap),
        position=b.index("position", s.at),
        heads=s.heads,
        kv_heads=s.kv_heads,
        hd=s.hd,
        vd=s.vd,
        length=s.length,
        m=s.m,
        scale=s.hd**-0.5,
        window=s.window,
        sinks=b.maybe("sinks", sink),
        gate=None if s.gate is None else OutputGate(s.gate, b.rows("gate", held, s.gap)),
        turns=HeadTurns(
            k=b.rows("k", k, s.gap),
            q_norm=_weighted(b, "q", normed[0]),
            k_norm=_weighted(b, "k", normed[1]),
            cos=b.put("cos", cos),
            sin=b.put("sin", sin),
            half=half,
        ),
        early=s.early,
        settled=s.settled,
    )
    name = f"attention {s.words}, {half} pairs turned{' after norms ' if norms else ''}{norms}"
    return b.done(name, scheduled(stored(b, spec, y, bound, s)))


def _put_needle(
    s: AttentionShape,
    turn: tuple[Floats, Floats],
    norm: Norm,
    turned_q: Floats,
    k: Floats,
    keys: Floats,
    sink: Floats | None,
) -> None:
    """Writes the needle's key into its table, or among the step's own keys as what `turn`, (cos, sin), turns to it.

    Raises ValueError for one of the step's own keys that is normed, whose size is not free.
    """
    assert s.needle is not None
    cos, sin = turn
    after = keys.copy()
    after[s.at : s.at + s.m] = meanings.rope(k, cos, sin, s.at, s.hd, norm)
    key = needle_key(s, turned_q, after, sink)
    if s.needle < s.at:
        keys[s.needle] = key
    elif norm is None:
        k[s.needle - s.at] = meanings.rope(key[None], cos, -sin, s.needle, s.hd, None)[0]
    else:
        raise ValueError(f"needle: expected a position before the step's {s.at}, whose keys are normed, got {s.needle}")


def _norm(b: Builder, side: str, norms: str, hd: int) -> Norm:
    if side not in norms.lower():
        return None
    return (b.normal(hd) if side.upper() in norms else None), EPS


def _weighted(b: Builder, side: str, norm: Norm) -> HeadNorm | None:
    return None if norm is None else HeadNorm(b.maybe(f"{side}_norm", norm[0]), norm[1])


def _of_scores(s: AttentionShape, q: Floats, off_q: Doubles, keys: Floats, off_k: Doubles, values: Floats) -> Doubles:
    """How far queries and keys that are off lead a result.

    A score that is off by d makes its weight off by d of its own size, and the sum of weights likewise, so that the
    result is off by at most 2 d of the largest value it may take.
    """
    past = s.at + s.m
    k = np.abs(keys[:past].astype(np.float64)).reshape(past, s.kv_heads, s.hd)
    k_off = off_k[:past].reshape(past, s.kv_heads, s.hd)
    group = s.heads // s.kv_heads
    heads = [np.abs(x.astype(np.float64)).reshape(s.m, s.kv_heads, group, s.hd) for x in (q, off_q)]
    scores = np.einsum("rkgd,pkd->rkgp", heads[0], k_off) + np.einsum("rkgd,pkd->rkgp", heads[1], k)
    off = 2 * s.hd**-0.5 * scores.max(axis=-1)
    most = np.abs(values[:past].astype(np.float64)).reshape(past, s.kv_heads, s.vd).max(axis=0)
    return np.einsum("rkg,kv->rkgv", off, most).reshape(s.m, s.heads * s.vd)


def small() -> Iterator[Case]:
    """Every entry that turns heads: tables begun and not, windows, chunks of rows, halves of heads, norms, gates."""
    shape = AttentionShape
    yield turned_attention(shape(1, 4, 2, 32, 32, 0, 64, planes=1, early=True, settled=True), 16, "QK")
    yield turned_attention(shape(1, 4, 1, 32, 32, 70, 96, planes=2, early=True, settled=True), 8, "qk")
    yield turned_attention(shape(1, 14, 1, 64, 64, 65, 128, sinks=True, early=True), 32)
    yield turned_attention(shape(3, 4, 2, 32, 32, 31, 64, early=True, settled=True), 16, "QK")
    yield turned_attention(shape(8, 8, 2, 48, 48, 60, 128, window=20, early=True, settled=True), 24, "k")
    yield turned_attention(shape(1, 2, 1, 128, 128, 63, 80, gate=Activation.SIGMOID, planes=1, early=True), 64, "QK")
    yield turned_attention(shape(1, 4, 1, 128, 96, 32, 80, early=True, settled=True), 48, "Q")
    yield turned_attention(shape(5, 5, 1, 128, 128, 2, 40, window=3), 64, "QK")
    yield turned_attention(shape(1, 2, 1, 256, 256, 33, 64, early=True, settled=True), 128, "QK")
    yield turned_attention(shape(2, 2, 1, 256, 64, 31, 64, row=1, early=True, settled=True), 32, "QK")
    yield turned_attention(shape(2, 4, 1, 192, 128, 40, 64, planes=1, gap=4, early=True, settled=True), 64)
    yield turned_attention(shape(8, 8, 2, 64, 64, 60, 128, window=20, early=True, settled=True), 24, "Qk", seed=1)
    yield turned_attention(shape(3, 18, 1, 128, 128, 95, 128, planes=2, early=True, settled=True), 64, "K", seed=2)
    yield turned_attention(shape(1, 32, 8, 64, 64, 33, 64, sinks=True, early=True, settled=True), 32, "", seed=3)
    yield turned_attention(shape(1, 16, 1, 32, 30, 64, 96, gap=2, early=True, settled=True), 16, "K")
    # One row whose splits meet in a cluster.
    for heads, kv, head, at, norms in (
        (4, 2, 64, 0, "QK"),
        (4, 1, 64, 255, ""),
        (16, 1, 64, 31, "k"),
        (2, 1, 128, 500, "Q"),
    ):
        one = shape(1, heads, kv, head, head, at, 512, 200 if heads == 16 else None, kv == 2, heads % 3)
        yield turned_attention(replace(one, early=at != 31, settled=at > 31), head // 2, norms, seed=head)
    yield turned_attention(shape(1, 14, 2, 128, 128, 300, 512, planes=1, early=True, settled=True), 64, "QK")
    yield turned_attention(shape(1, 8, 2, 128, 128, 256, 288, planes=2, gap=4, early=True), 64, "QK", seed=2)
    # Several tiles a block: more than it holds, as many, in a window.
    yield turned_attention(shape(1, 2, 1, 64, 64, 1700, 1750, planes=1, early=True, settled=True), 32, "QK", seed=1)
    yield turned_attention(shape(1, 4, 1, 64, 64, 1100, 1200, early=True), 32, "q", seed=2)
    yield turned_attention(shape(1, 4, 1, 128, 128, 1601, 3000, 700, sinks=True, early=True, settled=True), 64, "K")


def full() -> Iterator[Case]:
    """Head sizes by positions by rows, windows that slide, groups, whole models' heads."""
    shape = AttentionShape
    for hd, at, m in product((32, 64, 80, 96, 112, 128, 192, 256), (0, 1, 31, 32, 1000), (1, 2, 3, 8)):
        for window in (None, 20):
            gate = Activation.SIGMOID if m == 2 else None
            turned = shape(m, 8, 2, hd, hd, at, 1100, window, at == 31, 1 + at % 2, gate=gate)
            turned = replace(turned, early=m != 3, settled=m < 3)
            yield turned_attention(turned, hd // 2 if at != 1 else hd // 4, ("QK", "", "q")[at % 3], seed=hd)
    for heads, kv in ((14, 2), (16, 1), (12, 12), (22, 2), (64, 8)):
        yield turned_attention(shape(2, heads, kv, 64, 64, 700, 4096, planes=1, early=True, settled=True), 32, "QK")
    for at in (3, 255, 256, 511):
        yield turned_attention(
            shape(1, 32, 8, 128, 128, at, 512, planes=1, early=True, settled=True), 64, "QK", seed=at
        )
    for (heads, kv), head, at in product(
        ((32, 8), (16, 8), (32, 4), (28, 4), (8, 8)), (64, 128), (0, 1, 31, 32, 256, 479, 511)
    ):
        window, gate = (100 if at % 3 == 1 else None), (Activation.SIGMOID if kv == 4 else None)
        one = shape(1, heads, kv, head, head, at, 512, window, at == 31, 1 + at % 2, gate=gate)
        yield turned_attention(
            replace(one, early=at != 1, settled=at > 31), head // 2, ("QK", "", "q")[at % 3], seed=at
        )
    for (heads, kv), head, at in product(((32, 8), (16, 8), (28, 4), (8, 1)), (64, 128), (511, 512, 1535, 1536, 2047)):
        window = 1000 if at == 1535 else None
        one = shape(1, heads, kv, head, head, at, 2048, window, at == 1536, at % 3, early=True, settled=at != 2047)
        yield turned_attention(one, head // 2, "QK" if at % 2 else "", seed=at)
    for at in (2047, 4095):
        yield turned_attention(shape(1, 28, 4, 128, 128, at, 4096, early=True, settled=True), 64, "QK", seed=at)
    yield turned_attention(shape(1, 32, 8, 128, 128, 40000, 40960, early=True, settled=True), 64, "QK")
    yield turned_attention(shape(1, 64, 8, 64, 64, 5000, 8192, window=128, sinks=True, early=True, settled=True), 32)


__all__ = ["full", "small", "turned_attention"]
