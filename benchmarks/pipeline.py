"""How long compiling takes: import and every pass, for a shape at its own depth and at twice that. No GPU needed.

    python benchmarks/pipeline.py [qwen3-8b] [--format q8_0]

Processor seconds of this process, the least of three runs, with the module verified after every pass as the command
line does.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lanelink.bench import SHAPES
from lanelink.dialects.formats import Format
from lanelink.frontend.importer import import_checkpoint
from lanelink.pipeline import PASSES
from lanelink.verify import verify_module


def stages(config: Path, format: Format) -> dict[str, float]:
    """Seconds of each stage of compiling a shape once."""
    taken: dict[str, float] = {}

    def timed(name: str, work: Callable[[], object]) -> object:
        start = time.process_time()
        result = work()
        taken[name] = taken.get(name, 0.0) + time.process_time() - start
        return result

    module = timed("import", lambda: import_checkpoint(config, context=512, quantize=format, no_weights=True))
    assert isinstance(module, ModuleOp)
    ctx = Context()
    for each in PASSES:
        timed(each.name, lambda each=each: each().apply(ctx, module))
        timed("verify", lambda: verify_module(module))
    timed("print", lambda: str(module))
    return taken


def main() -> None:
    """Prints a row a stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", nargs="?", default="qwen3-8b")
    parser.add_argument("--format", default="q8_0")
    options = parser.parse_args()
    config = json.loads((SHAPES / f"{options.shape}.json").read_text(encoding="utf-8"))
    layers = config["num_hidden_layers"]
    found: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for depth in (layers, 2 * layers):
            path = Path(folder) / "config.json"
            path.write_text(json.dumps({**config, "num_hidden_layers": depth}))
            runs = [stages(path, Format(options.format)) for _ in range(3)]
            found[depth] = min(runs, key=lambda run: sum(run.values()))
    print(f"{options.shape} {options.format}: {'stage':20}{layers:>6} layers{2 * layers:>6} layers   times")
    totals = {depth: sum(run.values()) for depth, run in found.items()}
    rows = [*found[layers], "in all"]
    for name in rows:
        once, twice = (found[d].get(name, totals[d]) for d in (layers, 2 * layers))
        print(f"{name:>40}{once:12.2f} s{twice:12.2f} s{twice / once if once else 0:8.2f}")


if __name__ == "__main__":
    main()
