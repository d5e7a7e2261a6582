"""Cases of attention in every form, and their lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.lowering import meanings
from lanelink.lowering.activations import ActivationLayout, quantize
from lanelink.lowering.cases.case import UNIT, Builder, Case, Doubles, FloatResult, Floats, QuantizedResult, Seed
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.attention_specs import AttentionSpec, KeyTail, OutputGate
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.chip import H200
from lanelink.lowering.selection.operands import Quantized, Rows
from lanelink.passes.schedule.attention import Attention, share_attention


@dataclass(frozen=True)
class AttentionShape:
    """What an attention is over, and what it writes.

    `values_from`: the value heads lie that far inside the key heads. `gate`: the result is gated. `row`: it lands in
    that row of a table of ROWS more, beside the quantized form in as many. `gap`: values between rows of q and tables,
    which are `stored` as f32 or f16. `needle`: the key of that position is such that every head of the rows that see it
    gives it `share` of its weight, so that a result without it is far off however many positions there are; where no
    row sees it, it is what the first row would give it.
    """

    m: int
    heads: int
    kv_heads: int
    hd: int
    vd: int
    at: int
    length: int
    window: int | None = None
    sinks: bool = False
    planes: int = 0
    f32: bool = True
    gate: Activation | None = None
    values_from: int | None = None
    row: int | None = None
    gap: int = 0
    early: bool = False
    settled: bool = False
    stored: Format = Format.F32
    needle: int | None = None
    share: float = 0.5

    @property
    def words(self) -> str:
        """The shape as a case's name."""
        said = [] if self.stored is Format.F32 else [f"over {self.stored.value}"]
        said += [f"m={self.m} {self.heads}/{self.kv_heads} heads of {self.hd}/{self.vd} at {self.at} of {self.length}"]
        said += [f"{k} {v}" for k in ("window", "values_from", "row", "needle") if (v := getattr(self, k)) is not None]
        said += [k for k in ("sinks", "early", "settled") if getattr(self, k)]
        if self.gate is not None:
            said.append(f"gate {self.gate.value}")
        return " ".join([*said, *(["gap"] if self.gap else []), *(["f32"] if self.f32 else []), f"q8 x{self.planes}"])

    def first_seen(self, row: int) -> int:
        """The first position that a row of the step sees."""
        return 0 if self.window is None else max(0, self.at + row + 1 - self.window)

    @property
    def rows_of_needle(self) -> list[int]:
        """The rows of the step that see the needle."""
        if self.needle is None:
            return []
        return [r for r in range(self.m) if self.first_seen(r) <= self.needle <= self.at + r]


OTHER_ROWS = 3


def scheduled(spec: AttentionSpec, sms: int = H200.sms, sequences: int = 1) -> AttentionSpec:
    """The spec with the shares that `schedule-attention` gives it, one of `sequences`, on a chip of `sms`
    multiprocessors."""
    unit = spec.vd if spec.v_unit is None else spec.v_unit
    first = spec.values.address.offset // spec.values.stored.block_bytes
    fours = all(n % 4 == 0 for n in (spec.vd, spec.values.pitch, unit, first))
    head = spec.hd if spec.tail is None and spec.keys.stored is Format.F32 else None
    shape = Attention(spec.heads, spec.kv_heads, spec.vd, spec.m, spec.length, spec.window, fours, sequences, head)
    share = share_attention(shape, sms)
    return replace(spec, block_heads=share.heads, block_rows=share.rows, splits=share.splits)


def error_bound(y: Floats, hd: int) -> Doubles:
    """How far f32 sums and powers of two may lead an attention's result.

    A lane adds hd / 8 products and the team three sums; the scores, of a few units, round by UNIT each time, and the
    power of two of a score is off by as much of its own size, and by 2 UNIT of the instruction. Weights sum to 1.
    """
    return 8 * UNIT * (hd / 8 + 8) * (1 + np.abs(y.astype(np.float64)))


