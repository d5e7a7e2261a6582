"""
Steps of a batch at level 1 as texts: row s is sequence s's, with tables, states and a position of its own; a token's
embedding before the layers and greedy choice after.
"""

from __future__ import annotations

from collections.abc import Sequence

from step_writer import HEAD, VOCABULARY, WIDTH, Layer, StepWriter, written_step

HEADS, KEY_HEADS, TAPS = 4, 2, 4
QUERIES, KEYS = HEADS * HEAD, KEY_HEADS * HEAD
INDEX = "tensor<1xi32>"


def _one(w: StepWriter) -> StepWriter:
    """A writer of one sequence's rows into the same step."""
    return StepWriter(1, w.format, w.context, w.constants, w.states, w.lines)


def _put_together(w: StepWriter, y: str, rows: Sequence[str], width: int, start: str) -> str:
    """Rows of one each as one tensor, in the place of `start`."""
    kind, row = w.kind(width), _one(w).kind(width)
    for s, each in enumerate(rows):
        w.lines.append(f"%{y}r{s} = tgraph.set_row {start}, {each} row {s} : ({kind}, {row}) -> {kind}")
        start = f"%{y}r{s}"
    return start


def _position(w: StepWriter, s: int) -> str:
    """Sequence s's position: the step's own for the first, a state that moves by s for each other."""
    if s == 0:
        return "%pos"
    if f"pos{s}" not in w.states:
        w.state(f"pos{s}", INDEX, f"%moved{s}")
        w.lines.append(f"%moved{s} = tgraph.advance %pos{s} by {s} : ({INDEX}) -> {INDEX}")
    return f"%pos{s}"


def _attention(w: StepWriter, k: int, h: str) -> str:
    """Qwen3's: queries and keys normed by heads and turned, at the sequence's position; attention; one product."""
    q, key, value = (w.product(f"{x}{k}", h, n) for x, n in (("q", QUERIES), ("k", KEYS), ("v", KEYS)))
    one, made = _one(w), list[str]()
    for s in range(w.rows):
        at, name = _position(w, s), f"{k}s{s}"
        mine = {x: w.row(f"{x}{name}", rows, s, n) for x, rows, n in (("q", q, QUERIES), ("k", key, KEYS))}
        turned = {
            x: one.turned(f"{x}r{name}", one.norm(f"{x}n{name}", row, n, HEAD, weight=f"{x}n{k}"), n // HEAD, at=at)
            for (x, row), n in zip(mine.items(), (QUERIES, KEYS), strict=True)
        }
        keys = one.table(f"keys{name}", turned["k"], KEYS, at)
        values = one.table(f"values{name}", w.row(f"v{name}", value, s, KEYS), KEYS, at)
        made.append(one.attention(f"a{name}", turned["q"], (keys, values), (HEADS, KEY_HEADS, HEAD, HEAD), at=at))
    return w.product(f"o{k}", _put_together(w, f"t{k}", made, QUERIES, q), WIDTH, QUERIES)


def _rule(w: StepWriter, k: int, h: str) -> str:
    """Qwen3-Next's linear attention: convolutions with rings of the sequence's own, its delta rule; one product."""
    widths = {"q": KEYS, "k": KEYS, "v": QUERIES, "z": QUERIES}
    rows = {x: w.product(f"{x}{k}", h, n) for x, n in widths.items()}
    beta, decay = (w.product(f"{x}{k}", h, HEADS) for x in "ba")
    heads, gate = f"tensor<{HEADS}xf32>", w.kind(HEADS)
    dt, al = w.constant(f"dt{k}", heads), w.constant(f"al{k}", heads)
    w.lines.append(f"%beta{k} = tgraph.sigmoid {beta} : {gate} -> {gate}")
    w.lines.append(f"%decay{k} = tgraph.decay {decay}, {dt}, {al} : ({gate}, {heads}, {heads}) -> {gate}")
    one, made = _one(w), list[str]()
    state, weight = f"tensor<{QUERIES}x{HEAD}xf32>", f"tensor<{HEAD}xf32>"
    norm = w.constant(f"gn{k}", weight)
    for s in range(w.rows):
        name = f"{k}s{s}"
        mine = {x: w.row(f"{x}{name}", rows[x], s, n) for x, n in widths.items()}
        q, key, value = (_convolved(one, f"{x}{name}", mine[x], widths[x], f"taps{x}{k}") for x in "qkv")
        normed = [one.made(f"{x}l{name}", "l2norm", KEYS, (y, KEYS), words=L2) for x, y in (("q", q), ("k", key))]
        gates = [w.row(f"{x}{name}", f"%{x}{k}", s, HEADS) for x in ("beta", "decay")]
        held = w.state(f"state{name}", state, f"%new{name}")
        kinds = ", ".join(one.kind(n) for n in (KEYS, KEYS, QUERIES, QUERIES, HEADS, HEADS))
        sides = ", ".join([*normed, value, mine["z"], *gates])
        w.lines.append(
            f"%y{name}, %new{name} = tgraph.gated_delta silu {sides}, {held}, {norm} value_heads {HEADS} "
            f"key_heads {KEY_HEADS} head_dim {HEAD} eps 1.000000e-06 : "
            f"({kinds}, {state}, {weight}) -> ({one.kind(QUERIES)}, {state})"
        )
        made.append(f"%y{name}")
    return w.product(f"o{k}", _put_together(w, f"t{k}", made, QUERIES, rows["v"]), WIDTH, QUERIES)


L2 = f"cols {HEAD} eps 1.000000e-06 "


def _convolved(w: StepWriter, name: str, x: str, channels: int, taps: str) -> str:
    """A convolution of its own ring, then silu."""
    weight, ring, kind = f"tensor<{channels}x{TAPS}xf32>", f"tensor<{TAPS - 1}x{channels}xf32>", w.kind(channels)
    before = w.state(f"ring{name}", ring, f"%after{name}")
    operands = f"{x}, {w.constant(taps, weight)}, {before} : ({kind}, {weight}, {ring}) -> ({kind}, {ring})"
    w.lines.append(f"%c{name}, %after{name} = tgraph.causal_conv {operands}")
    return w.made(f"s{name}", "silu", channels, (f"%c{name}", channels))


LAYERS: dict[str, Layer] = {"attention": _attention, "rule": _rule}


def batch_step(layers: Sequence[str], sequences: int = 3, context: int = 16, format: str = "bf16") -> str:
    """
    A step of a row of each of `sequences` sequences through layers of these kinds (`LAYERS`). From one step to the next
    the first sequence's position moves by their number, that of sequence s by s.
    """
    return written_step(StepWriter(sequences, format, context), [LAYERS[kind] for kind in layers])


__all__ = ["VOCABULARY", "batch_step"]
