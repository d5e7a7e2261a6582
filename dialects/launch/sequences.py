"""`launch.sequences`: one launch of several of a kind, each over what is its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import ClassVar

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, region_def, traits_def
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.attention import AttentionOp
from lanelink.dialects.launch.base import SEGMENTS, CompoundLaunch, Launch, Placed, buffer_shape
from lanelink.dialects.launch.buffers import ViewOp
from lanelink.dialects.launch.delta import ConvOp, ConvPartsOp, DeltaOp
from lanelink.dialects.launch.rows import RopeOp, RopePartsOp
from lanelink.dialects.launch.step import root
from lanelink.dialects.launch.tables import SetRowOp

PLACES = ("covers", "row", "gate_offset", SEGMENTS)
"""Fields that say where a member's part lies, not what is computed."""


@irdl_op_definition
class SequencesOp(CompoundLaunch):
    """
    Launches of one kind that differ in their operands alone, one a sequence of a batch, as one. None depends on
    another, and no two write the same rows. A member may move its own state on; none reads another's.

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

    KINDS: ClassVar = (AttentionOp, SetRowOp, RopeOp, RopePartsOp, ConvOp, ConvPartsOp, DeltaOp)

    def verify_(self) -> None:
        self.verify_members(self.KINDS, least=2)
        members = self.members()
        first = members[0]
        for member in members[1:]:
            if type(member) is not type(first):
                raise VerifyException(f"{self.name}: expected members of one kind, {first.name}, got {member.name}")
            if computed(first) != computed(member):
                expected, got = (", ".join(str(fields) for fields in computed(op)) for op in (first, member))
                raise VerifyException(f"{self.name}: expected members of the fields {expected}, got {got}")
            if operand_types(first) != operand_types(member):
                wanted, found = (_in_words(operand_types(op)) for op in (first, member))
                raise VerifyException(f"{self.name}: expected members of the operands {wanted}, got {found}")
        self._verify_apart(members)

    def _verify_apart(self, members: list[Launch]) -> None:
        for one, other in combinations(members, 2):
            if overlap(one, other):
                raise VerifyException(f"{self.name}: expected members that write apart, got two over the same rows")
        written = [{root(value) for value in member.writes()} for member in members]
        read = [{root(value) for value in member.reads()} for member in members]
        for one, other in permutations(range(len(members)), 2):
            if written[one] & read[other]:
                raise VerifyException(
                    f"{self.name}: expected to write other buffers than members read, got one as both"
                )


def parts(op: Launch) -> Iterator[Launch]:
    """A launch and the launches that it is made of."""
    yield op
    if isinstance(op, CompoundLaunch):
        for member in op.members():
            yield from parts(member)


def computed(op: Launch) -> list[DictionaryAttr]:
    """The fields of a launch and of its parts that say what they compute."""
    return [DictionaryAttr({k: v for k, v in part.properties.items() if k not in PLACES}) for part in parts(op)]


def operand_types(op: Launch) -> list[tuple[str, Attribute]]:
    """The operands that a launch and its parts have, by name and type."""
    return [(name, value.type) for part in parts(op) for name, value in part.named_operands()]


def _in_words(operands: list[tuple[str, Attribute]]) -> str:
    return ", ".join(f"{name} : {kind}" for name, kind in operands)


Rows = tuple[int, int]
"""The first of some rows of a table, and the one past the last."""


def written_rows(op: Launch) -> Iterator[tuple[SSAValue, Rows | None]]:
    """Each buffer that a launch writes; the rows of it where they are fixed ones of a table, None otherwise."""
    for part in parts(op):
        rows = _fixed_rows(part)
        for name, value in part.named_operands():
            if name in part.WRITES:
                placed = name in ("out", "quant") and not isinstance(value.owner, ViewOp)
                yield root(value), rows if placed else None


def _fixed_rows(op: Launch) -> Rows | None:
    if not isinstance(op, Placed) or op.row is None:
        return None
    source = op.source if isinstance(op, SetRowOp) else op.operands[0]
    first = op.row.value.data
    return first, first + buffer_shape(source, op.name)[0]


def overlap(one: Launch, other: Launch) -> bool:
    """Whether two launches may write the same rows of one buffer."""
    return any(
        held is table and (a is None or b is None or (a[0] < b[1] and b[0] < a[1]))
        for held, a in written_rows(one)
        for table, b in written_rows(other)
    )


__all__ = ["Rows", "SequencesOp", "computed", "operand_types", "parts", "written_rows"]
