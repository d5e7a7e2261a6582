"""Unordered accesses that must be reported, and ordered ones that must not."""

import numpy as np
import pytest

from lanelink.lowering.emulator import EmulatorError

SHARED = """
    .shared .align 4 .b8 t[1024]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, t; add.u32 %r4, %r3, %r2;
    xor.b32 %r5, %r2, 4; add.u32 %r5, %r3, %r5; mov.u32 %r6, %ctaid.x;
"""


def test_shared_write_then_read_without_a_barrier(racing) -> None:
    with pytest.raises(EmulatorError) as caught:
        racing.run(f"{SHARED} st.shared.u32 [%r4], %r1; ld.shared.u32 %r7, [%r5];", [0])
    assert (
        "(ld.shared.u32), block (0, 0, 0) thread (0, 0, 0): race: read at shared address 0x4: expected it ordered"
        in str(caught.value)
    )
    assert "after the write by block (0, 0, 0) thread (1, 0, 0)" in str(caught.value)


def test_shared_with_a_barrier(racing) -> None:
    body = f"""
        {SHARED} st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r7, [%r5]; bar.sync 0; st.shared.u32 [%r4], %r7;
    """
    racing.run(body, [0], block=128, grid=3)


def test_shared_read_then_write_without_a_barrier(racing) -> None:
    body = f"{SHARED} st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r7, [%r5]; st.shared.u32 [%r4], %r7;"
    with pytest.raises(EmulatorError, match=r"race: write at shared address .* after the read by"):
        racing.run(body, [0], block=64)


def test_two_threads_write_one_place(racing) -> None:
    body = f"{SHARED} st.shared.u32 [t+8], %r1;"
    with pytest.raises(EmulatorError, match=r"race: write at shared address 0x8"):
        racing.run(body, [0])


def test_neighbouring_bytes_are_no_race(racing) -> None:
    body = """
        .shared .align 4 .b8 t[64]; mov.u32 %r1, %tid.x; mov.u32 %r3, t; add.u32 %r4, %r3, %r1; cvt.u16.u32 %h1, %r1;
        st.shared.u8 [%r4], %h1; bar.sync 0; shl.b32 %r5, %r1, 2; and.b32 %r5, %r5, 31; add.u32 %r4, %r3, %r5;
        ld.shared.u32 %r6, [%r4]; bar.sync 0; add.u32 %r4, %r3, %r1; st.shared.u8 [%r4], %h1;
    """
    racing.run(body, [0])


def test_one_byte_of_a_word_is_a_race(racing) -> None:
    body = """
        .shared .align 4 .b8 t[64]; mov.u32 %r1, %tid.x; mov.u32 %r3, t; add.u32 %r4, %r3, %r1; cvt.u16.u32 %h1, %r1;
        shl.b32 %r7, %r1, 2; add.u32 %r8, %r3, %r7; setp.lt.u32 %p1, %r1, 8; @%p1 st.shared.u32 [%r8], %r1;
        st.shared.u8 [%r4], %h1;
    """
    with pytest.raises(EmulatorError, match=r"race: write at shared address 0x1"):
        racing.run(body, [0])


def test_a_warps_own_barrier(racing) -> None:
    ordered = f"{SHARED} st.shared.u32 [%r4], %r1; bar.warp.sync -1; ld.shared.u32 %r7, [%r5];"
    racing.run(ordered, [0], block=128)
    # Between warps it orders nothing.
    across = ordered.replace("xor.b32 %r5, %r2, 4", "xor.b32 %r5, %r2, 128")
    with pytest.raises(EmulatorError, match="race: read at shared"):
        racing.run(across, [0], block=128)
    # A shuffle orders no memory.
    shuffled = ordered.replace("bar.warp.sync -1", "shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1")
    with pytest.raises(EmulatorError, match="race: read at shared"):
        racing.run(shuffled, [0], block=128)


