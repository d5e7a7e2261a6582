"""Every kernel on a GPU: right against its meaning over all cases, then timed at the shapes of an 8B decoder.

    python benchmarks/device_kernels.py [--cases | --family NAME | --sanitize] [--step N] [--attention] [--match WORD]

Times are of graphs whose launches each read fresh weights, with programmatic dependent launch; GB/s counts the bytes
of weights alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from device import Device

from lanelink.dialects.formats import Format
from lanelink.lowering.activations import ActivationLayout
from lanelink.lowering.cases.attention import scheduled
from lanelink.lowering.cases.case import Case
from lanelink.lowering.cases.lists import FAMILIES
from lanelink.lowering.functions import Activation
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import I32, Address, KernelCall, ScratchKind, SelectionError
from lanelink.lowering.selection.select import select
from lanelink.lowering.selection.specs import (
    Advance,
    ArgMaxSpec,
    GatherSpec,
    GemvPart,
    GemvSpec,
    GluSpec,
    HeadNorm,
    Norm,
    Quantized,
    RopeFold,
    Rotation,
    Rows,
    Turn,
)
from lanelink.lowering.selection.union import Spec


def run_case(device: Device, case: Case) -> tuple[float, bool]:
    """(the worst error over its tolerance, whether a second launch wrote the same bytes and left counters zero)."""
    call = select(case.spec, device.chip)
    outputs: list[dict[str, bytes]] = []
    worst = 0.0
    for _ in range(2):
        for name, content in case.buffers.items():
            if isinstance(content, int):
                device.alloc(name, content, fill=0xFF)
            else:
                device.put(name, content)
        device.scratch([call])
        device.launch(call, overlap=False)
        device.synchronize()
        sizes = {n: c if isinstance(c, int) else c.size for n, c in case.buffers.items()}
        read = {n: device.read(n, s) for n, s in sizes.items()}
        worst = max([worst, *case.worst(lambda n, read=read: read[n]).values()])
        outputs.append({r.name: read[r.name].tobytes() for r in case.results})
    counters = device.read(ScratchKind.COUNTERS, max(4, call.scratch_bytes(ScratchKind.COUNTERS)))
    return worst, outputs[0] == outputs[1] and not counters.any()


def check_cases(device: Device, match: str, cases: Iterable[Case]) -> int:
    """Runs cases; prints those that are wrong and the worst of each kind. The number that are wrong."""
    wrong, count, kinds = 0, 0, dict[str, tuple[float, str]]()
    start = time.time()
    for case in cases:
        if match not in case.name:
            continue
        count += 1
        try:
            worst, steady = run_case(device, case)
        except SelectionError as error:
            wrong += 1
            print(f"WRONG {case.name}: no kernel: {error}")
            continue
        kind = case.name.split()[0]
        kinds[kind] = max(kinds.get(kind, (-1.0, "")), (worst, case.name))
        if not worst <= 1 or not steady:
            wrong += 1
            print(f"WRONG {case.name}: error / tolerance {worst:.3g}, {'steady' if steady else 'NOT steady'}")
    for kind, (worst, name) in kinds.items():
        print(f"{kind:10} worst error / tolerance {worst:.3f}  ({name})")
    print(f"{count} cases, {wrong} wrong, {time.time() - start:.1f} s")
    return wrong


@dataclass(frozen=True)
class Decoder:
    """A dense decoder's shapes."""

    hidden: int = 4096
    heads: int = 32
    kv_heads: int = 8
    hd: int = 128
    ff: int = 12288
    vocabulary: int = 151936
    layers: int = 36
    context: int = 1024


