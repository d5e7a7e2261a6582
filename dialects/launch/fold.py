"""`launch.fold`: launches run as one, each over what the ones before it wrote."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition, region_def, traits_def
from xdsl.traits import NoTerminator

from lanelink.dialects.fault import OpFault
from lanelink.dialects.launch.attention import AttentionOp
from lanelink.dialects.launch.base import CompoundLaunch, Launch
from lanelink.dialects.launch.elementwise import BinaryOp
from lanelink.dialects.launch.mixture import MoeOp
from lanelink.dialects.launch.products import GemmPartsOp, GemvF32Op, GemvGluOp, GemvOp
from lanelink.dialects.launch.rows import NormOp, RopeOp, RopePartsOp
from lanelink.dialects.launch.tables import GatherOp


@irdl_op_definition
class FoldOp(CompoundLaunch):
    """
    One launch of several kinds: a product, a gather or a mixture, then a norm of its rows or a rotation of its heads; a
    sum may stand between them, or end it. Products and mixtures may also come after a norm of the rows they read, an
    attention after the rotation of its queries and of the step's own keys. Each part reads what the parts before it
    wrote.

    Example:
    ```mlir
    launch.fold() {
      launch.gather(table = %e : !tgraph.rows<bf16, 256x64>, index = %t : memref<1xi32>,
        out = %x : memref<1x64xf32>) covers [0]
      launch.norm(x = %x : memref<1x64xf32>, w = %w : memref<64xf32>, out = %h : memref<1x64xf32>)
        {cols = 64 : i64, eps = 1.000000e-06 : f32} covers [1]
    }
    ```
    """

    name = "launch.fold"

    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    FIRST: ClassVar = (GatherOp, GemvOp, GemvF32Op, GemmPartsOp, MoeOp, NormOp, RopePartsOp)
    AFTER_A_NORM: ClassVar = (GemvOp, GemmPartsOp, GemvGluOp, MoeOp)
    AFTER_A_ROTATION: ClassVar = (AttentionOp,)
    LATER: ClassVar = (BinaryOp, NormOp, RopeOp, RopePartsOp)

    def verify_(self) -> None:
        kinds = (*self.FIRST, *self.AFTER_A_NORM, *self.AFTER_A_ROTATION, *self.LATER)
        self.verify_members(tuple(dict.fromkeys(kinds)), least=2)
        first, *later = self.members()
        _check_kind(first, self.FIRST, "first")
        second, where = self.LATER, "after the first"
        if isinstance(first, NormOp):
            second, where = self.AFTER_A_NORM, "after a norm that comes first"
        elif isinstance(first, RopePartsOp):
            second, where = self.AFTER_A_ROTATION, "after a rotation that comes first"
        written = set(first.writes())
        for at, part in enumerate(later):
            _check_kind(part, self.LATER if at else second, "after the first" if at else where)
            if not written.intersection(part.reads()):
                raise OpFault(part, f"launch.fold: expected {part.name} to read what a part before it wrote")
            written.update(part.writes())


def _check_kind(part: Launch, kinds: tuple[type[Launch], ...], where: str) -> None:
    if not isinstance(part, kinds):
        names = " or ".join(k.name for k in kinds)
        raise OpFault(part, f"launch.fold: expected {names} {where}, got {part.name}")
