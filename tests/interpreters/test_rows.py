"""Value-by-value and row-wise ops against loops over Python floats."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, erf, exp, pi, sin, sqrt, tanh
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects.tgraph import (
    AdvanceOp,
    ArgMaxOp,
    BinaryKind,
    ElementwiseOp,
    FusedRowOp,
    GeluKind,
    GeluOp,
    HeadSliceOp,
    NormKind,
    ReluOp,
    RopeOp,
    ScaleOp,
    SigmoidOp,
    SiluOp,
    SoftcapOp,
    SwigluOp,
    TransposeOp,
    ViewOp,
)

Array = npt.NDArray[Any]
Run = Callable[..., Array]


def each(function: Callable[..., float], *arrays: Array) -> Array:
    """`function` of the values of arrays of one shape, one by one."""
    flat = [function(*(float(v) for v in values)) for values in zip(*(a.ravel() for a in arrays), strict=True)]
    return np.array(flat).reshape(arrays[0].shape)


def logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > -700 else 0.0


BINARIES: dict[BinaryKind, Callable[[float, float], float]] = {
    BinaryKind.ADD: lambda a, b: a + b,
    BinaryKind.SUB: lambda a, b: a - b,
    BinaryKind.MUL: lambda a, b: a * b,
    BinaryKind.DIV: lambda a, b: a / b,
}


@pytest.mark.parametrize("shape", [(3, 5), (1, 5), (3, 1)])
@pytest.mark.parametrize("kind", list(BinaryKind))
def test_elementwise_and_what_it_repeats(run: Run, rng: np.random.Generator, kind: BinaryKind, shape: tuple[int, int]):
    a, b = rng.standard_normal((3, 5), np.float32), rng.standard_normal(shape, np.float32)
    result = run(lambda x, y: ElementwiseOp(kind, x, y), a, b)
    for r in range(3):
        for c in range(5):
            expected = BINARIES[kind](float(a[r, c]), float(b[r % shape[0], c % shape[1]]))
            assert result[r, c] == pytest.approx(expected, rel=1e-6)


UNARIES: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "silu": (SiluOp, lambda x: x * logistic(x)),
    "sigmoid": (SigmoidOp, logistic),
    "gelu exact": (lambda v: GeluOp(GeluKind.EXACT, v), lambda x: 0.5 * x * (1 + erf(x / sqrt(2)))),
    "gelu tanh": (
        lambda v: GeluOp(GeluKind.TANH, v),
        lambda x: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x))),
    ),
    "relu": (ReluOp, lambda x: max(x, 0.0)),
    "softcap": (lambda v: SoftcapOp(v, 3.5), lambda x: 3.5 * tanh(x / 3.5)),
    "scale": (lambda v: ScaleOp(v, -2.5), lambda x: -2.5 * x),
}


@pytest.mark.parametrize("name", list(UNARIES))
def test_unary(run: Run, rng: np.random.Generator, name: str):
    build, function = UNARIES[name]
    x = (rng.standard_normal((4, 16)) * 4).astype(np.float32)
    x[0, :4] = [0, 30, -30, -1000]
    np.testing.assert_allclose(run(build, x), each(function, x), rtol=1e-6, atol=1e-7)


def test_swiglu(run: Run, rng: np.random.Generator):
    gate, up = rng.standard_normal((2, 9), np.float32), rng.standard_normal((2, 9), np.float32)
    expected = each(lambda g, u: g * logistic(g) * u, gate, up)
    np.testing.assert_allclose(run(SwigluOp, gate, up), expected, rtol=1e-6)


def norm_loop(kind: NormKind, group: list[float], eps: float) -> list[float]:
    n = len(group)
    match kind:
        case NormKind.RMS:
            return [v / sqrt(sum(u * u for u in group) / n + eps) for v in group]
        case NormKind.LAYERNORM:
            mean = sum(group) / n
            return [(v - mean) / sqrt(sum((u - mean) ** 2 for u in group) / n + eps) for v in group]
        case NormKind.SOFTMAX:
            total = sum(exp(u - max(group)) for u in group)
            return [exp(v - max(group)) / total for v in group]


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize(
    ("kind", "affine"),
    [
        *((kind, a) for kind in (NormKind.RMS, NormKind.LAYERNORM) for a in ("", "weight", "bias", "weight bias")),
        (NormKind.SOFTMAX, ""),
    ],
)
@pytest.mark.parametrize("cols", [12, 4])
def test_fused_row(run: Run, rng: np.random.Generator, kind: NormKind, cols: int, affine: str, residual: bool):
    """Groups of a whole row and of a part of it; a large eps, so that leaving it out shows."""
    eps = None if kind is NormKind.SOFTMAX else 0.25
    x, r = rng.standard_normal((3, 12), np.float32), rng.standard_normal((3, 12), np.float32)
    w, b = rng.standard_normal(cols, np.float32), rng.standard_normal(cols, np.float32)

    def build(x: Any, r: Any, w: Any, b: Any) -> FusedRowOp:
        return FusedRowOp(
            kind,
            x,
            cols,
            eps=eps,
            weight=w if "weight" in affine else None,
            bias=b if "bias" in affine else None,
            residual=r if residual else None,
        )

    result = run(build, x, r, w, b)
    for row in range(3):
        values = [float(x[row, c]) + (float(r[row, c]) if residual else 0) for c in range(12)]
        for first in range(0, 12, cols):
            normed = norm_loop(kind, values[first : first + cols], eps or 0)
            for c in range(cols):
                factor = float(w[c]) if "weight" in affine else 1.0
                offset = float(b[c]) if "bias" in affine else 0.0
                assert result[row, first + c] == pytest.approx(normed[c] * factor + offset, rel=1e-5, abs=1e-6)


def test_softmax_of_large_values(run: Run):
    x = np.array([[1e4, 1e4 - 1, -1e4]], np.float32)
    result = run(lambda v: FusedRowOp(NormKind.SOFTMAX, v, 3), x)
    np.testing.assert_allclose(result, [[1 / (1 + exp(-1)), exp(-1) / (1 + exp(-1)), 0]], rtol=1e-6)


@pytest.mark.parametrize(("half", "position"), [(4, 3), (3, 5), (4, None)])
def test_rope(run: Run, rng: np.random.Generator, half: int, position: int | None):
    """Three rows of two heads of 8, some values past the rotation; at a position, and by tables cut to the rows."""
    heads, head_dim, rows = 2, 8, 3
    x = rng.standard_normal((rows, heads * head_dim), np.float32)
    angles = rng.uniform(-3, 3, (rows if position is None else 9, half))
    tables = [np.vectorize(f)(angles).astype(np.float32) for f in (cos, sin)]
    index = [] if position is None else [np.array([position], np.int32)]

    def build(x: Any, c: Any, s: Any, *at: Any) -> RopeOp:
        return RopeOp(x, c, s, at[0] if at else None, heads=heads, head_dim=head_dim, half=half)

    result = run(build, x, *tables, *index)
    for r in range(rows):
        for h in range(heads):
            for i in range(head_dim):
                at = h * head_dim + i
                pair = i % half
                angle = float(angles[(position or 0) + r, pair])
                low, high = float(x[r, h * head_dim + pair]), float(x[r, h * head_dim + half + pair])
                if i < half:
                    expected = low * cos(angle) - high * sin(angle)
                elif i < 2 * half:
                    expected = high * cos(angle) + low * sin(angle)
                else:
                    expected = float(x[r, at])
                assert result[r, at] == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_rope_past_its_tables_is_refused(run: Run, rng: np.random.Generator):
    x, table = rng.standard_normal((2, 8), np.float32), rng.standard_normal((5, 4), np.float32)
    with pytest.raises(InterpretationError, match=r"tgraph.rope position: expected 0 to 3 in a table of 5 rows, got 4"):
        run(
            lambda x, c, s, p: RopeOp(x, c, s, p, heads=1, head_dim=8, half=4),
            x,
            table,
            table,
            np.array([4], np.int32),
        )


def test_view_and_head_slice(run: Run, rng: np.random.Generator):
    x = rng.standard_normal((3, 12), np.float32)
    flat = x.ravel().tolist()
    viewed = run(lambda v: ViewOp(v, 7, TensorType(f32, [2, 5])), x)
    np.testing.assert_array_equal(viewed, [flat[7:12], flat[12:17]])
    sliced = run(lambda v: HeadSliceOp(v, start=1, width=2, every=4), x)
    np.testing.assert_array_equal(sliced, [[row[u + k] for u in (0, 4, 8) for k in (1, 2)] for row in x.tolist()])


def test_transpose(run: Run, rng: np.random.Generator):
    x = rng.standard_normal((3, 5), np.float32)
    np.testing.assert_array_equal(run(TransposeOp, x), [[x[r, c] for r in range(3)] for c in range(5)])


def test_arg_max_takes_the_lowest_of_the_largest(run: Run):
    x = np.array([[1, 7, 3, 7], [-5, -2, -2, -9], [4, 4, 4, 4]], np.float32)
    chosen = run(ArgMaxOp, x)
    assert chosen.dtype == np.int32
    assert chosen.tolist() == [1, 1, 0]


def test_advance(run: Run):
    moved = run(lambda p: AdvanceOp(p, 3), np.array([41], np.int32))
    assert moved.dtype == np.int32
    assert moved.tolist() == [44]
