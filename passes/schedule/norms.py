"""`schedule-norms`: which launch norms a row, the one that makes it or the one that reads it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from lanelink.dialects import launch
from lanelink.dialects.launch.base import Fields, Launch, buffer_shape
from lanelink.dialects.launch.step import LIFTED, outermost
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.elementwise import BinaryKind, BinaryKindAttr
from lanelink.passes.link.draft import Draft
from lanelink.passes.schedule.replace import replace_launch

MOST_WIDTH = 8192
"""Values of a row that every block of a product norms for itself: 32 KiB of f32 in shared memory beside the weights in
flight, in rounds of 4096 by the 256 threads of a block."""


def norm_by_reader(rows: int, width: int, readers: int) -> bool:
    """
    Whether a norm of `rows` rows of `width` values moves from the end of the launch that makes them to the head of the
    one launch that reads it, `readers` being how many do.

    At the end, one block norms while the others have ended and nothing streams: about 4 µs a launch on an H200
    (benchmarks/RESULTS.md). At the head, every block norms the row for itself while its first weights are on the way;
    that is repeated work, so it is one row, read by one launch, and not a long one.
    """
    return rows == 1 and readers == 1 and width <= MOST_WIDTH and width % 4 == 0


@dataclass(frozen=True)
class ScheduleNormsPass(ModulePass):
    """
    Moves the norm that ends a fold to the head of the products, or of the mixture, that read it, where `norm_by_reader`
    says so.

    `fold { gemv, norm(add) }` and the `gemv`, `gemm_parts`, `gemv_glu`, `moe` or fold of them that reads the norm
    become `fold { gemv, binary(add) }` and `fold { norm, products … }`; so where a gather or a mixture makes the row.
    The number of launches stays.
    """

    name = "schedule-norms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and LIFTED in func.attributes:
                schedule_norms(func)


def schedule_norms(func: FuncOp) -> None:
    """Moves the norms of one linked step."""
    op: Operation | None = func.body.block.first_op
    while op is not None:
        # The launch that takes a norm over comes later, and is met in its new form.
        op = (_moved(op) if isinstance(op, launch.FoldOp) else op).next_op


def _moved(op: launch.FoldOp) -> Launch:
    """The launch that stands where a fold stood, without its norm where that moves."""
    match op.members():
        case [*head, (launch.GemvOp() | launch.GatherOp() | launch.MoeOp()) as first, launch.NormOp() as norm]:
            reader = _reader(op, first, norm)
            return op if reader is None else _move(op, head, first, norm, reader)
        case _:
            return op


Maker = launch.GemvOp | launch.GatherOp | launch.MoeOp
"""What makes the row that a norm follows."""


def _reader(fold: launch.FoldOp, first: Maker, norm: launch.NormOp) -> Launch | None:
    """The launch whose products, or whose mixture, take the norm over, where one does."""
    results = [value for value in (norm.out, norm.quant) if value is not None]
    made = first.out
    if made is None or norm.x is not made:
        return None
    if any(getattr(norm, name) is not None for name in ("pre", "at", "row", "x_pitch", "unit_pitch")):
        return None
    if any(getattr(first, name, None) is not None for name in ("quant", "at", "row", "unit_pitch")):
        return None
    if norm.add is not None and (isinstance(first, launch.GatherOp) or set(_readers(made)) != {fold}):
        return None
    rows, width = buffer_shape(norm.x, norm.name)
    readers = list(dict.fromkeys(op for value in results for op in _readers(value) if op is not fold))
    if norm.cols.value.data != width or not norm_by_reader(rows, width, len(readers)):
        return None
    reader = readers[0]
    head = reader.members()[0] if isinstance(reader, launch.FoldOp) else reader
    return reader if _takes(head, norm) and isinstance(reader, Launch) else None


def _takes(head: Operation, norm: launch.NormOp) -> bool:
    """Whether a launch's first part reads a norm's rows in the one form they have, or as a mixture does in both: its
    experts the quantized one, its router the other."""
    match head:
        case launch.GemvOp() | launch.GemmPartsOp() | launch.GemvGluOp():
            return head.x in (norm.out, norm.quant) and (norm.out is None or norm.quant is None)
        case launch.MoeOp() if norm.quant is None:
            return head.x is norm.out and head.router_x in (None, norm.out)
        case launch.MoeOp():
            return head.x is norm.quant and head.router_x is norm.out
        case _:
            return False


def _readers(value: SSAValue) -> list[Operation]:
    """The ops of the step that name a buffer, each once; a part of a launch stands for its launch."""
    return list(dict.fromkeys(outermost(use.operation) for use in value.uses))


def _move(
    fold: launch.FoldOp,
    head: list[Launch],
    first: Maker,
    norm: launch.NormOp,
    reader: Launch,
) -> Launch:
    """Rewrites the fold that makes a row, and the launch that reads its norm; gives the former's new form."""
    made = [*(member.clone() for member in head), first.clone()]
    covers, normed = norm.covered(), norm.x
    if norm.add is not None:
        # The parts of a norm are numbered in their order: its add, then the norm, then the quantizing.
        add, *covers = covers
        normed = _sum_of(norm, fold)
        fields: Fields = {"kind": BinaryKindAttr(BinaryKind.ADD), "a": norm.x, "b": norm.add, "out": normed}
        added = Draft(launch.BinaryOp, fields, (add,), location=norm.location)
        made.append(added.build())
    maker = replace_launch(fold, made)
    members = reader.members() if isinstance(reader, launch.FoldOp) else [reader]
    plain = {"x": normed, "add": None, "sum": None}
    fields = {**dict(norm.named_operands()), **plain, "cols": norm.cols, "eps": norm.eps}
    opened = Draft(launch.NormOp, fields, tuple(covers), location=norm.location).build()
    replace_launch(reader, [opened, *(member.clone() for member in members)])
    return maker


def _sum_of(norm: launch.NormOp, fold: launch.FoldOp) -> SSAValue:
    """The buffer of a norm's sum, made where it keeps none."""
    if norm.sum is not None:
        return norm.sum
    assert is_memref(norm.x.type)
    made = launch.AllocOp(norm.x.type)
    block = fold.parent_block()
    assert block is not None
    block.insert_op_before(made, fold)
    return made.result


__all__ = ["ScheduleNormsPass", "norm_by_reader", "schedule_norms"]
