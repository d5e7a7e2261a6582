"""What floating-point instructions compute, on numpy arrays (PTX ISA 9.7.3 to 9.7.5).

f32 sums, differences, products, quotients and square roots are numpy's, which round once. A fused multiply-add is
computed in f64, where the product of two f32 is exact; the sum is then rounded to odd before it is narrowed, which is
the same as one rounding (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008). Approximate
functions are computed in f64 and rounded once to f32: closer to the true value than the hardware is. Payloads of NaN
are not modelled.
"""

from collections.abc import Callable

import numpy as np

from lanelink.lowering.emulator.types import Array

_F4 = np.float32
_F8 = np.float64
_U32 = np.uint32
_SMALLEST_NORMAL = _F4(2.0**-126)
_TIE = _U32(0x10000000)
_BELOW = _U32(0x1FFFFFFF)
_ONE = _U32(1)
_MAGNITUDE = _U32(0x7FFFFFFF)
_SMALL = _U32(((1023 - 126) << 20) - 1)
_CANONICAL = {
    np.dtype(_F4): np.array(0x7FFFFFFF, np.uint32).view(_F4),
    np.dtype(_F8): np.array(0x7FF8000000000000, np.uint64).view(_F8),
}


def ftz(x: Array) -> Array:
    """Subnormal values as zero of their sign."""
    return x * (np.absolute(x) >= _SMALLEST_NORMAL)


def sat(x: Array) -> Array:
    """Clamped to [0, 1]; NaN is 0."""
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))


def odd_sum(p: Array, c: Array) -> Array:
    """p + c in f64, rounded to odd: the neighbour with an odd last bit, unless the sum is exact (Knuth's two-sum)."""
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)
    bits = s.view(np.int64)
    wrong = (error != 0) & ((bits & 1) == 0) & np.isfinite(s)
    if not wrong.any():
        return s
    # One step away from zero where the error has the sum's sign, else one step towards it.
    step = np.where((error > 0) == (s > 0), np.int64(1), np.int64(-1))
    return np.where(wrong, bits + step, bits).view(_F8)


def fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c in f32 with one rounding to nearest even.

    The f64 sum is rounded a second time wrongly only if it sits on a tie of f32. For normal results a tie shows in its
    last 29 bits; sums that show one, or that are below the normal range, are done again, rounded to odd.
    """
    p = np.multiply(a, b, dtype=_F8)
    s = np.add(p, c, dtype=_F8)
    words = s.view(_U32)
    doubtful = (words[..., 0::2] & _BELOW) == _TIE
    # By its high word: not zero, and smaller than 2^-126.
    doubtful |= ((words[..., 1::2] & _MAGNITUDE) - _ONE) < _SMALL
    if doubtful.any():
        return odd_sum(p, c.astype(_F8)).astype(_F4)
    return s.astype(_F4)


def directed(s: Array, mode: str, kind: str = "f4") -> Array:
    """f64 values (exact, or rounded to odd) narrowed by a rounding mode: rn, rz, rm or rp."""
    r = s.astype(kind)
    if mode == "rn":
        return r
    back = r.astype(_F8)
    zero, inf = r.dtype.type(0), r.dtype.type(np.inf)
    if mode == "rz":
        return np.where(np.absolute(back) > np.absolute(s), np.nextafter(r, zero), r)
    if mode == "rm":
        return np.where(back > s, np.nextafter(r, -inf), r)
    return np.where(back < s, np.nextafter(r, inf), r)


def add_directed(a: Array, b: Array, mode: str) -> Array:
    """a + b in f32 under a rounding mode."""
    return fma_directed(a, np.ones((1, 1), _F4), b, mode)


def mul_directed(a: Array, b: Array, mode: str) -> Array:
    """a * b in f32 under a rounding mode."""
    return directed(np.multiply(a, b, dtype=_F8), mode)


def fma_directed(a: Array, b: Array, c: Array, mode: str) -> Array:
    """a * b + c in f32 under a rounding mode."""
    p = np.multiply(a, b, dtype=_F8)
    c8 = c.astype(_F8)
    r = directed(odd_sum(p, c8), mode)
    if mode == "rm":
        # An exact zero sum of opposite signs is negative when rounding down (IEEE 754, 6.3).
        r = np.where((r == 0) & (np.signbit(p) != np.signbit(c8)), _F4(-0.0), r)
    return r


def div_directed(a: Array, b: Array, mode: str) -> Array:
    """a / b in f32 under a rounding mode: the f64 quotient, made odd by the sign of its exact remainder."""
    x, y = np.broadcast_arrays(a.astype(_F8), b.astype(_F8))
    return directed(_odd_by_remainder(x / y, lambda q: _remainder(x, q, y)), mode)


def sqrt_directed(a: Array, mode: str) -> Array:
    """The square root in f32 under a rounding mode."""
    x = a.astype(_F8)
    return directed(_odd_by_remainder(np.sqrt(x), lambda q: _remainder(x, q, q)), mode)


def _split(x: Array) -> tuple[Array, Array]:
    """Veltkamp's halves of an f64: each product of two halves is exact."""
    t = x * 134217729.0
    high = t - (t - x)
    return high, x - high


def _remainder(x: Array, q: Array, y: Array) -> Array:
    """x - q * y, exact enough in sign for quotients of f32 values (Dekker's product)."""
    p = q * y
    (qh, ql), (yh, yl) = _split(q), _split(y)
    error = ((qh * yh - p) + qh * yl + ql * yh) + ql * yl
    return ((x - p) - error) * np.where(y < 0, -1.0, 1.0)


