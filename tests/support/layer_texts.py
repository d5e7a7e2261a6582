"""
Layers at level 1 as texts, as importers write them: of Qwen3-Next (delta rule, gated attention), DeepSeek-V2 (latent
attention, mixture with a shared expert) and Gemma (sandwich norms). Each takes the residual `%x` and its norm `%h`.
"""

from __future__ import annotations

from collections.abc import Sequence

R, Q, R2 = "tensor<1x64xf32>", "!tgraph.q8<1x64>", "tensor<1x128xf32>"


def rows(n: int, k: int, format: str = "bf16", transposed: bool = True) -> str:
    """The type of checkpoint rows."""
    return f"!tgraph.rows<{format}, {n}x{k}{', transposed' if transposed else ''}>"


def product(y: str, x: str, w: str, n: int, k: int = 64) -> str:
    return f"{y} = tgraph.matmul {x}, {w} : (tensor<1x{k}xf32>, {rows(n, k)}) -> tensor<1x{n}xf32>"


def norm(y: str, x: str, w: str = "%n", width: int = 64, of: int = 64) -> str:
    kind = f"tensor<1x{of}xf32>"
    return f"{y} = tgraph.fused_row rms {x} weight {w} : tensor<{width}xf32> cols {width} eps 1.000000e-06 : {kind}"


def part(y: str, x: str, start: int, width: int, every: int, of: int) -> str:
    taken = f"tensor<1x{of // every * width}xf32>"
    return f"{y} = tgraph.head_slice {x} start {start} width {width} every {every} : tensor<1x{of}xf32> -> {taken}"


def rope(y: str, x: str, heads: int) -> str:
    kind, table = f"tensor<1x{32 * heads}xf32>", "tensor<8x16xf32>"
    return (
        f"{y} = tgraph.rope {x}, %cos, %sin at %pos heads {heads} head_dim 32 half 16 "
        f": ({kind}, {table}, {table}, tensor<1xi32>) -> {kind}"
    )


def two(y: str, kind: str, a: str, b: str, types: tuple[str, str] = (R, R)) -> str:
    return f"{y} = tgraph.elementwise {kind} {a}, {b} : ({types[0]}, {types[1]}) -> {types[0]}"


def set_row(y: str, table: str, x: str, width: int = 64) -> str:
    kind = f"tensor<8x{width}xf32>"
    return f"{y} = tgraph.set_row {table}, {x} at %pos : ({kind}, tensor<1x{width}xf32>, tensor<1xi32>) -> {kind}"


def conv(k: int) -> list[str]:
    return [
        product(f"%p{k}", "%h", "%w", 64),
        f"%c{k}, %ring{k} = tgraph.causal_conv %p{k}, %taps, %ring : ({R}, tensor<64x4xf32>, tensor<3x64xf32>) -> "
        f"({R}, tensor<3x64xf32>)",
        f"%s{k} = tgraph.silu %c{k} : {R} -> {R}",
    ]


def gate(y: str, op: str) -> list[str]:
    matrix = "tensor<64x2xf32>"
    return [f"{y}p = tgraph.matmul %h, %gate : ({R}, {matrix}) -> tensor<1x2xf32>", op]


DELTA = [
    *(line for k in range(3) for line in conv(k)),
    *(f"%l{k} = tgraph.l2norm %s{k} cols 32 eps 1.000000e-06 : {R} -> {R}" for k in range(2)),
    product("%z", "%h", "%w", 64),
    *gate("%b", "%beta = tgraph.sigmoid %bp : tensor<1x2xf32> -> tensor<1x2xf32>"),
    *gate(
        "%a",
        "%decay = tgraph.decay %ap, %two, %two : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>",
    ),
    "%d, %state1 = tgraph.gated_delta silu %l0, %l1, %s2, %z, %beta, %decay, %state, %hn value_heads 2 key_heads 2 "
    f"head_dim 32 eps 1.000000e-06 : ({R}, {R}, {R}, {R}, tensor<1x2xf32>, tensor<1x2xf32>, tensor<64x32xf32>, "
    f"tensor<32xf32>) -> ({R}, tensor<64x32xf32>)",
    product("%o", "%d", "%w", 64),
    two("%x1", "add", "%x", "%o"),
    norm("%h1", "%x1"),
]

