"""
What fits the classes that only layers beside a dense decoder's have.

Where `fuse` recognizes a class at its last part, a fused op from anywhere fits if the same is recognized there, inside
its region: what the launch drops is then read by nothing, and nothing else is among the parts.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import f32
from xdsl.ir import BlockArgument

from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph import (
    DecayOp,
    FusedOp,
    FusedRowOp,
    FusionClass,
    MatmulOp,
    MoeOp,
    RowsType,
    SigmoidOp,
)
from lanelink.dialects.tgraph.attributes import Q8Type, matrix
from lanelink.passes.fit import Fit
from lanelink.passes.fuse.delta import CONV_BIAS_SILU, CONV_SILU_L2NORM, CONVOLUTIONS, GDN_GATE_PROJECTIONS, convolution
from lanelink.passes.fuse.gates import ATTN_OUTPUT_GATE
from lanelink.passes.fuse.latent import MLA, latent
from lanelink.passes.fuse.mixture import MOE_DEFERRED_FINALIZE, MOE_TOKEN_SORT, SHARED_EXPERT_FUSION
from lanelink.passes.fuse.norms import NORM_THEN_ADD
from lanelink.passes.fuse.patterns import Chain
from lanelink.passes.fuse.placement import PART_IN_PLACE, UNITS_IN_PLACE
from lanelink.passes.fuse.quant import ATTN_OUTPUT_QUANT, GDN_OUTPUT_QUANT, ROW_WRITE_QUANT
from lanelink.passes.fuse.views import is_fused


def _is(chain: Chain) -> Callable[[FusedOp], bool]:
    """Whether the parts are what a pattern recognizes at the last of them."""

    def made_of(op: FusedOp) -> bool:
        found = chain.match(op.parts[-1])
        return found is not None and len(found) == len(op.parts) and set(found) == set(op.parts)

    return made_of


def _one_width(op: FusedOp) -> str | None:
    """Both norms of a sandwich are over the whole row."""
    norms = [leaf for leaf in op.leaves() if isinstance(leaf, FusedRowOp)]
    _, width = matrix(norms[0].x, "norm x")
    narrow = [n.cols.value.data for n in norms if n.cols.value.data != width]
    return f"expected norms of the whole row of {width} values, got groups of {narrow[0]}" if narrow else None


def _same_forms(op: FusedOp) -> str | None:
    """The shared expert reads what the mixture reads, and quantizes its hidden row where the experts do theirs."""
    moe = next(part for part in op.parts if isinstance(part, MoeOp))
    pair = next(part for part in op.parts if isinstance(part, FusedOp))
    planes = moe.x.type.planes.data if isinstance(moe.x.type, Q8Type) else 0
    hidden = pair.results[0].type if is_fused(pair, FusionClass.GLU_ACT_MUL_QUANT) else None
    got = hidden.planes.data if isinstance(hidden, Q8Type) else 0
    if got != planes:
        return f"expected a shared expert's hidden row in {planes} planes as the experts', got {got}"
    gates = [part for part in op.parts if isinstance(part, SigmoidOp)]
    product = gates[0].x.owner if gates else None
    if not isinstance(product, MatmulOp) or not planes:
        return None
    kind = product.weight.type
    block = isinstance(kind, RowsType) and kind.format.data.is_block
    read = (moe.x,) if block else (product.x,) if moe.router_x is None else (moe.router_x,)
    return None if product.x in read else "expected the shared expert's gate to read what a router of its form would"


def _convolutions(op: FusedOp) -> bool:
    found = [convolution(part) for part in op.parts]
    results = {value for part in op.parts for value in part.results}
    apart = not any(value in results for part in op.parts for value in part.operands)
    forms = {None if c is None else c.form for c in found}
    norms = {c.norm for c in found if c is not None and c.norm is not None}
    return apart and None not in forms and len(forms) == 1 and len(norms) <= 1


def _few_convolutions(op: FusedOp) -> str | None:
    parts = len(op.parts)
    return None if parts <= CONVOLUTIONS else f"expected at most {CONVOLUTIONS} convolutions, got {parts}"


def _gating(op: FusedOp) -> bool:
    match op.parts:
        case [SigmoidOp() as beta, DecayOp() as decay] | [DecayOp() as decay, SigmoidOp() as beta]:
            return beta.x.type == decay.a.type and beta.result is not decay.a and decay.result is not beta.x
        case _:
            return False


def _query_outside(op: FusedOp) -> str | None:
    """The query's rotated part comes in, or is made by one part of the join in place."""
    found = latent(op.parts[-1])
    assert found is not None
    holder = found.join.parent_op()
    inside = holder is not op and isinstance(holder, FusedOp) and holder.parent_op() is op
    if inside or isinstance(found.join.b, BlockArgument):
        return None
    return "expected the query's rotated part to come in, or beside the product joined with it"


