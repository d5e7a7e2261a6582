"""What an import knows of the weights a step names: the checkpoint's own tensors, or only what its config.json says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import CheckpointAttr, StoredUnit
from lanelink.frontend.checkpoint import Checkpoint, CheckpointError


@dataclass(frozen=True)
class Place:
    """Where a checkpoint keeps a tensor of the model: what a constant takes of it, and the shape, outermost first, of
    each stored tensor that this names. `format` is what its configuration says of these alone."""

    source: CheckpointAttr
    shape: tuple[int, ...]
    format: Format | None = None


@dataclass(frozen=True)
class Found:
    """Where these weights keep a tensor, and its format."""

    source: CheckpointAttr
    format: Format


class Weights(Protocol):
    """Answers for each tensor that a step names. Both raise CheckpointError where a tensor is missing or of another
    shape.

    `name` is the model's own, in transformers' spelling, of sizes `shape`; `place` is where Hugging Face's layout keeps
    it, where that is not under the same name in the same shape.
    """

    def holds(self, name: str) -> bool:
        """Whether the checkpoint keeps the tensor `name` as one of its own, of whatever shape: layouts differ."""
        ...

    def matrix(self, name: str, shape: tuple[int, int], place: Place | None = None) -> Found:
        """A matrix kept as rows."""
        ...

    def values(self, name: str, shape: tuple[int, ...], place: Place | None = None) -> Found:
        """A tensor that is read as plain values."""
        ...


@dataclass(frozen=True)
class StoredWeights:
    """The tensors of a checkpoint in Hugging Face's layout."""

    checkpoint: Checkpoint

    def holds(self, name: str) -> bool:
        return name in self.checkpoint

    def matrix(self, name: str, shape: tuple[int, int], place: Place | None = None) -> Found:
        return found_at(self.checkpoint, place or Place(CheckpointAttr(name), shape))

    def values(self, name: str, shape: tuple[int, ...], place: Place | None = None) -> Found:
        # A bias is stored flat, and added as a row.
        flat = shape[1:] if len(shape) == 2 and shape[0] == 1 else shape
        return found_at(self.checkpoint, place or Place(CheckpointAttr(name), flat))


def found_at(checkpoint: Checkpoint, place: Place) -> Found:
    """The tensors at `place`. Raises CheckpointError where one is missing, of another shape, or of another format than
    the first or than `place` asks for."""
    formats = {name: checkpoint.tensor(name, place.shape).format for name in place.source.tensors}
    first = next(iter(formats.values()))
    for name, format in formats.items():
        if format is not first:
            raise CheckpointError(
                f"{checkpoint.path}: tensor '{name}': expected {first.value} as those before it, got {format.value}"
            )
    name, view = next(place.source.tensors), place.source.stored_view
    if place.format not in (None, first):
        raise CheckpointError(
            f"{checkpoint.path}: tensor '{name}': expected {place.format}, as config.json says, got {first}"
        )
    if view is not None and view.unit.data is StoredUnit.VALUES and first.is_block:
        raise CheckpointError(
            f"{checkpoint.path}: tensor '{name}': expected f32, f16 or bf16 to view by values, got {first}"
        )
    return Found(place.source, first)


@dataclass(frozen=True)
class AbsentWeights:
    """Tensors not looked at: every one is there, of the shape asked for and in one format."""

    format: Format

    def holds(self, name: str) -> bool:
        return False

    def matrix(self, name: str, shape: tuple[int, int], place: Place | None = None) -> Found:
        return self.values(name, shape, place)

    def values(self, name: str, shape: tuple[int, ...], place: Place | None = None) -> Found:
        if place is None:
            return Found(CheckpointAttr(name), self.format)
        return Found(place.source, place.format or self.format)


@dataclass(frozen=True)
class QuantizedWeights:
    """The matrices of `weights` in another format, made from the stored one at load.

    A matrix whose rows are not whole blocks of it is kept as stored: it has no such form. `keep_blocks`: so is one that
    is in blocks already.
    """

    weights: Weights
    format: Format
    keep_blocks: bool = False

    def holds(self, name: str) -> bool:
        return self.weights.holds(name)

    def matrix(self, name: str, shape: tuple[int, int], place: Place | None = None) -> Found:
        found = self.weights.matrix(name, shape, place)
        kept = shape[1] % self.format.block_values or (self.keep_blocks and found.format.is_block)
        return found if kept else replace(found, format=self.format)

    def values(self, name: str, shape: tuple[int, ...], place: Place | None = None) -> Found:
        return self.weights.values(name, shape, place)
