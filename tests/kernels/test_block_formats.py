"""Block formats against the gguf package's own dequantization, and our quantizers against plain ones."""

from __future__ import annotations

import numpy as np
import pytest
from gguf import GGMLQuantizationType, quants

from lanelink.dialects.formats import Format
from lanelink.lowering import block_formats, formats
from lanelink.lowering.formats import Floats, FormatError

BLOCKS = [f for f in Format if f.is_block]
SMALL = [f for f in BLOCKS if f is not Format.Q8_0]
SCALES = {
    Format.Q8_0: (0,),
    Format.Q4_0: (0,),
    Format.Q4_K: (0, 2),
    Format.Q5_K: (0, 2),
    Format.Q6_K: (208,),
    Format.MXFP4: (),
}
"""Where a block's f16 numbers lie, which random bytes could make infinite."""


def random_rows(format: Format, rows: int, cols: int) -> formats.Bytes:
    """Rows of random bits, whose numbers are finite, of every size and sign."""
    rng = np.random.default_rng(cols)
    blocks = rng.integers(0, 256, (rows, cols // format.block_values, format.block_bytes), np.uint8)
    for at in SCALES[format]:
        number = blocks[..., at : at + 2].copy().view(np.uint16)
        blocks[..., at : at + 2] = np.where(number & 0x7C00 == 0x7C00, number & 0x83FF, number).view(np.uint8)
    if format is Format.MXFP4:
        blocks[..., 0] = np.minimum(blocks[..., 0], 252)
    return blocks.reshape(rows, -1)


@pytest.mark.parametrize("format", BLOCKS, ids=str)
def test_decoding_is_ggufs_bit_for_bit(format: Format) -> None:
    rows, cols = 37, 1536
    data = random_rows(format, rows, cols)
    own = formats.decode(format, rows, cols, data)
    theirs = quants.dequantize(data, GGMLQuantizationType[format.name])
    assert (own.view(np.uint32) == theirs.view(np.uint32)).all()


def test_every_exponent_of_mxfp4() -> None:
    blocks = np.zeros(253, block_formats.MXFP4_BLOCK)
    blocks["exponent"] = np.arange(253)
    blocks["quants"] = np.arange(0, 256, 17)[:16]
    data = blocks.view(np.uint8).reshape(253, -1)
    theirs = quants.dequantize(data, GGMLQuantizationType.MXFP4)
    assert (formats.decode(Format.MXFP4, 253, 32, data) == theirs).all()


def plain(format: Format, x: Floats) -> Floats:
    """x through a quantizer without a search, its scales of f32: what ours, whose scales are rounded, has to match."""
    if format in (Format.Q4_K, Format.Q5_K):
        most, blocks = (15 if format is Format.Q4_K else 31), x.reshape(-1, 32)
        low = np.minimum(blocks.min(axis=1, keepdims=True), 0)
        step = (blocks.max(axis=1, keepdims=True) - low) / most
        return (low + step * np.rint((blocks - low) / step)).reshape(x.shape)
    if format is Format.MXFP4:
        blocks = x.reshape(-1, 32)
        unit = np.exp2(np.floor(np.log2(np.abs(blocks).max(axis=1, keepdims=True))) - 2)
        grid = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        nearest = np.abs(np.abs(blocks / unit)[..., None] - grid).argmin(axis=-1)
        return (np.sign(blocks) * grid[nearest] * unit).reshape(x.shape)
    levels, values = (8, 32) if format is Format.Q4_0 else (32, 16)
    blocks = x.reshape(-1, values)
    step = np.abs(blocks).max(axis=1, keepdims=True) / (levels - 1)
    return (step * np.rint(blocks / step)).reshape(x.shape)


@pytest.mark.parametrize("kind", ["normal", "shifted", "heavy"])
@pytest.mark.parametrize("format", SMALL, ids=str)
def test_a_quantizer_is_no_worse_than_a_plain_one(format: Format, kind: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((64, 1024)).astype(np.float32) * np.float32(0.03)
    if kind == "shifted":
        x += np.float32(0.05)
    elif kind == "heavy":
        x *= np.exp(rng.standard_normal((64, 1024))).astype(np.float32)
    back = formats.decode(format, 64, 1024, formats.encode(format, x))
    ours, theirs = (np.sqrt(np.mean((x - y) ** 2)) for y in (back, plain(format, x)))
    assert 0 < ours <= theirs


@pytest.mark.parametrize("format", SMALL, ids=str)
def test_values_of_a_format_come_back(format: Format) -> None:
    """What a format holds exactly is kept, to the rounding of its scales."""
    block = format.block_values
    x = np.tile(np.arange(-8, 8, dtype=np.float32), block // 16)[None] * np.float32(0.25)
    if format is Format.MXFP4:
        x = np.tile(block_formats.MXFP4_VALUES.astype(np.float32), block // 16)[None] * np.float32(0.25)
    back = formats.decode(format, 1, block, formats.encode(format, x))
    assert np.abs(back - x).max() <= (0.03 if format in (Format.Q4_K, Format.Q5_K) else 0.07) * np.abs(x).max()
    if format in (Format.Q4_0, Format.MXFP4):
        assert (back == x).all()


@pytest.mark.parametrize("format", SMALL, ids=str)
def test_zeros_the_smallest_and_the_largest_values(format: Format) -> None:
    block = format.block_values
    for value in (0.0, 1e-44, -1e-38, 1e-9):
        x = np.full((1, 2 * block), np.float32(value))
        back = formats.decode(format, 1, 2 * block, formats.encode(format, x))
        assert (np.abs(back - x) <= max(abs(value), 1e-38)).all()
    if format is Format.MXFP4:
        x = np.full((1, block), np.float32(3e38))
        assert np.abs(formats.decode(format, 1, block, formats.encode(format, x)) / x - 1).max() < 0.3
        return
    for value in (1e9, 1e30, -1e30):
        with pytest.raises(FormatError, match=f"encode {format.value}: expected block scales that f16 holds"):
            formats.encode(format, np.full((1, block), np.float32(value)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("format", SMALL, ids=str)
def test_values_that_are_not_finite_are_refused(format: Format, value: float) -> None:
    x = np.ones((2, 512), np.float32)
    x[1, 300] = value
    with pytest.raises(FormatError, match=f"encode {format.value}: expected finite values, got {value}"):
        formats.encode(format, x)


def test_chunks_are_one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(1).standard_normal((9, 512)).astype(np.float32)
    whole = {f: formats.encode(f, x) for f in SMALL}
    monkeypatch.setattr(block_formats, "_CHUNK_VALUES", 1024)
    for format, data in whole.items():
        assert (formats.encode(format, x) == data).all()