def _expanded_from_f32(op: FusedOp) -> str | None:
    """A table of f16 is attended to as it is: its rows are expanded by no kernel."""
    found = latent(op.parts[-1])
    assert found is not None
    kind = found.attention.keys.type
    return None if element_of(found.attention.keys) == f32 else f"expected a table of f32 to expand, got {kind}"


LAYER_FITS: dict[FusionClass, Fit] = {
    FusionClass.NORM_THEN_ADD: Fit(
        "a weighted rms norm and the norm of its sum with other rows", _is(NORM_THEN_ADD), False, (_one_width,)
    ),
    FusionClass.ROW_WRITE_QUANT: Fit(
        "the set_rows of all of a tensor's rows and the quantize of it", _is(ROW_WRITE_QUANT), True
    ),
    FusionClass.ATTN_OUTPUT_QUANT: Fit(
        "an attention, or those of a batch's rows put together, and the quantize of it", _is(ATTN_OUTPUT_QUANT), True
    ),
    FusionClass.GDN_OUTPUT_QUANT: Fit("a gated delta rule and its quantize", _is(GDN_OUTPUT_QUANT), True),
    FusionClass.MOE_DEFERRED_FINALIZE: Fit(
        "a mixture, a sum or none, and a norm that reads it once", _is(MOE_DEFERRED_FINALIZE)
    ),
    FusionClass.SHARED_EXPERT_FUSION: Fit(
        "a mixture, a shared expert of the same rows and activation, gated or not, and their sum",
        _is(SHARED_EXPERT_FUSION),
        False,
        (_same_forms,),
    ),
    FusionClass.MOE_TOKEN_SORT: Fit("one mixture of every row of a tensor, put together again", _is(MOE_TOKEN_SORT)),
    FusionClass.ATTN_OUTPUT_GATE: Fit(
        "an attention, or those of a batch's rows put together, and the gated product of it", _is(ATTN_OUTPUT_GATE)
    ),
    FusionClass.CONV_BIAS_SILU: Fit("a convolution and silu of it", _is(CONV_BIAS_SILU), True),
    FusionClass.CONV_SILU_L2NORM: Fit(
        "a convolution with silu and the l2 norm of its heads", _is(CONV_SILU_L2NORM), True
    ),
    FusionClass.CONV_PARTS: Fit(
        "convolutions with silu of as many rows and taps, side by side", _convolutions, True, (_few_convolutions,)
    ),
    FusionClass.GDN_GATING: Fit("a sigmoid and a decay of as many values, side by side", _gating, True),
    FusionClass.GDN_GATE_PROJECTIONS: Fit(
        "two products by values of one activation and the gates of them", _is(GDN_GATE_PROJECTIONS)
    ),
    FusionClass.MLA: Fit("an absorbed latent attention", _is(MLA), False, (_query_outside, _expanded_from_f32)),
    FusionClass.PART_IN_PLACE: Fit("a slice of every unit and what alone reads it by units", _is(PART_IN_PLACE)),
    FusionClass.UNITS_IN_PLACE: Fit("two producers of units and the join of those", _is(UNITS_IN_PLACE)),
}
"""Class → what fits it."""

__all__ = ["LAYER_FITS"]
