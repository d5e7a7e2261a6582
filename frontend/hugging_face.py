"""Checkpoints in Hugging Face's layout: a directory with `model.safetensors`, or with an index and its shards."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import exists, isdir
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import cast

from lanelink.frontend.checkpoint import (
    Checkpoint,
    CheckpointError,
    MappedFile,
    OtherTensor,
    StoredTensor,
    Tensor,
    shown,
)
from lanelink.frontend.fields import Fields
from lanelink.frontend.json_file import read_object
from lanelink.frontend.mxfp4 import packed_tensors
from lanelink.frontend.safetensors_file import read_tensors

_SINGLE = "model.safetensors"
_INDEX = "model.safetensors.index.json"


def open_directory(path: Path) -> Checkpoint:
    """The checkpoint in the directory `path`; where it holds both layouts, the single file, as transformers does.

    Raises CheckpointError where neither is there, or where a file, the index or a shard is not sound. Only headers are
    read: the tensors' bytes are mapped when they are first asked for.
    """
    if not isdir(path):
        got = "something else" if exists(path) else "no such directory"
        raise CheckpointError(f"{path}: expected a checkpoint's directory, got {got}")
    if exists(path / _SINGLE):
        return _gather(path, [MappedFile.open(path / _SINGLE)])[0]
    if not exists(path / _INDEX):
        raise CheckpointError(f"{path}: expected {_SINGLE} or {_INDEX}, got a directory with neither")
    index = MappedFile.open(path / _INDEX)
    expected = _weight_map(index)
    checkpoint, places = _gather(path, [MappedFile.open(path / name) for name in sorted(set(expected.values()))])
    for name, shard in expected.items():
        if places.get(name) != shard:
            raise CheckpointError(f"{index.path}: expected tensor {shown(name)} in {shard}, got none there")
    return checkpoint


def _gather(path: Path, files: Iterable[MappedFile]) -> tuple[Checkpoint, dict[str, str]]:
    """The tensors of all `files`, and the name of the file that each is in."""
    tensors: dict[str, Tensor] = {}
    others: dict[str, OtherTensor] = {}
    places: dict[str, str] = {}
    for file in files:
        for tensor in read_tensors(file):
            name = tensor.name
            if name in places:
                raise CheckpointError(f"{file.path}: tensor {shown(name)}: expected once, got it in {places[name]} too")
            places[name] = file.path.name
            if isinstance(tensor, StoredTensor):
                tensors[name] = tensor
            else:
                others[name] = tensor
    unreadable = {name: other.kind for name, other in others.items()}
    return Checkpoint(path, packed_tensors(others) | tensors, unreadable), places


def _weight_map(index: MappedFile) -> dict[str, str]:
    """Tensor name → shard's file name, each a plain name beside the index."""
    found = Fields(read_object(index), str(index.path)).object("weight_map").values
    if not found:
        raise CheckpointError(f"{index.path}: weight_map: expected tensor names with file names, got none")
    for name, shard in found.items():
        if not isinstance(shard, str) or not _is_plain(shard):
            raise CheckpointError(
                f"{index.path}: weight_map: {shown(name)}: expected a plain .safetensors file name, got {shown(shard)}"
            )
    return cast(dict[str, str], found)


def _is_plain(name: str) -> bool:
    """Whether `name` names a file beside the index on any system: no folder, drive or climb, nothing unprintable."""
    parts = (PurePosixPath(name).name, PureWindowsPath(name).name)
    return parts == (name, name) and name.endswith(".safetensors") and name.isprintable()
