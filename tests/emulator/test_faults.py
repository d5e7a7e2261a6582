"""Each kind of bad access, planted in a small kernel, and the words of its report."""

import numpy as np
import pytest

from lanelink.lowering.emulator import Emulator, EmulatorError

INDEX = "mov.u32 %r1, %tid.x; mul.wide.u32 %q5, %r1, 4; add.u64 %q6, %q0, %q5; mov.u32 %r2, 1;"


def test_read_past_the_end(device) -> None:
    address = device.put(np.zeros(30, "f4"), "weights")
    with pytest.raises(EmulatorError) as caught:
        device.run(f"{INDEX}\nld.global.f32 %f1, [%q6];", [address])
    assert str(caught.value) == (
        "kernel k, test:12 (ld.global.f32), block (0, 0, 0) thread (30, 0, 0): read of 4 bytes at global address "
        f"{address + 120:#x}: expected memory of a live allocation, got 0 bytes past the end of allocation "
        f"'weights' of 120 bytes at {address:#x}"
    )


def test_write_before_the_start(device) -> None:
    address = device.emulator.alloc(128, "sums")
    with pytest.raises(EmulatorError, match=r"write of 4 bytes .* got 8 bytes before allocation 'sums' of 128 bytes"):
        device.run(f"{INDEX} st.global.u32 [%q6-8], %r2;", [address])


def test_null_and_far_addresses(device) -> None:
    device.put(np.zeros(4, "u4"), "only")
    for address in (0, 16, 0x7F00_0000_0000 - 4, 0x7FFF_0000_0000, 0xFFFF_FFFF_FFFF_FFF0):
        for access in ("ld.global.u32 %r3, [%q0];", "st.global.u32 [%q0], %r2;", "ld.global.u8 %h1, [%q0];"):
            with pytest.raises(EmulatorError, match=f"at global address {address:#x}: expected memory of a live"):
                device.run(f"{INDEX} {access}", [address])


def test_vector_that_ends_past_an_allocation(device) -> None:
    address = device.put(np.zeros(6, "u4"), "short")
    with pytest.raises(EmulatorError, match=r"thread \(1, 0, 0\): read of 16 bytes .* inside allocation 'short'"):
        device.run(
            "mov.u32 %r1, %tid.x; mul.wide.u32 %q5, %r1, 16; add.u64 %q6, %q0, %q5;"
            "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%q6];",
            [address],
        )


@pytest.mark.parametrize(
    ("access", "size", "word"),
    [
        ("ld.global.u32 %r3, [%q6+2]", 4, "read"),
        ("st.global.u16 [%q6+1], %h1", 2, "write"),
        ("ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%q6]", 16, "read"),
        ("atom.global.add.u32 %r3, [%q6+1], 1", 4, "write"),
    ],
)
def test_misaligned(device, access: str, size: int, word: str) -> None:
    address = device.put(np.zeros(256, "u4"))
    with pytest.raises(EmulatorError, match=f"{word} of {size} bytes at .*: expected alignment to {size} bytes, got"):
        device.run(f"{INDEX} mov.b16 %h1, 1; {access};", [address])


def test_use_after_free(device) -> None:
    address = device.put(np.zeros(32, "u4"), "old")
    device.emulator.free(address)
    with pytest.raises(EmulatorError, match="got inside freed allocation 'old' of 128 bytes"):
        device.run(f"{INDEX} ld.global.u32 %r3, [%q6];", [address])
    with pytest.raises(EmulatorError, match="free: expected the address of a live allocation"):
        device.emulator.free(address)


def test_read_of_what_nobody_wrote(device) -> None:
    address = device.emulator.alloc(128, "partials")
    device.emulator.write(address, np.zeros(20, "u4"))
    with pytest.raises(
        EmulatorError, match=r"thread \(20, 0, 0\): read of 4 bytes .*: expected memory that was written, got unwritten"
    ):
        device.run(f"{INDEX} ld.global.u32 %r3, [%q6];", [address])


def test_what_a_kernel_wrote_may_be_read(device) -> None:
    address = device.emulator.alloc(128)
    device.run(f"{INDEX} st.global.u32 [%q6], %r1; ld.global.u32 %r3, [%q6];", [address])
    device.run(f"{INDEX} ld.global.u32 %r3, [%q6];", [address])
    assert (device.get(address, "u4", 32) == np.arange(32)).all()


