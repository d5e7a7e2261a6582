"""The block formats of four to six bits: their blocks in a file, decoded exactly, and quantizers of our own.

Blocks and their decoding are those of the GGUF file format (ggml's `block_q4_0`, `block_q4_K`, `block_q5_K`,
`block_q6_K`, `block_mxfp4`). The quantizers search a few scales a block and keep the one of least squared error:

q4_0         the value of largest magnitude becomes -8 (ggml's own rule), or somewhat past it
q4_k, q5_k   scale and min of 32 values by least squares from rounded quants, then both rounded to 6 bits
q6_k         the value of largest magnitude of 16 becomes -32, or somewhat past it, then the scales rounded to 8 bits
mxfp4        the exponent that the largest magnitude asks for, and its neighbours
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

Q4_0_BLOCK = np.dtype([("scale", "<f2"), ("quants", "u1", (16,))])
Q4_K_BLOCK = np.dtype([("scale", "<f2"), ("min", "<f2"), ("scales", "u1", (12,)), ("quants", "u1", (128,))])
Q5_K_BLOCK = np.dtype(
    [("scale", "<f2"), ("min", "<f2"), ("scales", "u1", (12,)), ("high", "u1", (32,)), ("quants", "u1", (128,))]
)
Q6_K_BLOCK = np.dtype([("quants", "u1", (128,)), ("high", "u1", (64,)), ("scales", "i1", (16,)), ("scale", "<f2")])
MXFP4_BLOCK = np.dtype([("exponent", "u1"), ("quants", "u1", (16,))])

MXFP4_VALUES = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], np.int8)
"""Twice the value of each code."""

_LOW, _FOUR = np.uint8(15), np.uint8(4)

_CHUNK_VALUES = 1 << 18
"""Values that a quantizer works on at a time: its dozen temporaries then stay in a processor's cache."""


class FormatError(ValueError):
    """Rows that a format cannot hold, or bytes that are not rows of it."""


# ---- the integers in a file's blocks ---------------------------------------------------------------------------------


def q4_0_quants(blocks: npt.NDArray[np.void]) -> Bytes:
    """Values 0 to 15 of q4_0 blocks [...], u8 [..., 32]: the codes of mxfp4 blocks likewise."""
    quants: Bytes = blocks["quants"]
    return np.concatenate([quants & _LOW, quants >> _FOUR], axis=-1)


def k_scales(blocks: npt.NDArray[np.void]) -> tuple[Bytes, Bytes]:
    """The 6-bit scales and mins of q4_k or q5_k blocks [...], each u8 [..., 8]."""
    packed: Bytes = blocks["scales"]
    scales, mins, both = (packed[..., first : first + 4] for first in (0, 4, 8))
    low, upper, two = np.uint8(63), np.uint8(48), np.uint8(2)
    return (
        np.concatenate([scales & low, (both & _LOW) | ((scales >> two) & upper)], axis=-1),
        np.concatenate([mins & low, (both >> _FOUR) | ((mins >> two) & upper)], axis=-1),
    )


def q4_k_quants(blocks: npt.NDArray[np.void]) -> Bytes:
    """The lower 4 bits of q4_k or q5_k blocks [...], u8 [..., 8, 32]."""
    quants: Bytes = blocks["quants"]
    pairs = quants.reshape(*blocks.shape, 4, 1, 32)
    return np.concatenate([pairs & _LOW, pairs >> _FOUR], axis=-2).reshape(*blocks.shape, 8, 32)


def q5_k_quants(blocks: npt.NDArray[np.void]) -> Bytes:
    """Values 0 to 31 of q5_k blocks [...], u8 [..., 8, 32]."""
    high: Bytes = blocks["high"]
    bits = (high[..., None, :] >> np.arange(8, dtype=np.uint8)[:, None]) & np.uint8(1)
    return q4_k_quants(blocks) | (bits << _FOUR)


def q6_k_quants(blocks: npt.NDArray[np.void]) -> Bytes:
    """Values 0 to 63 of q6_k blocks [...], 32 more than they stand for, u8 [..., 8, 32]."""
    quants: Bytes = blocks["quants"]
    halves = quants.reshape(*blocks.shape, 2, 1, 64)
    low = np.concatenate([halves & _LOW, halves >> _FOUR], axis=-2).reshape(*blocks.shape, 8, 32)
    high: Bytes = blocks["high"]
    bits = high.reshape(*blocks.shape, 2, 1, 32) >> np.array([0, 2, 4, 6], np.uint8)[:, None]
    return low | ((bits.reshape(*blocks.shape, 8, 32) & np.uint8(3)) << _FOUR)


def mxfp4_scales(exponents: Bytes) -> Floats:
    """2^(e - 128), which the doubled codes are multiplied by: below 2, a subnormal."""
    e = exponents.astype(np.uint32)
    bits = np.where(e < 2, np.uint32(0x00200000) << np.minimum(e, 1), (e - np.minimum(e, 1)) << np.uint32(23))
    return bits.astype(np.uint32).view(np.float32)


