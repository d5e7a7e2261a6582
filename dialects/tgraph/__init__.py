"""Level 1 and 2: `tgraph`, the tensor graph of one decoding step, and which of its ops go together."""

from xdsl.ir import Dialect

from lanelink.dialects.tgraph.attention import AttentionOp
from lanelink.dialects.tgraph.attributes import (
    CheckpointAttr,
    FormatAttr,
    Q8Type,
    RopeTableAttr,
    RowsType,
    TableKind,
    TableKindAttr,
)
from lanelink.dialects.tgraph.constant import ConstantOp
from lanelink.dialects.tgraph.elementwise import (
    BinaryKind,
    BinaryKindAttr,
    ElementwiseOp,
    GeluKind,
    GeluKindAttr,
    GeluOp,
    ScaleOp,
    SigmoidOp,
    SiluOp,
    SwigluOp,
)
from lanelink.dialects.tgraph.fused import FusedOp, FusionClass, FusionClassAttr, YieldOp
from lanelink.dialects.tgraph.lifted import LiftedOp
from lanelink.dialects.tgraph.products import MatmulOp, QuantizeOp
from lanelink.dialects.tgraph.rows import FusedRowOp, NormKind, NormKindAttr, RopeOp
from lanelink.dialects.tgraph.sampling import AdvanceOp, ArgMaxOp
from lanelink.dialects.tgraph.shape import HeadSliceOp, ViewOp
from lanelink.dialects.tgraph.tables import RowGatherOp, RowsGatherOp, SetRowOp

TGraph = Dialect(
    "tgraph",
    [
        ConstantOp,
        MatmulOp,
        QuantizeOp,
        ElementwiseOp,
        SwigluOp,
        SiluOp,
        SigmoidOp,
        GeluOp,
        ScaleOp,
        FusedRowOp,
        RopeOp,
        AttentionOp,
        RowGatherOp,
        RowsGatherOp,
        SetRowOp,
        ViewOp,
        HeadSliceOp,
        ArgMaxOp,
        AdvanceOp,
        FusedOp,
        YieldOp,
    ],
    [
        FormatAttr,
        RowsType,
        Q8Type,
        CheckpointAttr,
        RopeTableAttr,
        TableKindAttr,
        BinaryKindAttr,
        GeluKindAttr,
        NormKindAttr,
        FusionClassAttr,
    ],
)

__all__ = [
    "AdvanceOp",
    "ArgMaxOp",
    "AttentionOp",
    "BinaryKind",
    "CheckpointAttr",
    "ConstantOp",
    "ElementwiseOp",
    "FusedOp",
    "FusedRowOp",
    "FusionClass",
    "GeluKind",
    "GeluOp",
    "HeadSliceOp",
    "LiftedOp",
    "MatmulOp",
    "NormKind",
    "Q8Type",
    "QuantizeOp",
    "RopeOp",
    "RopeTableAttr",
    "RowGatherOp",
    "RowsGatherOp",
    "RowsType",
    "ScaleOp",
    "SetRowOp",
    "SigmoidOp",
    "SiluOp",
    "SwigluOp",
    "TGraph",
    "TableKind",
    "ViewOp",
    "YieldOp",
]
