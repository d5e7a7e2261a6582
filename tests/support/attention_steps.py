"""
Steps of attention layers at level 1 as texts, a token's embedding before them and greedy choice after: Qwen3-Next's
gated attention, gpt-oss's with sinks, biases and windows, DeepSeek-V2's over a latent table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WIDTH, VOCABULARY = 64, 96
HEADS, KEY_HEADS, HEAD = 4, 2, 32
QUERIES, KEYS = HEADS * HEAD, KEY_HEADS * HEAD
LATENT, NOPE, TURNED, VALUE = 64, 32, 32, 32
"""Of a latent row its own values; of a head those scored against them, those that turn, and its output's."""


@dataclass
class StepWriter:
    """
    Collects a step's constants, states and lines: `rows` of the step, `context` of its tables, a `format` of its
    matrices.
    """

    rows: int
    context: int
    format: str
    constants: dict[str, str] = field(default_factory=dict[str, str])
    states: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    lines: list[str] = field(default_factory=list[str])

    def kind(self, width: int) -> str:
        """The type of the step's rows."""
        return f"tensor<{self.rows}x{width}xf32>"

    def constant(self, name: str, kind: str) -> str:
        self.constants[name] = kind
        return f"%{name}"

    def matrix(self, name: str, n: int, k: int, transposed: bool = True) -> tuple[str, str]:
        """(value, type) of checkpoint rows."""
        kind = f"!tgraph.rows<{self.format}, {n}x{k}{', transposed' if transposed else ''}>"
        return self.constant(name, kind), kind

    def made(self, y: str, op: str, width: int, *operands: tuple[str, int], words: str = "") -> str:
        """An op of rows to rows of `width`."""
        names, kinds = ", ".join(x for x, _ in operands), ", ".join(self.kind(w) for _, w in operands)
        kinds = kinds if len(operands) == 1 else f"({kinds})"
        self.lines.append(f"%{y} = tgraph.{op} {names} {words}: {kinds} -> {self.kind(width)}")
        return f"%{y}"

    def product(self, y: str, x: str, n: int, k: int = WIDTH, bias: bool = False) -> str:
        w, kind = self.matrix(f"w{y}", n, k)
        product = f"{y}p" if bias else y
        self.lines.append(f"%{product} = tgraph.matmul {x}, {w} : ({self.kind(k)}, {kind}) -> {self.kind(n)}")
        if bias:
            b = self.constant(f"b{y}", f"tensor<1x{n}xf32>")
            types = f"({self.kind(n)}, tensor<1x{n}xf32>) -> {self.kind(n)}"
            self.lines.append(f"%{y} = tgraph.elementwise add %{product}, {b} : {types}")
        return f"%{y}"

    def row(self, y: str, x: str, row: int, width: int) -> str:
        """One of the step's rows."""
        self.lines.append(f"%{y} = tgraph.view {x} offset {row * width} : {self.kind(width)} -> tensor<1x{width}xf32>")
        return f"%{y}"

    def norm(self, y: str, x: str, width: int = WIDTH, cols: int = WIDTH) -> str:
        w = self.constant(f"n{y}", f"tensor<{cols}xf32>")
        of = f"weight {w} : tensor<{cols}xf32> cols {cols} eps 1.000000e-06"
        self.lines.append(f"%{y} = tgraph.fused_row rms {x} {of} : {self.kind(width)}")
        return f"%{y}"

    def part(self, y: str, x: str, start: int, width: int, every: int, of: int) -> str:
        words = f"start {start} width {width} every {every} "
        return self.made(y, "head_slice", of // every * width, (x, of), words=words)

    def turned(self, y: str, x: str, heads: int, head: int = HEAD) -> str:
        angles = ", ".join(f"{2.0**-k:e}" for k in range(head // 2))
        table, kind = f"tensor<{self.context}x{head // 2}xf32>", self.kind(heads * head)
        for f in ("cos", "sin"):
            self.constants[f"{f}{head}"] = f"{table} = #tgraph.rope_table<{f}, [{angles}], scale 1.000000e+00>"
        self.lines.append(
            f"%{y} = tgraph.rope {x}, %cos{head}, %sin{head} at %pos heads {heads} head_dim {head} half {head // 2} "
            f": ({kind}, {table}, {table}, tensor<1xi32>) -> {kind}"
        )
        return f"%{y}"

    def table(self, name: str, x: str, width: int) -> str:
        """A state's table with the step's rows at its position."""
        kind = f"tensor<{self.context}x{width}xf32>"
        self.states[name] = kind, f"%{name}1"
        types = f"({kind}, {self.kind(width)}, tensor<1xi32>) -> {kind}"
        self.lines.append(f"%{name}1 = tgraph.set_row %{name}, {x} at %pos : {types}")
        return f"%{name}1"

    def attention(
        self,
        y: str,
        q: str,
        tables: tuple[str, str],
        shape: tuple[int, int, int, int],
        words: str = "",
        sinks: str = "",
    ) -> str:
        """`shape`: heads, key heads, and their sizes."""
        heads, kv_heads, hd, vd = shape
        kinds = ", ".join(f"tensor<{self.context}x{kv_heads * width}xf32>" for width in (hd, vd))
        self.lines.append(
            f"%{y} = tgraph.attention {q}, {', '.join(tables)} at %pos {sinks}heads {heads} kv_heads {kv_heads} "
            f"head_dim {hd} value_dim {vd} {words}: {self.kind(heads * hd)}, {kinds} -> {self.kind(heads * vd)}"
        )
        return f"%{y}"

    def sum(self, y: str, a: str, b: str) -> str:
        return self.made(y, "elementwise add", WIDTH, (a, WIDTH), (b, WIDTH))


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
    one = StepWriter(1, w.context, w.format, w.constants, w.states, w.lines)
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


LAYERS: dict[str, Callable[[StepWriter, int, str], str]] = {
    "gated": _gated,
    "batch": _batch,
    "gated batch": lambda w, k, h: _batch(w, k, h, is_gated=True),
    "sinks": _sinks,
    "latent": _latent,
}


def attention_step(layers: Sequence[str], rows: int = 1, context: int = 16, format: str = "bf16") -> str:
    """A step of `rows` tokens through attention layers of these kinds (`LAYERS`): logits, position and all tables."""
    w = StepWriter(rows, context, format)
    embedding = f"!tgraph.rows<bf16, {VOCABULARY}x{WIDTH}>"
    table = w.constant("embed", embedding)
    w.lines.append(f"%x = tgraph.rows_gather {table} at %token : ({embedding}, tensor<{rows}xi32>) -> {w.kind(WIDTH)}")
    x = "%x"
    for k, kind in enumerate(layers):
        x = w.sum(f"x{k}", x, LAYERS[kind](w, k, w.norm(f"h{k}", x)))
    logits = w.product("logits", w.norm("last", x), VOCABULARY)
    w.lines.append(f"%next = tgraph.arg_max {logits} : {w.kind(VOCABULARY)} -> tensor<{rows}xi32>")
    w.lines.append(f"%moved = tgraph.advance %pos by {rows} : (tensor<1xi32>) -> tensor<1xi32>")
    arguments = [f"%token: tensor<{rows}xi32> {{tgraph.token}}", "%pos: tensor<1xi32> {tgraph.position}"]
    arguments += [f'%{name}: {kind} {{tgraph.state = "{name}"}}' for name, (kind, _) in w.states.items()]
    results = [("%next", f"tensor<{rows}xi32>", "tgraph.carry = 0 : i64")] if rows == 1 else []
    results.append(("%moved", "tensor<1xi32>", "tgraph.carry = 1 : i64"))
    results += [(after, kind, f"tgraph.carry = {i} : i64") for i, (kind, after) in enumerate(w.states.values(), 2)]
    results.append((logits, w.kind(VOCABULARY), "tgraph.logits"))
    types = ", ".join(f"{kind} {{{mark}}}" for _, kind, mark in results)
    head = f"func.func @step({', '.join(arguments)}) -> ({types}) {{"
    body = [_constant(name, kind) for name, kind in w.constants.items()]
    end = f"func.return {', '.join(v for v, _, _ in results)} : {', '.join(kind for _, kind, _ in results)}"
    return "\n".join([head, *body, *w.lines, end, "}"])


def _constant(name: str, kind: str) -> str:
    """A constant of the checkpoint, or of a source of its own after its type."""
    kind, _, source = kind.partition(" = ")
    return f"%{name} = tgraph.constant {source or f'#tgraph.checkpoint<{chr(34)}{name}{chr(34)}>'} : {kind}"


__all__ = ["LAYERS", "VOCABULARY", "attention_step"]
