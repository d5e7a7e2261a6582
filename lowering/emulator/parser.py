"""The reader of PTX modules: header, variables, entries. Bodies are read by `body`."""

from dataclasses import replace
from typing import cast

from lanelink.lowering.emulator.body import BodyReader
from lanelink.lowering.emulator.cursor import Cursor
from lanelink.lowering.emulator.declarations import read_variables
from lanelink.lowering.emulator.errors import PtxError
from lanelink.lowering.emulator.ptx import TYPE_BYTES, Param, PtxEntry, PtxModule, Variable
from lanelink.lowering.emulator.tokens import tokenize

_LINKAGE = (".visible", ".extern", ".weak", ".common")
MOST_PARAM_BYTES = 32764
"""Of a kernel's parameters on sm_70 and later (CUDA C++ Programming Guide, `__global__` function parameters)."""


def parse_ptx(text: str, name: str = "ptx") -> PtxModule:
    """Read a PTX module. Instructions are only read as syntax: what they mean is checked when an emulator loads them.

    Raises PtxError, with the line, for anything that is not PTX.
    """
    return _ModuleReader(Cursor(tokenize(text, name), name)).module()


class _ModuleReader:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.version: tuple[int, int] | None = None
        self.target: str | None = None
        self.address_size = 32
        self.variables: dict[str, Variable] = {}
        self.entries: list[PtxEntry] = []
        self.names: set[str] = set()

    def module(self) -> PtxModule:
        cursor = self.cursor
        while cursor.peek.kind != "end":
            self._directive()
        if self.version is None or self.target is None:
            missing = ".version" if self.version is None else ".target"
            raise PtxError(
                f"expected a {missing} directive, got none in the whole text", cursor.peek.line, cursor.module
            )
        shared = [v for v in self.variables.values() if v.space == "shared"]
        entries = {e.name: _with_shared(e, shared) for e in self.entries}
        return PtxModule(cursor.module, self.version, self.target, self.address_size, entries, self.variables)

    def _directive(self) -> None:
        cursor = self.cursor
        token = cursor.word("a directive")
        match token.text:
            case ".version":
                major, dot, minor = cursor.number_text("a version such as 8.4").partition(".")
                if not dot or not major.isdigit() or not minor.isdigit() or len(major + minor) > 8:
                    raise PtxError("expected a version such as 8.4", token.line, cursor.module)
                self.version = int(major), int(minor)
            case ".target":
                self.target = cursor.word("a target such as sm_80").text
                while cursor.accept(","):
                    cursor.word("a target option")
            case ".address_size":
                self.address_size = cursor.integer("32 or 64")
                if self.address_size != 64:
                    raise PtxError(f"expected .address_size 64, got {self.address_size}", token.line, cursor.module)
            case ".file" | ".loc":
                cursor.skip_line(token.line)
            case ".section":
                cursor.word("a section's name")
                cursor.skip_braces()
            case ".pragma" | ".alias":
                cursor.skip_past(";")
            case _:
                self._linkage(token.text, token.line)

    def _linkage(self, text: str, line: int) -> None:
        cursor = self.cursor
        extern = False
        while text in _LINKAGE:
            extern = extern or text == ".extern"
            text = cursor.word("a directive").text
        match text:
            case ".entry":
                self._entry(line)
            case ".func":
                self._function()
            case ".shared" | ".global" | ".const":
                for variable in read_variables(cursor, text[1:], extern=extern):
                    self._declare(variable.name, variable.line)
                    self.variables[variable.name] = variable
            case _:
                raise PtxError(f"expected a directive of module scope, got {text!r}", line, cursor.module)

    def _declare(self, name: str, line: int) -> None:
        if name in self.names:
            raise PtxError(f"expected a name of its own, got {name!r} a second time", line, self.cursor.module)
        self.names.add(name)

    def _function(self) -> None:
        """Functions that are not entries are passed over: a `call` to one is refused at load, by its line."""
        cursor = self.cursor
        while cursor.peek.kind != "end":
            if cursor.peek.text == "{":
                cursor.skip_braces()
                return
            if cursor.next().text == ";":
                return

    def _entry(self, line: int) -> None:
        cursor = self.cursor
        name = cursor.word("an entry's name").text
        self._declare(name, line)
        params = self._params() if cursor.accept("(") else ()
        maxntid = reqntid = minnctapersm = None
        while cursor.peek.text != "{":
            if cursor.accept(";"):
                return
            token = cursor.word("a performance directive or '{'")
            match token.text:
                case ".maxntid":
                    maxntid = self._extent()
                case ".reqntid":
                    reqntid = self._extent()
                case ".minnctapersm":
                    minnctapersm = cursor.integer("a count")
                case ".maxnreg" | ".maxnctapersm" | ".maxclusterrank":
                    cursor.integer("a count")
                case ".noreturn":
                    pass
                case ".pragma":
                    cursor.skip_past(";")
                case _:
                    raise PtxError(f"expected a performance directive, got {token.text!r}", token.line, cursor.module)
        body = BodyReader(cursor).body()
        self.entries.append(PtxEntry(name, params, 0, maxntid, reqntid, minnctapersm, line, body))

    def _extent(self) -> tuple[int, int, int]:
        cursor = self.cursor
        sizes = [cursor.integer("a count of threads")]
        while len(sizes) < 3 and cursor.accept(","):
            sizes.append(cursor.integer("a count of threads"))
        return cast("tuple[int, int, int]", tuple(sizes + [1] * (3 - len(sizes))))

    def _params(self) -> tuple[Param, ...]:
        cursor = self.cursor
        params: list[Param] = []
        offset = 0
        if cursor.accept(")"):
            return ()
        while True:
            token = cursor.expect(".param")
            align = None
            kind = None
            while (word := cursor.word("a type or a parameter's name").text).startswith("."):
                if word == ".align":
                    align = cursor.alignment()
                elif word[1:] in TYPE_BYTES:
                    kind = word[1:]
                elif word not in (".ptr", ".global", ".const", ".local", ".shared"):
                    raise PtxError(f"expected a type, got {word!r}", token.line, cursor.module)
                elif word == ".ptr":
                    _pointer_attributes(cursor)
            if kind is None:
                raise PtxError(f"expected a type for the parameter {word!r}, got none", token.line, cursor.module)
            count = 1
            if cursor.accept("["):
                count = cursor.integer("an array's length")
                cursor.expect("]")
            align = align or TYPE_BYTES[kind]
            size = TYPE_BYTES[kind] * count
            offset = (offset + align - 1) // align * align
            if offset + size > MOST_PARAM_BYTES:
                raise PtxError(
                    f"expected at most {MOST_PARAM_BYTES} bytes of parameters, got {offset + size}",
                    token.line,
                    cursor.module,
                )
            params.append(Param(word, kind, size, align, offset))
            offset += size
            if cursor.accept(")"):
                return tuple(params)
            cursor.expect(",")


def _pointer_attributes(cursor: Cursor) -> None:
    """`.ptr {.space} {.align N}`: says what a pointer points at, which nothing here uses."""
    if cursor.peek.text in (".global", ".const", ".local", ".shared"):
        cursor.next()
    if cursor.accept(".align"):
        cursor.alignment()


def _with_shared(entry: PtxEntry, common: list[Variable]) -> PtxEntry:
    """The entry with its static shared bytes: the module's variables and its own, one after another at their
    alignments.
    """
    top = 0
    for variable in (*common, *(v for v in entry.body.variables.values() if v.space == "shared")):
        top = -(-top // variable.align) * variable.align + variable.size if variable.size else top
    return replace(entry, static_shared=top)
