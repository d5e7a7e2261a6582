"""What the bytes of each stored format mean: a table of format to encode and decode, in numpy.

Both take whole matrices and are vectorised, since checkpoints hold gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lanelink.dialects.formats import Format
from lanelink.lowering import block_formats
from lanelink.lowering.block_formats import FormatError

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

Q8_0_BLOCK = np.dtype([("scale", "<f2"), ("quants", "i1", (32,))])
"""One block of ggml's q8_0: an f16 scale, then 32 int8; 34 bytes."""


@dataclass(frozen=True)
class Codec:
    """How one format's rows are read and written.

    `encode`: f32 [rows, cols] -> uint8 [rows, row_bytes], as a file stores it; `decode` is the way back, in f32.
    """

    encode: Callable[[Floats], Bytes]
    decode: Callable[[Bytes], Floats]


def encode(format: Format, values: Floats) -> Bytes:
    """The file bytes of f32 `values` [rows, cols]: uint8 [rows, row_bytes]. Raises FormatError."""
    if values.ndim != 2 or values.shape[1] % format.block_values:
        raise FormatError(
            f"encode {format.value}: expected [rows, cols] with cols a multiple of {format.block_values}, "
            f"got {list(values.shape)}"
        )
    return CODECS[format].encode(np.ascontiguousarray(values, np.float32))


def decode(format: Format, rows: int, cols: int, data: Bytes) -> Floats:
    """The f32 values [rows, cols] of file bytes `data`. Raises FormatError when the byte count is another."""
    stored = file_rows(format, rows, cols, data)
    with np.errstate(over="ignore", invalid="ignore"):  # scales that are infinite, or make values so
        return CODECS[format].decode(stored)


def file_rows(format: Format, rows: int, cols: int, data: Bytes) -> Bytes:
    """File bytes as uint8 [rows, row_bytes], their count checked."""
    if cols % format.block_values:
        raise FormatError(f"{format.value} rows: expected cols a multiple of {format.block_values}, got {cols}")
    expected = rows * format.row_bytes(cols)
    flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    if flat.size != expected:
        raise FormatError(f"{format.value} rows {rows}x{cols}: expected {expected} bytes, got {flat.size}")
    return flat.reshape(rows, -1)


def _encode_f32(values: Floats) -> Bytes:
    return values.view(np.uint8)


def _decode_f32(rows: Bytes) -> Floats:
    return rows.view(np.float32)


def _encode_f16(values: Floats) -> Bytes:
    return values.astype(np.float16).view(np.uint8)


def _decode_f16(rows: Bytes) -> Floats:
    return rows.view(np.float16).astype(np.float32)


def _encode_bf16(values: Floats) -> Bytes:
    bits = values.view(np.uint32)
    # Round half to even on the 16 bits dropped; a NaN keeps its sign and becomes quiet, since rounding could carry
    # its mantissa into infinity.
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16).view(np.uint8)


def _decode_bf16(rows: Bytes) -> Floats:
    return (rows.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def _encode_q8_0(values: Floats) -> Bytes:
    """ggml's quantize_row_q8_0_ref: d = max|x| / 127, q = round(x * (1 / d)), halves away from zero, d kept as f16."""
    rows, cols = values.shape
    blocks = values.reshape(rows, cols // 32, 32)
    scale = np.abs(blocks).max(axis=2) / np.float32(127)
    with np.errstate(over="ignore"):
        stored = scale.astype(np.float16)
    if not np.isfinite(stored).all():
        raise FormatError(f"encode q8_0: expected block scales that f16 holds, got {scale.max()}")
    # A subnormal scale has no finite inverse; the block is then too small for f16 anyway and becomes zeros.
    invertible = scale >= np.float32(2.0**-126)
    inverse = np.where(invertible, np.float32(1) / np.where(invertible, scale, np.float32(1)), np.float32(0))
    scaled = blocks * inverse[:, :, None].astype(np.float32)
    out = np.empty((rows, cols // 32), Q8_0_BLOCK)
    out["scale"] = stored
    out["quants"] = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    return out.view(np.uint8).reshape(rows, -1)


def _decode_q8_0(rows: Bytes) -> Floats:
    blocks = np.ascontiguousarray(rows).view(Q8_0_BLOCK)
    values = blocks["quants"].astype(np.float32) * blocks["scale"].astype(np.float32)[..., None]
    return values.reshape(rows.shape[0], -1)


CODECS: dict[Format, Codec] = {
    Format.F32: Codec(_encode_f32, _decode_f32),
    Format.F16: Codec(_encode_f16, _decode_f16),
    Format.BF16: Codec(_encode_bf16, _decode_bf16),
    Format.Q8_0: Codec(_encode_q8_0, _decode_q8_0),
    Format.Q4_0: Codec(block_formats.encode_q4_0, block_formats.decode_q4_0),
    Format.Q4_K: Codec(block_formats.encode_q4_k, block_formats.decode_q4_k),
    Format.Q5_K: Codec(block_formats.encode_q5_k, block_formats.decode_q5_k),
    Format.Q6_K: Codec(block_formats.encode_q6_k, block_formats.decode_q6_k),
    Format.MXFP4: Codec(block_formats.encode_mxfp4, block_formats.decode_mxfp4),
}


__all__ = ["CODECS", "Q8_0_BLOCK", "Codec", "FormatError", "decode", "encode", "file_rows"]
