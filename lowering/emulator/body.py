"""The body of an entry: registers, variables, labels and instructions, as syntax."""

import re
from dataclasses import dataclass, field, replace

from lanelink.lowering.emulator.cursor import Cursor
from lanelink.lowering.emulator.declarations import read_variables
from lanelink.lowering.emulator.errors import PtxError
from lanelink.lowering.emulator.ptx import (
    TYPE_BYTES,
    Address,
    Body,
    Guard,
    Immediate,
    Instruction,
    Name,
    Not,
    Operand,
    Pair,
    Variable,
    Vector,
)

_NUMBERED = re.compile(r"(.*?)([0-9]{1,10})\Z", re.ASCII)
_DEEPEST = 64


@dataclass(slots=True)
class _Scope:
    """What one pair of braces declares. A `%r<9>` range is kept as a range: a text may claim billions."""

    suffix: str
    registers: dict[str, str] = field(default_factory=dict[str, str])
    ranges: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    others: set[str] = field(default_factory=set[str])

    def register(self, name: str) -> str | None:
        """The type of a register of this scope."""
        if name in self.registers:
            return self.registers[name]
        found = _NUMBERED.match(name)
        if found and found[1] in self.ranges:
            kind, count = self.ranges[found[1]]
            return kind if int(found[2]) < count else None
        return None


