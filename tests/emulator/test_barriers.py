"""Barriers in shared memory and bulk copies: what lands, who waits, and what is read too soon."""

import numpy as np
import pytest

from lanelink.lowering.emulator import EmulatorError

START = """
    .shared .align 16 .b8 tile[2048]; .shared .align 8 .b64 full[2];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, full; setp.eq.u32 %p1, %r1, 0;
    mad.lo.u32 %r4, %r1, 16, %r2; mul.wide.u32 %q2, %r1, 16; add.u64 %q3, %q1, %q2; mov.u32 %r10, %ctaid.x;
    mul.wide.u32 %q4, %r10, 1024; add.u64 %q3, %q3, %q4; add.u64 %q5, %q0, %q4;
    @%p1 mbarrier.init.shared::cta.b64 [%r3], 1; @%p1 mbarrier.init.shared::cta.b64 [%r3+8], 1;
    @%p1 fence.mbarrier_init.release.cluster;
"""
"""%q5: a block's 1024 bytes of the source; %q3: a thread's 16 of the result; %r2: the tile; %r4: a thread's part."""

EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;"
COPY = "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%q5], 1024, [%r3];"
READ = "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r4]; st.global.v4.u32 [%q3], {%r6, %r7, %r8, %r9};"
AGAIN = READ.replace("[%r4]", "[%r4+1024]").replace("[%q3]", "[%q3+0]")


def wait(name: str, parity: int = 0, place: str = "[%r3]") -> str:
    return f"{name}: mbarrier.try_wait.parity.shared::cta.b64 %p2, {place}, {parity}; @!%p2 bra {name};"


def run(device, body: str, blocks: int = 2) -> np.ndarray:
    """What 64 threads of each block store, (blocks, 64, 4), of the source 0, 1, 2, ..."""
    x = np.arange(512).astype("u4")
    out = device.put(np.zeros(512, "u4"))
    device.run(START + body, [device.put(x), out], blocks, 64)
    return device.get(out, "u4", 512).reshape(2, 64, 4)


WHOLE = np.arange(512).reshape(2, 64, 4)


def test_what_waits_reads_what_was_copied(racing) -> None:
    assert (run(racing, f"bar.sync 0; {EXPECT} {COPY} {wait('w')} {READ}") == WHOLE).all()


def test_bytes_may_come_before_they_are_expected(racing) -> None:
    assert (run(racing, f"bar.sync 0; {COPY} {EXPECT} {wait('w')} {READ}") == WHOLE).all()


def test_halves_of_a_phase(racing) -> None:
    low = COPY.replace("1024", "512")
    high = low.replace("[%r2]", "[%r2+512]").replace("[%q5]", "[%q5+512]")
    assert (run(racing, f"bar.sync 0; {EXPECT} {low} {high} {wait('w')} {READ}") == WHOLE).all()


def test_a_second_phase_of_the_same_barrier(racing) -> None:
    """Block 0's bytes first, then each block's own over them."""
    first = COPY.replace("%q5", "%q0")
    body = f"bar.sync 0; {EXPECT} {first} {wait('w')} {READ} bar.sync 0; {EXPECT} {COPY} {wait('v', 1)} {READ}"
    assert (run(racing, body) == WHOLE).all()


def test_the_phase_before_is_over(racing) -> None:
    """A wait for the other parity of a barrier that has had no phase yet goes through at once."""
    assert (run(racing, f"bar.sync 0; {wait('v', 1)} {EXPECT} {COPY} {wait('w')} {READ}") == WHOLE).all()


