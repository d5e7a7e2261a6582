"""Rows head by head: two joined, one matrix a head, and a latent table's rows expanded to every head's."""

from __future__ import annotations

import numpy as np

from lanelink.lowering.meanings.arithmetic import Floats


def join(a: Floats, b: Floats, heads: int) -> Floats:
    """Head h of each row is head h of a [m, heads * wa], then head h of b [m, heads * wb]."""
    m = a.shape[0]
    return np.concatenate([a.reshape(m, heads, -1), b.reshape(m, heads, -1)], axis=-1).reshape(m, -1)


def head_matrices(rows: Floats, heads: int, *, rows_are_outputs: bool) -> Floats:
    """Matrices stored head after head as [heads, outputs, inputs], from rows [heads * outputs, inputs], or where each
    row is an input [heads * inputs, outputs]."""
    held = rows.reshape(heads, -1, rows.shape[1])
    return held if rows_are_outputs else held.transpose(0, 2, 1)


def head_product(x: Floats, matrices: Floats) -> Floats:
    """Head h of x [m, heads * inputs] by matrices[h], [heads, outputs, inputs]: [m, heads * outputs]."""
    heads, outputs, inputs = matrices.shape
    parts = x.astype(np.float64).reshape(-1, heads, inputs)
    y = np.einsum("mhi,hoi->mho", parts, matrices.astype(np.float64))
    return y.reshape(-1, heads * outputs).astype(np.float32)


def latent_rows(table: Floats, matrices: Floats, count: int) -> Floats:
    """Every head's keys or values of a latent table's first `count` rows (DeepSeek-V2, section 2.1): [count, heads *
    outputs]. The first `inputs` values of each row [length, width] go through every head's matrix, [heads, outputs,
    inputs]."""
    heads, outputs, inputs = matrices.shape
    latent = table[:count, :inputs].astype(np.float64)
    y = np.einsum("pi,hoi->pho", latent, matrices.astype(np.float64))
    return y.reshape(count, heads * outputs).astype(np.float32)


__all__ = ["head_matrices", "head_product", "join", "latent_rows"]
