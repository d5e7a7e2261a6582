"""Stored formats, their device planes, and quantized activations."""

from __future__ import annotations

import numpy as np
import pytest

from lanelink.dialects.formats import Format
from lanelink.lowering import formats
from lanelink.lowering.activations import ActivationLayout, quantize, unpack
from lanelink.lowering.block_formats import MXFP4_VALUES, mxfp4_scales
from lanelink.lowering.formats import FormatError
from lanelink.lowering.packed_rows import BYTES_PER_256, SECTOR
from lanelink.lowering.repack import PACKINGS, plane_layout, repack

RNG = np.random.default_rng(7)


def normal(*shape: int) -> formats.Floats:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("format, relative", [(Format.F32, 0.0), (Format.F16, 2.0**-11), (Format.BF16, 2.0**-8)])
def test_plain_rows_round_once(format: Format, relative: float) -> None:
    x = normal(5, 37)
    back = formats.decode(format, 5, 37, formats.encode(format, x))
    assert (np.abs(back - x) <= relative * np.abs(x)).all()


def test_bf16_rounds_half_to_even_and_keeps_what_is_not_finite() -> None:
    x = np.array([[1 + 2.0**-8, 1 + 3 * 2.0**-8, np.inf, -np.inf, 3.4e38]], np.float32)
    back = formats.decode(Format.BF16, 1, 5, formats.encode(Format.BF16, x))
    assert back.tolist() == [[1.0, 1 + 2.0**-6, np.inf, -np.inf, np.inf]]
    bits = np.array([[0x7F800001, 0xFFFFFFFF]], np.uint32).view(np.float32)
    assert np.isnan(formats.decode(Format.BF16, 1, 2, formats.encode(Format.BF16, bits))).all()