def attention(s: AttentionShape, seed: Seed = 0) -> Case:
    """Attention at a position of tables of `length` rows, whose rows past the step are NaN."""
    b = Builder(seed)
    q, keys = b.normal(s.m, s.heads * s.hd), held_as(s.stored, b.normal(s.length, s.kv_heads * s.hd))
    sink = b.constant(s.heads) if s.sinks else None
    if s.needle is not None:
        keys[s.needle] = held_as(s.stored, needle_key(s, q, keys, sink))
    inside = s.values_from is not None
    values = (
        meanings.slice_units(keys, s.hd, s.values_from, s.vd)
        if s.values_from is not None
        else held_as(s.stored, b.normal(s.length, s.kv_heads * s.vd))
    )
    for table in (keys, values):
        table[s.at + s.m :] = np.nan
    held = b.normal(s.m, s.heads * s.vd, scale=2.0)
    scale = s.hd**-0.5
    gate = None if s.gate is None else (s.gate, held)
    plain = meanings.attention(q, keys, values, s.at, s.heads, s.kv_heads, scale, s.window, sink)
    y = meanings.attention(q, keys, values, s.at, s.heads, s.kv_heads, scale, s.window, sink, gate=gate)
    bound = error_bound(plain, s.hd)
    if gate is not None:
        # The gate's own value is off by a few UNIT of it and of its argument.
        bound = (bound + 16 * UNIT * np.abs(plain)) * (1 + np.abs(held))
    key_rows = table_of(b, "keys", keys, s)
    spec = AttentionSpec(
        q=b.rows("q", q, s.gap),
        keys=key_rows,
        values=replace(key_rows, address=key_rows.address.at(s.stored.block_bytes * (s.values_from or 0)))
        if inside
        else table_of(b, "values", values, s),
        position=b.index("position", s.at),
        heads=s.heads,
        kv_heads=s.kv_heads,
        hd=s.hd,
        vd=s.vd,
        length=s.length,
        m=s.m,
        scale=scale,
        window=s.window,
        sinks=b.maybe("sinks", sink),
        v_unit=s.hd if inside else None,
        gate=None if s.gate is None else OutputGate(s.gate, b.rows("gate", held, s.gap)),
        early=s.early,
        settled=s.settled,
    )
    return b.done(f"attention {s.words}", scheduled(stored(b, spec, y, bound, s)))


def needle_key(s: AttentionShape, q: Floats, keys: Floats, sink: Floats | None) -> Floats:
    """
    The key [kv_heads * hd] of the needle, among the table's others [length, kv_heads * hd]: the shortest that queries q
    [m, heads * hd] score as they must. A score that lies log(share / (1 - share)) above the logarithm of the sum of the
    others' exponentials has that share of the weight. Raises ValueError where the rows that see it have more queries of
    a key head than a key has values, or see nothing else.
    """
    group, rows = s.heads // s.kv_heads, s.rows_of_needle or [0]
    if group * len(rows) > s.hd:
        raise ValueError(f"needle: expected at most {s.hd} queries of a key head, got {group * len(rows)}")
    heads = q.astype(np.float64).reshape(s.m, s.kv_heads, group, s.hd)[rows] * s.hd**-0.5
    wanted = np.empty(heads.shape[:3])
    for i, r in enumerate(rows):
        others = [p for p in range(s.first_seen(r), s.at + r + 1) if p != s.needle]
        if not others:
            raise ValueError(f"needle: expected other positions that row {r} sees, got {s.needle} alone")
        scores = np.einsum("kgd,pkd->kgp", heads[i], keys[others].astype(np.float64).reshape(-1, s.kv_heads, s.hd))
        if sink is not None:
            scores = np.concatenate([scores, sink.reshape(s.kv_heads, group, 1)], axis=2)
        wanted[i] = np.log(np.exp(scores).sum(axis=2) * s.share / (1 - s.share))
    key = np.empty((s.kv_heads, s.hd), np.float32)
    for k in range(s.kv_heads):
        key[k] = np.linalg.lstsq(heads[:, k].reshape(-1, s.hd), wanted[:, k].reshape(-1), rcond=None)[0]
    return key.reshape(-1)


