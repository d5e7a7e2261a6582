"""`lanelink bench`: the decoding speed of a model's shape on a GPU, with random weights, against the card's ceiling."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.formats import Format
from lanelink.dialects.launch import ViewOp
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import Numerics, module_target
from lanelink.dialects.tgraph.step import step_function
from lanelink.explain import constant_bytes, rows_of
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.launch_to_driver import chip_of
from lanelink.lowering.runtime.cuda import CudaBackend, check_room
from lanelink.lowering.runtime.loader import RandomLoader
from lanelink.lowering.runtime.plan import read_plan
from lanelink.lowering.runtime.profile import Profile, ceiling, measure, profile
from lanelink.pipeline import Level, Schedule, lower

SHAPES = Path(__file__).parent / "shapes"
"""Configurations of real models, by name."""


@dataclass(frozen=True)
class Options:
    """What is measured: matrices in `format`, but for those that a release keeps in blocks of another, products by
    `numerics` (the format's own where none), tables of `context` rows of `kv` keys and values, a token each of
    `sequences` a step, the median of `runs` runs of `tokens` tokens of each, the profile or not."""

    format: Format = Format.Q8_0
    numerics: Numerics | None = None
    kv: Format = Format.F32
    context: int = 512
    sequences: int = 1
    tokens: int = 256
    runs: int = 5
    profile: bool = False
    schedule: Schedule = field(default_factory=Schedule)


@dataclass(frozen=True)
class Report:
    """
    A shape's speed. Tokens a second are those of all `sequences`, `ms_per_token` is what one of them waits for its
    next. `bytes_per_token` are those of constants that a step, a token of each, must read, `ceiling` the bytes a second
    of a streaming read in the same run, `share` the part of it that decoding reaches.
    """

    shape: str
    gpu: str
    format: str
    numerics: str
    context: int
    tokens_per_second: float
    replays_per_second: float
    ms_per_token: float
    bytes_per_token: int
    ceiling: float
    share: float
    launches_per_step: int
    load_seconds: float
    sequences: int = 1
    profile: Profile | None = None

    def numbers(self) -> dict[str, object]:
        """All but the profile, by name; the profile as a list of its kinds."""
        found = {k: v for k, v in asdict(self).items() if k != "profile"}
        if self.profile is not None:
            found["profile"] = [
                {
                    "launch": kind.launch.label,
                    "entry": kind.launch.entry,
                    "grid": kind.launch.grid,
                    "times": kind.times,
                    "bytes": kind.bytes,
                    "microseconds": kind.seconds * 1e6,
                    "in_step_microseconds": kind.in_step * 1e6,
                }
                for kind in self.profile.kinds
            ]
            found["step_microseconds"] = self.profile.step * 1e6
        return found


def shape_names() -> list[str]:
    """The presets."""
    return sorted(path.stem for path in SHAPES.glob("*.json"))


def shape_path(shape: str) -> Path:
    """The config.json of a preset, or of a path to one or to its directory. Raises CheckpointError where there is
    neither."""
    preset, path = SHAPES / f"{shape}.json", Path(shape)
    if not preset.exists() and not path.exists():
        raise CheckpointError(f"{shape}: expected a path or one of {', '.join(shape_names())}, got neither")
    return preset if preset.exists() else path


def step_of(shape: str, options: Options) -> ModuleOp:
    """A shape's decoding step at level 1, of weights that nothing holds. Raises CheckpointError."""
    return import_checkpoint(
        shape_path(shape),
        context=options.context,
        sequences=options.sequences,
        quantize=options.format,
        keep_blocks=True,
        numerics=options.numerics,
        no_weights=True,
        kv=options.kv,
    )


def launch_sizes(step: ModuleOp, schedule: Schedule) -> list[int]:
    """The bytes of constants that each launch of a level-1 step reads, in order."""
    rows = rows_of(step)
    scheduled = step_function(lower(step, Level.SCHEDULED, schedule))
    return [constant_bytes(op, rows) for op in launches(scheduled) if not isinstance(op, ViewOp)]


def bench(shape: str, options: Options) -> Report:
    """
    Measures a shape on the first GPU; random weights are drawn once for all matrices of a size, and copied there.

    Raises CheckpointError, PassFailedException for a shape that the target refuses, BackendError for a GPU that is not
    there or has not the memory, ValueError for a context that does not hold the tokens.
    """
    if options.context < options.tokens + 1:
        raise ValueError(f"--context: expected room for {options.tokens} tokens and one, got {options.context}")
    step = step_of(shape, options)
    target = module_target(step)
    sizes = launch_sizes(step, options.schedule)
    plan = read_plan(lower(step, schedule=options.schedule))
    check_room(plan)
    fastest = ceiling(chip_of(target))
    start = time.perf_counter()
    with CudaBackend(plan, RandomLoader()) as backend:
        loaded = time.perf_counter() - start
        rates = measure(backend, options.tokens, options.runs)
        found = profile(backend, sizes, options.context // 2) if options.profile else None
        return Report(
            shape=shape if shape in shape_names() else Path(shape).stem,
            gpu=backend.facts.name,
            format=options.format.value,
            numerics=target.numerics.data.value,
            context=options.context,
            tokens_per_second=rates.decode,
            replays_per_second=rates.replay,
            ms_per_token=1000 * options.sequences / rates.decode,
            bytes_per_token=sum(sizes),
            ceiling=fastest,
            share=sum(sizes) * rates.decode / options.sequences / fastest,
            launches_per_step=backend.launches_per_step,
            sequences=options.sequences,
            load_seconds=loaded,
            profile=found,
        )


__all__ = ["Options", "Report", "bench", "launch_sizes", "shape_names", "shape_path", "step_of"]