def test_q8_0_is_ggmls_block() -> None:
    """A block by the definition, value by value: d = max / 127, halves away from zero, the scale stored as f16."""
    x = normal(2, 64)
    x[0, :3] = [127.0, 0.5, -2.5]  # d is 1 for this block: halves
    data = formats.encode(Format.Q8_0, x)
    assert data.shape == (2, 68)
    for row, start in ((0, 0), (1, 32)):
        block = x[row, start : start + 32]
        stored = data[row, start // 32 * 34 :][:34]
        d = np.abs(block).max() / np.float32(127)
        assert stored[:2].view(np.float16)[0] == np.float16(d)
        inverse = np.float32(1) / d
        for value, quant in zip(block, stored[2:].view(np.int8), strict=True):
            scaled = float(value * inverse)
            assert quant == int(np.sign(scaled) * np.floor(abs(scaled) + 0.5))
    assert data[0, 2:5].view(np.int8).tolist() == [127, 1, -3]


def test_q8_0_of_zeros_and_of_values_f16_cannot_scale() -> None:
    assert not formats.encode(Format.Q8_0, np.zeros((1, 32), np.float32)).any()
    with pytest.raises(FormatError, match="block scales that f16 holds"):
        formats.encode(Format.Q8_0, np.full((1, 32), 1e8, np.float32))


def values_of_packed(format: Format, cols: int, rows: formats.Bytes) -> formats.Floats:
    """Device rows of blocks read as packed_rows describes them, value by value."""
    out = np.empty((len(rows), cols), np.float32)
    high_bytes = {Format.Q5_K: 4, Format.Q6_K: 8}.get(format, 0)
    scale_bytes = 1 if format is Format.MXFP4 else 2
    high_at, scales_at = cols // 2, cols // 2 + high_bytes * cols // 32
    supers_at = scales_at + scale_bytes * cols // 32
    for r, row in enumerate(rows):
        for c in range(cols):
            block, i = divmod(c, 32)
            quants = row[16 * block :][:16]
            scale = row[scales_at + scale_bytes * block :][:scale_bytes]
            byte, upper = (i // 2, i % 2) if format is Format.MXFP4 else (i % 16, i // 16)
            q = int(quants[byte]) >> (4 * upper) & 15
            if format is Format.MXFP4:
                out[r, c] = np.float32(MXFP4_VALUES[q]) * mxfp4_scales(scale)[0]
            elif format is Format.Q4_0:
                out[r, c] = np.float32((q ^ 8) - 8) * np.float32(scale.view(np.float16)[0])
            elif format is Format.Q6_K:
                word = int(row[high_at + 8 * block + 4 * (i // 16) :][:4].view(np.uint32)[0])
                q |= (word >> (8 * (i % 4) + 2 * (i // 4 % 4)) & 3) << 4
                d = np.float32(row[supers_at + 2 * (block // 8) :][:2].view(np.float16)[0])
                out[r, c] = d * np.float32(scale.view(np.int8)[i // 16]) * np.float32((q ^ 32) - 32)
            else:
                if format is Format.Q5_K:
                    word = int(row[high_at + 4 * block :][:4].view(np.uint32)[0])
                    q |= (word >> (8 * (i % 4) + i // 4) & 1) << 4
                d, least = row[supers_at + 4 * (block // 8) :][:4].view(np.float16).astype(np.float32)
                out[r, c] = d * np.float32(scale[0]) * np.float32(q) - least * np.float32(scale[1])
    return out


@pytest.mark.parametrize("format", list(BYTES_PER_256), ids=str)
def test_rows_of_blocks_are_padded_to_a_sector(format: Format) -> None:
    for cols in (256, 768, 4096):
        pitch, used = plane_layout(format, 3, cols).pitch, cols * BYTES_PER_256[format] // 256
        assert pitch % SECTOR == 0 and used <= pitch < used + SECTOR
        planes = repack(format, 3, cols, formats.encode(format, normal(3, cols))).reshape(3, pitch)
        assert not planes[:, used:].any()


@pytest.mark.parametrize("format", list(PACKINGS), ids=str)
def test_planes_hold_the_same_values(format: Format) -> None:
    rows, cols = 7, 3 * format.block_values if format.is_block else 45
    data = formats.encode(format, normal(rows, cols))
    layout, planes = plane_layout(format, rows, cols), repack(format, rows, cols, data)
    assert planes.size == layout.total_bytes and layout.pitch % 16 == 0
    values = formats.decode(format, rows, cols, data)
    if format in BYTES_PER_256:
        assert layout.total_bytes == rows * layout.pitch
        own = values_of_packed(format, cols, planes.reshape(rows, layout.pitch))
        assert (own.view(np.uint32) == values.view(np.uint32)).all()
    elif format is Format.Q8_0:
        quants = planes[: rows * cols].view(np.int8).reshape(rows, cols // 32, 32)
        scales = planes[layout.scales_offset :].view(np.float16)[: rows * cols // 32].reshape(rows, -1, 1)
        assert (quants * scales.astype(np.float32) == values.reshape(rows, -1, 32)).all()
    else:
        own = planes.reshape(rows, layout.pitch)
        assert (formats.decode(format, rows, cols, own[:, : format.row_bytes(cols)]) == values).all()
        assert not own[:, format.row_bytes(cols) :].any()


def test_bytes_that_are_not_the_matrix_are_refused() -> None:
    with pytest.raises(FormatError, match="q8_0 rows 2x32: expected 68 bytes, got 67"):
        repack(Format.Q8_0, 2, 32, np.zeros(67, np.uint8))
    with pytest.raises(FormatError, match="q4_k rows 2x256: expected 288 bytes, got 287"):
        repack(Format.Q4_K, 2, 256, np.zeros(287, np.uint8))
    with pytest.raises(FormatError, match="multiple of 256 values, got 2x128"):
        plane_layout(Format.Q6_K, 2, 128)
    with pytest.raises(FormatError, match="multiple of 32 values, got 2x40"):
        plane_layout(Format.Q8_0, 2, 40)


@pytest.mark.parametrize("planes, steps", [(1, 1), (2, 254)])
def test_quantized_activations_lie_within_half_a_step(planes: int, steps: int) -> None:
    x = normal(3, 96)
    q = quantize(x, planes)
    step = np.repeat(np.abs(x).reshape(3, 3, 32).max(axis=2) / 127 / steps, 32, axis=1)
    assert (np.abs(q.dequantize() - x) <= step * 0.5001 + 1e-7).all()
    buffer = q.pack()
    assert buffer.size == q.layout.total_bytes == 3 * 96 * planes + 4 * 9
    assert (unpack(buffer, q.layout).dequantize() == q.dequantize()).all()


def test_a_block_of_zeros_has_scale_zero() -> None:
    q = quantize(np.zeros((1, 32), np.float32), 2)
    assert not q.pack().any()


def test_activations_of_a_broken_width_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 32 values, got 1x33"):
        ActivationLayout(1, 33)
    with pytest.raises(ValueError, match="expected 1 or 2 planes, got 3"):
        ActivationLayout(1, 32, 3)
