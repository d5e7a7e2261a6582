"""Writes the Python source of one basic block: one statement of numpy calls an instruction.

The function written is `block(R, X, m, K)`: R holds the registers that live between blocks, X the chunk of thread
blocks that runs (memory, warps), m the mask of the threads that are here (None: every thread of the chunk), and K the
registers that threads waiting elsewhere still need, which a store must not touch for them. Values are never changed in
place, so a move is a rebinding, and a value that is the same for all threads stays one element however it was
computed.
"""

import re
from dataclasses import dataclass, field

import numpy as np

from lanelink.lowering.emulator.errors import PtxError
from lanelink.lowering.emulator.ptx import Address, Guard, Immediate, Instruction, Name, Not, Operand, Variable
from lanelink.lowering.emulator.types import TAGS, Array, register_tag, tag_bytes

_LOCAL = re.compile(r"\br[0-9]+[a-z][0-9]?\b|\bt[0-9]+\b")


@dataclass(slots=True)
class Program:
    """What the blocks of one entry share: register numbers, constants, and the pseudo-registers that a launch fills in.

    `inputs` maps a pseudo-register's number to what it stands for: ("special", name), ("param", offset, tag) or
    ("symbol", name).
    """

    module: str
    registers: dict[str, str]
    params: dict[str, int]
    param_bytes: int
    variables: dict[str, Variable]
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    tags: list[str] = field(default_factory=list[str])
    inputs: dict[int, tuple[str | int, ...]] = field(default_factory=dict[int, "tuple[str | int, ...]"])
    constants: dict[str, Array] = field(default_factory=dict[str, Array])

    def number(self, name: str, tag: str) -> int:
        """The number of a register, made at first sight."""
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.tags)
            self.tags.append(tag)
        return number

    def input(self, tag: str, *source: str | int) -> int:
        """The number of a pseudo-register that the launch sets."""
        number = self.number(f"<{source}{tag}>", tag)
        self.inputs[number] = source
        return number

    def constant(self, value: int, tag: str) -> str:
        """The name of a (1, 1) array of this dtype holding these bits."""
        name = f"c_{tag.replace('?', 'p')}_{value:x}"
        if name not in self.constants:
            width = tag_bytes(tag)
            bits = np.frombuffer(value.to_bytes(width, "little"), dtype=f"u{width}")
            self.constants[name] = (bits != 0 if tag == "?" else bits.view(tag)).reshape(1, 1)
        return name


