"""Cases of results that land in units of wider rows, and of units that are read in place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lanelink.lowering import meanings
from lanelink.lowering.cases.case import UNIT, Builder, Case, Floats, Units
from lanelink.lowering.cases.norms import EPS, NormShape, build_norm, norm_bound
from lanelink.lowering.cases.products import ProductShape, build_weights, build_x, product_bound, turn_bound
from lanelink.lowering.selection.operands import HeadNorm
from lanelink.lowering.selection.specs import (
    GemvPart,
    GemvSpec,
    Norm,
    NormSpec,
    RopeFold,
    RopeSide,
    RopeSpec,
    Rotation,
    Turn,
    ValuesSpec,
)


def norm(
    m: int, units: int, cols: int, x_units: Units | None, y_units: Units | None, at: int | None, seed: int = 0
) -> Case:
    """A norm of parts of units, into units of rows of a table at a row named on the device, or a fixed one."""
    b = Builder(seed)
    x, weight = b.normal(m, units * cols), b.normal(cols)
    y = meanings.norm(x.reshape(-1, cols), EPS, weight)[1].reshape(x.shape)
    bound = norm_bound(x.reshape(-1, cols), 0.0, weight, EPS).reshape(x.shape)
    rows = b.rows("x", x) if x_units is None else b.units("x", x, cols, x_units)
    if at is not None:
        b.index("at", at)
    to = b.into_units("y", y, bound, cols, y_units or Units(cols, 0), at or 0, None if at is None else "at")
    what = Norm(EPS, weight=b.put("weight", weight), y=to)
    spec = NormSpec(rows, m, cols, what, units, x_units and x_units.pitch, y_units and y_units.pitch)
    return b.done(f"norm {m}x{units} units of {cols} from {x_units} to {y_units} at {at}", spec)


def norm_of_units(m: int, units: int, cols: int, x_units: Units, shape: NormShape, seed: int = 0) -> Case:
    """A norm of parts of units, with everything a norm may have, stored in order."""
    b = Builder(seed)
    x = b.normal(m * units, cols)
    rows = b.units("x", x.reshape(m, -1), cols, x_units)
    what = build_norm(b, x, 0.0, shape)
    if what.y is not None:
        what = replace(what, y=replace(what.y, pitch=units * cols))
    spec = NormSpec(rows, m, cols, what, units, x_units.pitch)
    return b.done(f"{shape.name} of {m}x{units} units of {cols} from {x_units}", spec)


def _tables(b: Builder, rows: int, half: int) -> tuple[Floats, Floats]:
    angles = b.normal(rows, half)
    return np.cos(angles), np.sin(angles)


def rope(
    m: int, hd: int, half: int, heads: tuple[int, int], x_units: Units, y_units: Units, position: int, seed: int = 0
) -> Case:
    """Two sides that read parts of units: one into units of a buffer, the other of rows of a table at the position."""
    b = Builder(seed)
    index = b.index("position", position)
    cos, sin = _tables(b, position + m + 1, half)
    sides: list[RopeSide] = []
    for i, count in enumerate(heads):
        x, weight = b.normal(m, count * hd), b.normal(hd) if i == 0 else None
        norm = None if weight is None else (weight, EPS)
        y, bound = meanings.rope(x, cos, sin, position, hd, norm), turn_bound(x, 0.0, hd, norm)
        to = b.into_units(f"y{i}", y, bound, hd, y_units, position if i else 0, "position" if i else None)
        head = None if weight is None else HeadNorm(b.put("weight", weight), EPS)
        sides.append(RopeSide(b.units(f"x{i}", x, hd, x_units), to, count, head, x_units.pitch, y_units.pitch))
    rotation = Rotation(b.put("cos", cos), b.put("sin", sin), index, hd, half)
    spec = RopeSpec(rotation, m, tuple(sides))
    return b.done(f"rope m={m} {heads} of {hd} from {x_units} to {y_units} at {position}", spec)


def products(s: ProductShape, ns: tuple[int, ...], room: Units, at: int, seed: int = 0) -> Case:
    """Parts of a product, each one unit of rows of a table: `room` is what lies before and around a result."""
    b = Builder(seed)
    x = build_x(b, s)
    b.index("at", at)
    made: list[GemvPart] = []
    for i, n in enumerate(ns):
        w, planes = build_weights(b, f"w{i}", s.format, n, s.k)
        y, bound = meanings.product(x.values, w), product_bound(x, w)
        to = b.into_units(f"y{i}", y, bound, n, Units(n + room.pitch, room.offset), at, "at" if i else None)
        made.append(GemvPart(planes, n, to))
    return b.done(f"parts {s.name} {ns} into units at {at}", GemvSpec(x.operand, s.format, s.k, s.m, tuple(made)))


def turned(s: ProductShape, hd: int, heads: int, y_units: Units, position: int, seed: int = 0) -> Case:
    """A product whose heads turn and land in units of rows of a table, beside one that does not turn."""
    b = Builder(seed)
    x = build_x(b, s)
    index = b.index("position", position)
    cos, sin = _tables(b, position + s.m + 1, hd // 2)
    made: list[GemvPart] = []
    for i, n in enumerate((heads * hd, 24)):
        w, planes = build_weights(b, f"w{i}", s.format, n, s.k)
        y, bound = meanings.product(x.values, w), product_bound(x, w) + UNIT
        if i == 0:
            bound = turn_bound(y, bound, hd, None)
            y = meanings.rope(y, cos, sin, position, hd)
            to = b.into_units("y0", y, bound, hd, y_units, position, "position")
        else:
            to = b.out("y1", y, bound)
        made.append(GemvPart(planes, n, to))
    rotation = Rotation(b.put("cos", cos), b.put("sin", sin), index, hd, hd // 2)
    spec = GemvSpec(x.operand, s.format, s.k, s.m, tuple(made), RopeFold(rotation, (Turn(None, y_units.pitch), None)))
    return b.done(f"product {s.name}: {heads} heads of {hd} turned into {y_units} at {position}", spec)


def normed(s: ProductShape, room: Units, at: int, seed: int = 0) -> Case:
    """A product and a norm of its row, into one unit of rows of a table."""
    b = Builder(seed)
    x = build_x(b, s)
    w, planes = build_weights(b, "w", s.format, s.n, s.k)
    y, bound = meanings.product(x.values, w), product_bound(x, w)
    weight = b.normal(s.n)
    what, off = meanings.norm(y, EPS, weight)[1], norm_bound(y, bound, weight, EPS)
    b.index("at", at)
    to = b.into_units("normed", what, off, s.n, Units(s.n + room.pitch, room.offset), at, "at")
    normed_ = Norm(EPS, weight=b.put("weight", weight), y=to)
    spec = GemvSpec(x.operand, s.format, s.k, s.m, (GemvPart(planes, s.n, None),), normed_)
    return b.done(f"product {s.name} then a norm into units of {room} more at {at}", spec)


def values_product(m: int, k: int, n: int, room: Units, at: int, seed: int = 0) -> Case:
    """A product by a plain f32 matrix, into one unit of rows of a table."""
    b = Builder(seed)
    x, w = b.normal(m, k), b.normal(k, n, scale=k**-0.5)
    y = meanings.product(x, w.T)
    # As `others.values_product`: a warp adds k / 8 terms one after another, and 8 sums follow.
    tolerance = (k / 8 + 10) * UNIT * (np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)) + UNIT * np.abs(y)
    to = b.into_units("y", y, tolerance, n, Units(n + room.pitch, room.offset), at, None)
    spec = ValuesSpec(b.rows("x", x), b.put("w", w), m, k, n, to)
    return b.done(f"product by values m={m} k={k} n={n} into units of {room} more at {at}", spec)


__all__ = ["norm", "norm_of_units", "normed", "products", "rope", "turned", "values_product"]
