"""Branches, loops, early ends and barriers."""

import numpy as np
import pytest

from lanelink.lowering.emulator import Emulator, EmulatorError

STORE = "mul.wide.u32 %q9, %r1, 4; add.u64 %q9, %q9, %q0; st.global.u32 [%q9], %r2;"


def run(device, body: str, block: int = 64, grid: int = 1) -> np.ndarray:
    """A body that has its number in %r1 leaves its result in %r2."""
    start = "mov.u32 %r30, %ctaid.x; mov.u32 %r31, %ntid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %r1, %r30, %r31, %r1;"
    out = device.put(np.full(block * grid, 0xDEAD, "u4"))
    device.run(start + body, [out], grid=grid, block=block)
    return device.get(out, "u4", block * grid)


def test_nested_ifs(device) -> None:
    body = f"""
        mov.u32 %r2, 0; and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra even;
        add.u32 %r2, %r2, 1; and.b32 %r3, %r1, 2; setp.eq.u32 %p2, %r3, 0; @%p2 bra low;
        add.u32 %r2, %r2, 10; bra join;
        low: add.u32 %r2, %r2, 100; bra join;
        even: setp.gt.u32 %p3, %r1, 40; @!%p3 bra join; add.u32 %r2, %r2, 1000;
        join: add.u32 %r2, %r2, 5; {STORE}
    """
    n = np.arange(64)
    want = np.where(n % 2 == 1, 1 + np.where(n & 2, 10, 100), np.where(n > 40, 1000, 0)) + 5
    assert (run(device, body) == want).all()


