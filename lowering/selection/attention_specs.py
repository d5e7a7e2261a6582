"""Attention as frozen data (see `lowering.selection.specs`)."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.operands import HeadNorm, Quantized, Rows


@dataclass(frozen=True)
class OutputGate:
    """The result is multiplied by act of `x`, rows of as many values, of which row r gates row r."""

    act: Activation
    x: Rows


@dataclass(frozen=True)
class KeyTail:
    """Where the last values of queries and keys lie, all but the first `head` of each head size.

    Those of the queries are rows of head after head in `q`; those of the keys are in rows of `keys`, which all heads
    share.
    """

    head: int
    q: Rows
    keys: Rows


@dataclass(frozen=True)
class HeadTurns:
    """The queries, and the step's own keys `k` [m, kv_heads * hd], as they are before their norms and their rotation.

    The first 2 * half values of each head turn by row position + r of cos and sin, constants, f32 [context, half]. The
    keys land in rows position + r of the key table.
    """

    k: Rows
    q_norm: HeadNorm | None
    k_norm: HeadNorm | None
    cos: Address
    sin: Address
    half: int


@dataclass(frozen=True)
class AttentionSpec:
    """Causal attention of q [m, heads * hd] over key and value tables of `length` rows; row r sees 0..position + r.

    Query head h is at h * q_unit of a row (hd where None), key head g at g * hd of a key row, value head g at
    g * v_unit (vd where None) of a value row, which may be inside the key's; query head h reads head
    h / (heads / kv_heads). `window` w keeps the last w positions. `sinks` f32 [heads] join each head's maximum and sum.
    The keys of this step's rows are already in the tables, but with `turns`.

    `early` says that no launch before this one in its step writes the position, `settled` that none writes rows of the
    tables before it either. A block takes `block_heads` heads of a key head, `block_rows` rows and one of `splits` of
    the positions.
    """

    q: Rows
    keys: Rows
    values: Rows
    position: Address
    heads: int
    kv_heads: int
    hd: int
    vd: int
    length: int
    m: int
    scale: float
    window: int | None = None
    sinks: Address | None = None
    y: Rows | None = None
    quantized: Quantized | None = None
    q_unit: int | None = None
    v_unit: int | None = None
    gate: OutputGate | None = None
    tail: KeyTail | None = None
    turns: HeadTurns | None = None
    early: bool = False
    settled: bool = False
    block_heads: int = 1
    block_rows: int = 1
    splits: int = 1

    @property
    def known(self) -> int:
        """What kernels may read before the launch ahead has ended: nothing, 1 the position, 2 the rows before it."""
        return self.early + (self.early and self.settled)


__all__ = ["AttentionSpec", "HeadTurns", "KeyTail", "OutputGate"]
