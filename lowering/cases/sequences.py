"""Cases of several sequences' launches as one, made of cases of one each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from lanelink.lowering.cases.attention import AttentionShape, attention
from lanelink.lowering.cases.case import Case, QuantizedResult
from lanelink.lowering.cases.others import set_row
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.sequences import SequencesSpec
from lanelink.lowering.selection.specs import CopySpec

SHARED = ("sinks",)
"""Buffers that sequences have in common."""


def together(cases: Sequence[Case]) -> Case:
    """One launch of all the cases' launches, each over buffers of its own."""
    buffers = {_name(name, k): held for k, case in enumerate(cases) for name, held in case.buffers.items()}
    results = [
        replace(r, name=_name(r.name, k), **({"of": _name(r.of, k)} if isinstance(r, QuantizedResult) and r.of else {}))
        for k, case in enumerate(cases)
        for r in case.results
    ]
    specs = [_renamed(case.spec, k) for k, case in enumerate(cases)]
    copies = tuple(s for s in specs if isinstance(s, CopySpec))
    attentions = tuple(s for s in specs if isinstance(s, AttentionSpec))
    spec = SequencesSpec(copies or attentions)
    return Case(f"{len(cases)} sequences: {cases[0].name}", spec, buffers, tuple(results))


def _name(name: str, number: int) -> str:
    return name if name in SHARED else f"{name} of {number}"


def _renamed(value: Any, number: int) -> Any:
    """A spec with the addresses in it named for a sequence."""
    if isinstance(value, Address):
        return replace(value, ref=_name(str(value.ref), number))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    return replace(value, **{f.name: _renamed(getattr(value, f.name), number) for f in fields(value)})


def rows_set(count: int, m: int, width: int, on_device: bool) -> Case:
    """Each sequence's rows into its own table, at positions of their own."""
    return together([set_row(m, width, 3 * k if on_device else 2, on_device, seed=k) for k in range(count)])


def attentions(count: int, shape: AttentionShape) -> Case:
    """Each sequence's attention over its own tables, at positions that differ by more and more."""
    seeds = [0 if shape.sinks else k for k in range(count)]
    return together([attention(replace(shape, at=shape.at + k * k), seed) for k, seed in enumerate(seeds)])


def small_sequences() -> Iterator[Case]:
    """Each entry of several sequences: two to eight of them, gates, sinks, rows of wider results, splits."""
    yield rows_set(2, 1, 48, on_device=True)
    yield rows_set(8, 2, 35, on_device=True)
    yield rows_set(3, 1, 32, on_device=False)
    yield attentions(3, AttentionShape(1, 4, 2, 32, 32, 5, 64))
    yield attentions(8, AttentionShape(1, 2, 1, 16, 16, 60, 192, early=True))
    yield attentions(2, AttentionShape(3, 2, 1, 64, 66 + 2, 70, 128, gate=Activation.SIGMOID, row=1))
    yield attentions(2, AttentionShape(1, 8, 1, 32, 132, 3, 64, window=9, sinks=True))


def full_sequences() -> Iterator[Case]:
    """Whole models' heads, in batches of two to eight."""
    for count in (2, 3, 5, 8):
        yield rows_set(count, 1, 1024, on_device=True)
        yield attentions(count, AttentionShape(1, 32, 8, 128, 128, 700, 2048))
        yield attentions(count, AttentionShape(1, 14, 2, 64, 64, 33, 512))
        yield attentions(count, AttentionShape(1, 16, 2, 256, 256, 500, 1024, gate=Activation.SIGMOID))
        yield attentions(count, AttentionShape(1, 64, 8, 64, 64, 900, 2048, window=128, sinks=True))


__all__ = ["attentions", "full_sequences", "rows_set", "small_sequences", "together"]