class Weights:
    """Random planes of a format, one buffer a name, made by copying one host buffer of each shape."""

    def __init__(self, device: Device, format: Format) -> None:
        self.device = device
        self.format = format
        self.bytes = 0
        self._first: dict[tuple[int, int], int] = {}
        self._rng = np.random.default_rng(1)

    def __call__(self, name: str, n: int, k: int) -> Address:
        layout = plane_layout(self.format, n, k)
        self.bytes += layout.total_bytes
        if (n, k) not in self._first:
            self._first[n, k] = self.device.put(name, self._planes(n, k))
        else:
            self.device.copy(name, self._first[n, k], layout.total_bytes)
        return Address(name)

    def _planes(self, n: int, k: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        """Values of about k**-0.5: a few rows of random ones, repeated."""
        layout = plane_layout(self.format, n, k)
        some = min(n, 512)
        if self.format is Format.Q8_0:
            quants = self._rng.integers(-127, 128, (some, k), dtype=np.int8)
            scales = (self._rng.random((some, k // 32)) * 0.02 / 127 * 64 * k**-0.5).astype(np.float16)
            out = np.zeros(layout.total_bytes, np.uint8)
            out[: n * k] = np.resize(quants.view(np.uint8), n * k)
            out[layout.scales_offset :] = np.resize(
                scales.view(np.uint8).reshape(-1), layout.total_bytes - layout.scales_offset
            )
            return out
        values = (self._rng.standard_normal((some, k)) * k**-0.5).astype(np.float32)
        halves = (values.view(np.uint32) >> 16).astype(np.uint16)
        return np.resize(halves.view(np.uint8).reshape(-1), layout.total_bytes)


def activation(device: Device, name: str, cols: int, planes: int) -> Rows | Quantized:
    """A buffer for one row of activations, quantized or f32, holding random values."""
    rng = np.random.default_rng(len(name))
    if planes == 0:
        device.put(name, rng.standard_normal(cols).astype(np.float32))
        return Rows(Address(name), cols)
    layout = ActivationLayout(1, cols, planes)
    data = rng.integers(0, 256, layout.total_bytes, dtype=np.uint8)
    data[layout.scales_offset :] = np.full(cols // 32, 0.01, np.float32).view(np.uint8)
    device.put(name, data)
    return Quantized(Address(name), planes)


def result(device: Device, name: str, cols: int) -> Rows:
    """A buffer for one f32 row."""
    device.alloc(name, 4 * cols, fill=0)
    return Rows(Address(name), cols)


def step_specs(device: Device, d: Decoder, format: Format, planes: int) -> tuple[list[Spec], Weights]:
    """The launches of one decoding step: gather and norm; five a layer; vocabulary and arg-max."""
    w = Weights(device, format)
    rng = np.random.default_rng(3)
    for name, at in (("token", 17), ("position", 500), ("next", 0)):
        device.put(name, np.array([at], np.int32))
    for name, width in (("ones", d.hidden), ("head_ones", d.hd)):
        device.put(name, np.ones(width, np.float32))
    angles = rng.random((d.context, d.hd // 2)).astype(np.float32)
    device.put("cos", np.cos(angles))
    device.put("sin", np.sin(angles))
    rotation = Rotation(Address("cos"), Address("sin"), Address("position"), d.hd, d.hd // 2)
    q_width, kv_width = d.heads * d.hd, d.kv_heads * d.hd
    x = activation(device, "x", d.hidden, planes)
    attended, glued = activation(device, "attended", q_width, planes), activation(device, "glued", d.ff, planes)
    residual, q = result(device, "residual", d.hidden), result(device, "q", q_width)
    logits = result(device, "logits", d.vocabulary)

    def stored(to: Rows | Quantized) -> tuple[Rows | None, Quantized | None]:
        return (to, None) if isinstance(to, Rows) else (None, to)

    def norm_to(add: bool) -> Norm:
        y, quantized = stored(x)
        kept = (residual, residual) if add else (None, None)
        return Norm(1e-6, Address("ones"), kept[0], kept[1], y=y, quantized=quantized)

    table = w("table", d.vocabulary, d.hidden)
    specs: list[Spec] = [
        GatherSpec(table, format, d.vocabulary, d.hidden, Address("token"), 1, residual, then=norm_to(False))
    ]
    for i in range(d.layers):
        for name in ("keys", "values"):
            device.put(f"{name}{i}", rng.standard_normal((d.context, kv_width)).astype(np.float32))
        keys = Rows(Address(f"keys{i}"), kv_width, Address("position"))
        values = Rows(Address(f"values{i}"), kv_width, Address("position"))
        projections = (
            GemvPart(w(f"wq{i}", q_width, d.hidden), q_width, q),
            GemvPart(w(f"wk{i}", kv_width, d.hidden), kv_width, keys),
            GemvPart(w(f"wv{i}", kv_width, d.hidden), kv_width, values),
        )
        turn = Turn(HeadNorm(Address("head_ones"), 1e-6))
        specs.append(GemvSpec(x, format, d.hidden, 1, projections, RopeFold(rotation, (turn, turn, None))))
        y, quantized = stored(attended)
        attention = AttentionSpec(
            *(q, replace(keys, row=0), replace(values, row=0), Address("position"), d.heads, d.kv_heads),
            *(d.hd, d.hd, d.context, 1, d.hd**-0.5),
            y=y,
            quantized=quantized,
            early=True,
        )
        specs.append(scheduled(attention, device.chip.sms))
        out = GemvPart(w(f"wo{i}", d.hidden, q_width), d.hidden, None)
        specs.append(GemvSpec(attended, format, q_width, 1, (out,), norm_to(True)))
        y, quantized = stored(glued)
        pair = (w(f"gate{i}", d.ff, d.hidden), w(f"up{i}", d.ff, d.hidden))
        specs.append(GluSpec(x, format, d.hidden, d.ff, 1, *pair, Activation.SILU, y=y, quantized=quantized))
        down = GemvPart(w(f"down{i}", d.hidden, d.ff), d.hidden, None)
        specs.append(GemvSpec(glued, format, d.ff, 1, (down,), norm_to(True)))
    specs.append(GemvSpec(x, format, d.hidden, 1, (GemvPart(w("head", d.vocabulary, d.hidden), d.vocabulary, logits),)))
    advance = Advance(Address("token"), Address("position"))
    specs.append(ArgMaxSpec(logits, d.vocabulary, 1, Address("next"), advance))
    return specs, w


def time_step(device: Device, d: Decoder, format: Format, planes: int) -> None:
    """Times a whole step as one graph, with and without overlap, and its launches kind by kind."""
    specs, w = step_specs(device, d, format, planes)
    calls = [select(s, device.chip) for s in specs]
    device.scratch(calls)
    words = f"{format.value} x {('f32', 'q8', 'q8x2')[planes]}"
    read = w.bytes - plane_layout(format, d.vocabulary, d.hidden).total_bytes
    for overlap in (False, True):
        graph = device.graph(calls, overlap)
        t = device.timed(lambda graph=graph: device.replay(graph))
        print(
            f"step {words:12} {'overlapped' if overlap else 'plain':10} {t.median:9.1f} µs  {1e6 / t.median:7.1f} /s  "
            f"{read / t.median / 1e3:7.0f} GB/s"
        )
    outputs = steps_agree(device, calls)
    print(f"step {words:12} overlapped and plain give {'the same' if outputs else 'DIFFERENT'} bytes")
    for name, kind in kinds_of(calls).items():
        graph = device.graph(kind, overlap=True)
        t = device.timed(lambda graph=graph: device.replay(graph))
        each = t.median / len(kind)
        size = sum(weight_bytes(specs[calls.index(c)], format) for c in kind) / len(kind)
        print(f"  {name:44} x{len(kind):3} {each:8.2f} µs  {size / each / 1e3:7.0f} GB/s")
    device.free()


def steps_agree(device: Device, calls: list[KernelCall]) -> bool:
    """Whether three steps overlapped leave the same logits, residual and tables as three that are not."""
    outputs: list[bytes] = []
    for overlap in (False, True):
        for name, at in (("token", 17), ("position", 500)):
            device.put(name, np.array([at], np.int32))
        graph = device.graph(calls, overlap)
        for _ in range(3):
            device.replay(graph)
        device.synchronize()
        sizes = (("logits", 400_000), ("residual", 4096), ("keys3", 2_000_000), ("token", 4), ("position", 4))
        outputs.append(b"".join(device.read(n, s).tobytes() for n, s in sizes))
    return outputs[0] == outputs[1]


@dataclass(frozen=True)
class AttentionTiming:
    """An attention to time: its heads, and the positions it is timed at."""

    words: str
    heads: int
    kv_heads: int
    hd: int
    vd: int
    positions: tuple[int, ...]
    window: int | None = None
    inside: bool = False

    def spec(self, layer: int, length: int) -> AttentionSpec:
        """One layer's launch over tables of its own."""
        keys = Rows(Address(f"keys{layer}"), self.kv_heads * self.hd)
        values = keys if self.inside else Rows(Address(f"values{layer}"), self.kv_heads * self.vd)
        q, y = Rows(Address("q"), self.heads * self.hd), Rows(Address("y"), self.heads * self.vd)
        return AttentionSpec(
            *(q, keys, values, Address("position"), self.heads, self.kv_heads, self.hd, self.vd, length, 1),
            *(self.hd**-0.5, self.window),
            y=y,
            v_unit=self.hd if self.inside else None,
            early=True,
        )


ATTENTIONS = (
    AttentionTiming("Qwen3-8B", 32, 8, 128, 128, (63, 511, 2047, 4095)),
    AttentionTiming("Qwen3-0.6B", 16, 8, 128, 128, (511, 4095)),
    AttentionTiming("gpt-oss, sliding", 64, 8, 64, 64, (511, 4095), window=128),
    AttentionTiming("Qwen3-Next", 16, 2, 256, 256, (511, 4095)),
    AttentionTiming("DeepSeek-V3, absorbed", 128, 1, 576, 512, (511, 4095), inside=True),
)


def time_attention(device: Device, layers: int = 36, length: int = 4096) -> None:
    """Times attention of one row alone, as many launches as a model has layers, each over tables of its own."""
    rng = np.random.default_rng(5)
    for timing in ATTENTIONS:
        for name, width in (("keys", timing.hd), ("values", timing.vd)):
            table = rng.standard_normal((length, timing.kv_heads * width), np.float32)
            first = device.put(f"{name}0", table)
            for layer in range(1, layers):
                device.copy(f"{name}{layer}", first, table.nbytes)
        device.put("q", rng.standard_normal(timing.heads * timing.hd).astype(np.float32))
        device.alloc("y", 4 * timing.heads * timing.vd, fill=0)
        calls = [select(scheduled(timing.spec(layer, length), device.chip.sms), device.chip) for layer in range(layers)]
        device.put("position", np.array([0], np.int32))
        device.scratch(calls)
        graph = device.graph(calls, overlap=True)
        for at in timing.positions:
            device.put("position", np.array([at], np.int32))
            each = device.timed(lambda graph=graph: device.replay(graph)).median / layers
            seen = min(at + 1, timing.window or at + 1)
            read = 4 * seen * timing.kv_heads * (timing.hd + (0 if timing.inside else timing.vd))
            words = f"{timing.words} at {at}"
            grid = "x".join(map(str, calls[0].grid))
            speed = read / each / 1e3
            print(f"attention {words:34} {calls[0].entry:17} grid {grid:9} {each:8.2f} µs {speed:7.0f} GB/s")
        device.free()


def kinds_of(calls: list[KernelCall]) -> dict[str, list[KernelCall]]:
    """Calls of one entry, grid and sizes, together."""
    kinds: dict[str, list[KernelCall]] = {}
    for c in calls:
        width = [a.value for a in c.arguments if isinstance(a, I32)][1]
        kinds.setdefault(f"{c.entry} {width} grid {c.grid[0]}x{c.grid[1]}", []).append(c)
    return kinds


def weight_bytes(spec: Spec, format: Format) -> int:
    """Bytes of the weights that a launch reads."""
    match spec:
        case GemvSpec():
            return sum(plane_layout(format, p.n, spec.k).total_bytes for p in spec.parts)
        case GluSpec():
            return 2 * plane_layout(format, spec.n, spec.k).total_bytes
        case _:
            return 0


def runs() -> Iterator[tuple[Format, int]]:
    """The forms of product that are timed."""
    yield Format.Q8_0, 1
    yield Format.BF16, 0
    yield Format.Q8_0, 2
    yield Format.Q8_0, 0


def check_families(match: str, jobs: int) -> int:
    """
    Checks the cases of every family, each in a process of its own, `jobs` at a time; 1 where any are wrong. More than
    one at a time is slower on an H200: of fourteen, the small cases had not ended in 280 s, which alone take 30.
    """

    def checked(family: str) -> tuple[str, subprocess.CompletedProcess[str]]:
        command = [sys.executable, __file__, "--family", family, "--match", match]
        return family, subprocess.run(command, check=False, capture_output=True, text=True)

    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for family, done in pool.map(checked, FAMILIES):
            print(f"{family}:\n{done.stdout}{done.stderr}", flush=True)
            failed = max(failed, int(done.returncode != 0))
    return failed


def sanitize(match: str) -> int:
    """The small cases under compute-sanitizer, for accesses out of bounds and for races; 1 where a tool finds any."""
    found = 0
    for tool in ("memcheck", "racecheck"):
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", "--print-limit", "20"]
        start = time.time()
        done = subprocess.run([*command, sys.executable, __file__, "--family", "small", "--match", match], check=False)
        print(f"{tool}: {'clean' if not done.returncode else 'NOT clean'}, {time.time() - start:.0f} s", flush=True)
        found = max(found, int(done.returncode != 0))
    return found


def main() -> int:
    """Runs what is asked for, everything by default."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--cases", action="store_true", help="check every case")
    parser.add_argument("--family", choices=FAMILIES, help="check the cases of one family")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="families that --cases checks at a time")
    parser.add_argument("--sanitize", action="store_true", help="check the small cases under compute-sanitizer")
    parser.add_argument("--step", type=int, default=0, help="time this many forms of a decoding step")
    parser.add_argument("--attention", action="store_true", help="time attention alone")
    parser.add_argument("--match", default="", help="only cases whose name has this")
    parser.add_argument("--layers", type=int, default=36)
    options = parser.parse_args()
    if options.sanitize:
        return sanitize(options.match)
    every = not (options.cases or options.family or options.step or options.attention)
    wrong = check_families(options.match, options.jobs) if every or options.cases else 0
    device = Device()
    print(device.chip)
    if options.family:
        wrong = check_cases(device, options.match, FAMILIES[options.family]())
    device.free()
    if every or options.attention:
        time_attention(device)
    for format, planes in list(runs())[: 4 if every else options.step]:
        time_step(device, Decoder(layers=options.layers), format, planes)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
