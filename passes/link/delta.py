"""Launches of linear attention: convolutions with what follows them, several as one, and the gates of a delta rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnitAttr

from lanelink.dialects import launch, tgraph
from lanelink.dialects.tgraph import FusedOp
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.linker import number

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker

CONV_FIELDS = ("x", "w", "ring", "out", "l2_cols")


def conv_bias_silu(linker: Linker, op: FusedOp) -> Draft:
    """A convolution's launch with silu."""
    conv, silu = op.parts
    assert isinstance(silu, tgraph.SiluOp)
    return linker.one(conv).with_(silu=UnitAttr(), out=linker.buffer(silu.result), covers=number(silu))


def conv_silu_l2norm(linker: Linker, op: FusedOp) -> Draft:
    """A convolution's launch with silu and the l2 norm of every head."""
    conv, norm = op.parts
    assert isinstance(norm, tgraph.L2NormOp)
    out = linker.buffer(norm.result)
    return linker.one(conv).with_(l2_cols=norm.cols, eps=norm.eps, out=out, covers=number(norm))


def conv_parts(linker: Linker, op: FusedOp) -> Draft:
    """Convolutions in parts; those that are normed share the launch's eps."""
    made = [linker.one(part) for part in op.parts]
    eps = next((draft.fields["eps"] for draft in made if draft.fields.get("eps") is not None), None)
    parts = tuple(draft.as_(launch.ConvPartOp, CONV_FIELDS) for draft in made)
    return Draft(launch.ConvPartsOp, {"eps": eps}, members=parts, location=made[0].location)


def gdn_gating(linker: Linker, op: FusedOp) -> Draft:
    """Both gates of a delta rule, in either order."""
    sigmoid = next(part for part in op.parts if isinstance(part, tgraph.SigmoidOp))
    decay = next(part for part in op.parts if isinstance(part, tgraph.DecayOp))
    return Draft(
        launch.GatesOp,
        {
            "b": linker.buffer(sigmoid.x),
            "a": linker.buffer(decay.a),
            "dt_bias": linker.buffer(decay.dt_bias),
            "a_log": linker.buffer(decay.a_log),
            "beta": linker.buffer(sigmoid.result),
            "decay": linker.buffer(decay.result),
        },
        (*number(sigmoid), *number(decay)),
        location=op.location,
    )


def gdn_gate_projections(linker: Linker, op: FusedOp) -> Draft:
    """Both gates with the products they are made of."""
    *products, gating = op.parts
    gates = linker.one(gating)
    made = {draft.value("out"): draft for draft in (linker.one(product) for product in products)}
    b, a = made[gates.value("b")], made[gates.value("a")]
    fields = {name: gates.fields[name] for name in ("dt_bias", "a_log", "beta", "decay")}
    return Draft(
        launch.GateProjOp,
        {"x": b.fields["x"], "wb": b.fields["w"], "wa": a.fields["w"], **fields},
        (*b.covers, *a.covers, *gates.covers),
        location=gates.location,
    )


__all__ = ["conv_bias_silu", "conv_parts", "conv_silu_l2norm", "gdn_gate_projections", "gdn_gating"]
