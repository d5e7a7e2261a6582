"""What an import knows of the weights a step names: the checkpoint's own tensors, or only what its config.json says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import Checkpoint


class Weights(Protocol):
    """Answers for each tensor that a step names. Both raise CheckpointError where the tensor is missing or of another
    shape; shapes are the checkpoint's own, outermost first."""

    def matrix(self, name: str, shape: tuple[int, int]) -> Format:
        """The format of a matrix kept as rows."""
        ...

    def vector(self, name: str, length: int) -> None:
        """Checks a tensor that is read as plain values."""
        ...


@dataclass(frozen=True)
class StoredWeights:
    """The tensors of a checkpoint."""

    checkpoint: Checkpoint

    def matrix(self, name: str, shape: tuple[int, int]) -> Format:
        return self.checkpoint.tensor(name, shape).format

    def vector(self, name: str, length: int) -> None:
        self.checkpoint.tensor(name, (length,))


@dataclass(frozen=True)
class AbsentWeights:
    """Tensors not looked at: every one is there, of the shape asked for and in one format."""

    format: Format

    def matrix(self, name: str, shape: tuple[int, int]) -> Format:
        return self.format

    def vector(self, name: str, length: int) -> None:
        pass


@dataclass(frozen=True)
class QuantizedWeights:
    """The matrices of `weights` in another format, made from the stored one at load.

    A matrix whose rows are not whole blocks of it is kept as stored: it has no such form.
    """

    weights: Weights
    format: Format

    def matrix(self, name: str, shape: tuple[int, int]) -> Format:
        stored = self.weights.matrix(name, shape)
        return stored if shape[1] % self.format.block_values else self.format

    def vector(self, name: str, length: int) -> None:
        self.weights.vector(name, length)
