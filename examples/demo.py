"""What `make demo` shows: a small checkpoint from import to text, and the step at each level in short."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from lanelink.backends import open_backend
from lanelink.dialects.launch import Launch
from lanelink.dialects.launch.step import launches
from lanelink.dialects.tgraph import FusedOp, LiftedOp
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.frontend.text import open_text
from lanelink.lowering.runtime.cuda import gpu_missing
from lanelink.lowering.runtime.generation import generate
from lanelink.pipeline import Level, lower

CHECKPOINT = Path(__file__).parent.parent / "tests" / "models" / "qwen3"
PROMPT = "In the beginning"
TOKENS = 48


def main() -> None:
    """Imports, lowers, shows, decodes."""
    step = import_checkpoint(CHECKPOINT, context=128)
    show("Level 1: tgraph, what is computed", lifted(lower(step, Level.TENSORS)))
    show("Level 2: tgraph.fused, what goes together", fused(lower(step, Level.FUSED)))
    linked = lower(step, Level.LAUNCHES)
    show("Level 3: launch, what runs, and the lifted ops each launch covers", launched(linked))
    show("Level 4: driver, the calls", called(lower(step)))
    decode(step)


def show(title: str, lines: list[str], most: int = 18) -> None:
    """Prints the first lines under a title."""
    print(f"\n{title} ({len(lines)} lines in all)")
    for line in lines[:most]:
        print(f"  {line[:150]}")
    if len(lines) > most:
        print(f"  ... {len(lines) - most} more")


def body(module: ModuleOp) -> list[object]:
    """The ops of the module's function."""
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    return list(func.body.block.ops)


def lifted(module: ModuleOp) -> list[str]:
    """One line a lifted op."""
    return [str(op) for op in body(module) if isinstance(op, LiftedOp)]


def fused(module: ModuleOp) -> list[str]:
    """One line an op: its class and the parts it holds."""
    lines: list[str] = []
    for op in body(module):
        if isinstance(op, FusedOp):
            lines.append(f"{op.fusion_class.data.value}: {', '.join(leaf.name for leaf in op.leaves())}")
        elif isinstance(op, LiftedOp):
            lines.append(op.name)
    return lines


def launched(module: ModuleOp) -> list[str]:
    """One line a launch: its kind, its members, and the numbers of the lifted ops it covers."""
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    return [f"{described(launch):60} covers {launch.covered()}" for launch in launches(func)]


def described(launch: Launch) -> str:
    """A launch's name, with its members' where it has any."""
    members = [op for region in launch.regions for op in region.block.ops if isinstance(op, Launch)]
    inner = f" ({', '.join(described(m).removeprefix('launch.') for m in members)})" if members else ""
    return launch.name + inner


def called(module: ModuleOp) -> list[str]:
    """The lines of the driver module that launch."""
    return [line.strip() for line in str(module).splitlines() if "driver.launch" in line]


def decode(step: ModuleOp) -> None:
    """Decodes text on the emulator, or on a GPU where there is one."""
    missing = gpu_missing()
    backend = "emulator" if missing else "cuda"
    if missing:
        print(f"\nNo GPU ({missing}): the committed PTX runs in the emulator.")
    ready = open_backend(backend, step, open_directory(CHECKPOINT))
    assert ready.shape.vocabulary is not None
    text = open_text(CHECKPOINT, ready.shape.vocabulary)
    prompt = text.encode(PROMPT)
    start = time.perf_counter()
    ids = generate(ready, prompt, TOKENS)
    seconds = time.perf_counter() - start
    steps = len(prompt) + TOKENS - 1
    print(f"\n{backend}: {ready.launches_per_step} launches a step, {steps} steps in {seconds:.2f} s")
    print(f"{PROMPT!r} -> {text.decode(ids)!r}")


if __name__ == "__main__":
    sys.exit(main())
