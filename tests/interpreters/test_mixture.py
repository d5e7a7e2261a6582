"""Mixtures of experts against loops over Python floats, in every form; ties in the choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import erf, exp, pi, sqrt, tanh
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.ir import Operation

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import (
    CheckpointAttr,
    ConstantOp,
    ExpertActivation,
    MoeOp,
    QuantizeOp,
    RowsType,
    Scores,
)
from lanelink.lowering import meanings
from lanelink.lowering.activations import quantize
from lanelink.lowering.formats import decode, encode
from lanelink.lowering.weights import StoredRows, constant_key

Array = npt.NDArray[Any]
Run = Callable[..., Array]

WIDTH, EXPERTS, HIDDEN = 6, 8, 5


def logistic(x: float) -> float:
    return 1 / (1 + exp(-x))


def clamped(g: float, u: float, limit: float) -> float:
    g, u = min(g, limit), max(-limit, min(u, limit))
    return (u + 1) * g * logistic(1.702 * g)


JOINED: dict[ExpertActivation, Callable[[float, float], float]] = {
    ExpertActivation.SILU: lambda g, u: g * logistic(g) * u,
    ExpertActivation.GELU: lambda g, u: 0.5 * g * (1 + erf(g / sqrt(2))) * u,
    ExpertActivation.GELU_TANH: lambda g, u: 0.5 * g * (1 + tanh(sqrt(2 / pi) * (g + 0.044715 * g**3))) * u,
    ExpertActivation.CLAMPED_SWIGLU: lambda g, u: clamped(g, u, 1.5),
}


@dataclass
class Mixture:
    """What a mixture is made of: the op's options, its weights in the checkpoint's order, and what only some have."""

    options: dict[str, Any] = field(default_factory=dict[str, Any])
    weights: dict[str, Array] = field(default_factory=dict[str, Array])
    biases: dict[str, Array] = field(default_factory=dict[str, Array])
    router_x: Array | None = None
    hidden: Callable[[Array], Array] = lambda h: h
    """What the hidden rows become before their down product."""

    @property
    def top_k(self) -> int:
        return self.options["top_k"]

    def flag(self, name: str) -> bool:
        return bool(self.options.get(name))


def random_mixture(rng: np.random.Generator, biases: Sequence[str] = (), **options: Any) -> Mixture:
    shapes = {
        "router": (EXPERTS, WIDTH),
        "gate": (EXPERTS * HIDDEN, WIDTH),
        "up": (EXPERTS * HIDDEN, WIDTH),
        "down": (EXPERTS * WIDTH, HIDDEN),
    }
    bias_shapes = {
        "router_bias": (1, EXPERTS),
        "gate_bias": (EXPERTS, HIDDEN),
        "up_bias": (EXPERTS, HIDDEN),
        "down_bias": (EXPERTS, WIDTH),
        "selection_bias": (1, EXPERTS),
    }
    return Mixture(
        {"top_k": 3, **options},
        {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()},
        {name: rng.standard_normal(bias_shapes[name], np.float32) for name in biases},
    )


def dot(a: Array, b: Array) -> float:
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def chosen(logits: list[float], m: Mixture) -> dict[int, float]:
    """The experts of one row and their weights."""
    if m.options.get("scores") is Scores.SIGMOID:
        scores = [logistic(v) for v in logits]
    else:
        scores = [exp(v) / sum(exp(u) for u in logits) for v in logits]
    bias = m.biases.get("selection_bias", np.zeros((1, EXPERTS)))[0]
    choice = {e: scores[e] + float(bias[e]) for e in range(EXPERTS)}
    if "groups" in m.options:
        groups, kept = m.options["groups"]
        size = EXPERTS // groups
        best = {g: sum(sorted(choice[e] for e in range(g * size, (g + 1) * size))[-2:]) for g in range(groups)}
        open_groups = sorted(best, key=lambda g: -best[g])[:kept]
        choice = {e: v for e, v in choice.items() if e // size in open_groups}
    taken = sorted(choice, key=lambda e: -choice[e])[: m.top_k]
    total = sum(scores[e] for e in taken) if m.flag("renormalize") else 1.0
    return {e: scores[e] / total * m.options.get("routed_scale", 1.0) for e in taken}


def mixed(x: Array, m: Mixture) -> Array:
    """Row by row and expert by expert."""

    def bias(name: str, e: int, i: int) -> float:
        return float(m.biases[name][e, i]) if name in m.biases else 0.0

    w, width = m.weights, x.shape[1]
    hidden = w["down"].shape[1]
    join = JOINED[m.options.get("act", ExpertActivation.SILU)]
    out = np.zeros(x.shape)
    for r, row in enumerate(x if m.router_x is None else m.router_x):
        logits = [dot(row, w["router"][e]) + bias("router_bias", 0, e) for e in range(EXPERTS)]
        for e, weight in chosen(logits, m).items():
            taken = x[r].astype(float) * (weight if m.flag("weigh_inputs") else 1.0)
            gate = [dot(taken, w["gate"][e * hidden + i]) + bias("gate_bias", e, i) for i in range(hidden)]
            up = [dot(taken, w["up"][e * hidden + i]) + bias("up_bias", e, i) for i in range(hidden)]
            h = m.hidden(np.array([[join(g, u) for g, u in zip(gate, up, strict=True)]]))[0]
            for i in range(width):
                made = dot(h, w["down"][e * width + i]) + bias("down_bias", e, i)
                out[r, i] += made if m.flag("weigh_inputs") else weight * made
    return out


def run_mixture(run: Run, x: Array, m: Mixture) -> Array:
    """The op over constants: matrices of f32 rows that are outputs, biases of values."""
    extra = [] if m.router_x is None else [m.router_x]
    held, resolved = constants(m.weights, dict.fromkeys(m.weights, Format.F32))

    def build(x: Any, *rest: Any) -> list[Operation]:
        routed, biases = (rest[0], rest[1:]) if extra else (None, rest)
        moe = MoeOp(
            *(x, *(op.result for op in held)),
            experts=EXPERTS,
            hidden=HIDDEN,
            router_x=routed,
            biases=dict(zip(m.biases, biases, strict=True)),
            **m.options,
        )
        return [*held, moe]

    return run(build, x, *extra, *m.biases.values(), constants=resolved)


def constants(weights: dict[str, Array], formats: dict[str, Format]) -> tuple[list[ConstantOp], dict[Any, Any]]:
    """Checkpoint rows of each weight, each an output."""
    held = [
        ConstantOp(CheckpointAttr(name), RowsType(formats[name], *w.shape, transposed=True))
        for name, w in weights.items()
    ]
    stored = [StoredRows(formats[name], *w.shape, encode(formats[name], w)) for name, w in weights.items()]
    return held, {constant_key(op): s for op, s in zip(held, stored, strict=True)}


def close(got: Array, expected: Array) -> None:
    assert got.dtype == np.float32
    # Sums of a few hundred products in f64 on either side; the result is rounded to f32 once.
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


BIASES = ("router_bias", "gate_bias", "up_bias", "down_bias", "selection_bias")
FORMS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "plain": ((), {}),
    "one expert": ((), {"top_k": 1}),
    "all experts": ((), {"top_k": EXPERTS}),
    "renormalized": ((), {"renormalize": True}),
    "sigmoid scores": ((), {"scores": Scores.SIGMOID}),
    "sigmoid scores, renormalized and scaled": (
        (),
        {"scores": Scores.SIGMOID, "renormalize": True, "routed_scale": 2.5},
    ),
    "scaled": ((), {"routed_scale": 0.5}),
    "weighed inputs": ((), {"weigh_inputs": True}),
    "groups": ((), {"groups": (4, 2)}),
    "as many groups as there are": ((), {"groups": (2, 2)}),
    **{name: ((name,), {"scores": Scores.SIGMOID}) for name in BIASES},
    "a biased choice in groups": (
        ("selection_bias",),
        {"scores": Scores.SIGMOID, "groups": (4, 2), "renormalize": True, "routed_scale": 2.5},
    ),
    "biases and weighed inputs": (("gate_bias", "up_bias", "down_bias"), {"weigh_inputs": True}),
    "as gpt-oss": (
        ("router_bias", "gate_bias", "up_bias", "down_bias"),
        {"act": ExpertActivation.CLAMPED_SWIGLU, "limit": 1.5, "renormalize": True},
    ),
    "everything": (
        BIASES,
        {
            "scores": Scores.SIGMOID,
            "groups": (2, 1),
            "renormalize": True,
            "routed_scale": 2.5,
            "weigh_inputs": True,
            "act": ExpertActivation.GELU_TANH,
        },
    ),
    **{
        act.value: ((), {"act": act, "limit": 1.5 if act is ExpertActivation.CLAMPED_SWIGLU else None})
        for act in ExpertActivation
    },
}


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("form", list(FORMS))
def test_mixture(run: Run, rng: np.random.Generator, form: str, rows: int):
    biases, options = FORMS[form]
    m = random_mixture(rng, biases, **options)
    x = rng.standard_normal((rows, WIDTH), np.float32)
    close(run_mixture(run, x, m), mixed(x, m))


def test_the_choice_is_biased_and_its_weights_are_not(run: Run, rng: np.random.Generator):
    """A bias that decides the choice alone: the three lowest scores are taken, and weigh what they are."""
    m = random_mixture(rng, ["selection_bias"], scores=Scores.SIGMOID)
    x = rng.standard_normal((1, WIDTH), np.float32)
    logits = meanings.product(x, m.weights["router"])
    lowest = np.argsort(logits[0])[:3]
    m.biases["selection_bias"][:] = 0
    m.biases["selection_bias"][0, lowest] = 10
    routed, weights = meanings.route(logits, meanings.Routing(3, Scores.SIGMOID), m.biases["selection_bias"])
    assert sorted(routed[0]) == sorted(lowest)
    np.testing.assert_allclose(weights[0], [logistic(float(logits[0, e])) for e in routed[0]], rtol=1e-6)
    close(run_mixture(run, x, m), mixed(x, m))


def test_gates_and_ups_past_the_limit(run: Run, rng: np.random.Generator):
    """
    Both at ±20 and past it, in every pair of signs: a gate is held from above alone, an up on either side, and a
    gate of −20 leaves nothing.
    """
    m = random_mixture(rng, act=ExpertActivation.CLAMPED_SWIGLU, limit=7.0, top_k=1)
    x = np.ones((1, WIDTH), np.float32)
    pairs = [(20.0, 20.0), (20.0, -20.0), (-20.0, 20.0), (-20.0, -20.0), (6.5, 25.0)]
    for name, side in (("gate", 0), ("up", 1)):
        m.weights[name][:] = 0
        m.weights[name][:, 0] = np.tile([pair[side] for pair in pairs], EXPERTS)
    held = [clamped(g, u, 7.0) for g, u in pairs]
    assert held[:2] == [pytest.approx(8 * 7, rel=1e-4), pytest.approx(-6 * 7, rel=1e-4)]
    assert max(abs(h) for h in held[2:4]) < 1e-12
    ((expert, weight),) = chosen([dot(x[0], row) for row in m.weights["router"]], m).items()
    down = m.weights["down"][expert * WIDTH : (expert + 1) * WIDTH]
    close(run_mixture(run, x, m), np.array([[weight * dot(np.array(held), row) for row in down]]))


def test_equal_scores_take_the_lowest_index(run: Run, rng: np.random.Generator):
    """Of equal scores the lowest index is taken first, however many there are: the tie rule of the language."""
    routing = meanings.Routing(3)
    logits = np.array([[1, 2, 1, 2, 1, 2, 1, 0], [5] * 8, [0, 0, 0, 0, 0, 0, 0, 1]], np.float32)
    assert meanings.route(logits, routing)[0].tolist() == [[1, 3, 5], [0, 1, 2], [7, 0, 1]]
    m = random_mixture(rng)
    m.weights["router"][:] = m.weights["router"][0]
    x = rng.standard_normal((3, WIDTH), np.float32)
    result = run_mixture(run, x, m)
    close(result, mixed(x, m))
    for name, each in (("gate", HIDDEN), ("up", HIDDEN), ("down", WIDTH)):
        m.weights[name][3 * each :] = np.nan
    np.testing.assert_array_equal(run_mixture(run, x, m), result)


def test_equal_groups_take_the_lowest_index():
    """Groups whose two best sum alike: the lower group; a group's third score has no say."""
    routing = meanings.Routing(2, Scores.SIGMOID, groups=(2, 1))
    logits = np.array([[0, 1, 2, -9, 2, 1, -9, -9], [0, 1, 2, 3, 3, 3, -9, -9]], np.float32)
    assert meanings.route(logits, routing)[0].tolist() == [[2, 1], [4, 5]]


