"""Shares of an inner size, on plain numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelink.dialects.launch.products import MOST_SPLITS
from lanelink.passes.schedule.splits import INNER, inner_share, split_inner


@pytest.mark.parametrize(
    ("k", "blocks", "sms", "splits", "share"),
    [
        (2048, 1, 132, 32, 64),
        (4544, 1, 132, 24, 192),  # 71 times 64: three of them a share
        (2048, 16, 132, 16, 128),  # two blocks a multiprocessor
        (64, 1, 132, 1, 64),
        (65, 1, 132, 2, 64),
        (1, 1, 132, 1, 64),
        (2048, 300, 132, 1, 2048),
        (2048, 1, 2, 4, 512),
    ],
)
def test_splits(k: int, blocks: int, sms: int, splits: int, share: int) -> None:
    assert split_inner(k, blocks, sms) == splits
    assert inner_share(k, splits) == share


@given(st.integers(1, 40000), st.integers(1, 600), st.integers(1, 160))
def test_every_share_has_rows_and_none_is_left_out(k: int, blocks: int, sms: int) -> None:
    splits = split_inner(k, blocks, sms)
    share = inner_share(k, splits)
    assert 1 <= splits <= MOST_SPLITS and share % INNER == 0
    assert (splits - 1) * share < k <= splits * share
    assert splits == 1 or splits * blocks <= 2 * sms
