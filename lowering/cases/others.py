"""Cases of rotations, arg-max, elementwise functions, copies and the step's advance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.lowering import activations, meanings
from lanelink.lowering.cases.case import UNIT, Builder, Case, ExactResult, Seed
from lanelink.lowering.cases.products import turn_bound
from lanelink.lowering.functions import Activation, BinaryOp, Broadcast
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.operands import Quantized, Rows
from lanelink.lowering.selection.specs import (
    Advance,
    AdvanceSpec,
    ArgMaxSpec,
    BinarySpec,
    CopySpec,
    HeadNorm,
    QuantizeSpec,
    RopeSide,
    RopeSpec,
    Rotation,
    SwigluSpec,
    UnarySpec,
    ValuesSpec,
)
from lanelink.lowering.selection.stream import StreamSpec


def rope(
    m: int,
    hd: int,
    half: int,
    heads: tuple[int, ...],
    norms: tuple[bool, ...],
    position: int,
    seed: Seed = 0,
    context: int | None = None,
) -> Case:
    """Sides turned in one launch; all but the first land in rows of a table of `context` rows, or a few too many."""
    b = Builder(seed)
    context = position + m + 1 if context is None else context
    index = b.index("position", position)
    angles = b.constant(context, half)
    cos, sin = np.cos(angles), np.sin(angles)
    sides: list[RopeSide] = []
    for i, (count, normed) in enumerate(zip(heads, norms, strict=True)):
        x = b.normal(m, count * hd)
        weight = b.constant(hd) if normed and i % 2 == 0 else None
        norm = (weight, 1e-6) if normed else None
        y, bound = meanings.rope(x, cos, sin, position, hd, norm), turn_bound(x, 0.0, hd, norm)
        to = b.table(f"y{i}", y, bound, position, "position", context) if i else b.out(f"y{i}", y, bound)
        head = HeadNorm(b.maybe(f"weight{i}", weight), 1e-6) if normed else None
        sides.append(RopeSide(b.rows(f"x{i}", x, gap=8), to, count, head))
    rotation = Rotation(b.put("cos", cos), b.put("sin", sin), index, hd, half)
    return b.done(f"rope m={m} {heads} of {hd}, half {half}, at {position}", RopeSpec(rotation, m, tuple(sides)))


def arg_max(m: int, n: int, ties: bool = False, nan: bool = False, advance: bool = False, seed: int = 0) -> Case:
    """The largest value's lowest index, with ties or a NaN."""
    b = Builder(seed)
    x = b.normal(m, n)
    if ties:
        x = np.round(x)
        x[:, -1] = x.max()
    if nan:
        x[:, n // 2 :] = np.nan
    found = meanings.arg_max(x)
    b.buffers["out"] = 4 * m
    b.results.append(ExactResult("out", found))
    spec = ArgMaxSpec(b.rows("x", x, gap=3), n, m, Address("out"))
    if advance:
        before = np.arange(41, 41 + m, dtype=np.int32)
        spec = replace(spec, advance=Advance(b.put("token", np.full(m, -7, np.int32)), b.put("position", before)))
        b.results.append(ExactResult("token", found))
        b.results.append(ExactResult("position", before + 1))
    return b.done(f"arg_max {m}x{n} ties {ties} nan {nan} advance {advance}", spec)


def binary(
    op: BinaryOp,
    m: int,
    n: int,
    broadcast: Broadcast = Broadcast.NONE,
    gate: Activation = Activation.NONE,
    planes: int = 0,
    also_f32: bool = True,
    gap: int = 0,
    seed: int = 0,
) -> Case:
    """A function of two values."""
    b = Builder(seed)
    shape = {Broadcast.NONE: (m, n), Broadcast.ROW: (1, n), Broadcast.COLUMN: (m, 1)}[broadcast]
    left, right = b.normal(m, n), b.normal(*shape)
    y = meanings.binary(op, left, right, gate)
    bound = 16 * UNIT * (np.abs(y) + np.abs(left) + np.abs(right))
    spec = BinarySpec(op, b.rows("a", left, gap), b.rows("b", right, gap), m, n, broadcast, gate)
    if also_f32:
        spec = replace(spec, y=b.out("y", y, bound))
    if planes:
        spec = replace(spec, quantized=b.quantized("q", y, bound, planes, "y" if also_f32 else None))
    return b.done(f"binary {op.value} {m}x{n} {broadcast.value} gate {gate.value} gap {gap} q8 x{planes}", spec)


def swiglu(m: int, n: int, planes: int = 0, seed: int = 0) -> Case:
    """silu(gate) * up."""
    b = Builder(seed)
    gate, up = b.normal(m, n, scale=4.0), b.normal(m, n)
    y = meanings.swiglu(gate, up)
    bound = 16 * UNIT * (np.abs(y) + np.abs(up))
    spec = SwigluSpec(b.rows("gate", gate), b.rows("up", up), m, n, b.out("y", y, bound))
    if planes:
        spec = replace(spec, quantized=b.quantized("q", y, bound, planes, "y"))
    return b.done(f"swiglu {m}x{n} q8 x{planes}", spec)


def unary(act: Activation, m: int, n: int, factor: float = 1.0, seed: int = 0) -> Case:
    """A scaled function of one value, on values to both sides of its bends."""
    b = Builder(seed)
    x = b.normal(m, n, scale=4.0)
    y = meanings.unary(act, x, factor)
    spec = UnarySpec(b.rows("x", x), m, n, act, factor, b.out("y", y, 32 * UNIT * (np.abs(y) + np.abs(x))))
    return b.done(f"unary {act.value} {m}x{n} factor {factor}", spec)


def quantize(m: int, n: int, planes: int, seed: int = 0) -> Case:
    """Quantization alone, of rows with a block of zeros, a constant one, one of ties and one too small for a scale."""
    b = Builder(seed)
    x = b.normal(m, n)
    x[0, :32] = 0.0
    if n >= 96:
        x[-1, 32:64] = -3.5
        x[-1, 64:96] = np.arange(32, dtype=np.float32) - 15.5
    if n >= 128:
        x[0, 96:128] = np.float32(1e-37)
    rows = b.rows("x", x)
    q = b.quantized("q", x, 0.0, planes, of="x")
    return b.done(f"quantize {m}x{n} planes {planes}", QuantizeSpec(rows, m, n, q))


def set_row(m: int, width: int, position: int, on_device: bool, seed: Seed = 0) -> Case:
    """Rows written into a table at a position."""
    b = Builder(seed)
    x = b.normal(m, width)
    if on_device:
        b.index("position", position)
    to = b.table("table", x, 0.0, position, "position" if on_device else None, position + m + 3)
    return b.done(f"set_row {m}x{width} at {position}", CopySpec(b.rows("x", x), to, m, width))


def set_row_f16(m: int, width: int, position: int, on_device: bool, gap: int = 0, seed: Seed = 0) -> Case:
    """Rows written into a table of f16, values halfway between two of its numbers and past its largest among them."""
    b = Builder(seed)
    x = b.normal(m, width)
    odd = (1 + 2**-11, 1 + 3 * 2**-11, 65519.9, 65520.0, -1e30, 2.0**-24, 2.0**-25, -0.0)
    x.reshape(-1)[: len(odd)] = odd[: x.size]
    table = b.normal(position + m + 3, width + gap).astype(np.float16)
    after = table.copy()
    with np.errstate(over="ignore"):
        after[position : position + m, :width] = x
    at = b.index("position", position) if on_device else position
    to = Rows(b.put("table", table), width + gap, at, Format.F16)
    b.results.append(ExactResult("table", after))
    return b.done(f"set_row {m}x{width} at {position} of f16, gap {gap}", CopySpec(b.rows("x", x), to, m, width))


def set_row_quantized(
    m: int, width: int, row: int, on_device: bool, planes: int, f32: bool, seed: Seed = 0, rows: int | None = None
) -> Case:
    """Rows written among `rows`, or a few more, in their quantized form, beside their f32 form or alone."""
    b = Builder(seed)
    x, before = b.normal(m, width), b.normal(row + m + 2 if rows is None else rows, width)
    after = before.copy()
    after[row : row + m] = x
    at = b.index("row", row) if on_device else row
    b.put("table", before)
    b.put("q", activations.quantize(before, planes).pack())
    b.results.append(ExactResult("q", activations.quantize(after, planes).pack()))
    if f32:
        b.results.append(ExactResult("table", after))
    spec = UnarySpec(
        b.rows("x", x),
        m,
        width,
        y=Rows(Address("table"), width, at) if f32 else None,
        quantized=Quantized(Address("q"), planes, after.shape[0], at),
    )
    return b.done(f"set_row {m}x{width} at {row} on_device {on_device} f32 {f32} q8 x{planes}", spec)


def head_slice(m: int, units: int, every: int, start: int, width: int, seed: int = 0) -> Case:
    """A part of every unit."""
    b = Builder(seed)
    x = b.normal(m, units * every)
    y = meanings.slice_units(x, every, start, width)
    source = b.rows("x", x)
    source = replace(source, address=source.address.at(4 * start))
    spec = CopySpec(source, b.out("y", y, 0.0), m, width, units, every, width)
    return b.done(f"slice {m} rows, {start}+{width} of {units}x{every}", spec)


def advance(by: int = 1, count: int = 1, seed: int = 0) -> Case:
    """Indices moved on."""
    b = Builder(seed)
    before = np.arange(9, 9 + count, dtype=np.int32)
    spec = AdvanceSpec(b.put("x", before), b.put("y", np.full(count, 5, np.int32)), by, count)
    b.results.append(ExactResult("y", before + by))
    return b.done(f"advance {count} by {by}", spec)


def stream(words: int, seed: int = 0) -> Case:
    """A streaming read of 16-byte words."""
    b = Builder(seed)
    data = b.rng.integers(0, 2**32, (words, 4), dtype=np.uint32)
    before = np.uint32(b.rng.integers(0, 2**32))
    spec = StreamSpec(b.put("data", data), data.nbytes, b.put("out", np.array([before])))
    b.results.append(ExactResult("out", np.array([before ^ np.bitwise_xor.reduce(data, axis=None)])))
    return b.done(f"stream {words} words", spec)


def values_product(
    m: int, k: int, n: int, bias: bool = False, row: int | None = None, splits: int = 1, seed: int = 0
) -> Case:
    """A product by a plain f32 matrix; with `row` into rows of a table from that position on."""
    b = Builder(seed)
    x, w = b.normal(m, k), b.normal(k, n, scale=k**-0.5)
    vector = b.normal(n) if bias else None
    y = meanings.product(x, w.T, vector)
    # A warp adds at most k / 8 terms one after another, 8 sums follow, those of the shares, and the bias.
    terms = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)
    tolerance = (k / 8 + 10 + splits) * UNIT * terms + UNIT * np.abs(y)
    to = b.out("y", y, tolerance) if row is None else b.table("y", y, tolerance, row, "position", row + m + 2)
    if row is not None:
        b.index("position", row)
    weights = b.put("w", w)
    spec = ValuesSpec(b.rows("x", x, gap=4), weights, m, k, n, to, b.maybe("bias", vector), splits)
    return b.done(f"product by values m={m} k={k} n={n} in {splits}{' + bias' if bias else ''}", spec)


__all__ = [
    "advance",
    "arg_max",
    "binary",
    "head_slice",
    "quantize",
    "rope",
    "set_row",
    "set_row_quantized",
    "stream",
    "swiglu",
    "unary",
    "values_product",
]
