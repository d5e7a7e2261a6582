"""Kernel calls of products: tiles, row groups and grids, decided on plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from lanelink.dialects.formats import BLOCK_VALUES, Format
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection.calls import (
    ALL_SHARED,
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
from lanelink.lowering.selection.operands import Quantized, Rows, Unnormed
from lanelink.lowering.selection.packing import (
    MAX_GRID_YZ,
    NO_NORM,
    fixed,
    head_norm,
    input_norm,
    norm_arguments,
    quantizing,
    reading,
    require,
    rows_of_step,
    shares,
    some_result,
    writing,
)
from lanelink.lowering.selection.ring import SLOTS as RING_SLOTS
from lanelink.lowering.selection.ring import Ring, ring_of
from lanelink.lowering.selection.specs import GemvPart, GemvSpec, GluSpec, Norm, RopeFold, ValuesSpec
from lanelink.lowering.selection.variants import (
    BLOCKWISE,
    FOUR,
    FOUR_TOGETHER,
    LONG,
    ONE_OF_FOUR,
    PAIRS_TOGETHER,
    RINGS,
    SHORT,
    SHORT_ALONE,
    WIDE,
    WIDE_PAIRS,
    Variant,
)
from lanelink.passes.schedule.products import WARPS, rows_known
from lanelink.passes.schedule.splits import OUTPUTS

# The kernels' own constants (kernels/gemv.cuh).
PARTS = 4
THREADS = 32 * WARPS


MODULES = {
    Format.F32: "gemv_f32",
    Format.F16: "gemv_f16",
    Format.BF16: "gemv_bf16",
    Format.Q8_0: "gemv_q8_0",
    Format.Q4_0: "gemv_q4_0",
    Format.Q4_K: "gemv_q4_k",
    Format.Q5_K: "gemv_q5_k",
    Format.Q6_K: "gemv_q6_k",
    Format.MXFP4: "gemv_mxfp4",
}
"""The module that holds each format's entries."""

WITH_MINS = (Format.Q4_K, Format.Q5_K)
"""Formats whose blocks have mins, for which the sums of x's blocks are staged too."""

STATIC_SHARED = 1280
"""At least the static shared memory of any product kernel."""


@dataclass(frozen=True)
class Tiling:
    """How a product is laid on a chip.

    groups  groups of the variant's rows of x, along y
    shared  bytes of dynamic shared memory
    blocks  blocks along x; each takes every blocks-th tile
    """

    variant: Variant
    groups: int
    shared: int
    blocks: int


