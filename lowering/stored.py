"""What a checkpoint reference names, as rows of bytes: tensors one after another, seen through the reference's view."""

from __future__ import annotations

from math import prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.checkpoint import Adjust, CheckpointAttr, StoredUnit, StoredViewAttr
from lanelink.lowering.formats import FormatError, decode, file_rows

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


class WeightError(ValueError):
    """A constant that its source cannot give; the message is one line: the tensor, what was expected, what was got."""


class Stored(Protocol):
    """A tensor as a checkpoint stores it: `shape` in values, outermost first."""

    @property
    def format(self) -> Format:
        """How its values are stored."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes in values."""
        ...

    def raw(self) -> Bytes:
        """The stored bytes, u8[n], row after row."""
        ...


class Source(Protocol):
    """Named tensors; a checkpoint, or a mapping of arrays in tests."""

    def tensor(self, name: str) -> Stored:
        """The tensor `name`. Raises a ValueError that names it where there is none."""
        ...


def read_stored(
    attr: CheckpointAttr, source: Source, shape: tuple[int, ...], *, as_values: bool = False
) -> tuple[Format, Bytes]:
    """
    The stored rows that a constant of sizes `shape` is made of: their format, and u8 [rows, bytes of a row] of
    shape[-1] values each. A whole tensor, and a view of rows that follow one another, are the checkpoint's own bytes,
    not a copy. `as_values`: the constant is plain values, so that blocks may be decoded for a view of their values.

    Raises WeightError where the tensors, or what is seen of them, are not of that shape, and what `source` raises.
    """
    names = list(attr.tensors)
    tensors = [source.tensor(name) for name in names]
    first = tensors[0]
    for name, tensor in zip(names, tensors, strict=True):
        if (tensor.format, tensor.shape) != (first.format, first.shape):
            raise WeightError(
                f"tensor '{name}': expected {first.format.value} {list(first.shape)} as of '{names[0]}', "
                f"got {tensor.format.value} {list(tensor.shape)}"
            )
    name, view = attr.tensor.data, attr.stored_view
    (stored_rows, stored_cols), (rows, cols) = _flat(first.shape), _flat(shape)
    if view is None and (len(names) * stored_rows, stored_cols) != (rows, cols):
        got = f"{len(names)} of {list(first.shape)}" if len(names) > 1 else str(list(first.shape))
        raise WeightError(f"tensor '{name}': expected shape {list(shape)}, got {got}")
    try:
        parts = [file_rows(first.format, stored_rows, stored_cols, tensor.raw()) for tensor in tensors]
    except FormatError as error:
        raise WeightError(f"tensor '{name}': {error}") from None
    data = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if view is None:
        return first.format, data
    if view.unit.data is StoredUnit.ROWS:
        if stored_cols != cols:
            raise WeightError(f"tensor '{name}': expected rows of {cols} values to view, got {stored_cols}")
        return first.format, _seen(name, view, data)
    if first.format.is_block and as_values:
        values = decode(first.format, data.shape[0], stored_cols, data)
        return Format.F32, _seen(name, view, values.reshape(-1, 1).view(np.uint8)).reshape(-1, 4 * cols)
    if first.format.is_block:
        raise WeightError(f"tensor '{name}': expected f32, f16 or bf16 to view by values, got {first.format.value}")
    seen = _seen(name, view, data.reshape(-1, first.format.block_bytes))
    return first.format, seen.reshape(-1, cols * first.format.block_bytes)


def _seen(name: str, view: StoredViewAttr, units: Bytes) -> Bytes:
    """The units u8 [n, bytes of one] that a view takes of `units`, in its order."""
    count, size = units.shape
    if view.last >= count:
        raise WeightError(
            f"tensor '{name}': expected at least {view.last + 1} {view.unit.data.value} for its view, got {count}"
        )
    strides = (*(step * size for step in view.steps), 1)
    rest = units[view.offset.data :]
    return np.lib.stride_tricks.as_strided(rest, (*view.shape, size), strides, writeable=False).reshape(-1, size)


def adjusted(attr: CheckpointAttr, values: Floats) -> Floats:
    """A constant's f32 values, of those stored. Raises WeightError where a logarithm has none."""
    match attr.adjustment:
        case None:
            return values
        case Adjust.PLUS_ONE:
            return values + np.float32(1)
        case Adjust.LOG_NEGATED:
            if not (values < 0).all():
                raise WeightError(
                    f"tensor '{attr.tensor.data}': expected values below 0 for their logarithm, got {values.max():g}"
                )
            return np.log(-values)


def _flat(shape: tuple[int, ...]) -> tuple[int, int]:
    """(rows, values a row) of a shape: a stack of matrices is their rows, a bias [W] is one row as [1, W] is."""
    return prod(shape[:-1]), shape[-1] if shape else 1


__all__ = ["Source", "Stored", "WeightError", "adjusted", "read_stored"]
