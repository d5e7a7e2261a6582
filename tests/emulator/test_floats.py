"""Floating-point instructions against exact fractions, rounded once."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from rounding import rounded

MODES = ["rn", "rz", "rm", "rp"]
_PLAIN = [0.0, -0.0, 1.0, -1.0, 1.5, 0.5, 1.0 + 2.0**-23, 1.0 - 2.0**-24, 2.0**24, 2.0**24 + 2]
_SMALL = [2.0**-149, -(2.0**-149), 3.0 * 2.0**-149, 2.0**-127, 2.0**-126]
EDGES = np.array(
    [*_PLAIN, *_SMALL, 3.4028234663852886e38, -3.4028234663852886e38, np.inf, -np.inf, np.nan],
    "f4",
)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Edges overflow, and NaN are compared, on purpose."""
    with np.errstate(all="ignore"):
        yield


def values(seed: int) -> np.ndarray:
    """Edges, random bits (all magnitudes), and values of about 1."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 32, 400, dtype=np.uint64).astype("u4").view("f4")
    return rng.permutation(np.concatenate([EDGES, EDGES, EDGES, bits, rng.standard_normal(400).astype("f4")]))


def same(got: np.ndarray, want: np.ndarray, *inputs: np.ndarray, zero_sign: bool = False) -> None:
    got, want = got.astype("f8"), want.astype("f8")
    equal = (got == want) | (np.isnan(got) & np.isnan(want))
    if zero_sign:
        equal &= np.isnan(want) | (np.signbit(got) == np.signbit(want))
    bad = np.flatnonzero(~equal)
    assert bad.size == 0, [([i[k] for i in inputs], got[k], want[k]) for k in bad[:5]]


def exact(operation, mode: str, *inputs: np.ndarray) -> np.ndarray:
    """The operation on fractions where all is finite, in plain f64 elsewhere (infinities and NaN)."""
    out: list[float] = []
    with np.errstate(all="ignore"):
        loose = operation(*(i.astype("f8") for i in inputs))
    for k, row in enumerate(zip(*inputs, strict=True)):
        if all(np.isfinite(row)):
            try:
                out.append(rounded(operation(*(Fraction(float(v)) for v in row)), mode))
                continue
            except ZeroDivisionError:
                pass
        out.append(float(loose[k]))
    return np.array(out)


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opcode", OPERATIONS)
def test_rounding_of_two_operands(apply, opcode: str, mode: str) -> None:
    a, b = values(1), values(2)
    got = apply(f"{opcode}.{mode}.f32 %d, %a0, %a1;", "f4", a, b)
    same(got, exact(OPERATIONS[opcode], mode, a, b), a, b)


def near_ties() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Products and sums whose f64 sum lies on a tie of f32 although the exact one does not."""
    rng = np.random.default_rng(9)
    n = 300
    a = (1 + rng.integers(0, 1 << 23, n) * 2.0**-23).astype("f4")
    b = (1 + rng.integers(0, 1 << 23, n) * 2.0**-23).astype("f4")
    # c + tiny: c's half ulp plus or minus far less than an f64 can hold beside it.
    c = (a.astype("f8") * 2.0**30).astype("f4")
    half = np.spacing(c) / 2
    a1 = np.where(rng.random(n) < 0.5, half, -half).astype("f4")
    b1 = (1 + np.where(rng.random(n) < 0.5, 1, -1) * 2.0**-23).astype("f4")
    tiny = (a * np.float32(2.0**-140)).astype("f4")
    return (
        np.concatenate([a, a1, tiny, a1]),
        np.concatenate([b, b1, b, np.ones(n, "f4")]),
        np.concatenate([-(a * b), c, tiny * np.float32(-1), c]).astype("f4"),
    )


@pytest.mark.parametrize("mode", MODES)
def test_fused_multiply_add(apply, mode: str) -> None:
    a, b, c = (np.concatenate(pair) for pair in zip((values(1), values(2), values(3)), near_ties(), strict=True))
    got = apply(f"fma.{mode}.f32 %d, %a0, %a1, %a2;", "f4", a, b, c)
    same(got, exact(lambda a, b, c: a * b + c, mode, a, b, c), a, b, c)


def test_fused_multiply_add_rounds_once(apply) -> None:
    # x * y is 2^-24 less 2^-70: an f64 sum with z loses the 2^-70 and is a tie, which goes to even, one step too high.
    x = np.array([2.0**-25 * (1 + 2.0**-23)], "f4")
    y = np.array([2.0 * (1 - 2.0**-23)], "f4")
    z = np.array([1.0 + 2.0**-23], "f4")
    twice = (x.astype("f8") * y + z.astype("f8")).astype("f4")
    once = apply("fma.rn.f32 %d, %a0, %a1, %a2;", "f4", x, y, z)
    assert once[0] == z[0] and twice[0] == z[0] + np.float32(2.0**-23)


