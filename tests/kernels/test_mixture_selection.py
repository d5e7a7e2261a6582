"""How mixtures are laid on a chip: on plain numbers, without IR."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.mixture import ExpertActivation
from lanelink.kernels.build import SOURCES
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection import moe, moe_decode, moe_sizes
from lanelink.lowering.selection.calls import Address, ScratchKind, SelectionError
from lanelink.lowering.selection.chip import A100, H200, Chip
from lanelink.lowering.selection.moe_specs import ExpertGroups, MoeMatrix, MoeSpec, SharedExpert
from lanelink.lowering.selection.operands import Quantized, Rows

X = Address("x")


def matrix(format: Format | None) -> MoeMatrix:
    return MoeMatrix(Address("w"), format)


def spec(m: int, width: int, hidden: int, experts: int, top_k: int, format: Format = Format.Q8_0) -> MoeSpec:
    """A mixture of one format, of quantized x where that is of blocks, by an f32 router."""
    return MoeSpec(
        x=Quantized(X) if format.is_block else Rows(X, width),
        router_x=Rows(Address("plain"), width),
        m=m,
        width=width,
        experts=experts,
        top_k=top_k,
        hidden=hidden,
        act=ExpertActivation.SILU,
        router=matrix(Format.F32),
        gate=matrix(format),
        up=matrix(format),
        down=matrix(format),
        y=Rows(Address("y"), width),
    )


def numbers(source: str, name: str) -> list[str]:
    """The names of an enum of the kernels, in order."""
    text = (SOURCES / source).read_text(encoding="utf-8")
    found = re.search(rf"enum {name} {{(.*?)}}", text, re.DOTALL)
    assert found is not None
    return [part.strip().lower() for part in found.group(1).split(",")]


def test_the_kernels_number_formats_and_activations_so() -> None:
    assert numbers("blocks.cuh", "Format") == [f"format_{f.value}" for f in moe_sizes.FORMATS]
    assert set(moe_sizes.FORMATS) == set(Format)
    assert [f"act_{a.value}" for a in sorted(Activation, key=lambda a: a.code)] == numbers("common.cuh", "Activation")
    assert max(a.code for a in Activation) + 1 == moe.CLAMPED_CODE


def test_a_row_of_qwen3_30b_a3b_keeps_every_multiprocessor_busy() -> None:
    laid = moe.lay(spec(1, 2048, 768, 128, 8), 1, H200)
    # 1024 pairs of outputs, eight groups each: two warps a pair give each block one tile of four groups a warp.
    assert (laid.blocks, laid.pass_rows, laid.split) == (132, 1, 2)
    # 64 pairs of router rows of 512 loads: each load of 32 lanes by a warp of its own.
    assert laid.segments == 16


@pytest.mark.parametrize(("m", "format"), [(64, Format.BF16), (300, Format.Q8_0)])
def test_rows_that_do_not_fit_go_in_even_passes(m: int, format: Format) -> None:
    laid = moe.lay(spec(m, 2048, 768, 128, 8, format), 4, H200)
    passes = -(-m // laid.pass_rows)
    assert passes > 1 and laid.pass_rows * passes - m < passes
    assert laid.pass_rows * 8 <= moe.MOST_PAIRS


SHAPES = (
    (32, 32, 1, 1),
    (96, 160, 6, 3),
    (2048, 768, 128, 8),
    (2880, 2880, 32, 4),
    (64, 24000, 9, 9),
    (96, 96, 288, 32),
)


@pytest.mark.parametrize("chip", [H200, A100, Chip("small", (8, 0), 3, 64)], ids=lambda c: c.name)
def test_all_blocks_are_resident_and_their_memory_is_there(chip: Chip) -> None:
    for shape, m, shared in product(SHAPES, (1, 3, 17, 200), (None, 96)):
        one = spec(m, *shape)
        if shared is not None:
            mixed = SharedExpert(shared, *(matrix(Format.Q8_0) for _ in range(3)), matrix(Format.BF16))
            one = replace(one, shared=mixed)
        call = moe.moe(one, chip)
        assert call.together and call.grid[0] <= chip.sms and call.block == (512, 1, 1)
        assert call.shared + moe_sizes.STATIC_SHARED <= chip.shared_bytes
        if moe_decode.plan(one, chip) is not None:
            continue
        group = moe.group_of(one, chip)
        laid = moe.lay(one, group, chip)
        pairs = laid.pass_rows * one.top_k
        assert call.scratch_bytes(ScratchKind.PARTIALS) >= 4 * pairs * one.hidden
        # A group's hidden rows at least are staged at a time, behind the tables.
        assert laid.room >= group * moe_sizes.q8_stride(one.hidden, 1)
        assert laid.rows_at >= 4 * (7 * pairs + 1 + 33 * laid.pass_rows + one.experts)


def test_one_row_of_formats_with_a_module_is_decoded() -> None:
    big, format = spec(1, 2048, 768, 128, 8), Format.Q8_0
    call = moe.moe(big, H200)
    assert (call.module, call.entry) == ("moe_decode_q8_0", "moe_decode_q8_0_q8")
    assert call.carveout == 100
    # An output of down is 8 rows of 48 loads: 12 loads a lane where no warps share it, and 128 blocks have one each.
    laid = moe_decode.plan(big, H200)
    assert laid is not None
    assert (laid.blocks, laid.split_bits, laid.down_words, laid.down_batches) == (128, 0, 384, 2)
    assert call.scratch_bytes(ScratchKind.COUNTERS) >= 4 * (4 + 8 * 768 + 128)
    shared = SharedExpert(128, *(matrix(format) for _ in range(3)), matrix(Format.BF16))
    assert moe_decode.plan(replace(big, shared=shared), H200) is not None
    for changed in (
        {"m": 2},
        {"x": Quantized(X, 2)},
        {"x": Rows(X, 2048)},
        {"up": matrix(Format.Q4_0)},
        {"down": matrix(Format.Q6_K)},
        {"router": matrix(None)},
        {"router": matrix(Format.Q4_0)},
        {"shared": replace(shared, down=matrix(Format.Q4_0))},
        {"experts": 8192},
        {"hidden": 64 * 1024},
        {"hidden": 96},  # a row's scales are not whole words
    ):
        assert moe_decode.plan(replace(big, **changed), H200) is None, changed


def test_reciprocals_divide_exactly() -> None:
    for divisor in (*range(1, 70), 767, 2880, 24000):
        inverse = moe_decode.reciprocal(divisor)
        assert inverse < 2**32
        most = min(2**32 // divisor - 1, 2**31 - 1)
        for n in (0, 1, divisor - 1, divisor, 5 * divisor - 1, most // divisor * divisor - 1, most):
            assert (n if inverse == 0 else n * inverse >> 32) == n // divisor, (n, divisor)


def test_a_grid_is_no_larger_than_its_busiest_warp_needs() -> None:
    # 6144 pairs are 3 for each of 128 blocks' warps, and 2048 outputs one: 132 blocks would have no less to do.
    assert moe_decode.grid_of(6144, 2048, 128, 384, 132) == (128, 0)
    # 11520 pairs in 6 rounds, 360 tiles of 8 in 3.
    assert moe_decode.grid_of(11520, 2880, 32, 360, 132) == (120, 1)
    # 2.1 rounds, which would be 3 of 96 blocks: the chip's bandwidth takes more of them.
    assert moe_decode.grid_of(4500, 96, 60, 96, 132)[0] == 132
    assert moe_decode.grid_of(100, 64, 60, 96, 132)[0] == 7  # few units: as many blocks as have warps for them


@pytest.mark.parametrize(
    ("width", "words", "bits"),
    [
        (2048, 384, 0),  # one round of 12 loads
        (2880, 360, 1),  # three of 6, not two of 12
        (512, 384, 2),  # one of 3
        (64, 96, 2),  # few words: no lane is left without one
    ],
)
def test_warps_that_share_an_output(width: int, words: int, bits: int) -> None:
    assert moe_decode.split_bits_of(width, words, 132) == bits


def test_ranges_are_even_and_none_is_empty() -> None:
    for words, most in product(range(1, 70), range(1, 20)):
        ranges = moe.even(words, most)
        each = -(-words // ranges)
        assert 1 <= ranges <= most and (ranges - 1) * each < words <= ranges * each


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gate": matrix(Format.BF16)}, "mixture gate beside quantized activations: expected a block format"),
        ({"down": matrix(None)}, "mixture down: expected stored rows, got values"),
        ({"router_x": None}, "mixture router_x: expected f32 rows for its router, got none"),
        ({"x": Quantized(X, 3)}, "mixture of quantized activations: expected 1 or 2 planes, got 3"),
        ({"top_k": 9}, r"mixture experts: expected 1 to 32 of at most 8192, got \(9, 8\)"),
        ({"y": None}, "mixture result: expected f32 rows or a norm, got neither"),
        ({"m": 0}, "mixture rows: expected at least 1, got 0"),
        ({"groups": ExpertGroups(3, 2, 1)}, r"mixture groups: expected at most 32 of one size, .*, got \(3, 2, 1\)"),
        ({"groups": ExpertGroups(8, 1, 1)}, "mixture groups: expected .* those kept of 2 experts or more"),
        ({"groups": ExpertGroups(4, 5, 1)}, "mixture groups"),
        ({"groups": ExpertGroups(4, 2, 3)}, "mixture groups"),
        ({"groups": ExpertGroups(0, 0, 1)}, "mixture groups"),
        ({"groups": ExpertGroups(64, 2, 1), "experts": 64}, "mixture groups"),
    ],
)
def test_what_no_kernel_runs(changed: dict[str, object], message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        moe.moe(replace(spec(1, 64, 64, 8, 2), **changed), H200)


def test_too_little_shared_memory_for_one_row() -> None:
    with pytest.raises(SelectionError, match="mixture width: expected a row in 3072 bytes of shared memory"):
        moe.moe(spec(1, 2048, 64, 8, 2), Chip("tiny", (9, 0), 2, 4))
