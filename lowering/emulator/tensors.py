"""Matrix products of a warp, and the loads that fill their fragments (PTX ISA 9.7.14.5)."""

import numpy as np

from lanelink.lowering.emulator.types import Array
from lanelink.lowering.emulator.warps import Warps

_LANES = np.arange(32)


class Tensors(Warps):
    """A chunk's warps, with what they do on tensor cores."""

    def _check_whole(self, m: Array | None, at: int) -> None:
        """Every lane of a warp takes part, and there are 32 of them."""
        if self.short or (m is not None and not self.whole_warps(m)):
            here = self._there if m is None else self.by_warps(m)
            torn = here.any(axis=1) & ~here.all(axis=1)
            if torn.any():
                warp = int(torn.argmax())
                lane = int((~here[warp]).argmax())
                first = int(here[warp].argmax())
                raise self.site.error(
                    at,
                    self._thread_at(warp, first),
                    f"expected all 32 lanes of warp {warp % self.width} to take part, got none of lane {lane}",
                )

    def multiply(
        self,
        a: "tuple[Array, ...]",
        b: "tuple[Array, ...]",
        c: "tuple[Array, ...]",
        kinds: tuple[str, str],
        m: Array | None,
        at: int,
    ) -> list[Array]:
        """
        mma.m16n8kK of bytes: registers of a hold 16 rows of K values by rows, of b 8 columns by columns, of c and of
        the result 16 by 8 int32, whose sums wrap. `kinds` are the dtypes of a's bytes and of b's.
        """
        self._check_whole(m, at)
        rows = _bytes_of([self.by_warps(r) for r in a], kinds[0])
        columns = _bytes_of([self.by_warps(r) for r in b], kinds[1])
        # (warps, group, lane of it, half of K, half of the rows, byte) to (warps, rows, K)
        left = rows.reshape(-1, 8, 4, len(a) // 2, 2, 4).transpose(0, 4, 1, 3, 2, 5).reshape(-1, 16, 8 * len(a))
        right = columns.reshape(-1, 8, 4, len(b), 4).transpose(0, 1, 3, 2, 4).reshape(-1, 8, 16 * len(b))
        # Sums of at most 32 products of bytes are whole numbers below 2^24: f32 holds them exactly.
        products = np.matmul(left.astype(np.float32), right.transpose(0, 2, 1).astype(np.float32))
        whole = products.astype(np.int32).reshape(-1, 2, 8, 4, 2).transpose(0, 2, 3, 1, 4).reshape(-1, 32, 4)
        return [self.by_threads(whole[..., k]).view(np.uint32) + r.view(np.uint32) for k, r in enumerate(c)]

    def load_matrices(self, address: Array, offset: int, count: int, m: Array | None, at: int) -> list[Array]:
        """ldmatrix: `count` matrices of 8 rows of 16 bytes, whose addresses the lanes hold eight by eight; lane 4 r + j
        gets word j of row r of each."""
        self._check_whole(m, at)
        asking = np.zeros((self.blocks, self.width * 32), bool).reshape(-1, 32)
        asking[:, : 8 * count] = True
        mask = self.by_threads(asking)
        words = self.load("shared", address, offset, np.dtype("u4"), 4, mask if m is None else mask & m, at, "weak")
        held = np.stack([self.by_warps(w) for w in words], axis=2)
        return [self.by_threads(held[:, 8 * k + _LANES // 4, _LANES % 4]) for k in range(count)]


def _bytes_of(registers: list[Array], kind: str) -> Array:
    """The bytes of a fragment's registers, (warps, lanes, registers, 4)."""
    together = np.stack(registers, axis=2)
    return together.view(kind).reshape(*together.shape, 4)