def test_many_readers_then_a_write_in_the_same_warp(racing) -> None:
    body = f"""
        {SHARED} setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [t], %r1; bar.warp.sync -1; ld.shared.u32 %r7, [t];
        bar.warp.sync -1; @%p1 st.shared.u32 [t], %r7;
    """
    racing.run(body, [0])
    with pytest.raises(EmulatorError, match=r"race: write at shared .* after the read by several threads"):
        racing.run(body.replace("bar.warp.sync -1; @%p1", "@%p1"), [0])


GLOBAL = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %q5, %r4, 4; add.u64 %q6, %q0, %q5;
    xor.b32 %r5, %r4, 32; mul.wide.u32 %q7, %r5, 4; add.u64 %q8, %q0, %q7;
"""


def test_blocks_that_read_what_another_writes(racing) -> None:
    out = racing.put(np.zeros(128, "u4"), "data")
    with pytest.raises(
        EmulatorError, match=r"block \(0, 0, 0\) .*race: read at global address .*'data'.*write by block \(1, 0, 0\)"
    ):
        racing.run(f"{GLOBAL} st.global.u32 [%q6], %r4; bar.sync 0; ld.global.u32 %r6, [%q8];", [out], grid=4)
    # Launches come one after another.
    racing.run(f"{GLOBAL} st.global.u32 [%q6], %r4;", [out], grid=4)
    racing.run(f"{GLOBAL} ld.global.u32 %r6, [%q8];", [out], grid=4)


def test_blocks_that_write_one_place(racing) -> None:
    out = racing.put(np.zeros(128, "u4"))
    body = f"{GLOBAL} setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%q0], %r4;"
    with pytest.raises(EmulatorError, match="race: write at global"):
        racing.run(body, [out], grid=2)
    racing.run(body, [out], grid=1)


def test_blocks_of_different_chunks(racing) -> None:
    racing.emulator._threads_at_once = 32
    out = racing.put(np.zeros(128, "u4"))
    with pytest.raises(EmulatorError, match=r"block \(1, 0, 0\) .*race: write at global .*read by block \(0, 0, 0\)"):
        racing.run(f"{GLOBAL} st.global.u32 [%q6], %r4; bar.sync 0; ld.global.u32 %r6, [%q8];", [out], grid=4)


LAST_BLOCK = """
    .shared .align 4 .u32 last; {index}
    {before} {fence} bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra wait;
    {own} mov.u32 %r9, %nctaid.x; sub.u32 %r9, %r9, 1; atom.global.inc.u32 %r10, [%q1], %r9;
    setp.eq.u32 %p2, %r10, %r9; selp.u32 %r11, 1, 0, %p2; st.shared.u32 [last], %r11;
    wait: {after} ld.shared.u32 %r12, [last]; setp.eq.u32 %p3, %r12, 0; @%p3 ret;
    mov.u32 %r20, 0; mov.u32 %r21, 0;
    sum: mul.wide.u32 %q10, %r20, 4; add.u64 %q10, %q0, %q10; ld.global.u32 %r22, [%q10]; add.u32 %r21, %r21, %r22;
    add.u32 %r20, %r20, {step}; setp.lt.u32 %p4, %r20, {count}; @%p4 bra sum;
    {again} setp.eq.u32 %p5, %r1, 0; @%p5 st.global.u32 [%q2], %r21;