class BodyReader:
    """Reads from `{` to its `}`."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.result = Body()
        self.scopes: list[_Scope] = []
        self.count = 0
        # One Name object for each name: most operands of a text are a few hundred registers.
        self.names: dict[str, Name] = {}
        self.resolved: dict[str, str] = {}
        # Labels may be used before they are seen: branches are bound once the whole body is read.
        self.pending: list[tuple[int, tuple[str, ...]]] = []

    def body(self) -> Body:
        cursor = self.cursor
        cursor.expect("{")
        self._open()
        while self.scopes:
            token = cursor.peek
            if cursor.accept("{"):
                self._open()
            elif cursor.accept("}"):
                self.scopes.pop()
                self.resolved.clear()
            elif token.text.startswith("."):
                self._directive()
            elif token.kind == "word" and cursor.tokens[cursor.index + 1].text == ":":
                self._label()
            elif token.kind == "word" or token.text == "@":
                self._instruction()
            elif not cursor.accept(";"):
                raise cursor.error("an instruction")
        self._bind_labels()
        return self.result

    def _open(self) -> None:
        if len(self.scopes) >= _DEEPEST:
            raise self.cursor.error(f"braces nested at most {_DEEPEST} deep")
        self.scopes.append(_Scope(f"#{self.count}" if self.count else ""))
        self.count += 1
        self.resolved.clear()

    def _directive(self) -> None:
        cursor = self.cursor
        token = cursor.next()
        self.resolved.clear()
        match token.text:
            case ".reg":
                self._registers()
            case ".shared" | ".local" | ".global" | ".const":
                for variable in read_variables(cursor, token.text[1:]):
                    self._declare_variable(variable)
            case ".loc" | ".file":
                cursor.skip_line(token.line)
            case ".pragma":
                cursor.skip_past(";")
            case _:
                raise PtxError(f"expected a directive of a body, got {token.text!r}", token.line, cursor.module)

    def _declare_variable(self, variable: Variable) -> None:
        scope = self.scopes[-1]
        name = variable.name + scope.suffix
        if name in self.result.variables:
            raise PtxError(
                f"expected a name of its own, got {variable.name!r} again", variable.line, self.cursor.module
            )
        scope.others.add(variable.name)
        self.result.variables[name] = replace(variable, name=name)

    def _registers(self) -> None:
        cursor = self.cursor
        kind = cursor.word("a register type")
        if kind.text[1:] not in TYPE_BYTES:
            raise PtxError(f"expected a register type, got {kind.text!r}", kind.line, cursor.module)
        scope = self.scopes[-1]
        while True:
            name = cursor.word("a register's name")
            if cursor.accept("<"):
                scope.ranges[name.text] = kind.text[1:], cursor.integer("a count of registers")
                cursor.expect(">")
            else:
                scope.registers[name.text] = kind.text[1:]
            if cursor.accept(";"):
                return
            cursor.expect(",")

    def _label(self) -> None:
        cursor = self.cursor
        token = cursor.next()
        cursor.expect(":")
        name = token.text + self.scopes[-1].suffix
        if name in self.result.labels or name in self.result.tables:
            raise PtxError(f"expected a label of its own, got {token.text!r} again", token.line, cursor.module)
        if cursor.accept(".branchtargets"):
            targets = [cursor.word("a label").text]
            while cursor.accept(","):
                targets.append(cursor.word("a label").text)
            cursor.expect(";")
            self.result.tables[name] = tuple(targets)
        elif cursor.accept(".callprototype") or cursor.accept(".calltargets"):
            cursor.skip_past(";")
        else:
            self.result.labels[name] = len(self.result.instructions)

    def _instruction(self) -> None:
        cursor = self.cursor
        guard = None
        if cursor.accept("@"):
            negated = cursor.accept("!")
            guard = Guard(self._resolve(cursor.word("a predicate").text), negated)
        opcode = cursor.word("an opcode")
        operands: list[Operand] = []
        if not cursor.accept(";"):
            operands.append(self._operand())
            while not cursor.accept(";"):
                # The result list and callee of a call are separated by commas too; parentheses read as braces.
                cursor.expect(",")
                operands.append(self._operand())
        root, *modifiers = opcode.text.split(".")
        if root in ("bra", "brx"):
            self.pending.append((len(self.result.instructions), tuple(s.suffix for s in reversed(self.scopes))))
        self.result.instructions.append(Instruction(root, tuple(modifiers), tuple(operands), guard, opcode.line))

    def _operand(self, depth: int = 0) -> Operand:
        cursor = self.cursor
        if cursor.peek.kind == "word":
            return self._named()
        if cursor.accept("["):
            return self._address()
        for left, right in (("{", "}"), ("(", ")")):
            if cursor.accept(left):
                return self._vector(right, depth)
        if cursor.accept("!"):
            return Not(Name(self._resolve(cursor.word("a predicate").text)))
        if cursor.peek.kind == "number" or cursor.peek.text == "-":
            return Immediate(*cursor.number("a number"))
        raise cursor.error("an operand")

    def _named(self) -> Operand:
        cursor = self.cursor
        name = self._resolve(cursor.word("an operand").text)
        if cursor.accept("|"):
            return Pair(Name(name), Name(self._resolve(cursor.word("a predicate").text)))
        offset = self._offset()
        return Name(name, offset) if offset else self._name(name)

    def _name(self, text: str) -> Name:
        found = self.names.get(text)
        if found is None:
            found = self.names[text] = Name(text)
        return found

    def _vector(self, closing: str, depth: int) -> Vector:
        cursor = self.cursor
        if depth > 2:
            raise cursor.error("an operand nested at most twice")
        items: list[Operand] = []
        while not cursor.accept(closing):
            if items:
                cursor.expect(",")
            items.append(self._operand(depth + 1))
        return Vector(tuple(items))

    def _address(self) -> Address:
        cursor = self.cursor
        if cursor.peek.kind == "word":
            base = self._name(self._resolve(cursor.next().text))
            offset = self._offset()
        else:
            base, offset = None, self._signed()
        cursor.expect("]")
        return Address(base, offset)

    def _offset(self) -> int:
        following = self.cursor.peek.text
        if following == "+":
            self.cursor.next()
            return self._signed()
        return self._signed() if following == "-" else 0

    def _signed(self) -> int:
        token = self.cursor.peek
        kind, value = self.cursor.number("a byte offset")
        if kind != "int":
            raise PtxError(f"expected a byte offset, got {token.text!r}", token.line, self.cursor.module)
        return value

    def _resolve(self, name: str) -> str:
        """The unique name of what the innermost scope that declares `name` calls so; other names stay as they are."""
        found = self.resolved.get(name)
        if found is None:
            found = self.resolved[name] = self._declared(name)
        return found

    def _declared(self, name: str) -> str:
        # A component of a special register (%tid.x) is part of its name; nothing declared holds a dot.
        for scope in reversed(self.scopes):
            kind = scope.register(name)
            if kind is not None:
                unique = name + scope.suffix
                self.result.registers[unique] = kind
                return unique
            if name in scope.others:
                return name + scope.suffix
        return name

    def _bind_labels(self) -> None:
        body = self.result
        for index, suffixes in self.pending:
            instruction = body.instructions[index]
            operands = tuple(
                Name(self._bound(o.text, suffixes)) if isinstance(o, Name) else o for o in instruction.operands
            )
            body.instructions[index] = replace(instruction, operands=operands)
            for operand in operands:
                if isinstance(operand, Name) and operand.text in body.tables:
                    bound = tuple(self._bound(t, suffixes) for t in body.tables[operand.text])
                    body.tables[operand.text] = bound

    def _bound(self, name: str, suffixes: tuple[str, ...]) -> str:
        for suffix in suffixes:
            if name + suffix in self.result.labels or name + suffix in self.result.tables:
                return name + suffix
        return name
