"""`schedule-attention`: splits over positions, and which queries share the keys that a block reads."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, f16, i64
from xdsl.passes import ModulePass

from lanelink.dialects.launch import AttentionOp, LatentAttendOp, SequencesOp, ViewOp
from lanelink.dialects.launch.base import buffer_shape, table_shape
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph.step import step_function

MAX_SPLITS = 64
"""Splits whose states the kernels join."""

SPLITS_HELD = 16
"""Splits that the kernels join at a time: a few more would cost as much as all of these."""

POSITIONS_A_SPLIT = 64
"""Positions that are worth a block of their own: neighbours that a split takes together; half of them where a block
holds many queries or wide values."""


FEW_ROWS = 8
"""Rows of a step up to which attention over heads of the usual sizes is bound by its latency alone."""

USUAL_HEADS = (64, 128)
"""Sizes of key and value heads whose attention of a few rows has kernels of its own: short ones, whose blocks take half
as many positions."""


FEW_HEADS = 4
"""Heads that a block of those kernels takes of one row over a short table, where they halve: of eight, the step's own
key would wait for one of their warps, and scores take as long again as those of four."""

SHORT_TABLE = 2048
"""Positions up to which it costs nothing that twice as many blocks read the same keys and values."""


def is_few(rows: int, head_dim: int, value_dim: int) -> bool:
    """Whether a kernel of a few rows takes an attention whose 16-byte loads fit its values."""
    return rows <= FEW_ROWS and head_dim == value_dim and head_dim in USUAL_HEADS


@dataclass(frozen=True)
class Attention:
    """
    An attention of `rows` rows over tables of `length` rows, the last `window` positions of them where given.

    `by_fours`: every head's values begin on 16 bytes, and are whole words of them. `sequences`: attentions that run as
    one launch with it, itself among them. `head_dim` is that of key heads where each is in one piece.
    """

    heads: int
    kv_heads: int
    value_dim: int
    rows: int
    length: int
    window: int | None = None
    by_fours: bool = True
    sequences: int = 1
    head_dim: int | None = None


@dataclass(frozen=True)
class AttentionShare:
    """What a block takes: heads of one key head, rows of the step, and one of `splits` of the positions."""

    heads: int
    rows: int
    splits: int


def share_attention(a: Attention, sms: int) -> AttentionShare:
    """
    How an attention is shared out over the blocks of a chip of `sms` multiprocessors.

    A block reads each key and value row once for all of its queries: as many heads of one key head as kernels hold that
    divide the group (half of them where more would make the chain of one row over a short table long), then as many
    rows of the step as there is room left for, but fewer where blocks would be too few to fill the chip, however the
    positions were split. Then splits that fill the chip once, at as many blocks on a multiprocessor as it holds: those
    without positions, of which the first steps have many, end at once.
    """
    most = most_queries(a)
    group = a.heads // a.kv_heads
    heads = max(d for d in range(1, most + 1) if group % d == 0)
    if _runs_as_few(a) and a.rows == 1 and _span(a, 0) <= SHORT_TABLE and heads % 2 == 0 and heads > FEW_HEADS:
        heads //= 2
    rows = min(a.rows, most // heads)
    while rows > 1 and blocks_of(a, heads, rows) * most_splits(a, heads, rows) < sms:
        rows -= 1
    at_once = sms * blocks_together(a)
    splits = max(1, min(at_once // blocks_of(a, heads, rows), most_splits(a, heads, rows)))
    return AttentionShare(heads, rows, splits if splits < SPLITS_HELD else splits - splits % SPLITS_HELD)


def is_narrow(a: Attention, most: int) -> bool:
    """Whether value heads are at most `most` values wide; at most 64 where 16-byte loads do not fit them."""
    return a.value_dim <= (most if a.by_fours else 64)


def most_queries(a: Attention) -> int:
    """Queries that kernels hold in one block: fewer of wide value heads, and where 16-byte loads do not fit them."""
    if is_narrow(a, 256):
        return 8
    return 4 if a.by_fours else 2


def blocks_together(a: Attention) -> int:
    """Blocks whose registers a multiprocessor holds side by side."""
    return 2 if is_narrow(a, 128) else 1


def blocks_of(a: Attention, heads: int, rows: int) -> int:
    """Blocks before positions are split."""
    return a.sequences * (a.heads // heads) * -(-a.rows // rows)


def most_splits(a: Attention, heads: int, rows: int) -> int:
    """Splits of the positions that the rows of a block may see, each of positions enough for a block."""
    few = _runs_as_few(a)
    tile = POSITIONS_A_SPLIT if heads * rows <= 4 and is_narrow(a, 256) and not few else POSITIONS_A_SPLIT // 2
    return min(MAX_SPLITS, -(-_span(a, rows - 1 + tile) // tile))


def _runs_as_few(a: Attention) -> bool:
    """Whether a kernel of a few rows runs it."""
    return a.head_dim is not None and a.by_fours and a.sequences == 1 and is_few(a.rows, a.head_dim, a.value_dim)


def _span(a: Attention, beside: int) -> int:
    """Positions of the table that are seen: of a window, those `beside` it as well."""
    return a.length if a.window is None else min(a.length, a.window + beside)


@dataclass(frozen=True)
class ScheduleAttentionPass(ModulePass):
    """Writes `block_heads`, `block_rows` and `splits` on every attention."""

    name = "schedule-attention"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sms = module_target(op).sms.data
        for launch in launches(step_function(op)):
            for each in launch.walk():
                if isinstance(each, AttentionOp | LatentAttendOp):
                    share = share_attention(attention_of(each), sms)
                    each.block_heads = IntegerAttr(share.heads, i64)
                    each.block_rows = IntegerAttr(share.rows, i64)
                    each.splits = IntegerAttr(share.splits, i64)


def attention_of(op: AttentionOp | LatentAttendOp) -> Attention:
    """An attention as plain numbers."""
    rows, _ = buffer_shape(op.q, op.name)
    length, pitch = table_shape(op.values, op.name)
    heads, value_dim = op.heads.value.data, op.value_dim.value.data
    if isinstance(op, LatentAttendOp):
        by_fours = _by_fours(value_dim)
        return Attention(heads, heads, value_dim, rows, length, by_fours=by_fours)
    start = 0 if op.v_offset is None else op.v_offset.value.data
    values = op.values
    while isinstance(values.owner, ViewOp):
        start += values.owner.offset.value.data
        values = values.owner.x
    unit = value_dim if op.v_pitch is None else op.v_pitch.value.data
    holder = op.parent_op()
    return Attention(
        heads=heads,
        kv_heads=op.kv_heads.value.data,
        value_dim=value_dim,
        rows=rows,
        length=length,
        window=None if op.window is None else op.window.value.data,
        by_fours=_by_fours(value_dim, pitch, unit, start),
        sequences=len(holder.members()) if isinstance(holder, SequencesOp) else 1,
        head_dim=None if element_of(op.values) == f16 else op.head_dim.value.data,
    )


def _by_fours(*sizes: int) -> bool:
    return all(size % 4 == 0 for size in sizes)


__all__ = [
    "MAX_SPLITS",
    "POSITIONS_A_SPLIT",
    "Attention",
    "AttentionShare",
    "ScheduleAttentionPass",
    "attention_of",
    "is_few",
    "most_queries",
    "share_attention",
]
