"""What a pattern sees of an op, lifted or already fused: the product, the norm or the rotation it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import (
    AttentionOp,
    ConstantOp,
    ElementwiseOp,
    FusedOp,
    FusedRowOp,
    FusionClass,
    HeadSliceOp,
    MatmulOp,
    MoeOp,
    NormKind,
    QuantizeOp,
    RopeOp,
    RowGatherOp,
    RowsGatherOp,
    RowsType,
)
from lanelink.dialects.tgraph.attributes import matrix


@dataclass(frozen=True)
class Product:
    """A product, with its bias where it has one."""

    op: MatmulOp | FusedOp
    x: SSAValue
    """The activation, as the op takes it in."""
    weight: Attribute
    """The weight's type."""

    @property
    def result(self) -> SSAValue:
        """The product's one result."""
        return self.op.results[0]

    @property
    def format(self) -> Format | None:
        """The format of the checkpoint rows it multiplies by, None for values and for rows that are not its outputs."""
        rows = self.weight
        return rows.format.data if isinstance(rows, RowsType) and rows.is_transposed else None


@dataclass(frozen=True)
class Norm:
    """
    A norm of whole rows, with the residual sum before it, the norm of one side of that sum, and the quantize after it
    where it has them.
    """

    op: FusedRowOp | FusedOp
    reads: tuple[SSAValue, ...]
    """The rows it norms or the two it adds first, as the op takes them in; those that are normed before first."""
    sandwich: bool = False
    """Whether the first of the two is normed before the sum."""

    @property
    def folds(self) -> tuple[SSAValue, ...]:
        """The rows that a launch before it in a fold may have written: any it reads, but only what it norms first."""
        return self.reads[:1] if self.sandwich else self.reads


@dataclass(frozen=True)
class Rotation:
    """A rotation, with the slice and the norm of its heads and the table its rows land in where it has them."""

    op: RopeOp | FusedOp
    x: SSAValue
    """What is turned, as the op takes it in."""
    rows: int
    tables: tuple[SSAValue, SSAValue, SSAValue | None]
    """cos, sin and position, as the op takes them in."""
    head: tuple[int, int]
    """Values a head, and half of those turned."""
    strided: bool = False
    """Whether the heads are parts of wider ones, read in place."""


def is_fused(op: object, *classes: FusionClass) -> TypeGuard[FusedOp]:
    """Whether an op is fused under one of the classes."""
    return isinstance(op, FusedOp) and op.fusion_class.data in classes


def from_outside(value: SSAValue, op: Operation) -> SSAValue:
    """What a value that a leaf of a fused `op` reads is outside `op`."""
    while isinstance(value, BlockArgument) and value.block is not op.parent:
        holder = value.block.parent_op()
        if not isinstance(holder, FusedOp):
            break
        value = holder.inputs[value.index]
    return value


def is_read_once(value: SSAValue) -> bool:
    """Whether a value has one reader, which reads it once."""
    return value.has_one_use()


def is_constant(value: SSAValue) -> bool:
    """Whether a value is a constant of the step."""
    return isinstance(value.owner, ConstantOp)


def last_result(value: SSAValue) -> Operation | None:
    """The op that defines `value`, where it is a lifted op's first result or that of a fused op's last part."""
    if not isinstance(value, OpResult):
        return None
    op = value.op
    if not isinstance(op, FusedOp):
        return op if value.index == 0 else None
    inner = op.yielded[value.index]
    return op if inner.owner is op.parts[-1] and last_result(inner) is not None else None


def f32_form(value: SSAValue) -> SSAValue | None:
    """The f32 rows that quantized ones were made of, where something outside their quantize may read those."""
    if not isinstance(value, OpResult):
        return None
    op = value.op
    if isinstance(op, QuantizeOp):
        return op.x
    if not isinstance(op, FusedOp):
        return None
    inner = op.yielded[value.index].owner
    if not isinstance(inner, QuantizeOp):
        return None
    return next((out for out, kept in zip(op.outputs, op.yielded, strict=True) if kept is inner.x), None)


def row_norm(op: object) -> FusedRowOp | None:
    """An RMS or layer norm over whole rows."""
    if not isinstance(op, FusedRowOp) or op.kind.data is NormKind.SOFTMAX:
        return None
    return op if op.cols.value.data == matrix(op.x, "fused_row x")[1] else None


