"""A mixture of experts: which experts a row takes, by which weights, and what they make of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lanelink.dialects.tgraph.mixture import ExpertActivation, Scores
from lanelink.lowering.activations import quantize
from lanelink.lowering.functions import Activation
from lanelink.lowering.meanings.arithmetic import Doubles, Floats, Ints, activate64, product64, sigmoid64

CLAMPED_SLOPE = 1.702
"""The slope of clamped_swiglu's sigmoid (gpt-oss)."""


@dataclass(frozen=True)
class Routing:
    """How a router's outputs choose and weigh experts; `groups` is (groups, groups kept), ranked by the sum of each
    group's `group_best` best scores."""

    top_k: int
    scores: Scores = Scores.SOFTMAX
    renormalize: bool = False
    routed_scale: float = 1.0
    groups: tuple[int, int] | None = None
    group_best: int = 2


@dataclass(frozen=True)
class Experts:
    """E experts of a hidden width F over rows of D, their matrices as rows that are outputs, expert after expert:
    gate and up [E * F, D], down [E * D, F]; gate_bias and up_bias [E, F], down_bias [E, D]."""

    gate: Floats
    up: Floats
    down: Floats
    hidden: int
    act: ExpertActivation = ExpertActivation.SILU
    limit: float | None = None
    gate_bias: Floats | None = None
    up_bias: Floats | None = None
    down_bias: Floats | None = None


@dataclass(frozen=True)
class SharedExpert:
    """An expert that every row takes, without biases and of the mixture's activation: gate and up [F, D], down [D, F].

    `column` [m, 1] gates its output by sigmoid, row by row, where it is given.
    """

    gate: Floats
    up: Floats
    down: Floats
    column: Floats | None = None


def route(logits: Floats, routing: Routing, selection_bias: Floats | None = None) -> tuple[Ints, Doubles]:
    """The experts that each row of a router's outputs [m, E] takes, best first, and their weights: [m, top_k] each.

    Chosen are the largest scores, plus selection_bias [E] where there is one, of equal ones the lowest index first;
    with groups only experts of the kept groups, those whose best scores sum highest (DeepSeek-V3, section 2.1.2).
    The weights are the scores without the bias, made to sum to 1 where renormalized, times routed_scale.
    """
    scores = _scores(logits.astype(np.float64), routing.scores)
    # Chosen by f32 values, as the architectures' own code chooses: what is equal in f32 is a tie.
    choice = scores.astype(np.float32)
    if selection_bias is not None:
        choice = choice + selection_bias.reshape(-1)
    shut = (
        np.zeros(choice.shape, np.bool_)
        if routing.groups is None
        else ~_kept(choice, *routing.groups, routing.group_best)
    )
    # A stable sort by the last key first, so that a kept expert of any score precedes one that is not kept.
    chosen = np.lexsort((-choice, shut), axis=-1)[:, : routing.top_k]
    weights = np.take_along_axis(scores, chosen, axis=-1)
    if routing.renormalize:
        total = weights.sum(axis=-1, keepdims=True)
        # Sigmoids can all vanish; their row then adds nothing.
        weights = weights / np.where(total == 0, 1.0, total)
    return chosen.astype(np.int32), weights * routing.routed_scale


def mixture(
    x: Floats,
    logits: Floats,
    routing: Routing,
    experts: Experts,
    *,
    selection_bias: Floats | None = None,
    weigh_inputs: bool = False,
    hidden_planes: int = 0,
    shared: SharedExpert | None = None,
) -> Floats:
    """The weighed sum of what each row's experts make of it, plus the shared expert's output: x [m, D] to [m, D].

    `logits` [m, E] are the router's outputs. An expert makes down * act(gate * x + gate_bias, up * x + up_bias) +
    down_bias; its weight multiplies that, or with weigh_inputs x. Under `hidden_planes` each expert's hidden row is
    quantized to so many planes before its down product, as x was.
    """
    chosen, weights = route(logits, routing, selection_bias)
    out = np.zeros(x.shape, np.float64)
    for expert in np.unique(chosen):
        rows, places = np.nonzero(chosen == expert)
        weight = weights[rows, places][:, None]
        taken = x[rows] * weight if weigh_inputs else x[rows].astype(np.float64)
        made = _expert(taken, experts, int(expert), hidden_planes)
        out[rows] += made if weigh_inputs else weight * made
    if shared is not None:
        made = _shared(x, shared, experts, hidden_planes)
        out += made if shared.column is None else made * sigmoid64(shared.column.astype(np.float64))
    return out.astype(np.float32)


def joined(act: ExpertActivation, gate: Doubles, up: Doubles, limit: float | None = None) -> Doubles:
    """act(gate) * up; or clamped_swiglu, gate at most `limit` and up within it: (up + 1) * gate * sigmoid(1.702 gate)
    (gpt-oss's model card)."""
    if act is ExpertActivation.CLAMPED_SWIGLU:
        assert limit is not None
        g, u = np.minimum(gate, limit), np.clip(up, -limit, limit)
        return (u + 1.0) * g * sigmoid64(CLAMPED_SLOPE * g)
    return activate64(Activation(act.value), gate) * up


def _scores(logits: Doubles, kind: Scores) -> Doubles:
    if kind is Scores.SIGMOID:
        return sigmoid64(logits)
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _kept(choice: Floats, groups: int, kept: int, group_best: int) -> npt.NDArray[np.bool_]:
    """Which experts [m, E] lie in a row's kept groups; of groups with equal sums the lowest index first."""
    m, experts = choice.shape
    best = np.sort(choice.reshape(m, groups, -1), axis=-1)[..., -group_best:].sum(axis=-1)
    order = np.argsort(-best, axis=-1, kind="stable")[:, :kept]
    open_groups = np.zeros((m, groups), np.bool_)
    np.put_along_axis(open_groups, order, True, axis=-1)
    return np.repeat(open_groups, experts // groups, axis=-1)


def _expert(x: Doubles, experts: Experts, index: int, planes: int) -> Doubles:
    def of(held: Floats, each: int) -> Floats:
        return held[index * each : (index + 1) * each]

    def bias(held: Floats | None) -> Floats | None:
        return None if held is None else held[index]

    width, hidden = x.shape[1], experts.hidden
    gate = product64(x, of(experts.gate, hidden), bias(experts.gate_bias))
    up = product64(x, of(experts.up, hidden), bias(experts.up_bias))
    h = _hidden(joined(experts.act, gate, up, experts.limit), planes)
    return product64(h, of(experts.down, width), bias(experts.down_bias))


def _shared(x: Floats, shared: SharedExpert, experts: Experts, planes: int) -> Doubles:
    gate, up = product64(x, shared.gate), product64(x, shared.up)
    return product64(_hidden(joined(experts.act, gate, up, experts.limit), planes), shared.down)


def _hidden(h: Doubles, planes: int) -> Doubles | Floats:
    return quantize(h.astype(np.float32), planes).dequantize() if planes else h


__all__ = ["Experts", "Routing", "SharedExpert", "joined", "mixture", "route"]