def test_of_two_barriers_each_waits_for_its_own(device) -> None:
    second = COPY.replace("[%r2]", "[%r2+1024]").replace("[%r3]", "[%r3+8]")
    other = EXPECT.replace("[%r3]", "[%r3+8]")
    begun = f"bar.sync 0; {EXPECT} {COPY} {other} {second}"
    assert (run(device, f"{begun} {wait('w', 0, '[%r3+8]')} {AGAIN}") == WHOLE).all()
    with pytest.raises(EmulatorError, match=r"ld\.shared.*unwritten bytes"):
        run(device, f"{begun} {wait('w')} {AGAIN}")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"bar.sync 0; {EXPECT} {COPY} bar.sync 0; {READ}", r"ld\.shared.*unwritten bytes"),
        (f"st.shared.u32 [%r4], 0; bar.sync 0; {EXPECT} {COPY} {READ}", r"ld\.shared.*unwritten bytes"),
        (f"bar.sync 0; {EXPECT} {wait('w')} {READ}", "expected another thread to write what this loop waits for"),
        (f"bar.sync 0; {COPY} {wait('w')} {READ}", "expected another thread to write what this loop waits for"),
        (f"bar.sync 0; {EXPECT} {COPY.replace('1024', '512')} {wait('w')} {READ}", "expected another thread to write"),
        (f"bar.sync 0; {EXPECT} {EXPECT} {COPY}", "expected at most 1 arrivals a phase, got one more"),
        (f"bar.sync 0; {EXPECT} {COPY.replace('1024', '1000')}", "expected a copy of a multiple of 16 bytes, got 1000"),
        (f"bar.sync 0; {EXPECT} {COPY.replace('[%q5]', '[%q5+4]')}", "expected alignment to 16 bytes"),
        (f"bar.sync 0; {EXPECT} {COPY.replace('[%q5]', '[%q5+1024]')}", "read of 16 bytes at global.*past the end"),
        (f"bar.sync 0; {EXPECT} {COPY.replace('[%r2]', '[%r2+1536]')}", "write of 16 bytes at shared address"),
        ("bar.sync 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], 0;", "expected 1 to 1048575 arrivals, got 0"),
        (
            "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @%p2 bra end; end:",
            r"read of 8 bytes at shared address.*unwritten",
        ),
    ],
    ids=[
        "no wait",
        "over what was written before",
        "no copy",
        "none expected",
        "half of it",
        "an arrival too many",
        "a size that is not whole pieces",
        "an odd source",
        "a source past the end",
        "a target past the end",
        "no arrivals",
        "no barrier there",
    ],
)
def test_what_is_wrong_is_found(device, body: str, message: str) -> None:
    with pytest.raises(EmulatorError, match=message):
        run(device, body)


def test_a_copy_over_what_another_thread_may_still_read(racing) -> None:
    fill = "st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1}; bar.sync 0;"
    with pytest.raises(EmulatorError, match=r"cp\.async\.bulk.*race: write at shared address"):
        run(racing, f"{fill} {READ} {EXPECT} {COPY} {wait('w')}")


def test_what_an_atomic_of_shared_memory_orders(racing) -> None:
    """Each warp counts itself off; the one that comes last reads what the other wrote."""
    count = ".shared .align 4 .u32 count; mov.u32 %r11, count; @%p1 st.shared.u32 [%r11], 0; bar.sync 0;"
    write = "xor.b32 %r12, %r1, 32; mad.lo.u32 %r13, %r12, 16, %r2; st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};"
    arrive = """bar.warp.sync 0xffffffff; and.b32 %r14, %r1, 31; mov.u32 %r15, 0; setp.eq.u32 %p3, %r14, 0;
        @%p3 atom.acq_rel.cta.shared::cta.add.u32 %r15, [%r11], 1;
        shfl.sync.idx.b32 %r15, %r15, 0, 31, 0xffffffff; bar.warp.sync 0xffffffff; setp.ne.u32 %p4, %r15, 1;
        @%p4 bra end;"""
    read = "ld.shared.u32 %r6, [%r13]; st.global.u32 [%q3], %r6; end:"
    out = run(racing, count + write + arrive + read, 1)[0, :, 0]
    assert out[32:].tolist() == list(range(32)) and not out[:32].any()
    with pytest.raises(EmulatorError, match=r"ld\.shared.*race: read at shared address"):
        run(racing, count + write + arrive.replace("acq_rel", "relaxed") + read, 1)
