"""The kernel call of a mixture of experts: rows a pass, shared memory, and how its steps are shared out over warps."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.mixture import ExpertActivation
from lanelink.lowering.functions import Activation
from lanelink.lowering.repack import PLANE_ALIGN, ROW_ALIGN, plane_layout
from lanelink.lowering.selection import moe_decode
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
from lanelink.lowering.selection.moe_sizes import (
    FORMATS,
    STATIC_SHARED,
    THREADS,
    WARPS,
    columns_of,
    f32_stride,
    is_plain,
    planes_of,
    q8_stride,
    stride_of,
    words_of,
)
from lanelink.lowering.selection.moe_specs import ExpertGroups, MoeMatrix, MoeSpec
from lanelink.lowering.selection.operands import Quantized, Rows, Unnormed
from lanelink.lowering.selection.packing import NO_NORM, fixed, input_norm, norm_arguments, reading, require, writing

# The kernels' own constants (kernels/moe_args.cuh, moe_stage.cuh, moe_choice.cuh).
STORED_ROWS = 2
GROUP = 4
"""Rows of x that share a stored row, in entries for several rows."""

MOST_KEPT = 32
MOST_EXPERTS = 8192
MOST_GROUPS = 32
MOST_PAIRS = 1024
"""Pairs of a row and an expert that a pass sorts: each is compared with all."""

KEYS_BYTES = 32 * 1024
"""Shared memory for router outputs while experts are chosen, where one row does not take more."""

MOST_SEGMENTS = 16
"""Ranges of a router's row: every block adds up the sums of all of them."""

MOST_VALUE_SEGMENTS = 32

CLAMPED_CODE = len(Activation)
"""The kernels' number of clamped_swiglu: behind those of activations."""


