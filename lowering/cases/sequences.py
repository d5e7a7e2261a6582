"""Cases of several sequences' launches as one, made of cases of one each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from lanelink.dialects.formats import Format
from lanelink.lowering.cases import delta
from lanelink.lowering.cases.attention import AttentionShape, attention, scheduled
from lanelink.lowering.cases.case import Case, QuantizedResult, Seed
from lanelink.lowering.cases.delta import DeltaShape, conv
from lanelink.lowering.cases.others import rope, set_row, set_row_f16, set_row_quantized
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.sequences import SequencesSpec

SHARED = ("sinks", "cos", "sin", "norm_weight", *(f"{name}{k}" for name in ("weight", "w") for k in range(4)))
"""Buffers that sequences have in common."""


def together(cases: Sequence[Case]) -> Case:
    """One launch of all the cases' launches, each over buffers of its own."""
    buffers = {_name(name, k): held for k, case in enumerate(cases) for name, held in case.buffers.items()}
    results = [
        replace(r, name=_name(r.name, k), **({"of": _name(r.of, k)} if isinstance(r, QuantizedResult) and r.of else {}))
        for k, case in enumerate(cases)
        for r in case.results
    ]
    spec = SequencesSpec(tuple(_renamed(case.spec, k) for k, case in enumerate(cases)))
    return Case(f"{len(cases)} sequences: {cases[0].name}", spec, buffers, tuple(results))


def _name(name: str, number: int) -> str:
    return name if name in SHARED else f"{name} of {number}"