"""


def last_block(**changes: str) -> str:
    parts = {
        "index": GLOBAL,
        "before": "st.global.u32 [%q6], %r4;",
        "fence": "membar.gl;",
        "own": "",
        "after": "bar.sync 0;",
        "step": "1",
        "count": "256",
        "again": "",
    }
    return LAST_BLOCK.format(**{**parts, **changes})


OWN = {
    "before": "",
    "fence": "",
    "own": "mul.wide.u32 %q11, %r2, 4; add.u64 %q11, %q0, %q11; st.global.u32 [%q11], %r2; membar.gl;",
    "count": "8",
}
GOOD = {
    "each thread fences": {},
    "one thread fences after the barrier": {"fence": "", "own": "fence.acq_rel.gpu;"},
    "one thread writes, fences and counts": OWN,
    "in place": {
        "before": "st.global.u32 [%q6], %r4; ld.global.u32 %r6, [%q3];",
        "again": "bar.sync 0; @!%p1 st.global.u32 [%q3], %r21; @!%p1 st.global.u32 [%q0], %r21;",
    },
}


@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("at_once", [32, 8192])
def test_the_last_block_to_arrive(racing, case: str, at_once: int) -> None:
    racing.emulator._threads_at_once = at_once
    data, counter = racing.emulator.alloc(1024, "partials"), racing.put(np.zeros(1, "u4"), "counter")
    total, extra = racing.emulator.alloc(4, "total"), racing.put(np.zeros(1, "u4"), "extra")
    for _ in range(3):
        racing.run(last_block(**GOOD[case]), [data, counter, total, extra], grid=8)
    assert racing.get(total, "u4", 1)[0] == (28 if case.startswith("one thread writes") else 255 * 128)
    assert racing.get(counter, "u4", 1)[0] == 0


BAD = {
    "no fence": {"fence": ""},
    "no fence of the one thread": {**OWN, "own": OWN["own"].replace("membar.gl;", "")},
    "a fence for the block alone": {"fence": "membar.cta;"},
    "a fence of one thread before the barrier": {"fence": "setp.eq.u32 %p6, %r1, 0; @%p6 membar.gl;"},
}


@pytest.mark.parametrize("case", BAD)
def test_the_last_block_without_its_fence(racing, case: str) -> None:
    data, counter = racing.emulator.alloc(1024, "partials"), racing.put(np.zeros(1, "u4"), "counter")
    total = racing.emulator.alloc(4, "total")
    with pytest.raises(EmulatorError, match=r"race: read at global address .*'partials'"):
        racing.run(last_block(**BAD[case]), [data, counter, total], grid=8)


def test_the_last_block_without_a_barrier_before_its_count(racing) -> None:
    body = last_block(fence="membar.gl;").replace("membar.gl; bar.sync 0;", "membar.gl;", 1)
    data, counter = racing.emulator.alloc(1024, "partials"), racing.put(np.zeros(1, "u4"), "counter")
    total = racing.emulator.alloc(4, "total")
    with pytest.raises(EmulatorError, match="race: read at"):
        racing.run(body, [data, counter, total], grid=4, block=64)


def test_the_last_block_without_a_barrier_after_its_count(racing) -> None:
    data, counter = racing.emulator.alloc(1024, "partials"), racing.put(np.zeros(1, "u4"), "counter")
    total = racing.emulator.alloc(4, "total")
    with pytest.raises(EmulatorError):
        racing.run(last_block(after=""), [data, counter, total], grid=8)


# Each lane writes a word; the warp that arrives last of all blocks' reads what a lane of every other wrote.
LAST_WARP = f"""
    {GLOBAL} st.global.u32 [%q6], %r4; {{before}}
    shr.u32 %r7, %r1, 5; and.b32 %r8, %r1, 31; setp.eq.u32 %p1, %r8, 0; mov.u32 %r10, 0;
    mov.u32 %r11, %nctaid.x; mul.lo.u32 %r9, %r11, 2; sub.u32 %r9, %r9, 1;
    @%p1 {{arrive}}.global.inc.u32 %r10, [%q1], %r9;
    shfl.sync.idx.b32 %r12, %r10, 0, 31, -1; {{after}} {{late}}
    setp.ne.u32 %p2, %r12, %r9; @%p2 bra DONE;
    mov.u32 %r13, 0; mov.u32 %r14, 0; mul.lo.u32 %r15, %r11, 256; mul.wide.u32 %q7, %r8, 4; add.u64 %q8, %q0, %q7;
LOOP:
    cvt.u64.u32 %q9, %r14; add.u64 %q9, %q8, %q9; ld.global.u32 %r16, [%q9]; add.u32 %r13, %r13, %r16;
    add.u32 %r14, %r14, 128; setp.lt.u32 %p3, %r14, %r15; @%p3 bra LOOP;
    mul.wide.u32 %q7, %r8, 4; add.u64 %q9, %q2, %q7; st.global.u32 [%q9], %r13;
DONE:
    ret;
