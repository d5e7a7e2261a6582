"""The operands of launches as specs name them: addresses, rows, quantized buffers, weights."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, f16
from xdsl.ir import SSAValue

from lanelink.dialects import launch
from lanelink.dialects.formats import Format
from lanelink.dialects.launch.base import Launch, Placed, buffer_shape, table_shape
from lanelink.dialects.launch.placement import PlacedInUnits, ReadsUnits
from lanelink.dialects.launch.step import outermost
from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType
from lanelink.lowering.selection.calls import Address, SelectionError
from lanelink.lowering.selection.specs import HeadNorm, Norm, Quantized, Rotation, Rows


def address(value: SSAValue) -> Address:
    """The address of a buffer; a view's is inside its source's."""
    offset = 0
    while isinstance(value.owner, launch.ViewOp):
        offset += 4 * value.owner.offset.value.data
        value = value.owner.x
    return Address(value, offset)


def kept_by(fold: Launch, value: SSAValue) -> bool:
    """Whether anything outside a fold reads a buffer that one of its parts writes."""
    return any(outermost(use.operation) is not fold for use in value.uses)


def is_constant(value: SSAValue) -> bool:
    """Whether a buffer, or what it is a view of, is a constant of the step."""
    root = address(value).ref
    return isinstance(root, SSAValue) and isinstance(root.owner, launch.ConstantOp)


def optional_address(value: SSAValue | None) -> Address | None:
    """The address of an operand that a launch may lack."""
    return None if value is None else address(value)


def optional_whole(field: IntegerAttr[I64] | None) -> int | None:
    """A field of a whole number that a launch may lack."""
    return None if field is None else field.value.data


def rows(value: SSAValue) -> Rows:
    """All of an f32 buffer's rows."""
    _, width = buffer_shape(value, "rows")
    return Rows(address(value), width)


def table_rows(value: SSAValue, first: int = 0) -> Rows:
    """The rows of a table of keys or values, from value `first` of each on."""
    _, width = table_shape(value, "table")
    stored = stored_as(value)
    return Rows(address(value).at(stored.block_bytes * first), width, stored=stored)


def stored_as(value: SSAValue) -> Format:
    """What a buffer's values are: f16 of a table that rounds them, else f32."""
    return Format.F16 if element_of(value) == f16 else Format.F32


def activation(value: SSAValue) -> Rows | Quantized:
    """An activation of a product, f32 or quantized."""
    if isinstance(value.type, Q8Type):
        return Quantized(address(value), value.type.planes.data)
    return rows(value)


def quantized(value: SSAValue | None) -> Quantized | None:
    """A quantized buffer, where there is one."""
    if value is None:
        return None
    assert isinstance(value.type, Q8Type)
    return Quantized(address(value), value.type.planes.data)


def placed(op: Placed, out: SSAValue | None) -> Rows | None:
    """
    Where a launch's f32 result lands: a buffer of its own, or rows of a table from a named or fixed one on.

    Of a result in units of wider rows, the rows begin at the first unit; `unit_placed` is from one to the next.
    """
    if out is None:
        return None
    unit = op.unit_offset if isinstance(op, PlacedInUnits) else None
    held = table_rows(out, 0 if unit is None else unit.value.data)
    if op.index is not None:
        return replace(held, row=address(op.index))
    return replace(held, row=0 if op.row is None else op.row.value.data)


def landing(op: Placed, out: SSAValue) -> Rows:
    """Where a result that is always stored lands, as `placed` says."""
    destination = placed(op, out)
    assert destination is not None
    return destination


def unit_placed(op: PlacedInUnits) -> int | None:
    """Values from one unit of a result to the next, where they do not lie one after another."""
    return None if op.unit_pitch is None else op.unit_pitch.value.data


def read_rows(op: ReadsUnits, x: SSAValue) -> Rows:
    """The rows a launch reads units of, which begin at the first unit; `unit_read` is from one to the next."""
    held = rows(x)
    offset = 0 if op.x_offset is None else op.x_offset.value.data
    return Rows(held.address.at(4 * offset), held.pitch)


def unit_read(op: ReadsUnits) -> int | None:
    """Values from one unit of x to the next, where they do not lie one after another."""
    return None if op.x_pitch is None else op.x_pitch.value.data


def weights_of(value: SSAValue) -> tuple[Address, Format, int]:
    """(address, format, outputs) of a product's rows, which only a constant can be."""
    kind = value.type
    if not isinstance(kind, RowsType) or not isinstance(value.owner, launch.ConstantOp):
        raise SelectionError("product w", "a constant of checkpoint rows", kind)
    return Address(value), kind.format.data, kind.shape[0]


def table_of(op: launch.GatherOp) -> tuple[Address, Format, int, int]:
    """(address, format, rows, cols) of a gather's table: rows of a checkpoint, or f32 values whose rows pad nothing."""
    kind = op.table.type
    if isinstance(kind, RowsType):
        return Address(op.table), kind.format.data, *kind.shape
    held, cols = buffer_shape(op.table, op.name)
    if cols % 4:
        raise SelectionError("launch.gather table", "f32 rows of a multiple of 4 values", cols)
    return address(op.table), Format.F32, held, cols


def head_norm(weight: SSAValue | None, eps: FloatAttr[Float32Type] | None) -> HeadNorm | None:
    """A norm of its own before a head turns, where `eps` says there is one."""
    return None if eps is None else HeadNorm(optional_address(weight), eps.value.data)


def norm_of(op: launch.NormOp) -> Norm:
    """A norm of groups of `cols` values, whichever buffers they lie in; only its f32 result may lie in wider units."""

    def groups(value: SSAValue | None) -> Rows | None:
        return None if value is None else Rows(address(value), op.cols.value.data)

    return Norm(
        eps=op.eps.value.data,
        weight=optional_address(op.w),
        add=groups(op.add),
        sum=groups(op.sum),
        pre=head_norm(op.pre, op.pre_eps),
        y=placed(op, op.out),
        quantized=quantized(op.quant),
    )


def rotation(op: launch.RopeOp | launch.RopePartsOp) -> Rotation:
    """How a launch's heads turn."""
    return Rotation(
        cos=address(op.cos),
        sin=address(op.sin),
        position=optional_address(op.position),
        hd=op.head_dim.value.data,
        half=op.half.value.data,
    )


__all__ = [
    "activation",
    "address",
    "head_norm",
    "is_constant",
    "kept_by",
    "landing",
    "norm_of",
    "optional_address",
    "optional_whole",
    "placed",
    "quantized",
    "read_rows",
    "rotation",
    "rows",
    "stored_as",
    "table_of",
    "table_rows",
    "unit_placed",
    "unit_read",
    "weights_of",
]
