"""Linear attention: convolutions with what follows them, several in one launch, and the gates of a delta rule."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from lanelink.dialects.tgraph import (
    CausalConvOp,
    DecayOp,
    FusedOp,
    FusionClass,
    GatedDeltaOp,
    L2NormOp,
    MatmulOp,
    RowsType,
    SigmoidOp,
    SiluOp,
    ViewOp,
)
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.passes.fuse.build import Part
from lanelink.passes.fuse.patterns import Chain, Group, Parts
from lanelink.passes.fuse.views import from_outside, is_fused, is_read_once, last_result

CONVOLUTIONS = 4
"""The most convolutions of one launch."""


# Convolutions


def _conv_bias_silu(op: Operation) -> Parts | None:
    """A causal convolution, then silu, which alone reads its rows. The ring it leaves is kept."""
    if not isinstance(op, SiluOp) or not is_read_once(op.x):
        return None
    conv = last_result(op.x)
    return (conv, op) if isinstance(conv, CausalConvOp) else None


def _conv_silu_l2norm(op: Operation) -> Parts | None:
    """A convolution with silu, then the l2 norm of each head, which alone reads its rows."""
    if not isinstance(op, L2NormOp) or not is_read_once(op.x):
        return None
    conv = last_result(op.x)
    return (conv, op) if is_fused(conv, FusionClass.CONV_BIAS_SILU) else None


@dataclass(frozen=True)
class Convolution:
    """A member of conv_parts: a convolution with silu."""

    form: tuple[int, int, int | None]
    """Rows and taps; of a row of a tensor, a batch's, which."""
    norm: tuple[object, object] | None
    """Width and eps of its heads' l2 norm."""


def convolution(op: object) -> Convolution | None:
    if not is_fused(op, FusionClass.CONV_BIAS_SILU, FusionClass.CONV_SILU_L2NORM):
        return None
    first, *_, last = op.leaves()
    if not isinstance(first, CausalConvOp):
        return None
    rows, _ = matrix(first.x, "causal_conv x")
    _, taps = matrix(first.weight, "causal_conv weight")
    form = rows, taps, _row_of(from_outside(first.x, op))
    return Convolution(form, (last.cols, last.eps) if isinstance(last, L2NormOp) else None)


def _row_of(x: SSAValue) -> int | None:
    """Which of a tensor's rows x is, where it is a view of one."""
    view = x.owner
    return view.offset.value.data // matrix(x, "view")[1] if isinstance(view, ViewOp) else None


def _form(op: Operation) -> Hashable | None:
    """Convolutions with silu of as many rows and taps; of a batch, of one sequence's row."""
    found = convolution(op)
    return None if found is None else found.form


def _normed_alike(members: Parts, op: Part) -> bool:
    """Whether the members whose heads are normed, and op where its are, share width and eps."""
    norms = {found.norm for m in (*members, op) if (found := convolution(m)) is not None and found.norm is not None}
    return len(norms) <= 1


# The gates


def _gated_rules(op: Operation) -> Hashable | None:
    """
    The delta rules that read a sigmoid as their write strength, or a decay as theirs, whole or by rows. A rule has one
    of each, so two ops with the same rules are one of each.
    """
    if isinstance(op, SigmoidOp):
        return _rules(op.result, lambda rule: rule.beta) or None
    return (_rules(op.result, lambda rule: rule.decay) or None) if isinstance(op, DecayOp) else None


def _rules(value: SSAValue, gate: Callable[[GatedDeltaOp], SSAValue]) -> frozenset[GatedDeltaOp]:
    read = _readers(value)
    return frozenset(rule for rule, seen in read if isinstance(rule, GatedDeltaOp) and gate(rule) is seen)


def _readers(value: SSAValue) -> Iterator[tuple[Operation, SSAValue]]:
    """What reads a value or a view of it, and as which of them."""
    for use in value.uses:
        view = use.operation
        if not isinstance(view, ViewOp):
            yield view, value
            continue
        for inner in view.result.uses:
            yield inner.operation, view.result


def _gdn_gate_projections(op: Operation) -> Parts | None:
    """Both gates of a delta rule, and before them two products of one activation by values, which they alone read."""
    if not is_fused(op, FusionClass.GDN_GATING):
        return None
    inputs = [_gate_input(op, leaf) for leaf in op.leaves()]
    products = [value.owner for value in inputs if value is not None and is_read_once(value)]
    match products:
        case [MatmulOp() as first, MatmulOp() as second] if first is not second and first.x is second.x:
            by_rows = any(isinstance(p.weight.type, RowsType) for p in (first, second))
            return None if by_rows else (first, second, op)
        case _:
            return None


def _gate_input(op: FusedOp, leaf: Operation) -> SSAValue | None:
    """What a gate is made of, as the gating takes it in."""
    if isinstance(leaf, SigmoidOp):
        return from_outside(leaf.x, op)
    return from_outside(leaf.a, op) if isinstance(leaf, DecayOp) else None


CONV_BIAS_SILU = Chain(FusionClass.CONV_BIAS_SILU, _conv_bias_silu)
CONV_SILU_L2NORM = Chain(FusionClass.CONV_SILU_L2NORM, _conv_silu_l2norm)
CONV_PARTS = Group(FusionClass.CONV_PARTS, key=_form, joins=_normed_alike, most=CONVOLUTIONS)
GDN_GATING = Group(FusionClass.GDN_GATING, key=_gated_rules, joins=lambda members, op: True, most=2)
GDN_GATE_PROJECTIONS = Chain(FusionClass.GDN_GATE_PROJECTIONS, _gdn_gate_projections)
