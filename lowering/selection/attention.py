"""Kernel calls of attention: heads a block, and splits over positions."""

from __future__ import annotations

from lanelink.dialects.formats import BLOCK_VALUES
from lanelink.lowering.selection.calls import F32, I32, Address, KernelCall, Scratch, ScratchKind, optional
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.packing import quantizing, reading, require, rows_of_step, some_result, writing
from lanelink.lowering.selection.specs import AttentionSpec

# The kernels' own constants (kernels/attention.cu).
THREADS = 256
WARPS = 8
ENTRIES = ((2, 2), (4, 2), (8, 2), (2, 4), (8, 4))
"""Entries: the heads of one key head that a block holds, and the pairs of value columns that a lane does, 64 columns a
pair; the first that is enough in both is taken."""

MOST_HEADS = max(heads for heads, _ in ENTRIES)
MOST_VALUES = 64 * max(pairs for _, pairs in ENTRIES)

MAX_SPLITS = 64
POSITIONS_A_SPLIT = 32
"""Fewer positions than this are not worth a block, so a table of `length` rows has at most length / 32 splits."""


def heads_per_block(group: int) -> int:
    """Heads of a group that a block takes: the largest divisor of the group that an entry holds."""
    return max(d for d in range(1, MOST_HEADS + 1) if group % d == 0)


def splits_of(blocks: int, span: int, sms: int) -> int:
    """Splits over positions that fill the chip once: `blocks` blocks there are without, `span` positions at most."""
    return max(1, min(sms // blocks, MAX_SPLITS, -(-span // POSITIONS_A_SPLIT)))


def shared_bytes(entry_heads: int, hd: int, vd: int, joined: int) -> int:
    """Dynamic shared memory of a block: queries, then each warp's state; or the `joined` shares of splits."""
    states = entry_heads * hd + WARPS * entry_heads * (vd + 2)
    return 4 * max(states, joined)


def attention(spec: AttentionSpec, chip: Chip) -> KernelCall:
    """The call of causal attention. Raises SelectionError for what the kernel cannot run."""
    rows_of_step(spec.m, "attention")
    some_result(spec.y, spec.quantized, "attention")
    grouped = spec.kv_heads >= 1 and spec.heads >= 1 and spec.heads % spec.kv_heads == 0
    require(grouped, "attention heads", "a multiple of the key heads", (spec.heads, spec.kv_heads))
    require(spec.hd >= 4 and spec.hd % 4 == 0, "attention key head", "a multiple of 4 values", spec.hd)
    fits = 2 <= spec.vd <= MOST_VALUES and spec.vd % 2 == 0
    require(fits, "attention value head", f"an even width of 2 to {MOST_VALUES}", spec.vd)
    require(spec.keys.pitch % 4 == 0, "attention keys' pitch", "a multiple of 4 values", spec.keys.pitch)
    require(spec.values.pitch % 2 == 0, "attention values' pitch", "a multiple of 2 values", spec.values.pitch)
    require(spec.window is None or spec.window >= 1, "attention window", "at least 1", spec.window)
    require(spec.length >= 1, "attention table", "at least 1 row", spec.length)
    group = spec.heads // spec.kv_heads
    per_block = heads_per_block(group)
    entry_heads, pairs = next((h, p) for h, p in ENTRIES if h >= per_block and 64 * p >= spec.vd)
    blocks = spec.heads // per_block
    span = spec.length if spec.window is None else min(spec.length, spec.window)
    splits = splits_of(blocks * spec.m, span, chip.sms)
    # A quantized block lies within the heads of one block, or else one block joins the whole row.
    join = blocks if spec.quantized is not None and per_block * spec.vd % BLOCK_VALUES else 1
    shared = shared_bytes(entry_heads, spec.hd, spec.vd, join * per_block * splits)
    require(shared <= chip.shared_bytes - 1024, "attention head", f"{chip.shared_bytes} bytes of shared memory", shared)
    arguments = (
        *reading(spec.q, "attention q"),
        *reading(spec.keys, "attention keys"),
        *reading(spec.values, "attention values"),
        *(spec.position, I32(spec.m), I32(group), I32(per_block), I32(spec.hd), I32(spec.vd)),
        *(I32(spec.window or 0), optional(spec.sinks), F32(spec.scale), I32(splits), I32(join)),
        *(Address(ScratchKind.PARTIALS), Address(ScratchKind.COUNTERS)),
        *writing(spec.y),
        *quantizing(spec.quantized, spec.heads * spec.vd, "attention"),
    )
    scratch = (
        Scratch(ScratchKind.PARTIALS, 4 * spec.m * spec.heads * splits * (spec.vd + 2)),
        Scratch(ScratchKind.COUNTERS, 4 * spec.m * blocks),
    )
    grid = (blocks, splits, spec.m)
    return KernelCall(
        "attention", f"attention_g{entry_heads}_c{pairs}", grid, (THREADS, 1, 1), shared, arguments, scratch=scratch
    )


__all__ = ["attention", "heads_per_block", "shared_bytes", "splits_of"]
