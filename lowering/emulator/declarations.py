"""Variables of the state spaces: `.shared .align 16 .b8 tile[1024];`, `.const .u32 table[4] = {1, 2, 3, 4};`."""

import struct
from typing import cast

from lanelink.lowering.emulator.cursor import Cursor
from lanelink.lowering.emulator.errors import PtxError
from lanelink.lowering.emulator.ptx import TYPE_BYTES, Variable, VariableSpace

MOST_VARIABLE_BYTES = 1 << 30


def read_variables(cursor: Cursor, space: str, *, extern: bool = False) -> list[Variable]:
    """The variables after a space's word, up to and past the `;`."""
    align: int | None = None
    kind: str | None = None
    while cursor.peek.text.startswith("."):
        token = cursor.next()
        if token.text == ".align":
            align = cursor.alignment()
        elif token.text[1:] in TYPE_BYTES and token.text != ".pred":
            kind = token.text[1:]
        elif token.text != ".attribute":
            raise PtxError(f"expected a type of a variable, got {token.text!r}", token.line, cursor.module)
        else:
            raise PtxError("expected a plain variable, got one with .attribute", token.line, cursor.module)
    if kind is None:
        raise cursor.error(f"a type of a .{space} variable")
    variables = [_variable(cursor, space, kind, align, extern)]
    while cursor.accept(","):
        variables.append(_variable(cursor, space, kind, align, extern))
    cursor.expect(";")
    return variables


def _variable(cursor: Cursor, space: str, kind: str, align: int | None, extern: bool) -> Variable:
    name = cursor.word("a variable's name")
    size = TYPE_BYTES[kind]
    lengths: list[int | None] = []
    while cursor.accept("["):
        lengths.append(None if cursor.peek.text == "]" else cursor.integer("an array's length"))
        cursor.expect("]")
        size *= 1 if lengths[-1] is None else lengths[-1]
        if size > MOST_VARIABLE_BYTES:
            raise PtxError(
                f"expected {name.text} to take at most {MOST_VARIABLE_BYTES} bytes, got {size}",
                name.line,
                cursor.module,
            )
    initial = _initial(cursor, kind) if cursor.accept("=") else None
    if None in lengths:
        if initial is not None:
            size = len(initial)
        elif extern and space == "shared":
            size = 0
        else:
            raise PtxError(f"expected a length for {name.text}, got none", name.line, cursor.module)
    elif extern:
        raise PtxError(f"expected {name.text} in this module, got .extern .{space}", name.line, cursor.module)
    if initial is not None:
        if len(initial) > size:
            raise PtxError(
                f"expected at most {size} initial bytes for {name.text}, got {len(initial)}", name.line, cursor.module
            )
        initial = initial.ljust(size, b"\0")
    elif space in ("global", "const"):
        # PTX ISA 5.4.4: variables of these spaces that have no initialiser start at zero.
        initial = bytes(size)
    return Variable(name.text, cast("VariableSpace", space), size, align or TYPE_BYTES[kind], name.line, initial)


def _initial(cursor: Cursor, kind: str) -> bytes:
    pieces: list[bytes] = []
    depth = 0
    while True:
        if cursor.accept("{"):
            depth += 1
            continue
        if cursor.peek.kind == "word":
            raise cursor.error("a number (an address of a variable as an initial value is not known here)")
        pieces.append(_packed(cursor, kind))
        while depth and cursor.accept("}"):
            depth -= 1
        if not depth:
            return b"".join(pieces)
        cursor.expect(",")


def _packed(cursor: Cursor, kind: str) -> bytes:
    token = cursor.peek
    form, value = cursor.number("a number")
    size = TYPE_BYTES[kind]
    if form == "int" and not kind.startswith(("f", "bf")):
        return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    if kind == "f32" and form != "int":
        if form == "f8":
            return struct.pack("<f", struct.unpack("<d", value.to_bytes(8, "little"))[0])
        return value.to_bytes(4, "little")
    if kind == "f64" and form == "f8":
        return value.to_bytes(8, "little")
    raise PtxError(f"expected an initial value of type .{kind}, got {token.text!r}", token.line, cursor.module)
