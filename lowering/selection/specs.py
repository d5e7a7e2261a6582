"""The launches that kernels exist for, as frozen data: one spec a kind, its buffers named by addresses.

Sizes and pitches count values, not bytes. `m` is the rows of the step. Every spec says what its launch writes: `y` the
f32 result, `quantized` its quantized form; either may be None, not both.
"""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import Format
from lanelink.lowering.functions import Activation, BinaryOp, Broadcast
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.operands import HeadNorm, Quantized, Rows, Unnormed
from lanelink.passes.tensor_cores import Tail


@dataclass(frozen=True)
class Norm:
    """RMSNorm of rows x, with what may come before it:

    x = x / rms(x) * pre.weight        where `pre` (a sandwiched norm)
    s = x + add                        where `add`; s is stored in `sum` where given
    y = s / rms(s) * weight            weight f32 [cols], or None for ones
    """

    eps: float
    weight: Address | None = None
    add: Rows | None = None
    sum: Rows | None = None
    pre: HeadNorm | None = None
    y: Rows | None = None
    quantized: Quantized | None = None


@dataclass(frozen=True)
class Turn:
    """That a part's heads are rotated, each after its own norm where `norm`, and land `unit` values apart in y (None:
    one after another)."""

    norm: HeadNorm | None = None
    unit: int | None = None


@dataclass(frozen=True)
class Rotation:
    """How heads of `hd` values turn: by row (position + r) of cos and sin, f32 [context, half].

    `position` is the address of a device i32, or None where the tables are already cut to the step's rows.
    """

    cos: Address
    sin: Address
    position: Address | None
    hd: int
    half: int


@dataclass(frozen=True)
class RopeFold:
    """A product's parts turned in its own launch: `turns` has one entry a part, None for a part left as it is."""

    rotation: Rotation
    turns: tuple[Turn | None, ...]


@dataclass(frozen=True)
class GemvPart:
    """One product: `weights` planes of [n, k] (`lowering.repack`), `bias` f32 [n], result rows `y`."""

    weights: Address
    n: int
    y: Rows | None
    bias: Address | None = None


@dataclass(frozen=True)
class GemvSpec:
    """Products of one activation x [m, k] by up to four matrices of one format, in one launch.

    `then` a Norm: one part, whose product is normed (and kept only where the part has a `y`). `then` a RopeFold: the
    turned parts' heads land in their `y` rotated. `quantized`: one part, its product quantized. `residual`: one part,
    rows added to its product where nothing follows. `per_warp`: rows of a matrix that a warp takes together, 2 or 4;
    two where none are given. `tail`: of a product on tensor cores, how its last tiles are shared; None: they are not.
    """

    x: Rows | Quantized | Unnormed
    format: Format
    k: int
    m: int
    parts: tuple[GemvPart, ...]
    then: Norm | RopeFold | None = None
    quantized: Quantized | None = None
    residual: Rows | None = None
    per_warp: int | None = None
    tail: Tail | None = None


@dataclass(frozen=True)
class GluSpec:
    """act(x · gate + gate_bias) * (x · up + up_bias), both [n, k] of one format.

    `per_warp`: rows of each matrix that a warp takes together, 1 or 2; one where none are given. `tail` as of a
    GemvSpec.
    """

    x: Rows | Quantized | Unnormed
    format: Format
    k: int
    n: int
    m: int
    gate: Address
    up: Address
    act: Activation
    gate_bias: Address | None = None
    up_bias: Address | None = None
    y: Rows | None = None
    quantized: Quantized | None = None
    per_warp: int | None = None
    tail: Tail | None = None


@dataclass(frozen=True)
class GatherSpec:
    """Rows of a constant table by m device indices (i32), times `scale`; then a norm of them in the same launch.

    `table` holds planes of [table_rows, cols]. An index outside the table reads its nearest row.
    """

    table: Address
    format: Format
    table_rows: int
    cols: int
    index: Address
    m: int
    y: Rows | None
    scale: float = 1.0
    then: Norm | None = None


