"""The arena planner: no two live buffers overlap, alignment, size, determinism, growth."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelink.passes.arena import ALIGN, ArenaPlan, Lifetime, aligned, plan_arena


@st.composite
def lifetimes(draw: st.DrawFn) -> Lifetime:
    first = draw(st.integers(0, 30))
    return Lifetime(draw(st.integers(1, 5000)), first, first + draw(st.integers(0, 12)))


def peak(buffers: list[Lifetime]) -> int:
    """The most bytes in use at any one launch: no plan takes less."""
    return max((sum(aligned(b.bytes) for b in buffers if b.first <= t <= b.last) for t in range(50)), default=0)


@given(st.lists(lifetimes(), max_size=40))
def test_live_buffers_are_apart(buffers: list[Lifetime]) -> None:
    plan = plan_arena(buffers)
    placed = list(zip(buffers, plan.offsets, strict=True))
    for k, (a, at) in enumerate(placed):
        assert at % ALIGN == 0
        assert at + a.bytes <= plan.bytes
        for b, bt in placed[k + 1 :]:
            if a.first <= b.last and b.first <= a.last:
                assert at + a.bytes <= bt or bt + b.bytes <= at
    assert peak(buffers) <= plan.bytes <= sum(aligned(b.bytes) for b in buffers)
    assert plan == plan_arena(buffers)


def test_a_chain_needs_two_buffers() -> None:
    chain = [Lifetime(1000, k, k + 1) for k in range(100)]
    assert plan_arena(chain).bytes == 2 * 1024


def test_a_buffer_never_overlays_one_read_by_the_launch_that_writes_it() -> None:
    plan = plan_arena([Lifetime(256, 0, 1), Lifetime(256, 1, 2)])
    assert plan == ArenaPlan((0, 256), 512)


def test_neighbouring_holes_join() -> None:
    small = [Lifetime(256, 0, 0), Lifetime(256, 0, 0), Lifetime(256, 0, 5)]
    plan = plan_arena([*small, Lifetime(512, 1, 1)])
    assert plan.bytes == 3 * 256
    assert plan.offsets[3] == 0


def test_nothing() -> None:
    assert plan_arena([]) == ArenaPlan((), 0)


def test_faults() -> None:
    with pytest.raises(ValueError, match=r"at least 1 byte .* got 0 bytes from 0 to 1"):
        Lifetime(0, 0, 1)
    with pytest.raises(ValueError, match="from 3 to 2"):
        Lifetime(4, 3, 2)


def test_growth_is_near_linear() -> None:
    def seconds(count: int) -> float:
        buffers = [Lifetime(1 + (k * 7919) % 100_000, k, k + 1 + k % 17) for k in range(count)]
        begun = process_time()
        plan_arena(buffers)
        return process_time() - begun

    seconds(1000)
    assert seconds(40_000) < 40 * max(seconds(4000), 0.01)
