"""Shuffles, votes and the other instructions of a warp."""

import numpy as np
import pytest

from lanelink.lowering.emulator import EmulatorError

ALL = 0xFFFFFFFF


def lane_values(seed: int = 1, warps: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, (warps, 32), dtype=np.uint64).astype("u4")


def run(device, body: str, x: np.ndarray, block: int | None = None) -> np.ndarray:
    """A body that has its thread's value in %r1 and its number in %r3 leaves its result in %r2."""
    count = x.size
    text = f"""
        mov.u32 %r3, %tid.x; mul.wide.u32 %q2, %r3, 4; add.u64 %q3, %q0, %q2; ld.global.u32 %r1, [%q3];
        {body}
        add.u64 %q4, %q1, %q2; st.global.u32 [%q4], %r2;
    """
    out = device.put(np.zeros(count, "u4"))
    device.run(text, [device.put(x), out], block=block or count)
    return device.get(out, "u4", count).reshape(x.shape)


def source_of(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The manual's own steps (PTX ISA, shfl.sync)."""
    b, segment, clamp = b & 31, c >> 8 & 31, c & 31
    most = (lane & segment) | (clamp & ~segment)
    j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": (lane & segment) | (b & ~segment)}[mode]
    inside = j >= most if mode == "up" else j <= most
    return (j if inside else lane), inside


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("b", [0, 1, 5, 16, 31])
@pytest.mark.parametrize("width", [32, 16, 8])
def test_shuffles(device, mode: str, b: int, width: int) -> None:
    x = lane_values()
    c = (32 - width) << 8 | (0 if mode == "up" else 31)
    body = f"shfl.sync.{mode}.b32 %r2|%p1, %r1, {b}, {c}, -1; @!%p1 add.u32 %r2, %r2, 1;"
    got = run(device, body, x)
    want = np.empty_like(x)
    for lane in range(32):
        source, inside = source_of(mode, lane, b, c)
        want[:, lane] = x[:, source] + np.uint32(not inside)
    assert (got == want).all()


def test_shuffle_by_each_lanes_own_index(device) -> None:
    x = lane_values()
    got = run(device, "mul.lo.u32 %r4, %r3, 7; and.b32 %r4, %r4, 31; shfl.sync.idx.b32 %r2, %r1, %r4, 31, -1;", x)
    assert (got == x[:, np.arange(32) * 7 % 32]).all()


def test_shuffle_inside_a_branch(device) -> None:
    x = lane_values()
    body = """
        and.b32 %r5, %r3, 31; setp.ge.u32 %p1, %r5, 16; mov.u32 %r2, 0; @%p1 bra high;
        shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xFFFF; bra join;
        high: shfl.sync.bfly.b32 %r2, %r1, 2, 31, 0xFFFF0000;
        join:
    """
    lane = np.arange(32)
    assert (run(device, body, x) == x[:, np.where(lane < 16, lane ^ 1, lane ^ 2)]).all()


def test_lanes_that_come_later_are_waited_for(device) -> None:
    # Odd lanes go round once more before they reach the shuffle: the even ones, which are there first, must wait.
    x = lane_values()
    body = """
        and.b32 %r5, %r3, 1; mov.u32 %r6, 0; bra test;
        shuffle: shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; bra end;
        test: setp.ge.u32 %p1, %r6, %r5; @%p1 bra shuffle; add.u32 %r6, %r6, 1; add.u32 %r1, %r1, 1; bra test;
        end:
    """
    got = run(device, body, x)
    moved = x + (np.arange(32) & 1).astype("u4")
    assert (got == moved[:, np.arange(32) ^ 1]).all()


def test_shuffle_in_a_block_that_is_no_whole_number_of_warps(device) -> None:
    x = np.arange(40).astype("u4")
    got = run(device, "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", x)
    assert (got == (x ^ 1)).all()


def test_shuffle_from_a_lane_that_is_gone(device) -> None:
    body = "and.b32 %r5, %r3, 31; setp.eq.u32 %p1, %r5, 9; @%p1 ret; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;"
    with pytest.raises(EmulatorError, match=r"thread \(8, 0, 0\): expected lane 9 to take part in the shuffle"):
        run(device, body, lane_values())


def test_shuffle_from_a_lane_past_the_blocks_end(device) -> None:
    with pytest.raises(EmulatorError, match=r"thread \(32, 0, 0\): expected lane 16 to take part"):
        run(device, "shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;", np.arange(40).astype("u4"))


def test_shuffle_from_outside_the_mask(device) -> None:
    body = """
        and.b32 %r5, %r3, 31; setp.ge.u32 %p1, %r5, 16; mov.u32 %r4, 0xFFFF; @%p1 mov.u32 %r4, 0xFFFF0000;
        shfl.sync.bfly.b32 %r2, %r1, 16, 31, %r4;
    """
    with pytest.raises(EmulatorError, match=r"expected lane 16 to take part"):
        run(device, body, lane_values())


def test_a_lane_that_its_own_mask_leaves_out(device) -> None:
    with pytest.raises(EmulatorError, match=r"expected a member mask that holds lane 4 itself, got 0x0000000f"):
        run(device, "shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xF;", lane_values())


def test_a_lane_that_never_comes(device) -> None:
    body = """
        and.b32 %r5, %r3, 31; setp.eq.u32 %p1, %r5, 3; @%p1 bra past;
        shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; past: bar.sync 0;
    """
    with pytest.raises(EmulatorError, match=r"expected lane 3 of the member mask to come, got it at a barrier"):
        run(device, body, lane_values())


def test_votes(device) -> None:
    x = lane_values(2)
    x[0], x[1] = 1, 0
    p = (x & 1) != 0
    ballot = (p * (np.uint64(1) << np.arange(32, dtype=np.uint64))).sum(axis=1).astype("u4")
    setp = "and.b32 %r4, %r1, 1; setp.ne.u32 %p1, %r4, 0;"
    assert (run(device, f"{setp} vote.sync.ballot.b32 %r2, %p1, -1;", x) == ballot[:, None]).all()
    for mode, want in (("any", p.any(1)), ("all", p.all(1)), ("uni", p.any(1) == p.all(1))):
        got = run(device, f"{setp} vote.sync.{mode}.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;", x)
        assert (got == want[:, None]).all(), mode
    got = run(device, f"{setp} vote.sync.ballot.b32 %r2, !%p1, -1;", x)
    assert (got == ~ballot[:, None]).all()


def test_votes_of_halves(device) -> None:
    x = lane_values(3)
    p = ((x & 1) != 0).reshape(-1, 2, 16)
    body = """
        and.b32 %r4, %r1, 1; setp.ne.u32 %p1, %r4, 0; and.b32 %r5, %r3, 16; shl.b32 %r6, 0xFFFF, %r5;
        vote.sync.any.pred %p2, %p1, %r6; vote.sync.all.pred %p3, %p1, %r6;
        selp.u32 %r7, 1, 0, %p2; selp.u32 %r8, 2, 0, %p3; add.u32 %r2, %r7, %r8;
    """
    want = np.repeat((p.any(2) + 2 * p.all(2)), 16, axis=1)
    assert (run(device, body, x) == want).all()


def test_active_lanes(device) -> None:
    body = "and.b32 %r4, %r3, 31; mov.u32 %r2, 0; setp.gt.u32 %p1, %r4, 10; @%p1 bra on; activemask.b32 %r2; on:"
    got = run(device, body, lane_values())
    assert (got == np.where(np.arange(32) > 10, 0, (1 << 11) - 1)).all()


REDUCTIONS = {
    "add.u32": lambda v: sum(v) & ALL,
    "min.u32": min,
    "max.u32": max,
    "and.b32": lambda v: int(np.bitwise_and.reduce(np.array(v, "u4"))),
    "or.b32": lambda v: int(np.bitwise_or.reduce(np.array(v, "u4"))),
    "xor.b32": lambda v: int(np.bitwise_xor.reduce(np.array(v, "u4"))),
}


@pytest.mark.parametrize("operation", REDUCTIONS)
def test_reductions(device, operation: str) -> None:
    x = lane_values(4)
    got = run(device, f"redux.sync.{operation} %r2, %r1, -1;", x)
    assert got.tolist() == [[REDUCTIONS[operation](row)] * 32 for row in x.tolist()]
    got = run(device, f"and.b32 %r5, %r3, 16; shl.b32 %r6, 0xFFFF, %r5; redux.sync.{operation} %r2, %r1, %r6;", x)
    halves = x.reshape(-1, 2, 16).tolist()
    assert got.tolist() == [[REDUCTIONS[operation](h) for h in row for _ in range(16)] for row in halves]


def test_signed_reductions(device) -> None:
    x = lane_values(5)
    got = run(device, "redux.sync.min.s32 %r2, %r1, -1;", x).view("i4")
    assert (got == x.view("i4").min(axis=1, keepdims=True)).all()


def test_matching_lanes(device) -> None:
    x = lane_values(6) % 5
    got = run(device, "match.any.sync.b32 %r2, %r1, -1;", x)
    bits = np.uint64(1) << np.arange(32, dtype=np.uint64)
    want = ((x[:, :, None] == x[:, None, :]) * bits).sum(axis=2).astype("u4")
    assert (got == want).all()


def test_one_lane_elected(device) -> None:
    got = run(device, "elect.sync %r4|%p1, -1; selp.u32 %r2, 1, 0, %p1;", lane_values())
    assert (got == (np.arange(32) == 0)).all()