def held_as(format: Format, values: Floats) -> Floats:
    """What a table of f32 or f16 holds of values."""
    return values if format is Format.F32 else values.astype(np.float16).astype(np.float32)


def table_of(b: Builder, name: str, values: Floats, s: AttentionShape) -> Rows:
    """A table of keys or values as its shape stores it."""
    if s.stored is Format.F32:
        return b.rows(name, values, s.gap)
    padded = np.full((values.shape[0], values.shape[1] + s.gap), np.float16(np.nan))
    padded[:, : values.shape[1]] = values
    return Rows(b.put(name, padded), padded.shape[1], stored=s.stored)


def stored(b: Builder, spec: AttentionSpec, y: Floats, bound: Doubles, s: AttentionShape) -> AttentionSpec:
    """The spec with its results, and what they must hold."""
    if s.row is None:
        return replace(
            spec,
            y=b.out("y", y, bound) if s.f32 else None,
            quantized=b.quantized("yq", y, bound, s.planes, "y" if s.f32 else None) if s.planes else None,
        )
    rows = s.m + OTHER_ROWS
    before = b.normal(rows, y.shape[1])
    after, tolerance = before.copy(), np.zeros(before.shape)
    after[s.row : s.row + s.m], tolerance[s.row : s.row + s.m] = y, bound
    if s.f32:
        b.results.append(FloatResult("y", after, tolerance))
        spec = replace(spec, y=Rows(b.put("y", before), y.shape[1], s.row))
    if s.planes:
        layout = ActivationLayout(rows, y.shape[1], s.planes)
        b.results.append(QuantizedResult("yq", layout, after, tolerance, "y" if s.f32 else None))
        b.put("yq", quantize(before, s.planes).pack())
        spec = replace(spec, quantized=Quantized(Address("yq"), s.planes, rows, s.row))
    return spec


@dataclass(frozen=True)
class LatentShape:
    """A chunk's attention over expanded latent rows: heads of nope + rope values, over rows of latent + rope."""

    m: int
    heads: int
    nope: int
    rope: int
    latent: int
    vd: int
    at: int
    length: int
    planes: int = 0

    @property
    def words(self) -> str:
        """The shape as a case's name."""
        return (
            f"m={self.m} {self.heads} heads of {self.nope}+{self.rope}/{self.vd} over {self.latent} "
            f"at {self.at} of {self.length} q8 x{self.planes}"
        )


def latent_attention(s: LatentShape, seed: int = 0) -> Case:
    """A chunk's attention over every head's keys and values, and the rotated values that all heads share."""
    b = Builder(seed)
    both = b.normal(s.m, s.heads * (s.nope + s.rope))
    q, q_rope = meanings.slice_units(both, s.nope + s.rope, 0, s.nope), b.normal(s.m, s.heads * s.rope)
    keys, values = b.normal(s.length, s.heads * s.nope), b.normal(s.length, s.heads * s.vd)
    table = b.normal(s.length, s.latent + s.rope)
    for held in (keys, values, table):
        held[s.at + s.m :] = np.nan
    hd = s.nope + s.rope
    y = meanings.latent_attention(q, q_rope, keys, values, table, s.at, s.heads, s.latent, hd**-0.5)
    bound = error_bound(y, hd)
    shared = b.rows("table", table)
    spec = AttentionSpec(
        q=b.rows("q", both),
        keys=b.rows("keys", keys),
        values=b.rows("values", values),
        position=b.index("position", s.at),
        heads=s.heads,
        kv_heads=s.heads,
        hd=hd,
        vd=s.vd,
        length=s.length,
        m=s.m,
        scale=hd**-0.5,
        y=b.out("y", y, bound),
        quantized=b.quantized("yq", y, bound, s.planes, "y") if s.planes else None,
        q_unit=hd,
        tail=KeyTail(s.nope, b.rows("q_rope", q_rope), replace(shared, address=shared.address.at(4 * s.latent))),
    )
    return b.done(f"attention, latent, {s.words}", scheduled(spec))


