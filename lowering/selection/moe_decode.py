"""The call of a mixture of one row whose experts' formats have a module of their own, and how it is laid out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lanelink.dialects.formats import Format
from lanelink.lowering.selection.calls import ALL_SHARED, I32, Address, Argument, KernelCall, Scratch, ScratchKind
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.moe_sizes import (
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
from lanelink.lowering.selection.moe_specs import MoeSpec
from lanelink.lowering.selection.operands import Unnormed
from lanelink.lowering.selection.packing import NO_NORM, input_norm, norm_arguments

MIXED = {
    (Format.BF16, Format.BF16): "moe_decode_bf16",
    (Format.Q8_0, Format.Q8_0): "moe_decode_q8_0",
    (Format.Q4_K, Format.Q4_K): "moe_decode_q4_k",
    (Format.Q4_K, Format.Q6_K): "moe_decode_q4_k_q6_k",
    (Format.Q6_K, Format.Q6_K): "moe_decode_q6_k",
    (Format.MXFP4, Format.MXFP4): "moe_decode_mxfp4",
}
"""The modules, by the formats of gate and up, and of down: those of released models, and what Q4_K_M files mix."""

PART = 32
"""Experts of which a warp takes the best: the chosen are among these."""

MOST_EXPERTS = 2048
"""A thread compares one of the best with all others."""

STATIC_SHARED = 4096
"""At least the static shared memory of an entry."""

ARRIVALS = 4
"""Words of counters before those that blocks tell each other, which come by 16 bytes."""

PRODUCT = Address(ScratchKind.PARTIALS)
"""Where the row waits for its norm."""


@dataclass(frozen=True)
class Plan:
    """How a mixture of one row is laid on a chip: the kernel's arguments of the same names, its grid, its memory."""

    split_bits: int
    down_words: int
    down_batches: int
    plain_at: int
    hidden_at: int
    orders_at: int
    best_at: int
    partial_at: int
    per_hidden: int
    per_words: int
    blocks: int
    shared: int
    told: int


def module_of(spec: MoeSpec) -> str | None:
    """The module of the experts' formats, where they have one: the shared expert's are the same, and the router's rows
    are plain or of theirs."""
    up, down = spec.gate.format, spec.down.format
    if up is None or down is None or planes_of(spec) != (1 if up.is_block else 0):
        return None
    ups, downs = [spec.up.format], list[Format | None]()
    if spec.shared is not None:
        ups += [spec.shared.gate.format, spec.shared.up.format]
        downs.append(spec.shared.down.format)
    if any(f is not up for f in ups) or any(f is not down for f in downs):
        return None
    routed = all(m.format is up or (m.format is not None and is_plain(m)) for m in columns_of(spec))
    return MIXED.get((up, down)) if routed else None