def _renamed(value: Any, number: int) -> Any:
    """A spec with the addresses in it named for a sequence."""
    if isinstance(value, Address):
        return replace(value, ref=_name(str(value.ref), number))
    if isinstance(value, tuple):
        return tuple(_renamed(part, number) for part in cast("tuple[Any, ...]", value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    return replace(value, **{f.name: _renamed(getattr(value, f.name), number) for f in fields(value)})


def each(count: int, one: Callable[[int, Seed], Case], common: int = 0) -> Case:
    """`count` sequences together, each the case of its number and seed."""
    return together([one(k, (common, k)) for k in range(count)])


def rows_set(count: int, m: int, width: int, on_device: bool) -> Case:
    """Each sequence's rows into its own table, at positions of their own."""
    return each(count, lambda k, seed: set_row(m, width, 3 * k if on_device else 2, on_device, seed))


def rows_rounded(count: int, m: int, width: int, on_device: bool, gap: int = 0) -> Case:
    """Each sequence's rows into its own table of f16, at positions of their own."""
    return each(count, lambda k, seed: set_row_f16(m, width, 3 * k if on_device else 2, on_device, gap, seed))


def rows_quantized(count: int, m: int, width: int, on_device: bool, planes: int, f32: bool) -> Case:
    """Each sequence's rows among as many others, quantized, at rows of their own."""
    rows = count * m + 1
    return each(count, lambda k, seed: set_row_quantized(m, width, k * m, on_device, planes, f32, seed, rows))


def attentions(count: int, shape: AttentionShape) -> Case:
    """Each sequence's attention over its own tables, at positions that differ by more and more."""

    def one(k: int, seed: Seed) -> Case:
        case = attention(replace(shape, at=shape.at + k * k), seed)
        assert isinstance(case.spec, AttentionSpec)
        return replace(case, spec=scheduled(case.spec, sequences=count))

    return each(count, one)


def ropes(count: int, m: int, hd: int, half: int, heads: tuple[int, ...], norms: tuple[bool, ...], at: int) -> Case:
    """Each sequence's heads turned at its own position, all but the first side's into tables of its own."""
    context = at + count * count + m
    return each(count, lambda k, seed: rope(m, hd, half, heads, norms, at + k * k, seed, context), hd)


def convs(count: int, m: int, taps: int, parts: tuple[tuple[int, int | None], ...], *, silu: bool = True) -> Case:
    """Each sequence's convolutions over rings of its own."""
    return each(count, lambda k, seed: conv(m, taps, parts, silu=silu, ready=taps != 3, seed=seed), taps)


def deltas(count: int, shape: DeltaShape, gap: int = 0) -> Case:
    """Each sequence's delta rule over its own state."""
    return each(count, lambda k, seed: delta.delta(shape, gap, seed), shape.d)


def small_sequences() -> Iterator[Case]:
    """Each entry of several sequences, two to eight: gates, sinks, rows of wider results, splits, odd shapes."""
    yield rows_set(2, 1, 48, on_device=True)
    yield rows_set(8, 2, 35, on_device=True)
    yield rows_set(3, 1, 32, on_device=False)
    yield rows_rounded(2, 1, 48, on_device=True)
    yield rows_rounded(8, 2, 35, on_device=True, gap=1)
    yield rows_rounded(3, 1, 32, on_device=False, gap=4)
    yield rows_quantized(3, 1, 96, on_device=False, planes=1, f32=False)
    yield rows_quantized(8, 2, 32, on_device=False, planes=2, f32=True)
    yield rows_quantized(5, 1, 160, on_device=True, planes=1, f32=True)
    yield attentions(3, AttentionShape(1, 4, 2, 32, 32, 5, 64))
    yield attentions(8, AttentionShape(1, 2, 1, 16, 16, 60, 192, early=True, settled=True))
    yield attentions(2, AttentionShape(3, 2, 1, 64, 66 + 2, 70, 128, gate=Activation.SIGMOID, row=1))
    yield attentions(2, AttentionShape(1, 8, 1, 32, 132, 3, 64, window=9, sinks=True))
    yield attentions(3, AttentionShape(1, 4, 1, 32, 32, 70, 128, planes=1, f32=False, row=1, gate=Activation.SIGMOID))
    yield attentions(2, AttentionShape(2, 6, 3, 16, 16, 130, 160, planes=2))  # a quantized block across heads
    yield attentions(5, AttentionShape(1, 2, 1, 272, 260, 40, 64, values_from=4))
    yield attentions(2, AttentionShape(1, 3, 1, 24, 70, 66, 128, gap=2 * 2))  # values that 16-byte loads do not fit
    f16 = AttentionShape(1, 4, 2, 32, 32, 5, 64, stored=Format.F16)
    yield attentions(3, f16)
    yield attentions(8, replace(f16, heads=2, kv_heads=1, at=60, length=192, early=True, settled=True))
    yield attentions(2, replace(f16, m=3, hd=64, vd=68, at=70, length=128, gate=Activation.SIGMOID, row=1))
    yield attentions(2, replace(f16, heads=8, kv_heads=1, vd=132, window=9, sinks=True, planes=1, f32=False))
    yield attentions(5, replace(f16, heads=2, kv_heads=1, hd=272, vd=260, at=40, values_from=4))
    yield ropes(3, 1, 32, 16, (4, 2), (True, True), 5)
    yield ropes(8, 2, 20, 6, (3,), (False,), 1)
    yield ropes(2, 3, 288, 144, (1, 2, 1, 3), (False, True, True, False), 0)
    yield convs(3, 1, 4, ((64, 32), (64, 32), (100, None)))
    yield convs(8, 2, 3, ((45, None),), silu=False)
    yield convs(2, 5, 8, ((40, 8), (192, 96), (33, None), (8, 8)))
    yield deltas(3, DeltaShape(1, 4, 2, 32, planes=1, f32=False))
    yield deltas(8, DeltaShape(1, 1, 1, 96), gap=3)
    yield deltas(2, DeltaShape(3, 2, 1, 160, planes=2))
    yield deltas(2, DeltaShape(2, 1, 1, 288))


def full_sequences() -> Iterator[Case]:
    """Whole models' heads, in batches of two to eight."""
    for count in (2, 3, 5, 8):
        yield rows_set(count, 1, 1024, on_device=True)
        yield rows_quantized(count, 1, 4096, on_device=False, planes=1 + count % 2, f32=count == 3)
        yield attentions(count, AttentionShape(1, 32, 8, 128, 128, 700, 2048))
        yield attentions(count, AttentionShape(1, 14, 2, 64, 64, 33, 512, planes=1))
        yield attentions(count, AttentionShape(1, 16, 2, 256, 256, 500, 1024, gate=Activation.SIGMOID, planes=2, row=2))
        yield attentions(count, AttentionShape(1, 64, 8, 64, 64, 900, 2048, window=128, sinks=True))
        yield attentions(count, AttentionShape(1, 16, 1, 576, 512, 700, 1024, values_from=0))
        yield attentions(count, AttentionShape(1, 8, 2, 64, 126, 500, 1024, gap=4))
        f16 = AttentionShape(1, 32, 8, 128, 128, 700, 2048, stored=Format.F16)
        yield attentions(count, f16)
        yield attentions(count, replace(f16, heads=64, hd=64, vd=64, window=128, sinks=True, planes=1))
        yield attentions(count, replace(f16, heads=16, kv_heads=2, hd=256, vd=256, gate=Activation.SIGMOID, row=2))
        yield attentions(count, replace(f16, heads=16, kv_heads=1, hd=576, vd=512, length=1024, values_from=0))
        yield rows_rounded(count, 1, 1024, on_device=True)
        yield ropes(count, 1, 128, 64, (32, 8), (True, True), 700)
        yield ropes(count, 1, 256, 32, (16, 2), (True, True), 31)
        yield ropes(count, 3, 64, 32, (128,), (False,), 1000)
        yield convs(count, 1, 4, ((2048, 128), (2048, 128), (4096, None)))
        yield convs(count, 17, 2, ((96, None), (2100, 1050)))
        yield deltas(count, DeltaShape(1, 32, 16, 128, planes=1))
        yield deltas(count, DeltaShape(2, 3, 1, 256, planes=2, f32=False))
    yield deltas(3, DeltaShape(1, 2, 2, 1024))


__all__ = [
    "attentions",
    "convs",
    "deltas",
    "full_sequences",
    "ropes",
    "rows_quantized",
    "rows_rounded",
    "rows_set",
    "small_sequences",
    "together",
]
