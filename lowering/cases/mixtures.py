"""Cases of mixtures of experts: routers, weighing, formats, shared experts, several rows, and what follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.mixture import ExpertActivation
from lanelink.lowering import meanings
from lanelink.lowering.activations import quantize
from lanelink.lowering.cases.case import UNIT, Builder, Case, Doubles, Floats
from lanelink.lowering.cases.norms import EPS, NormShape, build_norm, norm_bound
from lanelink.lowering.cases.products import build_weights, quantized_bound, sum_bound
from lanelink.lowering.meanings.mixture import joined
from lanelink.lowering.selection.moe_specs import ExpertGroups, MoeMatrix, MoeSpec, SharedExpert
from lanelink.lowering.selection.operands import Quantized, Rows, Unnormed

DRAWS = 50
"""Routers drawn until rounding cannot change which experts are taken."""


@dataclass(frozen=True)
class SharedShape:
    """A shared expert: its formats (gate and up, down), its width, and the format of its gate (None: no gate)."""

    format: Format
    hidden: int
    down: Format | None = None
    column: Format | str | None = None


@dataclass(frozen=True)
class MoeShape:
    """A mixture: x of `planes` (0: f32) planes, `rows` rows of `width` values; `router` a format, or "values"; `groups`
    how many, how many of them kept, and how many scores rank one."""

    format: Format
    planes: int
    rows: int
    width: int
    hidden: int
    experts: int
    top_k: int
    up: Format | None = None
    down: Format | None = None
    router: Format | str = Format.F32
    act: ExpertActivation = ExpertActivation.SILU
    renormalize: bool = False
    groups: tuple[int, int, int] | None = None
    scale: float | None = None
    biases: bool = False
    ties: bool = False
    shared: SharedShape | None = None
    plus: bool = False
    units: tuple[int, int] | None = None
    at: int | None = None
    then: NormShape | None = None
    keep: bool = False
    gap: int = 0
    normed: bool = False

    @property
    def name(self) -> str:
        """The shape in words."""
        form = ("f32", "q8", "q8x2")[self.planes]
        formats = "/".join(dict.fromkeys(str(f) for f in (self.format, self.up, self.down) if f))
        words = [f"mixture {formats} x {form} m={self.rows} {self.width}->{self.hidden}"]
        words += [f"{self.top_k} of {self.experts} by {self.router} {self.act.value}"]
        words += [w for w in ("renormalize", "biases", "ties", "plus", "keep", "normed") if getattr(self, w)]
        if self.shared is not None:
            words.append(f"shared {self.shared.format} {self.shared.hidden} gated by {self.shared.column}")
        words += [f"{w} {getattr(self, w)}" for w in ("groups", "scale", "units", "at") if getattr(self, w) is not None]
        return " ".join([*words, f"then {self.then.name}"] if self.then else words)


@dataclass(frozen=True)
class Inputs:
    """The values that products by blocks read, those that plain ones do, their operands, and how far off a launch's own
    values of them may be."""

    x: Floats
    plain: Floats
    operand: Rows | Quantized | Unnormed
    router_x: Rows | None
    off: Doubles
    plain_off: Doubles


@dataclass(frozen=True)
class Column:
    """A router's outputs, or a shared expert's gate's: its matrix, values [m, n], and what they may be off by."""

    matrix: MoeMatrix
    values: Floats
    bound: Doubles


@dataclass(frozen=True)
class Held:
    """An expert's three matrices (or all experts', one after another): values, and where they lie."""

    gate: Floats
    up: Floats
    down: Floats
    matrices: tuple[MoeMatrix, MoeMatrix, MoeMatrix]


