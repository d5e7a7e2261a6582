"""What a PTX module says, as plain data: its header, its entries with their parameters, and their instructions.

`parse_ptx` (in `parser`) makes these. The grammar is that of the PTX ISA manual, chapters 4 (syntax), 5 (state spaces)
and 11 (directives). Nothing here knows what an instruction means.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

TYPE_BYTES: dict[str, int] = {
    "pred": 1,
    "b8": 1,
    "u8": 1,
    "s8": 1,
    "b16": 2,
    "u16": 2,
    "s16": 2,
    "f16": 2,
    "bf16": 2,
    "b32": 4,
    "u32": 4,
    "s32": 4,
    "f32": 4,
    "f16x2": 4,
    "bf16x2": 4,
    "b64": 8,
    "u64": 8,
    "s64": 8,
    "f64": 8,
    "b128": 16,
}
"""Bytes of each fundamental type."""

VariableSpace: TypeAlias = Literal["shared", "local", "global", "const"]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of an entry: `size` bytes at `offset` of the parameter block. An array is one parameter."""

    name: str
    type: str
    size: int
    align: int
    offset: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable outside the registers. `size` is 0 for an unsized `extern .shared` array; `initial` is None where
    unset.
    """

    name: str
    space: VariableSpace
    size: int
    align: int
    line: int
    initial: bytes | None = None

    @property
    def dynamic(self) -> bool:
        """Whether it is the shared memory that the launch sizes."""
        return self.space == "shared" and self.size == 0


@dataclass(frozen=True, slots=True)
class Name:
    """A register, special register, variable or label, with a byte offset where one was written (`table+16`)."""

    text: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant: an int, or the bits of an f32 ("f4") or f64 ("f8")."""

    kind: Literal["int", "f4", "f8"]
    value: int


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`; the base is None for an absolute address."""

    base: Name | None
    offset: int


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, ...}`"""

    items: tuple["Operand", ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`d|p`: a destination and its predicate."""

    first: Name
    second: Name


@dataclass(frozen=True, slots=True)
class Not:
    """`!p`"""

    name: Name


Operand: TypeAlias = Name | Immediate | Address | Vector | Pair | Not


@dataclass(frozen=True, slots=True)
class Guard:
    """`@p` or `@!p` before an instruction."""

    name: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `opcode.modifiers operands` at a 1-based line, under an optional guard."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None
    line: int

    @property
    def text(self) -> str:
        """The opcode with its modifiers, as written."""
        return ".".join((self.opcode, *self.modifiers))


@dataclass(slots=True)
class Body:
    """An entry's instructions. Names declared in inner braces have been made unique by a suffix."""

    registers: dict[str, str] = field(default_factory=dict[str, str])
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])


@dataclass(frozen=True, slots=True)
class PtxEntry:
    """An entry point. `static_shared` counts the bytes of the shared variables that it can name, module-wide ones
    included.
    """

    name: str
    params: tuple[Param, ...]
    static_shared: int
    maxntid: tuple[int, int, int] | None
    reqntid: tuple[int, int, int] | None
    minnctapersm: int | None
    line: int
    body: Body

    @property
    def param_bytes(self) -> int:
        """Bytes of the whole parameter block."""
        return max((p.offset + p.size for p in self.params), default=0)


@dataclass(frozen=True, slots=True)
class PtxModule:
    """A parsed module: PTX ISA `version`, `target` (such as sm_80), entries by name, and variables of module scope."""

    name: str
    version: tuple[int, int]
    target: str
    address_size: int
    entries: dict[str, PtxEntry]
    variables: dict[str, Variable]
