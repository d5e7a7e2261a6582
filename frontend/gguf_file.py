"""A model in GGUF, one file or all its shards; tensors in formats without kernels are dequantized at load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from os.path import isfile
from pathlib import Path

import numpy as np
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import Checkpoint, CheckpointError, MappedFile, StoredTensor, shown
from lanelink.frontend.fields import Fields
from lanelink.frontend.gguf_header import MAGIC, GgufHeader, TensorInfo, read_header

_KINDS = {
    GGMLQuantizationType.F32: Format.F32,
    GGMLQuantizationType.F16: Format.F16,
    GGMLQuantizationType.BF16: Format.BF16,
    GGMLQuantizationType.Q8_0: Format.Q8_0,
    GGMLQuantizationType.Q4_0: Format.Q4_0,
    GGMLQuantizationType.Q4_K: Format.Q4_K,
    GGMLQuantizationType.Q5_K: Format.Q5_K,
    GGMLQuantizationType.Q6_K: Format.Q6_K,
    GGMLQuantizationType.MXFP4: Format.MXFP4,
}

_DEQUANTIZED = frozenset(
    GGMLQuantizationType[name]
    for name in (
        *("Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "TQ1_0", "TQ2_0", "IQ4_NL", "IQ4_XS"),
        *("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"),
    )
)
"""Block types without kernels, which become f16 rows at load."""

_CHUNK_VALUES = 1 << 22
"""Values dequantized at a time, which bounds what is held beside the result."""

_SHARD = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)

MOST_SHARDS = 1 << 12


@dataclass(frozen=True)
class DequantizedTensor(StoredTensor):
    """A tensor stored in blocks that no kernel reads: its rows in f16, made by the gguf package when they are read."""

    kind: GGMLQuantizationType
    stored_bytes: int = field(repr=False)

    def raw(self) -> NDArray[np.uint8]:
        """The f16 bytes, u8[nbytes]. Raises CheckpointError for values past f16."""
        rows, cols = prod(self.shape[:-1]), self.shape[-1]
        stored = self.file.data[self.offset : self.offset + self.stored_bytes].reshape(rows, -1)
        out = np.empty((rows, cols), np.float16)
        step = max(1, _CHUNK_VALUES // cols)
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, rows, step):
                out[first : first + step] = dequantize(stored[first : first + step], self.kind)
        if not np.isfinite(out).all():
            raise CheckpointError(
                f"{self.file.path}: tensor {shown(self.name)}: expected {self.kind.name} values that f16 holds, "
                f"got some past it"
            )
        return out.reshape(-1).view(np.uint8)


def is_gguf(path: Path) -> bool:
    """Whether `path` is to be read as GGUF: by its name, or by its first bytes."""
    if path.suffix == ".gguf":
        return True
    if not isfile(path):
        # A pipe that nobody writes to is not even opened: that would wait for ever.
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@dataclass(frozen=True)
class GgufModel:
    """A model's tensors, under the file's own names, and its metadata as typed fields."""

    checkpoint: Checkpoint
    metadata: Fields


def open_gguf(path: Path) -> GgufModel:
    """The model in the file `path`, or in all the shards of which it is one (`NAME-00001-of-00003.gguf`).

    Raises CheckpointError where a file is not sound, a shard is missing or says it is another. Only headers are read:
    the tensors' bytes are mapped when they are first asked for.
    """
    file = MappedFile.open(path)
    header = read_header(file)
    fields = Fields(header.metadata, str(path))
    count = fields.integer("split.count", 1, least=0, most=MOST_SHARDS)
    if count <= 1:  # shards that have been merged keep the key, as 0
        return GgufModel(_gather(path, {file: header}), fields)
    shards = _shards(path, count)
    headers = {shard: read_header(shard) for shard in shards}
    for number, (shard, found) in enumerate(headers.items()):
        _check_shard(Fields(found.metadata, str(shard.path)), number, count)
    checkpoint = _gather(path, headers)
    first = Fields(headers[shards[0]].metadata, str(shards[0].path))
    expected = first.integer("split.tensors.count", least=0)
    held = len(checkpoint.tensors) + len(checkpoint.unreadable)
    if held != expected:
        raise first.error("split.tensors.count", f"{held}, which its {count} shards hold", expected)
    return GgufModel(checkpoint, first)


def _shards(path: Path, count: int) -> list[MappedFile]:
    """All shards beside `path`, in order."""
    named = _SHARD.fullmatch(path.name)
    if named is None or int(named["count"]) != count:
        raise CheckpointError(
            f"{path}: split.count: expected a file named ...-00001-of-{count:05}.gguf, as one of {count} shards, "
            f"got {shown(path.name)}"
        )
    stem = named["stem"]
    return [MappedFile.open(path.with_name(f"{stem}-{k + 1:05}-of-{count:05}.gguf")) for k in range(count)]


def _check_shard(fields: Fields, number: int, count: int) -> None:
    for key, expected in (("split.no", number), ("split.count", count)):
        found = fields.integer(key, least=0)
        if found != expected:
            raise fields.error(key, f"{expected}, as the file's name says", found)


def _gather(path: Path, headers: Mapping[MappedFile, GgufHeader]) -> Checkpoint:
    tensors: dict[str, StoredTensor] = {}
    unreadable: dict[str, str] = {}
    for file, header in headers.items():
        for info in header.tensors:
            if info.name in tensors or info.name in unreadable:
                raise CheckpointError(f"{file.path}: tensor {shown(info.name)}: expected once, got it in two shards")
            tensor = _tensor(file, info)
            if tensor is None:
                unreadable[info.name] = info.kind.name
            else:
                tensors[info.name] = tensor
    return Checkpoint(path, tensors, unreadable)


def _tensor(file: MappedFile, info: TensorInfo) -> StoredTensor | None:
    """The tensor as kernels read it; none of a type that is neither theirs nor dequantized."""
    if (format := _KINDS.get(info.kind)) is not None:
        return StoredTensor(info.name, format, info.shape, file, info.offset)
    if info.kind in _DEQUANTIZED:
        return DequantizedTensor(info.name, Format.F16, info.shape, file, info.offset, info.kind, info.nbytes)
    return None


__all__ = ["DequantizedTensor", "GgufModel", "is_gguf", "open_gguf"]