def ceiling(n: int, divisor: int) -> int:
    """n / divisor, rounded up."""
    return -(-n // divisor)


def reciprocal(divisor: int) -> int:
    """2^32 over a divisor, rounded up, as the kernels take it: n * reciprocal / 2^32 is n // divisor, exactly, wherever
    n * divisor < 2^32; that of 1 is 0, and means n."""
    return 0 if divisor == 1 else ceiling(2**32, divisor)


def down_loads_of(format: Format) -> int:
    """Loads of a lane in a batch of down."""
    return 3 if format.is_block and format is not Format.Q8_0 else 6


def grid_of(units: int, width: int, rows: int, words: int, sms: int) -> tuple[int, int]:
    """The blocks and `split_bits`: the smallest grid whose busiest warp and block have no more to do, if it is nearly
    as large as the chip."""
    most = min(sms, ceiling(max(units, width, rows), WARPS))
    bits = split_bits_of(width, words, most)
    tiles = ceiling(width, WARPS >> bits)
    fewest = max(
        ceiling(units, WARPS * ceiling(units, WARPS * most)),
        ceiling(tiles, ceiling(tiles, most)),
        ceiling(rows, ceiling(rows, most)),
    )
    return (fewest if 10 * fewest >= 9 * most else most), bits


def values_of(format: Format) -> int:
    """Values of a stored row in 16 bytes."""
    return 512 // words_of(format, 512)


def share_of(words: int, bits: int) -> int:
    """Loads of an output of down that one of 2^bits warps takes: whole words of q8_0's scales, which are of four."""
    return 4 * ceiling(ceiling(words, 1 << bits), 4)


def split_bits_of(width: int, words: int, blocks: int) -> int:
    """Of the number of warps that share an output of down: what gives the busiest the fewest loads a lane, and of those
    the fewest."""

    def busiest(bits: int) -> int:
        tiles = ceiling(width, WARPS >> bits)
        return ceiling(tiles, blocks) * ceiling(share_of(words, bits), 32)

    return min(range(5), key=lambda bits: (busiest(bits), bits))


def plan(spec: MoeSpec, chip: Chip) -> Plan | None:
    """The layout; None where the general kernels run the mixture."""
    down = spec.down.format
    if spec.m != 1 or module_of(spec) is None or down is None or spec.experts > MOST_EXPERTS:
        return None
    inner = 0 if spec.shared is None else spec.shared.hidden
    words = words_of(down, spec.hidden)
    all_words = spec.top_k * words + (words_of(down, inner) if inner else 0)
    units = spec.top_k * spec.hidden + inner
    if units * spec.hidden >= 2**32 or all_words * words >= 2**32:
        return None
    if down is Format.Q8_0 and any(k % 64 for k in (spec.width, spec.hidden, inner)):
        return None  # two scales are loaded at a time
    rows = spec.experts + len(columns_of(spec)) - 1
    blocks, split_bits = grid_of(units, spec.width, rows, all_words, chip.sms)
    parts, planes, values = ceiling(spec.experts, PART), planes_of(spec), all_words * values_of(down)
    plain = isinstance(spec.x, Unnormed) or any(is_plain(m) for m in columns_of(spec))
    sizes = (
        stride_of(spec, spec.width),
        f32_stride(spec.width) if plain else 0,
        q8_stride(values, planes) if planes else 4 * values,
        4 * PART * parts,
        8 * 4 * ceiling(parts * min(PART, spec.top_k), 4),
        4 * ceiling(rows, blocks) * WARPS,
    )
    places, end = _places(sizes)
    shared = max(end, 4 * spec.width if spec.then is not None else 0)
    if shared > chip.shared_bytes - STATIC_SHARED:
        return None
    return Plan(
        split_bits=split_bits,
        down_words=all_words,
        down_batches=ceiling(share_of(all_words, split_bits), 32 * down_loads_of(down)),
        plain_at=places[1] if plain else -1,
        hidden_at=places[2],
        orders_at=places[3],
        best_at=places[4],
        partial_at=places[5],
        per_hidden=reciprocal(spec.hidden),
        per_words=reciprocal(words),
        blocks=blocks,
        shared=shared,
        told=values + rows,
    )


def _places(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Where arrays of these bytes begin, one behind the other, and where the last one ends."""
    places, end = list[int](), 0
    for size in sizes:
        places.append(end)
        end += 128 * ceiling(size, 128)
    return places, end


def call(spec: MoeSpec, laid: Plan, operands: tuple[Argument, ...], chip: Chip) -> KernelCall:
    """The call of a mixture with a plan, `operands` being the kernels' MOE_PARAMS."""
    module = module_of(spec)
    assert module is not None
    arguments: tuple[Argument, ...] = (
        *operands,
        Address(ScratchKind.COUNTERS),
        *input_norm(spec.x),
        *(I32(laid.split_bits), I32(laid.down_words), I32(laid.down_batches)),
        *(I32(laid.plain_at), I32(laid.hidden_at), I32(laid.orders_at), I32(laid.best_at), I32(laid.partial_at)),
        *(_word(laid.per_hidden), _word(laid.per_words)),
        I32(int(spec.then is not None)),
        *(NO_NORM if spec.then is None else norm_arguments(spec.then, spec.width, "mixture's norm")),
    )
    return KernelCall(
        module,
        f"{module}_{'q8' if planes_of(spec) else 'f32'}",
        (laid.blocks, 1, 1),
        (THREADS, 1, 1),
        laid.shared,
        arguments,
        scratch=(
            Scratch(ScratchKind.COUNTERS, 16 * ceiling(ARRIVALS + laid.told, 4)),
            *((Scratch(ScratchKind.PARTIALS, 4 * spec.width),) if spec.y is None else ()),
        ),
        together=True,
        carveout=ALL_SHARED if chip.architecture == "compute_90" else None,
    )


def _word(value: int) -> I32:
    """A 32-bit word, whose upper half of values the arguments count as negative."""
    return I32(value - 2**32 if value >= 2**31 else value)


__all__ = [
    "PRODUCT",
    "Plan",
    "call",
    "down_loads_of",
    "grid_of",
    "module_of",
    "plan",
    "reciprocal",
    "split_bits_of",
    "values_of",
]
