"""Kernel calls of linear attention: convolutions, l2 norms, gates, the gated delta rule."""

from __future__ import annotations

from math import sqrt

from lanelink.dialects.formats import BLOCK_VALUES
from lanelink.lowering.selection.calls import (
    F32,
    I32,
    Address,
    Argument,
    KernelCall,
    Null,
    Scratch,
    ScratchKind,
    optional,
)
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.delta_specs import (
    ConvPart,
    ConvSpec,
    DeltaSpec,
    GateProjSpec,
    GatesSpec,
    L2Spec,
)
from lanelink.lowering.selection.packing import (
    MAX_GRID_YZ,
    quantizing,
    reading,
    require,
    rows_of_step,
    shares,
    some_result,
    writing,
)
from lanelink.lowering.selection.rows import MAX_GRID_X, row_threads
from lanelink.passes.schedule.splits import OUTPUTS, PROJECTED_ROWS

# The kernels' own constants (kernels/conv.cu, kernels/gates.cu, kernels/delta.cu).
MOST_TAPS = 8
MOST_CONVS = 4
GATE_THREADS = 256
COLUMNS = 16
"""Columns of a head's state that a block holds."""
DELTA_ENTRIES = ((128, "delta_k4", 128), (256, "delta_k8", 128), (1024, "delta_k16", 256))
"""(the widest head, the entry, its threads); the first that is wide enough is taken."""

CONV_THREADS = 128
MOST_CONV_THREADS = 1024


