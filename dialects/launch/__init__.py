"""Level 3: `launch`, the launches a step runs as, over buffers, each with the lifted ops it covers."""

from xdsl.ir import Dialect

from lanelink.dialects.launch.attention import AttentionOp
from lanelink.dialects.launch.base import CompoundLaunch, Launch, LeafLaunch, Placed
from lanelink.dialects.launch.buffers import AllocOp, ConstantOp, CopyOp, ViewOp
from lanelink.dialects.launch.delta import (
    ConvOp,
    ConvPartOp,
    ConvPartsOp,
    DecayOp,
    DeltaOp,
    GateProjOp,
    GatesOp,
    L2NormOp,
)
from lanelink.dialects.launch.elementwise import BinaryOp, QuantOp, ScaleOp, SwigluOp, UnaryOp
from lanelink.dialects.launch.fold import FoldOp
from lanelink.dialects.launch.functions import Act, ActivationAttr
from lanelink.dialects.launch.heads import HeadGemvOp, JoinOp
from lanelink.dialects.launch.latent import LatentAttendOp, LatentExpansion, LatentKeysOp, LatentValuesOp
from lanelink.dialects.launch.mixture import MoeOp
from lanelink.dialects.launch.placement import PlacedInUnits, ReadsUnits
from lanelink.dialects.launch.products import GemmPartOp, GemmPartsOp, GemvF32Op, GemvGluOp, GemvOp
from lanelink.dialects.launch.rows import NormOp, RopeOp, RopePartsOp, RopeSideOp
from lanelink.dialects.launch.sequences import SequencesOp
from lanelink.dialects.launch.tables import AdvanceOp, ArgMaxOp, GatherOp, SetRowOp, SliceOp
from lanelink.dialects.launch.target import Numerics, NumericsAttr, TargetAttr

LaunchDialect = Dialect(
    "launch",
    [
        ConstantOp,
        AllocOp,
        ViewOp,
        CopyOp,
        GemvOp,
        GemvF32Op,
        GemmPartOp,
        GemmPartsOp,
        GemvGluOp,
        BinaryOp,
        SwigluOp,
        UnaryOp,
        ScaleOp,
        QuantOp,
        NormOp,
        RopeOp,
        RopeSideOp,
        RopePartsOp,
        AttentionOp,
        GatherOp,
        SetRowOp,
        SliceOp,
        ArgMaxOp,
        AdvanceOp,
        FoldOp,
        DecayOp,
        L2NormOp,
        ConvOp,
        ConvPartOp,
        ConvPartsOp,
        DeltaOp,
        GatesOp,
        GateProjOp,
        HeadGemvOp,
        JoinOp,
        MoeOp,
        LatentKeysOp,
        LatentValuesOp,
        LatentAttendOp,
        SequencesOp,
    ],
    [TargetAttr, NumericsAttr, ActivationAttr],
)

__all__ = [
    "Act",
    "AdvanceOp",
    "AllocOp",
    "ArgMaxOp",
    "AttentionOp",
    "BinaryOp",
    "CompoundLaunch",
    "ConstantOp",
    "ConvOp",
    "ConvPartOp",
    "ConvPartsOp",
    "CopyOp",
    "DecayOp",
    "DeltaOp",
    "FoldOp",
    "GateProjOp",
    "GatesOp",
    "GatherOp",
    "GemmPartOp",
    "GemmPartsOp",
    "GemvF32Op",
    "GemvGluOp",
    "GemvOp",
    "HeadGemvOp",
    "JoinOp",
    "L2NormOp",
    "LatentAttendOp",
    "LatentExpansion",
    "LatentKeysOp",
    "LatentValuesOp",
    "Launch",
    "LaunchDialect",
    "LeafLaunch",
    "MoeOp",
    "NormOp",
    "Numerics",
    "Placed",
    "PlacedInUnits",
    "QuantOp",
    "ReadsUnits",
    "RopeOp",
    "RopePartsOp",
    "RopeSideOp",
    "ScaleOp",
    "SequencesOp",
    "SetRowOp",
    "SliceOp",
    "SwigluOp",
    "TargetAttr",
    "UnaryOp",
    "ViewOp",
]
