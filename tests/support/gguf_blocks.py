"""Random blocks of every type of the format: any bytes, with scales that keep values of order one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

Kind = GGMLQuantizationType

SCALES: dict[GGMLQuantizationType, tuple[int, ...]] = {
    Kind.Q4_0: (0,),
    Kind.Q4_1: (0, 2),
    Kind.Q5_0: (0,),
    Kind.Q5_1: (0, 2),
    Kind.Q8_0: (0,),
    Kind.Q2_K: (80, 82),
    Kind.Q3_K: (108,),
    Kind.Q4_K: (0, 2),
    Kind.Q5_K: (0, 2),
    Kind.Q6_K: (208,),
    Kind.IQ2_XXS: (0,),
    Kind.IQ2_XS: (0,),
    Kind.IQ2_S: (0,),
    Kind.IQ3_XXS: (0,),
    Kind.IQ3_S: (0,),
    Kind.IQ1_S: (0,),
    Kind.IQ4_NL: (0,),
    Kind.IQ4_XS: (0,),
    Kind.TQ1_0: (52,),
    Kind.TQ2_0: (64,),
}
"""Where a block's f16 scales are, in bytes."""


def random_blocks(kind: GGMLQuantizationType, rows: int, cols: int, seed: int = 0) -> bytes:
    """The bytes of a matrix of `kind`, values of some hundredths to tenths."""
    rng = np.random.default_rng([seed, int(kind)])
    values, size = GGML_QUANT_SIZES[kind]
    count = rows * cols // values
    if kind in (Kind.F32, Kind.F16, Kind.BF16):
        plain = rng.standard_normal(count, np.float32) / 16
        if kind is Kind.BF16:
            return (plain.view(np.uint32) >> 16).astype(np.uint16).tobytes()
        return plain.astype(np.float16 if kind is Kind.F16 else np.float32).tobytes()
    blocks = rng.integers(0, 256, (count, size), np.uint8)
    for at in SCALES.get(kind, ()):
        scales = rng.uniform(0.001, 0.002, count).astype(np.float16)
        blocks[:, at : at + 2] = scales.view(np.uint8).reshape(count, 2)
    if kind is Kind.MXFP4:
        blocks[:, 0] = rng.integers(120, 124, count)
    if kind is Kind.IQ1_M:
        _spread_scale(blocks, 48, 0x1A00)
    return blocks.tobytes()


def _spread_scale(blocks: npt.NDArray[Any], at: int, bits: int) -> None:
    """An f16 scale, a digit of its bits in the top of each of four 16-bit words."""
    for k in range(4):
        high = blocks[:, at + 2 * k + 1]
        high[...] = (high & 0x0F) | (((bits >> (4 * k)) & 0xF) << 4)