def _odd_by_remainder(q: Array, remainder: Callable[[Array], Array]) -> Array:
    rest = remainder(q)
    bits = np.ascontiguousarray(q).view(np.int64)
    wrong = np.isfinite(rest) & (rest != 0) & ((bits & 1) == 0) & np.isfinite(q) & (q != 0)
    step = np.where((rest > 0) == (q > 0), np.int64(1), np.int64(-1))
    return np.where(wrong, bits + step, bits).view(_F8)


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a * b + c in f64 with one rounding, value by value in whole numbers: exact, and slow."""
    from fractions import Fraction

    shape = np.broadcast_shapes(a.shape, b.shape, c.shape)
    x, y, z = (np.broadcast_to(v, shape).ravel() for v in (a, b, c))
    result = x * y + z
    for k in np.flatnonzero(np.isfinite(x) & np.isfinite(y) & np.isfinite(z)):
        exact = Fraction(float(x[k])) * Fraction(float(y[k])) + Fraction(float(z[k]))
        if exact == 0:
            continue
        try:
            result[k] = exact.numerator / exact.denominator
        except OverflowError:
            result[k] = np.inf if exact > 0 else -np.inf
    return result.reshape(shape)


def _min_max(a: Array, b: Array, largest: bool) -> Array:
    r = np.fmax(a, b) if largest else np.fmin(a, b)
    odd = (r == 0) | (r != r)
    if odd.any():
        unsigned = f"u{a.dtype.itemsize}"
        x, y = a.view(unsigned), b.view(unsigned)
        zero = (x & y if largest else x | y).view(a.dtype)
        r = np.where((r == 0) & (a == 0) & (b == 0), zero, np.where(r != r, _CANONICAL[a.dtype], r))
    return r


def fmin(a: Array, b: Array) -> Array:
    """The smaller; the other where one is NaN; -0 is below +0."""
    return _min_max(a, b, False)


def fmax(a: Array, b: Array) -> Array:
    """The larger; the other where one is NaN; -0 is below +0."""
    return _min_max(a, b, True)


def nan_either(r: Array, a: Array, b: Array) -> Array:
    """r, or NaN where a or b is one (min.NaN, max.NaN)."""
    return np.where((a != a) | (b != b), _CANONICAL[r.dtype], r)


def ex2(x: Array) -> Array:
    """2^x"""
    return np.exp2(x.astype(_F8)).astype(x.dtype)


def lg2(x: Array) -> Array:
    """log2(x)"""
    return np.log2(x.astype(_F8)).astype(x.dtype)


def sin(x: Array) -> Array:
    return np.sin(x.astype(_F8)).astype(x.dtype)


def cos(x: Array) -> Array:
    return np.cos(x.astype(_F8)).astype(x.dtype)


def tanh(x: Array) -> Array:
    return np.tanh(x.astype(_F8)).astype(x.dtype)


def rcp(x: Array) -> Array:
    """1 / x, rounded once."""
    return x.dtype.type(1) / x


def rsqrt(x: Array) -> Array:
    """1 / sqrt(x)"""
    return (1.0 / np.sqrt(x.astype(_F8))).astype(x.dtype)


# Half precision


def from_f16(bits: Array) -> Array:
    """f16 bits to f32, exactly."""
    return bits.view(np.float16).astype(_F4)


def to_f16(x: Array) -> Array:
    """f32 or f64 values to f16 bits, to nearest even; NaN is 0x7fff."""
    bits = x.astype(np.float16).view(np.uint16)
    odd = x != x
    return np.where(odd, np.uint16(0x7FFF), bits) if odd.any() else bits


def from_bf16(bits: Array) -> Array:
    """bf16 bits to f32, exactly."""
    return (bits.astype(_U32) << _U32(16)).view(_F4)


def to_bf16(x: Array) -> Array:
    """f32 values to bf16 bits, to nearest even; NaN is 0x7fff."""
    bits = x.view(_U32)
    rounded = ((bits + (_U32(0x7FFF) + ((bits >> _U32(16)) & _U32(1)))) >> _U32(16)).astype(np.uint16)
    odd = x != x
    return np.where(odd, np.uint16(0x7FFF), rounded) if odd.any() else rounded


def odd_f32(x: Array) -> Array:
    """f64 to f32 rounded to odd: what a further narrowing rounds as if it had seen the f64."""
    r = directed(x, "rz")
    inexact = (r.astype(_F8) != x) & np.isfinite(x)
    return (r.view(_U32) | inexact.astype(_U32)).view(_F4)


def half_directed(x: Array, mode: str, brain: bool) -> Array:
    """f32 values to f16 or bf16 bits by cutting (rz); NaN is 0x7fff."""
    if mode != "rz":
        raise ValueError(mode)
    if brain:
        bits = (x.view(_U32) >> _U32(16)).astype(np.uint16)
    else:
        bits = directed(x.astype(_F8), "rz", "f2").view(np.uint16)
    return np.where(x != x, np.uint16(0x7FFF), bits)


def pack(low: Array, high: Array) -> Array:
    """Two 16-bit values as one of 32 bits."""
    return low.astype(_U32) | (high.astype(_U32) << _U32(16))


def low_half(x: Array) -> Array:
    return x.astype(np.uint16)


def high_half(x: Array) -> Array:
    return (x >> _U32(16)).astype(np.uint16)


def rcp_directed(x: Array, mode: str) -> Array:
    """1 / x in f32 under a rounding mode."""
    return div_directed(np.ones((1, 1), _F4), x, mode)
