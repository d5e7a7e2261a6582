"""Launches that write their result's quantized form, beside its f32 form or instead of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanelink.dialects import tgraph
from lanelink.dialects.tgraph import FusedOp
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.linker import kept, number

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker


def quantized(linker: Linker, op: FusedOp) -> Draft:
    """A producer that writes its result's quantized form, and the f32 form where something reads it."""
    producer, quantize = op.parts
    assert isinstance(quantize, tgraph.QuantizeOp)
    draft = linker.one(producer)
    quant = linker.buffer(quantize.result)
    return draft.with_(quant=quant, out=linker.kept_buffer(quantize.x), covers=number(quantize))


def row_write_quant(linker: Linker, op: FusedOp) -> list[Draft]:
    """Sets that carry their rows' quantized form, and the f32 rows where something reads the table so."""
    *sets, quantize = op.parts
    assert isinstance(quantize, tgraph.QuantizeOp)
    quant = linker.buffer(quantize.result)
    plain = kept(quantize.x)
    made: list[Draft] = []
    for each in sets:
        assert isinstance(each, tgraph.SetRowOp)
        # The rows are all set, so nothing of the table they started from is left to be written over.
        out = linker.buffer(quantize.x) if plain else None
        made.append(linker.set_row(each, out).with_(quant=quant))
    made[-1] = made[-1].with_(covers=number(quantize))
    return made


__all__ = ["quantized", "row_write_quant"]
