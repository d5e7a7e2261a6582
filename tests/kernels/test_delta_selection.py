"""Selection of linear attention's kernels: how the work is shared out, and what no kernel runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lanelink.lowering.selection.calls import Address, ScratchKind, SelectionError
from lanelink.lowering.selection.chip import H200
from lanelink.lowering.selection.delta_specs import (
    ConvPart,
    ConvSpec,
    DeltaSpec,
    GateProjSpec,
    GatesSpec,
    L2Spec,
)
from lanelink.lowering.selection.operands import Quantized, Rows
from lanelink.lowering.selection.select import select
from lanelink.lowering.selection.union import Spec

A = Address("a")
KEYS, VALUES = Rows(Address("keys"), 2048), Rows(Address("values"), 4096)
DELTA = DeltaSpec(KEYS, KEYS, VALUES, VALUES, A, A, Address("state"), A, 1, 32, 16, 128, 1e-6, y=VALUES)
PART = ConvPart(KEYS, A, Address("ring"), 2048, KEYS, 128)
CONV = ConvSpec((PART, PART, replace(PART, channels=4096, cols=None)), 1, 4, silu=True, eps=1e-6, constant=True)
PROJECTIONS = GateProjSpec(KEYS, A, A, A, A, A, A, 1, 2048, 32)
GATES = GatesSpec(A, A, A, A, 1, 32)


def test_a_large_state_is_shared_out_over_the_chip() -> None:
    """32 heads of 128 x 128, as Qwen3-Next has them: a block 16 columns of a head."""
    call = select(DELTA, H200)
    assert (call.entry, call.grid, call.block) == ("delta_k4", (8, 32, 1), (128, 1, 1))
    assert call.grid[0] * call.grid[1] >= H200.sms
    assert call.scratch_bytes(ScratchKind.COUNTERS) == 4 * 32
    assert call.scratch_bytes(ScratchKind.PARTIALS) == 4 * 32 * 128


@pytest.mark.parametrize(
    ("d", "entry", "threads"),
    [(32, "delta_k4", 128), (128, "delta_k4", 128), (160, "delta_k8", 128), (288, "delta_k16", 256)],
)
def test_a_thread_holds_as_many_keys_as_the_head_asks_for(d: int, entry: str, threads: int) -> None:
    call = select(replace(DELTA, d=d), H200)
    assert (call.entry, call.block[0], call.grid[0]) == (entry, threads, d // 16)
    keys = int(entry.removeprefix("delta_k")) * threads // 4
    assert d <= keys


def test_a_convolutions_blocks_take_a_head_where_it_is_normed() -> None:
    call = select(CONV, H200)
    assert (call.grid, call.block) == ((16 + 16 + 32, 1, 1), (128, 1, 1))
    wide = select(replace(CONV, parts=(replace(PART, cols=2048),)), H200)
    assert (wide.grid, wide.block) == ((1, 1, 1), (1024, 1, 1))


def test_gate_projections_are_split_as_the_spec_says() -> None:
    """A share is of whole 64 rows, so that there may be fewer shares than asked for."""
    whole = select(PROJECTIONS, H200)
    assert whole.grid == (1, 1, 1)
    split = select(replace(PROJECTIONS, k=200, splits=3), H200)
    assert split.grid == (1, 2, 1)
    assert split.scratch_bytes(ScratchKind.PARTIALS) == 4 * 2 * 2 * 32


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (replace(DELTA, m=0), r"delta rows: expected at least 1, got 0"),
        (replace(DELTA, y=None), r"delta result: expected f32 rows or a quantized form, got neither"),
        (replace(DELTA, key_heads=5), r"delta value heads: expected a multiple of the key heads, got \(32, 5\)"),
        (replace(DELTA, d=40), r"delta head: expected a multiple of 32 values, at most 1024, got 40"),
        (replace(DELTA, d=1056), r"delta head: expected a multiple of 32 values, at most 1024, got 1056"),
        (replace(DELTA, state=Address("s", 4)), r"delta state: expected a buffer at a multiple of 4 values, .* byte 4"),
        (replace(DELTA, value_heads=65536), r"delta value heads: expected at most 65535, got 65536"),
        (replace(DELTA, quantized=Quantized(A, 3)), r"delta quantized: expected 1 or 2 planes, got 3"),
        (replace(CONV, m=0), r"conv rows: expected at least 1, got 0"),
        (replace(CONV, taps=1), r"conv taps: expected 2 to 8, got 1"),
        (replace(CONV, taps=9), r"conv taps: expected 2 to 8, got 9"),
        (replace(CONV, parts=(PART,) * 5), r"conv parts: expected 1 to 4, got 5"),
        (replace(CONV, parts=(replace(PART, cols=100),)), r"conv l2 norm: expected a divisor of the 2048 channels"),
        (replace(CONV, parts=(replace(PART, channels=0),)), r"conv channels: expected at least 1, got 0"),
        (L2Spec(KEYS, KEYS, 1, 0, 1e-6), r"l2 norm width: expected at least 1, got 0"),
        (replace(GATES, beta=A), r"gates: expected b and beta, or neither"),
        (replace(GATES, heads=0), r"gates heads: expected at least 1, got 0"),
        (replace(GATES, m=0), r"gates rows: expected at least 1, got 0"),
        (replace(PROJECTIONS, m=0), r"gate projections rows: expected 1 to 65535, got 0"),
        (replace(PROJECTIONS, splits=33), r"gate projections splits: expected 1 to 32, got 33"),
        (replace(PROJECTIONS, k=0), r"gate projections: expected at least 1x1, got \(0, 32\)"),
    ],
)
def test_what_no_kernel_runs_is_refused(spec: Spec, message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        select(spec, H200)
