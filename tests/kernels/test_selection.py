"""Kernel selection on plain data: entries, arguments, tilings, and refusals that name both sides."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from lanelink.dialects.driver.launch import MOST_SHARED
from lanelink.dialects.formats import Format
from lanelink.kernels.build import ARCHITECTURES, MODULES, ptx_path
from lanelink.lowering.cases.lists import small
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection import attention, heads, moe_decode, moe_sizes, products
from lanelink.lowering.selection.attention import entry_for
from lanelink.lowering.selection.attention_specs import AttentionSpec, HeadTurns, KeyTail
from lanelink.lowering.selection.calls import F32, I32, Address, ScratchKind, SelectionError
from lanelink.lowering.selection.chip import A100, H200, Chip
from lanelink.lowering.selection.gemm import laid
from lanelink.lowering.selection.products import STATIC_SHARED, variant_for
from lanelink.lowering.selection.ring import ring_of
from lanelink.lowering.selection.select import SELECTIONS, select
from lanelink.lowering.selection.specs import (
    GatherSpec,
    GemvPart,
    GemvSpec,
    GluSpec,
    Norm,
    NormSpec,
    Quantized,
    QuantizeSpec,
    RopeFold,
    RopeSide,
    RopeSpec,
    Rotation,
    Rows,
    Turn,
    Unnormed,
)
from lanelink.lowering.selection.union import Spec
from lanelink.lowering.selection.variants import LONG, SHORT
from lanelink.passes.tensor_cores import Tail

X = Rows(Address("x"), 4096)
Y = Rows(Address("y"), 4096)
Q = Quantized(Address("q"))
UNNORMED = Unnormed(X, None, 1e-6, 1)
NORMED = replace(UNNORMED, planes=0)
W = Address("w")
PART = GemvPart(W, 4096, Y)
GEMV = GemvSpec(X, Format.BF16, 4096, 1, (PART,))
GLU = GluSpec(X, Format.BF16, 4096, 12288, 1, W, W, Activation.SILU, y=Y)
ROTATION = Rotation(Address("cos"), Address("sin"), Address("at"), 128, 64)
TABLE = Rows(Address("table"), 1024)
ATTENTION = AttentionSpec(X, TABLE, TABLE, Address("at"), 32, 8, 128, 128, 1024, 1, 0.1, y=Y)
NORM = Norm(1e-6, y=Y)
NO_TURNS = 4000
"""A width that is no whole number of a ring's turns."""


@cache
def parameters(stem: str, architecture: str) -> dict[str, list[str]]:
    """The types of each entry's parameters, read from the PTX."""
    text = ptx_path(stem, architecture).read_text(encoding="utf-8")
    found = re.findall(r"\.visible \.entry (\w+)\((.*?)\n\)", text, re.S)
    return {name: re.findall(r"\.param \.(\w+)", body) for name, body in found}


@pytest.mark.parametrize("chip", [H200, A100], ids=lambda c: c.name)
def test_arguments_are_the_entries_parameters(chip: Chip) -> None:
    kinds = {I32: "u32", F32: "f32"}
    for case in small():
        call = select(case.spec, chip)
        expected = parameters(call.module, chip.architecture)[call.entry]
        assert [kinds.get(type(a), "u64") for a in call.arguments] == expected, case.name
        assert call.grid[1] <= 65535 and call.grid[2] <= 65535
        assert call.shared <= chip.shared_bytes


def static_shared(text: str) -> int:
    """The most static shared memory of an entry, the module's own variables among it."""
    bytes_of = {"b8": 1, "u32": 4, "f32": 4, "s32": 4, "u64": 8}
    found: list[int] = []
    for part in re.split(r"\.entry\b", text):
        top = 0
        for align, kind, count in re.findall(r"^\.shared \.align (\d+) \.(\w+) \w+(?:\[(\d+)\])?;", part, re.MULTILINE):
            top = -(-top // int(align)) * int(align) + bytes_of[kind] * int(count or 1)
        found.append(top)
    return found[0] + max(found[1:])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    ("family", "most"),
    [
        ("gemv_[a-z]+[0-9]*(_.)?", products.STATIC_SHARED),
        ("gemm_.*", products.STATIC_SHARED),
        ("head_gemv_.*", heads.STATIC_SHARED),
        ("moe_(f32|q8)_.*", moe_sizes.STATIC_SHARED),
        ("moe_decode_.*", moe_decode.STATIC_SHARED),
        ("attention_(64|128)", attention.CLUSTER_STATIC),
    ],
)
def test_static_shared_memory_is_what_selection_leaves_for_it(family: str, most: int, architecture: str) -> None:
    stems = [module.stem for module in MODULES if re.fullmatch(family, module.stem)]
    assert stems
    for stem in stems:
        assert static_shared(ptx_path(stem, architecture).read_text("utf-8")) <= most, stem


