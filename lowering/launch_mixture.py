"""The specs of mixtures of experts: alone, and folded with a sum and the norm of their rows."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import SSAValue

from lanelink.dialects import launch
from lanelink.dialects.launch.base import activation_shape, buffer_shape
from lanelink.dialects.tgraph.attributes import RowsType
from lanelink.dialects.tgraph.elementwise import BinaryKind
from lanelink.lowering.launch_operands import activation, address, kept_by, norm_of, optional_address, placed, rows
from lanelink.lowering.selection.calls import SelectionError
from lanelink.lowering.selection.moe_specs import ExpertGroups, MoeMatrix, MoeSpec, SharedExpert
from lanelink.lowering.selection.operands import Rows


def moe_spec(op: launch.MoeOp) -> MoeSpec:
    """A mixture that lands where it says: rows of its own or of a table, or units of wider ones."""
    # A row is one unit, which `placed` puts at its place in a wider row.
    return _mixture(op, placed(op, op.out))


def folded_moe_spec(
    fold: launch.FoldOp, op: launch.MoeOp, add: launch.BinaryOp | None, norm: launch.NormOp | None
) -> MoeSpec:
    """
    A mixture, rows that are added to it where `add`, and the norm of the result where `norm`.

    Raises SelectionError where the parts do not read one another so.
    """
    if op.index is not None or op.row is not None or op.unit_pitch is not None:
        raise SelectionError("launch.fold mixture", "f32 rows in a buffer of their own", "another destination")
    made, plus = op.out, None
    if add is not None:
        made, plus = _added(fold, op, add)
    kept = rows(made) if norm is None or kept_by(fold, made) else None
    spec = replace(_mixture(op, kept), plus=plus)
    if norm is None:
        return spec
    width = buffer_shape(made, fold.name)[1]
    if norm.x is not made or norm.add is made or norm.cols.value.data != width:
        raise SelectionError("launch.fold norm", f"whole rows of {width} values of the part before it", "other rows")
    return replace(spec, then=norm_of(norm))


def _added(fold: launch.FoldOp, op: launch.MoeOp, add: launch.BinaryOp) -> tuple[SSAValue, Rows]:
    """(Where the sum lands, the rows that are added)."""
    others = [side for side in (add.a, add.b) if side is not op.out]
    plain = add.kind.data is BinaryKind.ADD and add.gate is None and add.quant is None and add.out is not None
    if not plain or len(others) != 1:
        raise SelectionError("launch.fold binary", "a plain sum of the mixture and other rows", "another function")
    if buffer_shape(others[0], fold.name) != buffer_shape(op.out, fold.name):
        raise SelectionError("launch.fold binary", "rows of the mixture's shape", buffer_shape(others[0], fold.name))
    if kept_by(fold, op.out):
        raise SelectionError("launch.fold mixture", "its sum as its only reader", "another reader")
    assert add.out is not None
    return add.out, rows(others[0])


def _mixture(op: launch.MoeOp, y: Rows | None) -> MoeSpec:
    m, width = activation_shape(op.x, op.name)
    return MoeSpec(
        x=activation(op.x),
        router_x=None if op.router_x is None else rows(op.router_x),
        m=m,
        width=width,
        experts=_number(op.experts),
        top_k=_number(op.top_k),
        hidden=_number(op.hidden),
        act=op.act.data,
        router=_matrix(op.router),
        gate=_matrix(op.gate),
        up=_matrix(op.up),
        down=_matrix(op.down),
        y=y,
        renormalize=op.renormalize is not None,
        groups=_groups(op),
        routed_scale=1.0 if op.routed_scale is None else op.routed_scale.value.data,
        limit=None if op.limit is None else op.limit.value.data,
        router_bias=optional_address(op.router_bias),
        gate_bias=optional_address(op.gate_bias),
        up_bias=optional_address(op.up_bias),
        down_bias=optional_address(op.down_bias),
        shared=_shared(op),
    )


def _groups(op: launch.MoeOp) -> ExpertGroups | None:
    grouping = op.grouping
    return None if grouping is None else ExpertGroups(*grouping)


def _shared(op: launch.MoeOp) -> SharedExpert | None:
    if op.shared_gate_rows is None or op.shared_up_rows is None or op.shared_down_rows is None:
        return None
    kind = op.shared_gate_rows.type
    assert isinstance(kind, RowsType)
    column = None if op.shared_gate is None else _matrix(op.shared_gate)
    return SharedExpert(
        hidden=kind.shape[0],
        gate=_matrix(op.shared_gate_rows),
        up=_matrix(op.shared_up_rows),
        down=_matrix(op.shared_down_rows),
        column=column,
    )


def _matrix(value: SSAValue) -> MoeMatrix:
    """Stored rows, or plain values; both constants."""
    if not isinstance(value.owner, launch.ConstantOp):
        raise SelectionError("launch.moe matrix", "a constant", value.type)
    format = value.type.format.data if isinstance(value.type, RowsType) else None
    return MoeMatrix(address(value), format)


def _number(value: IntegerAttr[I64]) -> int:
    return value.value.data


__all__ = ["folded_moe_spec", "moe_spec"]
