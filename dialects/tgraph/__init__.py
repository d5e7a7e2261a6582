"""Level 1 and 2: `tgraph`, the tensor graph of one decoding step, and which of its ops go together."""

from xdsl.ir import Dialect

from lanelink.dialects.tgraph.attention import AttentionOp
from lanelink.dialects.tgraph.attributes import (
    FormatAttr,
    Q8Type,
    RopeTableAttr,
    RowsType,
    TableKind,
    TableKindAttr,
)
from lanelink.dialects.tgraph.block_attention import FullAttentionOp, LutAttentionOp
from lanelink.dialects.tgraph.checkpoint import (
    Adjust,
    AdjustAttr,
    CheckpointAttr,
    StoredUnit,
    StoredUnitAttr,
    StoredViewAttr,
)
from lanelink.dialects.tgraph.constant import ConstantOp
from lanelink.dialects.tgraph.delta import CausalConvOp, DecayOp, DeltaGate, DeltaGateAttr, GatedDeltaOp, L2NormOp
from lanelink.dialects.tgraph.elementwise import (
    BinaryKind,
    BinaryKindAttr,
    ElementwiseOp,
    GeluKind,
    GeluKindAttr,
    GeluOp,
    ReluOp,
    ScaleOp,
    SigmoidOp,
    SiluOp,
    SoftcapOp,
    SwigluOp,
)
from lanelink.dialects.tgraph.fused import FusedOp, FusionClass, FusionClassAttr, YieldOp
from lanelink.dialects.tgraph.heads import HeadMatmulOp, JoinOp
from lanelink.dialects.tgraph.integers import IntClampOp, IntRequantOp
from lanelink.dialects.tgraph.lifted import LiftedOp
from lanelink.dialects.tgraph.mixture import ExpertActivation, ExpertActivationAttr, MoeOp, Scores, ScoresAttr
from lanelink.dialects.tgraph.products import MatmulOp, QuantizeOp
from lanelink.dialects.tgraph.rows import FusedRowOp, NormKind, NormKindAttr, RopeOp
from lanelink.dialects.tgraph.sampling import AdvanceOp, ArgMaxOp
from lanelink.dialects.tgraph.shape import HeadSliceOp, TransposeOp, ViewOp
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
        ReluOp,
        SoftcapOp,
        FusedRowOp,
        RopeOp,
        AttentionOp,
        RowGatherOp,
        RowsGatherOp,
        SetRowOp,
        ViewOp,
        HeadSliceOp,
        TransposeOp,
        ArgMaxOp,
        AdvanceOp,
        MoeOp,
        DecayOp,
        L2NormOp,
        CausalConvOp,
        GatedDeltaOp,
        JoinOp,
        HeadMatmulOp,
        IntRequantOp,
        IntClampOp,
        FullAttentionOp,
        LutAttentionOp,
        FusedOp,
        YieldOp,
    ],
    [
        FormatAttr,
        RowsType,
        Q8Type,
        CheckpointAttr,
        StoredViewAttr,
        StoredUnitAttr,
        AdjustAttr,
        RopeTableAttr,
        TableKindAttr,
        BinaryKindAttr,
        GeluKindAttr,
        NormKindAttr,
        ScoresAttr,
        ExpertActivationAttr,
        DeltaGateAttr,
        FusionClassAttr,
    ],
)

__all__ = [
    "Adjust",
    "AdjustAttr",
    "AdvanceOp",
    "ArgMaxOp",
    "AttentionOp",
    "BinaryKind",
    "CausalConvOp",
    "CheckpointAttr",
    "ConstantOp",
    "DecayOp",
    "DeltaGate",
    "ElementwiseOp",
    "ExpertActivation",
    "FullAttentionOp",
    "FusedOp",
    "FusedRowOp",
    "FusionClass",
    "GatedDeltaOp",
    "GeluKind",
    "GeluOp",
    "HeadMatmulOp",
    "HeadSliceOp",
    "IntClampOp",
    "IntRequantOp",
    "JoinOp",
    "L2NormOp",
    "LiftedOp",
    "LutAttentionOp",
    "MatmulOp",
    "MoeOp",
    "NormKind",
    "Q8Type",
    "QuantizeOp",
    "ReluOp",
    "RopeOp",
    "RopeTableAttr",
    "RowGatherOp",
    "RowsGatherOp",
    "RowsType",
    "ScaleOp",
    "Scores",
    "SetRowOp",
    "SigmoidOp",
    "SiluOp",
    "SoftcapOp",
    "StoredUnit",
    "StoredUnitAttr",
    "StoredViewAttr",
    "SwigluOp",
    "TGraph",
    "TableKind",
    "TransposeOp",
    "ViewOp",
    "YieldOp",
]
