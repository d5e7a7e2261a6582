"""`launch.sequences`: one launch of several of a kind, each over what is its own."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import ClassVar

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, region_def, traits_def
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.fault import OpFault
from lanelink.dialects.launch.accesses import meet, parts, reads_of, writes_of
from lanelink.dialects.launch.attention import AttentionOp
from lanelink.dialects.launch.base import SEGMENTS, CompoundLaunch, Launch
from lanelink.dialects.launch.delta import ConvOp, ConvPartsOp, DeltaOp
from lanelink.dialects.launch.rows import RopeOp, RopePartsOp
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
                raise OpFault(member, f"{self.name}: expected members of one kind, {first.name}, got {member.name}")
            if computed(first) != computed(member):
                expected, got = (", ".join(str(fields) for fields in computed(op)) for op in (first, member))
                raise OpFault(member, f"{self.name}: expected members of the fields {expected}, got {got}")
            if operand_types(first) != operand_types(member):
                wanted, found = (_in_words(operand_types(op)) for op in (first, member))
                raise OpFault(member, f"{self.name}: expected members of the operands {wanted}, got {found}")
        self._verify_apart(members)

    def _verify_apart(self, members: list[Launch]) -> None:
        written, read = [writes_of(member) for member in members], [reads_of(member) for member in members]
        for one, other in combinations(range(len(members)), 2):
            if meet(written[one], written[other]):
                raise VerifyException(f"{self.name}: expected members that write apart, got two over the same rows")
        for one, other in permutations(range(len(members)), 2):
            if meet(written[one], read[other]):
                raise VerifyException(
                    f"{self.name}: expected to write other buffers than members read, got one as both"
                )


def computed(op: Launch) -> list[DictionaryAttr]:
    """The fields of a launch and of its parts that say what they compute."""
    return [DictionaryAttr({k: v for k, v in part.properties.items() if k not in PLACES}) for part in parts(op)]


def operand_types(op: Launch) -> list[tuple[str, Attribute]]:
    """The operands that a launch and its parts have, by name and type."""
    return [(name, value.type) for part in parts(op) for name, value in part.named_operands()]


def _in_words(operands: list[tuple[str, Attribute]]) -> str:
    return ", ".join(f"{name} : {kind}" for name, kind in operands)


__all__ = ["SequencesOp", "computed", "operand_types"]
