"""Loads, stores and atomics of every space and width."""

import numpy as np
import pytest


def test_every_width(apply) -> None:
    rng = np.random.default_rng(1)
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
        x = rng.integers(0, 1 << 63, 200, dtype=np.uint64).view("u1")[: 200 * np.dtype(dtype).itemsize].view(dtype)
        moved = {"1": "b16", "2": "b16", "4": "b32", "8": "b64"}[dtype[1]]
        kind = f"f{8 * int(dtype[1])}" if dtype[0] == "f" else moved
        got = apply(f"mov.{kind} %d, %a0;", dtype, x)
        assert got.tobytes() == x.tobytes(), dtype


def test_narrow_loads_are_widened_by_their_sign(apply) -> None:
    x = np.arange(-128, 128).astype("i1")
    assert (apply("cvt.s32.s16 %d, %a0;", "i4", x) == x).all()
    assert (apply("cvt.s32.s16 %d, %a0;", "i4", x.view("u1")) == x.view("u1")).all()


@pytest.mark.parametrize(("vector", "kind", "dtype"), [("v4", "u32", "u4"), ("v4", "f32", "f4"), ("v2", "u64", "u8")])
@pytest.mark.parametrize(
    "hints", ["", ".nc", ".nc.L1::no_allocate", ".nc.L1::no_allocate.L2::128B", ".cg", ".volatile"]
)
def test_sixteen_byte_loads(device, vector: str, kind: str, dtype: str, hints: str) -> None:
    count = int(vector[1])
    x = np.arange(64 * count).astype(dtype)
    register = {"u4": "%r", "f4": "%f", "u8": "%q"}[dtype]
    first = [f"{register}{10 + k}" for k in range(count)]
    body = f"""
        mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 16; add.u64 %q3, %q0, %q2; add.u64 %q4, %q1, %q2;
        ld.global{hints}.{vector}.{kind} {{{", ".join(first)}}}, [%q3];
        st.global.{vector}.{kind} [%q4], {{{", ".join(reversed(first))}}};
    """
    out = device.emulator.alloc(x.nbytes)
    device.run(body, [device.put(x), out], block=64)
    assert (device.get(out, dtype, x.size).reshape(-1, count) == x.reshape(-1, count)[:, ::-1]).all()


@pytest.mark.parametrize(("vector", "kind"), [("v2", "u8"), ("v4", "u8"), ("v2", "u16"), ("v4", "u16"), ("v2", "u32")])
def test_small_vectors(device, vector: str, kind: str) -> None:
    count, size = int(vector[1]), int(kind[1:]) // 8
    x = np.arange(32 * count).astype(f"u{size}")
    register = "%h" if size < 4 else "%r"
    names = [f"{register}{10 + k}" for k in range(count)]
    body = f"""
        mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, {count * size}; add.u64 %q3, %q0, %q2; add.u64 %q4, %q1, %q2;
        ld.global.{vector}.{kind} {{{", ".join(names)}}}, [%q3];
        st.global.{vector}.{kind} [%q4], {{{", ".join(reversed(names))}}};
    """
    out = device.emulator.alloc(x.nbytes)
    device.run(body, [device.put(x), out])
    assert (device.get(out, f"u{size}", x.size).reshape(-1, count) == x.reshape(-1, count)[:, ::-1]).all()


def test_some_threads_load_and_store(device) -> None:
    x = np.arange(96).astype("u4")
    body = """
        mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 4; add.u64 %q3, %q0, %q2; add.u64 %q4, %q1, %q2;
        mov.u32 %r3, 1000; and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 2;
        @%p1 ld.global.u32 %r3, [%q3]; setp.lt.u32 %p2, %r1, 90; @%p2 st.global.u32 [%q4], %r3;
    """
    out = device.put(np.zeros(96, "u4"))
    device.run(body, [device.put(x), out], block=96)
    want = np.where(x % 4 == 2, x, 1000)
    want[90:] = 0
    assert (device.get(out, "u4", 96) == want).all()


def test_shared_memory_static_and_dynamic(device) -> None:
    body = """
        .shared .align 4 .b8 fixed[256];
        mov.u32 %r1, %tid.x; mov.u32 %r9, %ctaid.x; mad.lo.u32 %r8, %r9, 64, %r1; shl.b32 %r2, %r1, 2;
        mov.u32 %r3, fixed; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r8;
        mov.u32 %r5, more; add.u32 %r6, %r5, %r2; mul.lo.u32 %r7, %r8, 3; st.shared.u32 [%r6], %r7;
        bar.sync 0;
        mov.u32 %r10, 252; sub.u32 %r10, %r10, %r2; add.u32 %r4, %r3, %r10; add.u32 %r6, %r5, %r10;
        ld.shared.u32 %r11, [%r4]; ld.shared.u32 %r12, [%r6]; add.u32 %r11, %r11, %r12;
        mul.wide.u32 %q1, %r8, 4; add.u64 %q1, %q0, %q1; st.global.u32 [%q1], %r11;
    """
    out = device.emulator.alloc(3 * 256)
    device.run(body, [out], grid=3, block=64, shared=256, outside=".extern .shared .align 16 .b8 more[];")
    want = 4 * (np.arange(3)[:, None] * 64 + 63 - np.arange(64))
    assert (device.get(out, "u4", 192).reshape(3, 64) == want).all()


