"""
Steps of delta-rule layers at level 1 as texts, shaped as Qwen3-Next's: three value heads a key head, a token's
embedding before them, greedy choice after.
"""

from __future__ import annotations

from collections.abc import Sequence

from step_writer import HEAD, VOCABULARY, WIDTH, Layer, StepWriter, written_step

TAPS, KEY_HEADS, VALUE_HEADS = 4, 2, 6
KEYS, VALUES = KEY_HEADS * HEAD, VALUE_HEADS * HEAD
BOTH = 2 * KEYS + VALUES
"""Channels of one convolution of queries, keys and values."""


def _by_values(w: StepWriter, y: str, x: str) -> str:
    """A gate's product by plain values."""
    kind = f"tensor<{WIDTH}x{VALUE_HEADS}xf32>"
    weight = w.constant(f"w{y}", kind)
    w.lines.append(f"%{y} = tgraph.matmul {x}, {weight} : ({w.kind(WIDTH)}, {kind}) -> {w.kind(VALUE_HEADS)}")
    return f"%{y}"


def _convolved(w: StepWriter, name: str, x: str, channels: int) -> str:
    """A convolution of its own ring, then silu."""
    weight, ring, kind = f"tensor<{channels}x{TAPS}xf32>", f"tensor<{TAPS - 1}x{channels}xf32>", w.kind(channels)
    taps, before = w.constant(f"taps{name}", weight), w.state(f"ring{name}", ring, f"%after{name}")
    operands = f"{x}, {taps}, {before} : ({kind}, {weight}, {ring}) -> ({kind}, {ring})"
    w.lines.append(f"%c{name}, %after{name} = tgraph.causal_conv {operands}")
    w.lines.append(f"%s{name} = tgraph.silu %c{name} : {kind} -> {kind}")
    return f"%s{name}"


def _l2(w: StepWriter, y: str, x: str) -> str:
    kind = w.kind(KEYS)
    w.lines.append(f"%{y} = tgraph.l2norm {x} cols {HEAD} eps 1.000000e-06 : {kind} -> {kind}")
    return f"%{y}"


def _rule(w: StepWriter, k: int, sides: Sequence[str], b: str, a: str) -> str:
    """The gates of b and a, the rule of queries, keys, values and output gates, and its output product."""
    heads, gate = f"tensor<{VALUE_HEADS}xf32>", w.kind(VALUE_HEADS)
    dt, al = w.constant(f"dt{k}", heads), w.constant(f"al{k}", heads)
    w.lines.append(f"%beta{k} = tgraph.sigmoid {b} : {gate} -> {gate}")
    w.lines.append(f"%decay{k} = tgraph.decay {a}, {dt}, {al} : ({gate}, {heads}, {heads}) -> {gate}")
    state, weight = f"tensor<{VALUES}x{HEAD}xf32>", f"tensor<{HEAD}xf32>"
    s, norm = w.state(f"state{k}", state, f"%new{k}"), w.constant(f"gn{k}", weight)
    keys, values = w.kind(KEYS), w.kind(VALUES)
    w.lines.append(
        f"%y{k}, %new{k} = tgraph.gated_delta silu {', '.join(sides)}, %beta{k}, %decay{k}, {s}, {norm} value_heads "
        f"{VALUE_HEADS} key_heads {KEY_HEADS} head_dim {HEAD} eps 1.000000e-06 : ({keys}, {keys}, {values}, "
        f"{values}, {gate}, {gate}, {state}, {weight}) -> ({values}, {state})"
    )
    return w.product(f"o{k}", f"%y{k}", WIDTH, VALUES)


def _apart(w: StepWriter, k: int, h: str) -> str:
    """A layer as the importer writes it: a convolution a side, gates by plain values."""
    widths = {"q": KEYS, "k": KEYS, "v": VALUES}
    made = {side: w.product(f"{side}{k}", h, n) for side, n in widths.items()}
    z = w.product(f"z{k}", h, VALUES)
    q, key, v = (_convolved(w, f"{side}{k}", made[side], n) for side, n in widths.items())
    b, a = (_by_values(w, f"{gate}{k}", h) for gate in ("b", "a"))
    return _rule(w, k, (_l2(w, f"ql{k}", q), _l2(w, f"kl{k}", key), v, z), b, a)


def _joined(w: StepWriter, k: int, h: str) -> str:
    """A layer as the model's own program has it: one product and one convolution of all sides, cut up afterwards;
    gates by checkpoint rows."""
    all_sides = _convolved(w, f"qkv{k}", w.product(f"p{k}", h, BOTH), BOTH)
    z = w.product(f"z{k}", h, VALUES)
    cut: list[str] = []
    for side, start, n in (("q", 0, KEYS), ("k", KEYS, KEYS), ("v", 2 * KEYS, VALUES)):
        part = f"start {start} width {n} every {BOTH} : {w.kind(BOTH)} -> {w.kind(n)}"
        w.lines.append(f"%{side}{k} = tgraph.head_slice {all_sides} {part}")
        cut.append(f"%{side}{k}")
    b, a = (w.product(f"{gate}{k}", h, VALUE_HEADS) for gate in ("b", "a"))
    return _rule(w, k, (_l2(w, f"ql{k}", cut[0]), _l2(w, f"kl{k}", cut[1]), cut[2], z), b, a)


LAYERS: dict[str, Layer] = {"apart": _apart, "joined": _joined}


def delta_step(layers: Sequence[str], rows: int = 1, format: str = "bf16") -> str:
    """A step of `rows` tokens through delta layers of these kinds (`LAYERS`)."""
    return written_step(StepWriter(rows, format), [LAYERS[kind] for kind in layers], positioned=False)


__all__ = ["VOCABULARY", "delta_step"]
