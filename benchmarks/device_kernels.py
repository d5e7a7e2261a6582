"""Every kernel on a GPU: right against its meaning over all cases; then attention alone, timed at several positions.

    python benchmarks/device_kernels.py [--cases | --family NAME | --sanitize] [--attention] [--match WORD]

Times are of graphs whose launches each read tables of their own, with programmatic dependent launch; GB/s counts the
keys and values that are read. Whole steps, kind by kind of launch, are `lanelink bench --profile`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from device import Device

from lanelink.lowering.cases.attention import scheduled
from lanelink.lowering.cases.case import Case
from lanelink.lowering.cases.lists import FAMILIES
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import Address, ScratchKind, SelectionError
from lanelink.lowering.selection.select import select
from lanelink.lowering.selection.specs import Rows


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
    parser.add_argument("--attention", action="store_true", help="time attention alone")
    parser.add_argument("--match", default="", help="only cases whose name has this")
    options = parser.parse_args()
    if options.sanitize:
        return sanitize(options.match)
    every = not (options.cases or options.family or options.attention)
    wrong = check_families(options.match, options.jobs) if every or options.cases else 0
    device = Device()
    print(device.chip)
    if options.family:
        wrong = check_cases(device, options.match, FAMILIES[options.family]())
    device.free()
    if every or options.attention:
        time_attention(device)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
