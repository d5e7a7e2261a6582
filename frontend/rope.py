"""Rotary position embeddings: the variants a config.json may ask for, and their inverse frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log, pi

import numpy as np
from numpy.typing import NDArray

from lanelink.dialects.formats import Format


@dataclass(frozen=True)
class DefaultRope:
    """RoFormer's rotation (https://arxiv.org/abs/2104.09864, section 3.2): pair i turns by theta^(-2i/d) a position."""

    theta: float


@dataclass(frozen=True)
class LinearRope:
    """Position interpolation (https://arxiv.org/abs/2306.15595): every frequency divided by `factor`."""

    theta: float
    factor: float


@dataclass(frozen=True)
class Llama3Rope:
    """Llama 3.1's rotation: long wavelengths divided by `factor`, short ones kept, those between interpolated.

    A wavelength is long past `original_context / low_freq_factor` positions, and short below
    `original_context / high_freq_factor`.
    """

    theta: float
    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_context: int


@dataclass(frozen=True)
class YarnRope:
    """YaRN (https://arxiv.org/abs/2309.00071, section 3.2): slow pairs divided by `factor`, fast ones kept.

    A pair is fast that turns `beta_fast` times over `original_context` positions, slow that turns `beta_slow` times;
    those between are interpolated, from and to whole pairs where `truncate`.
    """

    theta: float
    factor: float
    original_context: int
    beta_fast: float
    beta_slow: float
    truncate: bool
    attention_factor: float
    """What both tables are multiplied by, which the product of a query and a key then has squared."""


@dataclass(frozen=True)
class DividedRope:
    """Every pair's frequency divided by a number of its own (a GGUF file's form of Llama 3.1's rotation)."""

    theta: float
    divisors: tuple[float, ...]


Rope = DefaultRope | LinearRope | Llama3Rope | YarnRope | DividedRope


def magnitude_scale(factor: float, magnitude: float = 1.0) -> float:
    """How much YaRN sharpens scores over a context `factor` times as long: 0.1·magnitude·ln(factor) + 1."""
    return 1.0 if factor <= 1 else 0.1 * magnitude * log(factor) + 1.0


def table_scale(rope: Rope) -> float:
    """What a rotation's cos and sin tables are multiplied by."""
    return rope.attention_factor if isinstance(rope, YarnRope) else 1.0


def inverse_frequencies(rope: Rope, head_dim: int) -> NDArray[np.float32]:
    """The angle each pair of `head_dim` turned values turns by a position, in radians, f32[head_dim / 2].

    In f32 throughout and in the order of operations of transformers' `modeling_rope_utils`: an f64 table differs in the
    last bits, which thousands of positions multiply. theta^x is the one step that may differ by a rounding.
    """
    f32 = np.float32
    exponents = np.arange(0, head_dim, 2, dtype=np.float32) / f32(head_dim)
    frequencies = f32(1) / f32(rope.theta) ** exponents
    match rope:
        case DefaultRope():
            return frequencies
        case LinearRope(factor=factor):
            return frequencies / f32(factor)
        case Llama3Rope():
            return _llama3(rope, frequencies)
        case DividedRope(divisors=divisors):
            return (frequencies / np.array(divisors, np.float32)).astype(np.float32)
        case YarnRope():
            return _yarn(rope, f32(rope.theta) ** exponents)


def _llama3(rope: Llama3Rope, frequencies: NDArray[np.float32]) -> NDArray[np.float32]:
    f32 = np.float32
    low, context = f32(rope.low_freq_factor), f32(rope.original_context)
    wavelengths = f32(2 * pi) / frequencies
    is_long = wavelengths > f32(rope.original_context / rope.low_freq_factor)
    is_short = wavelengths < f32(rope.original_context / rope.high_freq_factor)
    smooth = (context / wavelengths - low) / f32(rope.high_freq_factor - rope.low_freq_factor)
    between = (f32(1) - smooth) * frequencies / f32(rope.factor) + smooth * frequencies
    return np.where(is_long, frequencies / f32(rope.factor), np.where(is_short, frequencies, between))


def _yarn(rope: YarnRope, periods: NDArray[np.float32]) -> NDArray[np.float32]:
    """`periods`: theta^(2i/d), the inverse of each pair's own frequency."""
    f32 = np.float32
    pairs = len(periods)

    def turning(turns: float) -> float:
        """The pair, as a fraction, that turns so many times over the original context."""
        return pairs * log(rope.original_context / (turns * 2 * pi)) / log(rope.theta)

    low, high = turning(rope.beta_fast), turning(rope.beta_slow)
    if rope.truncate:
        low, high = floor(low), ceil(high)
    low, high = max(low, 0), min(high, 2 * pairs - 1)
    if low == high:
        high += 0.001
    slowness = (np.arange(pairs, dtype=np.float32) - f32(low)) / f32(high - low)
    kept = f32(1) - slowness.clip(f32(0), f32(1))
    stretched, plain = f32(1) / (f32(rope.factor) * periods), f32(1) / periods
    return ((f32(1) - kept) * stretched + kept * plain).astype(np.float32)


def rounded(frequencies: NDArray[np.float32], format: Format) -> NDArray[np.float32]:
    """`frequencies` rounded to `format`, halves to even; ValueError for a block format.

    transformers keeps them in f32 whatever the weights are in, unless a program casts the whole module, buffers and
    all, as `model.to(torch.bfloat16)` does: its results are then those of rounded frequencies.
    """
    match format:
        case Format.F32:
            return frequencies
        case Format.F16:
            return frequencies.astype(np.float16).astype(np.float32)
        case Format.BF16:
            bits = frequencies.view(np.uint32)
            kept = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
            return kept.view(np.float32)
        case _:
            raise ValueError(f"rope: expected frequencies as f32, f16 or bf16, got {format}")