def mixture(s: MoeShape, seed: int = 0) -> Case:
    """One mixture, with what follows it in the same launch."""
    b = Builder(seed)
    inputs = _inputs(b, s)
    held = _matrices(b, "expert", (s.format, s.up or s.format, s.down or s.format), s.hidden, s.width, s.experts)
    router_bias = b.normal(s.experts) if s.biases else None
    router = _router(b, s, inputs, router_bias)
    limit = 1.5 if s.act is ExpertActivation.CLAMPED_SWIGLU else None
    biases = [b.normal(s.experts, n) if s.biases else None for n in (s.hidden, s.hidden, s.width)]
    experts = meanings.Experts(held.gate, held.up, held.down, s.hidden, s.act, limit, *biases)
    routing = _routing(s)
    shared, shared_spec, shared_bound = _shared(b, s, inputs)
    y = meanings.mixture(inputs.x, router.values, routing, experts, hidden_planes=s.planes, shared=shared)
    bound = _mixed_bound(s, inputs, router, routing, experts) + shared_bound + 2 * UNIT * np.abs(y)
    plus = b.normal(*y.shape) if s.plus else None
    if plus is not None:
        y = y + plus
        bound = bound + UNIT * np.abs(y)
    spec = MoeSpec(
        x=inputs.operand,
        router_x=inputs.router_x,
        m=s.rows,
        width=s.width,
        experts=s.experts,
        top_k=s.top_k,
        hidden=s.hidden,
        act=s.act,
        router=router.matrix,
        gate=held.matrices[0],
        up=held.matrices[1],
        down=held.matrices[2],
        y=_destination(b, s, y, bound),
        renormalize=s.renormalize,
        groups=None if s.groups is None else ExpertGroups(*s.groups),
        routed_scale=1.0 if s.scale is None else s.scale,
        limit=limit,
        router_bias=b.maybe("router_bias", router_bias),
        gate_bias=b.maybe("gate_bias", biases[0]),
        up_bias=b.maybe("up_bias", biases[1]),
        down_bias=b.maybe("down_bias", biases[2]),
        shared=shared_spec,
        plus=None if plus is None else b.rows("plus", plus, s.gap),
        then=None if s.then is None else build_norm(b, y, bound, s.then),
    )
    return b.done(s.name, spec)


def _inputs(b: Builder, s: MoeShape) -> Inputs:
    x = b.normal(s.rows, s.width)
    if s.normed:
        return _normed_inputs(b, s, x)
    exact = np.zeros(x.shape, np.float64)
    if s.planes == 0:
        return Inputs(x, x, b.rows("x", x, s.gap), None, exact, exact)
    q = quantize(x, s.planes)
    plain = [f for f in (s.router, s.shared and s.shared.column) if f == "values" or _is_plain(f)]
    router_x = b.rows("router_x", x, s.gap) if plain else None
    return Inputs(q.dequantize(), x, Quantized(b.put("x", q.pack()), s.planes), router_x, exact, exact)


def _normed_inputs(b: Builder, s: MoeShape, x: Floats) -> Inputs:
    """x as it is before its norm."""
    weight = b.normal(s.width) if s.hidden % 64 else None
    _, y = meanings.norm(x, EPS, weight)
    off = norm_bound(x, 0.0, weight, EPS)
    operand = Unnormed(b.rows("x", x, s.gap), b.maybe("x_weight", weight), EPS, s.planes)
    if s.planes == 0:
        return Inputs(y, y, operand, None, off, off)
    return Inputs(quantize(y, s.planes).dequantize(), y, operand, None, quantized_bound(y, off, s.planes), off)


def _is_plain(format: Format | str | None) -> bool:
    return isinstance(format, Format) and not format.is_block