def test_flush_and_saturate(apply) -> None:
    a, b = values(1), values(2)

    def flush(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < 2.0**-126, np.copysign(np.float32(0), x), x)

    with np.errstate(all="ignore"):
        same(apply("add.ftz.f32 %d, %a0, %a1;", "f4", a, b), flush(flush(a) + flush(b)), a, b, zero_sign=True)
        same(apply("mul.ftz.f32 %d, %a0, %a1;", "f4", a, b), flush(flush(a) * flush(b)), a, b, zero_sign=True)
        total = a + b
        clamped = np.where(np.isnan(total), 0, np.clip(total, 0, 1))
        same(apply("add.sat.f32 %d, %a0, %a1;", "f4", a, b), clamped, a, b)


@pytest.mark.parametrize("mode", MODES)
def test_square_roots_and_reciprocals(apply, mode: str) -> None:
    a = np.abs(values(1))
    got = apply(f"sqrt.{mode}.f32 %d, %a0;", "f4", a)
    for x, r in zip(a.tolist(), got.tolist(), strict=True):
        if not np.isfinite(x) or x == 0:
            assert r == x or (r != r and x != x)
            continue
        low, high = (
            float(np.nextafter(np.float32(r), np.float32(0))),
            float(np.nextafter(np.float32(r), np.float32(np.inf))),
        )
        square = Fraction(x)
        if mode == "rn":
            assert (Fraction(low) + Fraction(r)) ** 2 <= 4 * square <= (Fraction(high) + Fraction(r)) ** 2
        elif mode == "rp":
            assert Fraction(low) ** 2 < square <= Fraction(r) ** 2
        else:
            assert Fraction(r) ** 2 <= square < Fraction(high) ** 2
    b = values(2)
    same(apply(f"rcp.{mode}.f32 %d, %a0;", "f4", b), exact(lambda x: 1 / x, mode, b), b)


APPROXIMATE = {
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "rcp": lambda x: 1 / x,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}


@pytest.mark.parametrize("opcode", APPROXIMATE)
def test_approximate_functions(apply, opcode: str) -> None:
    a = np.concatenate([values(1), np.linspace(-20, 20, 200, dtype="f4")])
    with np.errstate(all="ignore"):
        want = APPROXIMATE[opcode](a.astype("f8")).astype("f4")
    same(apply(f"{opcode}.approx.f32 %d, %a0;", "f4", a), want, a)


def test_approximate_quotients(apply) -> None:
    a, b = values(1), values(2)
    with np.errstate(all="ignore"):
        want = a / b
    same(apply("div.approx.f32 %d, %a0, %a1;", "f4", a, b), want, a, b)
    same(apply("div.full.f32 %d, %a0, %a1;", "f4", a, b), want, a, b)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_smaller_and_larger(apply, dtype: str) -> None:
    a, b = values(1).astype(dtype), values(2).astype(dtype)
    a[:4], b[:4] = [0.0, -0.0, np.nan, np.nan], [-0.0, 0.0, 1.0, np.nan]
    kind = f"f{8 * int(dtype[1])}"
    lower = np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where((a < b) | ((a == b) & np.signbit(a)), a, b)))
    upper = np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where((a > b) | ((a == b) & np.signbit(b)), a, b)))
    same(apply(f"min.{kind} %d, %a0, %a1;", dtype, a, b), lower, a, b, zero_sign=True)
    same(apply(f"max.{kind} %d, %a0, %a1;", dtype, a, b), upper, a, b, zero_sign=True)
    if dtype == "f4":
        nan = np.isnan(a) | np.isnan(b)
        same(apply("min.NaN.f32 %d, %a0, %a1;", dtype, a, b), np.where(nan, np.nan, lower), a, b)
        both = apply("max.f32 %d, %a0, %a1;", dtype, a, b)[3:4].view("u4")
        assert both[0] == 0x7FFFFFFF