class Emitter:
    """The block under way. Handlers call `use` for operands and `define` for results."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.held: dict[int, dict[str, str]] = {}
        self.uses: set[int] = set()
        self.defs: set[int] = set()
        self.guard: str | None = None
        self.at = 0
        self.line = 0
        self.temporaries = 0

    # Reading

    def register(self, name: str, line_of: str = "a register") -> tuple[int, str]:
        """The number and held tag of a declared register."""
        kind = self.program.registers.get(name)
        tag = register_tag(kind) if kind is not None else ""
        if not tag:
            raise self.error(f"expected {line_of}, got {name!r}")
        return self.program.number(name, tag), tag

    def error(self, message: str) -> PtxError:
        return PtxError(message, self.line, self.program.module)

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def temporary(self, expression: str) -> str:
        """A local of this block that holds an intermediate value."""
        name = f"t{self.temporaries}"
        self.temporaries += 1
        self.emit(f"{name} = {expression}")
        return name

    def read(self, number: int, tag: str) -> str:
        """The local that holds a numbered register under a tag of the register's own width."""
        held = self.held.get(number)
        if held is None:
            own = self.program.tags[number]
            held = self.held[number] = {own: _local(number, own)}
            self.emit(f"{held[own]} = R[{number}]")
            self.uses.add(number)
        if tag not in held:
            source = next(iter(held.values()))
            held[tag] = _local(number, tag)
            self.emit(f"{held[tag]} = {source}.view({tag})")
        return held[tag]

    def use(self, operand: Operand, tag: str) -> str:
        """An expression (a local or a constant) for an operand read as `tag`; a wider register gives its low bytes."""
        match operand:
            case Immediate():
                return self.program.constant(self._bits(operand, tag), tag)
            case Not(name):
                return self.temporary(f"~{self.use(name, '?')}")
            case Name(text, offset):
                return self._use_name(text, offset, tag)
            case _:
                raise self.error(f"expected a register or a constant, got {operand}")

    def _use_name(self, text: str, offset: int, tag: str) -> str:
        if text in self.program.registers and not offset:
            number, own = self.register(text)
            if tag_bytes(own) == tag_bytes(tag) and (own == "?") == (tag == "?"):
                return self.read(number, tag)
            if "?" in (own, tag) or tag_bytes(own) < tag_bytes(tag):
                raise self.error(f"expected a register of {tag_bytes(tag)} bytes, got {text} of {tag_bytes(own)}")
            return self.temporary(f"{self.read(number, f'u{tag_bytes(own)}')}.astype({tag})")
        if text in self.program.variables:
            return self._input(tag, "symbol", text, offset)
        if text in self.program.params:
            return self._input(tag, "param_address", self.program.params[text] + offset)
        if text.startswith("%") and text in SPECIAL:
            return self._special(text, tag)
        if text == "WARP_SZ":
            return self.program.constant(32, tag)
        raise self.error(f"expected a register, a special register that is known, or a variable; got {text!r}")

    def _special(self, text: str, tag: str) -> str:
        width = SPECIAL[text]
        if tag == "?" or tag[0] == "f":
            raise self.error(f"expected {text} read as an integer")
        value = self.read(self.program.input(f"u{width}", "special", text), f"u{width}")
        return value if tag == f"u{width}" else self.temporary(f"{value}.astype({tag})")

    def _input(self, tag: str, *source: str | int) -> str:
        if tag not in ("u4", "i4", "u8", "i8"):
            raise self.error(f"expected an address to be read as 32 or 64 bits, got {tag}")
        unsigned = tag.replace("i", "u")
        return self.read(self.program.input(unsigned, *source), tag)

    def param(self, offset: int, tag: str) -> str:
        """A value of the parameter block."""
        if offset < 0 or offset + tag_bytes(tag) > self.program.param_bytes or offset % tag_bytes(tag):
            raise self.error(
                f"expected an aligned read inside the {self.program.param_bytes} bytes of parameters, "
                f"got {tag_bytes(tag)} bytes at offset {offset}"
            )
        return self.read(self.program.input(tag, "param", offset), tag)

    def _bits(self, operand: Immediate, tag: str) -> int:
        width = tag_bytes(tag)
        if tag == "?":
            return int(operand.value != 0)
        if operand.kind == "int":
            if tag[0] == "f":
                return int.from_bytes(np.array(float(operand.value), tag).tobytes(), "little")
            return operand.value & ((1 << (8 * width)) - 1)
        if operand.kind == f"f{width}":
            return operand.value
        source = np.frombuffer(operand.value.to_bytes(int(operand.kind[1]), "little"), operand.kind)
        if width not in (4, 8):
            raise self.error(f"expected a constant of {width} bytes, got one of {operand.kind[1]}")
        with np.errstate(all="ignore"):
            return int.from_bytes(source.astype(f"f{width}").tobytes(), "little")

    def address(self, operand: Operand) -> tuple[str, int]:
        """The base of `[base+offset]` as a u8 expression, and the offset in bytes."""
        if not isinstance(operand, Address):
            raise self.error(f"expected an address in brackets, got {operand}")
        if operand.base is None:
            return self.program.constant(operand.offset & ((1 << 64) - 1), "u8"), 0
        text = operand.base.text
        kind = self.program.registers.get(text)
        if kind is not None and TAGS.get(kind, "?") in ("u4", "i4"):
            return self.temporary(f"{self.use(operand.base, 'u4')}.astype(u8)"), operand.offset
        return self.use(operand.base, "u8"), operand.offset

    # Writing

    def define(self, operand: Operand, expression: str, tag: str) -> None:
        """Set a register to a value of `tag`: narrower values are widened by their sign; `_` drops the value."""
        if not isinstance(operand, Name) or operand.offset:
            raise self.error(f"expected a register to write, got {operand}")
        if operand.text == "_":
            self.temporary(expression)
            return
        number, own = self.register(operand.text, "a register to write")
        if (own == "?") != (tag == "?") or tag_bytes(own) < tag_bytes(tag):
            raise self.error(f"expected a register of {tag_bytes(tag)} bytes or more to write, got {operand.text}")
        if tag_bytes(own) > tag_bytes(tag):
            wide = f"{tag[0]}{tag_bytes(own)}"
            expression, tag = f"{expression}.astype({wide})", wide
        if self.guard is not None:
            expression = f"where({self.guard}, {expression}, {self.read(number, tag)})"
        name = _local(number, tag)
        self.emit(f"{name} = {expression}")
        self.held[number] = {tag: name}
        self.defs.add(number)

    def begin(self, at: int, instruction: Instruction) -> None:
        """Start an instruction: its index, line and guard."""
        self.at = at
        self.line = instruction.line
        self.guard = self.predicate(instruction.guard)

    def predicate(self, guard: Guard | None) -> str | None:
        """The mask that a guard stands for, as a local."""
        if guard is None:
            return None
        number, tag = self.register(guard.name, "a predicate")
        if tag != "?":
            raise self.error(f"expected a predicate after '@', got {guard.name}")
        value = self.read(number, "?")
        return self.temporary(f"~{value}") if guard.negated else value

    @property
    def mask(self) -> str:
        """The threads that this instruction acts for: those here, less those its guard turns off."""
        return "m" if self.guard is None else f"X.meet(m, {self.guard})"

    # Finishing

    def source(self, name: str, live_out: int, result: str | None) -> str:
        """The block's function. Locals are dropped after their last use, so that their memory is used again soon."""
        stores = [number for number in sorted(self.defs) if live_out >> number & 1]
        lines = list(self.lines)
        kept: set[str] = set()
        final: dict[int, str] = {}
        for number in stores:
            own = self.program.tags[number]
            held = self.held[number]
            if own in held:
                final[number] = held[own]
                kept.add(held[own])
            else:
                source = next(iter(held.values()))
                final[number] = f"{source}.view({own})"
                kept.add(source)
        if result is not None:
            kept.add(result)
        lines = _with_drops(lines, kept)
        if final:
            lines.append("if K:")
            lines += [f"    R[{n}] = where(m, {value}, R[{n}]) if {n} in K else {value}" for n, value in final.items()]
            lines.append("else:")
            lines += [f"    R[{n}] = {value}" for n, value in final.items()]
        lines.append(f"return {result}")
        return "\n".join([f"def {name}(R, X, m, K):", *(f"    {line}" for line in lines)])


def _local(number: int, tag: str) -> str:
    return f"r{number}{tag.replace('?', 'p')}"


def _with_drops(lines: list[str], kept: set[str]) -> list[str]:
    last: dict[str, int] = {}
    for i, line in enumerate(lines):
        for name in _LOCAL.findall(line):
            last[name] = i
    dying: dict[int, list[str]] = {}
    for name, i in last.items():
        if name not in kept:
            dying.setdefault(i, []).append(name)
    result: list[str] = []
    for i, line in enumerate(lines):
        result.append(line)
        if i in dying and i + 1 < len(lines):
            result.append(" = ".join([*dying[i], "None"]))
    return result


SPECIAL: dict[str, int] = {
    **{f"%{root}.{axis}": 4 for root in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"},
    **{f"%{r}.{axis}": 4 for r in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for axis in "xyz"},
    **dict.fromkeys(("%cluster_ctarank", "%cluster_nctarank"), 4),
    **dict.fromkeys(("%laneid", "%warpid", "%nwarpid", "%dynamic_smem_size", "%total_smem_size"), 4),
    **{f"%lanemask_{kind}": 4 for kind in ("eq", "lt", "le", "gt", "ge")},
}
"""Special registers that are known, and the bytes of each."""
