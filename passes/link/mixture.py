"""Mixtures of experts as one launch: with their shared expert, and over a chunk's rows sorted by expert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanelink.dialects import launch, tgraph
from lanelink.dialects.tgraph import FusedOp
from lanelink.dialects.tgraph.attributes import Q8Type, matrix
from lanelink.dialects.tgraph.fused import numbers
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.rules import draft_of

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker


def shared_expert_fusion(linker: Linker, op: FusedOp) -> Draft:
    """The mixture's launch with the shared expert's three matrices, and the product that gates it."""
    moe = next(part for part in op.parts if isinstance(part, tgraph.MoeOp))
    pair = next(part for part in op.parts if isinstance(part, FusedOp))
    down, gate = _products(op, pair)
    glu = linker.one(pair)
    others = sorted(set(numbers(op)) - set(numbers(moe)))
    draft = linker.one(moe).with_(
        shared_gate_rows=glu.fields["wg"],
        shared_up_rows=glu.fields["wu"],
        shared_down_rows=linker.one(down).fields["w"],
        out=linker.buffer(op.parts[-1].results[0]),
        covers=others,
    )
    if gate is None:
        return draft
    w, x = linker.one(gate).fields["w"], linker.buffer(gate.x)
    # Beside quantized rows the gate may be the only reader of the f32 ones.
    return draft.with_(shared_gate=w, router_x=draft.fields["router_x"] if gate.x is moe.x else x)


def _products(op: FusedOp, pair: FusedOp) -> tuple[tgraph.MatmulOp, tgraph.MatmulOp | None]:
    """(the shared expert's down product, the product that gates it where there is one)."""
    found = [part for part in op.parts if isinstance(part, tgraph.MatmulOp)]
    down = next(part for part in found if part.x in pair.outputs)
    return down, next((part for part in found if part is not down), None)


def moe_token_sort(linker: Linker, op: FusedOp) -> list[Draft]:
    """
    One mixture over the chunk's rows, after the quantize of them all where each row's was read quantized.

    The views and the sets of its rows run nothing.
    """
    views = [part for part in op.parts if isinstance(part, tgraph.ViewOp)]
    moe = next(part for part in op.parts if isinstance(part, tgraph.MoeOp))
    quantizes = [part for part in op.parts if isinstance(part, tgraph.QuantizeOp)]
    chunk = x = linker.buffer(views[0].x)
    made: list[Draft] = []
    if quantizes:
        assert isinstance(moe.x.type, Q8Type)
        x = linker.alloc(Q8Type(*matrix(views[0].x, "chunk"), moe.x.type.planes.data))
        quant = draft_of(quantizes[0], launch.QuantOp, x=chunk, quant=x)
        made.append(quant.with_(covers=[n for part in quantizes[1:] for n in numbers(part)]))
    others = set(numbers(op)) - set(numbers(moe)) - {n for draft in made for n in draft.covers}
    draft = linker.one(moe).with_(x=x, out=linker.buffer(op.parts[-1].results[0]), covers=sorted(others))
    return [*made, draft if moe.router_x is None else draft.with_(router_x=chunk)]


__all__ = ["moe_token_sort", "shared_expert_fusion"]
