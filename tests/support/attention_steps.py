"""
Steps of attention layers at level 1 as texts, a token's embedding before them and greedy choice after: Qwen3-Next's
gated attention, gpt-oss's with sinks, biases and windows, DeepSeek-V2's over a latent table.
"""

from __future__ import annotations

from collections.abc import Sequence

from step_writer import HEAD, VOCABULARY, WIDTH, Layer, StepWriter, written_step

HEADS, KEY_HEADS = 4, 2
QUERIES, KEYS = HEADS * HEAD, KEY_HEADS * HEAD
LATENT, NOPE, TURNED, VALUE = 64, 32, 32, 32
"""Of a latent row its own values; of a head those scored against them, those that turn, and its output's."""


def _gated(w: StepWriter, k: int, h: str) -> str:
    """A head of the query's product is the query and its gate."""
    both = w.product(f"qg{k}", h, 2 * QUERIES)
    q, gate = (w.part(f"{s}{k}", both, i * HEAD, HEAD, 2 * HEAD, 2 * QUERIES) for i, s in enumerate("qg"))
    q = w.turned(f"qr{k}", w.norm(f"qn{k}", q, QUERIES, HEAD), HEADS)
    key = w.turned(f"kr{k}", w.norm(f"kn{k}", w.product(f"k{k}", h, KEYS), KEYS, HEAD), KEY_HEADS)
    keys, values = w.table(f"keys{k}", key, KEYS), w.table(f"values{k}", w.product(f"v{k}", h, KEYS), KEYS)
    a = w.attention(f"a{k}", q, (keys, values), (HEADS, KEY_HEADS, HEAD, HEAD))
    act = w.made(f"s{k}", "sigmoid", QUERIES, (gate, QUERIES))
    return w.product(f"o{k}", w.made(f"y{k}", "elementwise mul", QUERIES, (a, QUERIES), (act, QUERIES)), WIDTH, QUERIES)


def _batch(w: StepWriter, k: int, h: str, is_gated: bool = False) -> str:
    """Each row of the step a sequence with tables of its own, all at one position; gated together or not."""
    q = w.product(f"q{k}", h, QUERIES)
    q = w.norm(f"qn{k}", q, QUERIES, HEAD)
    sides = {"keys": w.product(f"k{k}", h, KEYS), "values": w.product(f"v{k}", h, KEYS)}
    one = StepWriter(1, w.format, w.context, w.constants, w.states, w.lines)
    made: list[str] = []
    for row in range(w.rows):
        keys, values = (
            one.table(f"{s}{k}r{row}", w.row(f"{s[0]}{k}r{row}", x, row, KEYS), KEYS) for s, x in sides.items()
        )
        mine = w.row(f"q{k}r{row}", q, row, QUERIES)
        made.append(one.attention(f"a{k}r{row}", mine, (keys, values), (HEADS, KEY_HEADS, HEAD, HEAD)))
    together, kind = q, w.kind(QUERIES)
    for row, a in enumerate(made):
        types = f"({kind}, {one.kind(QUERIES)}) -> {kind}"
        w.lines.append(f"%t{k}r{row} = tgraph.set_row {together}, {a} row {row} : {types}")
        together = f"%t{k}r{row}"
    if not is_gated:
        return w.product(f"o{k}", together, WIDTH, QUERIES)
    act = w.made(f"s{k}", "sigmoid", QUERIES, (w.product(f"g{k}", h, QUERIES), QUERIES))
    gated = w.made(f"y{k}", "elementwise mul", QUERIES, (together, QUERIES), (act, QUERIES))
    return w.product(f"o{k}", gated, WIDTH, QUERIES)


def _sinks(w: StepWriter, k: int, h: str) -> str:
    """Biases, sinks, and a sliding window in every other layer."""
    q = w.turned(f"qr{k}", w.product(f"q{k}", h, QUERIES, bias=True), HEADS)
    key = w.turned(f"kr{k}", w.product(f"k{k}", h, KEYS, bias=True), KEY_HEADS)
    keys = w.table(f"keys{k}", key, KEYS)
    values = w.table(f"values{k}", w.product(f"v{k}", h, KEYS, bias=True), KEYS)
    sinks = w.constant(f"sinks{k}", f"tensor<{HEADS}xf32>")
    window, of = "window 4 " if k % 2 else "", f"sinks {sinks} : tensor<{HEADS}xf32> "
    a = w.attention(f"a{k}", q, (keys, values), (HEADS, KEY_HEADS, HEAD, HEAD), window, of)
    return w.product(f"o{k}", a, WIDTH, QUERIES, bias=True)


