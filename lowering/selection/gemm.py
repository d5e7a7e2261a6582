"""Kernel calls of products of many rows: on tensor cores where they can be, else as those of a few rows."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import BLOCK_VALUES, Format
from lanelink.lowering.functions import Activation
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection import products
from lanelink.lowering.selection.calls import (
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
from lanelink.lowering.selection.operands import Quantized
from lanelink.lowering.selection.packing import quantizing, require, some_result
from lanelink.lowering.selection.products import (
    NO_PART,
    PARTS,
    STATIC_SHARED,
    WITH_MINS,
    check_parts,
    check_turns,
    checked,
    part_arguments,
    residual_arguments,
)
from lanelink.lowering.selection.specs import GemvPart, GemvSpec, GluSpec, RopeFold
from lanelink.passes.tensor_cores import CHUNK, TILE_OUTPUTS, TILE_ROWS, Tail, for_tensor_cores, whole_heads

# The kernel's own constants (kernels/gemm.cuh, kernels/gemm_sums.cuh).
THREADS = 256
TILE_PITCH = TILE_OUTPUTS + 4
FEW_ROWS = 32
"""Rows of x up to which a tile has half of its rows."""

MODULES = {format: f"gemm_{format.value}" for format in Format if format.is_block}
"""The module that holds each format's entries."""

