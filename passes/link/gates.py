"""Attentions that store their result gated: of one sequence, or of each of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from lanelink.dialects import tgraph
from lanelink.dialects.launch.functions import ActivationAttr
from lanelink.dialects.tgraph import FusedOp, FusionClass, LiftedOp
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.dialects.tgraph.fused import numbers
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.linker import kept, number
from lanelink.passes.link.prims import activation_of
from lanelink.passes.link.quant import quantized

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker


def attn_output_gate(linker: Linker, op: FusedOp) -> Draft | list[Draft]:
    """The attention with a gate; of a batch each attention, gated by its row of the gate and stored into that row."""
    product = op.parts[-1]
    assert isinstance(product, FusedOp)
    if len(op.parts) > 2:
        return _batch(linker, op)
    gate, act = _gate(linker, product)
    return linker.one(op.parts[0]).with_(
        gate=gate, gate_act=act, out=linker.buffer(product.outputs[0]), covers=numbers(product)
    )


def glu_act_mul_quant(linker: Linker, op: FusedOp) -> Draft | list[Draft]:
    """A gated unit that quantizes; of a batch's gated attentions each quantizes its row in its store."""
    gated, quantize = op.parts
    assert isinstance(quantize, tgraph.QuantizeOp)
    if not isinstance(gated, FusedOp) or gated.fusion_class.data is not FusionClass.ATTN_OUTPUT_GATE:
        return quantized(linker, op)
    if len(gated.parts) == 2:
        return quantized(linker, op)
    quant = linker.buffer(quantize.result)
    plain = kept(quantize.x)
    made = linker.inside(gated, lambda inner, f: _batch(inner, f, plain, quant))
    return _counted(made, numbers(quantize))


def attn_output_quant(linker: Linker, op: FusedOp) -> Draft | list[Draft]:
    """An attention that quantizes in its store; of a batch each into its row."""
    *rows, quantize = op.parts
    assert isinstance(quantize, tgraph.QuantizeOp)
    if len(rows) == 1:
        return quantized(linker, op)
    quant, out = linker.buffer(quantize.result), linker.kept_buffer(quantize.x)
    made = [draft.with_(out=out, quant=quant, row=IntegerAttr(row, i64)) for draft, row, _ in _rows(linker, rows)]
    return _counted(made, numbers(quantize))


def _batch(linker: Linker, op: FusedOp, plain: bool = True, quant: SSAValue | None = None) -> list[Draft]:
    """Each sequence's attention, storing its gated row among the batch's in f32, quantized, or both: no set runs."""
    *rest, product = op.parts
    assert isinstance(product, FusedOp)
    gate, act = _gate(linker, product)
    out = linker.buffer(product.outputs[0]) if plain else None
    made = [
        draft.with_(
            gate=gate,
            gate_act=act,
            gate_offset=IntegerAttr(row * width, i64),
            out=out,
            quant=quant,
            row=IntegerAttr(row, i64),
        )
        for draft, row, width in _rows(linker, rest)
    ]
    return _counted(made, numbers(product))


def _rows(linker: Linker, rest: Sequence[LiftedOp | FusedOp]) -> Iterator[tuple[Draft, int, int]]:
    """Each attention of a batch, which covers its set too, with the row it is set into and the values of a row."""
    attentions: dict[SSAValue, LiftedOp | FusedOp] = {
        part.results[0]: part for part in rest if not isinstance(part, tgraph.SetRowOp)
    }
    for each in rest:
        if not isinstance(each, tgraph.SetRowOp):
            continue
        assert each.row is not None
        _, width = matrix(each.source, "set_row source")
        yield linker.one(attentions[each.source]).with_(covers=number(each)), each.row.value.data, width


def _counted(made: list[Draft], more: list[int]) -> list[Draft]:
    """The launches, the last covering more lifted ops: its store computes them."""
    return [*made[:-1], made[-1].with_(covers=more)]


def _gate(linker: Linker, product: FusedOp) -> tuple[SSAValue, ActivationAttr]:
    """The gate's buffer and its activation, of a glu_act_mul."""
    act = product.parts[0]
    assert isinstance(act, tgraph.SiluOp | tgraph.SigmoidOp | tgraph.GeluOp)
    kind = activation_of(act)
    assert kind is not None
    held = product.inputs[product.body.block.args.index(act.x)]
    return linker.buffer(held), ActivationAttr(kind)


__all__ = ["attn_output_gate", "attn_output_quant", "glu_act_mul_quant"]
