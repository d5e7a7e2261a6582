"""Where in a launch something happens, and the words for what went wrong there."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanelink.lowering.emulator.errors import EmulatorError
from lanelink.lowering.emulator.ptx import Instruction

Extent = tuple[int, int, int]


def unflatten(flat: int, extent: Extent) -> Extent:
    """A linear index as (x, y, z), x fastest."""
    return flat % extent[0], flat // extent[0] % extent[1], flat // (extent[0] * extent[1])


@dataclass(frozen=True, slots=True)
class Fault:
    """One bad access: `size` bytes at an address of a space."""

    space: str
    address: int
    size: int
    write: bool

    @property
    def text(self) -> str:
        return f"{'write' if self.write else 'read'} of {self.size} bytes at {self.space} address {self.address:#x}"


@dataclass(frozen=True, slots=True)
class Site:
    """
    A chunk of a launch: blocks [first, first + blocks) of the grid, in linear order, each of `threads` threads; of
    clusters of `cluster` blocks, whole ones.
    """

    kernel: str
    module: str
    instructions: Sequence[Instruction]
    grid: Extent
    block: Extent
    first: int
    blocks: int
    threads: int
    cluster: Extent = (1, 1, 1)

    def place(self, at: int, thread: int | None) -> str:
        """Kernel, PTX line with its instruction, and block and thread where one is to blame."""
        instruction = self.instructions[at] if at < len(self.instructions) else None
        where = f"kernel {self.kernel}, {self.module}"
        if instruction is not None:
            where += f":{instruction.line} ({instruction.text})"
        if thread is None:
            return where
        block, lane = divmod(thread, self.threads)
        return f"{where}, {self.who(self.first + block, lane)}"

    def who(self, block: int, thread: int) -> str:
        """A block of the grid and a thread of it, both linear, as indices."""
        return f"block {unflatten(block, self.grid)} thread {unflatten(thread, self.block)}"

    def error(self, at: int, thread: int | None, message: str) -> EmulatorError:
        return EmulatorError(f"{self.place(at, thread)}: {message}")

    def misaligned(self, at: int, thread: int, fault: Fault) -> EmulatorError:
        left = fault.address % fault.size
        return self.error(
            at, thread, f"{fault.text}: expected alignment to {fault.size} bytes, got an address {left} past it"
        )

    def outside(self, at: int, thread: int, fault: Fault, nearest: str) -> EmulatorError:
        return self.error(at, thread, f"{fault.text}: expected memory of a live allocation, got {nearest}")

    def unwritten(self, at: int, thread: int, fault: Fault, nearest: str) -> EmulatorError:
        return self.error(at, thread, f"{fault.text}: expected memory that was written, got unwritten bytes {nearest}")

    def constant(self, at: int, thread: int, fault: Fault, nearest: str) -> EmulatorError:
        return self.error(
            at, thread, f"{fault.text}: expected memory that may be written, got constant bytes {nearest}"
        )
