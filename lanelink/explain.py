"""What each launch of a step does and why it ends where it does: plain data, of which a table or a page is made."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NameLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from lanelink.collector import collector_off
from lanelink.dialects.launch import ConstantOp, GatherOp, MoeOp, ViewOp
from lanelink.dialects.launch.accesses import root
from lanelink.dialects.launch.base import Launch, Placed
from lanelink.dialects.launch.sizes import buffer_bytes
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.shaped import is_memref, is_tensor
from lanelink.dialects.tgraph import ElementwiseOp, FusedOp, LiftedOp
from lanelink.dialects.tgraph.attributes import RowsType
from lanelink.dialects.tgraph.fused import numbers
from lanelink.dialects.tgraph.step import step_function, step_io
from lanelink.lowering.launch_to_driver import label_of
from lanelink.passes.legalize_shim import LegalizeShimPass
from lanelink.passes.shim import Answer, Shim
from lanelink.pipeline import Level, Schedule, passes
from lanelink.verify import verify_module

READS_PER_SECOND = {"h200": 4.65e12}
"""Bytes a second that a streaming read reaches on a chip, by its target's name."""

LAUNCH_SECONDS = 2.5e-6
"""What a launch takes beside its bytes: an H200 runs the smallest of them in 2.5 to 3 µs (benchmarks/RESULTS.md)."""


@dataclass(frozen=True)
class LaunchRow:
    """
    One launch: its kind in words, the lifted ops it covers with what each is, the fusion classes it is linked from, why
    it holds no more, the bytes it moves, and the seconds predicted of it, None for a chip of unknown bandwidth.
    """

    label: str
    covers: tuple[int, ...]
    ops: tuple[str, ...]
    classes: tuple[str, ...]
    why: str
    bytes: int
    seconds: float | None


@dataclass(frozen=True)
class Explanation:
    """The launches of a step in order, and the classes that were recognized and run as their parts, each with why."""

    step: str
    target: str
    launches: tuple[LaunchRow, ...]
    decomposed: tuple[tuple[str, str], ...]

    @property
    def bytes(self) -> int:
        """Bytes that a step moves."""
        return sum(row.bytes for row in self.launches)

    @property
    def seconds(self) -> float | None:
        """Seconds predicted of a step."""
        known = [row.seconds for row in self.launches if row.seconds is not None]
        return sum(known) if len(known) == len(self.launches) else None


def explain(module: ModuleOp, schedule: Schedule | None = None) -> Explanation:
    """
    The launches of a level-1 module, as the pipeline makes them.

    Raises VerifyException for a module that is wrong and PassFailedException for one the target refuses.
    """
    with collector_off():
        lowered = module.clone()
        ctx = Context()
        verify_module(lowered)
        rows = rows_of(lowered)
        recognized = _Recognized()
        for each in passes(Level.SCHEDULED, schedule):
            if isinstance(each, LegalizeShimPass):
                recognized.note(lowered, each.make_shim(module_target(lowered)))
            each.apply(ctx, lowered)
            verify_module(lowered)
    return _Explainer(lowered, recognized, rows).explanation()


class _Recognized:
    """What was recognized of a step, before the shim spoke: lifted ops by number, classes by the ops they hold."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.classes: dict[int, str] = {}
        self.misfits: list[tuple[str, frozenset[int], str]] = []

    def note(self, module: ModuleOp, shim: Shim) -> None:
        """Notes the fused and lifted ops of a module, and what the shim answers for each."""
        for op in step_function(module).body.block.walk():
            if isinstance(op, LiftedOp) and op.number is not None:
                self.names[op.number.value.data] = _named(op)
            if isinstance(op, FusedOp) and not isinstance(op.parent_op(), FusedOp):
                self._note_class(op, shim)

    def _note_class(self, op: FusedOp, shim: Shim) -> None:
        held = numbers(op)
        if shim.answer(op).answer is Answer.NATIVE:
            self.classes |= dict.fromkeys(held, _class_words(op))
            return
        why = shim.answer(op).reason or shim.fits(op) or "a class inside it runs as its parts"
        self.misfits.append((op.fusion_class.data.value, frozenset(held), why))
        for part in op.parts:
            if isinstance(part, FusedOp):
                self._note_class(part, shim)


def _class_words(op: FusedOp) -> str:
    """A class, with those of the fused ops inside it: `norm_quant`, `gemv_norm_epilogue(add_norm_quant)`."""
    inside = ", ".join(_class_words(part) for part in op.parts if isinstance(part, FusedOp))
    name = op.fusion_class.data.value
    return f"{name}({inside})" if inside else name


def _named(op: LiftedOp) -> str:
    """A lifted op's kind, with the last word of the name it came with that is no number: `matmul q_proj`."""
    kind = op.name.removeprefix("tgraph.")
    if isinstance(op, ElementwiseOp):
        kind = op.kind.data.value
    words = op.location.desc.data.split(".") if isinstance(op.location, NameLoc) else []
    name = next((word for word in reversed(words) if not word.isdigit()), "")
    return f"{kind} {name}" if name and name != kind else kind


