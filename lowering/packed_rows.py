"""Rows of the block formats of four to six bits as the kernels read them: 16 bytes of quants a block of 32 values.

A row holds one plane after the other, of k values, then zeros to a multiple of 32 bytes, a sector of device memory:

quants   16 bytes a block: byte b holds the low four bits of value b, and above them those of value b + 16; of mxfp4,
         the codes of values 2b and 2b + 1
high     q5_k: 4 bytes a block, bit 8 (i % 4) + i / 4 is the fifth bit of value i
         q6_k: 8 bytes a block, word i / 16 has the upper two bits of value i from bit 8 (i % 4) + 2 (i / 4 % 4) on
scales   q4_0: f16. q4_k, q5_k: u8 scale, u8 min. q6_k: two i8, of 16 values each. mxfp4: the u8 exponent
supers   for each 256 values. q4_k, q5_k: f16 scale, f16 min. q6_k: f16 scale

Values of q4_0 and q6_k are two's complement of 4 and 6 bits, so that shifted into a byte they are int8. Bytes for each
256 values, beside those of the file: q4_0 144 (144), q4_k 148 (144), q5_k 180 (176), q6_k 210 (210), mxfp4 136 (136).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lanelink.dialects.formats import Format
from lanelink.lowering.block_formats import (
    MXFP4_BLOCK,
    Q4_0_BLOCK,
    Q4_K_BLOCK,
    Q5_K_BLOCK,
    Q6_K_BLOCK,
    k_scales,
    q4_0_quants,
    q4_k_quants,
    q5_k_quants,
    q6_k_quants,
)

Bytes = npt.NDArray[np.uint8]

SECTOR = 32
"""Bytes a row's pitch is a multiple of."""

BYTES_PER_256 = {Format.Q4_0: 144, Format.Q4_K: 148, Format.Q5_K: 180, Format.Q6_K: 210, Format.MXFP4: 136}
"""Bytes of a row's planes for each 256 values."""


def packed_pitch(format: Format, cols: int) -> int:
    """Bytes of one row of `cols` values, which are whole blocks."""
    return -(-cols * BYTES_PER_256[format] // 256 // SECTOR) * SECTOR


def pack_rows(format: Format, rows: Bytes) -> Bytes:
    """File rows u8 [rows, row_bytes] as device rows u8 [rows, pitch]."""
    planes = [plane.reshape(rows.shape[0], -1).view(np.uint8) for plane in _PLANES[format](np.ascontiguousarray(rows))]
    used = sum(plane.shape[1] for plane in planes)
    padding = np.zeros((rows.shape[0], -used % SECTOR), np.uint8)
    return np.concatenate([*planes, padding], axis=1)


Planes = list[npt.NDArray[Any]]
_LOW, _FOUR = np.uint8(15), np.uint8(4)


def _halves(quants: Bytes) -> Bytes:
    """The quants plane of u8 [..., 32], of which the low four bits count."""
    return (quants[..., :16] & _LOW) | (quants[..., 16:] << _FOUR)


def _q4_0(rows: Bytes) -> Planes:
    blocks = rows.view(Q4_0_BLOCK)
    return [_halves(q4_0_quants(blocks) ^ np.uint8(8)), np.ascontiguousarray(blocks["scale"])]


def _mins(blocks: npt.NDArray[np.void]) -> Planes:
    """The scales and supers of q4_k and q5_k."""
    supers = np.stack([blocks["scale"], blocks["min"]], axis=-1)
    return [np.stack(k_scales(blocks), axis=-1), supers]


def _q4_k(rows: Bytes) -> Planes:
    blocks = rows.view(Q4_K_BLOCK)
    return [_halves(q4_k_quants(blocks)), *_mins(blocks)]


def _q5_k(rows: Bytes) -> Planes:
    blocks = rows.view(Q5_K_BLOCK)
    quants = q5_k_quants(blocks)
    # Value i = 4 t + b: bit t of byte b.
    bits = (quants >> _FOUR).reshape(*quants.shape[:-1], 8, 4) << np.arange(8, dtype=np.uint8)[:, None]
    return [_halves(quants), np.bitwise_or.reduce(bits, axis=-2), *_mins(blocks)]


def _q6_k(rows: Bytes) -> Planes:
    blocks = rows.view(Q6_K_BLOCK)
    quants = q6_k_quants(blocks) ^ np.uint8(32)
    # Value i = 16 h + 4 t + b: bits 2 t of byte b of word h.
    pairs = (quants >> _FOUR).reshape(*quants.shape[:-1], 2, 4, 4) << np.array([0, 2, 4, 6], np.uint8)[:, None]
    high = np.bitwise_or.reduce(pairs, axis=-2)
    return [_halves(quants), high, np.ascontiguousarray(blocks["scales"]), np.ascontiguousarray(blocks["scale"])]


def _mxfp4(rows: Bytes) -> Planes:
    blocks = rows.view(MXFP4_BLOCK)
    codes = q4_0_quants(blocks)
    return [codes[..., 0::2] | (codes[..., 1::2] << _FOUR), np.ascontiguousarray(blocks["exponent"])]


_PLANES: dict[Format, Callable[[Bytes], Planes]] = {
    Format.Q4_0: _q4_0,
    Format.Q4_K: _q4_k,
    Format.Q5_K: _q5_k,
    Format.Q6_K: _q6_k,
    Format.MXFP4: _mxfp4,
}

__all__ = ["BYTES_PER_256", "SECTOR", "pack_rows", "packed_pitch"]
