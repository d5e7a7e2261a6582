"""
Steps of delta-rule layers at level 1 as texts, shaped as Qwen3-Next's: three value heads a key head, a token's
embedding before them, greedy choice after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH, VOCABULARY, TAPS, HEAD = 64, 96, 4, 32
KEY_HEADS, VALUE_HEADS = 2, 6
KEYS, VALUES = KEY_HEADS * HEAD, VALUE_HEADS * HEAD
BOTH = 2 * KEYS + VALUES
"""Channels of one convolution of queries, keys and values."""


@dataclass
class _Writer:
    """Collects a step's constants, states and lines; `rows` of the step, `format` of its matrices."""

    rows: int
    format: str
    constants: dict[str, str] = field(default_factory=dict[str, str])
    states: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    lines: list[str] = field(default_factory=list[str])

    def kind(self, width: int) -> str:
        return f"tensor<{self.rows}x{width}xf32>"

    def constant(self, name: str, kind: str) -> str:
        self.constants[name] = kind
        return f"%{name}"

    def state(self, name: str, kind: str, after: str) -> str:
        self.states[name] = (kind, after)
        return f"%{name}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def product(self, y: str, x: str, n: int, k: int, weight: str | None = None) -> str:
        """By checkpoint rows of the step's format, or by the plain values [k, n] of the name `weight`."""
        kind = f"tensor<{k}x{n}xf32>" if weight else f"!tgraph.rows<{self.format}, {n}x{k}, transposed>"
        w = self.constant(weight or f"w{y}", kind)
        self.line(f"%{y} = tgraph.matmul {x}, {w} : ({self.kind(k)}, {kind}) -> {self.kind(n)}")
        return f"%{y}"

    def norm(self, y: str, x: str) -> str:
        w = self.constant(f"n{y}", f"tensor<{WIDTH}xf32>")
        of = f"weight {w} : tensor<{WIDTH}xf32> cols {WIDTH} eps 1.000000e-06"
        self.line(f"%{y} = tgraph.fused_row rms {x} {of} : {self.kind(WIDTH)}")
        return f"%{y}"

    def convolved(self, name: str, x: str, channels: int) -> str:
        """A convolution of its own ring, then silu."""
        weight, ring, kind = f"tensor<{channels}x{TAPS}xf32>", f"tensor<{TAPS - 1}x{channels}xf32>", self.kind(channels)
        w, before = self.constant(f"taps{name}", weight), self.state(f"ring{name}", ring, f"%after{name}")
        operands = f"{x}, {w}, {before} : ({kind}, {weight}, {ring}) -> ({kind}, {ring})"
        self.line(f"%c{name}, %after{name} = tgraph.causal_conv {operands}")
        self.line(f"%s{name} = tgraph.silu %c{name} : {kind} -> {kind}")
        return f"%s{name}"

    def l2(self, y: str, x: str) -> str:
        kind = self.kind(KEYS)
        self.line(f"%{y} = tgraph.l2norm {x} cols {HEAD} eps 1.000000e-06 : {kind} -> {kind}")
        return f"%{y}"

    def rule(self, k: int, sides: Sequence[str], b: str, a: str) -> str:
        """The gates of b and a, and the rule of queries, keys, values and output gates."""
        heads, gate = f"tensor<{VALUE_HEADS}xf32>", self.kind(VALUE_HEADS)
        dt, al = self.constant(f"dt{k}", heads), self.constant(f"al{k}", heads)
        self.line(f"%beta{k} = tgraph.sigmoid {b} : {gate} -> {gate}")
        self.line(f"%decay{k} = tgraph.decay {a}, {dt}, {al} : ({gate}, {heads}, {heads}) -> {gate}")
        state, weight = f"tensor<{VALUES}x{HEAD}xf32>", f"tensor<{HEAD}xf32>"
        s, w = self.state(f"state{k}", state, f"%new{k}"), self.constant(f"gn{k}", weight)
        keys, values = self.kind(KEYS), self.kind(VALUES)
        self.line(
            f"%y{k}, %new{k} = tgraph.gated_delta silu {', '.join(sides)}, %beta{k}, %decay{k}, {s}, {w} value_heads "
            f"{VALUE_HEADS} key_heads {KEY_HEADS} head_dim {HEAD} eps 1.000000e-06 : ({keys}, {keys}, {values}, "
            f"{values}, {gate}, {gate}, {state}, {weight}) -> ({values}, {state})"
        )
        return f"%y{k}"

    def residual(self, k: int, x: str, y: str) -> str:
        kind = self.kind(WIDTH)
        o = self.product(f"o{k}", y, WIDTH, VALUES)
        self.line(f"%x{k} = tgraph.elementwise add {x}, {o} : ({kind}, {kind}) -> {kind}")
        return f"%x{k}"


