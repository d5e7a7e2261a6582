"""The rule of `schedule-norms`, on its numbers."""

from __future__ import annotations

import pytest

from lanelink.passes.schedule.norms import MOST_WIDTH, norm_by_reader


@pytest.mark.parametrize(
    ("rows", "width", "readers", "moves"),
    [
        (1, 4096, 1, True),
        (1, MOST_WIDTH, 1, True),
        (1, MOST_WIDTH + 4, 1, False),
        (1, 4098, 1, False),
        (1, 4096, 2, False),
        (1, 4096, 0, False),
        (2, 4096, 1, False),
    ],
)
def test_who_norms_a_row(rows: int, width: int, readers: int, moves: bool) -> None:
    assert norm_by_reader(rows, width, readers) is moves
