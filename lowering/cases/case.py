"""A case: a launch spec, what its buffers hold, and what each buffer it writes must then hold, to what tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from lanelink.lowering.activations import ActivationLayout, quantize, unpack
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.specs import Quantized, Rows
from lanelink.lowering.selection.union import Spec

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

Seed = int | tuple[int, int]
"""A case's seed; of one sequence's among several, that of what they have in common, and its own."""

UNIT = 2.0**-24
"""The rounding of one f32 operation, relative to its result."""


@dataclass(frozen=True)
class FloatResult:
    """A buffer of f32 that must lie within `tolerance` (an array of its shape, or one number) of `expected`."""

    name: str
    expected: Floats
    tolerance: Doubles | float

    def errors(self, read: Callable[[str], Bytes]) -> Doubles:
        """Each value's error over its tolerance; infinite where a NaN or infinity is not the expected one."""
        got = read(self.name).view(np.float32)[: self.expected.size].reshape(self.expected.shape)
        return _ratio(got, self.expected, self.tolerance)


@dataclass(frozen=True)
class QuantizedResult:
    """A buffer of quantized rows.

    With `of`, the bytes must be those of quantizing the f32 rows that the launch stored in the buffer `of`. Without,
    what the quants stand for must lie within half a step of `expected`, and its tolerance.
    """

    name: str
    layout: ActivationLayout
    expected: Floats
    tolerance: Doubles | float
    of: str | None = None

    def errors(self, read: Callable[[str], Bytes]) -> Doubles:
        """Each byte's difference, or each value's error over its tolerance."""
        got = read(self.name)[: self.layout.total_bytes]
        if self.of is not None:
            stored = read(self.of).view(np.float32)[: self.expected.size].reshape(self.expected.shape)
            want = quantize(stored, self.layout.planes).pack()
            return np.where(got == want, 0.0, np.inf)
        blocks = np.abs(self.expected.astype(np.float64)).reshape(self.layout.rows, -1, 32)
        step = blocks.max(axis=2) / 127 / (1 if self.layout.planes == 1 else 254)
        half = np.repeat(step / 2, 32, axis=1)
        # The scale and the quotient round, each to UNIT of a value of at most 127 steps.
        slack = half + np.repeat(blocks.max(axis=2), 32, axis=1) * 4 * UNIT + 2 * np.asarray(self.tolerance)
        return _ratio(unpack(got, self.layout).dequantize(), self.expected, slack)


@dataclass(frozen=True)
class ExactResult:
    """A buffer that must hold these bytes."""

    name: str
    expected: npt.NDArray[Any]

    def errors(self, read: Callable[[str], Bytes]) -> Doubles:
        """0 where a byte is the expected one, infinite elsewhere."""
        want = np.ascontiguousarray(self.expected).view(np.uint8).reshape(-1)
        return np.where(read(self.name)[: want.size] == want, 0.0, np.inf)


Result = FloatResult | QuantizedResult | ExactResult


@dataclass(frozen=True)
class Case:
    """One launch to run: buffers by name (contents, or a number of bytes never written), and its results."""

    name: str
    spec: Spec
    buffers: dict[str, Bytes | int]
    results: tuple[Result, ...]

    def worst(self, read: Callable[[str], Bytes]) -> dict[str, float]:
        """Each result's largest error over its tolerance: right where at most 1. `read` gives a buffer's bytes."""
        return {r.name: float(r.errors(read).max(initial=0.0)) for r in self.results}


def _ratio(got: Floats, expected: Floats, tolerance: Doubles | float) -> Doubles:
    with np.errstate(invalid="ignore"):
        error = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    # A tolerance of 0 asks for the very value.
    bound = np.broadcast_to(np.maximum(np.asarray(tolerance, np.float64), 1e-300), error.shape)
    return np.where(same, 0.0, np.where(np.isfinite(error), error, np.inf) / bound)


@dataclass(frozen=True)
class Units:
    """Where a unit lies in a wider one: `offset` values into each `pitch`."""

    pitch: int
    offset: int