"""
WARP_BARRIER = "bar.warp.sync -1;"


def test_the_last_warp_to_arrive(racing) -> None:
    data, counter = racing.emulator.alloc(1024, "partials"), racing.put(np.zeros(1, "u4"), "counter")
    sums = racing.emulator.alloc(128, "sums")
    body = LAST_WARP.format(before=WARP_BARRIER, arrive="atom.acq_rel.gpu", after=WARP_BARRIER, late="")
    for _ in range(3):
        racing.run(body, [data, counter, sums], grid=4, block=64)
    assert racing.get(sums, "u4", 32).tolist() == [8 * k + 32 * 28 for k in range(32)]
    assert racing.get(counter, "u4", 1)[0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"before": ""},
        {"after": ""},
        {"arrive": "atom.relaxed.gpu"},
        # What a warp writes after it has arrived, no other may read.
        {"late": f"st.global.u32 [%q6], %r4; {WARP_BARRIER}"},
    ],
    ids=["no barrier before", "no barrier after", "no release", "a write too late"],
)
def test_the_last_warp_without_what_orders_it(racing, wrong: dict[str, str]) -> None:
    data, counter = racing.emulator.alloc(1024, "partials"), racing.put(np.zeros(1, "u4"), "counter")
    sums = racing.emulator.alloc(128, "sums")
    right = {"before": WARP_BARRIER, "arrive": "atom.acq_rel.gpu", "after": WARP_BARRIER, "late": ""}
    with pytest.raises(EmulatorError, match=r"race: read at global address .*'partials'"):
        racing.run(LAST_WARP.format(**{**right, **wrong}), [data, counter, sums], grid=4, block=64)


def test_atomics_do_not_race(racing) -> None:
    sums = racing.put(np.zeros(4, "u4"))
    racing.run(
        f"{GLOBAL} red.global.add.u32 [%q0], 1; atom.global.max.u32 %r6, [%q0+4], %r4;", [sums], grid=4, block=64
    )
    assert racing.get(sums, "u4", 2).tolist() == [256, 255]
    with pytest.raises(EmulatorError, match="race: read at"):
        racing.run(f"{GLOBAL} red.global.add.u32 [%q0], 1; ld.global.u32 %r6, [%q0];", [sums], grid=4)


DEPENDENT = f"{GLOBAL} {{first}} griddepcontrol.wait; {{then}}"


def test_touching_the_launch_ahead_before_waiting(racing) -> None:
    data, weights = racing.put(np.zeros(128, "u4"), "data"), racing.put(np.zeros(128, "u4"), "weights")
    write = f"""
        {GLOBAL} add.u64 %q9, %q1, %q5; ld.global.u32 %r7, [%q9]; st.global.u32 [%q6], %r4;
        griddepcontrol.launch_dependents;
    """
    early_weights = "add.u64 %q9, %q1, %q5; ld.global.u32 %r7, [%q9];"
    racing.run(write, [data, weights], grid=4)
    racing.run(DEPENDENT.format(first=early_weights, then="ld.global.u32 %r6, [%q6];"), [data, weights], grid=4)
    racing.run(write, [data, weights], grid=4)
    with pytest.raises(
        EmulatorError,
        match=r"read at global .*: expected griddepcontrol.wait before touching what the launch ahead writes",
    ):
        racing.run(DEPENDENT.format(first="ld.global.u32 %r6, [%q6];", then=""), [data, weights], grid=4)
    racing.run(write, [data, weights], grid=4)
    with pytest.raises(
        EmulatorError, match=r"write at global .*: expected griddepcontrol.wait before .* the launch ahead reads"
    ):
        racing.run(
            DEPENDENT.format(first="st.global.u32 [%q9], %r4;".replace("%q9", "%q8"), then="").replace("%q0", "%q1"),
            [data, weights],
            grid=4,
        )
    racing.run(write, [data, weights], grid=4)
    # One thread waits for its block.
    one = "setp.ne.u32 %p1, %r1, 0; @%p1 bra on; griddepcontrol.wait; on: bar.sync 0; ld.global.u32 %r6, [%q6];"
    racing.run(f"{GLOBAL} {one}", [data, weights], grid=4)
