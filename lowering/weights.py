"""The constants of a step as arrays: read from a checkpoint, made by rule, or drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from zlib import crc32

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.attributes import RopeTableAttr, RowsType, TableKind
from lanelink.dialects.tgraph.checkpoint import CheckpointAttr
from lanelink.dialects.tgraph.constant import ConstantOp
from lanelink.lowering.formats import FormatError, decode, encode
from lanelink.lowering.ranges import draw_of, terms_of
from lanelink.lowering.stored import Source, Stored, WeightError, adjusted, read_stored

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

_CHUNK_VALUES = 1 << 24
"""Values converted at a time: 64 MiB of f32, however large the matrix."""

_POOL_VALUES = 1 << 20
"""Values drawn for one random matrix; a larger one repeats its rows, since drawing takes longer than running."""


@dataclass(frozen=True)
class StoredRows:
    """A matrix of checkpoint rows in the format its constant names: `data` is u8 [rows, bytes of a row].

    It may be a view of the checkpoint's own mapped file: read it, never write it.
    """

    format: Format
    rows: int
    cols: int
    data: Bytes

    @cached_property
    def values(self) -> Floats:
        """The decoded values, f32 [rows, cols]; decoded once, then held."""
        return decode(self.format, self.rows, self.cols, self.data)


Key = tuple[Attribute, Attribute]
"""What names a constant wherever it stands: its source, and its type with `transposed` left out."""


@dataclass(frozen=True)
class Constants:
    """The arrays of a module's constants. A tied embedding and head of one format share theirs."""

    arrays: Mapping[Key, StoredRows | Floats]

    def __getitem__(self, op: ConstantOp) -> StoredRows | Floats:
        """The rows of a constant of checkpoint rows, or the f32 array of a constant of values, in its type's shape."""
        found = self.arrays.get(constant_key(op))
        if found is None:
            raise WeightError(f"constant {op.source}: expected it among {len(self.arrays)} resolved ones, got none")
        return found

    def rows(self, op: ConstantOp) -> StoredRows:
        """The rows of a constant of checkpoint rows."""
        found = self[op]
        if not isinstance(found, StoredRows):
            raise WeightError(f"constant {op.source}: expected checkpoint rows, got values of {op.result.type}")
        return found

    def values(self, op: ConstantOp) -> Floats:
        """The f32 values of a constant: its own, or its rows decoded."""
        found = self[op]
        return found.values if isinstance(found, StoredRows) else found


def constant_key(op: ConstantOp) -> Key:
    """The name of a constant's array."""
    kind = op.result.type
    if isinstance(kind, RowsType):
        kind = RowsType(kind.format.data, *kind.shape)
    return op.source, kind


def constants_of(module: ModuleOp) -> Iterator[ConstantOp]:
    """Every constant of a module, in order."""
    return (op for op in module.walk() if isinstance(op, ConstantOp))


def resolve(module: ModuleOp, source: Source, progress: Callable[[str], None] | None = None) -> Constants:
    """The arrays of all constants, converted to their formats where the checkpoint stores another.

    `progress` is called with each constant's name as it is begun. Raises WeightError, or what `source` raises for a
    tensor it has not.
    """

    def one(op: ConstantOp, attr: CheckpointAttr) -> StoredRows | Floats:
        if progress is not None:
            progress(attr.tensor.data)
        return _from_checkpoint(op, attr, source)

    return _gather(module, one)


def random_weights(module: ModuleOp, seed: int = 0, magnitude: float = 1.0) -> Constants:
    """Random arrays in place of a checkpoint, the same for the same names, shapes and seed.

    A product's matrix has variance 1 / k, a table that is only gathered from variance 1, norm weights lie about 1 and
    biases about 0, so that activations stay of order 1; `lowering.ranges` has what an op needs beside that. The rows of
    a matrix of more than 2^20 values repeat.
    `magnitude` multiplies everything of two sizes or more: where it is the root of a norm's eps, that eps counts.
    """
    deviations = {op: _deviation(op) for op in constants_of(module)}
    smallest: dict[Attribute, float] = {}
    for op, deviation in deviations.items():  # a tied head decides for the embedding: its products must stay of order 1
        smallest[op.source] = min(deviation, smallest.get(op.source, deviation))

    def one(op: ConstantOp, attr: CheckpointAttr) -> StoredRows | Floats:
        # Two parts of one tensor are drawn apart: their views are of their names.
        name = attr.tensor.data if attr == CheckpointAttr(attr.tensor.data) else str(attr)
        return _random(op, np.random.default_rng([seed, crc32(name.encode())]), smallest[attr], magnitude)

    return _gather(module, one)


