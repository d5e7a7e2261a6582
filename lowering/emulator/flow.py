"""Basic blocks of a body, and which registers are live between them.

A block ends at a branch, at the end of a thread, at a barrier of its block or cluster, or where another is entered.
Blocks keep the order of the text: the block's index is the program counter that the executor schedules by.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lanelink.lowering.emulator.errors import PtxError
from lanelink.lowering.emulator.ptx import Body, Guard, Immediate, Instruction, Name

Ending: TypeAlias = Literal["fall", "jump", "branch", "table", "exit", "barrier", "meet", "trap"]


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions [first, last) and how they end.

    `targets` are block indices: the jump's or branch's target; the table's entries; nothing for the others. Control
    that is not transferred goes on to the next block. `guard` is that of the ending instruction, `ending_at` its index
    (the index past the last instruction where the block just runs into the next one).
    """

    index: int
    first: int
    last: int
    ending: Ending
    targets: tuple[int, ...]
    guard: Guard | None
    ending_at: int

    def successors(self) -> tuple[int, ...]:
        """Blocks that control may go to."""
        falls = self.ending in ("fall", "branch", "barrier", "meet") or self.guard is not None
        if self.ending == "table" and self.guard is None:
            falls = False
        return (*self.targets, self.index + 1) if falls else self.targets


_STRONG_LOADS = frozenset({"volatile", "relaxed", "acquire", "mmio"})
_LOOKS = frozenset({"try_wait", "test_wait"})
_CHANGING = frozenset({"st", "atom", "red", "cp"})


def _looks(instruction: Instruction) -> bool:
    """Whether an instruction reads what another thread may write meanwhile."""
    if instruction.opcode == "ld":
        return not _STRONG_LOADS.isdisjoint(instruction.modifiers)
    return instruction.opcode == "mbarrier" and not _LOOKS.isdisjoint(instruction.modifiers)


def polls(block: Block, body: Body, carried: int) -> bool:
    """Whether a block is a loop of its own that does nothing but read, until another thread writes what it waits for.

    `carried`: the registers, as bits, that it takes over from one round to the next; such a loop has none.
    """
    if block.ending != "branch" or block.targets != (block.index,) or carried:
        return False
    inside = body.instructions[block.first : block.last]
    reads = any(_looks(i) for i in inside)
    return reads and all(i.opcode not in _CHANGING for i in inside)


_ENDINGS: dict[str, Ending] = {
    "bra": "jump",
    "brx": "table",
    "ret": "exit",
    "exit": "exit",
    "bar": "barrier",
    "barrier": "barrier",
    "trap": "trap",
}


def _ending(instruction: Instruction) -> Ending | None:
    if instruction.opcode in ("bar", "barrier"):
        if "cluster" in instruction.modifiers:
            return "meet" if "wait" in instruction.modifiers else None
        if "warp" in instruction.modifiers:
            return None
    return _ENDINGS.get(instruction.opcode)


def needs_own_block(instruction: Instruction) -> bool:
    """Whether a block must begin here: an instruction that waits for lanes that only the running program knows."""
    if "sync" not in instruction.modifiers or instruction.opcode in ("bar", "barrier", "mma", "ldmatrix", "wmma"):
        return False
    return not isinstance(instruction.operands[-1] if instruction.operands else None, Immediate)


def blocks_of(body: Body, module: str) -> list[Block]:
    """The blocks of a body. Raises PtxError for a branch to nowhere, and for control that runs past the end."""
    instructions = body.instructions
    if not instructions:
        return [Block(0, 0, 0, "exit", (), None, 0)]
    starts = _starts(body)
    count = len(instructions)
    # A text may end with a label; control that reaches it would run past the end, which the last block's check reports.
    edges = sorted(s for s in starts if s < count)
    number = {start: i for i, start in enumerate(edges)}
    blocks: list[Block] = []
    for i, first in enumerate(edges):
        end = edges[i + 1] if i + 1 < len(edges) else count
        last = instructions[end - 1]
        ending = _ending(last)
        if ending is None:
            blocks.append(Block(i, first, end, "fall", (), None, end))
        else:
            targets = _targets(body, last, number, module)
            kind: Ending = "branch" if ending == "jump" and last.guard is not None else ending
            blocks.append(Block(i, first, end - 1, kind, targets, last.guard, end - 1))
    if len(blocks) in blocks[-1].successors():
        raise PtxError(
            "expected the body to end with ret or a branch, got its closing brace", instructions[-1].line, module
        )
    return blocks


def _starts(body: Body) -> set[int]:
    starts = {0, *body.labels.values()}
    for i, instruction in enumerate(body.instructions):
        if _ending(instruction) is not None:
            starts.add(i + 1)
        if needs_own_block(instruction):
            starts.add(i)
    return starts


def _targets(body: Body, last: Instruction, number: dict[int, int], module: str) -> tuple[int, ...]:
    match last.opcode:
        case "bra":
            labels = [last.operands[0]] if len(last.operands) == 1 else []
        case "brx":
            table = last.operands[1] if len(last.operands) == 2 else None
            if not isinstance(table, Name) or table.text not in body.tables:
                raise PtxError("expected brx.idx index, table; got no .branchtargets of that name", last.line, module)
            labels = [Name(label) for label in body.tables[table.text]]
        case _:
            return ()
    targets: list[int] = []
    for label in labels:
        if not isinstance(label, Name) or body.labels.get(label.text, len(body.instructions)) not in number:
            name = label.text if isinstance(label, Name) else label
            raise PtxError(f"expected a branch to a label of this entry, got {name!r}", last.line, module)
        targets.append(number[body.labels[label.text]])
    if not targets:
        raise PtxError(f"expected a label after {last.text}, got none", last.line, module)
    return tuple(targets)


def bits_of(numbers: Iterable[int]) -> int:
    """A set of small whole numbers as the bits of one."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def numbers_of(bits: int) -> frozenset[int]:
    """The places of set bits."""
    return frozenset(i for i, digit in enumerate(reversed(f"{bits:b}")) if digit == "1")


def live_in(blocks: Sequence[Block], uses: Sequence[set[int]], defs: Sequence[set[int]]) -> list[int]:
    """Registers live at each block's entry, as bits, by the usual backward fixed point.

    `uses` are reads before any write. Sets are bits of one number: a text may hold thousands of blocks and registers.
    """
    live = [bits_of(u) for u in uses]
    kept = [~bits_of(d) for d in defs]
    predecessors: list[list[int]] = [[] for _ in blocks]
    for block in blocks:
        for successor in block.successors():
            predecessors[successor].append(block.index)
    work = list(range(len(blocks)))
    queued = [True] * len(blocks)
    while work:
        i = work.pop()
        queued[i] = False
        fresh = live[i] | (live_out(blocks[i], live) & kept[i])
        if fresh != live[i]:
            live[i] = fresh
            for p in predecessors[i]:
                if not queued[p]:
                    queued[p] = True
                    work.append(p)
    return live


def live_out(block: Block, live: Sequence[int]) -> int:
    """Registers live past a block's end, as bits."""
    out = 0
    for successor in block.successors():
        out |= live[successor]
    return out
