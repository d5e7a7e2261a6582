"""The rows of the table of refusals about ops that a dense decoder does not have."""

from __future__ import annotations

from xdsl.ir import SSAValue

from lanelink.dialects.formats import BLOCK_VALUES
from lanelink.dialects.launch.mixture import MOST_EXPERTS, MOST_GROUPS, MOST_KEPT
from lanelink.dialects.tgraph import (
    AttentionOp,
    DeltaGate,
    FullAttentionOp,
    GatedDeltaOp,
    HeadMatmulOp,
    IntClampOp,
    IntRequantOp,
    LiftedOp,
    LutAttentionOp,
    MoeOp,
    ReluOp,
    RowsType,
    Scores,
    SoftcapOp,
    TransposeOp,
)
from lanelink.passes.origin import constant
from lanelink.passes.refusal import Refusal, refuse

WIDEST_DELTA_HEAD = 1024
"""A thread of a delta rule's block holds one column of a head's state."""


def _none(kind: type[LiftedOp], instead: str) -> Refusal:
    """A row for an op that no kernel computes in any form."""
    return refuse(kind, lambda op, _: True, lambda op: f"expected {instead}, got {op.name.removeprefix('tgraph.')}")


def _off_form(op: MoeOp) -> str | None:
    """What a mixture has beside a softmax that weighs its experts' outputs."""
    forms = {
        "scores by sigmoid": op.scores.data is not Scores.SOFTMAX,
        "a selection bias": op.selection_bias is not None,
        "weighed inputs": op.weigh_inputs is not None,
    }
    return next((name for name, given in forms.items() if given), None)


def _is_outputs(value: SSAValue) -> bool:
    """Whether a value is constant checkpoint rows, each of which is one output."""
    kind = value.type
    return isinstance(kind, RowsType) and kind.is_transposed and constant(value) is not None


def _is_router(op: MoeOp) -> bool:
    """Whether a router is constant: rows that are its outputs, or values."""
    return _is_outputs(op.router) or (not isinstance(op.router.type, RowsType) and constant(op.router) is not None)


def _experts(op: MoeOp) -> SSAValue | None:
    """The first of the experts' matrices that is no constant of rows that are outputs."""
    return next((w for w in (op.gate, op.up, op.down) if not _is_outputs(w)), None)


def _computed_bias(op: MoeOp) -> str | None:
    names = ("router_bias", "gate_bias", "up_bias", "down_bias")
    held = {name: getattr(op, name) for name in names}
    return next((name for name, bias in held.items() if bias is not None and constant(bias) is None), None)


LAYER_REFUSALS: tuple[Refusal, ...] = (
    refuse(
        AttentionOp,
        lambda op, _: op.chunked is not None,
        lambda op: "expected a window of the last positions, got one of the row's own chunk",
    ),
    refuse(
        GatedDeltaOp,
        lambda op, _: op.gate.data is not DeltaGate.SILU,
        lambda op: f"expected an output gated by silu, got {op.gate.data.value}",
    ),
    refuse(
        GatedDeltaOp,
        lambda op, _: op.head_dim.value.data > WIDEST_DELTA_HEAD or op.head_dim.value.data % 32 != 0,
        lambda op: (
            f"expected heads of a multiple of 32 values, at most {WIDEST_DELTA_HEAD}, got {op.head_dim.value.data}"
        ),
    ),
    refuse(
        MoeOp,
        lambda op, _: _off_form(op) is not None,
        lambda op: f"expected softmax scores that choose experts and weigh their outputs, got {_off_form(op)}",
    ),
    refuse(
        MoeOp,
        lambda op, _: not _is_router(op),
        lambda op: (
            f"expected a router of constant rows that are its outputs, or of values, got {_placement(op.router)}"
        ),
    ),
    refuse(
        MoeOp,
        lambda op, _: _experts(op) is not None,
        lambda op: (
            f"expected experts of constant rows that are their outputs, got {_placement(_experts(op) or op.gate)}"
        ),
    ),
    refuse(
        MoeOp,
        lambda op, _: _computed_bias(op) is not None,
        lambda op: f"expected constant biases, got a {_computed_bias(op)} computed in the step",
    ),
    refuse(
        MoeOp,
        lambda op, _: op.top_k.value.data > MOST_KEPT or op.experts.value.data > MOST_EXPERTS,
        lambda op: (
            f"expected at most {MOST_KEPT} kept of at most {MOST_EXPERTS} experts, "
            f"got {op.top_k.value.data} of {op.experts.value.data}"
        ),
    ),
    refuse(
        MoeOp,
        lambda op, _: op.groups is not None and op.groups.value.data > MOST_GROUPS,
        lambda op: f"expected at most {MOST_GROUPS} groups of experts, got {op.groups and op.groups.value.data}",
    ),
    refuse(
        HeadMatmulOp,
        lambda op, _: not isinstance(op.weight.type, RowsType) or constant(op.weight) is None,
        lambda op: f"expected a matrix a head of constant checkpoint rows, got {_placement(op.weight)}",
    ),
    refuse(
        HeadMatmulOp,
        lambda op, _: op.inputs.value.data % BLOCK_VALUES != 0 or op.outputs.value.data % BLOCK_VALUES != 0,
        lambda op: (
            f"expected heads of whole blocks of {BLOCK_VALUES} values, "
            f"got {op.inputs.value.data} to {op.outputs.value.data}"
        ),
    ),
    _none(SoftcapOp, "a tensor without a soft cap"),
    _none(TransposeOp, "rows as they lie"),
    _none(FullAttentionOp, "an attention over tables"),
    _none(LutAttentionOp, "an attention over tables"),
    _none(IntRequantOp, "f32 arithmetic"),
    _none(IntClampOp, "f32 arithmetic"),
    _none(ReluOp, "silu, sigmoid or gelu"),
)


def _placement(value: SSAValue) -> str:
    return str(value.type) if constant(value) is not None else f"{value.type} computed in the step"


__all__ = ["LAYER_REFUSALS"]
