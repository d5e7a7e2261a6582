"""Cases of a latent table's rows expanded to every head's keys or values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.lowering import formats, meanings
from lanelink.lowering.cases.case import UNIT, Builder, Case, FloatResult
from lanelink.lowering.repack import repack
from lanelink.lowering.selection.latent import LatentSpec
from lanelink.lowering.selection.operands import Rows


@dataclass(frozen=True)
class ExpansionShape:
    """Rows 0..at + m - 1 of `length`, of `latent` values and `tail` more, by heads of `width` outputs."""

    format: Format
    by_outputs: bool
    heads: int
    latent: int
    width: int
    m: int
    at: int
    length: int
    tail: int = 16


def expansion(s: ExpansionShape, seed: int = 0) -> Case:
    """The rows there are, expanded; rows past them hold NaN, and their results stay as they were."""
    b = Builder(seed)
    rows, cols = (s.heads * s.width, s.latent) if s.by_outputs else (s.heads * s.latent, s.width)
    file = formats.encode(s.format, b.normal(rows, cols, scale=s.latent**-0.5))
    matrices = meanings.head_matrices(
        formats.decode(s.format, rows, cols, file), s.heads, rows_are_outputs=s.by_outputs
    )
    table = b.normal(s.length, s.latent + s.tail)
    count = s.at + s.m
    table[count:] = np.nan
    after, bound = b.normal(s.length, s.heads * s.width), np.zeros((s.length, s.heads * s.width))
    y = Rows(b.put("y", after), after.shape[1])
    after[:count] = meanings.latent_rows(table, matrices, count)
    # A thread adds `latent` products one after another, each rounded once, of weights that are rounded twice.
    sizes = meanings.latent_rows(np.abs(table[:count]), np.abs(matrices), count).astype(np.float64)
    bound[:count] = (s.latent + 2) * UNIT * sizes
    b.results.append(FloatResult("y", after, bound))
    spec = LatentSpec(
        table=b.rows("table", table),
        weights=b.put("w", repack(s.format, rows, cols, file)),
        format=s.format,
        by_outputs=s.by_outputs,
        heads=s.heads,
        latent=s.latent,
        width=s.width,
        m=s.m,
        length=s.length,
        position=b.index("position", s.at),
        y=y,
    )
    words = f"{s.format.value} by {'outputs' if s.by_outputs else 'inputs'} {s.heads} heads of {s.latent}x{s.width}"
    return b.done(f"latent {words} m={s.m} at {s.at} of {s.length}", spec)


def small() -> Iterator[Case]:
    """Every entry: tiles that are partly there in rows, outputs and inputs."""
    for seed, format in enumerate(Format):
        whole = format.block_values == 256
        latent, width = (256, 40) if whole else (64, 24)
        yield expansion(ExpansionShape(format, True, 3, latent, width, 5, 3, 20), seed)
        latent, width = (24, 256) if whole else (24, 96)
        yield expansion(ExpansionShape(format, False, 1 if whole else 3, latent, width, 2, 6, 16), seed)
    yield expansion(ExpansionShape(Format.F16, True, 2, 45, 5, 100, 40, 300))  # more rows than a block's
    yield expansion(ExpansionShape(Format.BF16, False, 1, 33, 32, 1, 0, 8))


def full() -> Iterator[Case]:
    """A model's sizes in every format, both ways round."""
    for format, by_outputs, (m, at) in product(Format, (True, False), ((17, 0), (200, 300), (128, 0))):
        yield expansion(ExpansionShape(format, by_outputs, 4, 512, 256, m, at, 520, tail=64))


__all__ = ["ExpansionShape", "expansion", "full", "small"]