def _column(b: Builder, name: str, format: Format | str, n: int, inputs: Inputs, ties: bool = False) -> Column:
    width = inputs.x.shape[1]
    if not isinstance(format, Format):
        w = b.normal(n, width, scale=2 * width**-0.5)
        w = w[np.arange(n) // 2] if ties else w  # each row twice: equal outputs meet at every place of the choice
        x, off, matrix = inputs.plain, inputs.plain_off, MoeMatrix(b.put(name, w.T), None)
    else:
        w, address = build_weights(b, name, format, n, width)
        matrix, plain = MoeMatrix(address, format), _is_plain(format)
        x, off = (inputs.plain, inputs.plain_off) if plain else (inputs.x, inputs.off)
    # Up to 32 ranges of a row are added one after another, which rounds as often as if each value were so much off.
    bound = sum_bound(x, w, off + 32 * UNIT * np.abs(x).astype(np.float64))
    return Column(matrix, meanings.product(x, w), bound)


def _router(b: Builder, s: MoeShape, inputs: Inputs, bias: Floats | None) -> Column:
    """A router whose choice no rounding changes."""
    for _ in range(DRAWS):
        drawn = _column(b, "router", s.router, s.experts, inputs, s.ties)
        values = drawn.values if bias is None else drawn.values + bias
        off = drawn.bound + UNIT * np.abs(values)
        if _is_clear(s, values.astype(np.float64), off.max(axis=1)):
            return Column(drawn.matrix, values, off)
    raise ValueError(f"{s.name}: expected a router with a clear choice in {DRAWS} draws, got none")


def _is_clear(s: MoeShape, logits: Doubles, off: Doubles) -> bool:
    """Whether outputs [m, E] that are off by at most `off` [m] are chosen from as exact ones are."""
    open_logits = logits
    if s.groups is not None:
        count, kept, best = s.groups
        in_groups = logits.reshape(s.rows, count, -1)
        sums = np.sort(np.exp(in_groups - logits.max(axis=1)[:, None, None]), axis=2)[..., -best:].sum(axis=2)
        # Of one score its logarithm's order; of several, each is off by its two outputs' and a few roundings.
        ranks, wrong = (in_groups.max(axis=2), off) if best == 1 else (np.log(sums), 2 * off + 16 * UNIT)
        if not _parted(ranks, kept, wrong):
            return False
        first = np.argsort(-ranks, axis=1, kind="stable")[:, :kept]
        open_logits = np.take_along_axis(in_groups, first[..., None], axis=1).reshape(s.rows, -1)
    return _parted(open_logits, s.top_k, off)


def _parted(values: Doubles, taken: int, off: Doubles) -> bool:
    """Whether each row's last taken value and its first left differ by what rounding cannot undo, or not at all: what
    is equal to the bit stays so."""
    ranked = -np.sort(-values, axis=1)
    if taken == ranked.shape[1]:
        return True
    gaps = ranked[:, taken - 1] - ranked[:, taken]
    return bool(((gaps == 0) | (gaps > 2 * off)).all())


def _routing(s: MoeShape) -> meanings.Routing:
    groups, kept, best = s.groups or (1, 1, 1)
    scale = 1.0 if s.scale is None else s.scale
    return meanings.Routing(
        s.top_k, renormalize=s.renormalize, routed_scale=scale, groups=(groups, kept), group_best=best
    )


def _matrices(
    b: Builder, name: str, formats: tuple[Format, Format, Format], hidden: int, width: int, count: int
) -> Held:
    sizes = ((count * hidden, width), (count * hidden, width), (count * width, hidden))
    values: list[Floats] = []
    places: list[MoeMatrix] = []
    for part, format, (n, k) in zip(("gate", "up", "down"), formats, sizes, strict=True):
        w, address = build_weights(b, f"{name}_{part}", format, n, k)
        values.append(w)
        places.append(MoeMatrix(address, format))
    return Held(values[0], values[1], values[2], (places[0], places[1], places[2]))


def _shared(
    b: Builder, s: MoeShape, inputs: Inputs
) -> tuple[meanings.SharedExpert | None, SharedExpert | None, Doubles | float]:
    if s.shared is None:
        return None, None, 0.0
    shape = s.shared
    held = _matrices(b, "shared", (shape.format, shape.format, shape.down or shape.format), shape.hidden, s.width, 1)
    column = None if shape.column is None else _column(b, "column", shape.column, 1, inputs)
    meaning = meanings.SharedExpert(held.gate, held.up, held.down, None if column is None else column.values)
    spec = SharedExpert(shape.hidden, *held.matrices, None if column is None else column.matrix)
    limit = 1.5 if s.act is ExpertActivation.CLAMPED_SWIGLU else None
    one = meanings.Experts(held.gate, held.up, held.down, shape.hidden, s.act, limit)
    made, off = _expert_bound(s, inputs.x, inputs.off, one, 0)
    if column is None:
        return meaning, spec, off + UNIT * made
    # A sigmoid's slope is at most 1/4; it rounds a few times.
    return meaning, spec, off + made * (column.bound / 4 + 8 * UNIT)


def _mixed_bound(
    s: MoeShape, inputs: Inputs, router: Column, routing: meanings.Routing, experts: meanings.Experts
) -> Doubles:
    """What the weighed sum of the experts may be off by: each expert's, and its weight's times what it makes."""
    chosen, weights = meanings.route(router.values, routing)
    total = np.zeros(inputs.x.shape, np.float64)
    # exp(l - max) over a sum: both logits are off by the bound, the exponent rounds in proportion to itself, the sum
    # adds E / 32 terms one after another and 5 times across lanes, a weight counts once above and once below, and the
    # scale of them all rounds once.
    span = np.ptp(router.values.astype(np.float64), axis=1)
    off = 4 * router.bound.max(axis=1) + (2 * span + s.experts / 32 + 25) * UNIT
    for expert in np.unique(chosen):
        rows, places = np.nonzero(chosen == expert)
        made, bound = _expert_bound(s, inputs.x[rows], inputs.off[rows], experts, int(expert))
        weight = weights[rows, places][:, None]
        # The weighed terms are added one after another, over groups and the warps that share them.
        total[rows] += weight * (bound + made * (off[rows][:, None] + (s.top_k + 16) * UNIT))
    return total


def _expert_bound(
    s: MoeShape, x: Floats, x_off: Doubles, experts: meanings.Experts, index: int
) -> tuple[Doubles, Doubles]:
    """(The size of what an expert makes of x, what it may be off by): [m, width] each; x itself is `x_off` off."""
    hidden, width = experts.hidden, x.shape[1]

    def of(held: Floats, each: int) -> Floats:
        return held[index * each : (index + 1) * each]

    gate, up, down = of(experts.gate, hidden), of(experts.up, hidden), of(experts.down, width)
    g, u = x.astype(np.float64) @ gate.T.astype(np.float64), x.astype(np.float64) @ up.T.astype(np.float64)
    gate_off, up_off = sum_bound(x, gate, x_off), sum_bound(x, up, x_off)
    if experts.gate_bias is not None and experts.up_bias is not None:
        g, u = g + experts.gate_bias[index], u + experts.up_bias[index]
        gate_off, up_off = gate_off + UNIT * np.abs(g), up_off + UNIT * np.abs(u)
    h = joined(experts.act, g, u, experts.limit)
    # Every activation's slope is at most 1.13, it grows at most as its argument, and clamping only lessens both; the
    # clamped one multiplies by up + 1.
    times = np.abs(u) + 1
    off = 1.2 * gate_off * times + (np.abs(g) + 1) * up_off + 1.2 * gate_off * up_off + 16 * UNIT * (np.abs(h) + times)
    if s.planes:
        off = quantized_bound(h.astype(np.float32), off, s.planes)
        h = quantize(h.astype(np.float32), s.planes).dequantize().astype(np.float64)
    made = h @ down.T.astype(np.float64)
    bound = sum_bound(h.astype(np.float32), down, off + UNIT * np.abs(h))
    if experts.down_bias is not None:
        made = made + experts.down_bias[index]
        bound = bound + UNIT * np.abs(made)
    return np.abs(made), bound


def _destination(b: Builder, s: MoeShape, y: Floats, bound: Doubles) -> Rows | None:
    """Where the rows land: a buffer of their own, rows of a table, units of a wider one, or nowhere."""
    if s.then is not None and not s.keep:
        return None
    if s.units is not None:
        pitch, offset = s.units
        before = b.normal(s.rows, pitch)
        after, off = before.copy(), np.zeros(before.shape)
        after[:, offset : offset + s.width] = y
        off[:, offset : offset + s.width] = bound
        wide = b.out("y", after, off)
        b.put("y", before)
        return Rows(wide.address.at(4 * offset), pitch)
    if s.at is not None:
        b.index("position", s.at)
        return b.table("y", y, bound, s.at, "position", s.at + s.rows + 1)
    return b.out("y", y, bound)


__all__ = ["MoeShape", "SharedShape", "mixture"]
