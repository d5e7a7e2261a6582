"""How attention is shared out over blocks, on plain numbers and over a whole step."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch import AttentionOp
from lanelink.dialects.launch.target import Numerics
from lanelink.lowering.cases.attention import scheduled
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.chip import H200
from lanelink.lowering.selection.operands import Rows
from lanelink.lowering.selection.select import select
from lanelink.passes.schedule.attention import Attention, AttentionShare, is_few, share_attention
from lanelink.pipeline import Level, Schedule, lower

SMS = 132
QWEN3_8B = Attention(heads=32, kv_heads=8, value_dim=128, rows=1, length=4096)


@pytest.mark.parametrize(
    ("heads", "together"), [(8, 1), (16, 2), (32, 4), (56, 7), (64, 8), (88, 1), (96, 6), (128, 8), (8 * 13, 1)]
)
def test_as_many_heads_of_a_key_head_as_divide_its_group(heads: int, together: int) -> None:
    assert share_attention(replace(QWEN3_8B, heads=heads), SMS).heads == together


@pytest.mark.parametrize(
    ("value_dim", "by_fours", "heads"), [(256, True, 8), (260, True, 4), (66, False, 2), (64, False, 8), (512, True, 4)]
)
def test_fewer_of_wide_values(value_dim: int, by_fours: bool, heads: int) -> None:
    wide = replace(QWEN3_8B, heads=16, kv_heads=2, value_dim=value_dim, by_fours=by_fours)
    assert share_attention(wide, SMS).heads == heads


@pytest.mark.parametrize(
    ("length", "window", "splits"),
    # 8 blocks, two on each of 132 multiprocessors, leave room for 33 splits each, joined by sixteens; 64 positions are
    # worth one, and a window of 128 may lie in three runs of 64.
    [
        (4096, None, 32),
        (1600, None, 16),
        (1024, None, 16),
        (960, None, 15),
        (65, None, 2),
        (64, None, 1),
        (1, None, 1),
        (4096, 128, 3),
    ],
)
def test_splits_fill_the_chip_once(length: int, window: int | None, splits: int) -> None:
    assert share_attention(replace(QWEN3_8B, length=length, window=window), SMS).splits == splits


@pytest.mark.parametrize(
    ("rows", "head_dim", "value_dim", "by_fours", "sequences", "splits"),
    # 160 positions are five runs of 32, or three of 64.
    [
        (1, 128, 128, True, 1, 5),
        (1, 64, 64, True, 1, 5),
        (1, 64, 64, False, 1, 3),
        (1, 128, 64, True, 1, 3),
        (1, 96, 96, True, 1, 3),
        (1, 128, 128, True, 2, 3),
        (1, None, 128, True, 1, 3),
    ],
)
def test_shorter_runs_where_kernels_are_of_the_usual_sizes_alone(
    rows: int, head_dim: int | None, value_dim: int, by_fours: bool, sequences: int, splits: int
) -> None:
    a = Attention(16, 4, value_dim, rows, 160, None, by_fours, sequences, head_dim)
    assert share_attention(a, SMS).splits == splits


@pytest.mark.parametrize(
    ("changes", "heads"),
    [
        ({}, 4),
        ({"heads": 28}, 7),
        ({"heads": 24}, 3),
        ({"length": 2048}, 4),
        ({"length": 2049}, 8),
        ({"length": 4096, "window": 2048}, 4),
        ({"rows": 2}, 8),
        ({"sequences": 2}, 8),
        ({"head_dim": None}, 8),
    ],
)
def test_four_heads_a_block_of_one_row_over_a_short_table(changes: dict[str, int], heads: int) -> None:
    a = Attention(heads=32, kv_heads=4, value_dim=128, rows=1, length=512, head_dim=128)
    assert share_attention(replace(a, **changes), SMS).heads == heads


def test_a_few_rows_are_up_to_eight() -> None:
    assert [is_few(rows, 64, 64) for rows in (1, 8, 9)] == [True, True, False]


def test_splits_end_where_the_kernels_do_and_where_blocks_fill_the_chip() -> None:
    assert share_attention(Attention(1, 1, 64, 1, 100_000), SMS).splits == 64
    assert share_attention(replace(QWEN3_8B, kv_heads=32, rows=1, heads=512), SMS).splits == 4
    assert share_attention(replace(QWEN3_8B, heads=1024, kv_heads=128), SMS).splits == 2


@pytest.mark.parametrize(("rows", "together"), [(1, 1), (2, 2), (3, 2), (17, 2)])
def test_rows_of_a_chunk_share_keys_where_there_is_room(rows: int, together: int) -> None:
    assert share_attention(replace(QWEN3_8B, rows=rows), SMS).rows == together


def test_rows_go_apart_where_blocks_are_too_few() -> None:
    alone = Attention(heads=16, kv_heads=16, value_dim=64, rows=8, length=64)
    # One split of 64 positions: 16 heads of 8 rows fill 128 blocks of one row each, 16 of all together.
    assert share_attention(alone, SMS) == AttentionShare(heads=1, rows=1, splits=1)
    assert share_attention(replace(alone, length=256), SMS) == AttentionShare(heads=1, rows=7, splits=8)
    assert share_attention(replace(alone, length=4096), SMS) == AttentionShare(heads=1, rows=8, splits=16)


@pytest.mark.parametrize("vd", [32, 64, 66, 70, 128, 132, 256, 260, 512])
@pytest.mark.parametrize("m", [1, 3, 17])
def test_kernels_hold_what_a_block_is_given(vd: int, m: int) -> None:
    rows = Rows(Address("x"), 4096)
    spec = AttentionSpec(rows, rows, replace(rows, pitch=vd * 2), Address("at"), 16, 2, 128, vd, 1024, m, 0.1, y=rows)
    shared = scheduled(spec)
    assert select(shared, H200).grid[2] == -(-m // shared.block_rows)


def test_every_attention_of_a_step_is_shared_out(decoder: Callable[..., ModuleOp]) -> None:
    step = decoder(Numerics.INT8, layers=2)

    def fields(schedule: Schedule | None = None) -> list[tuple[bool, bool, bool]]:
        found = [op for op in lower(step, Level.SCHEDULED, schedule).walk() if isinstance(op, AttentionOp)]
        return [tuple(f is not None for f in (op.block_heads, op.block_rows, op.splits)) for op in found]

    assert fields() == [(True, True, True)] * 2
    assert fields(Schedule(attention=False)) == [(False, False, False)] * 2
