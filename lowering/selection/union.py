"""The union of every launch spec; a family of launches that has a module of its own adds its specs here."""

from __future__ import annotations

from lanelink.lowering.selection.specs import (
    AdvanceSpec,
    ArgMaxSpec,
    AttentionSpec,
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

Spec = (
    AdvanceSpec
    | ArgMaxSpec
    | AttentionSpec
    | BinarySpec
    | CopySpec
    | GatherSpec
    | GemvSpec
    | GluSpec
    | NormSpec
    | QuantizeSpec
    | RopeSpec
    | SwigluSpec
    | UnarySpec
    | ValuesSpec
)

__all__ = ["Spec"]
