"""The header of one GGUF file: metadata and tensors' places, every number in it checked before it is used.

Nothing is allocated of what the header claims: strings and arrays stay in the mapped file until they are asked for.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (magic, version, counts, key-value pairs, tensor
infos, padding to the alignment, tensors' bytes).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType
from numpy.typing import NDArray

from lanelink.frontend.checkpoint import CheckpointError, MappedFile, shown

MOST_KEYS = 1 << 16
"""Metadata pairs; real files have some tens."""

MOST_TENSORS = 1 << 16
"""Tensors of one file; experts are stacked, so that the largest models have some two thousand."""

MOST_STRINGS = 1 << 21
"""Strings in a file's arrays: the largest vocabularies have 262,144 tokens, and with their merges 647,000 strings."""

LONGEST_KEY = (1 << 16) - 1
LONGEST_NAME = 256
"""Bytes of a tensor's name; the format says at most 64, its writers have exceeded that."""

LONGEST_TEXT = 1 << 24
"""Bytes of a string that is a value of its own: a chat template, say."""

MOST_DIMENSIONS = 4

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_ALIGNMENT = "general.alignment"

_STRUCTS = {
    GGUFValueType.UINT8: struct.Struct("<B"),
    GGUFValueType.INT8: struct.Struct("<b"),
    GGUFValueType.UINT16: struct.Struct("<H"),
    GGUFValueType.INT16: struct.Struct("<h"),
    GGUFValueType.UINT32: struct.Struct("<I"),
    GGUFValueType.INT32: struct.Struct("<i"),
    GGUFValueType.FLOAT32: struct.Struct("<f"),
    GGUFValueType.BOOL: struct.Struct("<B"),
    GGUFValueType.UINT64: struct.Struct("<Q"),
    GGUFValueType.INT64: struct.Struct("<q"),
    GGUFValueType.FLOAT64: struct.Struct("<d"),
}

_U32, _U64 = _STRUCTS[GGUFValueType.UINT32], _STRUCTS[GGUFValueType.UINT64]

_LEAST_PAIR = _U64.size + _U32.size + 1
_LEAST_TENSOR = _U64.size + _U32.size + _U64.size + _U32.size + _U64.size


@dataclass(frozen=True, repr=False)
class GgufArray:
    """An array of `count` values of `kind` in the header, from byte `start` of `file`."""

    kind: GGUFValueType
    count: int
    file: MappedFile
    start: int

    def __repr__(self) -> str:
        """What messages call it."""
        return f"an array of {self.count} {self.kind.name}"

    def numbers(self) -> NDArray[np.generic]:
        """Its numbers or truth values (u8), a view of the map. TypeError for an array of strings."""
        if self.kind is GGUFValueType.STRING:
            raise TypeError("expected an array of numbers, got one of strings")
        form = np.dtype(_STRUCTS[self.kind].format)
        return self.file.data[self.start : self.start + self.count * form.itemsize].view(form)

    def strings(self) -> list[bytes]:
        """Its strings. TypeError for an array of numbers."""
        if self.kind is not GGUFValueType.STRING:
            raise TypeError(f"expected an array of strings, got one of {self.kind.name}")
        data, at, found = self.file.data.data, self.start, list[bytes]()
        for _ in range(self.count):
            (length,) = _U64.unpack_from(data, at)
            at += _U64.size + length
            found.append(bytes(data[at - length : at]))
        return found


Value = int | float | bool | str | GgufArray
"""A metadata value."""


@dataclass(frozen=True)
class TensorInfo:
    """A tensor's place: `nbytes` bytes of the file from `offset`; `shape` counts values, outermost first."""

    name: str
    kind: GGMLQuantizationType
    shape: tuple[int, ...]
    offset: int

    @property
    def nbytes(self) -> int:
        """Bytes the tensor takes in its file."""
        values, size = GGML_QUANT_SIZES[self.kind]
        return prod(self.shape) // values * size