def _apart(w: _Writer, k: int, h: str) -> str:
    """A layer as the importer writes it: a convolution a side, gates by plain values."""
    widths = {"q": KEYS, "k": KEYS, "v": VALUES}
    made = {side: w.product(f"{side}{k}", h, n, WIDTH) for side, n in widths.items()}
    z = w.product(f"z{k}", h, VALUES, WIDTH)
    q, key, v = (w.convolved(f"{side}{k}", made[side], n) for side, n in widths.items())
    b, a = (w.product(f"{gate}{k}", h, VALUE_HEADS, WIDTH, f"w{gate}{k}") for gate in ("b", "a"))
    return w.rule(k, (w.l2(f"ql{k}", q), w.l2(f"kl{k}", key), v, z), b, a)


def _joined(w: _Writer, k: int, h: str) -> str:
    """A layer as the model's own program has it: one product and one convolution of all sides, cut up afterwards;
    gates by checkpoint rows."""
    all_sides = w.convolved(f"qkv{k}", w.product(f"p{k}", h, BOTH, WIDTH), BOTH)
    z = w.product(f"z{k}", h, VALUES, WIDTH)
    cut: list[str] = []
    for side, start, n in (("q", 0, KEYS), ("k", KEYS, KEYS), ("v", 2 * KEYS, VALUES)):
        part = f"start {start} width {n} every {BOTH} : {w.kind(BOTH)} -> {w.kind(n)}"
        w.line(f"%{side}{k} = tgraph.head_slice {all_sides} {part}")
        cut.append(f"%{side}{k}")
    b, a = (w.product(f"{gate}{k}", h, VALUE_HEADS, WIDTH) for gate in ("b", "a"))
    return w.rule(k, (w.l2(f"ql{k}", cut[0]), w.l2(f"kl{k}", cut[1]), cut[2], z), b, a)


LAYERS = {"apart": _apart, "joined": _joined}


def delta_step(layers: Sequence[str], rows: int = 1, format: str = "bf16") -> str:
    """A step of `rows` tokens through delta layers of these kinds (`LAYERS`): logits, and all states carried."""
    w = _Writer(rows, format)
    table = w.constant("embed", f"!tgraph.rows<bf16, {VOCABULARY}x{WIDTH}>")
    x = "%x"
    w.line(
        f"%x = tgraph.rows_gather {table} at %token : (!tgraph.rows<bf16, {VOCABULARY}x{WIDTH}>, tensor<{rows}xi32>) "
        f"-> {w.kind(WIDTH)}"
    )
    for k, kind in enumerate(layers):
        x = w.residual(k, x, LAYERS[kind](w, k, w.norm(f"h{k}", x)))
    logits = w.product("logits", w.norm("last", x), VOCABULARY, WIDTH)
    w.line(f"%next = tgraph.arg_max {logits} : {w.kind(VOCABULARY)} -> tensor<{rows}xi32>")
    arguments = [f"%token: tensor<{rows}xi32> {{tgraph.token}}"]
    arguments += [f'%{name}: {kind} {{tgraph.state = "{name}"}}' for name, (kind, _) in w.states.items()]
    results = [("%next", f"tensor<{rows}xi32>", "tgraph.carry = 0 : i64")]
    results += [(after, kind, f"tgraph.carry = {i} : i64") for i, (kind, after) in enumerate(w.states.values(), 1)]
    results.append((logits, w.kind(VOCABULARY), "tgraph.logits"))
    types = ", ".join(f"{kind} {{{mark}}}" for _, kind, mark in results)
    head = f"func.func @step({', '.join(arguments)}) -> ({types}) {{"
    body = [f'%{name} = tgraph.constant #tgraph.checkpoint<"{name}"> : {kind}' for name, kind in w.constants.items()]
    end = f"func.return {', '.join(v for v, _, _ in results)} : {', '.join(kind for _, kind, _ in results)}"
    return "\n".join([head, *body, *w.lines, end, "}"])


__all__ = ["LAYERS", "VOCABULARY", "delta_step"]
