"""`tgraph.constant`: a value that outlives every step, by its checkpoint's name or by the rule that makes it."""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, base, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.tgraph.attributes import RopeTableAttr, RowsType, static_shape
from lanelink.dialects.tgraph.checkpoint import CheckpointAttr


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """
    A constant of the step. It is no lifted op: it computes nothing at run time.

    Placement is the result's type: *rows* (a matrix kept as the checkpoint stores it) or *values* (a plain f32
    tensor). Two constants may name one checkpoint tensor (a tied embedding and head).

    Example:
    ```mlir
    %w = tgraph.constant #tgraph.checkpoint<"lm_head.weight"> : !tgraph.rows<bf16, 256x128, transposed>
    %n = tgraph.constant #tgraph.checkpoint<"model.norm.weight"> : tensor<128xf32>
    ```
    """

    name = "tgraph.constant"

    source = prop_def(base(CheckpointAttr) | base(RopeTableAttr))
    result = result_def()

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($result)"

    def __init__(self, source: CheckpointAttr | RopeTableAttr, type: Attribute) -> None:
        super().__init__(properties={"source": source}, result_types=[type])

    def verify_(self) -> None:
        kind = self.result.type
        if isinstance(kind, RowsType):
            if isinstance(self.source, RopeTableAttr):
                raise VerifyException(f"constant: expected a rotation table as tensor<PxHxf32>, got {kind}")
            self.source.check("constant", kind.shape, rows=True)
            return
        shape = static_shape(kind, f32)
        if shape is None:
            raise VerifyException(f"constant: expected !tgraph.rows or a static tensor<...xf32>, got {kind}")
        if isinstance(self.source, RopeTableAttr):
            half = len(self.source.frequencies)
            if len(shape) != 2 or shape[1] != half:
                raise VerifyException(
                    f"constant: expected tensor<Px{half}xf32> for a table of {half} frequencies, got {kind}"
                )
        else:
            self.source.check("constant", shape, rows=False)
