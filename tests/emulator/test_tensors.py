"""Matrix products of a warp and the loads of their fragments, against numpy."""

import numpy as np
import pytest

from lanelink.lowering.emulator import EmulatorError, PtxError

LANES = np.arange(32)
GROUP, PLACE = LANES // 4, LANES % 4


def fragment(matrix: np.ndarray, halves: int) -> np.ndarray:
    """Registers of a matrix of bytes, (rows, K), as the manual lays them: register r of lane 4 g + t holds four bytes
    from 4 t on, of row g or (of sixteen rows, odd r) g + 8, of the r-th (or r // 2-th) sixteen values."""
    count = matrix.shape[1] // 16 * halves
    registers = np.empty((32, count, 4), np.uint8)
    for r in range(count):
        row = GROUP + 8 * (r % halves)
        for b in range(4):
            registers[:, r, b] = matrix[row, 16 * (r // halves) + 4 * PLACE + b].view(np.uint8)
    return registers.view("u4")[..., 0]


def run(device, shape: str, kinds: tuple[str, str], a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """One product of each warp: a (warps, 16, K), b (warps, 8, K), c (warps, 16, 8)."""
    warps = a.shape[0]
    left = np.stack([fragment(m, 2) for m in a])
    right = np.stack([fragment(m, 1) for m in b])
    rows = np.stack([GROUP, GROUP, GROUP + 8, GROUP + 8], axis=1)
    columns = np.stack([2 * PLACE, 2 * PLACE + 1] * 2, axis=1)
    sums = c[:, rows, columns]
    together = np.concatenate([left, right, sums.view("u4")], axis=2)
    width = together.shape[2]
    names = [f"%r{k + 4}" for k in range(width)]
    na, nb = left.shape[2], right.shape[2]
    body = "mov.u32 %r1, %tid.x;" + f"mul.wide.u32 %q2, %r1, {4 * width}; add.u64 %q3, %q0, %q2;"
    body += " ".join(f"ld.global.u32 {name}, [%q3+{4 * k}];" for k, name in enumerate(names))
    groups = [f"{{{', '.join(names[i:j])}}}" for i, j in ((0, na), (na, na + nb), (na + nb, width))]
    types = f"s32.{kinds[0]}.{kinds[1]}.s32"
    body += f"mma.sync.aligned.{shape}.row.col.{types} {{%r24, %r25, %r26, %r27}}, {', '.join(groups)};"
    body += "mul.wide.u32 %q4, %r1, 16; add.u64 %q5, %q1, %q4; st.global.v4.u32 [%q5], {%r24, %r25, %r26, %r27};"
    out = device.emulator.alloc(warps * 512)
    device.run(body, [device.put(np.ascontiguousarray(together)), out], block=32 * warps)
    got = device.get(out, "i4", warps * 128).reshape(warps, 32, 4)
    result = np.empty((warps, 16, 8), np.int32)
    result[:, rows, columns] = got
    return result


@pytest.mark.parametrize("k", [16, 32])
@pytest.mark.parametrize("kinds", [("s8", "s8"), ("u8", "s8"), ("s8", "u8")])
def test_products(device, k: int, kinds: tuple[str, str]) -> None:
    rng = np.random.default_rng(k)
    a, b = (
        rng.integers(0, 256, (3, rows, k)).astype("u1").view("i1" if kind == "s8" else "u1")
        for rows, kind in zip((16, 8), kinds, strict=True)
    )
    c = rng.integers(-(2**31), 2**31, (3, 16, 8)).astype("i4")
    want = a.astype(np.int64) @ b.astype(np.int64).transpose(0, 2, 1) + c
    assert (run(device, f"m16n8k{k}", kinds, a, b, c) == want.astype("i4")).all()  # sums wrap


def test_the_largest_sums_are_exact(device) -> None:
    a, b = np.full((1, 16, 32), -128, "i1"), np.full((1, 8, 32), -128, "i1")
    b[0, 3, 7] = -127
    want = np.full((1, 16, 8), 32 * 128 * 128)
    want[0, :, 3] -= 128
    assert (run(device, "m16n8k32", ("s8", "s8"), a, b, np.zeros((1, 16, 8), "i4")) == want).all()


def load(count: int, order: str = "mov.u32 %r6, %r1;") -> str:
    """Fills 512 bytes a warp's `count` matrices come from, and loads them; `order` gives the row that a lane names."""
    names = ["%r10", "%r11", "%r12", "%r13"]
    return f"""
        .shared .align 16 .b8 tile[512];
        mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 16; add.u64 %q3, %q0, %q2; mov.u32 %r2, tile;
        ld.global.v4.u32 {{%r14, %r15, %r16, %r17}}, [%q3]; mad.lo.u32 %r3, %r1, 16, %r2;
        st.shared.v4.u32 [%r3], {{%r14, %r15, %r16, %r17}}; bar.sync 0; {order}
        mad.lo.u32 %r4, %r6, 16, %r2; {" ".join(f"mov.u32 {n}, 0;" for n in names)}
        ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{", ".join(names[:count])}}}, [%r4];
        add.u64 %q4, %q1, %q2; st.global.v4.u32 [%q4], {{{", ".join(names)}}};
    """


@pytest.mark.parametrize("count", [1, 2, 4])
def test_loads_of_fragments(racing, count: int) -> None:
    x = np.random.default_rng(count).integers(0, 1 << 32, (32, 4), dtype=np.uint64).astype("u4")
    out = racing.emulator.alloc(512)
    racing.run(load(count, "xor.b32 %r6, %r1, 3;"), [racing.put(x), out])
    want = np.zeros((32, 4), "u4")
    for k in range(count):
        want[:, k] = x[(8 * k + GROUP) ^ 3, PLACE]
    assert (racing.get(out, "u4", 128).reshape(32, 4) == want).all()


def test_lanes_past_the_matrices_name_no_row(device) -> None:
    """Of one matrix the first eight lanes' addresses count: the others' may be anything."""
    x = np.arange(128).astype("u4").reshape(32, 4)
    out = device.emulator.alloc(512)
    order = "setp.lt.u32 %p1, %r1, 8; selp.u32 %r6, %r1, 4000, %p1;"
    device.run(load(1, order), [device.put(x), out])
    assert (device.get(out, "u4", 128).reshape(32, 4)[:, 0] == x[GROUP, PLACE]).all()


def test_a_load_outside_shared_memory(device) -> None:
    order = "setp.eq.u32 %p1, %r1, 5; selp.u32 %r6, 4000, %r1, %p1;"
    with pytest.raises(EmulatorError, match=r"thread \(5, 0, 0\): read of 16 bytes at shared address 0xfa00"):
        device.run(load(4, order), [device.put(np.zeros((32, 4), "u4")), device.emulator.alloc(512)])


def test_a_load_between_rows(device) -> None:
    text = load(4).replace("mad.lo.u32 %r4, %r6, 16, %r2;", "mad.lo.u32 %r4, %r6, 12, %r2;")
    with pytest.raises(EmulatorError, match=r"thread \(1, 0, 0\).*expected alignment to 16 bytes"):
        device.run(text, [device.put(np.zeros((32, 4), "u4")), device.emulator.alloc(512)])


def test_a_load_of_what_nobody_wrote(device) -> None:
    text = load(4).replace("st.shared", "@%p0 st.shared")
    with pytest.raises(EmulatorError, match=r"thread \(0, 0, 0\): read of 16 bytes.*unwritten bytes"):
        device.run(text, [device.put(np.zeros((32, 4), "u4")), device.emulator.alloc(512)])


def test_a_load_that_no_barrier_precedes(racing) -> None:
    text = load(4, "xor.b32 %r6, %r1, 3;").replace("bar.sync 0;", "")
    with pytest.raises(EmulatorError, match="race: read at shared address"):
        racing.run(text, [racing.put(np.zeros((32, 4), "u4")), racing.emulator.alloc(512)])


PRODUCT = (
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r8}, {%r9, %r9, %r9, %r9};"
)


def test_a_lane_that_is_gone(device) -> None:
    body = f"mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 40; @%p1 ret; {PRODUCT}"
    with pytest.raises(EmulatorError, match=r"thread \(32, 0, 0\): expected all 32 lanes of warp 1.*none of lane 8"):
        device.run(body, [0], block=64)


def test_a_warp_that_is_not_whole(device) -> None:
    with pytest.raises(EmulatorError, match="expected all 32 lanes of warp 1 to take part, got none of lane 8"):
        device.run(PRODUCT, [0], block=40)


def test_lanes_that_come_later_are_waited_for(device) -> None:
    """Half of the lanes go another way first, on to a product that lies before it in the text."""
    body = f"""
        mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.ne.u32 %p1, %r2, 0; mov.u32 %r9, 5; mov.u32 %r6, 0;
        mov.u32 %r7, 0; mov.u32 %r8, 0; @%p1 bra odd;
        both: {PRODUCT} mul.wide.u32 %q2, %r1, 4; add.u64 %q3, %q0, %q2; st.global.u32 [%q3], %r5; bra end;
        odd: mov.u32 %r9, 6; bra both; end:
    """
    out = device.emulator.alloc(128)
    device.run(body, [out])
    assert (device.get(out, "u4", 32) == 5 + LANES % 2).all()


@pytest.mark.parametrize(
    "text",
    [
        PRODUCT.replace("m16n8k16", "m8n8k16"),
        PRODUCT.replace("row.col", "col.row"),
        PRODUCT.replace("s32.s8.s8.s32", "s32.s4.s4.s32"),
        PRODUCT.replace("row.col.s32", "row.col.satfinite.s32"),
        PRODUCT.replace("{%r6, %r7}", "{%r6}"),
        "@%p1 " + PRODUCT,
        "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r2];",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r2];",
        "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r1}, [%r2];",
    ],
)
def test_what_is_not_known_is_refused_by_line(device, text: str) -> None:
    with pytest.raises(PtxError, match=r"test:\d+: expected"):
        device.entry(text)
