"""GGUF files byte by byte, sound or not."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType

Kind = GGMLQuantizationType
Pair = tuple[str | bytes, bytes]
"""A key, and its value with its type before it."""


def text(value: str | bytes, length: int | None = None) -> bytes:
    """A string as the format has it; `length` for one that lies."""
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data) if length is None else length) + data


def number(kind: GGUFValueType, value: float) -> bytes:
    """A number's bytes."""
    forms = "BbHhIif?__QqdB"
    return struct.pack(f"<{'B' if kind is GGUFValueType.BOOL else forms[kind]}", value)


def u32(value: int) -> bytes:
    """The value 'unsigned 32 bits'."""
    return struct.pack("<II", GGUFValueType.UINT32, value)


def u16(value: int) -> bytes:
    return struct.pack("<IH", GGUFValueType.UINT16, value)


def i32(value: int) -> bytes:
    return struct.pack("<Ii", GGUFValueType.INT32, value)


def f32(value: float) -> bytes:
    return struct.pack("<If", GGUFValueType.FLOAT32, value)


def flag(value: int) -> bytes:
    return struct.pack("<IB", GGUFValueType.BOOL, value)


def string(value: str | bytes) -> bytes:
    return struct.pack("<I", GGUFValueType.STRING) + text(value)


def array(kind: int, items: Sequence[bytes], count: int | None = None) -> bytes:
    """An array of items already in bytes; `count` for one that lies."""
    head = struct.pack("<IIQ", GGUFValueType.ARRAY, kind, len(items) if count is None else count)
    return head + b"".join(items)


def strings(values: Sequence[str | bytes]) -> bytes:
    return array(GGUFValueType.STRING, [text(value) for value in values])


def floats(values: Sequence[float]) -> bytes:
    return array(GGUFValueType.FLOAT32, [struct.pack("<f", value) for value in values])


def integers(values: Sequence[int]) -> bytes:
    return array(GGUFValueType.INT32, [struct.pack("<i", value) for value in values])


@dataclass(frozen=True)
class Tensor:
    """A tensor: `dims` innermost first, as the format has them. `offset` from the data's start: after the one before,
    where none is given."""

    name: str | bytes
    dims: Sequence[int]
    data: bytes = field(repr=False)
    kind: int = Kind.F32
    offset: int | None = None


def of_floats(name: str, values: npt.NDArray[Any]) -> Tensor:
    """An f32 tensor."""
    return Tensor(name, values.shape[::-1], values.astype(np.float32).tobytes())


def of_blocks(name: str, kind: GGMLQuantizationType, shape: Sequence[int], data: bytes) -> Tensor:
    """A tensor of blocks, `shape` outermost first."""
    values, size = GGML_QUANT_SIZES[kind]
    assert len(data) == int(np.prod(shape)) // values * size
    return Tensor(name, list(shape)[::-1], data, kind)


def pack(
    pairs: Sequence[Pair],
    tensors: Sequence[Tensor],
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    pair_count: int | None = None,
    tensor_count: int | None = None,
    alignment: int = 32,
) -> bytes:
    """A file; counts for one that lies."""
    counts = (
        len(tensors) if tensor_count is None else tensor_count,
        len(pairs) if pair_count is None else pair_count,
    )
    head = magic + struct.pack("<IQQ", version, *counts)
    head += b"".join(text(key) + value for key, value in pairs)
    data = bytearray()
    for tensor in tensors:
        data += bytes(-len(data) % alignment)
        offset = len(data) if tensor.offset is None else tensor.offset
        head += text(tensor.name) + struct.pack("<I", len(tensor.dims))
        head += struct.pack(f"<{len(tensor.dims)}Q", *tensor.dims) + struct.pack("<IQ", tensor.kind, offset)
        data += tensor.data
    return head + (bytes(-len(head) % alignment) + bytes(data) if tensors else b"")