def small_attention() -> Iterator[Case]:
    """Every entry at least once: positions at and beside the edges of units and tiles, windows, sinks, gates."""
    shape = AttentionShape
    yield attention(shape(1, 4, 2, 32, 32, 0, 64, planes=1))
    yield attention(shape(1, 4, 2, 32, 32, 70, 96, planes=2, f32=False, early=True))
    yield attention(shape(3, 4, 2, 32, 32, 70, 96, early=True, settled=True))
    yield attention(shape(1, 2, 2, 32, 32, 200, 256))
    for m, heads, at in ((1, 2, 0), (1, 4, 63), (2, 2, 64), (1, 8, 130), (3, 2, 5), (1, 9, 31), (8, 1, 70)):
        for head in (64, 128):
            few = shape(m, heads, 1, head, head, at, 160, 20 if m > 1 else None, heads == 4, planes=heads % 3)
            yield attention(replace(few, early=heads < 8, settled=m == 1, gate=Activation.SIGMOID if m == 2 else None))
    # One row whose splits meet in a cluster: blocks without positions, keys of its own, positions that no unit ends at.
    for heads, kv, head, at in ((2, 1, 64, 224), (6, 2, 64, 40), (14, 2, 64, 300), (7, 1, 128, 255), (3, 1, 128, 511)):
        one = shape(1, heads, kv, head, head, at, 512 - 2 * heads, planes=heads % 3, sinks=kv == 2, f32=heads != 7)
        gate = Activation.SIGMOID if at == 255 else None
        yield attention(replace(one, length=512, early=heads < 8, settled=head == 128, gate=gate))
    yield attention(shape(1, 2, 1, 128, 128, 700, 1100, window=300, row=1, planes=2, early=True))
    yield attention(shape(3, 2, 2, 64, 48, 31, 40, planes=1))
    yield attention(shape(1, 7, 1, 36, 20, 33, 64, window=9))
    yield attention(shape(2, 8, 1, 80, 80, 65, 128, window=40, sinks=True, early=True))
    yield attention(shape(1, 4, 1, 16, 8, 40, 64, planes=1))
    yield attention(shape(1, 6, 3, 16, 16, 5, 32, planes=1))  # a quantized block across heads
    yield attention(shape(1, 6, 3, 16, 16, 130, 160, planes=1, gate=Activation.SIGMOID))
    yield attention(shape(1, 2, 1, 96, 96, 64, 80, gate=Activation.SIGMOID, planes=1))
    yield attention(shape(1, 4, 1, 128, 128, 63, 64, gate=Activation.SILU, f32=False, planes=2))
    yield attention(shape(2, 4, 1, 64, 128, 90, 256, row=1, planes=1, sinks=True))
    yield attention(shape(1, 2, 1, 12, 132, 20, 64, gap=4))
    yield attention(shape(1, 4, 1, 12, 136, 20, 64, row=2, planes=2, gate=Activation.GELU))
    yield attention(shape(1, 8, 1, 256, 256, 33, 64, planes=1))
    yield attention(shape(1, 2, 1, 576, 512, 40, 64, values_from=0))
    yield attention(shape(3, 3, 1, 40, 260, 70, 128, planes=0, window=30))
    yield attention(shape(1, 4, 1, 48, 32, 9, 64, values_from=16))
    yield attention(shape(2, 2, 2, 24, 70, 66, 128, gap=2 * 2))  # value rows that 16-byte loads do not fit
    yield latent_attention(LatentShape(5, 2, 32, 16, 24, 32, 60, 80))
    yield latent_attention(LatentShape(9, 1, 64, 32, 32, 160, 7, 64, planes=1))


