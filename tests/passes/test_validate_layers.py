"""What `--validate` catches in a link of layers beside the dense: one field of one launch is another."""

from __future__ import annotations

import pytest
from layer_texts import DELTA, GATED_ATTENTION, LATENT, MIXTURE, MIXTURE_NORMED, SANDWICH, step_text
from levels import parsed
from pytest import MonkeyPatch
from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, UnitAttr, f32, i64
from xdsl.ir import Attribute

from lanelink.dialects.launch.functions import Act, ActivationAttr
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.passes.link import LinkPass
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.pipeline import PASSES, Level
from lanelink.validate import ValidationError, validate

TO_A_PLAN = [*(kind() for kind in PASSES[: Level.SCHEDULED.value]), PlanBuffersPass()]


def whole(value: int) -> Attribute:
    return IntegerAttr(value, i64)


def number(value: float) -> Attribute:
    return FloatAttr(value, f32)


FAULTS: dict[str, tuple[str, str, Attribute, Attribute | None]] = {
    "a part read where another begins": ("launch.rope", "x_offset", whole(32), whole(0)),
    "a normed part read a value late": ("launch.norm", "x_offset", whole(0), whole(1)),
    "a head's part of a product": ("launch.head_gemv", "x_offset", whole(0), whole(32)),
    "units placed where others lie": ("launch.rope", "unit_offset", whole(64), whole(0)),
    "values at another offset in their keys": ("launch.attention", "v_offset", whole(0), whole(32)),
    "the gate's activation": (
        "launch.attention",
        "gate_act",
        ActivationAttr(Act.SIGMOID),
        ActivationAttr(Act.SILU),
    ),
    "eps of a delta rule's norm": ("launch.delta", "eps", number(1e-6), number(1e-5)),
    "eps of a convolution's norm": ("launch.conv_parts", "eps", number(1e-6), number(1e-4)),
    "a convolution's norm lost": ("launch.conv_part", "l2_cols", whole(32), None),
    "an expert too few": ("launch.moe", "top_k", whole(2), whole(1)),
    "weights that are not renormalized": ("launch.moe", "renormalize", UnitAttr(), None),
    "eps of the norm before a norm": ("launch.norm", "pre_eps", number(1e-6), number(0.0)),
}


def step(numerics: Numerics, format: str = "bf16") -> ModuleOp:
    text = step_text([DELTA, GATED_ATTENTION, LATENT, MIXTURE, MIXTURE_NORMED, SANDWICH])
    module = parsed(text.replace("!tgraph.rows<bf16", f"!tgraph.rows<{format}"))
    module.attributes[TARGET] = preset("h200", numerics)
    return module


@pytest.mark.parametrize("numerics", Numerics)
@pytest.mark.parametrize("format", ["bf16", "q8_0"])
def test_layers_of_every_kind_are_valid(numerics: Numerics, format: str) -> None:
    validate(step(numerics, format), TO_A_PLAN)


@pytest.mark.parametrize("numerics", [Numerics.DEQUANT, Numerics.INT8])
@pytest.mark.parametrize("name", FAULTS)
def test_another_field_is_caught(monkeypatch: MonkeyPatch, name: str, numerics: Numerics) -> None:
    launch, field, right, wrong = FAULTS[name]
    link = LinkPass.apply

    def mutated(self: LinkPass, ctx: Context, op: ModuleOp) -> None:
        link(self, ctx, op)
        found = next(o for o in op.walk() if o.name == launch and o.properties.get(field) == right)
        del found.properties[field]
        if wrong is not None:
            found.properties[field] = wrong

    monkeypatch.setattr(LinkPass, "apply", mutated)
    with pytest.raises(ValidationError, match="validate: link: step @step: "):
        validate(step(numerics, "q8_0"), TO_A_PLAN)