def test_every_launch_kind_is_selected() -> None:
    assert {type(c.spec) for c in small()} == set(SELECTIONS)


@pytest.mark.parametrize(
    "spec, message",
    [
        (replace(GEMV, format=Format.Q4_K, k=4128), r"product width: expected a multiple of 256, got 4128"),
        (replace(GEMV, m=0), r"product rows: expected at least 1, got 0"),
        (replace(GEMV, x=Q), r"product of quantized activations: expected weights in a block format, got bf16"),
        (replace(GEMV, format=Format.Q8_0, k=40), r"product width: expected a multiple of 32, got 40"),
        (replace(GEMV, parts=(PART,) * 5), r"product parts: expected 1 to 4, got 5"),
        (replace(GEMV, parts=(replace(PART, n=0),)), r"product outputs: expected at least 1, got 0"),
        (replace(GEMV, parts=(replace(PART, y=None),)), r"product result: expected f32 rows or a quantized form"),
        (replace(GEMV, parts=(PART, PART), quantized=Q), r"quantized product: expected one part, got 2"),
        (replace(GEMV, parts=(replace(PART, n=40),), quantized=Q), r"multiple of 32 values, got 40"),
        (replace(GEMV, parts=(PART, PART), then=NORM), r"product with a norm: expected one part, got 2"),
        (replace(GEMV, then=Norm(1e-6)), r"product's norm result: expected f32 rows or a quantized form, got neither"),
        (replace(GEMV, then=RopeFold(ROTATION, ())), r"product's turns: expected one a part \(1\), got 0"),
        (
            replace(GEMV, parts=(replace(PART, n=200),), then=RopeFold(ROTATION, (Turn(),))),
            r"turned part's outputs: expected a multiple of the head size 128, got 200",
        ),
        (replace(GEMV, x=replace(X, row=Address("at"))), r"product x: expected rows at a fixed row"),
        (replace(GEMV, k=60000), r"product width: expected a row of x in \d+ bytes of shared memory, got 240000"),
        (replace(GEMV, per_warp=3), r"rows of bf16 a warp: expected one of \(2, 4\), got 3"),
        (replace(GLU, per_warp=4), r"rows of bf16 a warp: expected one of \(1, 2\), got 4"),
        (
            replace(GEMV, format=Format.Q4_K, per_warp=4),
            r"rows of q4_k a warp: expected one of \(2,\), got 4",
        ),
        (replace(GLU, y=None), r"gated pair result: expected f32 rows or a quantized form, got neither"),
        (replace(GLU, n=100, quantized=Q), r"gated pair quantized: expected rows of a multiple of 32 values, got 100"),
        (replace(ATTENTION, heads=30), r"attention heads: expected a multiple of the key heads, got \(30, 8\)"),
        (replace(ATTENTION, hd=30), r"attention key head: expected a multiple of 4 values, got 30"),
        (replace(ATTENTION, vd=33), r"attention value head: expected an even width of 2 to 512, got 33"),
        (replace(ATTENTION, vd=514), r"attention value head: expected an even width of 2 to 512, got 514"),
        (replace(ATTENTION, vd=258), r"attention value head: expected at most 256 values in 8-byte loads, got 258"),
        (replace(ATTENTION, hd=40000), r"attention head: expected \d+ bytes of shared memory, got \d+"),
        (
            replace(ATTENTION, keys=replace(TABLE, address=TABLE.address.at(8))),
            r"attention keys' start: expected a multiple of 4 values in, got 2",
        ),
        (
            replace(ATTENTION, quantized=replace(Q, rows=4, row=4)),
            r"attention quantized: expected 1 rows inside, got \(4, 4\)",
        ),
        (
            replace(GEMV, quantized=replace(Q, rows=4)),
            r"product quantized: expected a buffer of the launch's rows, got 4",
        ),
        (
            replace(ATTENTION, tail=KeyTail(64, X, X)),
            r"attention heads of shared keys: expected 8, got 32",
        ),
        (
            replace(ATTENTION, kv_heads=32, vd=258, tail=KeyTail(64, X, X)),
            r"attention value head: expected at most 0 values in 8-byte loads, got 258",
        ),
        (replace(ATTENTION, window=0), r"attention window: expected at least 1, got 0"),
        (replace(ATTENTION, keys=replace(TABLE, pitch=1023)), r"attention keys' pitch: expected a multiple of 4"),
        (replace(ATTENTION, block_heads=3), r"attention heads a block: expected a divisor of 4, .* got 3"),
        (replace(ATTENTION, block_rows=0), r"attention rows a block: expected at least 1, got 0"),
        (replace(ATTENTION, splits=65), r"attention splits: expected 1 to 64, got 65"),
        (
            replace(ATTENTION, vd=512, values=replace(TABLE, pitch=4096), block_heads=4, block_rows=2),
            r"attention queries a block: expected at most 4, got 8",
        ),
        (NormSpec(X, 1, 100000, NORM), r"norm width: expected at most \d+ values, got 100000"),
        (GatherSpec(W, Format.F32, 9, 32, Address("i"), 1, None), r"gather result: expected rows or a norm of them"),
        (RopeSpec(replace(ROTATION, half=65), 1, (RopeSide(X, Y, 4),)), r"rotation: expected 2 \* half <= head size"),
        (RopeSpec(ROTATION, 1, ()), r"rope sides: expected 1 to 4, got 0"),
        (QuantizeSpec(X, 70000, 32, Q), r"unary rows: expected 1 to 65535, got 70000"),
        (
            replace(GEMV, x=replace(NORMED, row=replace(X, address=X.address.at(4)))),
            r"row that is normed as it is read: expected an offset of a multiple of 16 bytes, got 4",
        ),
        (
            replace(GEMV, format=Format.Q8_0, x=replace(UNNORMED, weight=Address("w", 8))),
            r"weights of a row that is normed as it is read: expected an offset of a multiple of 16 bytes, got 8",
        ),
    ],
    ids=range(44),
)
def test_what_has_no_kernel_is_refused_by_name(spec: Spec, message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        select(spec, H200)


@pytest.mark.parametrize(
    "outputs, variant, blocks",
    [(6144, SHORT, 384), (4096, LONG, 256), (151936, LONG, 264), (16, LONG, 1), (2048, LONG, 128)],
)
def test_tiles_share_out_over_multiprocessors(outputs: int, variant: object, blocks: int) -> None:
    assert variant_for(-(-outputs // 16), H200.sms) is variant
    call = select(replace(GEMV, k=NO_TURNS, parts=(replace(PART, n=outputs),)), H200)
    assert call.grid == (blocks, 1, 1)


@pytest.mark.parametrize(
    "spec, entry, blocks",
    [
        (replace(GEMV, per_warp=2), "gemv_bf16_f32_r1b", 132),
        (replace(GEMV, k=NO_TURNS, per_warp=2), "gemv_bf16_f32_r1l", 256),
        (replace(GEMV, k=NO_TURNS, parts=(replace(PART, n=6144),)), "gemv_bf16_f32_r1s", 384),
        (replace(GEMV, per_warp=4), "gemv_bf16_f32_r1w4", 128),
        (replace(GEMV, format=Format.Q8_0, k=160, x=UNNORMED, parts=(replace(PART, n=6144),)), "gemv_q8_0_q8_r1s", 384),
        (replace(GEMV, format=Format.Q6_K, x=Q, per_warp=2), "gemv_q6_k_q8_r1", 256),
        (replace(GEMV, format=Format.Q6_K, x=UNNORMED), "gemv_q6_k_q8_r1x", 128),
        (replace(GEMV, format=Format.Q6_K, x=UNNORMED, parts=(replace(PART, n=8480),)), "gemv_q6_k_q8_r1", 264),
        (replace(GEMV, format=Format.Q4_K, x=Q, per_warp=2), "gemv_q4_k_q8_r1b", 132),
        (replace(GEMV, format=Format.Q4_K, x=UNNORMED, parts=(replace(PART, n=50),)), "gemv_q4_k_q8_r1b", 25),
        (replace(GLU, format=Format.MXFP4, x=Q, n=1024, quantized=Q), "glu_mxfp4_q8_r1b", 32),
        (replace(GEMV, format=Format.Q4_K, x=replace(Q, planes=2)), "gemv_q4_k_q8_r1", 256),
        (replace(GEMV, format=Format.F32, per_warp=2), "gemv_f32_f32_r1", 256),
        (replace(GLU, format=Format.F32, per_warp=1, n=1024, quantized=Q), "glu_f32_f32_r1", 32),
        (replace(GLU, format=Format.Q8_0, k=5120, x=Q, per_warp=2), "glu_q8_0_q8_r1x", 132),
        (replace(GLU, format=Format.Q6_K, x=Q, per_warp=1, quantized=Q), "glu_q6_k_q8_r1x", 132),
        (replace(GLU, format=Format.F16, per_warp=1), "glu_f16_f32_r1b", 132),
        (replace(GEMV, k=2048, x=NORMED), "gemv_bf16_f32_r1l", 256),
        (replace(GEMV, k=2048, x=NORMED, parts=(PART, replace(PART, n=129))), "gemv_bf16_f32_r1b", 132),
        (replace(GEMV, k=1024, x=X), "gemv_bf16_f32_r1b", 132),
        (replace(GLU, k=1024, n=4224, x=NORMED), "glu_bf16_f32_r1", 396),
        (replace(GLU, k=1024, n=4225, x=NORMED), "glu_bf16_f32_r1b", 132),
        (replace(GLU, per_warp=1, n=1024, quantized=Q), "glu_bf16_f32_r1b", 32),
        (replace(GLU, k=NO_TURNS, per_warp=1), "glu_bf16_f32_r1", 396),
        (replace(GLU, k=NO_TURNS, per_warp=1, n=1024, quantized=Q), "glu_bf16_f32_r1x", 32),
        (replace(GLU, per_warp=2), "glu_bf16_f32_r1w2", 264),
        (replace(GEMV, per_warp=4, quantized=Q), "gemv_bf16_f32_r1w4", 128),
    ],
)
def test_rows_a_warp_are_the_schedules(spec: Spec, entry: str, blocks: int) -> None:
    call = select(spec, H200)
    assert (call.entry, call.grid) == (entry, (blocks, 1, 1))
    assert call.carveout == (100 if entry.endswith("_r1b") else None)


ROOM = H200.shared_bytes - STATIC_SHARED


@pytest.mark.parametrize(
    "format, k, staged, values, shared",
    [
        (Format.Q4_K, 4096, 5120, 4096, 5120 + 64 * 2368),
        (Format.Q4_K, 4096, 5100, 4096, 5120 + 64 * 2368),
        (Format.Q4_K, 12288, 15360, 4096, 15360 + 64 * 2368),
        (Format.Q5_K, 14336, 17920, 2048, 17920 + 64 * 1440),
        (Format.MXFP4, 2048, 2304, 2048, 2304 + 64 * 1088),
        (Format.BF16, 512, 4096, 1024, 4096 + 64 * 2048),
        (Format.BF16, 2560, 10240, 1024, 10240 + 64 * 2048),
        (Format.F16, 12288, 49152, 1024, 49152 + 64 * 2048),
    ],
)
def test_a_ring_holds_whole_rows_or_chunks(format: Format, k: int, staged: int, values: int, shared: int) -> None:
    ring = ring_of(format, k, staged, ROOM, H200)
    assert ring is not None
    assert (ring.values, ring.shared) == (values, shared) and ring.at % 128 == 0 <= ring.at - staged < 128


@pytest.mark.parametrize(
    "format, k, room, chip",
    [
        (Format.Q4_K, 4096, ROOM, A100),
        (Format.Q6_K, 4096, ROOM, H200),
        (Format.Q4_K, 3072, ROOM, H200),
        (Format.Q4_0, 4096, 60_000, H200),
    ],
    ids=["an older chip", "a format without", "half a turn", "no room"],
)
def test_where_there_is_no_ring(format: Format, k: int, room: int, chip: Chip) -> None:
    assert ring_of(format, k, 5120, room, chip) is None


def test_rows_a_warp_that_no_entry_takes_are_refused() -> None:
    with pytest.raises(SelectionError, match=r"rows of q4_k a warp: expected one of \(2,\), got 4"):
        select(replace(GEMV, format=Format.Q4_K, x=Q, per_warp=4), H200)
    with pytest.raises(SelectionError, match=r"rows of q8_0 a warp: expected one of \(2,\), got 1"):
        select(replace(GLU, format=Format.Q8_0, x=Q, per_warp=1), H200)


def test_what_something_follows_goes_by_two_rows_in_the_entries_that_hold_it() -> None:
    normed = replace(GEMV, then=NORM)
    assert select(normed, H200).entry == "gemv_bf16_f32_r1"
    assert select(replace(normed, format=Format.Q4_K, x=UNNORMED), H200).entry == "gemv_q4_k_q8_r1"
    with pytest.raises(SelectionError, match="a product that something follows: expected 2 stored rows, got 4"):
        select(replace(normed, per_warp=4), H200)


def test_a_step_of_rows_shares_weights_where_two_go_together() -> None:
    assert select(replace(GEMV, m=8, per_warp=2), H200).grid[1] == 2
    assert select(replace(GEMV, m=8, per_warp=4), H200).grid[1] == 8


def test_rows_of_a_step_go_by_fours_where_they_fit() -> None:
    assert select(replace(GEMV, m=9), H200).grid[1] == 3
    assert select(replace(GEMV, m=9, k=40000), H200).grid[1] == 9


def test_blocks_of_f32_rows_share_the_groups_of_one_entry() -> None:
    blocks = replace(GEMV, format=Format.Q4_K)
    for m, k, groups, rows in ((1, 4096, 1, 1), (9, 4096, 3, 4), (3, 20480, 3, 1)):
        call = select(replace(blocks, m=m, k=k), H200)
        assert (call.entry, call.grid[1], call.shared) == ("gemv_q4_k_f32_r4", groups, rows * 4 * k)


@pytest.mark.parametrize("format, sums", [(Format.Q4_0, 0), (Format.Q4_K, 4), (Format.Q5_K, 4), (Format.Q6_K, 0)])
def test_blocks_with_mins_stage_the_sums_of_x(format: Format, sums: int) -> None:
    call = select(replace(GEMV, x=Q, format=format), A100)
    assert (call.entry, call.shared) == (f"gemv_{format.value}_q8_r1", 4096 + (4 + sums) * 128)


@pytest.mark.parametrize(
    "format, x, staged",
    [
        (Format.Q8_0, UNNORMED, 4096 + 4 * 128),
        (Format.Q4_K, UNNORMED, 4096 + 8 * 128),
        (Format.BF16, replace(UNNORMED, planes=0), 4 * 4096),
    ],
)
def test_a_row_that_is_normed_first_is_held_twice_behind_what_the_sums_read(
    format: Format, x: Unnormed, staged: int
) -> None:
    """As f32, normed and as it came; f32 that the sums read is the normed row."""
    held = 2 if x.planes else 1
    assert select(replace(GEMV, x=x, format=format), A100).shared == staged + held * 4 * 4096


def test_a_chip_of_more_shared_memory_than_any_is_given_no_more() -> None:
    """A whole row of 14336 values a slot is 537 KiB of rings."""
    spec = replace(GEMV, format=Format.Q4_K, x=Q, k=14336)
    assert select(spec, Chip("much", (9, 0), 132, 600)).shared == select(spec, H200).shared <= MOST_SHARED


def test_a_fold_asks_for_scratch_and_a_plain_product_for_none() -> None:
    assert select(GEMV, H200).scratch == ()
    dropped = replace(GEMV, parts=(replace(PART, y=None),), then=NORM)
    assert select(dropped, H200).scratch_bytes(ScratchKind.PARTIALS) == 4 * 4096
    kept = select(replace(GEMV, then=NORM), H200)
    assert (kept.scratch_bytes(ScratchKind.PARTIALS), kept.scratch_bytes(ScratchKind.COUNTERS)) == (0, 4)


def test_what_a_block_of_attention_takes_is_the_schedules() -> None:
    plain = select(ATTENTION, H200)
    assert (plain.entry, plain.grid) == ("attention_few_128_q2", (32, 1, 1))
    shared = select(replace(ATTENTION, m=3, block_heads=4, block_rows=2, splits=9), H200)
    assert (shared.entry, shared.grid) == ("attention_few_128_q8", (8, 9, 2))


TURNS = HeadTurns(X, None, None, Address("cos"), Address("sin"), 64)
ONE = replace(ATTENTION, block_heads=4, splits=16, turns=TURNS)


def test_splits_of_one_row_are_a_cluster() -> None:
    call = select(ONE, H200)
    assert (call.entry, call.grid, call.cluster) == ("attention_one_128_q4", (16, 8, 1), 16)
    assert call.carveout == 100
    refs = [a.ref for a in call.arguments if isinstance(a, Address)]
    assert call.scratch == () and not any(isinstance(ref, ScratchKind) for ref in refs)
    assert select(replace(ONE, splits=8, turns=None), H200).grid == (16, 8, 1)


@pytest.mark.parametrize(
    ("changes", "tiles"),
    [
        ({"length": 512}, 1),
        ({"length": 513}, 2),
        ({"length": 1024, "splits": 32}, 2),
        ({"length": 1025, "splits": 32}, 3),
        ({"length": 2048, "splits": 32}, 3),
        ({"length": 9000, "window": 481}, 1),  # of 16 tiles whatever its first
        ({"length": 9000, "window": 482, "splits": 17}, 2),
        ({"length": 9000, "window": 2048, "splits": 32}, 3),
        ({"heads": 28, "kv_heads": 4, "block_heads": 7, "splits": 64, "length": 4096}, 3),
    ],
    ids=str,
)
def test_blocks_of_a_cluster_hold_up_to_three_tiles(changes: dict[str, object], tiles: int) -> None:
    """A tile is 32 rows of keys and as many of values, each of 128 values and four to spare."""
    call = select(replace(ONE, **changes), H200)
    assert (call.cluster, call.shared) == (16, tiles * 2 * 32 * (128 + 4) * 4)
    assert select(replace(ONE, **changes), replace(H200, shared_kib=110)).cluster == 16


@pytest.mark.parametrize(
    ("changes", "chip"),
    [
        ({}, A100),
        ({}, replace(H200, compute_capability=(12, 0))),
        ({"splits": 7}, H200),
        ({"splits": 32, "length": 2049}, H200),
        ({"splits": 32, "length": 2048}, replace(H200, shared_kib=109)),
        ({"heads": 28, "kv_heads": 4, "block_heads": 7, "splits": 64, "length": 4097}, H200),
        ({"m": 2, "block_rows": 2}, H200),
        ({"turns": replace(TURNS, half=32)}, H200),
        ({"q": replace(X, address=X.address.at(4))}, H200),
        ({"turns": replace(TURNS, k=replace(X, address=X.address.at(4)))}, H200),
    ],
    ids=str,
)
def test_splits_that_are_no_cluster(changes: dict[str, object], chip: Chip) -> None:
    call = select(replace(ONE, **changes), chip)
    assert call.entry.startswith("attention_few_128") and call.cluster == 1


@pytest.mark.parametrize(
    "spec, name",
    [
        (replace(ATTENTION, block_heads=4), "attention_few_128_q4"),
        (replace(ATTENTION, m=2, block_heads=4, block_rows=2), "attention_few_128_q8"),
        (replace(ATTENTION, m=9, block_heads=4), "attention_128_q4"),
        (replace(ATTENTION, m=9, block_heads=4, block_rows=2), "attention_128_q8"),
        (replace(ATTENTION, vd=64, block_heads=4), "attention_64_q4"),
        (replace(ATTENTION, vd=66), "attention_pairs_q2"),
        (replace(ATTENTION, values=replace(TABLE, address=TABLE.address.at(8))), "attention_pairs_q2"),
        (replace(ATTENTION, vd=132, block_heads=4), "attention_256_q4"),
        (replace(ATTENTION, kv_heads=1, hd=576, vd=512, block_heads=4), "attention_512_q4"),
        (replace(ATTENTION, kv_heads=32, tail=KeyTail(64, X, X)), "attention_tailed_128"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_the_narrowest_entry_of_attention_is_taken(spec: AttentionSpec, name: str) -> None:
    assert entry_for(spec, H200).name == name
    assert select(spec, H200).entry == name


def test_a_fixed_row_becomes_part_of_the_address() -> None:
    call = select(replace(GEMV, parts=(replace(PART, y=replace(Y, row=3)),)), H200)
    assert Address("y", 3 * 4096 * 4) in call.arguments


def test_an_argument_of_more_bits_is_refused() -> None:
    with pytest.raises(SelectionError, match="kernel argument: expected a whole number of 32 bits, got 2147483648"):
        I32(2**31)
    assert I32(-(2**31)).value == -(2**31)


WIDE = GemvSpec(Quantized(Address("x")), Format.Q8_0, 4096, 64, (PART,))


@pytest.mark.parametrize(
    ("spec", "entry", "grid"),
    [
        (WIDE, "gemm_q8_0_r64", 32),
        (replace(WIDE, m=65), "gemm_q8_0_r64", 64),
        (replace(WIDE, m=9), "gemm_q8_0_r32", 32),
        (replace(WIDE, m=33, x=Quantized(Address("x"), 2)), "gemm_q8_0_r64", 32),
        (replace(WIDE, tail=Tail(0, 8)), "gemm_q8_0_r64", 256),
        (replace(WIDE, m=512, tail=Tail(250, 3)), "gemm_q8_0_r64", 268),
        (replace(WIDE, parts=(PART, replace(PART, n=129))), "gemm_q8_0_r64", 34),
        (replace(GLU, x=WIDE.x, format=Format.Q4_K, m=10), "gemm_q4_k_r32", 192),
        (replace(WIDE, then=RopeFold(ROTATION, (Turn(),))), "gemm_q8_0_r64", 32),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_many_rows_go_to_tensor_cores(spec: Spec, entry: str, grid: int) -> None:
    call = select(spec, H200)
    assert (call.entry, call.grid) == (entry, (grid, 1, 1))


@pytest.mark.parametrize(
    "spec",
    [
        replace(WIDE, m=8),
        replace(WIDE, x=X),
        replace(WIDE, then=NORM),
        replace(WIDE, then=RopeFold(replace(ROTATION, hd=256), (Turn(),))),
    ],
    ids=["eight rows", "f32", "a norm", "heads of 256"],
)
def test_others_stay_with_the_few_rows(spec: GemvSpec) -> None:
    assert select(spec, H200).entry.startswith("gemv_q8_0_")


def test_a_chip_of_little_shared_memory_has_no_room_for_chunks() -> None:
    assert select(replace(WIDE, k=256), Chip("little", (8, 0), 2, 48)).entry == "gemv_q8_0_q8_r4"
    assert select(replace(WIDE, k=256), Chip("enough", (8, 0), 2, 56)).entry == "gemm_q8_0_r64"


def test_three_chunks_where_two_blocks_hold_them() -> None:
    assert laid(WIDE, H200).stages == 3
    assert laid(replace(WIDE, x=Quantized(Address("x"), 2)), H200).stages == 3
    assert laid(WIDE, A100).stages == 2
    assert laid(replace(WIDE, format=Format.Q4_K), A100).stages == 3


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (Tail(32, 2), "product's tail: expected to begin before its 32 tiles end, got 32"),
        (Tail(0, 33), "product's tail: expected 2 to 32 shares of its chunks, got 33"),
        (Tail(0, 1), "product's tail: expected 2 to 32 shares of its chunks, got 1"),
    ],
)
def test_tails_that_are_none(tail: Tail, message: str) -> None:
    with pytest.raises(SelectionError, match=re.escape(message)):
        select(replace(WIDE, tail=tail), H200)


def test_shares_of_tiles_need_room() -> None:
    call = select(replace(WIDE, tail=Tail(30, 4)), H200)
    assert call.scratch_bytes(ScratchKind.COUNTERS) == 8
    assert call.scratch_bytes(ScratchKind.PARTIALS) == 2 * 4 * 128 * 64 * 4
    assert select(WIDE, H200).scratch == ()
