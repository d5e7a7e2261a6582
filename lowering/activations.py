"""Activations quantized for products by block formats: blocks of 32 values, one f32 scale a block, one or two planes.

Of a block x with s = max|x| / 127:  q1 = rint(x / s),  and under two planes  q2 = rint((x / s - q1) * 254) in
[-127, 127], so that x ~ s * q1, or s * (q1 + q2 / 254). Rounding is half to even and every step is f32, as the kernels
take it, so the bytes are the same bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lanelink.dialects.formats import BLOCK_VALUES

Floats = npt.NDArray[np.float32]
Quants = npt.NDArray[np.int8]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class ActivationLayout:
    """Where the pieces of one buffer of quantized rows lie: plane 0, then plane 1 if there is one, then the scales.

    `rows` by `cols` values in `planes` (1 or 2) planes of int8, then f32 scales [rows][cols / 32]; offsets in bytes.
    """

    rows: int
    cols: int
    planes: int = 1

    def __post_init__(self) -> None:
        if self.rows < 1 or self.cols < 1 or self.cols % BLOCK_VALUES:
            raise ValueError(
                f"quantized activations: expected rows of a multiple of {BLOCK_VALUES} values, "
                f"got {self.rows}x{self.cols}"
            )
        if self.planes not in (1, 2):
            raise ValueError(f"quantized activations: expected 1 or 2 planes, got {self.planes}")

    @property
    def scales_offset(self) -> int:
        """First byte of the scales."""
        return self.rows * self.cols * self.planes

    @property
    def total_bytes(self) -> int:
        """Bytes of the whole buffer."""
        return self.scales_offset + 4 * self.rows * (self.cols // BLOCK_VALUES)


@dataclass(frozen=True)
class QuantizedRows:
    """Quantized rows as arrays: `plane0` and `plane1` int8 [rows, cols], `scales` f32 [rows, cols / 32]."""

    plane0: Quants
    plane1: Quants | None
    scales: Floats

    @property
    def layout(self) -> ActivationLayout:
        """The layout of their buffer."""
        rows, cols = self.plane0.shape
        return ActivationLayout(rows, cols, 1 if self.plane1 is None else 2)

    def pack(self) -> Bytes:
        """The device buffer's bytes."""
        planes = [self.plane0] if self.plane1 is None else [self.plane0, self.plane1]
        pieces = [np.ascontiguousarray(p).view(np.uint8).ravel() for p in (*planes, self.scales)]
        return np.concatenate(pieces)

    def dequantize(self) -> Floats:
        """The values the quants stand for, f32 [rows, cols], computed in f64 and rounded once."""
        rows, cols = self.plane0.shape
        q = self.plane0.astype(np.float64)
        if self.plane1 is not None:
            q += self.plane1.astype(np.float64) / 254
        blocks = q.reshape(rows, -1, BLOCK_VALUES) * self.scales.astype(np.float64)[:, :, None]
        return blocks.reshape(rows, cols).astype(np.float32)


def quantize(x: Floats, planes: int = 1) -> QuantizedRows:
    """Quantizes rows x [rows, cols], cols a multiple of 32, to `planes` planes."""
    rows, cols = x.shape
    ActivationLayout(rows, cols, planes)
    blocks = np.ascontiguousarray(x, np.float32).reshape(rows, cols // BLOCK_VALUES, BLOCK_VALUES)
    scales = np.abs(blocks).max(axis=2) / np.float32(127)
    # A block of zeros (or one so small that its scale has no finite inverse) has scale 0 and quants 0.
    scales[scales < np.finfo(np.float32).tiny] = 0
    divisor = np.where(scales == 0, np.float32(1), scales)[:, :, None]
    ratio = np.where(scales[:, :, None] == 0, np.float32(0), blocks / divisor)
    first = np.rint(ratio)
    plane0 = first.astype(np.int8).reshape(rows, cols)
    if planes == 1:
        return QuantizedRows(plane0, None, scales)
    residual = np.clip(np.rint((ratio - first) * np.float32(254)), -127, 127)
    return QuantizedRows(plane0, residual.astype(np.int8).reshape(rows, cols), scales)


def unpack(buffer: Bytes, layout: ActivationLayout) -> QuantizedRows:
    """The quantized rows held by a device buffer's bytes."""
    if buffer.size < layout.total_bytes:
        raise ValueError(f"quantized activations: expected {layout.total_bytes} bytes, got {buffer.size}")
    shape = (layout.rows, layout.cols)
    count = layout.rows * layout.cols
    raw = np.ascontiguousarray(buffer)
    plane0 = raw[:count].view(np.int8).reshape(shape)
    plane1 = raw[count : 2 * count].view(np.int8).reshape(shape) if layout.planes == 2 else None
    scales = raw[layout.scales_offset : layout.total_bytes].copy().view(np.float32).reshape(layout.rows, -1)
    return QuantizedRows(plane0, plane1, scales)


__all__ = ["ActivationLayout", "QuantizedRows", "quantize", "unpack"]
