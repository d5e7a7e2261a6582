"""Kernel calls of norms, gathers, rotations, copies and arg-max."""

from __future__ import annotations

from lanelink.dialects.formats import Format
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection.calls import (
    F32,
    I32,
    Address,
    Argument,
    KernelCall,
    Null,
    Scratch,
    ScratchKind,
)
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.packing import (
    MAX_GRID_X,
    NO_NORM,
    head_norm,
    norm_arguments,
    reading,
    require,
    rows_of_step,
    shared_floats,
    writing,
)
from lanelink.lowering.selection.specs import (
    AdvanceSpec,
    ArgMaxSpec,
    CopySpec,
    GatherSpec,
    NormSpec,
    RopeSide,
    RopeSpec,
)

ROW_THREADS = (64, 128, 256, 512)
"""Threads of a block that takes a row: the fewest that take four values each, or the most."""

GATHER_ENTRIES = {
    Format.F32: "gather_f32",
    Format.F16: "gather_f16",
    Format.BF16: "gather_bf16",
    Format.Q8_0: "gather_q8_0",
    Format.Q4_0: "gather_q4_0",
    Format.Q4_K: "gather_q4_k",
    Format.Q5_K: "gather_q5_k",
    Format.Q6_K: "gather_q6_k",
    Format.MXFP4: "gather_mxfp4",
}
"""The entry that gathers rows of each format."""

ROPE_WARPS = 4
ROPE_SIDES = 4
COPY_THREADS = 256
COPY_VALUES = 1024  # of a block
MOST_COPIED = 2**31 - 1
ARG_MAX_THREADS = 256
ARG_MAX_VALUES = 2048  # of a block, at least


def row_threads(cols: int) -> int:
    """Threads of a block that takes a row of `cols` values."""
    return next((t for t in ROW_THREADS if 4 * t >= cols), ROW_THREADS[-1])


def norm(spec: NormSpec, chip: Chip) -> KernelCall:
    """The call of a norm: one block a unit of a row."""
    require(spec.cols >= 1 and spec.units >= 1, "norm units", "at least 1 of 1 value", (spec.units, spec.cols))
    rows_of_step(spec.m * spec.units, "norm", MAX_GRID_X)
    shared = shared_floats(spec.cols, chip.shared_bytes - 1024, "norm")
    x_unit, y_unit = (spec.cols if unit is None else unit for unit in (spec.x_unit, spec.y_unit))
    head = (*reading(spec.x, "norm x"), I32(x_unit), I32(spec.units), I32(y_unit))
    sizes = (I32(spec.m * spec.units), I32(spec.cols))
    arguments = (*head, *sizes, *norm_arguments(spec.norm, spec.cols, "norm"))
    grid, block = (spec.m * spec.units, 1, 1), (row_threads(spec.cols), 1, 1)
    return KernelCall("rows", "norm_rows", grid, block, shared, arguments)


def gather(spec: GatherSpec, chip: Chip) -> KernelCall:
    """The call of gathered rows, normed where the spec says so: one block a row."""
    rows_of_step(spec.m, "gather", MAX_GRID_X)
    require(spec.table_rows >= 1 and spec.cols >= 1, "gather table", "at least 1x1", (spec.table_rows, spec.cols))
    require(spec.y is not None or spec.then is not None, "gather result", "rows or a norm of them", "neither")
    shared = 0 if spec.then is None else shared_floats(spec.cols, chip.shared_bytes - 1024, "gather's norm")
    normed = NO_NORM if spec.then is None else norm_arguments(spec.then, spec.cols, "gather's norm")
    pitch = plane_layout(spec.format, spec.table_rows, spec.cols).pitch
    arguments = (
        *(spec.table, I32(spec.table_rows), I32(spec.cols), I32(pitch), spec.index, I32(spec.m), F32(spec.scale)),
        *writing(spec.y),
        I32(int(spec.then is not None)),
        *normed,
    )
    return KernelCall(
        "rows", GATHER_ENTRIES[spec.format], (spec.m, 1, 1), (row_threads(spec.cols), 1, 1), shared, arguments
    )


