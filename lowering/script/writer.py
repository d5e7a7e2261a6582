"""Writes a plan out as a program: its launches as a table, under the text of `standalone`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lanelink.lowering.runtime.plan import Memory, Place, Plan, PlanConstant, PlanLaunch
from lanelink.lowering.selection.calls import F32, I32, Address, Argument
from lanelink.lowering.signatures import committed_ptx
from lanelink.passes.arena import aligned


@dataclass(frozen=True)
class Piece:
    """A constant, and the bytes it takes in the weights' file, those up to the next one's start among them."""

    constant: PlanConstant
    bytes: int


@dataclass(frozen=True)
class Script:
    """A program: its text, the PTX files beside it by name, and its weights' file as pieces in order."""

    text: str
    ptx: dict[str, str]
    weights_file: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class _Layout:
    """Where each buffer of a plan lies in one allocation: what begins as zeros first, the constants last."""

    offsets: tuple[int, ...]
    size: int
    zeroed: int
    weights: int
    pieces: tuple[Piece, ...]

    def at(self, buffer: int, offset: int) -> int:
        """The place of a byte of a buffer."""
        return self.offsets[buffer] + offset


def write_script(plan: Plan, name: str) -> Script:
    """
    The program of a plan; `name` is its file's without the suffix, and the head of its weights' file's.

    Raises SignatureError where the package holds no PTX that the plan names.
    """
    layout = _laid_out(plan)
    files = {stem: committed_ptx(stem, architecture) for stem, architecture in plan.modules.items()}
    modules = {stem: (ptx.name, hashlib.sha256(ptx.text.encode()).hexdigest()) for stem, ptx in files.items()}
    weights_file = f"{name}.weights"
    body = Path(__file__).with_name("standalone.py").read_text(encoding="utf-8")
    text = "".join((_docstring(plan, weights_file), body[body.index("\nfrom __future__") :], "\n\n"))
    lines = [*_step_lines(plan, layout, modules, weights_file), "", 'if __name__ == "__main__":']
    lines.append("    sys.exit(main(STEP, Path(__file__).resolve().parent))")
    return Script(
        text + "\n".join(lines) + "\n", {ptx.name: ptx.text for ptx in files.values()}, weights_file, layout.pieces
    )


def _laid_out(plan: Plan) -> _Layout:
    """The layout of a plan's buffers."""
    offsets = [0] * len(plan.buffers)
    end = 0

    def place(wanted: Iterator[int]) -> int:
        nonlocal end
        for k in wanted:
            offsets[k], end = end, end + aligned(plan.buffers[k].bytes)
        return end

    zeroed = place(k for k, b in enumerate(plan.buffers) if b.memory.zeroed)
    weights = place(k for k, b in enumerate(plan.buffers) if not b.memory.zeroed and b.memory is not Memory.CONSTANT)
    place(k for k, b in enumerate(plan.buffers) if b.memory is Memory.CONSTANT)
    pieces = tuple(Piece(b.constant, aligned(b.bytes)) for b in plan.buffers if b.constant is not None)
    return _Layout(tuple(offsets), end, zeroed, weights, pieces)


def _docstring(plan: Plan, weights_file: str) -> str:
    return (
        f'"""Step @{plan.name}: {len(plan.launches)} launches a token, as lanelink lowered them.\n\n'
        f"Needs numpy and cuda-python, the PTX files it names beside it, and {weights_file}: its constants one after\n"
        'another, as they lie on the device.\n"""\n'
    )


def _step_lines(plan: Plan, layout: _Layout, modules: dict[str, tuple[str, str]], weights_file: str) -> Iterator[str]:
    def place(where: Place | None) -> int | None:
        return None if where is None else layout.at(where.buffer, where.offset)

    fields = {
        "rows": plan.shape.rows,
        "sequences": plan.shape.sequences,
        "context": plan.shape.context,
        "vocabulary": plan.shape.vocabulary,
        "size": layout.size,
        "zeroed": layout.zeroed,
        "weights": layout.weights,
        "weights_file": weights_file,
        "modules": modules,
        "token": place(plan.token),
        "chosen": place(plan.chosen),
        "carries_token": plan.carries_token,
    }
    yield "STEP = Step("
    yield from (f"    {name}={value!r}," for name, value in fields.items())
    yield "    launches=("
    for launch in plan.launches:
        yield from _launch_lines(launch, layout)
    yield "    ),"
    yield ")"


def _launch_lines(launch: PlanLaunch, layout: _Layout) -> Iterator[str]:
    """A launch under a comment that says what it is and which lifted ops it computes."""
    yield f"        # {launch.label.splitlines()[0]}: ops {', '.join(map(str, launch.covers))}"
    flags = (launch.dependent, launch.together, launch.cluster)
    head = (launch.module, launch.entry, launch.grid, launch.block, launch.shared, *flags)
    arguments = ", ".join(_argument(argument, layout) for argument in launch.arguments)
    comma = "," if len(launch.arguments) == 1 else ""
    yield f"        Launch({', '.join(map(repr, head))}, ({arguments}{comma})),"


def _argument(argument: Argument, layout: _Layout) -> str:
    match argument:
        case Address():
            assert isinstance(argument.ref, int)
            return f"At({layout.at(argument.ref, argument.offset)})"
        case I32():
            return str(argument.value)
        case F32():
            return _float(argument.value)
        case _:
            return "None"


def _float(value: float) -> str:
    """A float as Python reads it back, the infinities and what is no number included."""
    written = repr(float(value))
    return f'float("{written}")' if written.strip("-") in ("inf", "nan") else written


__all__ = ["Piece", "Script", "write_script"]