HIGH_BYTES = {Format.Q5_K: CHUNK // 8, Format.Q6_K: CHUNK // 4}
"""Bytes of a stored row's chunk beside the quants, of formats whose quants have more bits than those hold."""

TWO_SCALES = (*WITH_MINS, Format.Q6_K)
"""Formats of which a block takes two f32 in shared memory: a scale and a min, or the scales of its halves."""


def product(spec: GemvSpec, chip: Chip) -> KernelCall:
    """The call of products of one activation. Raises SelectionError for what no kernel runs."""
    if not on_tensor_cores(spec, chip):
        return products.gemv(spec, chip)
    checked(spec)
    check_parts(spec)
    if isinstance(spec.then, RopeFold):
        check_turns(spec, spec.then)
    alone = spec.then is None and len(spec.parts) == 1
    require(alone or spec.quantized is None, "quantized product", "one part that nothing follows", "others")
    for part in spec.parts:
        some_result(part.y, spec.quantized, "product")
    tiles = [-(-part.n // TILE_OUTPUTS) for part in spec.parts]
    parts = [part_arguments(p, t, spec, i) for i, (p, t) in enumerate(zip(spec.parts, tiles, strict=True))]
    head = (*_pairing(None), I32(len(parts)), *_all_parts(parts))
    written = (*quantizing(spec.quantized, spec.parts[0].n, "product"), *residual_arguments(spec))
    return _call(spec, chip, sum(tiles), (*head, *written, *_rotation(spec)))


def pair(spec: GluSpec, chip: Chip) -> KernelCall:
    """The call of a gated pair. Raises SelectionError for what no kernel runs."""
    if not on_tensor_cores(spec, chip):
        return products.glu(spec, chip)
    checked(spec)
    tiles = -(-spec.n // (TILE_OUTPUTS // 2))
    sides = GemvPart(spec.gate, spec.n, spec.y, spec.gate_bias), GemvPart(spec.up, spec.n, None, spec.up_bias)
    both = GemvSpec(spec.x, spec.format, spec.k, spec.m, sides)
    # The gate's part has the tiles of both.
    parts = [part_arguments(side, tiles, both, i) for i, side in enumerate(sides)]
    head = (*_pairing(spec.act), I32(1), *_all_parts(parts))
    written = (*quantizing(spec.quantized, spec.n, "gated pair"), *residual_arguments(both))
    return _call(spec, chip, tiles, (*head, *written, *_rotation(both)))


def on_tensor_cores(spec: GemvSpec | GluSpec, chip: Chip) -> bool:
    """
    Whether a product runs on tensor cores: many quantized rows by a format in blocks.

    A norm of whole rows that follows in the launch is the few rows' kernel's, whose last block has few of them; so are
    heads that do not lie whole in tiles, and any product on a chip whose shared memory two chunks do not fit.
    """
    quantized = isinstance(spec.x, Quantized) and spec.x.planes in (1, 2)
    if not for_tensor_cores(spec.m, quantized):
        return False
    if not spec.format.is_block or spec.k % spec.format.block_values:
        return False
    then = spec.then if isinstance(spec, GemvSpec) else None
    if then is not None and not (isinstance(then, RopeFold) and whole_heads(then.rotation.hd)):
        return False
    return _laid(spec, chip, 2).shared + STATIC_SHARED <= chip.shared_bytes


@dataclass(frozen=True)
class Laid:
    """How a tile is summed: its rows of x, the chunks in shared memory, and the bytes of these (or of the tile)."""

    rows: int
    stages: int
    shared: int


def laid(spec: GemvSpec | GluSpec, chip: Chip) -> Laid:
    """Three chunks, so that one is on its way while another arrives, where two blocks share a multiprocessor so."""
    three = _laid(spec, chip, 3)
    return three if 2 * (three.shared + STATIC_SHARED) <= chip.shared_bytes else _laid(spec, chip, 2)


def _laid(spec: GemvSpec | GluSpec, chip: Chip, stages: int) -> Laid:
    assert isinstance(spec.x, Quantized)
    rows = FEW_ROWS if spec.m <= FEW_ROWS else TILE_ROWS
    quants = CHUNK if spec.format.has_plain_loads else CHUNK // 2
    stored = TILE_OUTPUTS * (quants + HIGH_BYTES.get(spec.format, 0))
    scales = TILE_OUTPUTS * (2 if spec.format in TWO_SCALES else 1) + rows
    chunk = stored + rows * CHUNK * spec.x.planes + 4 * (CHUNK // BLOCK_VALUES) * scales
    return Laid(rows, stages, max(stages * chunk, 4 * rows * TILE_PITCH))


def _pairing(act: Activation | None) -> tuple[Argument, ...]:
    """(whether the parts are a gated pair, its activation)."""
    return (I32(0), I32(0)) if act is None else (I32(1), I32(act.code))


def _all_parts(parts: list[tuple[Argument, ...]]) -> tuple[Argument, ...]:
    return tuple(a for part in [*parts, *[NO_PART] * (PARTS - len(parts))] for a in part)


def _rotation(spec: GemvSpec) -> tuple[Argument, ...]:
    """cos, sin, position, head size and half of a rotation."""
    if not isinstance(spec.then, RopeFold):
        return Null(), Null(), Null(), I32(1), I32(0)
    turn = spec.then.rotation
    return turn.cos, turn.sin, optional(turn.position), I32(turn.hd), I32(turn.half)


def _call(spec: GemvSpec | GluSpec, chip: Chip, across: int, arguments: tuple[Argument, ...]) -> KernelCall:
    """The call of a product of `across` tiles for each TILE_ROWS rows of x; `arguments` are those between the sizes and
    the tail."""
    assert isinstance(spec.x, Quantized)
    how = laid(spec, chip)
    tiles = across * -(-spec.m // how.rows)
    tail = _tail(spec, tiles)
    shared_tiles = tiles - tail.first
    scratch: tuple[Scratch, ...] = ()
    where: tuple[Argument, Argument] = (Null(), Null())
    if tail.split > 1:
        partials = 4 * shared_tiles * tail.split * TILE_OUTPUTS * how.rows
        scratch = Scratch(ScratchKind.COUNTERS, 4 * shared_tiles), Scratch(ScratchKind.PARTIALS, partials)
        where = Address(ScratchKind.PARTIALS), Address(ScratchKind.COUNTERS)
    pitch = plane_layout(spec.format, 1, spec.k).pitch
    sizes = I32(spec.x.planes), I32(spec.k), I32(spec.m), I32(pitch), I32(how.stages)
    return KernelCall(
        MODULES[spec.format],
        f"gemm_{spec.format.value}_r{how.rows}",
        (tail.first + shared_tiles * tail.split, 1, 1),
        (THREADS, 1, 1),
        how.shared,
        (spec.x.address, *sizes, *arguments, I32(tail.first), I32(tail.split), *where),
        scratch=scratch,
    )


def _tail(spec: GemvSpec | GluSpec, tiles: int) -> Tail:
    """The tail of `tiles` tiles; of no tiles where none is given."""
    if spec.tail is None:
        return Tail(tiles, 1)
    chunks = -(-spec.k // CHUNK)
    require(0 <= spec.tail.first < tiles, "product's tail", f"to begin before its {tiles} tiles end", spec.tail.first)
    require(2 <= spec.tail.split <= chunks, "product's tail", f"2 to {chunks} shares of its chunks", spec.tail.split)
    return spec.tail


__all__ = ["MODULES", "Laid", "laid", "on_tensor_cores", "pair", "product"]
