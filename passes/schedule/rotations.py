"""`schedule-rotations`: which launch turns heads, the one that makes them or the attention that reads them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from lanelink.dialects import launch
from lanelink.dialects.launch.base import Launch
from lanelink.dialects.launch.step import LIFTED, launches, outermost, root
from lanelink.passes.schedule.attention import Attention, attention_of
from lanelink.passes.schedule.replace import replace_launch

MOST_TURNED_ROWS = 8
"""Rows of a step whose heads an attention turns: a block turns its own queries and every key of the step that it reads,
and has a warp for each of so many."""

MOST_TURNED_VALUES = 256
"""Values of a head that the lanes of a warp hold."""


def turn_by_reader(a: Attention, head_dim: int) -> bool:
    """
    Whether an attention turns its queries and the step's own keys itself, heads of `head_dim` values.

    At the end of a product, a block turns heads once the others have brought their outputs, while nothing streams:
    about 4 µs a launch on an H200 (benchmarks/RESULTS.md). At the head of the attention every block turns the few heads
    it needs, a warp each, while its keys are on the way. A key is turned by each block that reads it, so rows are few.
    """
    widest = max(head_dim, a.value_dim)
    fits = widest <= (MOST_TURNED_VALUES if a.by_fours else MOST_TURNED_VALUES // 4)
    return a.rows <= MOST_TURNED_ROWS and head_dim % 4 == 0 and fits


@dataclass(frozen=True)
class ScheduleRotationsPass(ModulePass):
    """
    Moves the rotation that ends a fold of products to the head of the attention that reads it, where `turn_by_reader`
    says so.

    `fold { …, gemm_parts, rope_parts }` of queries and of keys that are set into a table, and the `attention` that
    alone reads both, become the products by themselves and `fold { rope_parts, attention }`. The number of launches
    stays.
    """

    name = "schedule-rotations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and LIFTED in func.attributes:
                schedule_rotations(func)


def schedule_rotations(func: FuncOp) -> None:
    """Moves the rotations of one linked step."""
    run = launches(func)
    first_write: dict[SSAValue, int] = {}
    for at, op in enumerate(run):
        for value in op.writes():
            first_write.setdefault(root(value), at)
    order = {op: at for at, op in enumerate(run)}
    for op in run:
        if not isinstance(op, launch.FoldOp):
            continue
        match op.members():
            case [*head, launch.GemmPartsOp() as products, launch.RopePartsOp() as turn]:
                reader = _reader(op, products, turn)
                # The position that keys turn by must be the same where they turn later.
                if reader is not None and order[reader] <= first_write.get(root(reader.position), len(run)):
                    _move(op, [*head, products], turn, reader)
            case _:
                pass


def _reader(fold: launch.FoldOp, products: launch.GemmPartsOp, turn: launch.RopePartsOp) -> launch.AttentionOp | None:
    """The attention that takes a rotation over, where one does."""
    sides = [side for side in turn.members() if isinstance(side, launch.RopeSideOp)]
    queries = [side for side in sides if side.index is None]
    if len(sides) != 2 or len(queries) != 1:
        return None
    (q,), k = queries, next(side for side in sides if side is not queries[0])
    readers = [op for op in _users(q.out) if op is not fold]
    if len(readers) != 1 or not isinstance(readers[0], launch.AttentionOp):
        return None
    attention = readers[0]
    if attention.q is not q.out or attention.keys is not k.out or root(attention.values) is root(attention.keys):
        return None
    if k.index is not attention.position or turn.position is not attention.position:
        return None
    # Nothing else in the step may ask for the turned heads, or for what is turned.
    table = [op for op in _users(root(k.out)) if isinstance(op, Launch)]
    if set(table) != {fold, attention} or any(_users(side.x) != [fold] for side in sides):
        return None
    if not all(_plain(side) for side in sides) or not all(_is_constant(value) for value in (turn.cos, turn.sin)):
        return None
    made = [part for part in products.members() if isinstance(part, launch.GemmPartOp)]
    if any(not any(_lies_alone(part, side.x) for part in made) for side in sides):
        return None
    heads = (q.heads.value.data, k.heads.value.data, turn.head_dim.value.data)
    expected = (attention.heads.value.data, attention.kv_heads.value.data, attention.head_dim.value.data)
    fits = turn_by_reader(attention_of(attention), expected[2])
    return attention if heads == expected and fits else None


def _users(value: SSAValue) -> list[object]:
    """The ops of the step that name a buffer or a view of it, each once; a part of a launch stands for its launch."""
    found: dict[object, None] = {}
    for use in value.uses:
        op = use.operation
        if isinstance(op, launch.ViewOp):
            found.update(dict.fromkeys(_users(op.result)))
        else:
            found[outermost(op)] = None
    return list(found)


def _plain(side: launch.RopeSideOp) -> bool:
    """Whether a side turns whole rows of heads into whole rows, that an index on the device names or none."""
    return all(field is None for field in (side.x_pitch, side.unit_pitch, side.row))


def _lies_alone(part: launch.GemmPartOp, value: SSAValue) -> bool:
    """Whether a product's rows fill a buffer of their own."""
    return part.out is value and all(field is None for field in (part.index, part.row, part.unit_pitch))


def _is_constant(value: SSAValue) -> bool:
    return isinstance(root(value).owner, launch.ConstantOp)


def _move(fold: launch.FoldOp, head: list[Launch], turn: launch.RopePartsOp, reader: launch.AttentionOp) -> None:
    """Puts a rotation before the attention that reads it, and leaves the products that it followed."""
    replace_launch(reader, [turn.clone(), reader.clone()])
    replace_launch(fold, [member.clone() for member in head])


__all__ = ["MOST_TURNED_ROWS", "ScheduleRotationsPass", "schedule_rotations", "turn_by_reader"]