# ---- decoding ------------------------------------------------------------------------------------------------------


def _blocks(rows: Bytes, block: np.dtype[np.void]) -> npt.NDArray[np.void]:
    return np.ascontiguousarray(rows).view(block)


def _floats(values: npt.NDArray[Any]) -> Floats:
    return values.astype(np.float32)


def decode_q4_0(rows: Bytes) -> Floats:
    """The values of file rows u8 [rows, row_bytes], f32 [rows, cols]."""
    blocks = _blocks(rows, Q4_0_BLOCK)
    values = _floats(q4_0_quants(blocks).view(np.int8) - np.int8(8))
    scale = _floats(blocks["scale"])
    return (scale[..., None] * values).reshape(rows.shape[0], -1)


def _decode_k(rows: Bytes, block: np.dtype[np.void], quants: Callable[[npt.NDArray[np.void]], Bytes]) -> Floats:
    blocks = _blocks(rows, block)
    scales, mins = k_scales(blocks)
    scale = _floats(blocks["scale"])[..., None] * _floats(scales)
    low = _floats(blocks["min"])[..., None] * _floats(mins)
    values: Floats = np.subtract(scale[..., None] * _floats(quants(blocks)), low[..., None], dtype=np.float32)
    return values.reshape(rows.shape[0], -1)


def decode_q4_k(rows: Bytes) -> Floats:
    """The values of file rows u8 [rows, row_bytes], f32 [rows, cols]."""
    return _decode_k(rows, Q4_K_BLOCK, q4_k_quants)


def decode_q5_k(rows: Bytes) -> Floats:
    """The values of file rows u8 [rows, row_bytes], f32 [rows, cols]."""
    return _decode_k(rows, Q5_K_BLOCK, q5_k_quants)


def decode_q6_k(rows: Bytes) -> Floats:
    """The values of file rows u8 [rows, row_bytes], f32 [rows, cols]."""
    blocks = _blocks(rows, Q6_K_BLOCK)
    scale = _floats(blocks["scale"])[..., None] * _floats(blocks["scales"])
    values = _floats(q6_k_quants(blocks).view(np.int8) - np.int8(32))
    return (scale[..., None] * values.reshape(*scale.shape, 16)).reshape(rows.shape[0], -1)


def decode_mxfp4(rows: Bytes) -> Floats:
    """The values of file rows u8 [rows, row_bytes], f32 [rows, cols]."""
    blocks = _blocks(rows, MXFP4_BLOCK)
    values = _floats(MXFP4_VALUES[q4_0_quants(blocks)])
    return (values * mxfp4_scales(blocks["exponent"])[..., None]).reshape(rows.shape[0], -1)


# ---- quantizing ----------------------------------------------------------------------------------------------------


def _by_chunks(values: Floats, format: str, block: int, encode: Callable[[Floats], npt.NDArray[np.void]]) -> Bytes:
    """File rows of f32 [rows, cols], by blocks of `block` values, a chunk of them at a time on each
    processor. Raises FormatError."""
    blocks = values.reshape(-1, block)
    step = _CHUNK_VALUES // block

    def one(first: int) -> npt.NDArray[np.void]:
        chunk = blocks[first : first + step]
        if not np.isfinite(chunk).all():
            raise FormatError(f"encode {format}: expected finite values, got {chunk[~np.isfinite(chunk)][0]}")
        with np.errstate(over="ignore", invalid="ignore"):  # the errors of values too large for any scale
            return encode(chunk)

    # In threads: numpy works without the interpreter's lock.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(one, range(0, len(blocks), step)))
    return np.concatenate(parts).view(np.uint8).reshape(values.shape[0], -1)


def _f16(values: Floats, format: str) -> npt.NDArray[np.float16]:
    stored = values.astype(np.float16)
    if not np.isfinite(stored).all():
        raise FormatError(f"encode {format}: expected block scales that f16 holds, got {np.abs(values).max()}")
    return stored


def _inverse(scale: Floats) -> Floats:
    """1 / scale, and 0 where that is not finite: such blocks are too small for the format and become zeros."""
    usable = np.abs(scale) >= np.float32(2.0**-126)
    return np.where(usable, np.float32(1) / np.where(usable, scale, np.float32(1)), np.float32(0)).astype(np.float32)


def _rounded(values: Floats, scale: Floats, least: int, most: int) -> Floats:
    """values / scale as whole numbers of `least` to `most`; scale has the last axis of `values` left out."""
    return np.clip(np.rint(values * _inverse(scale)[..., None]), least, most).astype(np.float32)


