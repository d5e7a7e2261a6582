"""Kernel calls of functions of one value or two, and of quantization alone."""

from __future__ import annotations

from lanelink.lowering.functions import Activation, BinaryOp, Broadcast
from lanelink.lowering.selection.calls import F32, I32, KernelCall
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.packing import (
    quantizing,
    quantizing_rows,
    reading,
    require,
    rows_of_step,
    some_result,
    writing,
)
from lanelink.lowering.selection.specs import BinarySpec, QuantizeSpec, SwigluSpec, UnarySpec

THREADS = (32, 64, 128, 256)
"""Threads of a block: the fewest that take a row by four values each, or the most."""


def _grid(m: int, n: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """(grid, block) over rows of n values."""
    threads = next((t for t in THREADS if 4 * t >= n), THREADS[-1])
    return (-(-n // (4 * threads)), m, 1), (threads, 1, 1)


def _checked(m: int, n: int, where: str) -> None:
    rows_of_step(m, where)
    require(n >= 1, f"{where} width", "at least 1", n)


def binary(spec: BinarySpec, chip: Chip) -> KernelCall:
    """The call of a function of two values."""
    _checked(spec.m, spec.n, "binary")
    some_result(spec.y, spec.quantized, "binary")
    b, b_pitch = reading(spec.b, "binary b")
    pitch, step = {
        Broadcast.NONE: (b_pitch, I32(1)),
        Broadcast.ROW: (I32(0), I32(1)),
        Broadcast.COLUMN: (b_pitch, I32(0)),
    }[spec.broadcast]
    grid, block = _grid(spec.m, spec.n)
    arguments = (
        *(I32(spec.op.code), *reading(spec.a, "binary a"), b, pitch, step),
        *(I32(spec.gate.code), I32(spec.m), I32(spec.n)),
        *writing(spec.y),
        *quantizing(spec.quantized, spec.n, "binary"),
    )
    return KernelCall("elementwise", "binary_rows", grid, block, 0, arguments)


def swiglu(spec: SwigluSpec, chip: Chip) -> KernelCall:
    """The call of silu(gate) * up: a gated product."""
    gated = BinarySpec(
        BinaryOp.MUL,
        spec.up,
        spec.gate,
        spec.m,
        spec.n,
        gate=Activation.SILU,
        y=spec.y,
        quantized=spec.quantized,
    )
    return binary(gated, chip)


def unary(spec: UnarySpec, chip: Chip) -> KernelCall:
    """The call of a scaled function of one value."""
    _checked(spec.m, spec.n, "unary")
    some_result(spec.y, spec.quantized, "unary")
    grid, block = _grid(spec.m, spec.n)
    arguments = (
        *(*reading(spec.x, "unary x"), I32(spec.act.code), F32(spec.factor), I32(spec.m), I32(spec.n)),
        *writing(spec.y),
        *quantizing_rows(spec.quantized, spec.m, spec.n, "unary"),
    )
    return KernelCall("elementwise", "unary_rows", grid, block, 0, arguments)


def quantize(spec: QuantizeSpec, chip: Chip) -> KernelCall:
    """The call that quantizes rows: a function of one value that leaves it as it is."""
    return unary(UnarySpec(spec.x, spec.m, spec.n, quantized=spec.quantized), chip)


__all__ = ["binary", "quantize", "swiglu", "unary"]
