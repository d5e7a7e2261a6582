"""What must hold of a linked step as a whole: what it covers, and what it may write."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from lanelink.dialects.fault import OpFault
from lanelink.dialects.launch.accesses import root
from lanelink.dialects.launch.base import CompoundLaunch, Launch
from lanelink.dialects.launch.buffers import ConstantOp
from lanelink.dialects.launch.fold import FoldOp
from lanelink.dialects.launch.sequences import SequencesOp
from lanelink.dialects.tgraph.step import is_step, state_names

LIFTED = "launch.lifted"
"""The function attribute with the number of lifted ops of the step."""


def launches(func: FuncOp) -> list[Launch]:
    """The launches of a linked step, in order; compound ones as one. A step is of one block."""
    if len(func.body.blocks) != 1:
        raise OpFault(func, f"step @{func.sym_name.data}: expected one block, got {len(func.body.blocks)}")
    return [op for op in func.body.block.ops if isinstance(op, Launch)]


def verify_linked(func: FuncOp) -> None:
    """
    Checks a function that says it is a linked step, or is a step of launches; others pass.

    Its states have names of their own, every lifted op is covered by exactly one launch, no launch writes a constant,
    and none writes a buffer that it reads, unless one of its parts reads what a part before it wrote (`launch.arg_max`
    moves its position on, and lists it as written alone).
    """
    if LIFTED not in func.attributes and not (is_step(func) and launches(func)):
        return
    state_names(func)
    verify_covers(func)
    for launch in launches(func):
        _verify_written(launch, set())


def _verify_written(launch: Launch, read: set[SSAValue]) -> None:
    """Checks what a launch writes, after parts of the same launch that have read `read`."""
    read.update(_own_reads(launch))
    if isinstance(launch, SequencesOp):
        # What its members are to one another, its own verifier holds.
        for member in launch.members():
            _verify_written(member, set())
        return
    if isinstance(launch, CompoundLaunch):
        if not isinstance(launch, FoldOp):
            # Its members run side by side.
            read.update(value for member in launch.members() for value in _own_reads(member))
        for member in launch.members():
            _verify_written(member, read)
        return
    for value in launch.writes():
        held = root(value)
        if isinstance(held.owner, ConstantOp):
            raise OpFault(launch, f"{launch.name}: expected buffers to write, got the constant {held.owner.source}")
        if held in read:
            raise OpFault(launch, f"{launch.name}: expected to write other buffers than it reads, got one as both")


def _own_reads(launch: Launch) -> Iterator[SSAValue]:
    return (root(value) for name, value in launch.named_operands() if name not in launch.WRITES)


def outermost(op: Operation) -> Operation:
    """The op of the step that an op is, or is a part of."""
    parent = op.parent_op()
    while isinstance(parent, CompoundLaunch):
        op, parent = parent, parent.parent_op()
    return op


def verify_covers(func: FuncOp) -> None:
    """Checks the invariant; the message names the lifted ops that are missed, or the launch that repeats one."""
    lifted = func.attributes.get(LIFTED)
    where = f"step @{func.sym_name.data}"
    if not isinstance(lifted, IntegerAttr):
        raise OpFault(func, f"{where}: expected the integer attribute {LIFTED}, got {lifted}")
    if lifted.value.data < 0:
        raise OpFault(func, f"{where}: expected {LIFTED} of at least 0, got {lifted.value.data}")
    expected, covered = range(lifted.value.data), set[int]()
    for launch in launches(func):
        for n in launch.covered():
            if n not in expected:
                raise OpFault(launch, f"{where}: expected covers below {lifted.value.data}, got [{n}]")
            if n in covered:
                raise OpFault(launch, f"{where}: expected each lifted op covered by one launch, got several for [{n}]")
            covered.add(n)
    # Looked for no further than is told: a text may name more of them than a memory holds.
    if missing := list(islice((n for n in expected if n not in covered), min(8, len(expected) - len(covered)))):
        raise OpFault(func, f"{where}: expected each lifted op covered by one launch, got none for {missing}")
