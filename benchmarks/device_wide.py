"""Products of many rows on a GPU: on tensor cores, and as products of a few rows, by the tails they may have.

    python benchmarks/device_wide.py [--format NAME ...] [--rows N ...] [--planes N] [--shape OUTPUTSxINPUTS ...]

Times are of graphs of launches that each read fresh weights; TOPS counts a multiplication and an addition for each
value of a stored row and each row of x.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from device import Device

from lanelink.dialects.formats import Format
from lanelink.lowering.activations import ActivationLayout
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection import gemm, products
from lanelink.lowering.selection.calls import Address, KernelCall
from lanelink.lowering.selection.specs import GemvPart, GemvSpec, Quantized, Rows
from lanelink.passes.schedule.products import Product
from lanelink.passes.schedule.tails import tail_of, tiles_of
from lanelink.passes.tensor_cores import BLOCKS, CHUNK, Tail

FRESH_BYTES = 200 << 20
"""Bytes of weights that a graph reads: more than the second-level cache holds."""


def inputs(device: Device, rows: int, k: int, planes: int) -> Quantized:
    """Random quantized rows."""
    layout = ActivationLayout(rows, k, planes)
    data = np.random.default_rng(rows).integers(0, 256, layout.total_bytes, dtype=np.uint8)
    data[layout.scales_offset :] = np.full(rows * k // 32, 0.01, np.float32).view(np.uint8)
    device.put("x", data)
    return Quantized(Address("x"), planes)


def matrices(device: Device, format: Format, n: int, k: int) -> list[Address]:
    """As many matrices of small random bytes as a graph reads."""
    size = plane_layout(format, n, k).total_bytes
    count = max(2, FRESH_BYTES // size)
    first = device.put("w0", np.random.default_rng(1).integers(0, 48, size, dtype=np.uint8))
    for i in range(1, count):
        device.copy(f"w{i}", first, size)
    return [Address(f"w{i}") for i in range(count)]


def time_product(device: Device, format: Format, rows: int, n: int, k: int, planes: int) -> None:
    """Prints the times of one shape."""
    x = inputs(device, rows, k, planes)
    stored = matrices(device, format, n, k)
    device.alloc("y", 4 * rows * n, fill=0)
    y = Rows(Address("y"), n)
    spec = GemvSpec(x, format, k, rows, (GemvPart(stored[0], n, y),))
    of = Product(format, True, k, rows, (n,))
    tiles, chunks, sms = tiles_of(of), -(-k // CHUNK), device.chip.sms
    tails = {"scheduled": tail_of(tiles, chunks, BLOCKS * sms), "whole": None, "one an SM": tail_of(tiles, chunks, sms)}

    def measure(words: str, calls: list[KernelCall]) -> None:
        device.scratch(calls)
        graph = device.graph(calls, overlap=True)
        each = device.timed(lambda: device.replay(graph)).median / len(calls)
        tops = 2 * rows * n * k / each / 1e6
        speed = plane_layout(format, n, k).total_bytes / each / 1e3
        grid = "x".join(map(str, calls[0].grid[:2]))
        print(
            f"{words:34} {calls[0].entry:16} grid {grid:8} {each:9.2f} µs {tops:7.1f} TOPS {speed:6.0f} GB/s",
            flush=True,
        )

    def with_weights(spec: GemvSpec) -> list[GemvSpec]:
        return [replace(spec, parts=(replace(spec.parts[0], weights=w),)) for w in stored]

    name = f"{format.value} x{planes} {rows} rows {n}x{k}"
    measure(f"{name} few", [products.gemv(s, device.chip) for s in with_weights(spec)])
    seen: list[Tail | None] = []
    for words, tail in tails.items():
        if tail not in seen:
            seen.append(tail)
            measure(f"{name} {words}", [gemm.product(s, device.chip) for s in with_weights(replace(spec, tail=tail))])
    device.free()


def main() -> None:
    """Times what is asked for."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--format", nargs="+", default=["q8_0"], choices=[f.value for f in gemm.MODULES])
    parser.add_argument("--rows", nargs="+", type=int, default=[16, 64, 512])
    parser.add_argument("--planes", type=int, default=1, choices=(1, 2))
    parser.add_argument("--shape", nargs="+", default=["4096x4096"], metavar="OUTPUTSxINPUTS")
    options = parser.parse_args()
    device = Device()
    print(device.chip)
    for name in options.format:
        for shape in options.shape:
            n, k = map(int, shape.split("x"))
            for rows in options.rows:
                time_product(device, Format(name), rows, n, k, options.planes)


if __name__ == "__main__":
    main()