@dataclass(frozen=True)
class GgufHeader:
    """What one file says of itself."""

    metadata: Mapping[str, Value]
    tensors: tuple[TensorInfo, ...]


def read_header(file: MappedFile) -> GgufHeader:
    """The header of `file`. Raises CheckpointError, naming the key or tensor, where anything in it is not sound."""
    return _Walk(file).header()


class _Walk:
    """One pass over a header, byte by byte forward."""

    def __init__(self, file: MappedFile) -> None:
        self.file = file
        self.at = 0
        self.strings = 0
        if file.size < len(MAGIC) + _U32.size + 2 * _U64.size:
            raise self.error("header", "a GGUF file of at least 24 bytes", f"{file.size}")
        self.data = file.data.data

    def error(self, where: str, expected: str, got: str) -> CheckpointError:
        return CheckpointError(f"{self.file.path}: {where}: expected {expected}, got {got}")

    def header(self) -> GgufHeader:
        if (magic := bytes(self.data[: len(MAGIC)])) != MAGIC:
            raise self.error("header", f"the bytes {MAGIC!r} of a GGUF file", shown(magic))
        self.at = len(MAGIC)
        version = self.number(_U32, "version")
        if version not in _VERSIONS:
            raise self.error("version", "2 or 3, of a little-endian file", str(version))
        tensors, pairs = self.number(_U64, "tensor count"), self.number(_U64, "key count")
        self.bounded("tensor count", tensors, MOST_TENSORS, _LEAST_TENSOR)
        self.bounded("key count", pairs, MOST_KEYS, _LEAST_PAIR)
        metadata: dict[str, Value] = {}
        for number in range(pairs):
            key = self.text(f"key {number}", LONGEST_KEY)
            if not key or key in metadata:
                raise self.error(f"key {number}", "a name of its own", f"{shown(key)}{' twice' if key else ''}")
            metadata[key] = self.value(shown(key))
        infos = [self.tensor(number) for number in range(tensors)]
        return GgufHeader(metadata, self.placed(infos, self.alignment(metadata)))

    def bounded(self, what: str, count: int, most: int, least_bytes: int) -> None:
        """Checks a count before anything is made of it: by itself, and by the bytes that are left for it."""
        left = (self.file.size - self.at) // least_bytes
        if count > min(most, left):
            raise self.error(what, f"at most {min(most, left)} (a file of {self.file.size} bytes)", str(count))

    def skip(self, count: int, what: str) -> int:
        """Steps over `count` bytes; where they begin."""
        start = self.at
        if count > self.file.size - start:
            raise self.error(
                what, f"{count} bytes from {start}", f"the end of the file at {self.file.size}: it is cut short"
            )
        self.at = start + count
        return start

    def number(self, form: struct.Struct, what: str) -> int:
        return form.unpack_from(self.data, self.skip(form.size, what))[0]

    def text(self, what: str, longest: int) -> str:
        length = self.number(_U64, what)
        if length > longest:
            raise self.error(what, f"a string of at most {longest} bytes", str(length))
        start = self.skip(length, what)
        try:
            return bytes(self.data[start : self.at]).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(what, "UTF-8", f"byte {error.object[error.start]:#04x} at {start + error.start}") from None

    def kind(self, what: str) -> GGUFValueType:
        number = self.number(_U32, what)
        try:
            return GGUFValueType(number)
        except ValueError:
            raise self.error(what, "a value type from 0 to 12", str(number)) from None

    def value(self, what: str) -> Value:
        kind = self.kind(what)
        if kind is GGUFValueType.STRING:
            return self.text(what, LONGEST_TEXT)
        if kind is GGUFValueType.ARRAY:
            return self.array(what)
        form = _STRUCTS[kind]
        (number,) = form.unpack_from(self.data, self.skip(form.size, what))
        if kind is GGUFValueType.BOOL:
            if number > 1:
                raise self.error(what, "a truth value of 0 or 1", str(number))
            return bool(number)
        return number

    def array(self, what: str) -> GgufArray:
        kind, count = self.kind(what), self.number(_U64, what)
        if kind is GGUFValueType.ARRAY:
            raise self.error(what, "an array of plain values", "an array of arrays")
        if kind is not GGUFValueType.STRING:
            size = _STRUCTS[kind].size
            self.bounded(what, count, self.file.size, size)
            return GgufArray(kind, count, self.file, self.skip(count * size, what))
        self.bounded(what, count, MOST_STRINGS - self.strings, _U64.size)
        self.strings += count
        start, at, size, length = self.at, self.at, len(self.data), _U64.unpack_from
        # Hundreds of thousands: a loop of its own, which tells the one that does not fit as any value is told.
        for _ in range(count):
            if at + _U64.size > size or at + _U64.size + length(self.data, at)[0] > size:
                self.at = at
                self.skip(self.number(_U64, what), what)
            at += _U64.size + length(self.data, at)[0]
        self.at = at
        return GgufArray(kind, count, self.file, start)

    def tensor(self, number: int) -> TensorInfo:
        """A tensor's info, its offset still from the start of the data."""
        name = self.text(f"tensor {number}", LONGEST_NAME)
        where = f"tensor {shown(name)}"
        if not name:
            raise self.error(f"tensor {number}", "a name", "an empty one")
        dimensions = self.number(_U32, where)
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise self.error(where, f"1 to {MOST_DIMENSIONS} dimensions", str(dimensions))
        shape = [self.number(_U64, where) for _ in range(dimensions)]
        shape.reverse()
        type_number = self.number(_U32, where)
        try:
            kind = GGMLQuantizationType(type_number)
        except ValueError:
            raise self.error(where, "a type that the gguf package knows", f"number {type_number}") from None
        if min(shape) < 1:
            raise self.error(where, "dimensions of at least 1", str(shape))
        block = GGML_QUANT_SIZES[kind][0]
        if shape[-1] % block:
            raise self.error(where, f"rows of a multiple of {block} values ({kind.name})", str(shape))
        return TensorInfo(name, kind, tuple(shape), self.number(_U64, where))

    def alignment(self, metadata: Mapping[str, Value]) -> int:
        found = metadata.get(_ALIGNMENT, 32)
        if not isinstance(found, int) or isinstance(found, bool) or not 8 <= found <= 1 << 20 or found & (found - 1):
            raise self.error(_ALIGNMENT, f"a power of two from 8 to {1 << 20}", shown(found))
        return found

    def placed(self, infos: list[TensorInfo], alignment: int) -> tuple[TensorInfo, ...]:
        """The tensors with offsets in the file: inside it, aligned, apart from one another, each name once."""
        start = -(-self.at // alignment) * alignment
        found = [TensorInfo(i.name, i.kind, i.shape, start + i.offset) for i in infos]
        for tensor, offset in zip(found, (i.offset for i in infos), strict=True):
            where = f"tensor {shown(tensor.name)}"
            if offset % alignment:
                raise self.error(where, f"an offset of a multiple of {alignment}", str(offset))
            if tensor.offset + tensor.nbytes > self.file.size:
                raise self.error(
                    where,
                    f"{tensor.nbytes} bytes from {tensor.offset}",
                    f"the end of the file at {self.file.size}: it is cut short",
                )
        self.apart(found)
        return tuple(found)

    def apart(self, tensors: list[TensorInfo]) -> None:
        names: set[str] = set()
        for tensor in tensors:
            if tensor.name in names:
                raise self.error(f"tensor {shown(tensor.name)}", "each name once", "it twice")
            names.add(tensor.name)
        for before, after in _neighbours(tensors):
            if before.offset + before.nbytes > after.offset:
                raise self.error(
                    f"tensor {shown(after.name)}",
                    f"bytes from {before.offset + before.nbytes}, past those of {shown(before.name)}",
                    str(after.offset),
                )


def _neighbours(tensors: list[TensorInfo]) -> Iterator[tuple[TensorInfo, TensorInfo]]:
    ordered = sorted(tensors, key=lambda tensor: tensor.offset)
    return pairwise(ordered)
