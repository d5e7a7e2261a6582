"""How compiling grows with a step: every pass to `launch` on one function of 2,500 to 20,000 lifted ops, without a GPU.

    python benchmarks/scale.py [--runs 3]

A dense decoder of as many layers as give the ops (Qwen3-0.6B's with biases, q8_0, int8 activations). Processor seconds
of this process, the least of the runs of each stage; the module is verified after every pass, as the command line does.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.universe import Universe

from lanelink.bench import SHAPES
from lanelink.collector import collector_off
from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import LiftedOp
from lanelink.frontend.importer import import_checkpoint
from lanelink.pipeline import PASSES, Level
from lanelink.verify import verify_module

SHAPE = SHAPES / "qwen3-0.6b.json"
OPS = (2_500, 5_000, 10_000, 20_000)
T = TypeVar("T")


def decoder(layers: int) -> ModuleOp:
    """A step of so many layers, without weights."""
    config = json.loads(SHAPE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps({**config, "attention_bias": True, "num_hidden_layers": layers}))
        return import_checkpoint(path, context=512, quantize=Format.Q8_0, no_weights=True)


def lifted(module: ModuleOp) -> int:
    """How many lifted ops a module holds."""
    return sum(isinstance(op, LiftedOp) for op in module.walk())


def stages(text: str) -> dict[str, float]:
    """Processor seconds of each stage from a step's text to that of its launches."""
    taken: dict[str, float] = {}

    def timed(name: str, work: Callable[[], T]) -> T:
        start = time.process_time()
        result = work()
        taken[name] = taken.get(name, 0.0) + time.process_time() - start
        return result

    ctx = Context()
    for name, dialect in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, dialect)
    with collector_off():
        module = timed("parse", lambda: Parser(ctx, text).parse_module())
        timed("verify, before and after each", lambda: verify_module(module))
        for each in PASSES[: Level.SCHEDULED.value]:
            timed(each.name, lambda each=each: each().apply(ctx, module))
            timed("verify, before and after each", lambda: verify_module(module))
        timed("print", lambda: str(module))
    return taken


def main() -> None:
    """Prints a row a stage, a column a size, and how much each doubling takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    few, more = lifted(decoder(1)), lifted(decoder(2))
    found: list[tuple[int, dict[str, float]]] = []
    for ops in OPS:
        module = decoder(round((ops - few) / (more - few)) + 1)
        text = str(module)
        runs = [stages(text) for _ in range(options.runs)]
        found.append((lifted(module), {name: min(run[name] for run in runs) for name in runs[0]}))
    print("| stage | " + " | ".join(f"{ops:,} ops" for ops, _ in found) + " | times, each doubling |")
    print("| --- " * (len(found) + 2) + "|")
    for name in [*found[0][1], "in all"]:
        seconds = [taken.get(name, sum(taken.values())) for _, taken in found]
        times = ", ".join(f"{b / a:.2f}" if a else "" for a, b in pairwise(seconds))
        print(f"| {name} | " + " | ".join(f"{s:.2f} s" for s in seconds) + f" | {times} |")


if __name__ == "__main__":
    main()
