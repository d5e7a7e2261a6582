"""Kernel calls of attention: queries a block, and splits over positions."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import BLOCK_VALUES, Format
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.attention_specs import AttentionSpec, HeadTurns, KeyTail
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
    SelectionError,
    optional,
)
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.operands import Rows
from lanelink.lowering.selection.packing import (
    fixed,
    head_norm,
    quantizing_rows,
    reading,
    require,
    rows_of_step,
    some_result,
    writing,
)
from lanelink.passes.schedule.attention import MAX_SPLITS, is_few
from lanelink.passes.schedule.rotations import MOST_TURNED_ROWS

TEAMS = 4
"""Positions that the teams of a warp score together (kernels/attention_unit.cuh)."""

CLUSTER = 16
"""Blocks of a cluster that share the positions of one row (kernels/attention_one.cuh)."""

WITH_CLUSTERS = 9
"""The major compute capability of the chips that run them: later ones have clusters too, not all of so many blocks."""

CLUSTER_TILE = 32
"""Neighbouring positions that a block of a cluster takes."""

CLUSTER_TILES = 3
"""Tiles that it holds at a time, where it has as many."""

CLUSTER_STATIC = 11 * 1024
"""Bytes of shared memory of its own that are enough for every entry of clusters."""

LEAST_SPLITS = 8
"""Splits from which on they are worth the blocks of a cluster: of fewer, most blocks would have no positions."""

CLUSTER_POSITIONS = ((7, 4096), (MAX_SPLITS, 2048))
"""(Clusters, positions that are seen) up to which clusters are faster than splits that meet in global memory, as
measured on an H200: of more positions the multiprocessors that clusters leave out count, which an eighth doubles up."""


@dataclass(frozen=True)
class Entry:
    """An entry as kernels/attention.cu builds it.

    queries  of a block, all of one key head
    vector   value columns that a lane loads at once: 16 or 8 bytes of them
    parts    of such columns a lane has
    head     values of key and value heads, where it takes no others (kernels/attention_few.cuh)
    cluster  blocks of one cluster that share the positions, where they meet there (kernels/attention_one.cuh)
    """

    module: str
    name: str
    queries: int
    vector: int
    parts: int
    warps: int
    groups: int
    tailed: bool = False
    head: int | None = None
    stored: Format = Format.F32
    cluster: int = 1

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return 32 * self.warps

    @property
    def values(self) -> int:
        """The widest value head."""
        return 32 * self.vector * self.parts

    @property
    def turns(self) -> bool:
        """Whether it turns heads, of at most as many values as its widest value head."""
        plain = self.stored is Format.F32 and not self.tailed
        return plain and self.values <= 256 and (self.vector == 4 or self.parts == 1)

    def shared_bytes(self, hd: int, vd: int, turned_keys: int = 0) -> int:
        """Dynamic shared memory: queries, turned keys; each warp's weights and what is kept; then its state."""
        if self.head is not None:
            # Of each warp the maxima and sums, and four weights and what is kept of each query on 32 bytes.
            state = self.queries * (8 + 2 + self.head)
            return 4 * ((self.queries + turned_keys) * self.head + self.warps * state)
        weights = self.queries * (TEAMS * self.groups + 4)
        state = self.queries * (vd + 2)
        return 4 * ((self.queries + turned_keys) * hd + self.warps * (weights + state))


