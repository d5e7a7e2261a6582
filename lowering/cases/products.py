"""Cases of products: formats by forms of the activation, parts, gated pairs, and what follows in the same launch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.lowering import formats, meanings
from lanelink.lowering.activations import quantize
from lanelink.lowering.cases.case import UNIT, Builder, Case, Doubles, Floats
from lanelink.lowering.cases.norms import EPS, NormShape, build_norm, norm_bound
from lanelink.lowering.functions import Activation
from lanelink.lowering.repack import repack
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.operands import HeadNorm, Quantized, Rows, Unnormed
from lanelink.lowering.selection.specs import GemvPart, GemvSpec, GluSpec, RopeFold, Rotation, Turn


@dataclass(frozen=True)
class ProductShape:
    """A product: x of `planes` (0: f32) planes, m rows of k values, by n outputs; `unnormed`: the launch norms x."""

    format: Format
    planes: int
    m: int
    k: int
    n: int
    unnormed: bool = False

    @property
    def name(self) -> str:
        """The shape in words."""
        form = ("f32", "q8", "q8x2")[self.planes]
        normed = " normed" if self.unnormed else ""
        return f"{self.format.value} x {form}{normed} m={self.m} k={self.k} n={self.n}"


@dataclass(frozen=True)
class Taken:
    """An activation: the values it stands for, its operand, and how far off a launch's own values of it may be."""

    values: Floats
    operand: Rows | Quantized | Unnormed
    off: Doubles | float = 0.0


def sum_bound(x: Floats, weights: Floats, off: Doubles | float = 0.0) -> Doubles:
    """What a product's sum may be off by: a lane adds k / 32 terms one after another and 5 sums of lanes follow, each
    rounding to UNIT of at most sum |x w|; a block's scales round twice more. What x is `off` by comes on top."""
    values, w = np.abs(x).astype(np.float64), np.abs(weights).astype(np.float64)
    wide = np.broadcast_to(np.asarray(off, np.float64), values.shape)
    return ((values.shape[1] / 32 + 16) * UNIT * values + wide) @ w.T


def product_bound(x: Taken, weights: Floats) -> Doubles:
    """What the product of an activation may be off by."""
    return sum_bound(x.values, weights, x.off)


def quantized_bound(x: Floats, off: Doubles, planes: int) -> Doubles:
    """What the quantized form of x may be off by, x being off by `off`: its scale, and a whole step where a quotient
    lies so near a half step that it may round either way."""
    blocks, offs = x.astype(np.float64).reshape(x.shape[0], -1, 32), off.reshape(x.shape[0], -1, 32)
    scale = np.abs(blocks).max(axis=2, keepdims=True) / 127
    scale_off = offs.max(axis=2, keepdims=True) / 127 + 2 * UNIT * scale
    ratio = blocks / scale
    finest = 1 if planes == 1 else 254
    ratio_off = offs / scale + np.abs(ratio) * (scale_off / scale + 4 * UNIT)
    from_half = np.abs(np.abs(ratio * finest) % 1 - 0.5)
    flips = np.where(from_half <= ratio_off * finest, (scale + scale_off) / finest, 0.0)
    return (flips + np.abs(ratio) * scale_off).reshape(x.shape)


def build_x(b: Builder, s: ProductShape) -> Taken:
    """The activation of a product."""
    x = b.normal(s.m, s.k)
    if s.unnormed:
        return _build_unnormed(b, s, x)
    if s.planes == 0:
        return Taken(x, b.rows("x", x, gap=4))
    q = quantize(x, s.planes)
    return Taken(q.dequantize(), Quantized(b.put("x", q.pack()), s.planes))


def _build_unnormed(b: Builder, s: ProductShape, x: Floats) -> Taken:
    weight = b.normal(s.k) if s.n % 2 else None
    _, y = meanings.norm(x, EPS, weight)
    off = norm_bound(x, 0.0, weight, EPS)
    operand = Unnormed(b.rows("x", x), b.maybe("x_weight", weight), EPS, s.planes)
    if s.planes == 0:
        return Taken(y, operand, off)
    return Taken(quantize(y, s.planes).dequantize(), operand, quantized_bound(y, off, s.planes))


def build_weights(b: Builder, name: str, format: Format, n: int, k: int) -> tuple[Floats, Address]:
    """A matrix: (the values it stands for, its planes)."""
    file = formats.encode(format, b.normal(n, k, scale=k**-0.5))
    return formats.decode(format, n, k, file), b.put(name, repack(format, n, k, file))


