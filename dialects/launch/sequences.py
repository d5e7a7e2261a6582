"""`launch.sequences`: one launch of several of a kind, each over what is its own."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, region_def, traits_def
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.attention import AttentionOp
from lanelink.dialects.launch.base import SEGMENTS, CompoundLaunch, LeafLaunch, Placed, buffer_shape
from lanelink.dialects.launch.buffers import ViewOp
from lanelink.dialects.launch.delta import ConvOp, DeltaOp
from lanelink.dialects.launch.rows import RopeOp
from lanelink.dialects.launch.tables import SetRowOp

PLACES = ("covers", "row", "gate_offset", SEGMENTS)
"""Fields that say where a member's part lies, not what is computed."""


@irdl_op_definition
class SequencesOp(CompoundLaunch):
    """
    Launches of one kind that differ in their operands alone, one a sequence of a batch, as one. None depends on
    another, and no two write the same rows.

    Example:
    ```mlir
    launch.sequences() {
      launch.set_row(source = %a : memref<1x64xf32>, out = %s : memref<256x64xf32>, at = %p : memref<1xi32>) covers [6]
      launch.set_row(source = %b : memref<1x64xf32>, out = %t : memref<256x64xf32>, at = %q : memref<1xi32>) covers [7]
    }
    ```
    """

    name = "launch.sequences"

    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    KINDS: ClassVar = (AttentionOp, SetRowOp, RopeOp, ConvOp, DeltaOp)

    def verify_(self) -> None:
        self.verify_members(self.KINDS, least=2)
        members = [op for op in self.members() if isinstance(op, LeafLaunch)]
        first = members[0]
        for member in members[1:]:
            if type(member) is not type(first):
                raise VerifyException(f"{self.name}: expected members of one kind, {first.name}, got {member.name}")
            if (expected := computed(first)) != (got := computed(member)):
                raise VerifyException(f"{self.name}: expected members of the fields {expected}, got {got}")
            if operand_types(first) != operand_types(member):
                wanted, found = (_in_words(operand_types(op)) for op in (first, member))
                raise VerifyException(f"{self.name}: expected members of the operands {wanted}, got {found}")
        self._verify_apart(members)

    def _verify_apart(self, members: list[LeafLaunch]) -> None:
        for one, other in combinations(members, 2):
            if overlap(one, other):
                raise VerifyException(f"{self.name}: expected members that write apart, got two over the same rows")
        read = {_root(value) for member in members for value in member.reads()}
        for value in (v for member in members for v in member.writes()):
            if _root(value) in read:
                raise VerifyException(
                    f"{self.name}: expected to write other buffers than members read, got one as both"
                )


def computed(op: LeafLaunch) -> DictionaryAttr:
    """The fields of a launch that say what it computes."""
    return DictionaryAttr({name: value for name, value in op.properties.items() if name not in PLACES})


def operand_types(op: LeafLaunch) -> list[tuple[str, Attribute]]:
    """The operands that a launch has, by name and type."""
    return [(name, value.type) for name, value in op.named_operands()]


def _in_words(operands: list[tuple[str, Attribute]]) -> str:
    return ", ".join(f"{name} : {kind}" for name, kind in operands)


def fixed_rows(op: LeafLaunch) -> tuple[int, int] | None:
    """The rows [first, past) of a table that a launch writes, where it is into fixed ones."""
    if not isinstance(op, Placed) or op.row is None:
        return None
    source = op.source if isinstance(op, SetRowOp) else op.operands[0]
    first = op.row.value.data
    return first, first + buffer_shape(source, op.name)[0]


def overlap(one: LeafLaunch, other: LeafLaunch) -> bool:
    """Whether two launches may write the same rows of one buffer."""
    shared = {_root(v) for v in one.writes()} & {_root(v) for v in other.writes()}
    a, b = fixed_rows(one), fixed_rows(other)
    whole = any(isinstance(v.owner, ViewOp) for op in (one, other) for v in op.writes())
    if a is None or b is None or whole:
        return bool(shared)
    return bool(shared) and a[0] < b[1] and b[0] < a[1]


def _root(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, ViewOp):
        value = value.owner.x
    return value


__all__ = ["SequencesOp", "computed", "fixed_rows", "operand_types"]