def _signed_scales(x: Floats, levels: int) -> Floats:
    """For x [..., n], the scale of least squared error when quants are -levels to levels - 1: f32 [...].

    The value of largest magnitude lands at -levels or, clipped, somewhat past it; each candidate is then refit to its
    quants by least squares.
    """
    largest = np.take_along_axis(x, np.abs(x).argmax(axis=-1, keepdims=True), axis=-1)[..., 0]
    best, least = largest / np.float32(-levels), np.full(largest.shape, np.inf, np.float32)
    for past in (0.0, 0.04, 0.08, 0.12):
        first = largest / np.float32(-levels * (1 + past))
        q = _rounded(x, first, -levels, levels - 1)
        square = (q * q).sum(axis=-1)
        fitted = (q * x).sum(axis=-1) * _inverse(square)
        for scale in (first, fitted):
            error = np.square(x - scale[..., None] * _rounded(x, scale, -levels, levels - 1)).sum(axis=-1)
            better = error < least
            best, least = np.where(better, scale, best), np.where(better, error, least)
    return best


def _ranges(x: Floats, most: int) -> tuple[Floats, Floats]:
    """For x [..., n], the scale and the min (subtracted, at least 0) of least squared error when quants are 0 to
    `most`: each f32 [...]. Candidates shrink the range a little; each is refit by least squares."""
    low = np.minimum(x.min(axis=-1), np.float32(0))
    span = x.max(axis=-1) - low
    n = np.float32(x.shape[-1])
    sums, best_error = x.sum(axis=-1), np.full(low.shape, np.inf, np.float32)
    best_scale, best_min = span / np.float32(most), -low

    def consider(scale: Floats, floor: Floats) -> Floats:
        nonlocal best_scale, best_min, best_error
        q = np.clip(np.rint((x + floor[..., None]) * _inverse(scale)[..., None]), 0, most).astype(np.float32)
        error = np.square(x - (scale[..., None] * q - floor[..., None])).sum(axis=-1)
        better = error < best_error
        best_scale, best_min = np.where(better, scale, best_scale), np.where(better, floor, best_min)
        best_error = np.where(better, error, best_error)
        return q

    for shrink in (1.0, 0.95, 0.9, 0.85):
        q = consider(span * np.float32(shrink / most), -low * np.float32(shrink))
        total, square, product = q.sum(axis=-1), (q * q).sum(axis=-1), (q * x).sum(axis=-1)
        line: Floats = (n * product - total * sums) * _inverse(n * square - total * total)
        floor: Floats = (total * line - sums) / n
        # A floor below 0 cannot be stored: the line then goes through the origin.
        origin: Floats = product * _inverse(square)
        scale = np.where(floor < 0, origin, line)
        consider(np.maximum(scale, np.float32(0)), np.maximum(floor, np.float32(0)))
    return best_scale, best_min


def _nibbles(q: Bytes) -> Bytes:
    """Two values of 4 bits a byte from u8 [..., 2, n]: the first below."""
    return q[..., 0, :] | (q[..., 1, :] << _FOUR)


def encode_q4_0(values: Floats) -> Bytes:
    """File rows of f32 [rows, cols], u8 [rows, row_bytes]. Raises FormatError."""

    def chunk(x: Floats) -> npt.NDArray[np.void]:
        out = np.empty(len(x), Q4_0_BLOCK)
        out["scale"] = _f16(_signed_scales(x, 8), "q4_0")
        q = _rounded(x, _floats(out["scale"]), -8, 7) + np.float32(8)
        out["quants"] = _nibbles(q.astype(np.uint8).reshape(-1, 2, 16))
        return out

    return _by_chunks(values, "q4_0", 32, chunk)


def _six_bits(values: Floats, format: str) -> tuple[npt.NDArray[np.float16], Bytes]:
    """Numbers f32 [n, 8] of at least 0 as a common f16 [n] and 6 bits each u8 [n, 8]."""
    common = _f16(values.max(axis=-1) / np.float32(63), format)
    return common, _rounded(values, common.astype(np.float32), 0, 63).astype(np.uint8)


def _packed_k_scales(scales: Bytes, mins: Bytes) -> Bytes:
    """u8 [n, 12] as `k_scales` reads it."""
    six = np.uint8(6)
    first = scales[:, :4] | ((scales[:, 4:] >> _FOUR) << six)
    second = mins[:, :4] | ((mins[:, 4:] >> _FOUR) << six)
    return np.concatenate([first, second, (scales[:, 4:] & _LOW) | ((mins[:, 4:] & _LOW) << _FOUR)], axis=1)