ENTRIES = (
    Entry("attention_64", "attention_64_q2", 2, 2, 1, 8, 2),
    Entry("attention_64", "attention_64_q4", 4, 2, 1, 8, 2),
    Entry("attention_64", "attention_64_q8", 8, 2, 1, 8, 1),
    Entry("attention_128", "attention_128_q2", 2, 4, 1, 8, 2),
    Entry("attention_128", "attention_128_q4", 4, 4, 1, 8, 2),
    Entry("attention_128", "attention_128_q8", 8, 4, 1, 8, 1),
    Entry("attention_256", "attention_256_q2", 2, 4, 2, 8, 2),
    Entry("attention_256", "attention_256_q4", 4, 4, 2, 8, 2),
    Entry("attention_256", "attention_256_q8", 8, 4, 2, 8, 1),
    Entry("attention_512", "attention_512_q2", 2, 4, 4, 8, 1),
    Entry("attention_512", "attention_512_q4", 4, 4, 4, 8, 1),
    Entry("attention_pairs", "attention_pairs_q2", 2, 2, 4, 8, 1),
    Entry("attention_tailed", "attention_tailed_128", 8, 4, 1, 8, 1, tailed=True),
    Entry("attention_tailed", "attention_tailed_256", 8, 4, 2, 8, 1, tailed=True),
    *(Entry("attention_64", f"attention_few_64_q{q}", q, 2, 1, 8, 1, head=64) for q in (2, 4, 8)),
    *(Entry("attention_128", f"attention_few_128_q{q}", q, 4, 1, 8, 1, head=128) for q in (2, 4, 8)),
    *(Entry("attention_64", f"attention_one_64_q{q}", q, 2, 1, 8, 1, head=64, cluster=CLUSTER) for q in (2, 4, 8)),
    *(Entry("attention_128", f"attention_one_128_q{q}", q, 4, 1, 8, 1, head=128, cluster=CLUSTER) for q in (2, 4, 8)),
    Entry("attention_64_f16", "attention_64_f16_q4", 4, 2, 1, 8, 2, stored=Format.F16),
    Entry("attention_64_f16", "attention_64_f16_q8", 8, 2, 1, 8, 1, stored=Format.F16),
    Entry("attention_128_f16", "attention_128_f16_q4", 4, 4, 1, 8, 2, stored=Format.F16),
    Entry("attention_128_f16", "attention_128_f16_q8", 8, 4, 1, 8, 1, stored=Format.F16),
    Entry("attention_256_f16", "attention_256_f16_q8", 8, 4, 2, 8, 1, stored=Format.F16),
    Entry("attention_512_f16", "attention_512_f16_q4", 4, 4, 4, 8, 1, stored=Format.F16),
)
"""
The entries: of those whose loads and value heads suit, the narrowest, with the fewest queries that are enough; of a few
rows of heads of a usual size, those that take no others; of one row, where a chip has clusters, those that meet in one.
"""

MOST_VALUES = max(e.values for e in ENTRIES)


def entry_for(spec: AttentionSpec, chip: Chip, *, several: bool = False) -> Entry:
    """
    The entry that runs an attention on a chip, one that has a form for `several` sequences where they are.

    Raises SelectionError where its value heads are too wide, or none fits them.
    """
    vector = 4 if _by_fours(spec) else 2
    head = spec.hd if not several and _is_few(spec) else None
    cluster = CLUSTER if head is not None and _meets(spec, chip) else 1
    alike = [e for e in ENTRIES if e.head == head and e.cluster == cluster and _reads(e, spec)]
    fits = [e for e in alike if e.vector <= vector and e.values >= spec.vd]
    if spec.turns is not None:
        fits = [e for e in fits if e.turns and e.values >= spec.hd]
        require(bool(fits), "attention turned head", "at most 256 values, value heads likewise", (spec.hd, spec.vd))
    if not fits:
        most = max((e.values for e in alike if e.vector <= vector), default=0)
        loads = "16-byte" if vector == 4 else "8-byte"
        raise SelectionError("attention value head", f"at most {most} values in {loads} loads", spec.vd)
    narrowest = [e for e in fits if e.values == min(f.values for f in fits)]
    queries = spec.block_heads * spec.block_rows
    most = max(e.queries for e in narrowest)
    require(queries <= most, "attention queries a block", f"at most {most}", queries)
    return min((e for e in narrowest if e.queries >= queries), key=lambda e: e.queries)


def _is_few(spec: AttentionSpec) -> bool:
    """Whether it is of few rows, and its heads are side by side and of a size that has entries of its own."""
    plain = spec.tail is None and spec.q_unit is None and spec.keys.stored is Format.F32 and _by_fours(spec)
    return plain and is_few(spec.m, spec.hd, spec.vd)


def _meets(spec: AttentionSpec, chip: Chip) -> bool:
    """
    Whether the splits of an attention of few rows are blocks of a cluster: where the chip has them, of one row over few
    enough positions, whose heads turn as a whole or not at all, and begin on 8 bytes.
    """
    if chip.compute_capability[0] != WITH_CLUSTERS or spec.m != 1 or spec.splits < LEAST_SPLITS:
        return False
    if CLUSTER_STATIC + _tiles_bytes(spec) > chip.shared_bytes:
        return False
    clusters, seen = spec.heads // spec.block_heads, min(spec.length, spec.window or spec.length)
    if not any(clusters <= most and seen <= positions for most, positions in CLUSTER_POSITIONS):
        return False
    heads = [spec.q]
    if spec.turns is not None:
        if 2 * spec.turns.half != spec.hd:
            return False
        heads.append(spec.turns.k)
    return all(fixed(rows, "attention head", Format.F32).offset % 8 == 0 for rows in heads)


