"""What the meanings are computed with: f64 arithmetic that they round to f32 once, at each value a launch stores."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from lanelink.lowering.functions import Activation

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def product64(x: Floats | Doubles, weights: Floats, bias: Floats | None = None) -> Doubles:
    """x [m, k] by weights [n, k], each row one output, plus bias [n] or [1, n]: [m, n]."""
    y = x.astype(np.float64) @ weights.astype(np.float64).T
    return y if bias is None else y + bias.astype(np.float64)


def rms64(x: Doubles, eps: float) -> Doubles:
    """x / sqrt(mean(x^2) + eps), along the last axis."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


def sigmoid64(x: Doubles) -> Doubles:
    """1 / (1 + exp(-x))."""
    # exp of a non-positive number on either side, so that nothing overflows.
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


def capped64(x: Doubles, cap: float) -> Doubles:
    """cap * tanh(x / cap)."""
    return cap * np.tanh(x / cap)


def _erf(x: Doubles) -> Doubles:
    """The error function to 1e-13: its Taylor series below 3, 1 - erfc by a continued fraction above."""
    z = np.abs(x)
    small = np.minimum(z, 3.0)
    term = small.copy()
    total = small.copy()
    for n in range(1, 60):
        term = -term * small * small / n
        total = total + term / (2 * n + 1)
    big = np.maximum(z, 3.0)
    tail = np.zeros_like(big)
    for n in range(60, 0, -1):
        tail = (n / 2) / (big + tail)
    erfc = np.exp(-big * big) / ((big + tail) * sqrt(np.pi))
    return np.copysign(np.where(z < 3.0, total * (2 / sqrt(np.pi)), 1.0 - erfc), x)


def activate64(act: Activation, x: Doubles) -> Doubles:
    """A function of one value, of each."""
    match act:
        case Activation.NONE:
            return x
        case Activation.SILU:
            return x * sigmoid64(x)
        case Activation.SIGMOID:
            return sigmoid64(x)
        case Activation.GELU:
            return 0.5 * x * (1.0 + _erf(x / sqrt(2.0)))
        case Activation.GELU_TANH:
            return 0.5 * x * (1.0 + np.tanh(sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)))
        case Activation.RELU:
            return np.maximum(x, 0.0)
        case Activation.TANH:
            return np.tanh(x)
        case Activation.EXP:
            return np.exp(x)
        case Activation.SQUARE:
            return x * x


__all__ = ["Doubles", "Floats", "Ints", "activate64", "capped64", "product64", "rms64", "sigmoid64"]
