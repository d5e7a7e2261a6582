"""A mixture of experts as frozen data: what its launch reads, weighs and writes."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.mixture import ExpertActivation
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.specs import Norm, Quantized, Rows, Unnormed


@dataclass(frozen=True)
class MoeMatrix:
    """Stored rows that are outputs, as planes of `format`; a format of None is plain f32 values [inputs, outputs]."""

    weights: Address
    format: Format | None


@dataclass(frozen=True)
class SharedExpert:
    """An expert of `hidden` values that every row takes: gate and up [hidden, width], down [width, hidden].

    `column` is the product of one output whose sigmoid weighs it, row by row.
    """

    hidden: int
    gate: MoeMatrix
    up: MoeMatrix
    down: MoeMatrix
    column: MoeMatrix | None = None


@dataclass(frozen=True)
class ExpertGroups:
    """Experts in `count` groups of one size, one after another, of which a row takes experts of `kept` alone: those
    whose `best` largest scores sum highest."""

    count: int
    kept: int
    best: int


@dataclass(frozen=True)
class MoeSpec:
    """The weighed sum of what `top_k` of `experts` experts make of each row of x [m, width], plus the shared expert.

    Experts' matrices lie one after another: gate and up [experts * hidden, width], down [experts * width, hidden];
    biases f32 [experts], [experts, hidden], [experts, hidden], [experts, width]. A router or column of plain rows or
    values reads `router_x`, f32 [m, width], or x as its norm makes it in f32; one of blocks reads x. Hidden rows are
    quantized as x is. Experts' weights are multiplied by `routed_scale`. `limit` is that of clamped_swiglu. `plus`:
    rows added to the result. `then`: its norm, the result being kept only where there is a `y`.
    """

    x: Rows | Quantized | Unnormed
    router_x: Rows | None
    m: int
    width: int
    experts: int
    top_k: int
    hidden: int
    act: ExpertActivation
    router: MoeMatrix
    gate: MoeMatrix
    up: MoeMatrix
    down: MoeMatrix
    y: Rows | None
    renormalize: bool = False
    groups: ExpertGroups | None = None
    routed_scale: float = 1.0
    limit: float | None = None
    router_bias: Address | None = None
    gate_bias: Address | None = None
    up_bias: Address | None = None
    down_bias: Address | None = None
    shared: SharedExpert | None = None
    plus: Rows | None = None
    then: Norm | None = None


__all__ = ["ExpertGroups", "MoeMatrix", "MoeSpec", "SharedExpert"]