def _usual(w: StepWriter, k: int, h: str, head: int = 64) -> str:
    """Qwen3's: heads of 64 values, normed and turned; a window in every other layer."""
    queries, width = HEADS * head, KEY_HEADS * head
    q = w.turned(f"qr{k}", w.norm(f"qn{k}", w.product(f"q{k}", h, queries), queries, head), HEADS, head)
    key = w.turned(f"kr{k}", w.norm(f"kn{k}", w.product(f"k{k}", h, width), width, head), KEY_HEADS, head)
    keys, values = w.table(f"keys{k}", key, width), w.table(f"values{k}", w.product(f"v{k}", h, width), width)
    a = w.attention(f"a{k}", q, (keys, values), (HEADS, KEY_HEADS, head, head), "window 4 " if k % 2 else "")
    return w.product(f"o{k}", a, WIDTH, queries)


def _latent(w: StepWriter, k: int, h: str) -> str:
    """Absorbed over a table of latent rows, each with a rotated key that all heads share."""
    row, query = LATENT + TURNED, NOPE + TURNED
    both = w.product(f"kv{k}", h, row)
    c = w.norm(f"cn{k}", w.part(f"c{k}", both, 0, LATENT, row, row), LATENT, LATENT)
    key = w.turned(f"kr{k}", w.part(f"ke{k}", both, LATENT, TURNED, row, row), 1, TURNED)
    joined = w.made(f"row{k}", "join", row, (c, LATENT), (key, TURNED), words="heads 1 ")
    table = w.table(f"latents{k}", joined, row)
    q = w.product(f"q{k}", h, HEADS * query)
    unturned = w.part(f"qn{k}", q, 0, NOPE, query, HEADS * query)
    turned = w.turned(f"qr{k}", w.part(f"qe{k}", q, NOPE, TURNED, query, HEADS * query), HEADS, TURNED)
    absorbed = _by_heads(w, f"qb{k}", unturned, NOPE, LATENT, transposed=False)
    words = f"heads {HEADS} "
    q = w.made(f"qj{k}", "join", HEADS * row, (absorbed, HEADS * LATENT), (turned, HEADS * TURNED), words=words)
    kinds = f"tensor<{w.context}x{row}xf32> -> tensor<{w.context}x{LATENT}xf32>"
    w.lines.append(f"%lv{k} = tgraph.head_slice {table} start 0 width {LATENT} every {row} : {kinds}")
    a = w.attention(f"a{k}", q, (table, f"%lv{k}"), (HEADS, 1, row, LATENT), f"scale {query**-0.5:e} ")
    return w.product(f"o{k}", _by_heads(w, f"ov{k}", a, LATENT, VALUE, transposed=True), WIDTH, HEADS * VALUE)


def _by_heads(w: StepWriter, y: str, x: str, inputs: int, outputs: int, transposed: bool) -> str:
    """One matrix a head, each stored row an output where `transposed`, else an input."""
    n, k = (HEADS * outputs, inputs) if transposed else (HEADS * inputs, outputs)
    m, kind = w.matrix(f"w{y}", n, k, transposed)
    types = f"({w.kind(HEADS * inputs)}, {kind}) -> {w.kind(HEADS * outputs)}"
    w.lines.append(f"%{y} = tgraph.head_matmul {x}, {m} heads {HEADS} inputs {inputs} outputs {outputs} : {types}")
    return f"%{y}"


LAYERS: dict[str, Layer] = {
    "gated": _gated,
    "batch": _batch,
    "gated batch": lambda w, k, h: _batch(w, k, h, is_gated=True),
    "sinks": _sinks,
    "usual": _usual,
    "latent": _latent,
}


def attention_step(layers: Sequence[str], rows: int = 1, context: int = 16, format: str = "bf16") -> str:
    """A step of `rows` tokens through attention layers of these kinds (`LAYERS`)."""
    return written_step(StepWriter(rows, format, context), [LAYERS[kind] for kind in layers])


__all__ = ["VOCABULARY", "attention_step"]
