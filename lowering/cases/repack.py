"""Cases of file rows laid out as planes, bit for bit, in chunks of a matrix whose other rows stay as they were."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.lowering import formats
from lanelink.lowering.cases.case import Builder, Bytes, Case, ExactResult
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.repack import repack as planes_of
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.repack import RepackSpec


def repacked(format: Format, all_rows: int, cols: int, first: int, rows: int, seed: int = 0) -> Case:
    """Rows `first`.. of a matrix of random values; the rest of its planes must stay zero."""
    b = Builder(seed)
    file = formats.encode(format, b.normal(all_rows, cols)).reshape(all_rows, -1)
    b.put("file", file[first : first + rows])
    before = np.zeros(plane_layout(format, all_rows, cols).total_bytes, np.uint8)
    b.put("planes", before)
    b.results.append(ExactResult("planes", _rows_alone(format, all_rows, cols, file, first, rows)))
    spec = RepackSpec(format, Address("file"), Address("planes"), first, rows, all_rows, cols)
    return b.done(f"repack {format.value} rows {first} to {first + rows} of {all_rows}x{cols}", spec)


def _rows_alone(format: Format, all_rows: int, cols: int, file: Bytes, first: int, rows: int) -> Bytes:
    """The planes of a matrix with zeros for all rows but some."""
    whole = planes_of(format, all_rows, cols, file.reshape(-1))
    layout = plane_layout(format, all_rows, cols)
    out = np.zeros(layout.total_bytes, np.uint8)
    kept = slice(first * layout.pitch, (first + rows) * layout.pitch)
    out[kept] = whole[kept]
    if format is Format.Q8_0:
        a_row = 2 * (cols // 32)
        scales = slice(layout.scales_offset + first * a_row, layout.scales_offset + (first + rows) * a_row)
        out[scales] = whole[scales]
    return out


def small() -> Iterator[Case]:
    """Every format, whole and in part."""
    for format in Format:
        cols = 512 if format.block_values == 256 else 96
        yield repacked(format, 7, cols, 0, 7)
        yield repacked(format, 7, cols, 2, 3, seed=1)
    yield repacked(Format.BF16, 3, 45, 1, 2)
    yield repacked(Format.F32, 3, 31, 0, 3)


def full() -> Iterator[Case]:
    """Rows of models."""
    for format, (rows, cols) in product(Format, ((513, 4608), (17, 14592))):
        yield repacked(format, rows, cols, 0, rows)
        yield repacked(format, rows, cols, 9, 8)


__all__ = ["full", "repacked", "small"]
