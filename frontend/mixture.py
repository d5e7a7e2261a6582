"""Mixtures of experts (https://arxiv.org/abs/1701.06538), at times beside an expert that every row takes."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from lanelink.dialects.tgraph import (
    BinaryKind,
    CheckpointAttr,
    ElementwiseOp,
    MoeOp,
    SigmoidOp,
    StoredUnit,
    StoredViewAttr,
)
from lanelink.frontend.builders import add, gated_mlp, linear
from lanelink.frontend.shapes import Activation, GatedMlp, Mixture, SharedExpert
from lanelink.frontend.step_builder import StepBuilder
from lanelink.frontend.weights import Place

FUSED, DOWN = "experts.gate_up_proj", "experts.down_proj"
"""The stacks of all experts' matrices, where the checkpoint keeps them so; gates and ups share one."""


def mixture(step: StepBuilder, part: Mixture, x: SSAValue, hidden: int) -> SSAValue:
    """Σ over the chosen experts e of w_e · W_down,e · act(W_gate,e · x, W_up,e · x), plus the shared expert's."""
    gate, up, down = _experts(step, part, hidden)
    router = part.router
    op = MoeOp(
        x,
        step.matrix(f"{router.name}.weight", part.experts, hidden, transposed=True),
        gate,
        up,
        down,
        experts=part.experts,
        top_k=part.top_k,
        hidden=part.intermediate,
        scores=router.scores,
        act=part.activation,
        renormalize=router.renormalize,
        limit=part.limit,
        routed_scale=router.routed_scale,
        groups=router.groups,
        group_best=router.group_best,
        biases=_biases(step, part, hidden),
    )
    y = step.add(op, "mixed")
    if part.shared is not None:
        y = add(step, y, _shared(step, part.shared, Activation(part.activation.value), x, hidden))
    return y


def _shared(step: StepBuilder, part: SharedExpert, activation: Activation, x: SSAValue, hidden: int) -> SSAValue:
    """σ(w · x) · W_down · (act(W_gate · x) ⊙ W_up · x); without the sigmoid where the expert is not gated."""
    with step.within(part.name):
        y = gated_mlp(step, GatedMlp(part.intermediate, activation), x, hidden)
    if not part.gated:
        return y
    weight = linear(step, f"{part.name}_gate", x, hidden, 1, hint="weight")
    return step.add(ElementwiseOp(BinaryKind.MUL, y, step.add(SigmoidOp(weight), "weight")), "shared")


def _experts(step: StepBuilder, part: Mixture, hidden: int) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The gate, up and down rows of all experts, expert after expert, each row one output."""
    e, f = part.experts, part.intermediate
    sizes = {"gate": (f, hidden), "up": (f, hidden), "down": (hidden, f)}
    places = _places(step, part, hidden)
    gate, up, down = (
        step.matrix(f"experts.{name}_proj.weight", e * rows, cols, transposed=True, place=places[name])
        for name, (rows, cols) in sizes.items()
    )
    return gate, up, down


def _places(step: StepBuilder, part: Mixture, hidden: int) -> dict[str, Place]:
    """Where each of the three is: a tensor an expert, or stacks of all experts'."""
    e, f = part.experts, part.intermediate
    fused, down = step.full_name(FUSED), step.full_name(DOWN)
    if part.packed is not None:  # rows by outputs, gate and up alternating
        halves = [
            replace(_stack(fused, StoredUnit.ROWS, (e * f,), (2,), side, (e, 2 * f, hidden)), format=part.packed)
            for side in range(2)
        ]
        packed = Place(CheckpointAttr(down), (e, hidden, f), part.packed)
        return {"gate": halves[0], "up": halves[1], "down": packed}
    if part.by_inputs:  # rows by inputs
        values, shape = StoredUnit.VALUES, (e, hidden, 2 * f)
        strides = (2 * hidden * f, 2, 2 * f)
        halves = [_stack(fused, values, (e, f, hidden), strides, side, shape) for side in range(2)]
        turned = _stack(down, values, (e, hidden, f), (hidden * f, 1, hidden), 0, (e, f, hidden))
        return {"gate": halves[0], "up": halves[1], "down": turned}
    if step.weights.holds(fused):  # rows by outputs, an expert's gates before its ups
        halves = [_stack(fused, StoredUnit.ROWS, (e, f), (2 * f, 1), s * f, (e, 2 * f, hidden)) for s in range(2)]
        return {"gate": halves[0], "up": halves[1], "down": Place(CheckpointAttr(down), (e, hidden, f))}
    shapes = {"gate": (f, hidden), "up": (f, hidden), "down": (hidden, f)}
    return {
        name: Place(CheckpointAttr(step.full_name(f"experts.*.{name}_proj.weight"), count=e), shape)
        for name, shape in shapes.items()
    }


def _stack(
    name: str, unit: StoredUnit, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int, shape: tuple[int, ...]
) -> Place:
    """What a view takes of a stack of matrices."""
    return Place(CheckpointAttr(name, view=StoredViewAttr(unit, sizes, strides, offset)), shape)


def _biases(step: StepBuilder, part: Mixture, hidden: int) -> dict[str, SSAValue]:
    """The operands of a mixture that are biases, by their names there."""
    e, f, found = part.experts, part.intermediate, dict[str, SSAValue]()
    router = part.router.name
    if part.router.bias:
        found["router_bias"] = step.values(f"{router}.bias", (1, e))
    if part.router.selection_bias:
        found["selection_bias"] = step.values(f"{router}.e_score_correction_bias", (1, e))
    if part.bias:
        fused, shape = step.full_name(f"{FUSED}_bias"), (e, 2 * f)
        for side, name in enumerate(("gate", "up")):
            place = _stack(fused, StoredUnit.VALUES, (e, f), (2 * f, 2), side, shape)
            found[f"{name}_bias"] = step.values(f"experts.{name}_proj.bias", (e, f), place=place)
        place = Place(CheckpointAttr(step.full_name(f"{DOWN}_bias")), (e, hidden))
        found["down_bias"] = step.values("experts.down_proj.bias", (e, hidden), place=place)
    return found
