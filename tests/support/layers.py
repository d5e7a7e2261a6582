"""Random steps of what layers are made of beside a dense decoder's: mixtures, delta rules, latent attention, gates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composer import CONTEXT, HEAD, WIDTH, Composer
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Operation, SSAValue

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import (
    AttentionOp,
    BinaryKind,
    CausalConvOp,
    DecayOp,
    ElementwiseOp,
    ExpertActivation,
    FusedRowOp,
    GatedDeltaOp,
    HeadMatmulOp,
    HeadSliceOp,
    JoinOp,
    L2NormOp,
    MatmulOp,
    MoeOp,
    NormKind,
    RopeOp,
    RowsType,
    SetRowOp,
    SigmoidOp,
    SiluOp,
    SwigluOp,
    ViewOp,
)

HEADS = WIDTH // HEAD
TAPS, EXPERTS, HIDDEN = 4, 4, 32


class LayerComposer(Composer):
    """
    Adds pieces of layers, whole or nearly so: at times something else reads what lies inside one, or a piece leaves a
    part out. Values of other widths than the pool's are remembered beside it.
    """

    def __init__(self, draw: st.DrawFn) -> None:
        self.made: list[SSAValue] = []
        super().__init__(draw)
        self.rings = [self.argument(TAPS - 1, WIDTH) for _ in range(3)]
        self.rule = self.argument(WIDTH, HEAD)
        self.latents = self.argument(CONTEXT, WIDTH + HEAD)

    def argument(self, rows: int, width: int) -> SSAValue:
        return self.block.insert_arg(TensorType(f32, [rows, width]), len(self.block.args))

    def add(self, op: Operation) -> SSAValue:
        value = super().add(op)
        if isinstance(value.type, TensorType) and value.type.element_type == f32:
            self.made.append(value)
        return value

    def sometimes(self) -> bool:
        return self.draw(st.integers(0, 5)) == 0

    def rows_of(self, n: int, k: int, format: Format | None = None, transposed: bool = True) -> SSAValue:
        kind = self.draw(st.sampled_from([Format.Q8_0, Format.BF16])) if format is None else format
        return self.constant(RowsType(kind, n, k, transposed=transposed))

    def values_of(self, *shape: int) -> SSAValue:
        return self.constant(TensorType(f32, shape))

    def by_rows(self, x: SSAValue, n: int, k: int = WIDTH, format: Format | None = None) -> SSAValue:
        return self.add(MatmulOp(x, self.rows_of(n, k, format)))

    def rms(self, x: SSAValue, cols: int) -> SSAValue:
        return self.add(FusedRowOp(NormKind.RMS, x, cols, eps=1e-6, weight=self.values_of(cols)))

    def sum_of(self, a: SSAValue, b: SSAValue) -> SSAValue:
        sides = (a, b) if self.draw(st.booleans()) else (b, a)
        return self.add(ElementwiseOp(BinaryKind.ADD, *sides))

    def reread(self) -> SSAValue:
        """Something reads a value made a while ago, whatever piece that was inside of."""
        x = self.made[-1 - min(self.draw(st.integers(0, 12)), len(self.made) - 1)]
        if len(x.type.get_shape()) == 2:
            self.others.append(x if self.draw(st.booleans()) else self.add(SiluOp(x)))
        return self.pool[-1]

    def finish_layer(self, y: SSAValue) -> SSAValue:
        """A residual sum with what the layer gives, normed before or not, and the next norm."""
        if self.draw(st.booleans()):
            y = self.rms(y, WIDTH)
        self.pool.append(self.sum_of(self.one_of(self.pool), y))
        return self.pool[-1] if self.sometimes() else self.rms(self.pool[-1], WIDTH)

    # Mixtures

    def mixture_of(self, act: ExpertActivation) -> Callable[[SSAValue], SSAValue]:
        """A mixture by the same weights of whatever rows."""
        format = self.draw(st.sampled_from([Format.Q8_0, Format.BF16]))
        router = self.values_of(WIDTH, EXPERTS) if self.draw(st.booleans()) else self.rows_of(EXPERTS, WIDTH)
        gate, up = (self.rows_of(EXPERTS * HIDDEN, WIDTH, format) for _ in range(2))
        down = self.rows_of(EXPERTS * WIDTH, HIDDEN, format)
        in_groups = {"groups": (EXPERTS // 2, 1), "group_best": self.draw(st.integers(1, 2)), "routed_scale": 1.5}
        routing: dict[str, Any] = in_groups if self.draw(st.booleans()) else {"renormalize": True}
        return lambda x: self.add(
            MoeOp(x, router, gate, up, down, experts=EXPERTS, top_k=2, hidden=HIDDEN, act=act, **routing)
        )

    def mixture(self) -> SSAValue:
        """A mixture, with a shared expert, gated, or alone; over a chunk, at times row by row."""
        act = ExpertActivation.GELU if self.sometimes() else ExpertActivation.SILU
        x, mix = self.one_of(self.pool), self.mixture_of(act)
        if self.rows > 1 and self.draw(st.booleans()):
            return self.finish_layer(self.row_by_row(x, mix))
        y = mix(x)
        if self.draw(st.booleans()):
            y = self.sum_of(y, self.shared_expert(x))
        return self.finish_layer(y)

    def shared_expert(self, x: SSAValue) -> SSAValue:
        format = self.draw(st.sampled_from([Format.Q8_0, Format.BF16]))
        gate, up = (self.by_rows(x, 2 * HIDDEN, format=format) for _ in range(2))
        y = self.by_rows(self.add(SwigluOp(gate, up)), WIDTH, 2 * HIDDEN)
        if self.draw(st.booleans()):
            column = self.add(SigmoidOp(self.by_rows(x, 1, format=Format.BF16)))
            y = self.add(ElementwiseOp(BinaryKind.MUL, y, column))
        return y

    def row_by_row(self, x: SSAValue, make: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """What `make` gives of each row, put together."""
        row = TensorType(f32, [1, WIDTH])
        made = [make(self.add(ViewOp(x, k * WIDTH, row))) for k in range(self.rows)]
        return self.put_together(made)

    def put_together(self, made: list[SSAValue]) -> SSAValue:
        table = self.one_of(self.pool)
        order = list(enumerate(made))
        for k, y in reversed(order) if self.sometimes() else order:
            table = self.add(SetRowOp(table, y, row=k))
        return table

    # Attention

    def attend(self, q: SSAValue) -> SSAValue:
        keys, values = self.tables[:2]
        return self.add(AttentionOp(q, keys, values, self.positions[0], heads=HEADS, kv_heads=HEADS, head_dim=HEAD))

    def gated_attention(self) -> SSAValue:
        """Heads that hold a query and its gate; for several rows at times each as a sequence of a batch."""
        both = self.by_rows(self.one_of(self.pool), 2 * WIDTH)
        q, gate = (self.add(HeadSliceOp(both, start=k * HEAD, width=HEAD, every=2 * HEAD)) for k in range(2))
        if self.draw(st.booleans()):
            q = self.rms(q, HEAD)
        if self.draw(st.booleans()):
            cos, sin = self.turns[0]
            q = self.add(RopeOp(q, cos, sin, self.positions[0], heads=HEADS, head_dim=HEAD, half=HEAD // 2))
        y = self.row_by_row(q, self.attend) if self.rows > 1 and self.draw(st.booleans()) else self.attend(q)
        if self.draw(st.integers(0, 2)):
            act = self.add(SigmoidOp(gate))
            y = self.add(ElementwiseOp(BinaryKind.MUL, *((y, act) if self.draw(st.booleans()) else (act, y))))
        return self.finish_layer(self.by_rows(y, WIDTH))

    def latent_attention(self) -> SSAValue:
        """Absorbed: a latent of the pool's width and a rotated key of one head, `HEADS` heads of a query of both."""
        x, (cos, sin), position = self.one_of(self.pool), self.turns[0], self.positions[0]
        every = WIDTH + HEAD
        both = self.by_rows(x, every)
        c = self.rms(self.add(HeadSliceOp(both, start=0, width=WIDTH, every=every)), WIDTH)
        k = self.add(HeadSliceOp(both, start=WIDTH, width=HEAD, every=every))
        k = self.add(RopeOp(k, cos, sin, position, heads=1, head_dim=HEAD, half=HEAD // 2))
        self.latents = self.add(SetRowOp(self.latents, self.add(JoinOp(c, k, 1)), position))
        q = self.by_rows(x, 2 * WIDTH)
        n, r = (self.add(HeadSliceOp(q, start=s * HEAD, width=HEAD, every=2 * HEAD)) for s in range(2))
        r = self.add(RopeOp(r, cos, sin, position, heads=HEADS, head_dim=HEAD, half=HEAD // 2))
        by_outputs = self.draw(st.booleans())
        kb = self.rows_of(*((HEADS * WIDTH, HEAD) if by_outputs else (HEADS * HEAD, WIDTH)), transposed=by_outputs)
        b = self.add(HeadMatmulOp(n, kb, heads=HEADS, inputs=HEAD, outputs=WIDTH))
        joined = self.add(JoinOp(b, r, HEADS))
        values = self.add(HeadSliceOp(self.latents, start=0, width=WIDTH, every=every))
        a = self.add(
            AttentionOp(
                joined, self.latents, values, position, heads=HEADS, kv_heads=1, head_dim=every, value_dim=WIDTH
            )
        )
        vb = self.rows_of(HEADS * HEAD, WIDTH)
        y = self.add(HeadMatmulOp(a, vb, heads=HEADS, inputs=WIDTH, outputs=HEAD))
        return self.finish_layer(self.by_rows(y, WIDTH))

    # Delta rules

    def convolved(self, x: SSAValue, k: int) -> SSAValue:
        op = CausalConvOp(self.by_rows(x, WIDTH), self.values_of(WIDTH, TAPS), self.rings[k])
        y = self.add(op)
        self.rings[k] = op.new_ring
        if not self.sometimes():
            y = self.add(SiluOp(y))
        return y if k == 2 or self.sometimes() else self.add(L2NormOp(y, HEAD, 1e-6))

    def delta_rule(self) -> SSAValue:
        x = self.one_of(self.pool)
        q, k, v = (self.convolved(x, side) for side in range(3))
        b, a = (self.add(MatmulOp(x, self.values_of(WIDTH, HEADS))) for _ in range(2))
        gates: dict[str, SSAValue] = {}
        for which in self.draw(st.permutations(["beta", "decay"])):
            gate = SigmoidOp(b) if which == "beta" else DecayOp(a, self.values_of(HEADS), self.values_of(HEADS))
            gates[which] = self.add(gate)
        op = GatedDeltaOp(
            (q, k, v, self.by_rows(x, WIDTH), gates["beta"], gates["decay"]),
            self.rule,
            self.values_of(HEAD),
            value_heads=HEADS,
            key_heads=HEADS,
            head_dim=HEAD,
            eps=1e-6,
        )
        y = self.add(op)
        self.rule = op.new_state
        return self.finish_layer(self.by_rows(y, WIDTH))

    def makers(self) -> list[Callable[[], SSAValue]]:
        pieces = [self.mixture, self.gated_attention, self.latent_attention, self.delta_rule]
        return [*pieces, *pieces, *pieces, self.reread, self.reread, self.reread, *super().makers()]

    def finish(self, outputs: list[SSAValue]) -> ModuleOp:
        return super().finish([*outputs, *self.rings, self.rule, self.latents])
