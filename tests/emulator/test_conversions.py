"""cvt between every pair of types, in each rounding."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from rounding import rounded

INTEGERS = {"u8": "u1", "s8": "i1", "u16": "u2", "s16": "i2", "u32": "u4", "s32": "i4", "u64": "u8", "s64": "i8"}
FLOATS = ("f16", "bf16", "f32", "f64")
SHAPES = {"f16": (11, -24, 16), "bf16": (8, -133, 128), "f32": (24, -149, 128), "f64": (53, -1074, 1024)}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Edges overflow, and NaN are compared, on purpose."""
    with np.errstate(all="ignore"):
        yield


def held(kind: str) -> str:
    """The dtype of arrays that hold a type's bits."""
    return {"f16": "u2", "bf16": "u2", "f32": "f4", "f64": "f8", **INTEGERS}[kind]


def limits(kind: str) -> tuple[int, int]:
    info = np.iinfo(INTEGERS[kind])
    return int(info.min), int(info.max)


def integers(kind: str) -> np.ndarray:
    low, high = limits(kind)
    rng = np.random.default_rng(3)
    edges = [low, low + 1, high, high - 1, 0, 1, 2, 5, 100, 127]
    bits = 8 * np.dtype(INTEGERS[kind]).itemsize
    wide = [int(rng.integers(0, 1 << min(63, s))) & high for s in range(1, bits + 1) for _ in range(4)]
    odd = [(1 << s) + d for s in range(10, 62) for d in (-1, 0, 1, 1 << max(0, s - 24), (1 << max(0, s - 24)) + 1)]
    return np.array([v for v in edges + wide + odd if low <= v <= high], INTEGERS[kind])


def bits_of(values: np.ndarray, kind: str) -> np.ndarray:
    """f64 values cut to a type, as the array that holds it."""
    with np.errstate(all="ignore"):
        if kind == "bf16":
            return (values.astype("f4").view("u4") >> 16).astype("u2")
        return values.astype({"f16": "f2", "f32": "f4", "f64": "f8"}[kind]).view(held(kind))


def value_of(bits: np.ndarray, kind: str) -> np.ndarray:
    """The values that such an array holds, as f64."""
    if kind == "bf16":
        return (bits.astype("u4") << 16).view("f4").astype("f8")
    return bits.view({"f16": "f2", "f32": "f4", "f64": "f8"}[kind]).astype("f8")


def floats(kind: str) -> np.ndarray:
    """Random bits, values of every size an integer has, ties, and edges, as the array that holds the type."""
    rng = np.random.default_rng(5)
    size = np.dtype(held(kind)).itemsize
    wild = rng.integers(0, 1 << 63, 500, dtype=np.uint64).astype(f"u{size}").view(held(kind))
    near = rng.standard_normal(300) * 10.0 ** rng.integers(-3, 12, 300)
    edges = [0, -0.0, np.inf, -np.inf, np.nan, 2.0**31, 2.0**32, 2.0**63, 2.0**64, -(2.0**31), 2147483647.5]
    edges += [-2147483648.5, 255.5, 256.5, -128.5, 65535.5, 1e-10, -1e-10]
    return np.concatenate([wild, bits_of(np.concatenate([near, np.arange(-9, 10) / 2, np.array(edges)]), kind)])


def compare(got: np.ndarray, want: list[float], values: np.ndarray) -> None:
    got = got.astype("f8")
    expected = np.array(want, "f8")
    bad = np.flatnonzero(~((got == expected) | (np.isnan(got) & np.isnan(expected))))
    assert bad.size == 0, [(values[k], got[k], expected[k]) for k in bad[:5]]


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integer_to_integer(apply, source: str, target: str) -> None:
    values = integers(source)
    low, high = limits(target)
    got = apply(f"cvt.{target}.{source} %d, %a0;", INTEGERS[target], values)
    assert (got == values.astype(INTEGERS[target])).all()
    got = apply(f"cvt.sat.{target}.{source} %d, %a0;", INTEGERS[target], values)
    assert got.tolist() == [max(low, min(high, v)) for v in values.tolist()]


@pytest.mark.parametrize(
    ("target", "mode"), [*((t, "rn") for t in FLOATS), ("f32", "rz"), ("f32", "rm"), ("f32", "rp")]
)
@pytest.mark.parametrize("source", INTEGERS)
def test_integer_to_float(apply, source: str, target: str, mode: str) -> None:
    values = integers(source)
    got = apply(f"cvt.{mode}.{target}.{source} %d, %a0;", held(target), values)
    compare(value_of(got, target), [rounded(Fraction(v), mode, *SHAPES[target]) for v in values.tolist()], values)