def test_one_unwritten_byte_of_a_word(device) -> None:
    address = device.emulator.alloc(4, "word")
    device.emulator.write(address, b"abc")
    with pytest.raises(EmulatorError, match="expected memory that was written"):
        device.run("ld.global.u32 %r3, [%q0];", [address])
    with pytest.raises(EmulatorError, match="got byte 3 of 4 unwritten"):
        device.emulator.read(address, 4)


def test_atomic_on_unwritten_memory(device) -> None:
    address = device.emulator.alloc(4, "counter")
    with pytest.raises(
        EmulatorError, match=r"expected memory that was written, got unwritten bytes inside .*'counter'"
    ):
        device.run("atom.global.add.u32 %r3, [%q0], 1;", [address])


SHARED = ".shared .align 4 .b8 first[64]; .shared .align 4 .b8 second[64]; mov.u32 %r3, first;"


def test_shared_overflow(device) -> None:
    body = f"{SHARED} {INDEX} shl.b32 %r4, %r1, 2; add.u32 %r4, %r3, %r4; st.shared.u32 [%r4], %r1;"
    with pytest.raises(
        EmulatorError,
        match=r"thread \(16, 0, 0\): write of 4 bytes at shared address .* got 0 bytes past the end of first of 64",
    ):
        device.run(body, [0])


def test_shared_beyond_all(device) -> None:
    for offset in (1 << 20, -64, -(1 << 31)):
        with pytest.raises(EmulatorError, match=r"at shared address .*: expected memory of a live allocation"):
            device.run(f"{SHARED} {INDEX} st.shared.u32 [%r3+{offset}], %r1;", [0])


def test_dynamic_shared_smaller_than_used(device) -> None:
    body = f"{INDEX} shl.b32 %r4, %r1, 2; mov.u32 %r3, more; add.u32 %r4, %r3, %r4; st.shared.u32 [%r4], %r1;"
    outside = ".extern .shared .align 16 .b8 more[];"
    device.run(body, [0], shared=128, outside=outside)
    with pytest.raises(EmulatorError, match="0 bytes past the end of dynamic shared memory of 100 bytes"):
        device.run(body, [0], shared=100, outside=outside)
    with pytest.raises(EmulatorError, match="past the end of dynamic shared memory of 0 bytes"):
        device.run(body, [0], outside=outside)


def test_shared_memory_of_a_kernel_that_has_none(device) -> None:
    with pytest.raises(EmulatorError, match="got there is no shared memory in this launch"):
        device.run("mov.u32 %r1, 4; st.shared.u32 [%r1], %r1;", [0])


def test_unwritten_shared(device) -> None:
    body = f"{SHARED} {INDEX} setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [first], %r1; ld.shared.u32 %r5, [first+4];"
    with pytest.raises(EmulatorError, match=r"expected memory that was written, got unwritten bytes in first"):
        device.run(body, [0])


def test_local_overflow(device) -> None:
    with pytest.raises(
        EmulatorError, match=r"write of 4 bytes at local address 0x10.* past the end of mine of 16 bytes"
    ):
        device.run(".local .align 4 .b8 mine[16]; mov.u32 %r1, 0; st.local.u32 [mine+16], %r1;", [0])


def test_store_to_a_constant(device) -> None:
    with pytest.raises(
        EmulatorError, match=r"expected memory that may be written, got constant bytes inside .*'table'"
    ):
        device.run(
            "mov.u64 %q1, table; mov.u32 %r1, 0; st.global.u32 [%q1], %r1;",
            [0],
            outside=".const .u32 table[2] = {1, 2};",
        )


def test_the_first_thread_is_named(device) -> None:
    address = device.put(np.zeros(100, "u4"))
    body = """
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
        setp.lt.u32 %p1, %r3, 5; @%p1 bra end;
        mul.wide.u32 %q5, %r1, 4; add.u64 %q6, %q0, %q5; ld.global.u32 %r4, [%q6]; end:
    """
    with pytest.raises(EmulatorError, match=r"block \(3, 0, 0\) thread \(5, 0, 0\)"):
        device.run(body, [address], grid=4)