def test_generic_addresses(device) -> None:
    body = """
        .shared .align 8 .b8 tile[256]; .local .align 8 .b8 mine[16];
        mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 4;
        mov.u64 %q3, tile; cvta.shared.u64 %q4, %q3; add.u64 %q5, %q4, %q2; st.u32 [%q5], %r1;
        mov.u64 %q6, mine; cvta.local.u64 %q7, %q6; mul.lo.u32 %r2, %r1, 5; st.u32 [%q7+4], %r2;
        bar.sync 0;
        cvta.to.shared.u64 %q8, %q5; ld.shared.u32 %r3, [%q8]; ld.local.u32 %r4, [mine+4];
        isspacep.shared %p1, %q5; isspacep.local %p2, %q7; isspacep.global %p3, %q0; isspacep.global %p4, %q5;
        selp.u32 %r5, 1, 0, %p1; selp.u32 %r6, 2, 0, %p2; selp.u32 %r7, 4, 0, %p3; selp.u32 %r8, 8, 0, %p4;
        add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6; add.u32 %r3, %r3, %r7;
        add.u32 %r3, %r3, %r8;
        cvta.to.global.u64 %q9, %q0; add.u64 %q9, %q9, %q2; st.u32 [%q9], %r3;
    """
    out = device.emulator.alloc(256)
    device.run(body, [out], block=64)
    assert (device.get(out, "u4", 64) == 6 * np.arange(64) + 7).all()


def test_local_memory_is_each_threads_own(device) -> None:
    body = """
        .local .align 4 .b8 stack[64];
        mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u64 %q2, stack;
        fill: mul.wide.u32 %q3, %r2, 4; add.u64 %q3, %q2, %q3; mad.lo.u32 %r3, %r1, 100, %r2; st.local.u32 [%q3], %r3;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 16; @%p1 bra fill;
        and.b32 %r4, %r1, 15; mul.wide.u32 %q3, %r4, 4; add.u64 %q3, %q2, %q3; ld.local.u32 %r5, [%q3];
        mul.wide.u32 %q4, %r1, 4; add.u64 %q4, %q0, %q4; st.global.u32 [%q4], %r5;
    """
    out = device.emulator.alloc(256)
    device.run(body, [out], block=64)
    thread = np.arange(64)
    assert (device.get(out, "u4", 64) == thread * 100 + thread % 16).all()


def test_module_variables(device) -> None:
    outside = """
        .const .align 4 .u32 table[4] = {10, 20, 0x1E, 40};
        .global .align 4 .f32 scale = 0f40000000;
        .global .align 4 .u32 sum;
    """
    body = """
        mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; mul.wide.u32 %q2, %r2, 4; mov.u64 %q3, table; add.u64 %q3, %q3, %q2;
        ld.const.u32 %r3, [%q3]; ld.global.f32 %f1, [scale]; cvt.rzi.u32.f32 %r4, %f1; mul.lo.u32 %r3, %r3, %r4;
        red.global.add.u32 [sum], %r1; ld.const.u32 %r5, [table+8]; add.u32 %r3, %r3, %r5;
        mul.wide.u32 %q4, %r1, 4; add.u64 %q4, %q0, %q4; st.global.u32 [%q4], %r3;
    """
    out = device.emulator.alloc(128)
    device.run(body, [out], outside=outside)
    assert (device.get(out, "u4", 32) == np.tile([50, 70, 90, 110], 8)).all()


def test_parameters_through_an_address(device) -> None:
    text = """
        .version 8.4 .target sm_90 .address_size 64
        .visible .entry k(.param .align 8 .b8 pack[24], .param .u64 out) {
            .reg .b32 %r<9>; .reg .b64 %q<9>;
            mov.u32 %r1, %tid.x; mov.b64 %q1, pack; mul.wide.u32 %q2, %r1, 4; add.u64 %q3, %q1, %q2;
            ld.param.u32 %r2, [%q3+8]; ld.param.u64 %q4, [out]; ld.param.v2.u32 {%r3, %r4}, [pack];
            add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u64 %q4, %q4, %q2; st.global.u32 [%q4], %r2; ret;
        }
    """
    entry = device.emulator.load(text).entries["k"]
    out = device.emulator.alloc(16)
    values = np.arange(6).astype("u4") * 7
    device.emulator.launch(entry, (1, 1, 1), (4, 1, 1), 0, [values.tobytes(), out.to_bytes(8, "little")])
    assert (device.get(out, "u4", 4) == values[2:] + 7).all()


