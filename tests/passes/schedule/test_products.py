"""Rows of a matrix that a warp takes together, on plain numbers and over a whole step."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.passes.schedule.products import Product, loads_of, products, rows_per_warp
from lanelink.pipeline import Level, Schedule, lower

SMS = 132
LONG = Product(Format.Q8_0, quantized=True, k=4096, rows=1, outputs=(4096,))
PAIR = Product(Format.BF16, quantized=False, k=4096, rows=1, outputs=(12288,), paired=True)


@pytest.mark.parametrize(
    ("format", "k", "loads"),
    [(Format.F32, 100, 25), (Format.BF16, 100, 13), (Format.Q8_0, 4096, 256), (Format.Q4_K, 4096, 128)],
)
def test_loads_of_a_row(format: Format, k: int, loads: int) -> None:
    assert loads_of(format, k) == loads


def test_two_rows_of_long_ones() -> None:
    assert rows_per_warp(LONG, SMS) == 2
    assert rows_per_warp(PAIR, SMS) == 1


@pytest.mark.parametrize(
    ("outputs", "rows"),
    # By two rows a warp 64 tiles leave 68 of 132 multiprocessors idle, and by four more yet.
    [((1024,), 2), ((2112,), 2), ((2128,), 4), ((4096,), 4), ((4224,), 4), ((4240,), 2), ((2048, 1024, 1024), 4)],
)
def test_four_rows_where_the_busiest_multiprocessor_has_no_more(outputs: tuple[int, ...], rows: int) -> None:
    assert rows_per_warp(replace(LONG, k=1024, outputs=outputs), SMS) == rows


def test_what_something_follows_goes_by_two_rows() -> None:
    assert rows_per_warp(replace(LONG, k=1024, followed=True), SMS) == 2


def test_blocks_of_a_quantized_result_are_32_outputs_whatever_a_warp_takes() -> None:
    assert rows_per_warp(replace(LONG, k=1024, outputs=(1024,), quantizes=True), SMS) == 4


@pytest.mark.parametrize(
    ("format", "k", "outputs", "rows"),
    [
        (Format.Q8_0, 1024, 151936, 4),  # two loads a lane, of a batch of four for each of two rows
        (Format.Q8_0, 1040, 151936, 2),  # three
        (Format.BF16, 512, 151936, 4),
        (Format.Q4_K, 1024, 151936, 2),  # its kernels take two
        (Format.Q8_0, 1024, 8448, 4),
        (Format.Q8_0, 1024, 8480, 2),  # 265 tiles of four give one multiprocessor three, 530 of two five
    ],
)
def test_four_rows_where_they_are_short(format: Format, k: int, outputs: int, rows: int) -> None:
    quantized = format is not Format.BF16
    assert rows_per_warp(replace(LONG, format=format, quantized=quantized, k=k, outputs=(outputs,)), SMS) == rows


def test_pairs_go_by_twos_where_rows_are_short() -> None:
    assert rows_per_warp(replace(PAIR, k=512, outputs=(1056,)), SMS) == 1
    assert rows_per_warp(replace(PAIR, k=512, outputs=(8448,)), SMS) == 2
    assert rows_per_warp(replace(PAIR, k=1024, outputs=(8448,)), SMS) == 1


@pytest.mark.parametrize(("format", "rows"), [(Format.Q8_0, 2), (Format.Q4_K, 2), (Format.Q5_K, 1), (Format.Q6_K, 1)])
def test_pairs_by_quantized_activations_go_by_one_number_of_rows(format: Format, rows: int) -> None:
    for outputs in (32, 12288):
        pair = replace(PAIR, format=format, quantized=True, outputs=(outputs,))
        assert rows_per_warp(pair, SMS) == rows


def test_what_has_no_variants_stays_at_two() -> None:
    assert rows_per_warp(replace(LONG, outputs=(1024,), rows=2), SMS) == 2
    assert rows_per_warp(replace(LONG, format=Format.Q4_K, quantized=False, outputs=(1024,)), SMS) == 2
    assert rows_per_warp(replace(PAIR, format=Format.Q4_K, quantized=False, k=1024), SMS) == 1


def test_every_product_of_a_step_says_its_rows_a_warp(decoder: Callable[..., ModuleOp]) -> None:
    step = decoder(Numerics.INT8, layers=2, format=Format.Q8_0)
    found = [op.per_warp for op in products(lower(step, Level.SCHEDULED))]
    assert len(found) == 4 * 2 + 1
    # Products so narrow that two rows a warp leave most multiprocessors idle; the gated pairs.
    assert [p.value.data for p in found if p is not None] == 2 * [2, 2, 2, 2] + [2]
    plain = lower(step, Level.SCHEDULED, Schedule(products=False))
    assert all(op.per_warp is None for op in products(plain))
