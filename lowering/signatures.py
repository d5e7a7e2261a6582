"""What the entries of the committed PTX take: their parameters, read from the text without its instructions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from lanelink.kernels.build import ptx_path

LISTED = 4
"""Entries of a module that a message names."""


class SignatureError(ValueError):
    """PTX that is missing or that has no such entry, or a parameter of another kind than launches pass."""


class ParameterKind(Enum):
    """What a parameter holds: an address, a whole number of 32 bits, or a real one of 32."""

    ADDRESS = "address"
    I32 = "i32"
    F32 = "f32"

    @property
    def size(self) -> int:
        """Bytes it takes."""
        return 8 if self is ParameterKind.ADDRESS else 4


@dataclass(frozen=True)
class Parameter:
    """One `.param` of an entry: `size` bytes, aligned to `align`, at `offset` of the parameter block."""

    kind: ParameterKind
    size: int
    align: int
    offset: int


@dataclass(frozen=True)
class PtxText:
    """A PTX file: its `version` (8, 4), `target` ("sm_90"), its text, and each entry's parameters."""

    name: str
    version: tuple[int, int]
    target: str
    text: str
    entries: Mapping[str, tuple[Parameter, ...]]

    def parameters(self, entry: str) -> tuple[Parameter, ...]:
        """The parameters of an entry. Raises SignatureError where the file has no such entry."""
        found = self.entries.get(entry)
        if found is None:
            listed = [*self.entries][:LISTED]
            more = f" and {len(self.entries) - LISTED} more" if len(self.entries) > LISTED else ""
            raise SignatureError(
                f"{self.name}: expected one of the module's entries ({', '.join(listed)}{more}), got {entry[:80]!r}"
            )
        return found

    def only(self, entries: Collection[str]) -> str:
        """
        The text without its other entries. A driver compiles all that it is given, at some tenths of a second an entry
        of products, of which a step launches a few. Raises SignatureError where one is not there, or is not whole.
        """
        for entry in entries:
            self.parameters(entry)
        kept: list[str] = []
        at = 0
        for found in _ENTRY.finditer(self.text):
            if found[1] not in entries:
                kept.append(self.text[at : self._line(found.start())])
                at = self._past_body(found[1], found.end())
        return "".join([*kept, self.text[at:]])

    def _past_body(self, entry: str, start: int) -> int:
        """Where the braces that open first after `start` have all closed."""
        depth = 0
        for found in _BRACE.finditer(self.text, start):
            if "//" in self.text[self._line(found.start()) : found.start()]:
                continue
            depth += 1 if found[0] == "{" else -1
            if depth <= 0:
                return found.end()
        raise SignatureError(f"{self.name} entry {entry}: expected a body in braces, got none that ends")

    def _line(self, at: int) -> int:
        """Where the line of `at` begins: an entry's linkage stands before it there, and a comment before its text."""
        return self.text.rfind("\n", 0, at) + 1


_TYPES: dict[str, tuple[ParameterKind, int]] = {
    # Fundamental types (PTX ISA, 5.2), by what a launch passes for them.
    "u64": (ParameterKind.ADDRESS, 8),
    "b64": (ParameterKind.ADDRESS, 8),
    "s64": (ParameterKind.ADDRESS, 8),
    "u32": (ParameterKind.I32, 4),
    "s32": (ParameterKind.I32, 4),
    "b32": (ParameterKind.I32, 4),
    "f32": (ParameterKind.F32, 4),
}

_VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)
_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)")
_BRACE = re.compile(r"[{}]")
_PARAM = re.compile(r"^\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+(?:\.ptr\b[.\s\w]*?\s)?([\w$]+)(\[\d+\])?$")


@lru_cache(maxsize=64)
def committed_ptx(stem: str, architecture: str) -> PtxText:
    """The committed PTX of a module. Raises SignatureError where the package holds none for the architecture, as for a
    name that would lead out of its folder."""
    if not re.fullmatch("[A-Za-z0-9_]+", stem):
        raise SignatureError(f"PTX of {stem[:80]!r}: expected a name of letters, digits and underscores")
    path = ptx_path(stem, architecture)
    try:
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise SignatureError(f"PTX of '{stem}': expected {path}, got {error.strerror}") from None
    return read_ptx(text, path.name)


def read_ptx(text: str, name: str) -> PtxText:
    """Header and entries of PTX text. Raises SignatureError where they are not as the PTX ISA has them."""
    version, target = _VERSION.search(text), _TARGET.search(text)
    if version is None or target is None:
        raise SignatureError(f"{name}: expected .version and .target, got {'no target' if version else 'no version'}")
    entries = {m[1]: _parameters(m[2], f"{name} entry {m[1]}") for m in _ENTRY.finditer(text)}
    return PtxText(name, (int(version[1]), int(version[2])), target[1], text, entries)


def _parameters(listed: str, where: str) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    offset = 0
    for k, written in enumerate(part.strip() for part in listed.split(",") if part.strip()):
        found = _PARAM.match(" ".join(written.split()))
        if found is None or found[4] is not None or found[2] not in _TYPES:
            raise SignatureError(f"{where} parameter {k}: expected one of .{', .'.join(_TYPES)}, got '{written}'")
        kind, size = _TYPES[found[2]]
        align = int(found[1]) if found[1] else size
        offset = -(-offset // align) * align
        parameters.append(Parameter(kind, size, align, offset))
        offset += size
    return tuple(parameters)


__all__ = ["Parameter", "ParameterKind", "PtxText", "SignatureError", "committed_ptx", "read_ptx"]
