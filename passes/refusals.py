"""
What the lane has no kernel for, as one table: a lifted op, the condition, and the reason in words.

Read top to bottom; the first row that holds is the one reported. A row is added with a lit case of its own in
filecheck/passes/legalize-shim. What the types of `tgraph` cannot say needs no row: products of no rows, a rotation or
a decay whose rows do not divide its heads.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from lanelink.dialects.launch.target import TargetAttr
from lanelink.dialects.tgraph import (
    AttentionOp,
    FusedRowOp,
    LiftedOp,
    MatmulOp,
    NormKind,
    RopeOp,
    RowGatherOp,
    RowsGatherOp,
    RowsType,
)
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.passes.layer_refusals import LAYER_REFUSALS
from lanelink.passes.origin import constant
from lanelink.passes.refusal import Refusal, refuse

WIDEST_ROTATED_HEAD = 1024
WIDEST_VALUE_HEAD = 512
"""A lane of an attention's warp holds 16 values of each head (kernels/attention.cu)."""


def _narrow(table: SSAValue) -> bool:
    """Whether a table of values has rows that do not load 16 bytes at a time."""
    return not isinstance(table.type, RowsType) and matrix(table, "table")[1] % 4 != 0


def _wants_width(table: SSAValue) -> str:
    return f"expected rows of a multiple of 4 values in a table of values, got {table.type}"


REFUSALS: tuple[Refusal, ...] = (
    refuse(
        MatmulOp,
        lambda op, _: isinstance(op.weight.type, RowsType) and not op.weight.type.is_transposed,
        lambda op: f"expected each checkpoint row of the weight to be one output (transposed), got {op.weight.type}",
    ),
    refuse(
        MatmulOp,
        lambda op, _: constant(op.weight) is None,
        lambda op: "expected a constant matrix, got one computed in the step",
    ),
    refuse(
        FusedRowOp,
        lambda op, _: op.kind.data is not NormKind.RMS,
        lambda op: f"expected an rms norm, got {op.kind.data.value}",
    ),
    refuse(
        FusedRowOp,
        lambda op, _: op.bias is not None,
        lambda op: "expected an rms norm without a bias, got one",
    ),
    refuse(
        RopeOp,
        lambda op, _: op.head_dim.value.data > WIDEST_ROTATED_HEAD,
        lambda op: f"expected heads of at most {WIDEST_ROTATED_HEAD} values, got {op.head_dim.value.data}",
    ),
    refuse(
        AttentionOp,
        lambda op, _: op.softcap is not None,
        lambda op: "expected scores without a soft cap, got one",
    ),
    refuse(
        AttentionOp,
        lambda op, _: op.heads.value.data % op.kv_heads.value.data != 0,
        lambda op: (
            f"expected query heads that group evenly over the key heads, "
            f"got {op.heads.value.data} over {op.kv_heads.value.data}"
        ),
    ),
    refuse(
        AttentionOp,
        lambda op, _: op.head_dim.value.data % 4 != 0 or op.value_dim.value.data % 2 != 0,
        lambda op: (
            f"expected key heads of a multiple of 4 values and value heads of a multiple of 2, "
            f"got {op.head_dim.value.data} and {op.value_dim.value.data}"
        ),
    ),
    refuse(
        AttentionOp,
        lambda op, _: op.value_dim.value.data > WIDEST_VALUE_HEAD,
        lambda op: f"expected value heads of at most {WIDEST_VALUE_HEAD} values, got {op.value_dim.value.data}",
    ),
    refuse(
        AttentionOp,
        lambda op, _: op.position is None,
        lambda op: "expected a position on the device that bounds the rows attended to, got none",
    ),
    refuse(
        AttentionOp,
        lambda op, target: (op.head_dim.value.data + op.value_dim.value.data) * 4 > target.shared.data * 1024,
        lambda op: (
            f"expected a head that one block's shared memory holds, "
            f"got {op.head_dim.value.data} key and {op.value_dim.value.data} value values"
        ),
    ),
    refuse(
        RowGatherOp,
        lambda op, _: op.row is not None and constant(op.table) is not None,
        lambda op: "expected a row index on the device into a constant table, got a fixed row",
    ),
    refuse(
        RowGatherOp,
        lambda op, _: op.row is None and constant(op.table) is None,
        lambda op: "expected a constant table, got one computed in the step",
    ),
    refuse(
        RowsGatherOp,
        lambda op, _: constant(op.table) is None,
        lambda op: "expected a constant table, got one computed in the step",
    ),
    refuse(RowGatherOp, lambda op, _: op.row is None and _narrow(op.table), lambda op: _wants_width(op.table)),
    refuse(RowsGatherOp, lambda op, _: _narrow(op.table), lambda op: _wants_width(op.table)),
    *LAYER_REFUSALS,
)


def refusal(op: LiftedOp, target: TargetAttr) -> str | None:
    """Why the lane cannot run a lifted op, or none."""
    return next((why for row in REFUSALS if (why := row(op, target)) is not None), None)
