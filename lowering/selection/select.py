"""The table of kernel selection: launch spec -> the function that answers its call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanelink.lowering.selection import (
    attention,
    delta,
    elementwise,
    gemm,
    heads,
    latent,
    moe,
    products,
    repack,
    rows,
    stream,
)
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import KernelCall
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.delta_specs import ConvSpec, DeltaSpec, GateProjSpec, GatesSpec, L2Spec
from lanelink.lowering.selection.head_specs import HeadGemvSpec, JoinSpec
from lanelink.lowering.selection.latent import LatentSpec
from lanelink.lowering.selection.moe_specs import MoeSpec
from lanelink.lowering.selection.repack import RepackSpec
from lanelink.lowering.selection.sequences import SequencesSpec, sequences
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
from lanelink.lowering.selection.union import Spec

SELECTIONS: dict[type[Spec], Callable[[Any, Chip], KernelCall]] = {
    GemvSpec: gemm.product,
    GluSpec: gemm.pair,
    GatherSpec: rows.gather,
    NormSpec: rows.norm,
    RopeSpec: rows.rope,
    AttentionSpec: attention.attention,
    LatentSpec: latent.latent,
    ArgMaxSpec: rows.arg_max,
    BinarySpec: elementwise.binary,
    SwigluSpec: elementwise.swiglu,
    UnarySpec: elementwise.unary,
    QuantizeSpec: elementwise.quantize,
    CopySpec: rows.copy,
    AdvanceSpec: rows.advance,
    ValuesSpec: products.values,
    ConvSpec: delta.conv,
    L2Spec: delta.l2_norm,
    GatesSpec: delta.gates,
    GateProjSpec: delta.gate_proj,
    DeltaSpec: delta.delta,
    HeadGemvSpec: heads.head_gemv,
    JoinSpec: heads.join,
    RepackSpec: repack.repack,
    StreamSpec: stream.stream,
    MoeSpec: moe.moe,
    SequencesSpec: sequences,
}


def select(spec: Spec, chip: Chip) -> KernelCall:
    """The kernel call of a launch on a chip. Raises SelectionError naming what no kernel runs."""
    return SELECTIONS[type(spec)](spec, chip)


__all__ = ["SELECTIONS", "select"]
