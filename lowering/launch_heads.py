"""The specs of launches that take rows head by head: one matrix a head, two rows joined."""

from __future__ import annotations

from lanelink.dialects import launch
from lanelink.dialects.launch.base import activation_shape, buffer_shape
from lanelink.dialects.tgraph.attributes import RowsType
from lanelink.lowering.launch_operands import (
    activation,
    landing,
    read_rows,
    rows,
    unit_placed,
    unit_read,
    weights_of,
)
from lanelink.lowering.selection.head_specs import HeadGemvSpec, JoinSpec
from lanelink.lowering.selection.operands import Quantized


def head_gemv_spec(op: launch.HeadGemvOp) -> HeadGemvSpec:
    """One matrix a head."""
    m, _ = activation_shape(op.x, op.name)
    weights, format, _ = weights_of(op.w)
    assert isinstance(op.w.type, RowsType)
    x = activation(op.x)
    return HeadGemvSpec(
        x=x if isinstance(x, Quantized) else read_rows(op, op.x),
        weights=weights,
        format=format,
        rows_are_outputs=op.w.type.is_transposed,
        heads=op.heads.value.data,
        inputs=op.inputs.value.data,
        outputs=op.outputs.value.data,
        m=m,
        y=landing(op, op.out),
        x_unit=unit_read(op),
        y_unit=unit_placed(op),
    )


def join_spec(op: launch.JoinOp) -> JoinSpec:
    """Two rows joined head by head."""
    heads = op.heads.value.data
    m, wide_a = buffer_shape(op.a, op.name)
    _, wide_b = buffer_shape(op.b, op.name)
    a, b = rows(op.a), rows(op.b)
    return JoinSpec(a, b, wide_a // heads, wide_b // heads, heads, m, landing(op, op.out), unit_placed(op))


__all__ = ["head_gemv_spec", "join_spec"]
