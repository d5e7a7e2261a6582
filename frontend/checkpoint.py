"""A checkpoint: named tensors of a model, each a range of bytes in a file that is mapped when it is first read."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanelink.dialects.formats import Format


class CheckpointError(ValueError):
    """A checkpoint that cannot be used. The message is one line: where (file, tensor or key), expected, got."""


def shown(value: object) -> str:
    """`value` for an error message: on one line, and short however long the file made it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


@dataclass(frozen=True)
class MappedFile:
    """A regular file that was `size` bytes when it was opened; its bytes are mapped, never copied."""

    path: Path
    size: int

    @classmethod
    def open(cls, path: Path) -> MappedFile:
        """The file at `path`. Raises CheckpointError where there is none, or where it is not a regular file."""
        try:
            status = os.stat(path)
        except (OSError, ValueError) as error:  # ValueError: a name the system cannot spell
            reason = error.strerror if isinstance(error, OSError) and error.strerror else shown(str(error))
            raise CheckpointError(f"{path}: expected a file, got: {reason}") from None
        if not stat.S_ISREG(status.st_mode):  # a pipe would block for ever, a device has no size
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "something that is not a regular file"
            raise CheckpointError(f"{path}: expected a file, got {kind}")
        return cls(path, status.st_size)

    def read(self, offset: int, count: int) -> bytes:
        """`count` bytes from `offset`, copied; for headers. Raises CheckpointError where the file ends before."""
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                data = file.read(count)
        except OSError as error:
            raise CheckpointError(f"{self.path}: expected a readable file, got: {error.strerror}") from None
        if len(data) != count:
            raise CheckpointError(f"{self.path}: expected {count} bytes at offset {offset}, got {len(data)}")
        return data

    @cached_property
    def data(self) -> NDArray[np.uint8]:
        """The whole file, u8[size], mapped read-only. Raises CheckpointError where its size is no longer `size`."""
        now = MappedFile.open(self.path).size
        if now != self.size:  # reading past the end of a map kills the process
            raise CheckpointError(f"{self.path}: expected {self.size} bytes as when it was opened, got {now}")
        try:
            return np.memmap(self.path, np.uint8, "r", shape=(self.size,))
        except OSError as error:
            raise CheckpointError(f"{self.path}: expected a readable file, got: {error.strerror}") from None


class Tensor(Protocol):
    """A tensor of a checkpoint: `shape` counts values, outermost first; the innermost is whole blocks of `format`."""

    @property
    def format(self) -> Format:
        """How its values are stored."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes in values."""
        ...

    @property
    def path(self) -> Path:
        """A file that it is in."""
        ...

    def raw(self) -> NDArray[np.uint8]:
        """Its bytes in `format`, u8[n], row after row."""
        ...


@dataclass(frozen=True)
class StoredTensor:
    """A tensor as the checkpoint stores it: `nbytes` bytes of `file` from `offset`, rows one after another.

    `shape` counts values, outermost first; the innermost is whole blocks of `format`.
    """

    name: str
    format: Format
    shape: tuple[int, ...]
    file: MappedFile = field(repr=False)
    offset: int = field(repr=False)

    @property
    def path(self) -> Path:
        """The file that it is in."""
        return self.file.path

    @property
    def nbytes(self) -> int:
        """Bytes the tensor takes in its file."""
        return prod(self.shape) // self.format.block_values * self.format.block_bytes

    def raw(self) -> NDArray[np.uint8]:
        """The stored bytes, u8[nbytes]: a view of the map, so nothing is read until it is looked at."""
        return self.file.data[self.offset : self.offset + self.nbytes]


@dataclass(frozen=True)
class OtherTensor:
    """A tensor of a type that is no format of this compiler; `kind` is the type's own name."""

    name: str
    kind: str
    shape: tuple[int, ...]
    file: MappedFile = field(repr=False)
    offset: int = field(repr=False)
    nbytes: int = field(repr=False)

    def raw(self) -> NDArray[np.uint8]:
        """The stored bytes, u8[nbytes], as a view of the map."""
        return self.file.data[self.offset : self.offset + self.nbytes]


@dataclass(frozen=True)
class Checkpoint:
    """The tensors of one model.

    `unreadable` holds the names of tensors in types this compiler does not read, each with its type's own name: an
    old export's integer buffers, say. They are an error only for who asks for one.
    """

    path: Path
    tensors: Mapping[str, Tensor]
    unreadable: Mapping[str, str]

    def __contains__(self, name: object) -> bool:
        return name in self.tensors or name in self.unreadable

    def tensor(self, name: str, shape: tuple[int, ...] | None = None) -> Tensor:
        """The tensor `name`. Raises CheckpointError where it is missing, of another shape, or of an unreadable type."""
        if name in self.unreadable:
            readable = ", ".join(Format)
            raise CheckpointError(
                f"{self.path}: tensor {shown(name)}: expected one of {readable}, got {self.unreadable[name]}"
            )
        found = self.tensors.get(name)
        if found is None:
            raise CheckpointError(
                f"{self.path}: expected a tensor {shown(name)}, got none of that name among {len(self.tensors)}"
            )
        if shape is not None and found.shape != shape:
            raise CheckpointError(
                f"{found.path}: tensor {shown(name)}: expected shape {list(shape)}, got {list(found.shape)}"
            )
        return found
