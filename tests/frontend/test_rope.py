"""Inverse frequencies against the papers' formulas in f64, one value at a time."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from lanelink.dialects.formats import Format
from lanelink.frontend.rope import DefaultRope, LinearRope, Llama3Rope, inverse_frequencies, rounded

LLAMA_31 = Llama3Rope(500_000.0, 8.0, 1.0, 4.0, 8192)


@pytest.mark.parametrize("theta", [10_000.0, 1_000_000.0, 1.0])
@pytest.mark.parametrize("head_dim", [2, 32, 80, 128])
def test_default(theta: float, head_dim: int):
    found = inverse_frequencies(DefaultRope(theta), head_dim)
    assert found.dtype == np.float32 and found.shape == (head_dim // 2,)
    expected = [theta ** (-2 * i / head_dim) for i in range(head_dim // 2)]
    np.testing.assert_allclose(found, expected, rtol=2e-6)


def test_arithmetic_is_f32():
    """1e6^(2i/128) and its inverse, each rounded to f32: not the f64 values rounded once."""
    found = inverse_frequencies(DefaultRope(1e6), 128)
    once = np.array([1e6 ** (-2 * i / 128) for i in range(64)]).astype(np.float32)
    assert (found != once).any()
    exponents = np.arange(0, 128, 2).astype(np.float32) / np.float32(128)
    assert (found == np.float32(1) / np.power(np.float32(1e6), exponents)).all()


def test_linear():
    found = inverse_frequencies(LinearRope(10_000.0, 4.0), 64)
    assert (found == inverse_frequencies(DefaultRope(10_000.0), 64) / np.float32(4)).all()


def llama3(rope: Llama3Rope, frequency: float) -> float:
    """Llama 3.1's `apply_scaling`, on one frequency."""
    wavelength = 2 * pi / frequency
    if wavelength < rope.original_context / rope.high_freq_factor:
        return frequency
    if wavelength > rope.original_context / rope.low_freq_factor:
        return frequency / rope.factor
    smooth = (rope.original_context / wavelength - rope.low_freq_factor) / (
        rope.high_freq_factor - rope.low_freq_factor
    )
    return (1 - smooth) * frequency / rope.factor + smooth * frequency


@pytest.mark.parametrize("rope", [LLAMA_31, Llama3Rope(10_000.0, 32.0, 1.0, 4.0, 64)])
def test_llama3(rope: Llama3Rope):
    plain = [rope.theta ** (-2 * i / 128) for i in range(64)]
    expected = [llama3(rope, f) for f in plain]
    ratios = np.array(expected) / plain
    assert (ratios == 1).any() and np.isclose(ratios, 1 / rope.factor).any(), "both ends of the range"
    assert ((ratios < 0.99) & (ratios > 1.01 / rope.factor)).any(), "and its middle"
    np.testing.assert_allclose(inverse_frequencies(rope, 128), expected, rtol=4e-6)


def test_rounded():
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, 0.1], np.float32)
    halves_to_even = [1.0, 1.0, 1 + 2**-6, 1 + 2**-7, 0.10009765625]
    assert rounded(values, Format.BF16).tolist() == halves_to_even
    assert rounded(values, Format.F16).tolist() == values.astype(np.float16).tolist()
    assert rounded(values, Format.F32) is values
    with pytest.raises(ValueError, match="expected frequencies as f32, f16 or bf16, got q4_k"):
        rounded(values, Format.Q4_K)