def plain(s: ProductShape, bias: bool = False, seed: int = 0) -> Case:
    """One product, with a bias or not."""
    b = Builder(seed)
    x = build_x(b, s)
    w, planes = build_weights(b, "w", s.format, s.n, s.k)
    values = b.normal(s.n) if bias else None
    y = meanings.product(x.values, w, values)
    part = GemvPart(planes, s.n, b.out("y", y, product_bound(x, w) + 2 * UNIT * np.abs(y)), b.maybe("bias", values))
    return b.done(f"product {s.name}{' + bias' if bias else ''}", GemvSpec(x.operand, s.format, s.k, s.m, (part,)))


def added(s: ProductShape, seed: int = 0) -> Case:
    """A product added to rows, in place of them."""
    b = Builder(seed)
    x = build_x(b, s)
    w, planes = build_weights(b, "w", s.format, s.n, s.k)
    before = b.normal(s.m, s.n)
    y = meanings.product(x.values, w) + before
    to = b.out("y", y, product_bound(x, w) + UNIT * np.abs(y))
    b.put("y", before)
    spec = GemvSpec(x.operand, s.format, s.k, s.m, (GemvPart(planes, s.n, to),), residual=to)
    return b.done(f"product {s.name} added", spec)


def quantized(s: ProductShape, planes: int, also_f32: bool, seed: int = 0) -> Case:
    """One product stored quantized, beside its f32 form or instead of it."""
    b = Builder(seed)
    x = build_x(b, s)
    w, stored = build_weights(b, "w", s.format, s.n, s.k)
    y, bound = meanings.product(x.values, w), product_bound(x, w)
    rows = b.out("y", y, bound) if also_f32 else None
    q = b.quantized("q", y, bound, planes, "y" if also_f32 else None)
    spec = GemvSpec(x.operand, s.format, s.k, s.m, (GemvPart(stored, s.n, rows),), quantized=q)
    return b.done(f"product {s.name} -> q8 x{planes}", spec)


def parts(s: ProductShape, ns: tuple[int, ...], position: int | None, seed: int = 0) -> Case:
    """Products of one activation; the second lands in rows of a table."""
    b = Builder(seed)
    x = build_x(b, s)
    if position is not None:
        b.index("position", position)
    made: list[GemvPart] = []
    for i, n in enumerate(ns):
        w, planes = build_weights(b, f"w{i}", s.format, n, s.k)
        bias = b.normal(n) if i % 2 else None
        y = meanings.product(x.values, w, bias)
        bound = product_bound(x, w) + 2 * UNIT * np.abs(y)
        if i == 1 and position is not None:
            to = b.table(f"y{i}", y, bound, position, "position", position + s.m + 2)
        else:
            to = b.out(f"y{i}", y, bound)
        made.append(GemvPart(planes, n, to, b.maybe(f"bias{i}", bias)))
    spec = GemvSpec(x.operand, s.format, s.k, s.m, tuple(made))
    return b.done(f"parts {s.name} {ns} at {position}", spec)


def gated(s: ProductShape, act: Activation, planes: int, also_f32: bool, bias: bool = False, seed: int = 0) -> Case:
    """A gated pair, f32 or quantized or both."""
    b = Builder(seed)
    x = build_x(b, s)
    (gate, gate_at), (up, up_at) = (build_weights(b, name, s.format, s.n, s.k) for name in ("gate", "up"))
    biases = (b.normal(s.n), b.normal(s.n)) if bias else (None, None)
    y = meanings.gated_pair(x.values, gate, up, act, *biases)
    g, u = meanings.product(x.values, gate, biases[0]), meanings.product(x.values, up, biases[1])
    # Every activation here has a slope of at most 1.13 and grows at most as its argument (or is at most 1).
    gb, ub = product_bound(x, gate), product_bound(x, up)
    bound = 1.2 * gb * np.abs(u) + (np.abs(g) + 1) * ub + 1.2 * gb * ub + 16 * UNIT * (np.abs(y) + np.abs(u))
    spec = GluSpec(x.operand, s.format, s.k, s.n, s.m, gate_at, up_at, act)
    spec = replace(spec, gate_bias=b.maybe("gate_bias", biases[0]), up_bias=b.maybe("up_bias", biases[1]))
    if also_f32 or planes == 0:
        spec = replace(spec, y=b.out("y", y, bound))
    if planes:
        spec = replace(spec, quantized=b.quantized("q", y, bound, planes, "y" if also_f32 else None))
    return b.done(f"gated {act.value} {s.name} -> q8 x{planes}{' and f32' if also_f32 else ''}", spec)