def conv(spec: ConvSpec, chip: Chip) -> KernelCall:
    """The call of up to four convolutions: a block takes a group that is normed, or as many channels as threads."""
    require(spec.m >= 1, "conv rows", "at least 1", spec.m)
    require(2 <= spec.taps <= MOST_TAPS, "conv taps", f"2 to {MOST_TAPS}", spec.taps)
    require(1 <= len(spec.parts) <= MOST_CONVS, "conv parts", f"1 to {MOST_CONVS}", len(spec.parts))
    widest = max((part.cols for part in spec.parts if part.cols is not None), default=CONV_THREADS)
    threads = min(-(-widest // 32) * 32, MOST_CONV_THREADS)
    units = [threads if part.cols is None else part.cols for part in spec.parts]
    parts = [_conv_part(part, unit) for part, unit in zip(spec.parts, units, strict=True)]
    parts += [_NO_CONV] * (MOST_CONVS - len(parts))
    blocks = sum(-(-part.channels // unit) for part, unit in zip(spec.parts, units, strict=True))
    head = (I32(spec.m), I32(spec.taps), I32(int(spec.silu)), F32(spec.eps), I32(int(spec.constant)))
    arguments = (*head, *(a for part in parts for a in part))
    return KernelCall("conv", "conv_channels", (blocks, 1, 1), (threads, 1, 1), 0, arguments)


_NO_CONV: tuple[Argument, ...] = (
    *(Null(), I32(0), Null(), Null(), Null(), I32(0)),
    *(I32(0), I32(1), I32(0)),
)


def _conv_part(part: ConvPart, unit: int) -> tuple[Argument, ...]:
    """The kernel's CONV_PARAMS of one convolution."""
    require(part.channels >= 1, "conv channels", "at least 1", part.channels)
    whole = part.cols is None or (part.cols >= 1 and part.channels % part.cols == 0)
    require(whole, "conv l2 norm", f"a divisor of the {part.channels} channels", part.cols)
    x, y = reading(part.x, "conv x"), reading(part.y, "conv result")
    return *x, part.weights, part.ring, *y, I32(part.channels), I32(unit), I32(int(part.cols is not None))


def l2_norm(spec: L2Spec, chip: Chip) -> KernelCall:
    """The call of l2 norms: one block a row."""
    rows_of_step(spec.m, "l2 norm", MAX_GRID_X)
    require(spec.cols >= 1, "l2 norm width", "at least 1", spec.cols)
    arguments = (*reading(spec.x, "l2 norm x"), *reading(spec.y, "l2 norm result"), I32(spec.cols), F32(spec.eps))
    return KernelCall("conv", "l2_rows", (spec.m, 1, 1), (row_threads(spec.cols), 1, 1), 0, arguments)


def gates(spec: GatesSpec, chip: Chip) -> KernelCall:
    """The call of a delta rule's gates: one thread a row and head."""
    require(spec.heads >= 1, "gates heads", "at least 1", spec.heads)
    require(spec.m >= 1, "gates rows", "at least 1", spec.m)
    require((spec.b is None) == (spec.beta is None), "gates", "b and beta, or neither", (spec.b, spec.beta))
    n = spec.m * spec.heads
    operands = (optional(spec.b), spec.a, spec.dt_bias, spec.a_log, optional(spec.beta), spec.decay)
    grid = (-(-n // GATE_THREADS), 1, 1)
    return KernelCall("gates", "gates_each", grid, (GATE_THREADS, 1, 1), 0, (*operands, I32(n), I32(spec.heads)))


def gate_proj(spec: GateProjSpec, chip: Chip) -> KernelCall:
    """The call of gate projections: blocks share out the inner size; the last of a tile's adds and gates them."""
    rows_of_step(spec.m, "gate projections")
    require(spec.k >= 1 and spec.heads >= 1, "gate projections", "at least 1x1", (spec.k, spec.heads))
    tiles, groups = -(-spec.heads // OUTPUTS), -(-spec.m // PROJECTED_ROWS)
    share, splits = shares(spec.k, spec.splits, "gate projections")
    arguments = (
        *reading(spec.x, "gate projections x"),
        *(spec.wb, spec.wa, spec.dt_bias, spec.a_log, spec.beta, spec.decay),
        *(I32(spec.m), I32(spec.k), I32(spec.heads), I32(share), I32(int(spec.constant))),
        *(Address(ScratchKind.PARTIALS), Address(ScratchKind.COUNTERS)),
    )
    scratch = (
        Scratch(ScratchKind.PARTIALS, 4 * splits * spec.m * 2 * spec.heads),
        Scratch(ScratchKind.COUNTERS, 4 * tiles * groups),
    )
    return KernelCall(
        "gates", "gate_projections", (tiles, splits, groups), (GATE_THREADS, 1, 1), 0, arguments, scratch=scratch
    )


def delta(spec: DeltaSpec, chip: Chip) -> KernelCall:
    """The call of the gated delta rule: a block holds some columns of a head's state; the last of a head's norms it."""
    require(spec.m >= 1, "delta rows", "at least 1", spec.m)
    some_result(spec.y, spec.quantized, "delta")
    grouped = spec.key_heads >= 1 and spec.value_heads >= 1 and spec.value_heads % spec.key_heads == 0
    heads = (spec.value_heads, spec.key_heads)
    require(grouped, "delta value heads", "a multiple of the key heads", heads)
    require(spec.value_heads <= MAX_GRID_YZ, "delta value heads", f"at most {MAX_GRID_YZ}", spec.value_heads)
    widest = DELTA_ENTRIES[-1][0]
    whole = 1 <= spec.d <= widest and spec.d % BLOCK_VALUES == 0
    require(whole, "delta head", f"a multiple of {BLOCK_VALUES} values, at most {widest}", spec.d)
    aligned = spec.state.offset % 16 == 0
    require(aligned, "delta state", "a buffer at a multiple of 4 values", f"one at byte {spec.state.offset}")
    _, entry, threads = next(row for row in DELTA_ENTRIES if spec.d <= row[0])
    arguments = (
        *reading(spec.q, "delta q"),
        *reading(spec.k, "delta k"),
        *reading(spec.v, "delta v"),
        *reading(spec.z, "delta z"),
        *(spec.beta, spec.decay, spec.state, spec.norm_weight),
        *(I32(spec.m), I32(spec.value_heads // spec.key_heads), I32(spec.d)),
        *(F32(1 / sqrt(spec.d)), F32(spec.eps)),
        *(Address(ScratchKind.PARTIALS), Address(ScratchKind.COUNTERS)),
        *writing(spec.y),
        *quantizing(spec.quantized, spec.value_heads * spec.d, "delta"),
    )
    scratch = (
        Scratch(ScratchKind.PARTIALS, 4 * spec.m * spec.value_heads * spec.d),
        Scratch(ScratchKind.COUNTERS, 4 * spec.value_heads),
    )
    grid = (spec.d // COLUMNS, spec.value_heads, 1)
    return KernelCall("delta", entry, grid, (threads, 1, 1), 0, arguments, scratch=scratch)


__all__ = ["conv", "delta", "gate_proj", "gates", "l2_norm"]