def test_groups_ranked_by_their_best_alone():
    """Two middling scores sum higher than one high and one low, and rank lower (DeepSeek-V2, section 2.2.2)."""
    logits = np.array([[1.9, 1.8, 2, -9]], np.float32)
    by_two, by_best = (meanings.Routing(1, groups=(2, 1), group_best=best) for best in (2, 1))
    assert meanings.route(logits, by_two)[0].tolist() == [[0]]
    assert meanings.route(logits, by_best)[0].tolist() == [[2]]


def test_a_group_that_is_not_kept_is_shut_whatever_its_scores():
    """Even where every score of the kept groups is biased below what is left out."""
    routing = meanings.Routing(3, Scores.SIGMOID, groups=(2, 1))
    bias = np.array([[-8, -9, -10, -11, -30, -1, -30, -30]], np.float32)
    assert meanings.route(np.zeros((1, 8), np.float32), routing, bias)[0].tolist() == [[0, 1, 2]]


def test_scores_that_vanish_add_nothing():
    routing = meanings.Routing(2, Scores.SIGMOID, renormalize=True)
    weights = meanings.route(np.full((1, 4), -2000, np.float32), routing)[1]
    assert weights.tolist() == [[0, 0]]


def test_scores_far_apart_are_weighed_without_overflow():
    weights = meanings.route(np.array([[1e4, 0, -1e4, 9999]], np.float32), meanings.Routing(2))[1]
    np.testing.assert_allclose(weights, [[logistic(1), logistic(-1)]], rtol=1e-6)