def _tiles_bytes(spec: AttentionSpec) -> int:
    """Dynamic shared memory of a block of a cluster: its tiles of keys and values, whose rows are four values apart."""
    tiles = -(-spec.length // CLUSTER_TILE)
    if spec.window is not None:
        tiles = min(tiles, -(-(spec.window - 1) // CLUSTER_TILE) + 1)  # those that it may lie in
    return min(CLUSTER_TILES, -(-tiles // CLUSTER)) * CLUSTER_TILE * 4 * (spec.hd + spec.vd + 2 * 4)


def _reads(entry: Entry, spec: AttentionSpec) -> bool:
    """Whether an entry is for tables and keys of an attention's form."""
    return entry.tailed == (spec.tail is not None) and entry.stored is spec.keys.stored


def _by_fours(spec: AttentionSpec) -> bool:
    """Whether 16-byte loads find the values of every head and row aligned."""
    steps = (spec.vd, spec.values.pitch, value_unit(spec))
    first = fixed(spec.values, "attention values", spec.keys.stored)
    return all(s % 4 == 0 for s in steps) and first.offset % (4 * spec.keys.stored.block_bytes) == 0


def value_unit(spec: AttentionSpec) -> int:
    """Values from one key head's to the next's."""
    return spec.vd if spec.v_unit is None else spec.v_unit


def _check(spec: AttentionSpec) -> None:
    """Raises SelectionError for heads, tables and windows that no entry takes."""
    require(spec.m >= 1, "attention rows", "at least 1", spec.m)
    some_result(spec.y, spec.quantized, "attention")
    grouped = spec.kv_heads >= 1 and spec.heads >= 1 and spec.heads % spec.kv_heads == 0
    require(grouped, "attention heads", "a multiple of the key heads", (spec.heads, spec.kv_heads))
    require(spec.hd >= 4 and spec.hd % 4 == 0, "attention key head", "a multiple of 4 values", spec.hd)
    fits = 2 <= spec.vd <= MOST_VALUES and spec.vd % 2 == 0
    require(fits, "attention value head", f"an even width of 2 to {MOST_VALUES}", spec.vd)
    _aligned("keys", spec.keys, spec.keys.stored, 4)
    _aligned("values", spec.values, spec.keys.stored, 2)
    require(value_unit(spec) % 2 == 0, "attention value unit", "a multiple of 2 values", spec.v_unit)
    require(spec.window is None or spec.window >= 1, "attention window", "at least 1", spec.window)
    require(spec.length >= 1, "attention table", "at least 1 row", spec.length)
    group = spec.heads // spec.kv_heads
    divides = spec.block_heads >= 1 and group % spec.block_heads == 0
    require(divides, "attention heads a block", f"a divisor of {group}, the heads of a key head", spec.block_heads)
    require(spec.block_rows >= 1, "attention rows a block", "at least 1", spec.block_rows)
    require(1 <= spec.splits <= MAX_SPLITS, "attention splits", f"1 to {MAX_SPLITS}", spec.splits)
    if spec.turns is not None:
        _check_turns(spec, spec.turns)
    if spec.tail is not None:
        head = spec.tail.head
        require(0 < head < spec.hd and head % 4 == 0, "attention key's head", "a multiple of 4 values inside", head)
        require(spec.heads == spec.kv_heads, "attention heads of shared keys", spec.kv_heads, spec.heads)
        _aligned("shared keys", spec.tail.keys, Format.F32, 4)


def _check_turns(spec: AttentionSpec, turns: HeadTurns) -> None:
    """Raises SelectionError for turned heads that no entry takes."""
    require(spec.m <= MOST_TURNED_ROWS, "attention rows that turn", f"at most {MOST_TURNED_ROWS}", spec.m)
    require(1 <= 2 * turns.half <= spec.hd, "attention rotation", f"2 * half of 2 to {spec.hd}", turns.half)
    plain = spec.tail is None and spec.q_unit is None
    require(plain, "attention turned queries", "heads side by side", "units of wider ones")


def _aligned(what: str, rows: Rows, stored: Format, values: int) -> None:
    """Checks that rows `stored` so begin on `values` values."""
    expected, size = f"a multiple of {values} values", stored.block_bytes
    address = fixed(rows, f"attention {what}", stored)
    require(rows.pitch % values == 0, f"attention {what}' pitch", expected, rows.pitch)
    require(address.offset % (size * values) == 0, f"attention {what}' start", f"{expected} in", address.offset // size)


def attention(spec: AttentionSpec, chip: Chip, *, most_queries: bool = False) -> KernelCall:
    """
    The call of causal attention; `most_queries`: by the entry of its module that holds the most queries, not the fewest
    that are enough. Raises SelectionError for what the kernel cannot run.
    """
    _check(spec)
    entry = entry_for(spec, chip, several=most_queries)
    if most_queries:
        alike = (e for e in ENTRIES if e.module == entry.module and e.head is None)
        entry = max(alike, key=lambda e: e.queries)
    group = spec.heads // spec.kv_heads
    heads, rows, splits = spec.block_heads, spec.block_rows, spec.splits
    blocks, row_blocks = spec.heads // heads, -(-spec.m // rows)
    rows_of_step(row_blocks, f"attention, {rows} a block:")
    # A quantized block lies within the heads of one block, or else one block joins the whole row.
    join = blocks if spec.quantized is not None and heads * spec.vd % BLOCK_VALUES else 1
    if entry.cluster > 1:
        shared = _tiles_bytes(spec)
    else:
        shared = entry.shared_bytes(spec.hd, spec.vd, 0 if spec.turns is None else spec.m)
    most = chip.shared_bytes - 1024
    require(shared <= most, "attention head", f"{most} bytes of shared memory", shared)
    gate = (Null(), I32(0)) if spec.gate is None else reading(spec.gate.x, "attention gate")
    arguments = (
        *reading(spec.q, "attention q"),
        I32(spec.hd if spec.q_unit is None else spec.q_unit),
        *reading(spec.keys, "attention keys", spec.keys.stored),
        *reading(spec.values, "attention values", spec.keys.stored),
        *(I32(value_unit(spec)), spec.position, I32(spec.known), I32(spec.m)),
        *_turns(spec.turns),
        *_tail(spec.tail, spec.hd),
        *(I32(spec.heads), I32(group), I32(heads), I32(rows), I32(spec.hd), I32(spec.vd)),
        *(I32(spec.window or 0), optional(spec.sinks), F32(spec.scale), I32(splits), I32(join)),
        *(Address(ScratchKind.PARTIALS), Address(ScratchKind.COUNTERS)),
        *(*gate, I32((Activation.NONE if spec.gate is None else spec.gate.act).code)),
        *writing(spec.y),
        *quantizing_rows(spec.quantized, spec.m, spec.heads * spec.vd, "attention"),
    )
    if entry.cluster > 1:
        return _of_cluster(entry, blocks, shared, arguments)
    scratch = (
        Scratch(ScratchKind.PARTIALS, 4 * row_blocks * rows * spec.heads * splits * (spec.vd + 2)),
        Scratch(ScratchKind.COUNTERS, 4 * row_blocks * blocks),
    )
    grid = (blocks, splits, row_blocks)
    return KernelCall(entry.module, entry.name, grid, (entry.threads, 1, 1), shared, arguments, scratch=scratch)


def _of_cluster(entry: Entry, blocks: int, shared: int, arguments: tuple[Argument, ...]) -> KernelCall:
    """The call whose splits, along x, are the blocks of a cluster: it needs no scratch."""
    plain = tuple(Null() if isinstance(a, Address) and isinstance(a.ref, ScratchKind) else a for a in arguments)
    grid, block = (entry.cluster, blocks, 1), (entry.threads, 1, 1)
    return KernelCall(entry.module, entry.name, grid, block, shared, plain, cluster=entry.cluster, carveout=ALL_SHARED)


def _turns(turns: HeadTurns | None) -> tuple[Argument, ...]:
    """(turned, k, k_pitch, the norm of queries, that of keys, cos, sin, half)."""
    if turns is None:
        return (I32(0), Null(), I32(0), *head_norm(None), *head_norm(None), Null(), Null(), I32(0))
    norms = (*head_norm(turns.q_norm), *head_norm(turns.k_norm))
    return (I32(1), *reading(turns.k, "attention k"), *norms, turns.cos, turns.sin, I32(turns.half))


def _tail(tail: KeyTail | None, hd: int) -> tuple[Argument, ...]:
    """(head, q_tail, q_tail_pitch, tail, tail_pitch)."""
    if tail is None:
        return I32(hd), Null(), I32(0), Null(), I32(0)
    return (
        I32(tail.head),
        *reading(tail.q, "attention q of shared keys"),
        *reading(tail.keys, "attention shared keys"),
    )


__all__ = ["ENTRIES", "Entry", "attention", "entry_for"]
