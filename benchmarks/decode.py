"""Decoding speed of real models' shapes on a GPU, with random weights: tokens a second against the bandwidth ceiling.

    python benchmarks/decode.py qwen3-8b [qwen3-0.6b ...] [--format q8_0] [--numerics int8] [--profile]

A shape is one of `benchmarks/shapes` or the path of a config.json. Prints a table and one JSON line a shape. Where the
package cannot be installed, lay it in links first:

    mkdir -p build/tree/lanelink && cp -rs $PWD/lanelink/* build/tree/lanelink/ && for p in dialects passes lowering \\
      kernels frontend; do cp -rs $PWD/$p build/tree/lanelink/; done; export PYTHONPATH=build/tree:$PYTHONPATH
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lanelink.dialects.driver import PlanesAttr
from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.runtime.cuda import CudaBackend, gpu_missing
from lanelink.lowering.runtime.loader import RandomLoader
from lanelink.lowering.runtime.plan import Plan, PlanLaunch, read_plan
from lanelink.lowering.selection.calls import Address
from lanelink.pipeline import Schedule, lower

CEILING = 4.65e12
"""Bytes a second that a streaming read reaches on an H200."""

SHAPES = Path(__file__).parent / "shapes"


def plan_of(shape: str, options: argparse.Namespace) -> Plan:
    """A shape's decoding step as a plan, without weights."""
    path = SHAPES / f"{shape}.json"
    step = import_checkpoint(
        path if path.exists() else Path(shape),
        context=options.context,
        quantize=Format(options.format),
        numerics=None if options.numerics is None else Numerics(options.numerics),
        no_weights=True,
    )
    return read_plan(lower(step, schedule=Schedule(dependent_launch=not options.no_dependent)))


def weight_bytes(plan: Plan, launch: PlanLaunch) -> int:
    """Bytes of constants that a launch must read: all of a product's, one row of a gather's table."""
    total = 0
    for number in {a.ref for a in launch.arguments if isinstance(a, Address)}:
        assert isinstance(number, int)
        constant = plan.buffers[number].constant
        if constant is None or "table" in constant.name:
            continue
        size = plan.buffers[number].bytes
        gathered = "gather" in launch.label and isinstance(constant.layout, PlanesAttr)
        total += size * plan.shape.rows // constant.layout.shape[0] if gathered else size
    return total


def measure(backend: CudaBackend, tokens: int, runs: int) -> dict[str, float]:
    """Median tokens a second of `runs` runs: of `decode`, which reads every id, and of replays alone."""
    rates: dict[str, list[float]] = defaultdict(list)
    for _ in range(runs):
        for name in ("decode", "replay"):
            backend.reset()
            backend.step(1)
            backend.chosen()
            start = time.perf_counter()
            if name == "decode":
                for _ in backend.decode(tokens):
                    pass
            else:
                backend.run_ahead(tokens)
            rates[name].append(tokens / (time.perf_counter() - start))
    return {name: statistics.median(found) for name, found in rates.items()}


def report(shape: str, options: argparse.Namespace) -> dict[str, Any]:
    """Everything measured of one shape."""
    plan = plan_of(shape, options)
    start = time.perf_counter()
    with CudaBackend(plan, RandomLoader()) as backend:
        loaded = time.perf_counter() - start
        rates = measure(backend, options.tokens, options.runs)
        size = sum(weight_bytes(plan, launch) for launch in plan.launches)
        found = {
            "shape": shape,
            "gpu": backend.facts.name,
            "format": options.format,
            "context": options.context,
            "tokens_per_second": round(rates["decode"], 1),
            "replays_per_second": round(rates["replay"], 1),
            "ms_per_token": round(1000 / rates["decode"], 4),
            "bytes_per_token": size,
            "gb_per_second": round(size * rates["decode"] / 1e9, 1),
            "share_of_ceiling": round(size * rates["decode"] / CEILING, 4),
            "launches_per_step": backend.launches_per_step,
            "load_seconds": round(loaded, 2),
        }
        if options.profile:
            profile(backend, options.context // 2)
    return found


def profile(backend: CudaBackend, position: int) -> None:
    """Prints, for each kind of launch, the time of all of that kind in one graph, replayed at one position.

    Launches of one kind read different weights, so caches help no more than in the step; they overlap as launches of
    the step do, though with their own kind.
    """
    plan = backend.plan
    kinds: dict[tuple[str, str, tuple[int, ...], int], list[PlanLaunch]] = defaultdict(list)
    for launch in plan.launches:
        kinds[launch.label, launch.entry, launch.grid, weight_bytes(plan, launch)].append(launch)
    step = timed(backend, plan.launches, position)
    print(f"\n{'launch':40} {'entry':24} {'grid':>14} {'times':>5} {'us each':>8} {'us':>8} {'MB':>8} {'TB/s':>6}")
    total = 0.0
    for (label, entry, grid, size), launches in kinds.items():
        each = timed(backend, launches, position) / len(launches)
        total += each * len(launches)
        print(
            f"{label:40} {entry:24} {'x'.join(map(str, grid)):>14} {len(launches):5} {each * 1e6:8.2f} "
            f"{each * len(launches) * 1e6:8.1f} {size / 1e6:8.2f} {size / each / 1e12:6.2f}"
        )
    print(f"{'sum':40} {'':24} {'':14} {len(plan.launches):5} {'':8} {total * 1e6:8.1f}")
    print(f"{'the step as it is':40} {'':24} {'':14} {len(plan.launches):5} {'':8} {step * 1e6:8.1f}\n")


def timed(backend: CudaBackend, launches: Sequence[PlanLaunch], position: int, replays: int = 20) -> float:
    """Seconds of one replay of the launches: the least of three measurements from `position` on."""
    graph = backend.capture(launches)
    found: list[float] = []
    for _ in range(3):
        backend.reset()
        if backend.plan.position is not None:
            backend.write(backend.plan.position, np.array([position], np.int32))
        found.append(backend.seconds(graph, replays) / replays)
    return min(found)


def main() -> int:
    """The exit code: 1 where there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="+")
    parser.add_argument("--format", choices=[f.value for f in Format], default="q8_0")
    parser.add_argument("--numerics", choices=[n.value for n in Numerics])
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-dependent", action="store_true", help="without programmatic dependent launch")
    parser.add_argument("--profile", action="store_true", help="the time of each kind of launch")
    options = parser.parse_args()
    if missing := gpu_missing():
        print(f"decode: {missing}", file=sys.stderr)
        return 1
    results = [report(shape, options) for shape in options.shapes]
    print(f"{'shape':16} {'tok/s':>8} {'ms':>8} {'replays/s':>10} {'GB/s':>8} {'of 4.65':>8} {'launches':>8}")
    for r in results:
        print(
            f"{Path(r['shape']).name:16} {r['tokens_per_second']:8} {r['ms_per_token']:8} {r['replays_per_second']:10} "
            f"{r['gb_per_second']:8} {r['share_of_ceiling']:8.1%} {r['launches_per_step']:8}"
        )
    for r in results:
        print(json.dumps(r))
    return 0


if __name__ == "__main__":
    sys.exit(main())
