"""`plan-buffers`: lays a linked step's buffers in one arena by when they live."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from lanelink.dialects.fault import located
from lanelink.dialects.launch.base import Launch
from lanelink.dialects.launch.buffers import AllocOp, ViewOp
from lanelink.dialects.launch.sizes import buffer_bytes
from lanelink.passes.arena import Lifetime, plan_arena

OFFSET = "offset"
"""The attribute of a `launch.alloc`: its first byte in the arena."""

ARENA = "launch.arena"
"""The attribute of a linked function: the arena's bytes."""


@dataclass(frozen=True)
class PlanBuffersPass(ModulePass):
    """
    Gives each `launch.alloc` its `offset` and the function `launch.arena`, both in bytes; a second run plans anew.

    A buffer lives from the first launch that names it to the last, both included, so nothing a launch writes lies over
    anything it reads. A view's uses are its source's. What the function returns lives to the end. The order of launches
    is the order of their writes under programmatic dependent launch too: no kernel writes before it has waited.

    Refuses a buffer whose first launch reads it, and one that another op than a launch uses, by its location.
    """

    name = "plan-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and not func.is_declaration:
                plan_buffers(func)


def plan_buffers(func: FuncOp) -> None:
    """Lays the buffers of one linked function."""
    allocs = [op for op in func.body.block.ops if isinstance(op, AllocOp)]
    lifetimes = _lifetimes(func, allocs)
    plan = plan_arena(lifetimes)
    for alloc, offset in zip(allocs, plan.offsets, strict=True):
        alloc.attributes[OFFSET] = IntegerAttr(offset, i64)
    func.attributes[ARENA] = IntegerAttr(plan.bytes, i64)


def _lifetimes(func: FuncOp, allocs: list[AllocOp]) -> list[Lifetime]:
    """One lifetime an alloc, counted in the function's ops."""
    source: dict[SSAValue, AllocOp] = {alloc.result: alloc for alloc in allocs}
    spans: dict[AllocOp, tuple[int, int]] = {}
    end = 0
    for at, op in enumerate(func.body.block.ops):
        end = at
        if isinstance(op, ViewOp):
            if op.x in source:
                source[op.result] = source[op.x]
            continue
        for value in _named(op):
            alloc = source.get(value)
            if alloc is None:
                continue
            if alloc not in spans:
                _check_first(op, value)
            spans[alloc] = (spans.get(alloc, (at, at))[0], at)
    return [_lifetime(alloc, spans.get(alloc), end) for alloc in allocs]


def _named(op: Operation) -> Iterator[SSAValue]:
    """Every buffer an op names, those of a compound launch's members with its own."""
    if isinstance(op, Launch):
        yield from op.reads()
        yield from op.writes()
    elif isinstance(op, ReturnOp):
        yield from op.operands
    elif op.operands:
        raise PassFailedException(located(op, f"plan-buffers: expected launches to use buffers, got {op.name}"))


def _check_first(op: Operation, value: SSAValue) -> None:
    if isinstance(op, Launch) and value in op.writes():
        return
    name = value.name_hint or "a buffer"
    raise PassFailedException(
        located(op, f"plan-buffers: expected a launch that writes %{name} before it is read, got {op.name} first")
    )


def _lifetime(alloc: AllocOp, span: tuple[int, int] | None, end: int) -> Lifetime:
    # A buffer that nothing names keeps a place of its own for the whole step: whoever left it there may yet fill it.
    first, last = (0, end) if span is None else span
    return Lifetime(buffer_bytes(alloc.result.type), first, last)


__all__ = ["ARENA", "OFFSET", "PlanBuffersPass", "plan_buffers"]
