"""Kernels as a compiler writes them, against numpy, and with what orders their accesses taken away.

samples.ptx is samples.cu through the project's own compiler:

    from pathlib import Path
    from lanelink.kernels import build
    here = Path("tests/emulator").resolve()
    text = build.Nvrtc().compile(build.Module("samples", str(here / "samples.cu")), "compute_80")
    (here / "samples.ptx").write_text(text)
"""

import math
import re
import time
from pathlib import Path

import numpy as np
import pytest

from lanelink.lowering.emulator import Emulator, EmulatorError

TEXT = (Path(__file__).parent / "samples.ptx").read_text(encoding="utf-8")


class Run:
    """One emulator with the samples in it, changed by `edit`."""

    def __init__(self, text: str = TEXT, **options) -> None:
        self.emulator = Emulator(**options)
        self.entries = self.emulator.load(text, "samples").entries

    def put(self, values: np.ndarray, name: str = "") -> int:
        address = self.emulator.alloc(values.nbytes, name)
        self.emulator.write(address, values)
        return address

    def launch(self, name: str, grid: int, block: int, shared: int, *arguments: int | np.generic) -> None:
        packed = [a.tobytes() if isinstance(a, np.generic) else a.to_bytes(8, "little") for a in arguments]
        self.emulator.launch(self.entries[name], (grid, 1, 1), (block, 1, 1), shared, packed)

    def get(self, address: int, dtype: str, count: int) -> np.ndarray:
        return np.frombuffer(self.emulator.read(address, count * np.dtype(dtype).itemsize), dtype)


def last_norm(run: Run, n: int = 1000) -> None:
    x = np.random.default_rng(1).standard_normal(n).astype("f4")
    counter, partials, y = run.put(np.zeros(1, "u4")), run.emulator.alloc(16 * 4, "partials"), run.emulator.alloc(4 * n)
    for _ in range(2):
        run.launch("last_norm", 16, 64, 0, run.put(x), partials, counter, y, np.int32(n))
    want = x / np.sqrt((x.astype("f8") ** 2).mean() + 1e-6)
    np.testing.assert_allclose(run.get(y, "f4", n), want, rtol=1e-5, atol=1e-6)