class _Explainer:
    """The rows of one linked and scheduled step."""

    def __init__(self, module: ModuleOp, recognized: _Recognized, rows: int) -> None:
        self.func = step_function(module)
        self.target = module_target(module)
        self.recognized = recognized
        self.readers = _readers(self.func)
        self.rows = rows
        speed = READS_PER_SECOND.get(self.target.chip.data)
        self.seconds_a_byte = None if speed is None else 1 / speed

    def explanation(self) -> Explanation:
        """All of it."""
        rows = tuple(self._row(op) for op in launches(self.func) if not isinstance(op, ViewOp))
        decomposed = tuple(dict.fromkeys((name, why) for name, _, why in self.recognized.misfits))
        return Explanation(self.func.sym_name.data, self.target.chip.data, rows, decomposed)

    def _row(self, op: Launch) -> LaunchRow:
        covers, names = tuple(op.covered()), self.recognized.names
        size = launch_bytes(op, self.rows)
        return LaunchRow(
            label=label_of(op),
            covers=covers,
            ops=tuple(names.get(number, "unnamed") for number in covers),
            classes=tuple(dict.fromkeys(c for n in covers if (c := self.recognized.classes.get(n)))),
            why=self._why(op),
            bytes=size,
            seconds=None if self.seconds_a_byte is None else LAUNCH_SECONDS + size * self.seconds_a_byte,
        )

    def _why(self, op: Launch) -> str:
        """Why what reads a launch's results is another launch: the first reason that holds."""
        found = dict.fromkeys(reader for value in op.writes() for reader in self.readers.get(root(value), ()))
        readers = [reader for reader in found if reader is not op]
        if not readers:
            return "its results leave the step"
        covers = set(op.covered())
        for name, held, why in self.recognized.misfits:
            if covers & held and any(held & set(reader.covered()) for reader in readers):
                return f"{name} runs as its parts: {why}"
        if len(readers) > 1:
            return f"read by {len(readers)} launches: {', '.join(dict.fromkeys(map(label_of, readers)))}"
        return f"no class takes it into {label_of(readers[0])}"


def _readers(func: FuncOp) -> dict[SSAValue, list[Launch]]:
    """The ops of a step that read each buffer, in order."""
    readers: dict[SSAValue, list[Launch]] = {}
    for op in launches(func):
        if not isinstance(op, ViewOp):
            for value in dict.fromkeys(root(v) for v in op.reads()):
                readers.setdefault(value, []).append(op)
    return readers


def rows_of(module: ModuleOp) -> int:
    """Rows of a step of level 1: its tokens."""
    func = step_function(module)
    token = func.body.block.args[step_io(func).token].type
    assert is_tensor(token)
    return token.get_shape()[0]


def launch_bytes(op: Launch, rows: int) -> int:
    """
    Bytes that a launch of a step of `rows` rows moves, each buffer counted once: what it reads but did not write, and
    what it writes. Constants count whole and so do key and value tables, as in a full context; of a gather's or a
    rotation's table, and of a table that rows are written into, the step's rows count, and of a mixture's experts as
    many as the rows can take.
    """
    return sum(_sizes(op, rows).values())


def constant_bytes(op: Launch, rows: int) -> int:
    """The bytes of `launch_bytes` that are constants."""
    return sum(size for held, size in _sizes(op, rows).items() if isinstance(held.owner, ConstantOp))


def _sizes(op: Launch, rows: int) -> dict[SSAValue, int]:
    """The bytes that a launch moves of each buffer."""
    # A table that rows are set in is read whole all the same: an attention sets its step's own keys.
    parts = [part for part in op.walk() if isinstance(part, Launch)]
    filled = [part for part in parts if not _in_rows(part)]
    written = {root(v) for part in filled for name, v in part.named_operands() if name in part.WRITES}
    sizes: dict[SSAValue, int] = {}
    for part in parts:
        for name, value in part.named_operands():
            held = root(value)
            if name in part.WRITES or held not in written:
                sizes[held] = max(_moved(part, name, value, rows), sizes.get(held, 0))
    return sizes


def _in_rows(part: Launch) -> bool:
    """Whether a launch, or a part of one, writes rows of a table."""
    return isinstance(part, Placed) and (part.index is not None or part.row is not None)


def _moved(part: Launch, name: str, value: SSAValue, rows: int) -> int:
    """Bytes of one operand that a launch, or a part of one, reads or writes."""
    by_rows = name in ("cos", "sin") or (isinstance(part, GatherOp) and name == "table")
    if name in part.WRITES and isinstance(part, Placed):
        by_rows = _in_rows(part)
    kind = value.type
    if isinstance(kind, RowsType):
        held, cols = kind.shape
        return (rows if by_rows else _taken(part, name, held, rows)) * kind.format.data.row_bytes(cols)
    size = _taken(part, name, buffer_bytes(kind), rows)
    if by_rows and is_memref(kind):
        return min(rows, kind.get_shape()[0]) * (size // kind.get_shape()[0])
    return size


def _taken(part: Launch, name: str, whole: int, rows: int) -> int:
    """What a launch takes of something whole: of what a mixture has for each expert, the share of those chosen."""
    if not isinstance(part, MoeOp) or name not in ("gate", "up", "down", "gate_bias", "up_bias", "down_bias"):
        return whole
    experts = part.experts.value.data
    return whole // experts * min(experts, rows * part.top_k.value.data)


__all__ = ["Explanation", "LaunchRow", "constant_bytes", "explain", "launch_bytes", "rows_of"]