@dataclass(frozen=True)
class NormSpec:
    """A norm of every unit of `cols` values, `units` in each of m rows.

    Unit u of row r is `x_unit * u` values into row r of x, and lands so in y by `y_unit`; None is one after another.
    What is added, the sum and the quantized form are rows of one unit each, m * units of them.
    """

    x: Rows
    m: int
    cols: int
    norm: Norm
    units: int = 1
    x_unit: int | None = None
    y_unit: int | None = None


@dataclass(frozen=True)
class RopeSide:
    """`heads` heads a row: head h of row r is `x_unit * h` values into row r of x, and lands so in y by `y_unit`.

    A unit of None is the head size.
    """

    x: Rows
    y: Rows
    heads: int
    norm: HeadNorm | None = None
    x_unit: int | None = None
    y_unit: int | None = None


@dataclass(frozen=True)
class RopeSpec:
    """Up to four sides turned in one launch."""

    rotation: Rotation
    m: int
    sides: tuple[RopeSide, ...]


@dataclass(frozen=True)
class Advance:
    """token := the index found; position := position + 1; both device i32 [m], one a row."""

    token: Address
    position: Address


@dataclass(frozen=True)
class ArgMaxSpec:
    """The lowest index of each row's largest value, i32 [m]; a NaN is larger than every number, as in numpy."""

    x: Rows
    n: int
    m: int
    out: Address
    advance: Advance | None = None


@dataclass(frozen=True)
class BinarySpec:
    """op(a, f(b)) over [m, n], f the activation `gate` or none; b may be one row or one column, repeated."""

    op: BinaryOp
    a: Rows
    b: Rows
    m: int
    n: int
    broadcast: Broadcast = Broadcast.NONE
    gate: Activation = Activation.NONE
    y: Rows | None = None
    quantized: Quantized | None = None


@dataclass(frozen=True)
class SwigluSpec:
    """silu(gate) * up over [m, n]."""

    gate: Rows
    up: Rows
    m: int
    n: int
    y: Rows | None = None
    quantized: Quantized | None = None


@dataclass(frozen=True)
class UnarySpec:
    """factor * f(x) over [m, n]: an activation with factor 1, or a scale with no activation."""

    x: Rows
    m: int
    n: int
    act: Activation = Activation.NONE
    factor: float = 1.0
    y: Rows | None = None
    quantized: Quantized | None = None


@dataclass(frozen=True)
class QuantizeSpec:
    """x [m, n] quantized."""

    x: Rows
    m: int
    n: int
    quantized: Quantized


@dataclass(frozen=True)
class CopySpec:
    """m rows of `units` runs of `width` values, run u of a row at `x_unit * u` in x and at `y_unit * u` in y.

    Writes rows into a table (y.row), slices heads (x_unit wider than width), joins them (y_unit wider), or copies.
    """

    x: Rows
    y: Rows
    m: int
    width: int
    units: int = 1
    x_unit: int = 0
    y_unit: int = 0


@dataclass(frozen=True)
class AdvanceSpec:
    """y := x + by, device i32 [count]; y may be x."""

    x: Address
    y: Address
    by: int
    count: int = 1


@dataclass(frozen=True)
class ValuesSpec:
    """x [m, k] by a plain f32 matrix [k, n], plus bias f32 [n]; k in `splits` shares, each a block's."""

    x: Rows
    weights: Address
    m: int
    k: int
    n: int
    y: Rows
    bias: Address | None = None
    splits: int = 1


__all__ = [
    "Advance",
    "AdvanceSpec",
    "ArgMaxSpec",
    "BinarySpec",
    "CopySpec",
    "GatherSpec",
    "GemvPart",
    "GemvSpec",
    "GluSpec",
    "HeadNorm",
    "Norm",
    "NormSpec",
    "QuantizeSpec",
    "Quantized",
    "RopeFold",
    "RopeSide",
    "RopeSpec",
    "Rotation",
    "Rows",
    "SwigluSpec",
    "Turn",
    "UnarySpec",
    "ValuesSpec",
]