def even(words: int, most: int) -> int:
    """At most `most` ranges of `words`, each as long as the first but the last, none empty."""
    each = -(-words // max(1, min(most, words)))
    return -(-words // each)


@dataclass(frozen=True)
class Laid:
    """How a mixture is laid on a chip: the kernel's arguments of the same names, and its grid."""

    pass_rows: int
    choosers: int
    segments: int
    column_segments: int
    split: int
    shared_segments: int
    x_at: int
    rows_at: int
    room: int
    shared_at: int
    blocks: int


def as_rows(matrix: MoeMatrix, outputs: int, k: int) -> MoeMatrix:
    """Values of one output are one f32 row, where that needs no padding."""
    if matrix.format is None and outputs == 1 and 4 * k % ROW_ALIGN == 0:
        return MoeMatrix(matrix.weights, Format.F32)
    return matrix


def _choosers(spec: MoeSpec, rows: int) -> int:
    return max(1, min(WARPS, rows, KEYS_BYTES // (4 * spec.experts)))


def table_bytes(spec: MoeSpec, rows: int) -> int:
    """Bytes of shared memory before the staged rows: the tables, and x's row where the kernel norms it."""
    normed = 4 * spec.width + q8_stride(spec.width, planes_of(spec)) if isinstance(spec.x, Unnormed) else 0
    return _tables(spec, rows) + -(-normed // 128) * 128


def _tables(spec: MoeSpec, rows: int) -> int:
    """Bytes of a pass's tables (kernels/moe_args.cuh, Tables)."""
    words = 7 * rows * spec.top_k + 1 + rows + WARPS * STORED_ROWS * rows + _choosers(spec, rows) * spec.experts
    return -(-4 * words // 128) * 128


def _needed(spec: MoeSpec, rows: int, group: int) -> int:
    """Bytes of staged rows that a pass cannot do without."""
    x = [stride_of(spec, spec.width)]
    if any(is_plain(m) for m in columns_of(spec)):
        x.append(f32_stride(spec.width))
    hidden = [spec.hidden] if spec.shared is None else [spec.hidden, spec.shared.hidden]
    normed = 4 * spec.width if spec.then is not None or isinstance(spec.x, Unnormed) else 0
    return max(rows * max(x), *(group * stride_of(spec, k) for k in hidden), normed)


def _pass_rows(spec: MoeSpec, group: int, total: int) -> int:
    """Rows of a pass: the most that fit, shared out evenly."""
    most = min(spec.m, MOST_PAIRS // spec.top_k)
    fitting = (r for r in range(most, 0, -1) if table_bytes(spec, r) + _needed(spec, r, group) <= total)
    rows = next(fitting, 0)
    needed = table_bytes(spec, 1) + _needed(spec, 1, group)
    require(rows > 0, "mixture width", f"a row in {total} bytes of shared memory", needed)
    return -(-spec.m // -(-spec.m // rows))


def group_of(spec: MoeSpec, chip: Chip) -> int:
    """Rows of x that share a stored row: one of a single row, and where hidden rows are so wide that no more fit."""
    fits = table_bytes(spec, 1) + _needed(spec, 1, GROUP) <= chip.shared_bytes - STATIC_SHARED
    return GROUP if spec.m > 1 and fits else 1


def _segments(matrix: MoeMatrix, outputs: int, k: int, row_groups: int, warps: int) -> int:
    """Ranges of a router's rows: so many that its products keep every warp busy."""
    if matrix.format is None:
        units = -(-outputs // 32) * row_groups
        return even(k, max(1, min(MOST_VALUE_SEGMENTS, warps // units)))
    words, units = words_of(matrix.format, k), -(-outputs // STORED_ROWS) * row_groups
    return even(words, max(1, min(MOST_SEGMENTS, -(-words // 32), warps // units)))


def _split(spec: MoeSpec, legs: int, sms: int) -> int:
    """Warps that share a tile's groups: what leaves the busiest warp the fewest."""

    def busiest(split: int) -> int:
        tiles = -(-spec.width // (STORED_ROWS * WARPS // split))
        return -(-tiles // sms) * -(-legs // split)

    return min((1, 2, 4, 8, 16), key=lambda s: (busiest(s), s))


def lay(spec: MoeSpec, group: int, chip: Chip) -> Laid:
    """The layout. Raises SelectionError where a row does not fit a block's shared memory."""
    total = chip.shared_bytes - STATIC_SHARED
    rows = _pass_rows(spec, group, total)
    pairs, groups = rows * spec.top_k, -(-rows // group)
    rows_at = table_bytes(spec, rows)
    hidden_bytes = pairs * stride_of(spec, spec.hidden)
    shared_rows, shared_segments = 0, 1
    if spec.shared is not None:
        shared_rows = groups * group * stride_of(spec, spec.shared.hidden)
        assert spec.shared.down.format is not None and spec.down.format is not None
        words = words_of(spec.shared.down.format, spec.shared.hidden)
        shared_segments = even(words, words // words_of(spec.down.format, spec.hidden))
    room = min(total - rows_at, max(_needed(spec, rows, group), hidden_bytes + shared_rows))
    beside = spec.shared is not None and hidden_bytes + shared_rows <= room
    split = _split(spec, min(pairs, spec.experts), chip.sms)
    warps = chip.sms * WARPS
    segments = _segments(spec.router, spec.experts, spec.width, groups, warps)
    column = None if spec.shared is None else spec.shared.column
    columns = 1 if column is None else _segments(column, 1, spec.width, groups, warps)
    units = (pairs * spec.hidden, -(-spec.width // STORED_ROWS) * split, -(-spec.experts // STORED_ROWS) * segments)
    return Laid(
        pass_rows=rows,
        choosers=_choosers(spec, rows),
        segments=segments,
        column_segments=columns,
        split=split,
        shared_segments=shared_segments,
        x_at=_tables(spec, rows),
        rows_at=rows_at,
        room=room,
        shared_at=hidden_bytes if beside else -1,
        blocks=min(chip.sms, -(-max(units) // WARPS)),
    )


def moe(spec: MoeSpec, chip: Chip) -> KernelCall:
    """The call of a mixture. Raises SelectionError for what no kernel runs."""
    spec = _checked(spec)
    decoded = moe_decode.plan(spec, chip)
    if decoded is not None:
        return moe_decode.call(spec, decoded, _operands(spec, _product(spec, moe_decode.PRODUCT)), chip)
    group = group_of(spec, chip)
    laid = lay(spec, group, chip)
    scratch, places = _scratch(spec, laid)
    arguments: tuple[Argument, ...] = (
        *_operands(spec, _product(spec, places["product"])),
        *(places[name] for name in ("logits", "columns", "h", "shared_h")),
        Address(ScratchKind.COUNTERS),
        *(I32(laid.pass_rows), I32(laid.choosers), I32(laid.segments), I32(laid.column_segments), I32(laid.split)),
        *(I32(laid.shared_segments), I32(laid.rows_at), I32(laid.room), I32(laid.shared_at)),
        *input_norm(spec.x),
        I32(laid.x_at),
        I32(int(spec.then is not None)),
        *(NO_NORM if spec.then is None else norm_arguments(spec.then, spec.width, "mixture's norm")),
    )
    stem = f"moe_{'q8' if planes_of(spec) else 'f32'}_r{group}"
    return KernelCall(
        stem,
        stem,
        (laid.blocks, 1, 1),
        (THREADS, 1, 1),
        laid.rows_at + laid.room,
        arguments,
        scratch=scratch,
        together=True,
    )


def _operands(spec: MoeSpec, y: Rows) -> tuple[Argument, ...]:
    """The kernels' MOE_PARAMS."""
    shared = spec.shared
    inner = 0 if shared is None else shared.hidden
    return (
        *_sources(spec),
        *(I32(spec.width), I32(spec.m), I32(spec.experts), I32(spec.top_k), I32(int(spec.renormalize))),
        *_grouping(spec),
        *(I32(spec.hidden), I32(_act_code(spec.act)), F32(spec.limit or 0.0)),
        *_matrix(spec.router, spec.experts, spec.width),
        *_matrix(None if shared is None else shared.column, 1, spec.width),
        *_matrix(spec.gate, spec.experts * spec.hidden, spec.width),
        *_matrix(spec.up, spec.experts * spec.hidden, spec.width),
        *_matrix(spec.down, spec.experts * spec.width, spec.hidden),
        *(optional(b) for b in (spec.router_bias, spec.gate_bias, spec.up_bias, spec.down_bias)),
        I32(inner),
        *_matrix(None if shared is None else shared.gate, inner, spec.width),
        *_matrix(None if shared is None else shared.up, inner, spec.width),
        *_matrix(None if shared is None else shared.down, spec.width, inner),
        *writing(y),
        *((Null(), I32(0)) if spec.plus is None else reading(spec.plus, "mixture plus")),
    )


def _checked(spec: MoeSpec) -> MoeSpec:
    """A spec whose sizes and formats the kernels take, its values of one output as a row."""
    require(spec.m >= 1, "mixture rows", "at least 1", spec.m)
    fits = 1 <= spec.top_k <= min(spec.experts, MOST_KEPT) and spec.experts <= MOST_EXPERTS
    require(fits, "mixture experts", f"1 to {MOST_KEPT} of at most {MOST_EXPERTS}", (spec.top_k, spec.experts))
    if spec.groups is not None:
        count, kept, best = spec.groups.count, spec.groups.kept, spec.groups.best
        each = 0 if count < 1 else spec.experts // count
        fits = 1 <= count <= MOST_GROUPS and each * count == spec.experts and 1 <= best <= each
        fits = fits and 1 <= kept <= count and kept * each >= spec.top_k
        allowed = f"at most {MOST_GROUPS} of one size, those kept of {spec.top_k} experts or more"
        require(fits, "mixture groups", allowed, (count, kept, best))
    require(spec.hidden >= 1 and spec.width >= 1, "mixture sizes", "at least 1", (spec.width, spec.hidden))
    require(spec.y is not None or spec.then is not None, "mixture result", "f32 rows or a norm", "neither")
    matrices = {"gate": spec.gate, "up": spec.up, "down": spec.down}
    if spec.shared is not None:
        shared = spec.shared
        matrices |= {"shared gate": shared.gate, "shared up": shared.up, "shared down": shared.down}
    planes = planes_of(spec)
    require(planes in (0, 1, 2), "mixture of quantized activations", "1 or 2 planes", planes)
    for name, matrix in matrices.items():
        require(matrix.format is not None, f"mixture {name}", "stored rows", "values")
        plain = planes > 0 and is_plain(matrix)
        require(not plain, f"mixture {name} beside quantized activations", "a block format", matrix.format)
    if isinstance(spec.x, Unnormed):
        require(
            spec.m == 1 and spec.width % 4 == 0, "mixture of a norm", "one row of a multiple of 4", (spec.m, spec.width)
        )
        require(spec.router_x is None, "mixture of a norm", "a router of what it norms", "other rows")
    elif any(is_plain(m) for m in columns_of(spec)):
        require(planes == 0 or spec.router_x is not None, "mixture router_x", "f32 rows for its router", "none")
    if planes == 0 and spec.router_x not in (None, spec.x):
        blocks = [m for m in columns_of(spec) if not is_plain(m)]
        require(not blocks, "mixture router_x beside f32 x", "a router of plain rows or values", "one of blocks")
    router = as_rows(spec.router, spec.experts, spec.width)
    if spec.shared is None or spec.shared.column is None:
        return replace(spec, router=router)
    column = as_rows(spec.shared.column, 1, spec.width)
    return replace(spec, router=router, shared=replace(spec.shared, column=column))


def _grouping(spec: MoeSpec) -> tuple[Argument, ...]:
    """The kernel's groups, kept_groups, group_best and routed_scale."""
    groups = spec.groups or ExpertGroups(1, 1, 1)
    return I32(groups.count), I32(groups.kept), I32(groups.best), F32(spec.routed_scale)


def _act_code(act: ExpertActivation) -> int:
    return CLAMPED_CODE if act is ExpertActivation.CLAMPED_SWIGLU else Activation(act.value).code


def _sources(spec: MoeSpec) -> tuple[Argument, ...]:
    """x with its pitch or planes, then the router's rows with their pitch."""
    x = spec.x
    if isinstance(x, Unnormed):
        return fixed(x.row, "mixture x"), I32(x.planes), Null(), I32(0)
    if isinstance(x, Quantized):
        router = (Null(), I32(0)) if spec.router_x is None else reading(spec.router_x, "mixture router_x")
        return x.address, I32(x.planes), *router
    return *reading(x, "mixture x"), *reading(spec.router_x or x, "mixture router_x")


def _matrix(matrix: MoeMatrix | None, rows: int, k: int) -> tuple[Argument, ...]:
    """The kernel's MATRIX_PARAMS."""
    if matrix is None:
        return Null(), I32(0), I32(0), I32(0), I32(0)
    if matrix.format is None:
        return matrix.weights, I32(len(FORMATS)), I32(0), I32(0), I32(rows)
    pitch = plane_layout(matrix.format, rows, k).pitch
    words = words_of(matrix.format, k)
    return matrix.weights, I32(FORMATS.index(matrix.format)), I32(pitch), I32(words), I32(rows)


def _scratch(spec: MoeSpec, laid: Laid) -> tuple[tuple[Scratch, ...], dict[str, Address]]:
    """What the call needs beside its operands, and where each array of it lies."""
    rows, inner = laid.pass_rows, 0 if spec.shared is None else spec.shared.hidden
    sizes = {
        "logits": laid.segments * rows * spec.experts,
        "columns": laid.column_segments * rows,
        "h": rows * spec.top_k * spec.hidden,
        "shared_h": rows * inner,
        "product": 0 if spec.y is not None else spec.m * spec.width,
    }
    places: dict[str, Address] = {}
    end = 0
    for name, values in sizes.items():
        places[name] = Address(ScratchKind.PARTIALS, end if values else 0)
        end += -(-4 * values // PLANE_ALIGN) * PLANE_ALIGN
    return (Scratch(ScratchKind.COUNTERS, 8), Scratch(ScratchKind.PARTIALS, end)), places


def _product(spec: MoeSpec, waiting: Address) -> Rows:
    """Where the mixture's rows land: their own place, or where the norm reads them."""
    if spec.y is None:
        return Rows(waiting, spec.width)
    if spec.then is not None:
        return Rows(fixed(spec.y, "mixture with a norm"), spec.y.pitch)
    return spec.y


__all__ = ["Laid", "even", "group_of", "lay", "moe", "table_bytes"]