def _encode_k(x: Floats, block: np.dtype[np.void], most: int, format: str) -> npt.NDArray[np.void]:
    out, parts = np.empty(len(x), block), x.reshape(-1, 8, 32)
    best = _ranges(parts, most)
    (out["scale"], scales), (out["min"], mins) = (_six_bits(each, format) for each in best)
    out["scales"] = _packed_k_scales(scales, mins)
    scale = _floats(out["scale"])[:, None] * _floats(scales)
    floor = _floats(out["min"])[:, None] * _floats(mins)
    raised: Floats = np.add(parts, floor[..., None], dtype=np.float32)
    q = _rounded(raised, scale, 0, most).astype(np.uint8)
    out["quants"] = _nibbles((q & _LOW).reshape(-1, 4, 2, 32)).reshape(-1, 128)
    if most > 15:
        shifts = np.arange(8, dtype=np.uint8)[:, None]
        out["high"] = np.bitwise_or.reduce((q >> _FOUR) << shifts, axis=1)
    return out


def encode_q4_k(values: Floats) -> Bytes:
    """File rows of f32 [rows, cols], u8 [rows, row_bytes]. Raises FormatError."""
    return _by_chunks(values, "q4_k", 256, lambda x: _encode_k(x, Q4_K_BLOCK, 15, "q4_k"))


def encode_q5_k(values: Floats) -> Bytes:
    """File rows of f32 [rows, cols], u8 [rows, row_bytes]. Raises FormatError."""
    return _by_chunks(values, "q5_k", 256, lambda x: _encode_k(x, Q5_K_BLOCK, 31, "q5_k"))


def encode_q6_k(values: Floats) -> Bytes:
    """File rows of f32 [rows, cols], u8 [rows, row_bytes]. Raises FormatError."""

    def chunk(x: Floats) -> npt.NDArray[np.void]:
        out, parts = np.empty(len(x), Q6_K_BLOCK), x.reshape(-1, 16, 16)
        best = _signed_scales(parts, 32)
        out["scale"] = _f16(np.abs(best).max(axis=1) / np.float32(127), "q6_k")
        common = _floats(out["scale"])
        scales = _rounded(best, common, -127, 127)
        out["scales"] = scales
        q = (_rounded(parts, common[:, None] * scales, -32, 31) + np.float32(32)).astype(np.uint8)
        q = q.reshape(-1, 2, 4, 32)
        out["quants"] = _nibbles((q & _LOW).reshape(-1, 2, 2, 64)).reshape(-1, 128)
        shifts = np.array([0, 2, 4, 6], np.uint8)[:, None]
        out["high"] = np.bitwise_or.reduce((q >> _FOUR) << shifts, axis=2).reshape(-1, 64)
        return out

    return _by_chunks(values, "q6_k", 256, chunk)


_MXFP4_MOST = 252
"""The largest exponent all of whose codes are f32."""

_MXFP4_MIDDLES = np.array([0.5, 1.5, 2.5, 3.5, 5.0, 7.0, 10.0], np.float32)


def encode_mxfp4(values: Floats) -> Bytes:
    """File rows of f32 [rows, cols], u8 [rows, row_bytes]. Raises FormatError."""

    def chunk(x: Floats) -> npt.NDArray[np.void]:
        largest = np.abs(x).max(axis=-1)
        # The largest code stands for 6: the exponent that brings the largest value to 4 up to 8.
        first = np.where(largest > 0, np.frexp(largest)[1] - 3 + 127, 0)
        out, least = np.zeros(len(x), MXFP4_BLOCK), np.full(len(x), np.inf)
        for step in (0, 1, -1):
            exponent = np.clip(first + step, 0, _MXFP4_MOST).astype(np.uint8)
            scale = mxfp4_scales(exponent)
            code = np.digitize(np.abs(x) / scale[:, None], _MXFP4_MIDDLES).astype(np.uint8)
            code |= np.where((x < 0) & (code > 0), 8, 0).astype(np.uint8)
            off = x.astype(np.float64) - MXFP4_VALUES[code] * scale.astype(np.float64)[:, None]
            error = np.square(off).sum(axis=-1)
            better = error < least
            out["exponent"] = np.where(better, exponent, out["exponent"])
            out["quants"] = np.where(better[:, None], _nibbles(code.reshape(-1, 2, 16)), out["quants"])
            least = np.where(better, error, least)
        return out

    return _by_chunks(values, "mxfp4", 32, chunk)


__all__ = [
    "MXFP4_BLOCK",
    "MXFP4_VALUES",
    "Q4_0_BLOCK",
    "Q4_K_BLOCK",
    "Q5_K_BLOCK",
    "Q6_K_BLOCK",
    "FormatError",
    "decode_mxfp4",
    "decode_q4_0",
    "decode_q4_k",
    "decode_q5_k",
    "decode_q6_k",
    "encode_mxfp4",
    "encode_q4_0",
    "encode_q4_k",
    "encode_q5_k",
    "encode_q6_k",
    "k_scales",
    "mxfp4_scales",
    "q4_0_quants",
    "q4_k_quants",
    "q5_k_quants",
    "q6_k_quants",
]
