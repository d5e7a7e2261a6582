"""Integer instructions against whole-number arithmetic."""

from collections.abc import Callable

import numpy as np
import pytest

EDGES = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000]
EDGES += [0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0x0123456789ABCDEF]


def values(dtype: str, seed: int, count: int = 160) -> np.ndarray:
    """Every edge, then random bits, then small numbers, in an order of its own."""
    bits = 8 * np.dtype(dtype).itemsize
    rng = np.random.default_rng(seed)
    edges = np.array([e & ((1 << bits) - 1) for e in EDGES], f"u{bits // 8}")
    some = rng.integers(0, 1 << 63, count, dtype=np.uint64).astype(f"u{bits // 8}")
    small = rng.integers(-9, 10, count // 2).astype(f"i{bits // 8}").view(f"u{bits // 8}")
    return rng.permutation(np.concatenate([edges, edges[::-1], some, small])).view(dtype)


def wrap(value: int, dtype: str) -> int:
    bits = 8 * np.dtype(dtype).itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype[0] == "i" and value >> (bits - 1) else value


def check(apply, body: str, output: str, inputs: list[np.ndarray], meaning: Callable[..., int]) -> None:
    got = apply(body, output, *inputs).tolist()
    want = [wrap(meaning(*row), output) for row in zip(*(i.tolist() for i in inputs), strict=True)]
    bad = [k for k in range(len(want)) if got[k] != want[k]]
    assert not bad, [(tuple(hex(int(i[k])) for i in inputs), hex(got[k]), hex(want[k])) for k in bad[:5]]


def field(value: int, bits: int) -> int:
    """A place or length past 255 is not defined; an H200 takes its low byte, and with 64 bits as much as 255."""
    return value & 255 if bits == 32 else min(value, 255)


def div(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rem(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)


TYPES = {"u16": "u2", "s16": "i2", "u32": "u4", "s32": "i4", "u64": "u8", "s64": "i8"}
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "div": div,
    "rem": rem,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("opcode", BINARY)
def test_two_operands(apply, opcode: str, kind: str) -> None:
    dtype = TYPES[kind]
    check(apply, f"{opcode}.{kind} %d, %a0, %a1;", dtype, [values(dtype, 1), values(dtype, 2)], BINARY[opcode])


@pytest.mark.parametrize("kind", TYPES)
def test_high_products(apply, kind: str) -> None:
    dtype = TYPES[kind]
    bits = 8 * np.dtype(dtype).itemsize
    operands = [values(dtype, 1), values(dtype, 2)]
    check(apply, f"mul.hi.{kind} %d, %a0, %a1;", dtype, operands, lambda a, b: (a * b) >> bits)
    check(
        apply,
        f"mad.hi.{kind} %d, %a0, %a1, %a2;",
        dtype,
        [*operands, values(dtype, 3)],
        lambda a, b, c: ((a * b) >> bits) + c,
    )
    check(apply, f"mad.lo.{kind} %d, %a0, %a1, %a2;", dtype, [*operands, values(dtype, 3)], lambda a, b, c: a * b + c)


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32"])
def test_wide_products(apply, kind: str) -> None:
    dtype = TYPES[kind]
    wide = f"{dtype[0]}{2 * int(dtype[1])}"
    operands = [values(dtype, 1), values(dtype, 2)]
    check(apply, f"mul.wide.{kind} %d, %a0, %a1;", wide, operands, lambda a, b: a * b)
    check(apply, f"mul.wide.{kind} %d, %a0, -3;", wide, operands[:1], lambda a: a * wrap(-3, dtype))
    check(
        apply,
        f"mad.wide.{kind} %d, %a0, %a1, %a2;",
        wide,
        [*operands, values(wide, 3)],
        lambda a, b, c: a * b + c,
    )


def test_24_bit_products(apply) -> None:
    def low(a: int) -> int:
        return wrap(a << 8, "i4") >> 8

    operands = [values("i4", 1), values("i4", 2)]
    check(apply, "mul24.lo.s32 %d, %a0, %a1;", "i4", operands, lambda a, b: low(a) * low(b))
    check(apply, "mul24.hi.s32 %d, %a0, %a1;", "i4", operands, lambda a, b: (low(a) * low(b)) >> 16)
    check(apply, "mad24.lo.s32 %d, %a0, %a1, %a0;", "i4", operands, lambda a, b: low(a) * low(b) + a)


def test_saturating_sum(apply) -> None:
    operands = [values("i4", 1), values("i4", 2)]
    for opcode, sign in (("add", 1), ("sub", -1)):
        check(
            apply,
            f"{opcode}.sat.s32 %d, %a0, %a1;",
            "i4",
            operands,
            lambda a, b, sign=sign: max(-(2**31), min(2**31 - 1, a + sign * b)),
        )


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_bitwise(apply, bits: int) -> None:
    dtype = f"u{bits // 8}"
    operands = [values(dtype, 1), values(dtype, 2)]
    check(apply, f"and.b{bits} %d, %a0, %a1;", dtype, operands, lambda a, b: a & b)
    check(apply, f"or.b{bits} %d, %a0, %a1;", dtype, operands, lambda a, b: a | b)
    check(apply, f"xor.b{bits} %d, %a0, %a1;", dtype, operands, lambda a, b: a ^ b)
    check(apply, f"not.b{bits} %d, %a0;", dtype, operands[:1], lambda a: ~a)
    check(apply, f"cnot.b{bits} %d, %a0;", dtype, operands[:1], lambda a: int(a == 0))


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_shifts(apply, bits: int) -> None:
    unsigned, signed = f"u{bits // 8}", f"i{bits // 8}"
    amounts = values("u4", 5)
    amounts[::2] %= 80
    check(
        apply,
        f"shl.b{bits} %d, %a0, %a1;",
        unsigned,
        [values(unsigned, 1), amounts],
        lambda a, b: a << b if b < bits else 0,
    )
    check(apply, f"shr.u{bits} %d, %a0, %a1;", unsigned, [values(unsigned, 1), amounts], lambda a, b: a >> min(b, bits))
    check(apply, f"shr.s{bits} %d, %a0, %a1;", signed, [values(signed, 1), amounts], lambda a, b: a >> min(b, bits))
    for amount in (0, 1, bits - 1, bits, 77):
        check(apply, f"shl.b{bits} %d, %a0, {amount};", unsigned, [values(unsigned, 1)], lambda a, n=amount: a << n)
        check(apply, f"shr.s{bits} %d, %a0, {amount};", signed, [values(signed, 1)], lambda a, n=amount: a >> n)


@pytest.mark.parametrize("mode", ["wrap", "clamp"])
def test_funnel_shifts(apply, mode: str) -> None:
    def amount(c: int) -> int:
        return c & 31 if mode == "wrap" else min(c, 32)

    operands = [values("u4", 1), values("u4", 2), values("u4", 3)]
    operands[2][::2] %= 70
    check(
        apply,
        f"shf.l.{mode}.b32 %d, %a0, %a1, %a2;",
        "u4",
        operands,
        lambda a, b, c: ((b << 32 | a) << amount(c)) >> 32,
    )
    check(apply, f"shf.r.{mode}.b32 %d, %a0, %a1, %a2;", "u4", operands, lambda a, b, c: (b << 32 | a) >> amount(c))


@pytest.mark.parametrize("table", [0x00, 0x01, 0x80, 0x96, 0xE8, 0xF8, 0x1E, 0xFE, 0xFF, 0x6A, 0xCA])
def test_lop3(apply, table: int) -> None:
    def meaning(a: int, b: int, c: int) -> int:
        return sum((table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k for k in range(32))

    operands = [values("u4", 1), values("u4", 2), values("u4", 3)]
    check(apply, f"lop3.b32 %d, %a0, %a1, %a2, {table};", "u4", operands, meaning)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bit_fields(apply, kind: str) -> None:
    dtype = TYPES[kind]
    bits = int(kind[1:])
    top = bits - 1

    def extract(a: int, b: int, c: int) -> int:
        # The manual's own steps (PTX ISA, bfe).
        position, length = field(b, bits), field(c, bits)
        raw = a & ((1 << bits) - 1)
        sign = 0 if kind[0] == "u" or length == 0 else raw >> min(position + length - 1, top) & 1
        return sum(
            (raw >> (position + i) & 1 if i < length and position + i <= top else sign) << i for i in range(bits)
        )

    places = [values("u4", 2), values("u4", 3)]
    places[0][::2] %= 80
    places[1][1::2] %= 80
    check(apply, f"bfe.{kind} %d, %a0, %a1, %a2;", dtype, [values(dtype, 1), *places], extract)


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_insert(apply, bits: int) -> None:
    dtype = f"u{bits // 8}"

    def insert(a: int, b: int, c: int, d: int) -> int:
        position, length = field(c, bits), field(d, bits)
        for i in range(length):
            if position + i >= bits or i >= bits:
                break
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
        return b

    operands = [values(dtype, 1), values(dtype, 2), values("u4", 3), values("u4", 4)]
    operands[2][::2] %= 80
    operands[3][1::2] %= 80
    check(apply, f"bfi.b{bits} %d, %a0, %a1, %a2, %a3;", dtype, operands, insert)


@pytest.mark.parametrize("bits", [32, 64])
def test_counts(apply, bits: int) -> None:
    unsigned, signed = f"u{bits // 8}", f"i{bits // 8}"
    x = values(unsigned, 1)
    check(apply, f"clz.b{bits} %d, %a0;", "u4", [x], lambda a: bits - a.bit_length())
    check(apply, f"popc.b{bits} %d, %a0;", "u4", [x], lambda a: a.bit_count())
    check(apply, f"bfind.u{bits} %d, %a0;", "u4", [x], lambda a: a.bit_length() - 1)
    check(apply, f"bfind.shiftamt.u{bits} %d, %a0;", "u4", [x], lambda a: bits - a.bit_length() if a else -1)
    check(apply, f"bfind.s{bits} %d, %a0;", "u4", [x.view(signed)], lambda a: (~a if a < 0 else a).bit_length() - 1)
    check(apply, f"brev.b{bits} %d, %a0;", unsigned, [x], lambda a: int(f"{a:0{bits}b}"[::-1], 2))


def prmt(a: int, b: int, selector: int) -> int:
    whole = b << 32 | a
    result = 0
    for k in range(4):
        nibble = selector >> (4 * k) & 15
        byte = whole >> 8 * (nibble & 7) & 255
        result |= ((255 if byte >> 7 else 0) if nibble & 8 else byte) << 8 * k
    return result


def test_permute(apply) -> None:
    operands = [values("u4", 1), values("u4", 2), values("u4", 3)]
    check(apply, "prmt.b32 %d, %a0, %a1, %a2;", "u4", operands, prmt)
    for selector in (0x3210, 0x5410, 0x7632, 0x0123, 0x4440, 0xBA98, 0xC0D1, 0x7777):
        check(
            apply,
            f"prmt.b32 %d, %a0, %a1, {selector};",
            "u4",
            operands[:2],
            lambda a, b, selector=selector: prmt(a, b, selector),
        )


def parts(value: int, dtype: str) -> list[int]:
    return np.array([value & 0xFFFFFFFF], "u4").view(dtype).tolist()


@pytest.mark.parametrize("left", ["u32", "s32"])
@pytest.mark.parametrize("right", ["u32", "s32"])
def test_dot_products(apply, left: str, right: str) -> None:
    operands = [values("u4", 1), values("u4", 2), values("u4", 3)]
    sign = {"u32": "u", "s32": "i"}

    def four(a: int, b: int, c: int) -> int:
        return c + sum(x * y for x, y in zip(parts(a, f"{sign[left]}1"), parts(b, f"{sign[right]}1"), strict=True))

    def two(first: int) -> Callable[[int, int, int], int]:
        def meaning(a: int, b: int, c: int) -> int:
            bytes_of = parts(b, f"{sign[right]}1")[first : first + 2]
            return c + sum(x * y for x, y in zip(parts(a, f"{sign[left]}2"), bytes_of, strict=True))

        return meaning

    check(apply, f"dp4a.{left}.{right} %d, %a0, %a1, %a2;", "u4", operands, four)
    check(apply, f"dp2a.lo.{left}.{right} %d, %a0, %a1, %a2;", "u4", operands, two(0))
    check(apply, f"dp2a.hi.{left}.{right} %d, %a0, %a1, %a2;", "u4", operands, two(2))


@pytest.mark.parametrize("kind", TYPES)
def test_differences(apply, kind: str) -> None:
    dtype = TYPES[kind]
    operands = [values(dtype, 1), values(dtype, 2), values(dtype, 3)]
    check(apply, f"sad.{kind} %d, %a0, %a1, %a2;", dtype, operands, lambda a, b, c: c + abs(a - b))


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_signs(apply, kind: str) -> None:
    dtype = TYPES[kind]
    check(apply, f"abs.{kind} %d, %a0;", dtype, [values(dtype, 1)], abs)
    check(apply, f"neg.{kind} %d, %a0;", dtype, [values(dtype, 1)], lambda a: -a)
