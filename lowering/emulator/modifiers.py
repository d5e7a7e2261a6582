"""Reading an instruction's modifiers: each is taken by name, and what no handler took is refused."""

from collections.abc import Callable, Collection
from typing import TypeAlias

from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.ptx import TYPE_BYTES, Instruction, Operand


class Modifiers:
    """The modifiers of one instruction that are still to be taken, in order."""

    def __init__(self, e: Emitter, instruction: Instruction) -> None:
        self.e = e
        self.instruction = instruction
        self.rest = list(instruction.modifiers)

    def flag(self, name: str) -> bool:
        if name in self.rest:
            self.rest.remove(name)
            return True
        return False

    def choice(self, options: Collection[str]) -> str | None:
        """The first modifier that is among the options."""
        for name in self.rest:
            if name in options:
                self.rest.remove(name)
                return name
        return None

    def need(self, options: Collection[str], what: str) -> str:
        found = self.choice(options)
        if found is None:
            raise self.e.error(f"expected {what} ({', '.join(sorted(options))}) in {self.instruction.text}, got none")
        return found

    def drop(self, options: Collection[str]) -> None:
        """Take what says nothing about the result."""
        self.rest = [name for name in self.rest if name not in options]

    def type(self) -> str:
        """The last type."""
        for name in reversed(self.rest):
            if name in TYPE_BYTES:
                self.rest.reverse()
                self.rest.remove(name)
                self.rest.reverse()
                return name
        raise self.e.error(f"expected a type in {self.instruction.text}, got none")

    def done(self) -> None:
        if self.rest:
            raise self.e.error(
                f"expected an instruction that the emulator knows, got {self.instruction.text} (.{self.rest[0]})"
            )

    def operands(self, count: int) -> tuple[Operand, ...]:
        """All modifiers must be taken by now; the operands must be this many."""
        self.done()
        got = len(self.instruction.operands)
        if got != count:
            raise self.e.error(f"expected {count} operands of {self.instruction.text}, got {got}")
        return self.instruction.operands

    def unknown_type(self, kind: str) -> Exception:
        return self.e.error(
            f"expected a type that {self.instruction.opcode} has here, got .{kind} in {self.instruction.text}"
        )


Handler: TypeAlias = Callable[[Emitter, Instruction], None]