GATED_ATTENTION = [
    product("%qg", "%h", "%w2", 128),
    part("%q", "%qg", 0, 32, 64, 128),
    part("%g", "%qg", 32, 32, 64, 128),
    norm("%qn", "%q", "%hn", 32),
    rope("%qr", "%qn", 2),
    product("%k", "%h", "%w", 64),
    norm("%kn", "%k", "%hn", 32),
    rope("%kr", "%kn", 2),
    product("%v", "%h", "%w", 64),
    set_row("%keys1", "%keys", "%kr"),
    set_row("%values1", "%values", "%v"),
    "%at = tgraph.attention %qr, %keys1, %values1 at %pos heads 2 kv_heads 2 head_dim 32 value_dim 32 "
    f": {R}, tensor<8x64xf32>, tensor<8x64xf32> -> {R}",
    f"%gs = tgraph.sigmoid %g : {R} -> {R}",
    two("%ag", "mul", "%at", "%gs"),
    product("%o", "%ag", "%w", 64),
    two("%x1", "add", "%x", "%o"),
    norm("%h1", "%x1"),
]

LATENT = [
    product("%kv", "%h", "%w96", 96),
    part("%c", "%kv", 0, 64, 96, 96),
    norm("%cn", "%c"),
    part("%ke", "%kv", 64, 32, 96, 96),
    rope("%kr", "%ke", 1),
    f"%row = tgraph.join %cn, %kr heads 1 : ({R}, tensor<1x32xf32>) -> tensor<1x96xf32>",
    set_row("%table1", "%table", "%row", 96),
    product("%qa", "%h", "%w2", 128),
    part("%qn", "%qa", 0, 32, 64, 128),
    part("%qe", "%qa", 32, 32, 64, 128),
    rope("%qr", "%qe", 2),
    f"%qb = tgraph.head_matmul %qn, %kb heads 2 inputs 32 outputs 64 : ({R}, {rows(64, 64, transposed=False)}) -> {R2}",
    f"%qj = tgraph.join %qb, %qr heads 2 : ({R2}, {R}) -> tensor<1x192xf32>",
    "%lv = tgraph.head_slice %table1 start 0 width 64 every 96 : tensor<8x96xf32> -> tensor<8x64xf32>",
    "%at = tgraph.attention %qj, %table1, %lv at %pos heads 2 kv_heads 1 head_dim 96 value_dim 64 scale 1.250000e-01 "
    f": tensor<1x192xf32>, tensor<8x96xf32>, tensor<8x64xf32> -> {R2}",
    f"%ov = tgraph.head_matmul %at, %w heads 2 inputs 64 outputs 32 : ({R2}, {rows(64, 64)}) -> {R}",
    product("%o", "%ov", "%w", 64),
    two("%x1", "add", "%x", "%o"),
    norm("%h1", "%x1"),
]

MIXTURE = [
    f"%m = tgraph.moe softmax silu %h, %router, %experts, %experts, %down experts 4 top_k 2 hidden 32 renormalize "
    f": {R}, {rows(4, 64)}, {rows(128, 64)}, {rows(128, 64)}, {rows(256, 32)} -> {R}",
    product("%sg", "%h", "%w2", 128),
    product("%su", "%h", "%w2", 128),
    f"%sa = tgraph.swiglu %sg, %su : ({R2}, {R2}) -> {R2}",
    product("%sd", "%sa", "%wd", 64, 128),
    product("%e", "%h", "%w1", 1),
    "%es = tgraph.sigmoid %e : tensor<1x1xf32> -> tensor<1x1xf32>",
    two("%sm", "mul", "%sd", "%es", (R, "tensor<1x1xf32>")),
    two("%ms", "add", "%m", "%sm"),
    two("%x1", "add", "%x", "%ms"),
    norm("%h1", "%x1"),
]

