"""Kernel calls of products: tiles, row groups and grids, decided on plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from lanelink.dialects.formats import BLOCK_VALUES, Format
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
    SelectionError,
    optional,
)
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.packing import (
    NO_NORM,
    fixed,
    head_norm,
    norm_arguments,
    quantizing,
    require,
    some_result,
    writing,
)
from lanelink.lowering.selection.specs import GemvPart, GemvSpec, GluSpec, Norm, Quantized, RopeFold, Rows

# The kernels' own constants (kernels/gemv.cuh).
WARPS = 8
THREADS = 32 * WARPS
STORED_ROWS = 2  # rows of weights that a warp takes together; of a gated pair, one of each matrix
PARTS = 4

MODULES = {
    Format.F32: "gemv_f32",
    Format.F16: "gemv_f16",
    Format.BF16: "gemv_bf16",
    Format.Q8_0: "gemv_q8_0",
}
"""The formats that products have kernels for, and the modules that hold them."""

VALUES_PER_LOAD = {Format.F32: 4, Format.F16: 8, Format.BF16: 8, Format.Q8_0: 16}
"""Values in the 16 bytes of a stored row that one lane loads."""

BLOCKS_PER_SM = {1: 3, 4: 2}
"""Rows of x a block takes together -> blocks that a multiprocessor's registers hold (the kernels' launch bounds)."""

SM_RESERVED = 1024
"""Bytes of shared memory that the chip keeps for itself in each block."""

STATIC_SHARED = 1024
"""At least the static shared memory of any product kernel."""


@dataclass(frozen=True)
class Tiling:
    """How a product is laid on a chip.

    row_group  rows of x that a block takes together; grid.y counts such groups
    shared     bytes of dynamic shared memory
    blocks     blocks along x; each takes every blocks-th tile
    """

    row_group: int
    groups: int
    shared: int
    blocks: int


def balanced_blocks(tiles: int, sms: int, most_per_sm: int) -> int:
    """Blocks for `tiles` equal tiles: of 1..most_per_sm blocks an SM, the number that leaves fewest idle slots.

    With b blocks an SM the tiles take ceil(tiles / (sms * b)) rounds of sms * b slots. Of equals, the most blocks,
    which have the most loads in flight. Never more blocks than tiles.
    """

    def slots(per_sm: int) -> int:
        return -(-tiles // (sms * per_sm)) * sms * per_sm

    best = min(range(1, most_per_sm + 1), key=lambda b: (slots(b), -b))
    return min(tiles, sms * best)


def tiling(x: Rows | Quantized, format: Format, k: int, m: int, tiles: int, chip: Chip, also: int = 0) -> Tiling:
    """The tiling of `tiles` tiles; `also` is shared memory needed after the products. Raises SelectionError."""
    one = max(staged_bytes(x, format, k), also)
    four = max(4 * staged_bytes(x, format, k), also)
    room = chip.shared_bytes - STATIC_SHARED
    require(one <= room, "product width", f"a row of x in {room} bytes of shared memory", one)
    group, shared = (4, four) if m > 1 and four <= room else (1, one)
    groups = -(-m // group)
    require(groups <= 65535, "product rows", "at most 65535 groups", groups)
    fit = (chip.shared_bytes + SM_RESERVED) // (shared + STATIC_SHARED + SM_RESERVED)
    blocks = balanced_blocks(tiles * groups, chip.sms, max(1, min(BLOCKS_PER_SM[group], fit)))
    return Tiling(group, groups, shared, min(tiles, max(1, -(-blocks // groups))))


def staged_bytes(x: Rows | Quantized, format: Format, k: int) -> int:
    """Bytes of one row of x in shared memory, as long as a stored row's whole 16-byte groups."""
    if isinstance(x, Quantized):
        return k * x.planes + 4 * (k // BLOCK_VALUES)
    layout = plane_layout(format, 1, k)
    return layout.pitch // 16 * VALUES_PER_LOAD[format] * 4


def input_name(x: Rows | Quantized, format: Format) -> str:
    """The entry's name of x's form. Raises SelectionError for quantized x by plain rows."""
    if isinstance(x, Rows):
        return "f32"
    require(format.is_block, "product of quantized activations", "weights in a block format", format.value)
    require(x.planes in (1, 2), "product of quantized activations", "1 or 2 planes", x.planes)
    return "q8" if x.planes == 1 else "q8x2"


def _checked(spec: GemvSpec | GluSpec) -> str:
    """The module of a product's format; its sizes checked."""
    module = MODULES.get(spec.format)
    if module is None:
        raise SelectionError("product format", "one of " + ", ".join(f.value for f in MODULES), spec.format.value)
    require(spec.m >= 1, "product rows", "at least 1", spec.m)
    block = spec.format.block_values
    require(spec.k >= 1 and spec.k % block == 0, "product width", f"a multiple of {block}", spec.k)
    return module


def _head(x: Rows | Quantized, k: int, m: int, format: Format, passes: int) -> tuple[Argument, ...]:
    """The first arguments of every product: x, x_pitch, k, m, pitch, passes."""
    source = (x.address, I32(0)) if isinstance(x, Quantized) else (fixed(x, "product x"), I32(x.pitch))
    return *source, I32(k), I32(m), I32(plane_layout(format, 1, k).pitch), I32(passes)


def gemv(spec: GemvSpec, chip: Chip) -> KernelCall:
    """The call of products of one activation. Raises SelectionError for what no kernel runs."""
    module = _checked(spec)
    name = input_name(spec.x, spec.format)
    require(1 <= len(spec.parts) <= PARTS, "product parts", f"1 to {PARTS}", len(spec.parts))
    for part in spec.parts:
        require(part.n >= 1, "product outputs", "at least 1", part.n)
    passes = 1 if spec.quantized is None else BLOCK_VALUES // (WARPS * STORED_ROWS)
    tile = WARPS * STORED_ROWS * passes
    tiles = [-(-p.n // tile) for p in spec.parts]
    after, also = _after(spec, tile, chip)
    laid = tiling(spec.x, spec.format, spec.k, spec.m, sum(tiles), chip, also)
    parts = [_part(p, t, spec, i) for i, (p, t) in enumerate(zip(spec.parts, tiles, strict=True))]
    parts += [_NO_PART] * (PARTS - len(parts))
    counters = laid.groups * (sum(tiles) if isinstance(spec.then, RopeFold) else 1)
    scratch = _scratch(spec, counters)
    return KernelCall(
        module,
        f"gemv_{spec.format.value}_{name}_r{laid.row_group}",
        (laid.blocks, laid.groups, 1),
        (THREADS, 1, 1),
        laid.shared,
        (
            *_head(spec.x, spec.k, spec.m, spec.format, passes),
            I32(len(spec.parts)),
            *(a for part in parts for a in part),
            *quantizing(spec.quantized, spec.parts[0].n, "product"),
            *after,
        ),
        scratch=scratch,
    )


_NO_PART: tuple[Argument, ...] = (
    Null(),
    I32(0),
    Null(),
    Null(),
    I32(0),
    Null(),
    I32(0),
    I32(0),
    I32(0),
    Null(),
    F32(0.0),
)


def _part(part: GemvPart, tiles: int, spec: GemvSpec, index: int) -> tuple[Argument, ...]:
    """The kernel's PART_PARAMS of one part."""
    turn = spec.then.turns[index] if isinstance(spec.then, RopeFold) else None
    normed = head_norm(None if turn is None else turn.norm)
    head = (part.weights, I32(part.n), optional(part.bias), *writing(part.y))
    return *head, I32(tiles), I32(int(turn is not None)), *normed


def _scratch(spec: GemvSpec, counters: int) -> tuple[Scratch, ...]:
    if spec.then is None:
        return ()
    words = Scratch(ScratchKind.COUNTERS, 4 * counters)
    if isinstance(spec.then, Norm) and spec.parts[0].y is not None:
        return (words,)
    return words, Scratch(ScratchKind.PARTIALS, 4 * spec.m * sum(p.n for p in spec.parts))


def _after(spec: GemvSpec, tile: int, chip: Chip) -> tuple[tuple[Argument, ...], int]:
    """The arguments from `then` on, and the shared memory that what follows needs."""
    waiting: tuple[Argument, ...] = (Address(ScratchKind.PARTIALS), I32(sum(p.n for p in spec.parts)))
    counters = Address(ScratchKind.COUNTERS)
    no_rope: tuple[Argument, ...] = (Null(), Null(), Null(), I32(1), I32(0), I32(1))
    if spec.then is not None:
        require(spec.quantized is None, "product with a fold", "no quantized product", "one")
    match spec.then:
        case None:
            if len(spec.parts) > 1:
                require(spec.quantized is None, "quantized product", "one part", len(spec.parts))
            for part in spec.parts:
                some_result(part.y, spec.quantized, "product")
            return (I32(0), Null(), I32(0), Null(), *NO_NORM, *no_rope), 0
        case Norm() as norm:
            require(len(spec.parts) == 1, "product with a norm", "one part", len(spec.parts))
            n, y = spec.parts[0].n, spec.parts[0].y
            if y is not None:
                waiting = (fixed(y, "product with a norm"), I32(y.pitch))
            require(4 * n <= chip.shared_bytes - STATIC_SHARED, "norm width", "a row in shared memory", n)
            return (I32(1), *waiting, counters, *norm_arguments(norm, n, "product's norm"), *no_rope), 4 * n
        case RopeFold() as fold:
            return (I32(2), *waiting, counters, *NO_NORM, *_rotation(spec, fold, tile)), 0


def _rotation(spec: GemvSpec, fold: RopeFold, tile: int) -> tuple[Argument, ...]:
    """The rotation's arguments: cos, sin, position, hd, half, and the tiles that hold whole heads."""
    turn = fold.rotation
    require(len(fold.turns) == len(spec.parts), "product's turns", f"one a part ({len(spec.parts)})", len(fold.turns))
    require(1 <= 2 * turn.half <= turn.hd <= 1024, "rotation", "2 * half <= head size <= 1024", (turn.half, turn.hd))
    for part, turned in zip(spec.parts, fold.turns, strict=True):
        require(part.y is not None, "product with a rotation", "rows for each part", "a part with none")
        if turned is not None:
            require(part.n % turn.hd == 0, "turned part's outputs", f"a multiple of the head size {turn.hd}", part.n)
    group = lcm(turn.hd, tile) // tile
    position = optional(turn.position)
    return turn.cos, turn.sin, position, I32(turn.hd), I32(turn.half), I32(group)


def glu(spec: GluSpec, chip: Chip) -> KernelCall:
    """The call of a gated pair. Raises SelectionError for what no kernel runs."""
    module = _checked(spec)
    name = input_name(spec.x, spec.format)
    require(spec.n >= 1, "product outputs", "at least 1", spec.n)
    some_result(spec.y, spec.quantized, "gated pair")
    passes = 1 if spec.quantized is None else BLOCK_VALUES // WARPS
    tiles = -(-spec.n // (WARPS * passes))
    laid = tiling(spec.x, spec.format, spec.k, spec.m, tiles, chip)
    return KernelCall(
        module,
        f"glu_{spec.format.value}_{name}_r{laid.row_group}",
        (laid.blocks, laid.groups, 1),
        (THREADS, 1, 1),
        laid.shared,
        (
            *_head(spec.x, spec.k, spec.m, spec.format, passes),
            I32(spec.n),
            I32(tiles),
            spec.gate,
            spec.up,
            optional(spec.gate_bias),
            optional(spec.up_bias),
            I32(spec.act.code),
            *writing(spec.y),
            *quantizing(spec.quantized, spec.n, "gated pair"),
        ),
    )


__all__ = ["MODULES", "Tiling", "balanced_blocks", "gemv", "glu", "staged_bytes", "tiling"]