def small_f16() -> Iterator[Case]:
    """The same over tables of f16: every entry, odd heads, values in the keys' rows."""
    shape = replace(AttentionShape(1, 4, 2, 32, 32, 70, 96), stored=Format.F16)
    yield attention(replace(shape, planes=1))
    yield attention(replace(shape, m=3, heads=2, hd=64, vd=48, at=31, length=40, early=True, settled=True))
    yield attention(replace(shape, heads=7, kv_heads=1, hd=36, vd=20, at=33, length=64, window=9))
    yield attention(replace(shape, m=2, heads=8, kv_heads=1, hd=80, vd=80, at=65, length=128, sinks=True, gap=4))
    yield attention(replace(shape, heads=4, kv_heads=1, hd=128, vd=128, at=63, length=64, gate=Activation.SILU))
    yield attention(replace(shape, m=2, heads=4, kv_heads=1, hd=12, vd=136, at=20, length=64, row=1, planes=2))
    yield attention(replace(shape, heads=8, kv_heads=1, hd=256, vd=256, at=33, length=64, planes=1, early=True))
    yield attention(replace(shape, heads=2, kv_heads=1, hd=576, vd=512, at=40, length=64, values_from=0))
    yield attention(replace(shape, heads=2, kv_heads=1, hd=48, vd=32, at=9, length=64, values_from=16))


def full_f16() -> Iterator[Case]:
    """Head sizes by positions by rows, long tables, DeepSeek's heads."""
    base = AttentionShape(1, 8, 2, 64, 64, 0, 1100)
    for hd, at, m in product((32, 64, 80, 96, 112, 128, 192, 256), (0, 1, 31, 32, 1000), (1, 2, 3, 8, 17)):
        gate, planes = Activation.SIGMOID if m == 2 else None, 1 + at % 2
        case = replace(base, m=m, hd=hd, vd=hd, at=at, window=20 if m == 3 else None, sinks=at == 31, gate=gate)
        yield attention(replace(case, planes=planes, early=m < 3, settled=m == 1, stored=Format.F16), seed=hd)
    for heads, at, m in product((16, 128), (0, 31, 1000), (1, 3)):
        case = replace(base, m=m, heads=heads, kv_heads=1, hd=576, vd=512, at=at, values_from=0)
        yield attention(replace(case, stored=Format.F16))
    case = replace(base, heads=32, kv_heads=8, hd=128, vd=128, at=40000, length=40960)
    yield attention(replace(case, stored=Format.F16))


def full_attention() -> Iterator[Case]:
    """Head sizes by positions by rows; groups; whole models' heads."""
    shape = AttentionShape
    for hd, at, m in product((32, 64, 80, 96, 112, 128, 192, 256), (0, 1, 31, 32, 1000), (1, 2, 3, 8, 17)):
        for window in (None, 20):
            quantized = 1 + at % 2
            gate = Activation.SIGMOID if m == 2 else None
            yield attention(
                shape(
                    *(m, 8, 2, hd, hd, at, 1100, window, at == 31, quantized),
                    gate=gate,
                    early=m < 3,
                    settled=m == 1,
                ),
                seed=hd,
            )
    for heads, kv in ((14, 2), (16, 1), (12, 12), (22, 2)):
        yield attention(shape(2, heads, kv, 64, 64, 700, 4096, planes=1))
    for heads, at, m in product((16, 128), (0, 1, 31, 32, 1000), (1, 3)):
        yield attention(shape(m, heads, 1, 576, 512, at, 1100, values_from=0, planes=m % 2))
    for vd in (260, 320, 384, 512):
        yield attention(shape(1, 8, 2, 64, vd, 500, 1024))
    for vd, m in product((30, 66, 126, 250), (1, 17)):
        yield attention(shape(m, 8, 2, 64, vd, 500, 1024, gap=4))
    for m, row in ((1, 0), (1, 3), (8, 2)):
        yield attention(shape(m, 8, 2, 128, 128, 300, 512, row=row, planes=2, gate=Activation.SIGMOID))
    yield attention(shape(1, 32, 8, 128, 128, 40000, 40960))
    yield attention(shape(1, 64, 8, 64, 64, 5000, 8192, window=128, sinks=True))
    for m, at, vd in product((17, 200), (0, 31, 500), (128, 256)):
        yield latent_attention(LatentShape(m, 16, 128, 64, 512, vd, at, 1024, planes=1))


__all__ = [
    "AttentionShape",
    "LatentShape",
    "attention",
    "error_bound",
    "full_attention",
    "full_f16",
    "latent_attention",
    "needle_key",
    "scheduled",
    "small_attention",
    "small_f16",
    "stored",
]
