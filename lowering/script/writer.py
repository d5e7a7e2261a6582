"""Writes a plan out as a program: its launches as a table, under the text of `standalone`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lanelink.lowering.runtime.plan import Memory, Place, Plan, PlanConstant, PlanLaunch
from lanelink.lowering.runtime.ptx import plan_ptx
from lanelink.lowering.selection.calls import F32, I32, Address, Argument
from lanelink.passes.arena import aligned

LABEL = 120
"""Characters of a launch's label that its comment holds."""


class WriterError(ValueError):
    """A plan that would make no program: says which line, and what it would be."""


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

    Raises what `plan_ptx` raises, and WriterError where what was written is no Python.
    """
    layout = _laid_out(plan)
    files = plan_ptx(plan)
    modules = {stem: (ptx.name, hashlib.sha256(ptx.text.encode()).hexdigest()) for stem, ptx in files.items()}
    weights_file = f"{name}.weights"
    body = Path(__file__).with_name("standalone.py").read_text(encoding="utf-8")
    head = "".join((_docstring(plan, weights_file), body[body.index("\nfrom __future__") :], "\n\n"))
    lines = [*_step_lines(plan, layout, modules, weights_file), "", 'if __name__ == "__main__":']
    lines.append("    sys.exit(main(STEP, Path(__file__).resolve().parent))")
    text = head + "\n".join(lines) + "\n"
    _check_python(text)
    return Script(text, {ptx.name: ptx.text for ptx in files.values()}, weights_file, layout.pieces)


def _check_python(text: str) -> None:
    try:
        compile(text, "<program>", "exec", dont_inherit=True)
    except SyntaxError as error:
        place = "" if error.lineno is None else f" line {error.lineno}"
        found = (error.text or "").strip()[:100]
        raise WriterError(f"program{place}: expected Python, got {found!r} ({error.msg})") from None
    except ValueError as error:
        # Of characters that no source file holds.
        raise WriterError(f"program: expected Python, got other text ({error})") from None


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
    held = _escaped(weights_file)
    return (
        f'"""Step @{_escaped(plan.name)}: {len(plan.launches)} launches a token, as lanelink lowered them.\n\n'
        f"Needs numpy and cuda-python, the PTX files it names beside it, and {held}: its constants one after\n"
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
    label = launch.label or launch.entry
    cut = "..." if len(label) > LABEL else ""
    yield f"        # {_escaped(label[:LABEL])}{cut}: ops {', '.join(map(str, launch.covers))}"
    flags = (launch.dependent, launch.together, launch.cluster, launch.carveout)
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


def _escaped(text: str) -> str:
    """Any text as it stands on one line between double quotes, what is printable as it is."""
    return "".join(f"\\{c}" if c in '"\\' else c if c.isprintable() else repr(c)[1:-1] for c in text)


def _float(value: float) -> str:
    """A float as Python reads it back, the infinities and what is no number included."""
    written = repr(float(value))
    return f'float("{written}")' if written.strip("-") in ("inf", "nan") else written


__all__ = ["Piece", "Script", "WriterError", "write_script"]
