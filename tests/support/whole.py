"""Random steps of the whole language: layers of every kind, what they carry, and what else reads inside them."""

from __future__ import annotations

from collections.abc import Callable

from composer import HEAD, WIDTH, StepComposer
from hypothesis import settings
from hypothesis import strategies as st
from layers import LayerComposer
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue

from lanelink.dialects.tgraph import AttentionOp, BinaryKind, ElementwiseOp, RopeOp, SetRowOp, SwigluOp


def examples(count: int) -> int:
    """How many examples a test draws: `count`, or ten times as many where the profile explores."""
    return 10 * count if settings.get_current_profile_name() == "explore" else count


class WholeComposer(LayerComposer, StepComposer):
    """Adds dense layers; every state is carried at times, and else returned."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(draw)
        self.first = [*self.tables, *self.rings, self.rule, self.latents]

    def dense(self) -> SSAValue:
        """A dense decoder's layer, with biases, norms of heads, a window and sinks or without."""
        draw, position = self.draw, self.positions[0]
        cos, sin = self.turns[0]
        biases, head_norms, turns = (draw(st.booleans()) for _ in range(3))
        x, h = self.one_of(self.pool), self.rms(self.one_of(self.pool), WIDTH)

        def side(turned: bool) -> SSAValue:
            y = self.by_rows(h, WIDTH)
            if biases:
                y = self.add(ElementwiseOp(BinaryKind.ADD, y, self.values_of(1, WIDTH)))
            if turned and head_norms:
                y = self.rms(y, HEAD)
            if turned and turns:
                y = self.add(RopeOp(y, cos, sin, position, heads=WIDTH // HEAD, head_dim=HEAD, half=HEAD // 2))
            return y

        q, k, v = side(True), side(True), side(False)
        for at, rows in ((0, k), (1, v)):
            self.tables[at] = self.add(SetRowOp(self.tables[at], rows, position))
            self.versions.append(self.tables[at])
        a = AttentionOp(
            q,
            *self.tables[:2],
            position,
            heads=WIDTH // HEAD,
            kv_heads=WIDTH // HEAD,
            head_dim=HEAD,
            window=draw(st.sampled_from([None, 1, 3])),
            sinks=self.values_of(WIDTH // HEAD) if draw(st.booleans()) else None,
        )
        self.pool.append(self.sum_of(x, self.by_rows(self.add(a), WIDTH)))
        x, h = self.pool[-1], self.rms(self.pool[-1], WIDTH)
        gate, up = self.by_rows(h, WIDTH), self.by_rows(h, WIDTH)
        self.pool.append(self.sum_of(x, self.by_rows(self.add(SwigluOp(gate, up)), WIDTH)))
        return self.pool[-1]

    def makers(self) -> list[Callable[[], SSAValue]]:
        return [*[self.dense] * 4, *super().makers()]

    def finish(self, outputs: list[SSAValue]) -> ModuleOp:
        last = [*self.tables, *self.rings, self.rule, self.latents]
        carried: list[tuple[SSAValue, int]] = []
        results = [*outputs, *self.extras]
        for before, after in zip(self.first, last, strict=True):
            if self.draw(st.booleans()):
                assert isinstance(before, BlockArgument)
                carried.append((after, before.index))
            else:
                results.append(after)
        return self._marked(results, carried)


def a_step(draw: st.DrawFn, most: int) -> ModuleOp:
    """A random step of up to `most` pieces."""
    return WholeComposer(draw).compose(draw(st.integers(1, most)))
