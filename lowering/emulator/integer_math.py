"""What integer instructions compute, on numpy arrays (PTX ISA 9.7.1). Values keep the dtype of their type."""

import numpy as np

from lanelink.lowering.emulator.types import Array

_U32 = np.uint32
_U64 = np.uint64


def mulhi64(a: Array, b: Array) -> Array:
    """The high 64 bits of a product of 64-bit values, by halves of 32 bits."""
    x, y = a.view(_U64), b.view(_U64)
    mask, half = _U64(0xFFFFFFFF), _U64(32)
    x0, x1, y0, y1 = x & mask, x >> half, y & mask, y >> half
    low = x0 * y0
    middle = x1 * y0 + (low >> half)
    other = x0 * y1 + (middle & mask)
    high = x1 * y1 + (middle >> half) + (other >> half)
    if a.dtype == np.int64:
        # Signed from unsigned: subtract each factor where the other is negative.
        high = high - y * (a < 0) - x * (b < 0)
    return high.view(a.dtype)


def low24(a: Array) -> Array:
    """The low 24 bits with the type's sign."""
    return (a << a.dtype.type(8)) >> a.dtype.type(8)


def int_div(a: Array, b: Array) -> Array:
    """The quotient cut towards zero; all ones for a zero divisor, as the hardware gives."""
    if a.dtype.kind == "u":
        return np.where(b == 0, a.dtype.type(np.iinfo(a.dtype).max), a // b)
    quotient = a // b
    cut: Array = quotient + ((quotient < 0) & (quotient * b != a)).astype(a.dtype)
    return np.where(b == 0, a.dtype.type(-1), cut)


def int_rem(a: Array, b: Array) -> Array:
    """The remainder with the dividend's sign; all ones for a zero divisor, as the hardware gives."""
    if a.dtype.kind == "u":
        return np.where(b == 0, a.dtype.type(np.iinfo(a.dtype).max), a % b)
    return np.where(b == 0, a.dtype.type(-1), a - int_div(a, b) * b)


def cnot(a: Array) -> Array:
    """1 where the value is 0."""
    return (a == 0).astype(a.dtype)


def _bit_length(a: Array) -> Array:
    """Bits of an unsigned value up to its highest set one, as u4. f64 holds 32 bits exactly, so halves are measured."""
    if a.dtype.itemsize <= 4:
        return np.frexp(a.astype(np.float64))[1].astype(_U32)
    high = a >> _U64(32)
    low = np.frexp((a & _U64(0xFFFFFFFF)).astype(np.float64))[1]
    return np.where(high != 0, np.frexp(high.astype(np.float64))[1] + 32, low).astype(_U32)


def clz(a: Array) -> Array:
    """Leading zeros."""
    return _U32(8 * a.dtype.itemsize) - _bit_length(a)


def popc(a: Array) -> Array:
    """Set bits."""
    return np.bitwise_count(a).astype(_U32)


def bfind(a: Array) -> Array:
    """The place of the highest set bit (for signed values, of the highest that differs from the sign); all ones if
    none.
    """
    bits = a.view(f"u{a.dtype.itemsize}")
    if a.dtype.kind == "i":
        bits = np.where(a < 0, ~bits, bits)
    return _bit_length(bits) - _U32(1)


def bfind_shift(a: Array) -> Array:
    """The left shift that brings bfind's bit to the top; all ones if there is none."""
    place = bfind(a)
    return np.where(place == _U32(0xFFFFFFFF), place, _U32(8 * a.dtype.itemsize - 1) - place)


def brev(a: Array) -> Array:
    """Bits in the opposite order: by bytes, then by swaps within a byte."""
    swapped = a.byteswap()
    kind = a.dtype.type
    for width, pattern in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        mask = kind(int.from_bytes(bytes([pattern]) * a.dtype.itemsize, "little"))
        swapped = ((swapped >> kind(width)) & mask) | ((swapped & mask) << kind(width))
    return swapped


def funnel_l(a: Array, b: Array, c: Array, wrap: bool) -> Array:
    """The high 32 bits of (b:a) << c; c modulo 32 or at most 32."""
    amount = (c & _U32(31)) if wrap else np.minimum(c, _U32(32))
    whole = (b.astype(_U64) << _U64(32)) | a
    return ((whole << amount.astype(_U64)) >> _U64(32)).astype(_U32)


def funnel_r(a: Array, b: Array, c: Array, wrap: bool) -> Array:
    """The low 32 bits of (b:a) >> c; c modulo 32 or at most 32."""
    amount = (c & _U32(31)) if wrap else np.minimum(c, _U32(32))
    whole = (b.astype(_U64) << _U64(32)) | a
    return (whole >> amount.astype(_U64)).astype(_U32)


def _field(x: Array, width: int) -> Array:
    """A field's place or length. Past 255, which is not defined, an H200 takes the low byte, or with 64 bits 255."""
    return x & _U32(255) if width == 32 else np.minimum(x, _U32(255))


def bfe(a: Array, b: Array, c: Array) -> Array:
    """c bits of a from bit b on; signed types repeat the field's top bit (PTX ISA, bfe)."""
    kind = a.dtype.type
    width = 8 * a.dtype.itemsize
    bits = a.view(f"u{a.dtype.itemsize}")
    one = bits.dtype.type(1)
    position, length = _field(b, width), _field(c, width)
    start = position.astype(bits.dtype)
    size = np.minimum(length, _U32(width)).astype(bits.dtype)
    field = (bits >> start) & ((one << size) - one)
    if a.dtype.kind == "u":
        return field
    top = np.minimum(position + length - _U32(1), _U32(width - 1))
    sign = ((bits >> top.astype(bits.dtype)) & one).astype(bool) & (length != 0)
    # Every bit at or past the field's end, and past the value's own end, is the sign.
    kept = np.minimum(size, np.where(position >= width, 0, _U32(width) - position).astype(bits.dtype))
    filled: Array = field | ~((one << kept) - one)
    return np.where(sign, filled, field).view(kind)


def bfi(a: Array, b: Array, c: Array, d: Array) -> Array:
    """b with d bits from bit c on replaced by the low bits of a."""
    width = 8 * a.dtype.itemsize
    one = a.dtype.type(1)
    start = _field(c, width).astype(a.dtype)
    size = np.minimum(_field(d, width), _U32(width)).astype(a.dtype)
    mask = ((one << size) - one) << start
    return (b & ~mask) | ((a << start) & mask)


def permute(a: Array, b: Array, c: Array) -> Array:
    """prmt: each nibble of c picks a byte of (b:a), or with its top bit set that byte's sign eight times."""
    whole = (b.astype(_U64) << _U64(32)) | a
    result: Array | None = None
    for k in range(4):
        nibble = (c >> _U32(4 * k)) & _U32(15)
        byte = (whole >> ((nibble & _U32(7)) << _U32(3)).astype(_U64)).astype(_U32) & _U32(255)
        byte = np.where(nibble >= 8, (byte >> _U32(7)) * _U32(255), byte) << _U32(8 * k)
        result = byte if result is None else result | byte
    assert result is not None
    return result


def permute_fixed(a: Array, b: Array, selector: int) -> Array:
    """prmt with a constant selector: bytes that move together are moved by one shift."""
    moves: dict[tuple[int, int], int] = {}
    result: Array | None = None
    for k in range(4):
        nibble = selector >> (4 * k) & 15
        source, place = divmod(nibble & 7, 4)
        if nibble & 8:
            value = (a, b)[source]
            sign = ((value << _U32(24 - 8 * place)).view(np.int32) >> np.int32(31)).view(_U32) & _U32(255 << (8 * k))
            result = sign if result is None else result | sign
        else:
            key = (source, k - place)
            moves[key] = moves.get(key, 0) | 255 << (8 * k)
    for (source, by), mask in moves.items():
        value = (a, b)[source]
        if by > 0:
            value = value << _U32(8 * by)
        elif by < 0:
            value = value >> _U32(-8 * by)
        if mask != 0xFFFFFFFF:
            value = value & _U32(mask)
        result = value if result is None else result | value
    assert result is not None
    return result


def dp4a(a: Array, b: Array, c: Array) -> Array:
    """c plus the four products of bytes."""
    total = c
    for k in range(4):
        left, right = _byte(a, k), _byte(b, k)
        total = total + (left * right).view(_U32)
    return total


def _byte(a: Array, k: int) -> Array:
    """Byte k as i4, with the value's sign."""
    if a.dtype.kind == "i":
        moved = a if k == 3 else a << np.int32(24 - 8 * k)
        return moved >> np.int32(24)
    return ((a >> _U32(8 * k)) & _U32(255)).view(np.int32)


def _dp2a(a: Array, b: Array, c: Array, first: int) -> Array:
    total = c
    for k in range(2):
        if a.dtype.kind == "i":
            left = (a if k else a << np.int32(16)) >> np.int32(16)
        else:
            left = ((a >> _U32(16 * k)) & _U32(0xFFFF)).view(np.int32)
        total = total + (left * _byte(b, first + k)).view(_U32)
    return total


def dp2a_lo(a: Array, b: Array, c: Array) -> Array:
    """c plus the products of a's halves and b's low two bytes."""
    return _dp2a(a, b, c, 0)


def dp2a_hi(a: Array, b: Array, c: Array) -> Array:
    """c plus the products of a's halves and b's high two bytes."""
    return _dp2a(a, b, c, 2)
