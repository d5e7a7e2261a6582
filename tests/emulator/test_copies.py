"""Asynchronous copies into shared memory: they land when their thread waits, and what is read too soon is found."""

import numpy as np
import pytest

from lanelink.lowering.emulator import EmulatorError

START = """
    .shared .align 16 .b8 tile[1024];
    mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 16; add.u64 %q3, %q0, %q2; mov.u32 %r2, tile;
    mad.lo.u32 %r3, %r1, 16, %r2; xor.b32 %r4, %r1, 1; mad.lo.u32 %r5, %r4, 16, %r2; add.u64 %q4, %q1, %q2;
"""
"""%q3: a thread's 16 bytes of the source; %q4: of the result; %r3: of the tile; %r5: its neighbour's."""

COPY = "cp.async.cg.shared.global [%r3], [%q3], 16;"
SECOND = "cp.async.cg.shared.global [%r3+512], [%q3+512], 16;"
END = "cp.async.commit_group;"
READ = "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5]; st.global.v4.u32 [%q4], {%r6, %r7, %r8, %r9};"
READ_SECOND = READ.replace("[%r5]", "[%r5+512]")


def run(device, body: str) -> np.ndarray:
    """The result of a body over 64 values of 16 bytes, (lanes, 4)."""
    x = np.arange(256).astype("u4")
    out = device.put(np.zeros(128, "u4"))
    device.run(START + body, [device.put(x), out])
    return device.get(out, "u4", 128).reshape(32, 4)


FIRST = np.arange(128).reshape(32, 4)[np.arange(32) ^ 1]


def test_all_but_the_last_group_are_waited_for(racing) -> None:
    body = f"{COPY} {END} {SECOND} {END} cp.async.wait_group 1; bar.sync 0; {READ}"
    assert (run(racing, body) == FIRST).all()


def test_a_group_may_be_empty(racing) -> None:
    body = f"{COPY} {END} {END} cp.async.wait_group 1; bar.sync 0; {READ}"
    assert (run(racing, body) == FIRST).all()


def test_all_copies_are_waited_for_in_no_group_as_well(racing) -> None:
    body = f"{COPY} {END} {SECOND} cp.async.wait_all; bar.sync 0; {READ_SECOND}"
    assert (run(racing, body) == FIRST + 128).all()


def test_copies_of_some_threads(racing) -> None:
    """Each thread waits for its own groups: the upper half has copied twice, and waits for one."""
    body = f"""
        setp.ge.u32 %p1, %r1, 16; @!%p1 bra low; {SECOND} {END}
        low: {COPY} {END} cp.async.wait_group 0; bar.sync 0; {READ}
    """
    assert (run(racing, body) == FIRST).all()


@pytest.mark.parametrize(
    "body",
    [
        f"{COPY} {END} bar.sync 0; {READ}",
        f"{COPY} {END} cp.async.wait_group 1; bar.sync 0; {READ}",
        f"{COPY} cp.async.wait_group 0; bar.sync 0; {READ}",
        f"{COPY} {END} {SECOND} {END} cp.async.wait_group 1; bar.sync 0; {READ_SECOND}",
        f"st.shared.u32 [%r3], 0; bar.sync 0; {COPY} {END} bar.sync 0; {READ}",
    ],
    ids=["no wait", "a wait for others", "in no group", "the group after", "over what was written before"],
)
def test_a_read_before_its_wait(device, body: str) -> None:
    with pytest.raises(EmulatorError, match=r"ld\.shared.*read of 16 bytes at shared address.*unwritten bytes"):
        run(device, body)


def test_what_another_thread_copied_needs_a_barrier(racing) -> None:
    with pytest.raises(EmulatorError, match=r"ld\.shared.*race: read at shared address"):
        run(racing, f"{COPY} {END} cp.async.wait_group 0; {READ}")


def test_a_copy_over_what_another_thread_may_still_read(racing) -> None:
    fill = "st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1}; bar.sync 0;"
    with pytest.raises(EmulatorError, match=r"cp\.async.*race: write at shared address"):
        run(racing, f"{fill} {READ} {COPY} {END} cp.async.wait_group 0;")
    body = f"{fill} {READ} bar.sync 0; {COPY} {END} cp.async.wait_group 0; bar.sync 0; {READ}"
    assert (run(racing, body) == FIRST).all()


def test_a_copy_of_what_lies_outside(device) -> None:
    with pytest.raises(EmulatorError, match=r"cp\.async.*read of 16 bytes at global address.*past the end"):
        run(device, COPY.replace("[%q3]", "[%q3+768]"))
    with pytest.raises(EmulatorError, match=r"cp\.async.*write of 16 bytes at shared address.*past the end"):
        run(device, COPY.replace("[%r3]", "[%r3+768]"))