def test_loops_of_different_lengths(device) -> None:
    body = f"""
        mov.u32 %r2, 0; mov.u32 %r3, 0; and.b32 %r4, %r1, 7;
        loop: setp.ge.u32 %p1, %r3, %r4; @%p1 bra done; add.u32 %r2, %r2, %r3; add.u32 %r3, %r3, 1; bra loop;
        done: shl.b32 %r3, %r3, 16; add.u32 %r2, %r2, %r3; {STORE}
    """
    n = np.arange(192) & 7
    assert (run(device, body, grid=3) == n * (n - 1) // 2 + (n << 16)).all()


def test_nested_loops_with_continue(device) -> None:
    # The inner loop skips odd values by going back to its head, so that threads are in different rounds at once.
    body = f"""
        mov.u32 %r2, 0; mov.u32 %r3, 0;
        outer: mov.u32 %r4, 0;
        inner: add.u32 %r4, %r4, 1; xor.b32 %r5, %r4, %r1; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 1;
        setp.lt.u32 %p2, %r4, 9; and.pred %p3, %p1, %p2; @%p3 bra inner;
        add.u32 %r2, %r2, %r4; @%p2 bra inner;
        add.u32 %r3, %r3, 1; and.b32 %r6, %r1, 3; setp.le.u32 %p4, %r3, %r6; @%p4 bra outer;
        {STORE}
    """
    want = []
    for n in range(64):
        total = sum(j for j in range(1, 10) if (j ^ n) & 1 == 0 or j == 9)
        want.append(total * ((n & 3) + 1))
    assert run(device, body).tolist() == want


def test_early_ends(device) -> None:
    body = f"""
        mov.u32 %r2, 7; and.b32 %r3, %r1, 3; setp.eq.u32 %p1, %r3, 1; @%p1 exit;
        setp.gt.u32 %p2, %r1, 50; @%p2 bra out; add.u32 %r2, %r2, 1; {STORE} ret;
        out: mov.u32 %r2, 99; {STORE}
    """
    n = np.arange(64)
    assert (run(device, body) == np.where(n % 4 == 1, 0xDEAD, np.where(n > 50, 99, 8))).all()


def test_values_of_waiting_threads_survive(device) -> None:
    # %r2 is written in the part that only some threads run, while the others wait with a value of theirs in it.
    body = f"""
        mul.lo.u32 %r2, %r1, 3; and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra join;
        mov.u32 %r4, 0;
        more: add.u32 %r2, %r2, 1000; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r3; @%p2 bra more;
        join: {STORE}
    """
    n = np.arange(64)
    assert (run(device, body) == 3 * n + 1000 * (n & 1)).all()


def test_branch_tables(device) -> None:
    body = f"""
        and.b32 %r3, %r1, 3; mov.u32 %r2, 1;
        table: .branchtargets a, b, c, b;
        brx.idx %r3, table;
        a: add.u32 %r2, %r2, 10; bra join;
        b: add.u32 %r2, %r2, 20; bra.uni join;
        c: add.u32 %r2, %r2, 30;
        join: {STORE}
    """
    assert (run(device, body) == 1 + np.array([10, 20, 30, 20])[np.arange(64) % 4]).all()


def test_barriers_order_shared_memory(device) -> None:
    # A tree of sums: every round reads what other threads wrote in the last.
    body = f"""
        .shared .align 4 .b8 t[1024]; mov.u32 %r4, %tid.x; shl.b32 %r5, %r4, 2; mov.u32 %r6, t; add.u32 %r6, %r6, %r5;
        st.shared.u32 [%r6], %r1; mov.u32 %r7, 128;
        round: bar.sync 0; setp.ge.u32 %p1, %r4, %r7; @%p1 bra skip;
        shl.b32 %r8, %r7, 2; add.u32 %r9, %r6, %r8; ld.shared.u32 %r10, [%r9]; ld.shared.u32 %r11, [%r6];
        add.u32 %r10, %r10, %r11; st.shared.u32 [%r6], %r10;
        skip: shr.u32 %r7, %r7, 1; setp.gt.u32 %p2, %r7, 0; @%p2 bra round;
        bar.sync 0; ld.shared.u32 %r2, [t]; {STORE}
    """
    got = run(device, body, block=256, grid=3).reshape(3, 256)
    assert (got == np.arange(768).reshape(3, 256).sum(axis=1, keepdims=True)).all()


def test_blocks_pass_different_numbers_of_barriers(device) -> None:
    body = f"""
        mov.u32 %r3, %ctaid.x; mov.u32 %r2, 0; mov.u32 %r4, 0;
        loop: setp.gt.u32 %p1, %r4, %r3; @%p1 bra done; bar.sync 0; add.u32 %r2, %r2, 1; add.u32 %r4, %r4, 1; bra loop;
        done: {STORE}
    """
    assert (run(device, body, grid=5).reshape(5, 64) == np.arange(1, 6)[:, None]).all()


def test_named_barrier_of_one_half(device) -> None:
    body = f"""
        .shared .align 4 .b8 t[256]; mov.u32 %r3, t; shl.b32 %r4, %r1, 2; add.u32 %r3, %r3, %r4; mov.u32 %r2, 1;
        setp.ge.u32 %p1, %r1, 32; @%p1 bra other;
        st.shared.u32 [%r3], %r1; bar.sync 1, 32; mov.u32 %r5, 124; sub.u32 %r5, %r5, %r4;
        mov.u32 %r6, t; add.u32 %r6, %r6, %r5; ld.shared.u32 %r2, [%r6];
        other: bar.sync 0; {STORE}
    """
    n = np.arange(64)
    assert (run(device, body) == np.where(n < 32, 31 - n, 1)).all()


def test_barrier_with_some_threads_gone(device) -> None:
    body = "setp.gt.u32 %p1, %r1, 40; @%p1 ret; bar.sync 0;"
    with pytest.raises(EmulatorError, match=r"every thread of the block at the barrier, got this one at its end"):
        run(device, body)


def test_barrier_in_a_branch(device) -> None:
    body = "setp.gt.u32 %p1, %r1, 40; @%p1 bra on; bar.sync 0; on: bar.sync 0;"
    with pytest.raises(
        EmulatorError, match=r"block \(0, 0, 0\) thread \(41, 0, 0\).* at the barrier, got this one at a barrier"
    ):
        run(device, body)


def test_a_kernel_that_does_not_end() -> None:
    emulator = Emulator(block_limit=1000)
    text = ".version 8.0 .target sm_80 .address_size 64 .entry k() { again: bra again; }"
    with pytest.raises(EmulatorError, match="expected a kernel that ends"):
        emulator.launch(emulator.load(text).entries["k"], (1, 1, 1), (32, 1, 1), 0, [])


def test_trap(device) -> None:
    with pytest.raises(EmulatorError, match=r"block \(0, 0, 0\) thread \(7, 0, 0\): expected no trap"):
        run(device, "setp.eq.u32 %p1, %r1, 7; @%p1 trap;")
