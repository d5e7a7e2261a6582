"""Moves, comparisons and selections."""

import numpy as np
import pytest

COMPARE = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def integers(dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.choice(rng.integers(0, 1 << 63, 30, dtype=np.uint64), 300).astype(dtype)


def floats(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.choice(np.array([0.0, -0.0, 1, -1, 2.5, np.inf, -np.inf, np.nan, 2.0**-140], "f4"), 300)


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_integer_comparisons(apply, kind: str) -> None:
    dtype = f"{'u' if kind[0] == 'u' else 'i'}{int(kind[1:]) // 8}"
    a, b = integers(dtype, 1), integers(dtype, 2)
    words = {**COMPARE, **({w: COMPARE[o] for w, o in UNSIGNED.items()} if kind[0] == "u" else {})}
    for word, meaning in words.items():
        got = apply(f"setp.{word}.{kind} %p1, %a0, %a1; selp.u32 %d, 7, 9, %p1;", "u4", a, b)
        assert (got == np.where(meaning(a, b), 7, 9)).all(), word


def test_float_comparisons(apply) -> None:
    a, b = floats(1), floats(2)
    either = np.isnan(a) | np.isnan(b)
    for word, meaning in COMPARE.items():
        got = apply(f"setp.{word}.f32 %p1, %a0, %a1; selp.u32 %d, 1, 0, %p1;", "u4", a, b)
        assert (got == (meaning(a, b) & ~either)).all(), word
        got = apply(f"setp.{word}u.f32 %p1, %a0, %a1; selp.u32 %d, 1, 0, %p1;", "u4", a, b)
        assert (got == (meaning(a, b) | either)).all(), f"{word}u"
    for word, want in (("num", ~either), ("nan", either)):
        got = apply(f"setp.{word}.f32 %p1, %a0, %a1; selp.u32 %d, 1, 0, %p1;", "u4", a, b)
        assert (got == want).all(), word
    got = apply("setp.eq.ftz.f32 %p1, %a0, 0f00000000; selp.u32 %d, 1, 0, %p1;", "u4", a)
    assert (got == (np.abs(a) < 2.0**-126)).all()


@pytest.mark.parametrize("join", ["and", "or", "xor"])
def test_joined_comparisons(apply, join: str) -> None:
    a, b = integers("i4", 1), integers("i4", 2)
    function = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[join]
    for negated in ("", "!"):
        third = (a > 0) if not negated else ~(a > 0)
        body = f"""
            setp.gt.s32 %p3, %a0, 0;
            setp.lt.{join}.s32 %p1|%p2, %a0, %a1, {negated}%p3;
            selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; or.b32 %d, %r1, %r2;
        """
        got = apply(body, "u4", a, b)
        assert (got == function(a < b, third) + 2 * function(~(a < b), third)).all()


def test_set_and_select(apply) -> None:
    a, b = integers("i4", 1), integers("i4", 2)
    assert (apply("set.lt.u32.s32 %d, %a0, %a1;", "u4", a, b) == np.where(a < b, 0xFFFFFFFF, 0)).all()
    assert (apply("set.lt.f32.s32 %d, %a0, %a1;", "f4", a, b) == (a < b)).all()
    assert (apply("slct.s32.s32 %d, %a0, %a1, %a0;", "i4", a, b) == np.where(a >= 0, a, b)).all()
    c = floats(3)
    assert (apply("slct.u32.f32 %d, 1, 2, %a0;", "u4", c) == np.where(c >= 0, 1, 2)).all()
    for kind in ("b16", "b32", "b64", "f32"):
        dtype = {"b16": "u2", "b32": "u4", "b64": "u8", "f32": "f4"}[kind]
        x, y = np.arange(300).astype(dtype), np.arange(300, 600).astype(dtype)
        got = apply(f"setp.lt.s32 %p1, %a2, %a3; selp.{kind} %d, %a0, %a1, %p1;", dtype, x, y, a, b)
        assert (got == np.where(a < b, x, y)).all()


def test_predicate_logic(apply) -> None:
    a, b = integers("i4", 1), integers("i4", 2)
    body = """
        setp.gt.s32 %p1, %a0, 0; setp.gt.s32 %p2, %a1, 0;
        and.pred %p3, %p1, %p2; or.pred %p4, %p1, %p2; xor.pred %p5, %p1, %p2; not.pred %p6, %p1; mov.pred %p7, %p6;
        selp.u32 %r1, 1, 0, %p3; selp.u32 %r2, 2, 0, %p4; selp.u32 %r3, 4, 0, %p5; selp.u32 %r4, 8, 0, %p7;
        add.u32 %d, %r1, %r2; add.u32 %d, %d, %r3; add.u32 %d, %d, %r4;
    """
    p, q = a > 0, b > 0
    assert (apply(body, "u4", a, b) == (p & q) + 2 * (p | q) + 4 * (p ^ q) + 8 * ~p).all()


def test_packing_and_unpacking(apply) -> None:
    a, b = integers("u4", 1), integers("u4", 2)
    assert (apply("mov.b64 %d, {%a0, %a1};", "u8", a, b) == (a | b.astype("u8") << 32)).all()
    wide = integers("u8", 3)
    got = apply("mov.b64 {%r1, %r2}, %a0; sub.u32 %d, %r2, %r1;", "u4", wide)
    assert (got == ((wide >> 32) - wide).astype("u4")).all()
    got = apply("mov.b32 {%h1, %h2}, %a0; mov.b32 %d, {%h2, %h1};", "u4", a)
    assert (got == (a << 16 | a >> 16)).all()
    assert (apply("mov.b64 {_, %d}, %a0;", "u4", wide) == wide >> 32).all()
    assert (apply("mov.b32 %f1, %a0; mov.b32 %d, %f1;", "u4", a) == a).all()


def test_guards_keep_the_old_value(apply) -> None:
    a = integers("i4", 1)
    got = apply("mov.u32 %d, 5; setp.gt.s32 %p1, %a0, 0; @%p1 mov.u32 %d, 6; @!%p1 add.u32 %d, %d, 10;", "u4", a)
    assert (got == np.where(a > 0, 6, 15)).all()


def test_scopes_hide_names(apply) -> None:
    a = integers("u4", 1)
    body = "{ .reg .b32 %t; add.u32 %t, %a0, 1; { .reg .b32 %t; mov.u32 %t, 100; } mov.u32 %d, %t; }"
    assert (apply(body, "u4", a) == a + np.uint32(1)).all()


def test_special_registers(device) -> None:
    names = ["tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z", "ntid.x", "nctaid.y", "laneid", "warpid"]
    names += ["lanemask_lt", "lanemask_le", "lanemask_eq", "lanemask_gt", "lanemask_ge", "nwarpid"]
    grid, block = (2, 3, 2), (5, 4, 3)
    threads, blocks = 60, 12
    body = """
        mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
        mov.u32 %r4, %tid.z; mov.u32 %r5, %ntid.y; mov.u32 %r6, %tid.y; mad.lo.u32 %r4, %r4, %r5, %r6;
        mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r4, %r4, %r5, %r6;
        mad.lo.u32 %r1, %r1, 60, %r4; mul.wide.u32 %q1, %r1, 64; add.u64 %q1, %q1, %q0;
    """
    for k, name in enumerate(names):
        body += f"mov.u32 %r7, %{name}; st.global.u32 [%q1+{4 * k}], %r7;\n"
    out = device.emulator.alloc(threads * blocks * 64)
    device.emulator.launch(device.entry(body), grid, block, 0, [out.to_bytes(8, "little")])
    got = device.get(out, "u4", threads * blocks * 16).reshape(2, 3, 2, 3, 4, 5, 16)
    z, y, x, tz, ty, tx = np.indices((2, 3, 2, 3, 4, 5))
    linear = (tz * 4 + ty) * 5 + tx
    lane = linear % 32
    bit = np.int64(1) << lane
    want = [tx, ty, tz, x, y, z, 5 + 0 * x, 3 + 0 * x, lane, linear // 32]
    want += [bit - 1, 2 * bit - 1, bit, 0xFFFFFFFF & ~(2 * bit - 1), 0xFFFFFFFF & ~(bit - 1), 64 + 0 * x]
    for k, name in enumerate(names):
        assert (got[..., k] == want[k]).all(), name