def test_a_router_of_its_own_rows(run: Run, rng: np.random.Generator):
    m = random_mixture(rng)
    x = rng.standard_normal((2, WIDTH), np.float32)
    m.router_x = rng.standard_normal((2, WIDTH), np.float32)
    close(run_mixture(run, x, m), mixed(x, m))


def test_matrices_of_values(run: Run, rng: np.random.Generator):
    """Inputs by outputs, as every product takes values."""
    m = random_mixture(rng)
    x = rng.standard_normal((3, WIDTH), np.float32)
    w = [np.ascontiguousarray(w.T) for w in m.weights.values()]
    got = run(lambda *v: MoeOp(*v, experts=EXPERTS, hidden=HIDDEN, top_k=3), x, *w)
    close(got, mixed(x, m))


@pytest.mark.parametrize("router_format", [Format.Q8_0, Format.F32])
@pytest.mark.parametrize("planes", [1, 2])
def test_quantized_rows(run: Run, rng: np.random.Generator, planes: int, router_format: Format):
    """
    The experts' hidden rows are quantized as x is; a router of blocks reads the quantized rows, another the f32 ones.
    """
    width, hidden = 64, 32
    formats = {"router": router_format, "gate": Format.Q8_0, "up": Format.Q8_0, "down": Format.Q8_0}
    shapes = [(EXPERTS, width), (EXPERTS * hidden, width), (EXPERTS * hidden, width), (EXPERTS * width, hidden)]
    drawn = {
        name: (rng.standard_normal(shape) / sqrt(shape[1])).astype(np.float32)
        for name, shape in zip(formats, shapes, strict=True)
    }
    held, resolved = constants(drawn, formats)
    x = rng.standard_normal((2, width), np.float32)

    def build(v: Any) -> list[Operation]:
        q = QuantizeOp(v, planes)
        moe = MoeOp(
            *(q.result, *(op.result for op in held)),
            experts=EXPERTS,
            hidden=hidden,
            top_k=3,
            router_x=v if router_format is Format.F32 else None,
        )
        return [*held, q, moe]

    kept = {name: decode(formats[name], *w.shape, encode(formats[name], w)) for name, w in drawn.items()}
    m = Mixture({"top_k": 3}, kept)
    m = replace(m, hidden=lambda h: quantize(h.astype(np.float32), planes).dequantize())
    m.router_x = x if router_format is Format.F32 else None
    got = run(build, x, constants=resolved)
    close(got, mixed(quantize(x, planes).dequantize(), m))
    plain = mixed(quantize(x, planes).dequantize(), replace(m, hidden=lambda h: h))
    assert np.abs(got - plain).max() > 1e-3 / 254 ** (planes - 1)


