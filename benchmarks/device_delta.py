"""Linear attention on a GPU: the launches of Qwen3-Next's delta layers, timed kind by kind and as layers.

    python benchmarks/device_delta.py [--layers N] [--rows R,R,...]

Times are of graphs whose launches each have a state of their own, with programmatic dependent launch and without; GB/s
counts each layer's state, read and written, beside the matrices and rings of the other launches.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from device import Device

from lanelink.lowering.selection.calls import Address
from lanelink.lowering.selection.chip import H200
from lanelink.lowering.selection.delta_specs import ConvPart, ConvSpec, DeltaSpec, GateProjSpec
from lanelink.lowering.selection.operands import Quantized, Rows
from lanelink.lowering.selection.select import select
from lanelink.lowering.selection.union import Spec
from lanelink.passes.schedule.splits import PROJECTED_ROWS, split_inner


@dataclass(frozen=True)
class Shape:
    """A delta layer; the default is Qwen3-Next-80B-A3B's."""

    hidden: int = 2048
    value_heads: int = 32
    key_heads: int = 16
    d: int = 128
    taps: int = 4

    @property
    def keys(self) -> int:
        """Values of a row of queries, and of keys."""
        return self.key_heads * self.d

    @property
    def values(self) -> int:
        """Values of a row of values, and of output gates."""
        return self.value_heads * self.d

    @property
    def moved(self) -> dict[str, int]:
        """Bytes of constants and state that each kind of launch reads and writes."""
        channels = 2 * self.keys + self.values
        return {
            "conv": 4 * channels * (self.taps + 2 * (self.taps - 1)),
            "gate_proj": 4 * 2 * self.hidden * self.value_heads,
            "delta": 4 * 2 * self.values * self.d,
        }


class Buffers:
    """Random f32 buffers by name."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._rng = np.random.default_rng(1)

    def values(self, name: str, *shape: int, scale: float = 1.0) -> Address:
        """A buffer of normal values."""
        self._device.put(name, (self._rng.standard_normal(shape) * scale).astype(np.float32))
        return Address(name)

    def rows(self, name: str, m: int, width: int) -> Rows:
        """Rows of normal values."""
        return Rows(self.values(name, m, width), width)


def layer(b: Buffers, s: Shape, m: int, k: int) -> dict[str, Spec]:
    """The three launches of layer k that are not products, over rows that all layers share."""
    q, key, v, z = (b.rows(n, m, w) for n, w in (("q", s.keys), ("k", s.keys), ("v", s.values), ("z", s.values)))
    sides = (("q", q, s.keys, s.d), ("k", key, s.keys, s.d), ("v", v, s.values, None))
    parts = tuple(
        ConvPart(
            x,
            b.values(f"taps_{name}{k}", width, s.taps, scale=0.5),
            b.values(f"ring_{name}{k}", s.taps - 1, width),
            width,
            b.rows(f"conv_{name}", m, width),
            cols,
        )
        for name, x, width, cols in sides
    )
    conv = ConvSpec(parts, m, s.taps, silu=True, eps=1e-6, constant=True)
    heads = s.value_heads
    beta, decay = b.values("beta", m, heads), b.values("decay", m, heads)
    wb, wa = (b.values(f"{name}{k}", s.hidden, heads, scale=s.hidden**-0.5) for name in ("wb", "wa"))
    dt, al = b.values("dt", heads), b.values("al", heads)
    gates = GateProjSpec(b.rows("x", m, s.hidden), wb, wa, dt, al, beta, decay, m, s.hidden, heads, constant=True)
    gates = replace(gates, splits=split_inner(s.hidden, -(-heads // 32) * -(-m // PROJECTED_ROWS), H200.sms))
    b.values("y", m, s.values)
    rule = DeltaSpec(
        q=parts[0].y,
        k=parts[1].y,
        v=parts[2].y,
        z=z,
        beta=beta,
        decay=decay,
        state=b.values(f"state{k}", s.values, s.d, scale=s.d**-0.5),
        norm_weight=b.values("norm", s.d),
        m=m,
        value_heads=heads,
        key_heads=s.key_heads,
        d=s.d,
        eps=1e-6,
        quantized=Quantized(Address("y")),
    )
    return {"conv": conv, "gate_proj": gates, "delta": rule}


def kinds(layers: list[dict[str, Spec]]) -> Iterator[tuple[str, list[Spec]]]:
    """Each kind of launch of every layer, and all of every layer in turn."""
    for name in layers[0]:
        yield name, [launches[name] for launches in layers]
    yield "layer", [spec for launches in layers for spec in launches.values()]


def main() -> int:
    """Times every kind of launch at every number of rows."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--layers", type=int, default=36)
    parser.add_argument("--rows", default="1,4,17", help="rows of a step, several parted by commas")
    options = parser.parse_args()
    device, shape = Device(), Shape()
    moved = {**shape.moved, "layer": sum(shape.moved.values())}
    print(device.chip)
    for m in (int(word) for word in options.rows.split(",")):
        b = Buffers(device)
        layers = [layer(b, shape, m, k) for k in range(options.layers)]
        for name, specs in kinds(layers):
            calls = [select(spec, device.chip) for spec in specs]
            device.scratch(calls)
            for overlap in (False, True):
                graph = device.graph(calls, overlap)
                each = device.timed(lambda graph=graph: device.replay(graph)).median / options.layers
                words = "overlapped" if overlap else "plain"
                print(f"rows {m:3} {name:10} {words:10} {each:8.2f} µs  {moved[name] / each / 1e3:7.0f} GB/s")
        device.free()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
