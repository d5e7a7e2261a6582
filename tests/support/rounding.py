"""Rounding as PTX says it, in exact fractions."""

from __future__ import annotations

from fractions import Fraction


def rounded(x: Fraction, mode: str = "rn", digits: int = 24, least: int = -149, most: int = 128) -> float:
    """A fraction as the nearest value of `digits` bits, multiples of 2^least, under a mode; ties to even."""
    if x == 0:
        return 0.0
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** max(exponent - digits + 1, least)
    whole, rest = divmod(size, step)
    up = {
        "rn": rest * 2 > step or (rest * 2 == step and whole % 2 == 1),
        "rz": False,
        "rm": rest > 0 and x < 0,
        "rp": rest > 0 and x > 0,
    }[mode]
    result = (whole + up) * step
    if result >= Fraction(2) ** most:
        largest = (Fraction(2) ** digits - 1) * Fraction(2) ** (most - digits)
        away = mode == "rn" or (mode == "rp" and x > 0) or (mode == "rm" and x < 0)
        return float("inf") * (1 if x > 0 else -1) if away else float(largest * (1 if x > 0 else -1))
    return float(result) * (1 if x > 0 else -1)