MIXTURE_NORMED = [*MIXTURE[:-2], norm("%h1", "%ms"), two("%x1", "add", "%x", "%h1")]
"""A mixture whose sum with its shared expert is normed before it meets the residual."""

SANDWICH = [
    product("%g", "%h", "%w", 64),
    product("%u", "%h", "%w", 64),
    f"%ga = tgraph.gelu tanh %g : {R} -> {R}",
    two("%y", "mul", "%ga", "%u"),
    product("%o", "%y", "%w", 64),
    norm("%on", "%o"),
    two("%x1", "add", "%x", "%on"),
    norm("%h1", "%x1"),
]

WEIGHTS = {
    "%w": rows(64, 64),
    "%w1": rows(1, 64),
    "%w2": rows(128, 64),
    "%w96": rows(96, 64),
    "%wd": rows(64, 128),
    "%kb": rows(64, 64, transposed=False),
    "%gate": "tensor<64x2xf32>",
    "%taps": "tensor<64x4xf32>",
    "%n": "tensor<64xf32>",
    "%hn": "tensor<32xf32>",
    "%two": "tensor<2xf32>",
    "%router": rows(4, 64),
    "%experts": rows(128, 64),
    "%down": rows(256, 32),
    "%cos": "tensor<8x16xf32>",
    "%sin": "tensor<8x16xf32>",
}

STATE = {
    "%ring": "tensor<3x64xf32>",
    "%state": "tensor<64x32xf32>",
    "%keys": "tensor<8x64xf32>",
    "%values": "tensor<8x64xf32>",
    "%table": "tensor<8x96xf32>",
}


def step_text(layers: Sequence[Sequence[str]]) -> str:
    """
    A step of layers one after another from `%x` and its norm, each with tables of its own; every table written, and
    the last norm, are returned.
    """
    arguments = ["%token: tensor<1xi32> {tgraph.token}", "%pos: tensor<1xi32> {tgraph.position}", f"%x_0: {R}"]
    body = [f'{name} = tgraph.constant #tgraph.checkpoint<"{name[1:]}"> : {kind}' for name, kind in WEIGHTS.items()]
    body.append(norm("%h_0", "%x_0"))
    results = [(f"%h_{len(layers)}", R)]
    for k, layer in enumerate(layers):
        lines = [_renamed(line, k) for line in layer]
        body += lines
        text = " ".join(layer)
        arguments += [f"{name}_{k}: {kind}" for name, kind in STATE.items() if f"{name} " in text or f"{name}," in text]
        results += [(f"{name}1_{k}", kind) for name, kind in STATE.items() if f"{name}1 =" in text and name != "%ring"]
        results += [(f"%ring{c}_{k}", STATE["%ring"]) for c in range(3) if f"%ring{c} =" in text]
    types = ", ".join(kind for _, kind in results)
    values = ", ".join(value for value, _ in results)
    head = f"func.func @step({', '.join(arguments)}) -> ({types}) {{"
    return "\n".join([head, *body, f"func.return {values} : {types}", "}"])


def _renamed(line: str, k: int) -> str:
    """A layer's line as its k-th: its values by its number, what it leaves by the next."""
    for sign in ",(): ":
        line = line.replace(f"%x1{sign}", f"%x_{k + 1}{sign}").replace(f"%h1{sign}", f"%h_{k + 1}{sign}")
    shared = (*WEIGHTS, "%pos")
    words = line.split(" ")
    return " ".join(_word(word, k, shared) for word in words)


def _word(word: str, k: int, shared: Sequence[str]) -> str:
    name = word.rstrip(",")
    own = name.startswith("%") and "_" not in name and name not in shared
    return f"{name}_{k}{word[len(name) :]}" if own else word
