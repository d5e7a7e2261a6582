"""Steps of level 1 written as texts: a token's embedding, layers with residual sums, greedy choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WIDTH, VOCABULARY, HEAD = 64, 96, 32


@dataclass
class StepWriter:
    """
    Collects a step's constants, states and lines: `rows` of the step, `context` of its tables, a `format` of its
    matrices.
    """

    rows: int
    format: str
    context: int = 16
    constants: dict[str, str] = field(default_factory=dict[str, str])
    states: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    lines: list[str] = field(default_factory=list[str])

    def kind(self, width: int) -> str:
        """The type of the step's rows."""
        return f"tensor<{self.rows}x{width}xf32>"

    def constant(self, name: str, kind: str) -> str:
        self.constants[name] = kind
        return f"%{name}"

    def state(self, name: str, kind: str, after: str) -> str:
        """A state that the step's `after` becomes."""
        self.states[name] = kind, after
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

    def norm(self, y: str, x: str, width: int = WIDTH, cols: int = WIDTH, weight: str | None = None) -> str:
        w = self.constant(f"n{y}" if weight is None else weight, f"tensor<{cols}xf32>")
        of = f"weight {w} : tensor<{cols}xf32> cols {cols} eps 1.000000e-06"
        self.lines.append(f"%{y} = tgraph.fused_row rms {x} {of} : {self.kind(width)}")
        return f"%{y}"

    def part(self, y: str, x: str, start: int, width: int, every: int, of: int) -> str:
        words = f"start {start} width {width} every {every} "
        return self.made(y, "head_slice", of // every * width, (x, of), words=words)

    def turned(self, y: str, x: str, heads: int, head: int = HEAD, at: str = "%pos") -> str:
        angles = ", ".join(f"{2.0**-k:e}" for k in range(head // 2))
        table, kind = f"tensor<{self.context}x{head // 2}xf32>", self.kind(heads * head)
        for f in ("cos", "sin"):
            self.constants[f"{f}{head}"] = f"{table} = #tgraph.rope_table<{f}, [{angles}], scale 1.000000e+00>"
        self.lines.append(
            f"%{y} = tgraph.rope {x}, %cos{head}, %sin{head} at {at} heads {heads} head_dim {head} half {head // 2} "
            f": ({kind}, {table}, {table}, tensor<1xi32>) -> {kind}"
        )
        return f"%{y}"

    def table(self, name: str, x: str, width: int, at: str = "%pos") -> str:
        """A state's table with the step's rows at a position."""
        kind = f"tensor<{self.context}x{width}xf32>"
        self.state(name, kind, f"%{name}1")
        types = f"({kind}, {self.kind(width)}, tensor<1xi32>) -> {kind}"
        self.lines.append(f"%{name}1 = tgraph.set_row %{name}, {x} at {at} : {types}")
        return f"%{name}1"

    def attention(
        self,
        y: str,
        q: str,
        tables: tuple[str, str],
        shape: tuple[int, int, int, int],
        words: str = "",
        sinks: str = "",
        at: str = "%pos",
    ) -> str:
        """`shape`: heads, key heads, and their sizes."""
        heads, kv_heads, hd, vd = shape
        kinds = ", ".join(f"tensor<{self.context}x{kv_heads * width}xf32>" for width in (hd, vd))
        self.lines.append(
            f"%{y} = tgraph.attention {q}, {', '.join(tables)} at {at} {sinks}heads {heads} kv_heads {kv_heads} "
            f"head_dim {hd} value_dim {vd} {words}: {self.kind(heads * hd)}, {kinds} -> {self.kind(heads * vd)}"
        )
        return f"%{y}"

    def sum(self, y: str, a: str, b: str) -> str:
        return self.made(y, "elementwise add", WIDTH, (a, WIDTH), (b, WIDTH))


Layer = Callable[[StepWriter, int, str], str]
"""Writes layer k, of normed rows `h`; gives the rows that are added to the residual stream."""


def written_step(w: StepWriter, layers: Sequence[Layer], positioned: bool = True) -> str:
    """A step through these layers: its logits; the next token, the position where there is one, states."""
    token, row = f"tensor<{w.rows}xi32>", "tensor<1xi32>"
    embedding = f"!tgraph.rows<bf16, {VOCABULARY}x{WIDTH}>"
    table = w.constant("embed", embedding)
    w.lines.append(f"%x = tgraph.rows_gather {table} at %token : ({embedding}, {token}) -> {w.kind(WIDTH)}")
    x = "%x"
    for k, layer in enumerate(layers):
        x = w.sum(f"x{k}", x, layer(w, k, w.norm(f"h{k}", x)))
    logits = w.product("logits", w.norm("last", x), VOCABULARY)
    w.lines.append(f"%next = tgraph.arg_max {logits} : {w.kind(VOCABULARY)} -> {token}")
    arguments, carried = [f"%token: {token} {{tgraph.token}}"], [("%next", token)]
    if positioned:
        w.lines.append(f"%moved = tgraph.advance %pos by {w.rows} : ({row}) -> {row}")
        arguments.append(f"%pos: {row} {{tgraph.position}}")
        carried.append(("%moved", row))
    arguments += [f'%{name}: {kind} {{tgraph.state = "{name}"}}' for name, (kind, _) in w.states.items()]
    carried += [(after, kind) for kind, after in w.states.values()]
    results = [(value, kind, f"tgraph.carry = {i} : i64") for i, (value, kind) in enumerate(carried)]
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


__all__ = ["HEAD", "VOCABULARY", "WIDTH", "Layer", "StepWriter", "written_step"]
