"""One safetensors file: its header checked, its tensors as ranges of the mapped file.

The `safetensors` library checks the header: the header's length and UTF-8, types, products that overflow, sizes against
shapes, and that the tensors' bytes follow one another from the header to the end of the file. Two things it lets pass
are checked here, a name given twice (its reader keeps the last) and a dimension of zero. Its arrays are not used: under
numpy it refuses bf16, and `deserialize` copies the whole file, where a checkpoint is larger than memory may be.

The format: https://huggingface.co/docs/safetensors (u64 header length, JSON header, tensors' bytes).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from safetensors import SafetensorError, safe_open

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import CheckpointError, MappedFile, OtherTensor, StoredTensor, shown
from lanelink.frontend.json_file import LARGEST_JSON, parse_object

_LENGTH_BYTES = 8
_METADATA = "__metadata__"

_FORMATS = {"F32": Format.F32, "F16": Format.F16, "BF16": Format.BF16}


def read_tensors(file: MappedFile) -> Iterator[StoredTensor | OtherTensor]:
    """The tensors of `file`.

    Raises CheckpointError where the file is not sound; allocates no more than a few times the header's own bytes.
    """
    length = _header_length(file)
    text = file.read(_LENGTH_BYTES, length)
    _check_with_library(file, text)
    start = _LENGTH_BYTES + length
    for name, entry in parse_object(text, str(file.path)).items():
        if name == _METADATA:
            continue
        fields = cast(dict[str, object], entry)
        shape = tuple(cast(list[int], fields["shape"]))
        if 0 in shape:
            raise CheckpointError(
                f"{file.path}: tensor {shown(name)}: expected dimensions of at least 1, got {shown(list(shape))}"
            )
        kind = cast(str, fields["dtype"])
        begin, end = cast(list[int], fields["data_offsets"])
        if kind in _FORMATS:
            yield StoredTensor(name, _FORMATS[kind], shape, file, start + begin)
        else:
            yield OtherTensor(name, kind, shape, file, start + begin, end - begin)


def _header_length(file: MappedFile) -> int:
    if file.size < _LENGTH_BYTES:
        raise CheckpointError(
            f"{file.path}: expected a safetensors file of at least {_LENGTH_BYTES} bytes, got {file.size}"
        )
    length = int.from_bytes(file.read(0, _LENGTH_BYTES), "little")
    limit = min(file.size - _LENGTH_BYTES, LARGEST_JSON)
    if length > limit:
        raise CheckpointError(
            f"{file.path}: expected a safetensors header of at most {limit} bytes "
            f"(the file has {file.size}), got a length of {length}"
        )
    return length


def _check_with_library(file: MappedFile, header: bytes) -> None:
    try:
        with safe_open(file.path, framework="np"):
            pass
    except (SafetensorError, OSError) as error:
        expected = _expected_size(header)
        if expected is not None and file.size < expected:
            raise CheckpointError(
                f"{file.path}: expected {expected} bytes as its header says, got {file.size}: the file is cut short"
            ) from None
        reason = " ".join(str(error).split()).removeprefix("Error while deserializing header: ")
        raise CheckpointError(
            f"{file.path}: expected a sound safetensors header, got: {reason[:200]} (file of {file.size} bytes)"
        ) from None


def _expected_size(header: bytes) -> int | None:
    """The file size the tensors' offsets ask for, where an unsound header is sound enough to say one."""
    try:
        entries = parse_object(header, "header").values()
    except CheckpointError:
        return None
    last = 0
    for entry in entries:
        offsets = cast(dict[str, object], entry).get("data_offsets") if isinstance(entry, dict) else None
        if isinstance(offsets, list) and offsets and isinstance(offsets[-1], int):
            last = max(last, offsets[-1])
    return _LENGTH_BYTES + len(header) + last