def _gather(module: ModuleOp, one: Callable[[ConstantOp, CheckpointAttr], StoredRows | Floats]) -> Constants:
    arrays: dict[Key, StoredRows | Floats] = {}
    for op in constants_of(module):
        key = constant_key(op)
        if key in arrays:
            continue
        if isinstance(op.source, RopeTableAttr):
            arrays[key] = rope_table(op.source, _shape(op)[0])
        else:
            arrays[key] = one(op, op.source)
    return Constants(arrays)


def rope_table(attr: RopeTableAttr, positions: int) -> Floats:
    """A rotation table by its rule, f32 [positions, frequencies]: the angle in f32, its cosine in f64, rounded once."""
    frequencies = np.array(attr.values, np.float32)
    angles = np.arange(positions, dtype=np.float32)[:, None] * frequencies[None, :]
    turned = (np.cos if attr.kind.data is TableKind.COS else np.sin)(angles.astype(np.float64))
    return (turned * attr.scale.value.data).astype(np.float32)


def _shape(op: ConstantOp) -> tuple[int, ...]:
    kind = op.result.type
    if isinstance(kind, RowsType):
        return kind.shape
    if not isinstance(kind, TensorType):
        raise WeightError(f"constant {op.source}: expected rows or a tensor, got {kind}")
    return tuple(kind.get_shape())


def _from_checkpoint(op: ConstantOp, attr: CheckpointAttr, source: Source) -> StoredRows | Floats:
    kind, shape, name = op.result.type, _shape(op), attr.tensor.data
    stored, data = read_stored(attr, source, shape, as_values=not isinstance(kind, RowsType))
    rows, cols = data.shape[0], shape[-1] if shape else 1
    try:
        if not isinstance(kind, RowsType):
            return adjusted(attr, decode(stored, rows, cols, data).reshape(shape))
        if kind.format.data is not stored:
            data = convert(stored, kind.format.data, cols, data)
    except FormatError as error:
        raise WeightError(f"tensor '{name}': {error}") from None
    return StoredRows(kind.format.data, rows, cols, data)


def convert(stored: Format, wanted: Format, cols: int, data: Bytes) -> Bytes:
    """File rows u8 [rows, bytes of a row] in another format, some millions of values at a time. Or FormatError."""
    rows = data.shape[0]
    out = np.empty((rows, wanted.row_bytes(cols)), np.uint8)
    step = max(1, _CHUNK_VALUES // cols)
    for first in range(0, rows, step):
        part = data[first : first + step]
        out[first : first + step] = encode(wanted, decode(stored, part.shape[0], cols, part))
    return out


def _deviation(op: ConstantOp) -> float:
    """The standard deviation of a random constant's values: 1 / sqrt(k) where a product reads it."""
    shape, kind = _shape(op), op.result.type
    if isinstance(kind, RowsType) and kind.is_transposed:
        return 1 / sqrt(shape[1])
    terms = terms_of(op.result)
    return 1.0 if terms is None else 1 / sqrt(terms)


def _random(op: ConstantOp, rng: np.random.Generator, deviation: float, magnitude: float) -> StoredRows | Floats:
    shape, kind = _shape(op), op.result.type
    if isinstance(kind, RowsType):
        rows, cols = shape
        drawn = min(rows, max(1, _POOL_VALUES // cols))
        values = rng.standard_normal((drawn, cols), np.float32) * np.float32(deviation * magnitude)
        data = encode(kind.format.data, values)
        return StoredRows(
            kind.format.data, rows, cols, data if drawn == rows else np.resize(data, (rows, data.shape[1]))
        )
    draw = draw_of(op.result)
    if draw is not None:
        return draw(rng, shape).astype(np.float32) * np.float32(1.0 if len(shape) == 1 else magnitude)
    values = rng.standard_normal(shape, np.float32)
    if len(shape) == 1:
        return np.float32(1) + np.float32(0.1) * values  # a norm's weight
    return values * np.float32((0.1 if shape[0] == 1 else deviation) * magnitude)


__all__ = [
    "Constants",
    "Source",
    "Stored",
    "StoredRows",
    "WeightError",
    "constant_key",
    "constants_of",
    "convert",
    "random_weights",
    "resolve",
    "rope_table",
]
