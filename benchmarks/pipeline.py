"""How long compiling takes: import and every pass, for a shape at its own depth and at twice that. No GPU needed.

    python benchmarks/pipeline.py [qwen3-8b ...] [--format q8_0 | --stored] [--once] [--runs 3]

A shape is one of lanelink/shapes, or the path of a config.json; with --once it is compiled at its own depth alone.
Processor seconds of this process, the least of the runs, with the module verified after every pass and Python's cyclic
collector off as the command line has them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lanelink.bench import SHAPES
from lanelink.collector import collector_off
from lanelink.dialects.formats import Format
from lanelink.frontend.importer import import_checkpoint
from lanelink.pipeline import PASSES
from lanelink.verify import verify_module

Times = dict[str, float]


def stages(config: Path, format: Format | None) -> Times:
    """Seconds of each stage of compiling a shape once, its matrices in `format` or as they are stored."""
    taken: Times = {}

    def timed(name: str, work: Callable[[], object]) -> object:
        start = time.process_time()
        result = work()
        taken[name] = taken.get(name, 0.0) + time.process_time() - start
        return result

    with collector_off():
        module = timed("import", lambda: import_checkpoint(config, context=512, quantize=format, no_weights=True))
        assert isinstance(module, ModuleOp)
        ctx = Context()
        for each in PASSES:
            timed(each.name, lambda each=each: each().apply(ctx, module))
            timed("verify", lambda: verify_module(module))
        timed("print", lambda: str(module))
    return taken


def least(config: Path, format: Format | None, runs: int) -> Times:
    """The run that took the least in all."""
    found = [stages(config, format) for _ in range(runs)]
    return min(found, key=lambda run: sum(run.values()))


def depths(shape: str, once: bool, folder: Path) -> Iterator[tuple[int, Path]]:
    """(Layers, config.json) of a shape as it is, and with twice the layers."""
    named = SHAPES / f"{shape}.json"
    source = named if named.exists() else Path(shape)
    config = json.loads(source.read_text(encoding="utf-8"))
    layers = config["num_hidden_layers"]
    yield layers, source
    if not once:
        path = folder / "config.json"
        path.write_text(json.dumps({**config, "num_hidden_layers": 2 * layers}))
        yield 2 * layers, path


def show(heading: str, found: dict[int, Times]) -> None:
    """A row a stage, a column a depth; after two, how many times the second takes."""
    columns = list(found.values())
    print(f"{heading:40}" + "".join(f"{depth:>7} layers" for depth in found))
    rows = [(name, [column[name] for column in columns]) for name in columns[0]]
    for name, seconds in [*rows, ("in all", [sum(column.values()) for column in columns])]:
        times = f"{seconds[1] / seconds[0]:8.2f}" if len(seconds) == 2 and seconds[0] else ""
        print(f"{name:>40}" + "".join(f"{each:12.2f} s" for each in seconds) + times)


def main() -> None:
    """Prints a table a shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", default=["qwen3-8b"])
    parser.add_argument("--format", type=Format, default=Format.Q8_0)
    parser.add_argument("--stored", action="store_true", help="matrices as the checkpoint stores them")
    parser.add_argument("--once", action="store_true", help="at the shape's own depth alone")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    format = None if options.stored else options.format
    with tempfile.TemporaryDirectory() as folder:
        for shape in options.shapes:
            each = dict(depths(shape, options.once, Path(folder)))
            found = {layers: least(path, format, options.runs) for layers, path in each.items()}
            show(f"{Path(shape).stem} {'as stored' if format is None else format.value}", found)


if __name__ == "__main__":
    main()