@pytest.mark.parametrize("rounding", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_integer(apply, source: str, target: str, rounding: str) -> None:
    values = floats(source)
    low, high = limits(target)
    whole = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[rounding]

    def meaning(x: float) -> int:
        if math.isnan(x):
            bits = 8 * np.dtype(INTEGERS[target]).itemsize
            return (1 << (bits - 1)) * (-1 if low else 1) if source == "f64" or bits == 64 else 0
        if math.isinf(x):
            return high if x > 0 else low
        return max(low, min(high, whole(Fraction(x))))

    got = apply(f"cvt.{rounding}.{target}.{source} %d, %a0;", INTEGERS[target], values)
    want = [meaning(float(v)) for v in value_of(values, source)]
    bad = [k for k in range(len(want)) if int(got[k]) != want[k]]
    assert not bad, [(values[k], got[k], want[k]) for k in bad[:5]]


@pytest.mark.parametrize(
    ("source", "target", "mode"),
    [
        *(("f32", half, mode) for half in ("f16", "bf16") for mode in ("rn", "rz")),
        *(("f64", half, "rn") for half in ("f16", "bf16")),
        *(("f64", "f32", mode) for mode in ("rn", "rz", "rm", "rp")),
    ],
)
def test_narrowing(apply, source: str, target: str, mode: str) -> None:
    rng = np.random.default_rng(6)
    near_ties = value_of(floats(target), target)
    with np.errstate(all="ignore"):
        near_ties = near_ties * (1 + rng.choice([0, 2.0**-11, 2.0**-12, 2.0**-9, 2.0**-25], near_ties.size))
    held_values = np.concatenate([floats(source), bits_of(near_ties, source)])
    values = value_of(held_values, source)
    got = apply(f"cvt.{mode}.{target}.{source} %d, %a0;", held(target), held_values)
    want = [rounded(Fraction(v), mode, *SHAPES[target]) if math.isfinite(v) else v for v in values.tolist()]
    compare(value_of(got, target), want, values)


@pytest.mark.parametrize(
    ("source", "target"), [("f16", "f32"), ("bf16", "f32"), ("f16", "f64"), ("bf16", "f64"), ("f32", "f64")]
)
def test_widening(apply, source: str, target: str) -> None:
    values = floats(source)
    got = apply(f"cvt.{target}.{source} %d, %a0;", held(target), values)
    compare(value_of(got, target), value_of(values, source).tolist(), values)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_whole_values(apply, kind: str) -> None:
    values = floats(kind)
    for rounding, function in (("rni", np.rint), ("rzi", np.trunc), ("rmi", np.floor), ("rpi", np.ceil)):
        got = apply(f"cvt.{rounding}.{kind}.{kind} %d, %a0;", held(kind), values)
        compare(got, function(values).tolist(), values)


def test_saturation(apply) -> None:
    values = floats("f32")
    got = apply("cvt.sat.f32.f32 %d, %a0;", "f4", values)
    compare(got, np.where(np.isnan(values), 0, np.clip(values, 0, 1)).tolist(), values)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_packed(apply, kind: str) -> None:
    high, low = floats("f32"), floats("f32")[::-1].copy()

    def meaning(values: np.ndarray) -> list[float]:
        return [rounded(Fraction(v), "rn", *SHAPES[kind]) if math.isfinite(v) else v for v in values.tolist()]

    got = apply(f"cvt.rn.{kind}x2.f32 %d, %a0, %a1;", "u4", high, low)
    compare(value_of((got >> 16).astype("u2"), kind), meaning(high), high)
    compare(value_of((got & 0xFFFF).astype("u2"), kind), meaning(low), low)
    got = apply(f"cvt.rn.relu.{kind}x2.f32 %d, %a0, %a1;", "u4", high, low)
    compare(value_of((got >> 16).astype("u2"), kind), meaning(np.where(high < 0, 0, high)), high)


def test_nan_is_canonical(apply) -> None:
    values = np.array([np.nan, -np.nan], "f4")
    assert (apply("cvt.rn.f16.f32 %d, %a0;", "u2", values) == 0x7FFF).all()
    assert (apply("cvt.rn.bf16.f32 %d, %a0;", "u2", values) == 0x7FFF).all()