def rope(spec: RopeSpec, chip: Chip) -> KernelCall:
    """The call of up to four sides of heads turned: one warp a head."""
    turn = spec.rotation
    rows_of_step(spec.m, "rope")
    require(1 <= 2 * turn.half <= turn.hd <= 1024, "rotation", "2 * half <= head size <= 1024", (turn.half, turn.hd))
    require(1 <= len(spec.sides) <= ROPE_SIDES, "rope sides", f"1 to {ROPE_SIDES}", len(spec.sides))
    heads = sum(side.heads for side in spec.sides)
    sides = [_side(side, turn.hd) for side in spec.sides]
    sides += [_NO_SIDE] * (ROPE_SIDES - len(sides))
    position = Null() if turn.position is None else turn.position
    head = (turn.cos, turn.sin, position, I32(turn.hd), I32(turn.half), I32(spec.m))
    arguments = (*head, *(a for side in sides for a in side))
    grid = (-(-heads // ROPE_WARPS), spec.m, 1)
    return KernelCall("rows", "rope_heads", grid, (32 * ROPE_WARPS, 1, 1), 0, arguments)


_NO_SIDE: tuple[Argument, ...] = (
    *(Null(), I32(0), I32(0), Null(), I32(0), Null(), I32(0), I32(0)),
    *head_norm(None),
)


def _side(side: RopeSide, hd: int) -> tuple[Argument, ...]:
    """The kernel's SIDE_PARAMS of one side."""
    require(side.heads >= 1, "rope heads", "at least 1", side.heads)
    x_unit = hd if side.x_unit is None else side.x_unit
    y_unit = hd if side.y_unit is None else side.y_unit
    read = reading(side.x, "rope x")
    return *read, I32(x_unit), *writing(side.y), I32(y_unit), I32(side.heads), *head_norm(side.norm)


def copy(spec: CopySpec, chip: Chip) -> KernelCall:
    """The call of runs of values copied between rows."""
    require(spec.width >= 1 and spec.units >= 1, "copy", "at least 1 run of 1 value", (spec.units, spec.width))
    if spec.y.stored is Format.F16 and spec.units == 1:
        return _rounded(spec)
    x, y = writing(spec.x), writing(spec.y)
    arguments = (*x, I32(spec.x_unit), *y, I32(spec.y_unit), I32(spec.width), I32(spec.units))
    grid, block = copy_grid(spec.width, spec.units, spec.m, "copy")
    return KernelCall("elementwise", "copy_rows", grid, block, 0, arguments)


def _rounded(spec: CopySpec) -> KernelCall:
    """The call of rows set into a table of f16."""
    grid, block = copy_grid(spec.width, 1, spec.m, "rows of a table of f16")
    arguments = (*reading(spec.x, "rows to set"), *writing(spec.y, Format.F16), I32(spec.width))
    return KernelCall("tables", "set_rows_f16", grid, block, 0, arguments)


def copy_grid(width: int, units: int, m: int, where: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """(grid, block) over m rows of `units` runs of `width` values, counted in 32 bits."""
    rows_of_step(m, where)
    require(width * units <= MOST_COPIED, f"{where} row", f"at most {MOST_COPIED} values", width * units)
    return (-(-width * units // COPY_VALUES), m, 1), (COPY_THREADS, 1, 1)


def arg_max(spec: ArgMaxSpec, chip: Chip) -> KernelCall:
    """The call of an arg-max: several blocks a row, the last of which finishes it."""
    rows_of_step(spec.m, "arg-max")
    require(spec.n >= 1, "arg-max width", "at least 1", spec.n)
    blocks = max(1, min(spec.n // ARG_MAX_VALUES, chip.sms))
    advance = spec.advance
    moved: tuple[Argument, Argument] = (Null(), Null()) if advance is None else (advance.token, advance.position)
    scratch = (
        Scratch(ScratchKind.PARTIALS, 8 * spec.m * blocks),
        Scratch(ScratchKind.COUNTERS, 4 * spec.m),
    )
    waiting = (Address(ScratchKind.PARTIALS), Address(ScratchKind.COUNTERS))
    arguments = (*reading(spec.x, "arg-max x"), I32(spec.n), spec.out, *waiting, *moved)
    grid, block = (blocks, spec.m, 1), (ARG_MAX_THREADS, 1, 1)
    return KernelCall("arg_max", "arg_max_rows", grid, block, 0, arguments, scratch=scratch)


def advance(spec: AdvanceSpec, chip: Chip) -> KernelCall:
    """The call that moves indices on."""
    require(spec.by >= 1, "advance", "at least 1", spec.by)
    require(spec.count >= 1, "advance indices", "at least 1", spec.count)
    grid, arguments = (-(-spec.count // 32), 1, 1), (spec.x, spec.y, I32(spec.by), I32(spec.count))
    return KernelCall("elementwise", "advance_index", grid, (32, 1, 1), 0, arguments)


__all__ = ["advance", "arg_max", "copy", "copy_grid", "gather", "norm", "rope", "row_threads"]
