"""Integer networks: accumulators to a narrower scale (Jacob et al., "Quantization and training of neural networks for
efficient integer-arithmetic-only inference")."""

from __future__ import annotations

import numpy as np

from lanelink.lowering.meanings.arithmetic import Ints

_I32 = np.iinfo(np.int32)


def requantize(x: Ints, multiplier: int, shift: int, zero_point: int) -> Ints:
    """x * multiplier / 2^shift, rounded to the nearest, halves away from zero, plus zero_point, held inside i32.

    multiplier is below 2^31 and shift at most 62, so that a product and half a step fit 64 bits.
    """
    scaled = x.astype(np.int64) * multiplier
    half = (1 << shift) >> 1
    rounded = np.sign(scaled) * ((np.abs(scaled) + half) >> shift)
    return np.clip(rounded + zero_point, _I32.min, _I32.max).astype(np.int32)


def clamp(x: Ints, low: int, high: int) -> Ints:
    """x held inside [low, high]."""
    return np.clip(x, low, high).astype(np.int32)


__all__ = ["clamp", "requantize"]
