"""What a pattern sees of an op, lifted or already fused: the product, the norm or the rotation it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import (
    ConstantOp,
    ElementwiseOp,
    FusedOp,
    FusedRowOp,
    FusionClass,
    MatmulOp,
    NormKind,
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
    """A norm of whole rows, with the residual sum before it and the quantize after it where it has them."""

    op: FusedRowOp | FusedOp
    reads: tuple[SSAValue, ...]
    """The rows it norms or the two it adds first, as the op takes them in."""


@dataclass(frozen=True)
class Rotation:
    """A rotation, with its per-head norm and the table its rows land in where it has them."""

    op: RopeOp | FusedOp
    x: SSAValue
    """What is turned, as the op takes it in."""
    rows: int
    tables: tuple[SSAValue, SSAValue, SSAValue | None]
    """cos, sin and position, as the op takes them in."""
    head: tuple[int, int]
    """Values a head, and half of those turned."""


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
    """The op that defines `value`, where it is a lifted op's result or that of a fused op's last part."""
    if not isinstance(value, OpResult):
        return None
    op = value.op
    if isinstance(op, FusedOp) and op.yielded[value.index].owner is not op.parts[-1]:
        return None
    return op


def row_norm(op: object) -> FusedRowOp | None:
    """An RMS or layer norm over whole rows."""
    if not isinstance(op, FusedRowOp) or op.kind.data is NormKind.SOFTMAX:
        return None
    return op if op.cols.value.data == matrix(op.x, "fused_row x")[1] else None


def norm(op: object) -> Norm | None:
    """A norm of whole rows, alone, after a residual sum, with its quantize, or both."""
    if (lifted := row_norm(op)) is not None:
        return Norm(lifted, tuple(v for v in (lifted.x, lifted.residual) if v is not None))
    if not is_fused(op, FusionClass.ADD_NORM, FusionClass.NORM_QUANT, FusionClass.ADD_NORM_QUANT):
        return None
    first = next(op.leaves())
    if isinstance(first, ElementwiseOp):
        reads = (first.a, first.b)
    elif isinstance(first, FusedRowOp):
        reads = tuple(v for v in (first.x, first.residual) if v is not None)
    else:
        return None
    return Norm(op, tuple(from_outside(v, op) for v in reads))


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
    """A rotation, alone, with its per-head norm, or landing in a table's rows; not one with the product it turns."""
    if isinstance(op, FusedOp) and is_fused(op, FusionClass.QK_NORM_ROPE, FusionClass.ROW_IN_PLACE):
        leaves = list(op.leaves())
        rope = next((leaf for leaf in leaves if isinstance(leaf, RopeOp)), None)
        first = leaves[0]
    else:
        rope = first = op if isinstance(op, RopeOp) else None
    if rope is None or not isinstance(first, RopeOp | FusedRowOp) or not isinstance(op, RopeOp | FusedOp):
        return None
    position = None if rope.position is None else from_outside(rope.position, op)
    return Rotation(
        op,
        from_outside(first.x, op),
        matrix(rope.x, "rope x")[0],
        (from_outside(rope.cos, op), from_outside(rope.sin, op), position),
        (rope.head_dim.value.data, rope.half.value.data),
    )


def embedding(op: object) -> RowGatherOp | RowsGatherOp | FusedOp | None:
    """A gather of the rows that indices on the device name, from a constant table, scaled or not."""
    if is_fused(op, FusionClass.EMBED_SCALE):
        return op
    if not isinstance(op, RowGatherOp | RowsGatherOp) or op.index is None or not is_constant(op.table):
        return None
    return op