def norm(op: object) -> Norm | None:
    """A norm of whole rows, alone, after a residual sum, one side of it normed or not, with its quantize, or both."""
    if (lifted := row_norm(op)) is not None:
        return Norm(lifted, tuple(v for v in (lifted.x, lifted.residual) if v is not None))
    if is_fused(op, FusionClass.ADD_NORM):
        add = op.parts[0]
        return _norm_of(op, (add.a, add.b)) if isinstance(add, ElementwiseOp) else None
    if is_fused(op, FusionClass.NORM_THEN_ADD):
        first, last = norm(op.parts[0]), norm(op.parts[-1])
        if first is None or last is None:
            return None
        others = tuple(v for v in last.reads if v.owner is not first.op)
        return _norm_of(op, (*first.reads, *others), sandwich=True)
    if is_fused(op, FusionClass.NORM_QUANT, FusionClass.ADD_NORM_QUANT):
        before = norm(op.parts[0])
        return None if before is None else _norm_of(op, before.reads, before.sandwich)
    return None


def _norm_of(op: FusedOp, reads: tuple[SSAValue, ...], sandwich: bool = False) -> Norm:
    """A fused norm that reads, inside, `reads`."""
    return Norm(op, tuple(from_outside(v, op) for v in reads), sandwich)


def product(op: object) -> Product | None:
    """A product or a product with its bias."""
    if isinstance(op, MatmulOp):
        return Product(op, op.x, op.weight.type)
    if isinstance(op, FusedOp) and is_fused(op, FusionClass.GEMM_BIAS):
        matmul = next((leaf for leaf in op.leaves() if isinstance(leaf, MatmulOp)), None)
        return None if matmul is None else Product(op, from_outside(matmul.x, op), matmul.weight.type)
    return None


def rows_product(op: object) -> Product | None:
    """A product by checkpoint rows, with its bias where it has one."""
    found = product(op)
    return found if found is not None and found.format is not None else None


def rotation(op: object) -> Rotation | None:
    """
    A rotation, alone, with its per-head norm, of heads that are parts of wider ones, or landing in a table's rows; not
    one with the product it turns.
    """
    if isinstance(op, RopeOp):
        head = (op.head_dim.value.data, op.half.value.data)
        return Rotation(op, op.x, matrix(op.x, "rope x")[0], (op.cos, op.sin, op.position), head)
    if is_fused(op, FusionClass.QK_NORM_ROPE):
        first, found = op.parts[0], rotation(op.parts[-1])
        x = first.x if isinstance(first, FusedRowOp) else None
    elif is_fused(op, FusionClass.PART_IN_PLACE):
        first, found = op.parts[0], rotation(op.parts[-1])
        x = first.x if isinstance(first, HeadSliceOp) else None
    elif is_fused(op, FusionClass.ROW_IN_PLACE):
        found = rotation(op.parts[0])
        x = None if found is None else found.x
    else:
        return None
    if found is None or x is None:
        return None
    strided = found.strided or is_fused(op, FusionClass.PART_IN_PLACE)
    cos, sin, position = found.tables
    position = None if position is None else from_outside(position, op)
    tables = (from_outside(cos, op), from_outside(sin, op), position)
    return Rotation(op, from_outside(x, op), found.rows, tables, found.head, strided)


def attention(op: object) -> AttentionOp | FusedOp | None:
    """An attention over tables, its values read in the key rows or not."""
    if isinstance(op, AttentionOp):
        return op
    return op if is_fused(op, FusionClass.PART_IN_PLACE) and isinstance(op.parts[-1], AttentionOp) else None


def mixture(op: object) -> MoeOp | FusedOp | None:
    """A mixture of experts, with its shared expert, or of a chunk's rows one by one."""
    if isinstance(op, MoeOp):
        return op
    return op if is_fused(op, FusionClass.SHARED_EXPERT_FUSION, FusionClass.MOE_TOKEN_SORT) else None


def embedding(op: object) -> RowGatherOp | RowsGatherOp | FusedOp | None:
    """A gather of the rows that indices on the device name, from a constant table, scaled or not."""
    if is_fused(op, FusionClass.EMBED_SCALE):
        return op
    if not isinstance(op, RowGatherOp | RowsGatherOp) or op.index is None or not is_constant(op.table):
        return None
    return op