# With a shared expert, as one launch


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("act", [ExpertActivation.SILU, ExpertActivation.GELU])
def test_a_shared_expert(rng: np.random.Generator, act: ExpertActivation, gated: bool):
    """It has a width of its own, and the mixture's activation; its gate is a value a row."""
    m = random_mixture(rng, act=act, renormalize=True)
    x, column = rng.standard_normal((4, WIDTH), np.float32), rng.standard_normal((4, 1), np.float32)
    gate, up, down = (rng.standard_normal(s, np.float32) for s in ((7, WIDTH), (7, WIDTH), (WIDTH, 7)))
    w = m.weights
    got = meanings.mixture(
        x,
        meanings.product(x, w["router"]),
        meanings.Routing(3, renormalize=True),
        meanings.Experts(w["gate"], w["up"], w["down"], HIDDEN, act),
        shared=meanings.SharedExpert(gate, up, down, column if gated else None),
    )
    expected = mixed(x, m)
    for r in range(4):
        h = np.array([JOINED[act](dot(x[r], gate[i]), dot(x[r], up[i])) for i in range(7)])
        factor = logistic(float(column[r, 0])) if gated else 1.0
        for i in range(WIDTH):
            expected[r, i] += factor * dot(h, down[i])
    close(got, expected)


@pytest.mark.parametrize("planes", [1, 2])
def test_a_shared_expert_of_quantized_rows(rng: np.random.Generator, planes: int):
    """Its hidden rows are quantized too: a mixture whose routed experts make nothing leaves the shared one alone."""
    x = rng.standard_normal((2, WIDTH), np.float32)
    gate, up, down = (rng.standard_normal(s, np.float32) for s in ((32, WIDTH), (32, WIDTH), (WIDTH, 32)))
    nothing = meanings.Experts(
        *(np.zeros(s, np.float32) for s in ((64, WIDTH), (64, WIDTH), (2 * WIDTH, 32))), hidden=32
    )
    got = meanings.mixture(
        x,
        np.zeros((2, 2), np.float32),
        meanings.Routing(1),
        nothing,
        hidden_planes=planes,
        shared=meanings.SharedExpert(gate, up, down),
    )
    silu = JOINED[ExpertActivation.SILU]
    h = [[silu(dot(row, gate[i]), dot(row, up[i])) for i in range(32)] for row in x]
    kept = quantize(np.array(h, np.float32), planes).dequantize()
    close(got, np.array([[dot(row, down[i]) for i in range(WIDTH)] for row in kept]))