def normed(s: ProductShape, shape: NormShape, keep: bool = False, seed: int = 0) -> Case:
    """A product and a norm of its row."""
    b = Builder(seed)
    x = build_x(b, s)
    w, planes = build_weights(b, "w", s.format, s.n, s.k)
    y, bound = meanings.product(x.values, w), product_bound(x, w)
    norm = build_norm(b, y, bound, shape)
    part = GemvPart(planes, s.n, b.out("product", y, bound) if keep else None)
    return b.done(f"product {s.name} then {shape.name}", GemvSpec(x.operand, s.format, s.k, s.m, (part,), norm))


def turned(
    s: ProductShape, hd: int, half: int, heads: tuple[int, ...], norms: tuple[bool, ...], position: int, seed: int = 0
) -> Case:
    """Parts whose heads turn in the launch (query and key), beside one that does not (value); keys and values land in
    rows of tables at the position."""
    b = Builder(seed)
    x = build_x(b, s)
    context = position + s.m + 1
    index = b.index("position", position)
    angles = b.normal(context, half)
    cos, sin = np.cos(angles), np.sin(angles)
    made: list[GemvPart] = []
    turns: list[Turn | None] = []
    for i, count in enumerate(heads):
        n = count * hd
        w, planes = build_weights(b, f"w{i}", s.format, n, s.k)
        bias = b.normal(n) if i == 0 else None
        y, bound = meanings.product(x.values, w, bias), product_bound(x, w) + UNIT
        if i < len(norms):
            weight = b.normal(hd) if norms[i] else None
            head = (weight, 1e-6) if norms[i] else None
            bound = turn_bound(y, bound, hd, head)
            y = meanings.rope(y, cos, sin, position, hd, head)
            turns.append(Turn(HeadNorm(b.maybe(f"norm{i}", weight), 1e-6) if norms[i] else None))
        else:
            turns.append(None)
        to = b.out(f"y{i}", y, bound) if i == 0 else b.table(f"y{i}", y, bound, position, "position", context)
        made.append(GemvPart(planes, n, to, b.maybe(f"bias{i}", bias)))
    rotation = Rotation(b.put("cos", cos), b.put("sin", sin), index, hd, half)
    fold = RopeFold(rotation, tuple(turns))
    spec = GemvSpec(x.operand, s.format, s.k, s.m, tuple(made), fold)
    return b.done(f"parts {s.name} heads {heads} of {hd} turned at {position}", spec)


def by_warp(case: Case, rows: int) -> Case:
    """A case of a product with `rows` rows of a matrix taken together by a warp."""
    assert isinstance(case.spec, GemvSpec | GluSpec)
    return replace(case, name=f"{case.name}, {rows} rows a warp", spec=replace(case.spec, per_warp=rows))


def off_sixteen(case: Case) -> Case:
    """A case of a product whose f32 x lies four bytes behind a multiple of 16, as a part of a wider row may."""
    assert isinstance(case.spec, GemvSpec | GluSpec) and isinstance(case.spec.x, Rows)
    x = case.buffers["x"]
    assert not isinstance(x, int)
    buffers = {**case.buffers, "x": np.concatenate((np.zeros(4, np.uint8), x))}
    moved = replace(case.spec.x, address=case.spec.x.address.at(4))
    return replace(case, name=f"{case.name}, x off 16", spec=replace(case.spec, x=moved), buffers=buffers)


def turn_bound(x: Floats, bound: Doubles | float, hd: int, norm: tuple[Floats | None, float] | None) -> Doubles:
    """What a turned head may be off by, its values being off by `bound`: each result is a sum of two products."""
    m = x.shape[0]
    flat = np.broadcast_to(np.asarray(bound, np.float64), x.shape).reshape(m, -1, hd)
    heads = x.reshape(m, -1, hd)
    if norm is not None:
        flat = norm_bound(heads, flat, norm[0], norm[1])
        heads = meanings.norm(heads, norm[1], norm[0])[1]
    worst = 2 * flat.max(axis=-1, keepdims=True) + 8 * UNIT * np.abs(heads).max(axis=-1, keepdims=True)
    return np.broadcast_to(worst, flat.shape).reshape(x.shape)


__all__ = [
    "ProductShape",
    "by_warp",
    "gated",
    "normed",
    "off_sixteen",
    "parts",
    "plain",
    "product_bound",
    "quantized",
    "turn_bound",
    "turned",
]