@dataclass
class Builder:
    """Collects a case's buffers and results; `rng` is its own, `common` that of all of its sequences."""

    seed: Seed = 0
    buffers: dict[str, Bytes | int] = field(default_factory=dict[str, Bytes | int])
    results: list[Result] = field(default_factory=list[Result])

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.common = np.random.default_rng((self.seed if isinstance(self.seed, int) else self.seed[0], 1))

    def normal(self, *shape: int, scale: float = 1.0) -> Floats:
        """Random f32 values."""
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def constant(self, *shape: int) -> Floats:
        """Random f32 values that all sequences have in common."""
        return self.common.standard_normal(shape).astype(np.float32)

    def put(self, name: str, values: npt.NDArray[Any]) -> Address:
        """A buffer that holds `values`."""
        self.buffers[name] = np.ascontiguousarray(values).reshape(-1).view(np.uint8).copy()
        return Address(name)

    def maybe(self, name: str, values: npt.NDArray[Any] | None) -> Address | None:
        """A buffer that holds `values`, or None where there are none."""
        return None if values is None else self.put(name, values)

    def rows(self, name: str, values: Floats, gap: int = 0) -> Rows:
        """Rows of a pitch `gap` values wider than they are, with values between them that nothing may read right."""
        padded = np.full((values.shape[0], values.shape[1] + gap), np.float32(np.nan))
        padded[:, : values.shape[1]] = values
        return Rows(self.put(name, padded), values.shape[1] + gap)

    def index(self, name: str, *values: int) -> Address:
        """A buffer of i32."""
        return self.put(name, np.array(values, np.int32))

    def out(self, name: str, expected: Floats, tolerance: Doubles | float) -> Rows:
        """A destination that must then hold `expected`."""
        self.buffers[name] = expected.size * 4
        self.results.append(FloatResult(name, expected, tolerance))
        return Rows(Address(name), expected.shape[-1])

    def table(
        self, name: str, expected: Floats, tolerance: Doubles | float, at: int, index: str | None, context: int
    ) -> Rows:
        """A destination of rows `at`.. of a table, whose other rows must stay as they were; the row is on the device
        where `index` names its buffer."""
        before = self.normal(context, expected.shape[1])
        after, bound = before.copy(), np.zeros(before.shape)
        after[at : at + expected.shape[0]] = expected
        bound[at : at + expected.shape[0]] = tolerance
        self.put(name, before)
        self.results.append(FloatResult(name, after, bound))
        return Rows(Address(name), expected.shape[1], at if index is None else Address(index))

    def units(self, name: str, values: Floats, width: int, units: Units) -> Rows:
        """Rows whose units of `width` values lie in wider ones, with values around them that nothing may read right."""
        m = values.shape[0]
        apart = np.full((m, values.shape[1] // width, units.pitch), np.float32(np.nan))
        apart[:, :, units.offset : units.offset + width] = values.reshape(m, -1, width)
        return Rows(self.put(name, apart).at(4 * units.offset), apart.shape[1] * units.pitch)

    def into_units(
        self,
        name: str,
        expected: Floats,
        tolerance: Doubles | float,
        width: int,
        units: Units,
        at: int,
        index: str | None,
    ) -> Rows:
        """A destination of units of `width` values in wider ones, of rows `at`.. of a table; all around them must stay
        as it was. The row is on the device where `index` names its buffer."""
        m = expected.shape[0]
        before = self.normal(at + m + 2, expected.shape[1] // width * units.pitch)
        after, bound = before.copy(), np.zeros(before.shape)
        for held, written in ((after, expected), (bound, np.broadcast_to(tolerance, expected.shape))):
            apart = held[at : at + m].reshape(m, -1, units.pitch)
            apart[:, :, units.offset : units.offset + width] = written.reshape(m, -1, width)
        self.put(name, before)
        self.results.append(FloatResult(name, after, bound))
        address = Address(name, 4 * units.offset)
        return Rows(address, before.shape[1], at if index is None else Address(index))

    def quantized(
        self, name: str, expected: Floats, tolerance: Doubles | float, planes: int, of: str | None = None
    ) -> Quantized:
        """A quantized destination."""
        rows, cols = expected.shape
        layout = ActivationLayout(rows, cols, planes)
        self.buffers[name] = layout.total_bytes
        self.results.append(QuantizedResult(name, layout, expected, tolerance, of))
        return Quantized(Address(name), planes)

    def done(self, name: str, spec: Spec) -> Case:
        """The case."""
        return Case(name, spec, dict(self.buffers), tuple(self.results))


__all__ = ["UNIT", "Builder", "Case", "ExactResult", "FloatResult", "QuantizedResult", "Result", "Seed", "Units"]
