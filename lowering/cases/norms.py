"""Cases of norms, alone and after a gather."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.lowering import formats, meanings
from lanelink.lowering.cases.case import UNIT, Builder, Case, Doubles, Floats
from lanelink.lowering.repack import repack
from lanelink.lowering.selection.specs import GatherSpec, HeadNorm, Norm, NormSpec

EPS = 1e-6


@dataclass(frozen=True)
class NormShape:
    """Which of a norm's operands and results there are; planes 0 for no quantized result."""

    weight: bool = True
    add: bool = False
    keep_sum: bool = False
    pre: bool = False
    f32: bool = True
    planes: int = 0

    @property
    def name(self) -> str:
        """The shape in words."""
        words = [w for w in ("pre", "add", "keep_sum", "weight", "f32") if getattr(self, w)]
        return "norm " + "+".join([*words, f"q8x{self.planes}"] if self.planes else words)


def norm_bound(x: Floats, bound: Doubles | float, weight: Floats | None, eps: float) -> Doubles:
    """What a norm of rows x may be off by, x being off by `bound`: its own value's error and the root's, over the
    root; a tree of cols terms in blocks of at most 1024 adds rounds some 40 times."""
    values = np.abs(x.astype(np.float64))
    root = np.sqrt(np.mean(values**2, axis=-1, keepdims=True) + eps)
    off = np.broadcast_to(np.asarray(bound, np.float64), x.shape)
    relative = np.sqrt(np.mean(off**2, axis=-1, keepdims=True)) / root + 40 * UNIT
    scale = 1.0 if weight is None else np.abs(weight.astype(np.float64))
    return scale * (off / root + values / root * relative)


def build_norm(b: Builder, x: Floats, bound: Doubles | float, shape: NormShape) -> Norm:
    """The norm's operands and results over x, off by `bound`."""
    m, cols = x.shape
    weight = b.normal(cols) if shape.weight else None
    add = b.normal(m, cols) if shape.add else None
    pre_weight = b.normal(cols) if shape.pre else None
    pre = (pre_weight, EPS) if shape.pre else None
    total, y = meanings.norm(x, EPS, weight, add, pre)
    if shape.pre:
        bound = norm_bound(x, bound, pre_weight, EPS)
    total_bound = np.broadcast_to(np.asarray(bound, np.float64), x.shape) + 2 * UNIT * np.abs(total)
    off = norm_bound(total, total_bound, weight, EPS)
    return Norm(
        EPS,
        weight=b.maybe("norm_weight", weight),
        add=b.rows("add", add) if add is not None else None,
        sum=b.out("sum", total, total_bound) if shape.keep_sum else None,
        pre=HeadNorm(b.maybe("pre_weight", pre_weight), EPS) if shape.pre else None,
        y=b.out("normed", y, off) if shape.f32 else None,
        quantized=b.quantized("normed_q", y, off, shape.planes, "normed" if shape.f32 else None)
        if shape.planes
        else None,
    )


def alone(m: int, cols: int, shape: NormShape, gap: int = 0, seed: int = 0) -> Case:
    """A norm of rows, `gap` values apart."""
    b = Builder(seed)
    x = b.normal(m, cols)
    spec = NormSpec(b.rows("x", x, gap), m, cols, build_norm(b, x, 0.0, shape))
    return b.done(f"{shape.name} {m}x{cols} gap {gap}", spec)


def gathered(
    format: Format, m: int, cols: int, scale: float, shape: NormShape | None, keep: bool = True, seed: int = 0
) -> Case:
    """Rows of a table by indices, one of them outside it; normed where `shape`."""
    b = Builder(seed)
    table_rows = 11
    file = formats.encode(format, b.normal(table_rows, cols))
    table = formats.decode(format, table_rows, cols, file)
    index = b.rng.integers(0, table_rows, m).astype(np.int32)
    index[-1] = table_rows + 5 if m > 1 else table_rows - 1
    y = meanings.gather(table, index, scale)
    bound = 2 * UNIT * np.abs(y)
    spec = GatherSpec(
        table=b.put("table", repack(format, table_rows, cols, file)),
        format=format,
        table_rows=table_rows,
        cols=cols,
        index=b.put("index", index),
        m=m,
        y=b.out("y", y, bound) if keep else None,
        scale=scale,
        then=None if shape is None else build_norm(b, y, bound, shape),
    )
    return b.done(f"gather {format.value} {m}x{cols} scale {scale} then {shape and shape.name}", spec)


__all__ = ["EPS", "NormShape", "alone", "build_norm", "gathered", "norm_bound"]