def attention(run: Run, heads: int = 3, size: int = 48, length: int = 37) -> None:
    rng = np.random.default_rng(2)
    width = heads * size
    q, keys, values = (rng.standard_normal(s).astype("f4") for s in ((heads, size), (64, width), (64, width)))
    out = run.emulator.alloc(4 * width)
    position = run.put(np.array([length - 1], "i4"))
    run.launch(
        "attention",
        heads,
        64,
        4 * length,
        run.put(q),
        run.put(keys),
        run.put(values),
        position,
        out,
        np.int32(width),
        np.int32(size),
    )
    k, v = (t[:length].reshape(length, heads, size).astype("f8") for t in (keys, values))
    scores = np.einsum("hd,phd->hp", q.astype("f8"), k) / math.sqrt(size)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    want = np.einsum("hp,phd->hd", weights / weights.sum(axis=1, keepdims=True), v)
    np.testing.assert_allclose(run.get(out, "f4", width).reshape(heads, size), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("races", [False, True])
@pytest.mark.parametrize("at_once", [64, 8192])
def test_product_of_blocks_of_bytes(races: bool, at_once: int) -> None:
    rng = np.random.default_rng(0)
    n, k = 37, 1088
    w, x = rng.integers(-127, 128, (n, k)).astype("i1"), rng.integers(-127, 128, k).astype("i1")
    ws, xs = rng.random((n, k // 32)).astype("f2"), rng.random(k // 32).astype("f4")
    run = Run(races=races, threads_at_once=at_once)
    y = run.emulator.alloc(4 * n)
    run.launch("gemv", 10, 128, 0, run.put(w), run.put(ws), run.put(x), run.put(xs), y, np.int32(n), np.int32(k))
    sums = (w.astype("f8") * x).reshape(n, -1, 32).sum(axis=2)
    want = (sums * ws.astype("f8") * xs).sum(axis=1)
    np.testing.assert_allclose(run.get(y, "f4", n), want, rtol=1e-4, atol=1.0)


@pytest.mark.parametrize("races", [False, True])
@pytest.mark.parametrize("kernel", [last_norm, attention])
def test_kernels_of_many_steps(kernel, races: bool) -> None:
    kernel(Run(races=races))


def without(kernel: str, pattern: str) -> list[str]:
    """The samples with one line of a kernel that matches taken out, for each such line."""
    start = TEXT.index(f".entry {kernel}(")
    end = TEXT.index("\n}", start)
    found = list(re.finditer(pattern, TEXT[start:end], re.MULTILINE))
    assert found
    return [TEXT[: start + m.start()] + TEXT[start + m.end() :] for m in found]


@pytest.mark.parametrize("kernel", [last_norm, attention])
def test_each_barrier_is_needed(kernel) -> None:
    for text in without(kernel.__name__, r"^\s*bar\.sync.*;$"):
        with pytest.raises(EmulatorError, match=r"race: |expected memory that was written"):
            kernel(Run(text, races=True))


def test_the_fence_is_needed() -> None:
    (text,) = without("last_norm", r"^\s*(membar|fence)\..*;$")
    with pytest.raises(EmulatorError, match=r"race: read at global address .*'partials'"):
        last_norm(Run(text, races=True))


def test_library_functions() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate(
        [rng.standard_normal(300) * 3, rng.standard_normal(60) * 1e5, [1e-3, 1e-30, 2.0**-130, 80, -80, 1e38]]
    )
    x = x.astype("f4")
    n = x.size
    run = Run()
    out = run.emulator.alloc(12 * 4 * n)
    run.launch("functions", -(-n // 64), 64, 0, run.put(x), out, np.int32(n))
    got = run.get(out, "f4", 12 * n).reshape(12, n)
    v = x.astype("f8")
    size = np.abs(v)
    with np.errstate(all="ignore"):
        erf = np.array([math.erf(a) for a in v])
        want = [
            np.exp(v),
            np.log(size),
            np.sin(v),
            np.cos(v),
            np.tanh(v),
            erf,
            size ** np.float32(1.7).astype("f8"),
            np.sqrt(size),
            1 / v,
        ]
        want += [np.log1p(size), np.expm1(v), np.fmod(v, 3)]
        for k, row in enumerate(want):
            # The library promises a few units in the last place (CUDA math API, single precision: at most 4 for these).
            expected = row.astype("f4")
            close = np.abs(got[k].astype("f8") - row) <= 4 * np.spacing(np.abs(expected)).astype("f8")
            assert (close | (got[k] == expected)).all(), (k, x[~close][:3], got[k][~close][:3], expected[~close][:3])


def test_whole_numbers() -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-(2**31), 2**31, 300).astype("i4") >> rng.integers(0, 31, 300).astype("i4") for _ in range(2))
    run = Run()
    out = run.emulator.alloc(10 * 8 * 300)
    run.launch("whole_numbers", 5, 64, 0, run.put(a), run.put(b), out, np.int32(300))
    got = run.get(out, "i8", 3000).reshape(10, 300).tolist()
    for i, (x, y) in enumerate(zip(a.tolist(), (b | 1).tolist(), strict=True)):
        wide = (x << (y & 31)) & (2**64 - 1)
        wide -= (wide >> 63) << 64
        ux, uy = x & 0xFFFFFFFF, y & 0xFFFFFFFF
        quotient, long_quotient = (abs(p) // abs(y) * (1 if (p < 0) == (y < 0) else -1) for p in (x, wide))
        reverse = int(f"{ux:032b}"[::-1], 2)
        want = [quotient, x - quotient * y, ux // uy, long_quotient, wide - long_quotient * y, ux.bit_count()]
        want += [32 - ux.bit_length(), (ux & -ux).bit_length(), reverse, (ux * uy) >> 32]
        assert [row[i] for row in got] == want, (x, y)


def test_speed() -> None:
    """A product of 512 rows, 16384 threads: a few milliseconds; the bound leaves room for a busy machine."""
    rng = np.random.default_rng(5)
    run = Run()
    n, k = 512, 512
    w, x = rng.integers(-127, 128, (n, k)).astype("i1"), rng.integers(-127, 128, k).astype("i1")
    scales = np.ones((n, k // 32), "f2"), np.ones(k // 32, "f4")
    arguments = [run.put(w), run.put(scales[0]), run.put(x), run.put(scales[1]), run.emulator.alloc(4 * n)]
    seconds: list[float] = []
    for _ in range(5):
        start = time.process_time()
        run.launch("gemv", n // 4, 128, 0, *arguments, np.int32(n), np.int32(k))
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.1
