"""An entry's body to Python: every basic block becomes one function; an entry's are compiled together, once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from lanelink.lowering.emulator import barrier_instructions as barriers
from lanelink.lowering.emulator import cluster_instructions as cluster
from lanelink.lowering.emulator import conversions, data, float_math, floats, integer_math, integers
from lanelink.lowering.emulator import memory_instructions as memory
from lanelink.lowering.emulator import tensor_instructions as tensor
from lanelink.lowering.emulator import warp_instructions as warp
from lanelink.lowering.emulator.emitter import Emitter, Program
from lanelink.lowering.emulator.errors import PtxError
from lanelink.lowering.emulator.flow import (
    Block,
    Ending,
    bits_of,
    blocks_of,
    live_in,
    live_out,
    needs_own_block,
    polls,
)
from lanelink.lowering.emulator.modifiers import Handler
from lanelink.lowering.emulator.ptx import TYPE_BYTES, Instruction, PtxEntry, PtxModule
from lanelink.lowering.emulator.spaces import WINDOW_BYTES, WINDOWS
from lanelink.lowering.emulator.types import Array

BlockFunction: TypeAlias = Callable[[list[Array], Any, "Array | None", frozenset[int]], "Array | None"]

_ALONE: dict[str, Handler] = {
    **integers.TABLE,
    **floats.TABLE,
    **conversions.TABLE,
    **data.TABLE,
    **memory.TABLE,
    **barriers.TABLE,
    **warp.TABLE,
    **cluster.TABLE,
    **tensor.TABLE,
}


@dataclass(frozen=True, slots=True)
class CompiledBlock:
    """One basic block, ready to run.

    `run(R, X, m, K)` returns the predicate of a guarded ending, the index of a table, or None. `waits` are the constant
    member masks of instructions that wait for lanes, each with its instruction; `waits_register` is the number of the
    register that holds such a mask. `live_in` has a bit for each register that is live at the block's entry. `polls`:
    it runs again and again until another thread writes what it reads.
    """

    run: BlockFunction
    ending: Ending
    targets: tuple[int, ...]
    guarded: bool
    ending_at: int
    barrier: tuple[int, int | None]
    waits: tuple[tuple[int, int], ...]
    waits_register: tuple[int, int] | None
    live_in: int
    polls: bool


Blocks: TypeAlias = tuple[CompiledBlock, ...]


class CompiledEntry:
    """An entry's blocks in text order, with what their registers start from.

    Every instruction has been decoded; the Python of the blocks is compiled when the entry first runs, as most entries
    of a module never do.
    """

    def __init__(self, name: str, program: Program, source: str, make: Callable[[dict[str, object]], Blocks]) -> None:
        self.name = name
        self.program = program
        self.source = source
        self._make = make
        self._blocks: Blocks | None = None

    @property
    def blocks(self) -> Blocks:
        if self._blocks is None:
            self._blocks = self._make(_compiled(self.source, self.program, self.name))
        return self._blocks


def compile_entry(entry: PtxEntry, module: PtxModule) -> CompiledEntry:
    """Decode every instruction of an entry. Raises PtxError, by line and opcode, for any that is not known."""
    body = entry.body
    variables = {**module.variables, **body.variables}
    params = {p.name: p.offset for p in entry.params}
    program = Program(module.name, body.registers, params, entry.param_bytes, variables)
    blocks = blocks_of(body, module.name)
    emitters: list[Emitter] = []
    results: list[str | None] = []
    barriers: list[tuple[int, int | None]] = []
    for block in blocks:
        e = Emitter(program)
        for at in range(block.first, block.last):
            _decode(e, at, body.instructions[at])
        barrier: tuple[int, int | None] = (0, None)
        result: str | None = None
        if block.ending != "fall" and block.ending_at < len(body.instructions):
            last = body.instructions[block.ending_at]
            e.begin(block.ending_at, last)
            result = e.guard
            if block.ending == "barrier":
                barrier = warp.barrier_of(e, last)
            elif block.ending == "meet":
                cluster.check_wait(e, last)
            else:
                result = _ending_value(e, block, last)
        emitters.append(e)
        results.append(result)
        barriers.append(barrier)
    live = live_in(blocks, [e.uses for e in emitters], [e.defs for e in emitters])
    pieces: list[str] = []
    for block, e, result in zip(blocks, emitters, results, strict=True):
        pieces.append(e.source(f"block{block.index}", live_out(block, live), result))
    source = "\n".join(pieces)
    inputs = bits_of(program.inputs)

    def make(functions: dict[str, object]) -> Blocks:
        return tuple(
            CompiledBlock(
                cast("BlockFunction", functions[f"block{block.index}"]),
                block.ending,
                block.targets,
                block.guard is not None,
                block.ending_at,
                barrier,
                *_waits(block, entry, program),
                live[block.index] & ~inputs,
                polls(block, body, live[block.index] & bits_of(e.defs)),
            )
            for block, e, barrier in zip(blocks, emitters, barriers, strict=True)
        )

    return CompiledEntry(entry.name, program, source, make)


def _decode(e: Emitter, at: int, instruction: Instruction) -> None:
    e.begin(at, instruction)
    handler = _ALONE.get(instruction.opcode)
    if handler is None:
        kinds = [m for m in instruction.modifiers if m in TYPE_BYTES]
        table = floats.SHARED if kinds and kinds[-1] in floats.FLOATS else integers.SHARED
        handler = table.get(instruction.opcode)
    if handler is None:
        raise e.error(f"expected an instruction that the emulator knows, got {instruction.text}")
    try:
        handler(e, instruction)
    except (KeyError, ValueError, IndexError, TypeError, OverflowError) as fault:
        # Operands of a kind that no handler foresees: refused, by line, as an unknown instruction is.
        raise e.error(f"expected an instruction that the emulator knows, got {instruction.text} ({fault})") from fault


def _ending_value(e: Emitter, block: Block, last: Instruction) -> str | None:
    known = {
        "bra": ((), ("uni",)),
        "brx": (("idx",), ("idx", "uni")),
        "ret": ((), ("uni",)),
        "exit": ((),),
        "trap": ((),),
    }
    if last.modifiers not in known[last.opcode]:
        raise e.error(f"expected an instruction that the emulator knows, got {last.text}")
    if block.ending != "table":
        return e.guard
    if e.guard is not None:
        raise e.error("expected brx.idx without a guard")
    return e.use(last.operands[0], "u4")


def _waits(
    block: Block, entry: PtxEntry, program: Program
) -> tuple[tuple[tuple[int, int], ...], tuple[int, int] | None]:
    waits: list[tuple[int, int]] = []
    register: tuple[int, int] | None = None
    for at in range(block.first, block.last):
        instruction = entry.body.instructions[at]
        if instruction.opcode in tensor.TABLE:
            waits.append((0xFFFFFFFF, at))
            continue
        if instruction.guard is not None or instruction.opcode not in (
            "shfl",
            "vote",
            "redux",
            "match",
            "elect",
            "bar",
            "barrier",
        ):
            continue
        members = warp.constant_members(instruction)
        if members is not None:
            waits.append((members, at))
        elif needs_own_block(instruction):
            name = warp.members_register(instruction)
            if name is not None and name in program.numbers:
                register = program.numbers[name], at
    return tuple(waits), register


def _compiled(source: str, program: Program, name: str) -> dict[str, object]:
    namespace: dict[str, object] = {**_NAMESPACE, **program.constants}
    try:
        exec(compile(source, f"<{name}>", "exec"), namespace)
    except (SyntaxError, RecursionError, MemoryError) as fault:
        raise PtxError(
            f"expected an entry of ordinary size, got {len(source)} characters of code", 1, program.module
        ) from fault
    return namespace


def in_window(address: Array, space: str) -> Array:
    """Whether generic addresses lie in a space."""
    if WINDOWS[space]:
        start = np.uint64(WINDOWS[space])
        return (address >= start) & (address < start + np.uint64(WINDOW_BYTES))
    return address >= np.uint64(max(WINDOWS.values()) + WINDOW_BYTES)


def _functions(module: object) -> dict[str, object]:
    return {n: f for n, f in vars(module).items() if callable(f) and not n.startswith("_")}


_NAMESPACE: dict[str, object] = {
    **_functions(integer_math),
    **_functions(float_math),
    **conversions.FUNCTIONS,
    **{
        n: getattr(np, n)
        for n in ("where", "minimum", "maximum", "absolute", "negative", "rint", "trunc", "floor", "ceil")
    },
    **{n: getattr(np, n) for n in ("sqrt", "isfinite", "isinf", "isnan", "copysign")},
    **{t: np.dtype(t) for t in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")},
    "select": np.where,
    "in_window": in_window,
}
