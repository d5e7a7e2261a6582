"""The last tiles of a tensor-core product, on plain numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelink.dialects.formats import Format
from lanelink.passes.schedule.products import Product
from lanelink.passes.schedule.tails import LEAST_CHUNKS, MOST_SHARES, on_tensor_cores, tail_of, tiles_of
from lanelink.passes.tensor_cores import Tail

WIDE = Product(Format.Q8_0, quantized=True, k=4096, rows=64, outputs=(4096,))


def test_many_rows_of_integers_are_for_tensor_cores() -> None:
    assert on_tensor_cores(WIDE)
    assert on_tensor_cores(replace(WIDE, rows=9))
    assert not on_tensor_cores(replace(WIDE, rows=8))
    assert not on_tensor_cores(replace(WIDE, quantized=False))


def test_a_pairs_tiles_have_half_as_many_outputs() -> None:
    assert tiles_of(replace(WIDE, outputs=(4097,), paired=True)) == 65
    assert tiles_of(replace(WIDE, rows=65, outputs=(64,), paired=True)) == 2


@pytest.mark.parametrize(
    ("rows", "outputs", "tiles"),
    [
        (9, (4096,), 32),
        (64, (4096,), 32),
        (65, (4096,), 64),
        (64, (4097,), 33),
        (130, (4096, 1024, 1024), 144),
        (1, (1,), 1),
    ],
)
def test_tiles_cover_the_result(rows: int, outputs: tuple[int, ...], tiles: int) -> None:
    assert tiles_of(replace(WIDE, rows=rows, outputs=outputs)) == tiles


@pytest.mark.parametrize(
    ("tiles", "chunks", "places", "tail"),
    [
        (32, 32, 132, Tail(0, 4)),
        (168, 32, 132, Tail(132, 3)),
        (132, 32, 132, None),  # whole waves
        (264, 32, 132, None),
        (66, 32, 132, Tail(0, 2)),  # as many idle as busy
        (67, 32, 132, None),  # one fewer
        (1, 64, 132, Tail(0, MOST_SHARES)),
        (1, 32, 132, Tail(0, 8)),
        (1, 31, 132, Tail(0, 7)),  # seven shares of four chunks and more
        (1, 8, 132, Tail(0, 2)),
        (1, 7, 132, None),
        (5, 32, 2, Tail(4, 2)),
        (4, 32, 1, None),
    ],
)
def test_tails(tiles: int, chunks: int, places: int, tail: Tail | None) -> None:
    assert tail_of(tiles, chunks, places) == tail


@given(st.integers(1, 2000), st.integers(1, 300), st.integers(1, 200))
def test_a_tail_fits_the_chip_and_its_chunks(tiles: int, chunks: int, places: int) -> None:
    tail = tail_of(tiles, chunks, places)
    if tail is not None:
        assert tail.first % places == 0 and 0 < tiles - tail.first < places
        assert 2 <= tail.split <= MOST_SHARES
        assert (tiles - tail.first) * tail.split <= places
        assert tail.split * LEAST_CHUNKS <= chunks