def test_a_fault_that_all_threads_share(device) -> None:
    body = "mov.u32 %r3, %tid.x; setp.lt.u32 %p1, %r3, 9; @%p1 bra end; ld.global.u32 %r4, [%q0+64]; end:"
    with pytest.raises(EmulatorError, match=r"block \(0, 0, 0\) thread \(9, 0, 0\)"):
        device.run(body, [device.put(np.zeros(16, "u4"))], grid=2)


def test_addresses_of_two_spaces(device) -> None:
    body = """
        .shared .align 4 .b8 t[4]; mov.u64 %q1, t; cvta.shared.u64 %q1, %q1; mov.u32 %r1, %tid.x;
        setp.eq.u32 %p1, %r1, 0; selp.b64 %q2, %q0, %q1, %p1; st.u32 [%q2], %r1;
    """
    with pytest.raises(EmulatorError, match="expected generic addresses of one state space"):
        device.run(body, [device.put(np.zeros(1, "u4"))])


# Launches


def test_arguments_of_wrong_size_or_number(device) -> None:
    entry = device.entry("", 2)
    eight = bytes(8)
    with pytest.raises(EmulatorError, match=r"kernel k: expected argument 1 \(p1, .u64\) of 8 bytes, got 4"):
        device.emulator.launch(entry, (1, 1, 1), (32, 1, 1), 0, [eight, bytes(4)])
    with pytest.raises(EmulatorError, match="kernel k: expected 2 arguments, got 1"):
        device.emulator.launch(entry, (1, 1, 1), (32, 1, 1), 0, [eight])


@pytest.mark.parametrize(
    ("grid", "block", "shared", "message"),
    [
        ((0, 1, 1), (32, 1, 1), 0, "expected a grid of 1 to"),
        ((1, 70000, 1), (32, 1, 1), 0, "expected a grid of 1 to"),
        ((1, 1, 1), (1, 1, 65), 0, "expected a block of 1 to"),
        ((1, 1, 1), (1024, 2, 1), 0, "expected at most 128 threads a block, got 2048"),
        ((1, 1, 1), (129, 1, 1), 0, "expected at most 128 threads a block, got 129"),
        ((1, 1, 1), (32, 1, 1), 1 << 20, "bytes of dynamic shared memory beside 0 static ones, got 1048576"),
        ((1, 1, 1), (32, 1, 1), -1, "bytes of dynamic shared memory"),
    ],
)
def test_launches_that_cannot_be(device, grid, block, shared: int, message: str) -> None:
    entry = device.entry("", 1, head=".maxntid 128, 1, 1")
    with pytest.raises(EmulatorError, match=message):
        device.emulator.launch(entry, grid, block, shared, [bytes(8)])


def test_required_block(device) -> None:
    entry = device.entry("", 1, head=".reqntid 64")
    device.emulator.launch(entry, (1, 1, 1), (64, 1, 1), 0, [bytes(8)])
    with pytest.raises(EmulatorError, match=r"expected blocks of exactly \(64, 1, 1\), got \(32, 1, 1\)"):
        device.emulator.launch(entry, (1, 1, 1), (32, 1, 1), 0, [bytes(8)])


def test_local_memory_beyond_a_threads_limit(device) -> None:
    body = ".local .b8 big[1000000000]; mov.u32 %r1, 0; st.local.u8 [big], %h1;"
    with pytest.raises(EmulatorError, match="expected at most 524288 bytes of local memory, got 1000000000"):
        device.run(body, [0])
    device.run(".local .b8 big[500000]; mov.u16 %h1, 0; st.local.u8 [big+499999], %h1;", [0], block=1024, grid=2)


def test_host_copies_outside_an_allocation() -> None:
    emulator = Emulator()
    address = emulator.alloc(16, "small")
    with pytest.raises(EmulatorError, match=r"write: expected 17 bytes inside one live allocation, got .*'small'"):
        emulator.write(address, bytes(17))
    with pytest.raises(EmulatorError, match="read: expected 8 bytes inside one live allocation"):
        emulator.read(address + 12, 8)
    with pytest.raises(EmulatorError, match="alloc 'none': expected 1 to"):
        emulator.alloc(0, "none")
