"""Blocks that wait for each other: what lets them go on, what orders their accesses, and waits that never end."""

import numpy as np
import pytest

from lanelink.lowering.emulator import Emulator, EmulatorError

# Block b leaves 7 + b in its place, arrives, waits until all four have, then leaves the next block's value behind them.
MEET = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r2, 7; mad.lo.u32 %r3, %r1, 4, %r3; cvt.u64.u32 %q5, %r3;
    add.u64 %q6, %q0, %q5; add.u32 %r4, %r2, 7; st.global.u32 [%q6], %r4; bar.sync 0;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra meet;
    red.{order}.gpu.global.add.u32 [%q1], 1;
    wait: ld.{load}.gpu.global.u32 %r5, [%q1]; setp.lt.u32 %p2, %r5, {arrivals}; @%p2 bra wait;
    meet: bar.sync 0;
    add.u32 %r6, %r2, 1; and.b32 %r6, %r6, 3; shl.b32 %r6, %r6, 7; mad.lo.u32 %r6, %r1, 4, %r6; cvt.u64.u32 %q5, %r6;
    add.u64 %q7, %q0, %q5; ld.global.u32 %r7, [%q7]; st.global.u32 [%q6+512], %r7;
"""


def meet(device, order: str = "release", load: str = "acquire", arrivals: int = 4, together: bool = True) -> np.ndarray:
    """What the four blocks of 32 threads left behind."""
    values, counter = device.put(np.zeros(256, "u4"), "values"), device.put(np.zeros(1, "u4"), "counter")
    body = MEET.format(order=order, load=load, arrivals=arrivals)
    device.run(body, [values, counter], grid=4, together=together)
    return device.get(values, "u4", 256)[128:].reshape(4, 32)


@pytest.mark.parametrize("at_once", [32, 64, 8192])
def test_blocks_run_together_whatever_a_chunk_holds(device, at_once: int) -> None:
    device.emulator = Emulator(threads_at_once=at_once)
    assert (meet(device) == np.array([[8], [9], [10], [7]])).all()


def test_a_chunk_of_too_few_blocks(device) -> None:
    device.emulator = Emulator(threads_at_once=64)
    with pytest.raises(EmulatorError) as caught:
        meet(device, together=False)
    assert (
        "block (0, 0, 0) thread (0, 0, 0): expected another thread to write what this loop waits for, got none left "
        "that can run (2 of 4 blocks run together)" in str(caught.value)
    )


def test_a_wait_that_never_ends(device) -> None:
    with pytest.raises(EmulatorError, match=r"expected another thread to write .* \(4 of 4 blocks run together\)"):
        meet(device, arrivals=5)


def test_a_release_and_an_acquiring_load_put_accesses_in_order(racing) -> None:
    assert (meet(racing) == np.array([[8], [9], [10], [7]])).all()


@pytest.mark.parametrize(("order", "load"), [("relaxed", "acquire"), ("release", "relaxed")])
def test_weaker_ones_do_not(racing, order: str, load: str) -> None:
    with pytest.raises(EmulatorError, match=r"race: read at global address .* after the write by block"):
        meet(racing, order=order, load=load)


def test_a_loop_that_counts_its_strong_loads_is_no_wait(device) -> None:
    """Sums eight values by volatile loads: each round carries the sum on, and nobody else has to run."""
    body = """
        mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u64 %q5, %q0;
        more: ld.volatile.global.u32 %r3, [%q5]; add.u32 %r2, %r2, %r3; add.u64 %q5, %q5, 4; add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 8; @%p1 bra more; st.global.u32 [%q1], %r2;
    """
    values, sums = device.put(np.arange(8, dtype="u4")), device.put(np.zeros(1, "u4"))
    device.run(body, [values, sums], block=1)
    assert device.get(sums, "u4", 1)[0] == 28


def test_more_threads_than_any_chip_holds(device) -> None:
    entry = device.entry("bar.sync 0;", 0)
    with pytest.raises(EmulatorError, match=r"expected at most 327680 threads .* got 400 blocks of 1024 threads"):
        device.emulator.launch(entry, (400, 1, 1), (1024, 1, 1), 0, [], together=True)
