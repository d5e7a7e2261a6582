"""The union of every launch spec; a family of launches that has a module of its own adds its specs here."""

from __future__ import annotations

from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.delta_specs import ConvSpec, DeltaSpec, GateProjSpec, GatesSpec, L2Spec
from lanelink.lowering.selection.head_specs import HeadGemvSpec, JoinSpec
from lanelink.lowering.selection.latent import LatentSpec
from lanelink.lowering.selection.moe_specs import MoeSpec
from lanelink.lowering.selection.repack import RepackSpec
from lanelink.lowering.selection.sequences import SequencesSpec
from lanelink.lowering.selection.specs import (
    AdvanceSpec,
    ArgMaxSpec,
    BinarySpec,
    CopySpec,
    GatherSpec,
    GemvSpec,
    GluSpec,
    NormSpec,
    QuantizeSpec,
    RopeSpec,
    SwigluSpec,
    UnarySpec,
    ValuesSpec,
)
from lanelink.lowering.selection.stream import StreamSpec

Spec = (
    AdvanceSpec
    | ArgMaxSpec
    | AttentionSpec
    | BinarySpec
    | CopySpec
    | GatherSpec
    | GemvSpec
    | GluSpec
    | LatentSpec
    | HeadGemvSpec
    | JoinSpec
    | MoeSpec
    | NormSpec
    | QuantizeSpec
    | RepackSpec
    | RopeSpec
    | SequencesSpec
    | SwigluSpec
    | UnarySpec
    | ValuesSpec
    | ConvSpec
    | DeltaSpec
    | GateProjSpec
    | GatesSpec
    | L2Spec
    | StreamSpec
)

__all__ = ["Spec"]