def test_asynchronous_copies(device) -> None:
    x = np.arange(128).astype("u4")
    body = """
        .shared .align 16 .b8 tile[512];
        mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 16; add.u64 %q3, %q0, %q2; shl.b32 %r2, %r1, 4;
        mov.u32 %r3, tile; add.u32 %r4, %r3, %r2; cp.async.cg.shared.global [%r4], [%q3], 16;
        cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
        xor.b32 %r5, %r2, 16; add.u32 %r4, %r3, %r5; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r4];
        add.u64 %q4, %q1, %q2; st.global.v4.u32 [%q4], {%r6, %r7, %r8, %r9};
    """
    out = device.emulator.alloc(512)
    device.run(body, [device.put(x), out])
    assert (device.get(out, "u4", 128).reshape(16, 2, 4) == x.reshape(16, 2, 4)[:, ::-1]).all()


ATOMICS = {
    "add.u32": lambda old, v: (old + v) & 0xFFFFFFFF,
    "inc.u32": lambda old, v: 0 if old >= v else old + 1,
    "dec.u32": lambda old, v: v if old == 0 or old > v else old - 1,
    "min.u32": min,
    "max.u32": max,
    "and.b32": lambda old, v: old & v,
    "or.b32": lambda old, v: old | v,
    "xor.b32": lambda old, v: old ^ v,
    "exch.b32": lambda old, v: v,
}


@pytest.mark.parametrize("operation", ATOMICS)
@pytest.mark.parametrize("places", [1, 7, 256])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics_run_in_thread_order(device, operation: str, places: int, space: str) -> None:
    rng = np.random.default_rng(places)
    start = rng.integers(0, 50, places).astype("u4")
    operands = rng.integers(0, 40, 256).astype("u4")
    if space == "global":
        setup, address, finish = "", "%q0", ""
    else:
        setup = f"""
            .shared .align 4 .b8 t[1024]; setp.lt.u32 %p1, %r1, {places}; mul.wide.u32 %q5, %r1, 4;
            add.u64 %q6, %q0, %q5; @%p1 ld.global.u32 %r5, [%q6]; mov.u64 %q7, t; add.u64 %q8, %q7, %q5;
            @%p1 st.shared.u32 [%q8], %r5; bar.sync 0;
        """
        address = "%q7"
        finish = "bar.sync 0; @%p1 ld.shared.u32 %r5, [%q8]; @%p1 st.global.u32 [%q6], %r5;"
    body = f"""
        mov.u32 %r1, %tid.x; {setup} rem.u32 %r2, %r1, {places}; mul.wide.u32 %q3, %r2, 4; add.u64 %q3, %q3, {address};
        mul.wide.u32 %q4, %r1, 4; add.u64 %q9, %q1, %q4; ld.global.u32 %r3, [%q9];
        atom.{space}.{operation} %r4, [%q3], %r3; add.u64 %q10, %q2, %q4; st.global.u32 [%q10], %r4; {finish}
    """
    table, out = device.put(start), device.emulator.alloc(1024)
    device.run(body, [table, device.put(operands), out], block=256)
    now, seen = start.tolist(), []
    for thread in range(256):
        place = thread % places
        seen.append(now[place])
        now[place] = ATOMICS[operation](now[place], int(operands[thread]))
    assert device.get(out, "u4", 256).tolist() == seen
    assert device.get(table, "u4", places).tolist() == now


def test_compare_and_swap_and_sums_of_floats(device) -> None:
    body = """
        mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; atom.global.cas.b32 %r3, [%q0], %r1, %r2;
        mul.wide.u32 %q2, %r1, 4; add.u64 %q2, %q2, %q1; st.global.u32 [%q2], %r3;
        red.global.add.f32 [%q0+4], 0f3F000000; atom.global.add.u64 %q3, [%q0+8], 3;
        atom.global.max.s32 %r4, [%q0+16], -5;
    """
    table = device.put(np.array([0, 0, 0, 0, 0xFFFFFFF0], "u4"))
    out = device.emulator.alloc(128)
    device.run(body, [table, out])
    assert device.get(out, "u4", 32).tolist() == list(range(32))
    assert device.get(table, "u4", 1)[0] == 32
    assert device.get(table + 4, "f4", 1)[0] == 16
    assert device.get(table + 8, "u8", 1)[0] == 96
    assert device.get(table + 16, "i4", 1)[0] == -5


def test_blocks_of_many_chunks_see_atomics_in_order(device) -> None:
    body = """
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0; @%p1 ret;
        atom.global.inc.u32 %r3, [%q0], 4095; mul.wide.u32 %q2, %r1, 4; add.u64 %q2, %q2, %q1; st.global.u32 [%q2], %r3;
    """
    counter = device.put(np.zeros(1, "u4"))
    out = device.emulator.alloc(4096 * 4)
    device.run(body, [counter, out], grid=4096, block=64)
    assert (device.get(out, "u4", 4096) == np.arange(4096)).all()
    assert device.get(counter, "u4", 1)[0] == 0


def test_memory_is_reused_after_free() -> None:
    from lanelink.lowering.emulator import Emulator

    emulator = Emulator()
    for round_number in range(200):
        address = emulator.alloc(100_000, f"round {round_number}")
        assert address % 256 == 0
        emulator.write(address, bytes([round_number]) * 100_000)
        assert emulator.read(address + 99_990, 10) == bytes([round_number]) * 10
        emulator.free(address)
    # 20 MB were asked for, of which no more than 0.1 at a time.
    assert emulator._arena.bytes.size <= 1 << 21