def test_signs_and_tests(apply) -> None:
    a, b = values(1), values(2)
    same(apply("abs.f32 %d, %a0;", "f4", a), np.abs(a), a, zero_sign=True)
    same(apply("neg.f32 %d, %a0;", "f4", a), -a, a, zero_sign=True)
    same(apply("copysign.f32 %d, %a0, %a1;", "f4", a, b), np.copysign(b, a), a, b, zero_sign=True)
    small = (np.abs(a) < 2.0**-126) & (a != 0)
    for word, want in (
        ("finite", np.isfinite(a)),
        ("infinite", np.isinf(a)),
        ("number", ~np.isnan(a)),
        ("notanumber", np.isnan(a)),
        ("subnormal", small),
        ("normal", np.isfinite(a) & ~small),
    ):
        got = apply(f"testp.{word}.f32 %p1, %a0; selp.u32 %d, 1, 0, %p1;", "u4", a)
        assert (got == want).all(), word


def test_double_precision(apply) -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal(200) * 10.0 ** rng.integers(-200, 200, 200) for _ in range(2))
    with np.errstate(all="ignore"):
        for opcode, operation in OPERATIONS.items():
            text = "div.rn" if opcode == "div" else f"{opcode}.rn"
            same(apply(f"{text}.f64 %d, %a0, %a1;", "f8", a, b), operation(a, b), a, b)
    x, y = 1 + rng.integers(0, 1 << 30, 200) * 2.0**-52, 1 + rng.integers(0, 1 << 30, 200) * 2.0**-52
    z = -(x * y)
    want = [float(Fraction(p) * Fraction(q) + Fraction(r)) for p, q, r in zip(x, y, z, strict=True)]
    same(apply("fma.rn.f64 %d, %a0, %a1, %a2;", "f8", x, y, z), np.array(want), x, y, z)
    assert np.count_nonzero(np.array(want)) > 100


HALF = {"f16": (11, -24, 16), "bf16": (8, -133, 128)}


def half_values(kind: str, seed: int) -> np.ndarray:
    """Bits: random ones, and those of values of about 1."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 16, 600).astype("u2")
    near = rng.standard_normal(400).astype("f4")
    near_bits = near.astype("f2").view("u2") if kind == "f16" else (near.view("u4") >> 16).astype("u2")
    return np.concatenate([bits, near_bits])


def widened(bits: np.ndarray, kind: str) -> np.ndarray:
    """The values of half-precision bits."""
    values = bits.view("f2") if kind == "f16" else (bits.astype("u4") << 16).view("f4")
    return values.astype("f8")


@pytest.mark.parametrize("kind", HALF)
@pytest.mark.parametrize("opcode", ["add", "sub", "mul", "fma"])
def test_half_precision(apply, kind: str, opcode: str) -> None:
    digits, least, most = HALF[kind]
    count = 3 if opcode == "fma" else 2
    bits = [half_values(kind, k) for k in range(count)]
    inputs = [widened(b, kind) for b in bits]
    operation = {**OPERATIONS, "fma": lambda a, b, c: a * b + c}[opcode]
    with np.errstate(all="ignore"):
        want = operation(*inputs)
    for k, row in enumerate(zip(*inputs, strict=True)):
        if all(np.isfinite(row)):
            want[k] = rounded(operation(*(Fraction(float(v)) for v in row)), "rn", digits, least, most)
    operands = ", ".join(f"%a{k}" for k in range(count))
    got = apply(f"{opcode}.rn.{kind} %d, {operands};", "u2", *bits)
    same(widened(got, kind), want, *inputs)
    # Packed: the same in each half, with the operands of the high half in another order.
    packed = [b.astype("u4") | (np.roll(b, 7).astype("u4") << 16) for b in bits]
    pairs = apply(f"{opcode}.rn.{kind}x2 %d, {operands};", "u4", *packed)
    same(widened((pairs & 0xFFFF).astype("u2"), kind), want, *inputs)
    same(widened((pairs >> 16).astype("u2"), kind), np.roll(want, 7), *inputs)


@pytest.mark.parametrize("kind", HALF)
def test_half_signs_and_order(apply, kind: str) -> None:
    a, b = half_values(kind, 1), half_values(kind, 2)
    x, y = widened(a, kind), widened(b, kind)
    assert (apply(f"neg.{kind} %d, %a0;", "u2", a) == a ^ 0x8000).all()
    assert (apply(f"abs.{kind} %d, %a0;", "u2", a) == a & 0x7FFF).all()
    same(widened(apply(f"max.{kind} %d, %a0, %a1;", "u2", a, b), kind), np.fmax(x, y), x, y)
    same(widened(apply(f"min.{kind} %d, %a0, %a1;", "u2", a, b), kind), np.fmin(x, y), x, y)
    got = apply(f"setp.lt.{kind} %p1, %a0, %a1; selp.u32 %d, 1, 0, %p1;", "u4", a, b)
    assert (got == (x < y)).all()