def variant_for(tiles: int, sms: int) -> Variant:
    """The variant for one row of x and `tiles` equal tiles.

    With b blocks an SM, the busiest SM takes ceil(tiles / (sms * b)) * b tiles. Long batches stream faster where they
    share the tiles out as well as short ones, or where there are too few tiles to fill more blocks anyway.
    """

    def busiest(v: Variant) -> int:
        return -(-tiles // (sms * v.blocks_per_sm)) * v.blocks_per_sm

    few = tiles <= sms * LONG.blocks_per_sm
    return LONG if few or busiest(LONG) <= busiest(SHORT) else SHORT


def stored_rows(spec: GemvSpec | GluSpec) -> int:
    """Stored rows that a warp takes together, of both matrices of a gated pair; the usual ones where the spec leaves it
    open. Raises SelectionError for a number that no entry takes."""
    pair = isinstance(spec, GluSpec)
    known = rows_known(spec.format, planes_of(spec.x) > 0, pair)
    rows = known[0] if spec.per_warp is None else spec.per_warp
    require(rows in known, f"rows of {spec.format.value} a warp", f"one of {known}", rows)
    return 2 * rows if pair else rows


def one_row_variant(spec: GemvSpec | GluSpec, sms: int) -> Variant:
    """The variant of a product for one row of x a block. Raises SelectionError where it has none."""
    together = stored_rows(spec)
    if isinstance(spec, GluSpec):
        return _pair_variant(spec, together, sms)
    alone = spec.then is None
    if together == FOUR_TOGETHER.together:
        require(alone, "rows a warp of a product that something follows", "2 stored rows", together)
        return FOUR_TOGETHER
    if not spec.format.has_plain_loads:
        wide = alone and isinstance(spec.x, Unnormed) and _tiles(spec, WIDE) <= 2 * sms
        return ONE_OF_FOUR if not planes_of(spec.x) else WIDE if wide else BLOCKWISE
    has_long = alone and len(rows_known(spec.format, planes_of(spec.x) > 0, False)) > 1
    variant = variant_for(_tiles(spec, SHORT), sms) if has_long else SHORT
    return SHORT_ALONE if variant is SHORT and has_long else variant


def _pair_variant(spec: GluSpec, together: int, sms: int) -> Variant:
    """Of a gated pair by f32 x a wide one where each block has a tile at most, and so half the passes over it; more
    tiles go better by short batches in three blocks, which stage x while others stream."""
    if planes_of(spec.x):
        return WIDE_PAIRS if together == WIDE_PAIRS.together else WIDE
    if not spec.format.has_plain_loads:
        return ONE_OF_FOUR
    if together == PAIRS_TOGETHER.together:
        return PAIRS_TOGETHER
    few = _pair_tiles(spec, WIDE)[1] <= sms and _pair_tiles(spec, SHORT)[1] <= sms
    has_wide = spec.format in (Format.F16, Format.BF16)
    return WIDE if has_wide and few and spec.m == 1 else SHORT


def _rings(spec: GemvSpec | GluSpec, chip: Chip) -> Ring | None:
    """The rings of a product of one row that nothing follows in its launch: by blocks of x in one plane, by plain rows
    of f32 x."""
    blocks = spec.format.is_block
    if spec.m > 1 or planes_of(spec.x) != int(blocks) or (isinstance(spec, GemvSpec) and spec.then is not None):
        return None
    if spec.per_warp not in (None, rows_known(spec.format, blocks, isinstance(spec, GluSpec))[0]):
        return None
    room = chip.shared_bytes - STATIC_SHARED
    ring = ring_of(spec.format, spec.k, staged_bytes(spec.x, spec.format, spec.k), room, chip)
    plain_normed = not blocks and isinstance(spec.x, Unnormed)
    return None if ring is None or (plain_normed and _all_in_rings(spec, ring, chip.sms)) else ring


def _all_in_rings(spec: GemvSpec | GluSpec, ring: Ring, sms: int) -> bool:
    """Whether the slots of all warps hold the whole product, so that nothing is left to stream once x is normed: blocks
    of which several are on a multiprocessor, and begin while the launch ahead ends, are faster then."""
    outputs = (spec.n,) if isinstance(spec, GluSpec) else tuple(part.n for part in spec.parts)
    together = RINGS.together // 2 if isinstance(spec, GluSpec) else RINGS.together
    tiles = sum(-(-n // together) for n in outputs)
    return -(-tiles // (sms * RINGS.warps)) * -(-spec.k // ring.values) <= RING_SLOTS


def _ring_arguments(ring: Ring | None) -> tuple[Argument, ...]:
    """What the entries of rings take behind all other arguments."""
    return () if ring is None else (I32(ring.values), I32(ring.at))


def _outputs_a_tile(spec: GemvSpec, variant: Variant) -> tuple[int, int]:
    """(passes of a warp over a tile, outputs of it): a quantized tile is one block of values; of rings, one warp's."""
    if variant is RINGS and spec.quantized is None:
        return 1, variant.together
    outputs = variant.warps * variant.together
    passes = 1 if spec.quantized is None else BLOCK_VALUES // outputs
    return passes, passes * outputs


def _tiles(spec: GemvSpec, variant: Variant) -> int:
    """Tiles of all parts."""
    outputs = _outputs_a_tile(spec, variant)[1]
    return sum(-(-part.n // outputs) for part in spec.parts)


def tiling(spec: GemvSpec | GluSpec, tiles: int, one_row: Variant, chip: Chip, also: int = 0) -> Tiling:
    """The tiling of `tiles` tiles, by `one_row` where a block takes one row of x; `also` is shared memory needed after
    the products. Raises SelectionError where a row of x does not fit a block's shared memory."""
    x_bytes = staged_bytes(spec.x, spec.format, spec.k)
    one, four = max(x_bytes, also), max(4 * x_bytes, also)
    room = chip.shared_bytes - STATIC_SHARED
    require(one <= room, "product width", f"a row of x in {room} bytes of shared memory", one)
    usual = rows_known(spec.format, planes_of(spec.x) > 0, isinstance(spec, GluSpec))[0]
    by_fours = spec.m > 1 and four <= room and spec.per_warp in (None, usual)
    variant, shared = (FOUR, four) if by_fours else (one_row, one)
    groups = -(-spec.m // variant.rows)
    require(groups <= MAX_GRID_YZ, "product rows", f"at most {MAX_GRID_YZ} groups of {variant.rows}", spec.m)
    resident = chip.sms * variant.blocks_per_sm
    return Tiling(variant, groups, shared, min(tiles, max(1, resident // groups)))


Input = Rows | Quantized | Unnormed
"""What a product takes its activation from."""


def planes_of(x: Input) -> int:
    """Planes of x as the sums read it: 0 where they read f32."""
    return 0 if isinstance(x, Rows) else x.planes


def staged_bytes(x: Input, format: Format, k: int) -> int:
    """Bytes of one row of x in shared memory, as long as a stored row's whole 16-byte groups."""
    if planes_of(x):
        quants = k * planes_of(x) + (8 if format in WITH_MINS else 4) * (k // BLOCK_VALUES)
        # A row that is normed first is held as f32 behind its quantized form, and as it came behind that.
        return -(-quants // 16) * 16 + 8 * k if isinstance(x, Unnormed) else quants
    as_it_came = 4 * k if isinstance(x, Unnormed) else 0
    if not format.has_plain_loads:
        return 4 * k + as_it_came
    layout = plane_layout(format, 1, k)
    return layout.pitch // 16 * format.values_a_load * 4 + as_it_came


def input_name(x: Input, format: Format) -> str:
    """The entry's name of x's form. Raises SelectionError for quantized x by plain rows."""
    planes = planes_of(x)
    if not planes:
        return "f32"
    require(format.is_block, "product of quantized activations", "weights in a block format", format.value)
    require(planes in (1, 2), "product of quantized activations", "1 or 2 planes", planes)
    return "q8"


def checked(spec: GemvSpec | GluSpec) -> None:
    """Checks a product's sizes, and its activation."""
    require(spec.m >= 1, "product rows", "at least 1", spec.m)
    block = spec.format.block_values
    require(spec.k >= 1 and spec.k % block == 0, "product width", f"a multiple of {block}", spec.k)
    if isinstance(spec.x, Unnormed):
        require(spec.m == 1, "product of a row it norms itself, rows", "1", spec.m)
        require(spec.k % 4 == 0, "product of a row it norms itself, width", "a multiple of 4", spec.k)
    if isinstance(spec, GluSpec):
        require(spec.n >= 1, "product outputs", "at least 1", spec.n)
        some_result(spec.y, spec.quantized, "gated pair")


def check_parts(spec: GemvSpec) -> None:
    """Checks how many parts a product has, and that each has outputs."""
    require(1 <= len(spec.parts) <= PARTS, "product parts", f"1 to {PARTS}", len(spec.parts))
    for part in spec.parts:
        require(part.n >= 1, "product outputs", "at least 1", part.n)
    if isinstance(spec.then, RopeFold):
        turns = spec.then.turns
        require(len(turns) == len(spec.parts), "product's turns", f"one a part ({len(spec.parts)})", len(turns))


def _head(spec: GemvSpec | GluSpec, passes: int) -> tuple[Argument, ...]:
    """The first arguments of every product: x, its pitch or planes, its norm, k, m, pitch of the weights, passes."""
    x = spec.x
    match x:
        case Rows():
            source = (fixed(x, "product x"), I32(x.pitch))
        case Quantized():
            source = (x.address, I32(x.planes))
        case Unnormed():
            source = (fixed(x.row, "product x"), I32(x.planes))
    pitch = plane_layout(spec.format, 1, spec.k).pitch
    return *source, *input_norm(x), I32(spec.k), I32(spec.m), I32(pitch), I32(passes)


def gemv(spec: GemvSpec, chip: Chip) -> KernelCall:
    """The call of products of one activation. Raises SelectionError for what no kernel runs."""
    checked(spec)
    name = input_name(spec.x, spec.format)
    check_parts(spec)
    ring = _rings(spec, chip)
    variant = RINGS if ring else one_row_variant(spec, chip.sms)
    passes, tile = _outputs_a_tile(spec, variant)
    tiles = [-(-p.n // tile) for p in spec.parts]
    also = 4 * spec.parts[0].n if isinstance(spec.then, Norm) else 0
    laid = tiling(spec, sum(tiles), variant, chip, also)
    parts = [part_arguments(p, t, spec, i) for i, (p, t) in enumerate(zip(spec.parts, tiles, strict=True))]
    parts += [NO_PART] * (PARTS - len(parts))
    counters = laid.groups * (sum(tiles) if isinstance(spec.then, RopeFold) else 1)
    scratch = _scratch(spec, counters)
    return KernelCall(
        MODULES[spec.format],
        f"gemv_{spec.format.value}_{name}_{laid.variant.suffix}",
        (laid.blocks, laid.groups, 1),
        (32 * laid.variant.warps, 1, 1),
        ring.shared if ring else laid.shared,
        (
            *_head(spec, passes),
            I32(len(spec.parts)),
            *(a for part in parts for a in part),
            *quantizing(spec.quantized, spec.parts[0].n, "product"),
            *residual_arguments(spec),
            *_after(spec, tile),
            *_ring_arguments(ring),
        ),
        scratch=scratch,
        carveout=ALL_SHARED if ring else None,
    )


NO_PART: tuple[Argument, ...] = (
    Null(),
    I32(0),
    Null(),
    Null(),
    I32(0),
    Null(),
    I32(0),
    I32(0),
    I32(0),
    I32(0),
    Null(),
    F32(0.0),
)


def part_arguments(part: GemvPart, tiles: int, spec: GemvSpec, index: int) -> tuple[Argument, ...]:
    """The kernel's PART_PARAMS of one part."""
    turn = spec.then.turns[index] if isinstance(spec.then, RopeFold) else None
    head = (part.weights, I32(part.n), optional(part.bias), *writing(part.y))
    if turn is None or not isinstance(spec.then, RopeFold):
        return *head, I32(tiles), I32(0), I32(0), *head_norm(None)
    unit = spec.then.rotation.hd if turn.unit is None else turn.unit
    return *head, I32(tiles), I32(1), I32(unit), *head_norm(turn.norm)


def _scratch(spec: GemvSpec, counters: int) -> tuple[Scratch, ...]:
    if spec.then is None:
        return ()
    words = Scratch(ScratchKind.COUNTERS, 4 * counters)
    if isinstance(spec.then, Norm) and spec.parts[0].y is not None:
        return (words,)
    return words, Scratch(ScratchKind.PARTIALS, 4 * spec.m * sum(p.n for p in spec.parts))


def residual_arguments(spec: GemvSpec) -> tuple[Argument, Argument]:
    """(rows, pitch) of what is added to the product; null where there is nothing."""
    if spec.residual is None:
        return Null(), I32(0)
    require(len(spec.parts) == 1, "product with a residual", "one part", len(spec.parts))
    require(spec.then is None, "product with a residual", "nothing that follows in the launch", "a fold")
    return reading(spec.residual, "product's residual")


def _after(spec: GemvSpec, tile: int) -> tuple[Argument, ...]:
    """The arguments from `then` on."""
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
            return I32(0), Null(), I32(0), Null(), *NO_NORM, *no_rope
        case Norm() as norm:
            require(len(spec.parts) == 1, "product with a norm", "one part", len(spec.parts))
            n, y = spec.parts[0].n, spec.parts[0].y
            if y is not None:
                waiting = (fixed(y, "product with a norm"), I32(y.pitch))
            return I32(1), *waiting, counters, *norm_arguments(norm, n, "product's norm"), *no_rope
        case RopeFold() as fold:
            return I32(2), *waiting, counters, *NO_NORM, *_rotation(spec, fold, tile)


def check_turns(spec: GemvSpec, fold: RopeFold) -> None:
    """Checks that a product's turned parts are whole heads that land in rows."""
    turn = fold.rotation
    require(1 <= 2 * turn.half <= turn.hd <= 1024, "rotation", "2 * half <= head size <= 1024", (turn.half, turn.hd))
    for part, turned in zip(spec.parts, fold.turns, strict=True):
        require(part.y is not None, "product with a rotation", "rows for each part", "a part with none")
        if turned is not None:
            require(part.n % turn.hd == 0, "turned part's outputs", f"a multiple of the head size {turn.hd}", part.n)


def _rotation(spec: GemvSpec, fold: RopeFold, tile: int) -> tuple[Argument, ...]:
    """The rotation's arguments: cos, sin, position, hd, half, and the tiles that hold whole heads."""
    check_turns(spec, fold)
    turn = fold.rotation
    group = lcm(turn.hd, tile) // tile
    position = optional(turn.position)
    return turn.cos, turn.sin, position, I32(turn.hd), I32(turn.half), I32(group)


def _pair_tiles(spec: GluSpec, variant: Variant) -> tuple[int, int]:
    """(passes of a warp over a tile, tiles) of a gated pair: a quantized tile is one block of values; of rings, one
    warp's."""
    if variant is RINGS and spec.quantized is None:
        return 1, -(-spec.n // (variant.together // 2))
    outputs = variant.warps * variant.together // 2
    passes = 1 if spec.quantized is None else BLOCK_VALUES // outputs
    return passes, -(-spec.n // (outputs * passes))


def glu(spec: GluSpec, chip: Chip) -> KernelCall:
    """The call of a gated pair. Raises SelectionError for what no kernel runs."""
    checked(spec)
    name = input_name(spec.x, spec.format)
    ring = _rings(spec, chip)
    variant = RINGS if ring else one_row_variant(spec, chip.sms)
    passes, tiles = _pair_tiles(spec, variant)
    laid = tiling(spec, tiles, variant, chip)
    # Groups of four rows of x go by blocks of the usual size.
    if laid.variant.warps != variant.warps:
        passes, tiles = _pair_tiles(spec, laid.variant)
        laid = tiling(spec, tiles, laid.variant, chip)
    return KernelCall(
        MODULES[spec.format],
        f"glu_{spec.format.value}_{name}_{laid.variant.suffix}",
        (laid.blocks, laid.groups, 1),
        (32 * laid.variant.warps, 1, 1),
        ring.shared if ring else laid.shared,
        (
            *_head(spec, passes),
            I32(spec.n),
            I32(tiles),
            spec.gate,
            spec.up,
            optional(spec.gate_bias),
            optional(spec.up_bias),
            I32(spec.act.code),
            *writing(spec.y),
            *quantizing(spec.quantized, spec.n, "gated pair"),
            *_ring_arguments(ring),
        ),
        carveout=ALL_SHARED if ring else None,
    )


def values(spec: ValuesSpec, chip: Chip) -> KernelCall:
    """The call of a product by a plain f32 matrix: a block 32 outputs of a row, and one share of the inputs."""
    rows_of_step(spec.m, "product by values")
    require(spec.k >= 1 and spec.n >= 1, "product by values", "at least 1 input and output", (spec.k, spec.n))
    x, y = reading(spec.x, "product x"), writing(spec.y)
    share, splits = shares(spec.k, spec.splits, "product by values")
    tiles = -(-spec.n // OUTPUTS)
    scratch: tuple[Scratch, ...] = ()
    waiting: tuple[Argument, ...] = (Null(), Null())
    if splits > 1:
        sizes = (4 * splits * spec.m * spec.n, 4 * tiles * spec.m)
        kinds = (ScratchKind.PARTIALS, ScratchKind.COUNTERS)
        scratch = tuple(Scratch(kind, size) for kind, size in zip(kinds, sizes, strict=True))
        waiting = tuple(Address(kind) for kind in kinds)
    arguments = (*x, spec.weights, optional(spec.bias), *y, I32(spec.k), I32(spec.n), I32(share), *waiting)
    grid = (tiles, spec.m, splits)
    return KernelCall("values", "gemv_values", grid, (THREADS, 1, 1), 0, arguments, scratch=scratch)


__all__ = [
    "MODULES",
    "NO_PART",
    "PARTS",
    "STATIC_SHARED",
    "Tiling",
    "Variant",
    "check_parts",
    "check_turns",
    "checked",
    "gemv",
    "glu",
    "part_arguments",
    "residual_arguments",
    "staged_bytes",
    "tiling",
    "variant_for",
]
