"""The bytes of a plan's constants as they lie on the device: from a checkpoint, from resolved arrays, or at random."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from lanelink.dialects.driver import PlanesAttr
from lanelink.dialects.tgraph.attributes import RopeTableAttr, RowsType
from lanelink.dialects.tgraph.constant import ConstantOp
from lanelink.lowering.repack import repack
from lanelink.lowering.runtime.plan import PlanConstant
from lanelink.lowering.weights import (
    Constants,
    Source,
    StoredRows,
    WeightError,
    constant_key,
    random_weights,
    resolve,
)

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Loaded:
    """A constant's device bytes, u8 [n]. Constants of one `same` that is not None hold the same bytes."""

    data: Bytes
    same: Hashable = None


class Loader(Protocol):
    """Where a runtime gets its constants: called once for each, in the plan's order."""

    def __call__(self, constant: PlanConstant) -> Loaded:
        """The bytes of a constant. Raises WeightError, or what its source raises."""
        ...


class ConstantsLoader:
    """Constants resolved before, from the step at level 1 (`weights.resolve`)."""

    def __init__(self, constants: Constants) -> None:
        self._constants = constants

    def __call__(self, constant: PlanConstant) -> Loaded:
        """The constant's bytes in its layout."""
        return Loaded(device_bytes(constant, self._constants))


class SourceLoader:
    """Constants read from a checkpoint one at a time, so that the host never holds them all.

    `progress` is called with each constant's name as it is begun.
    """

    def __init__(self, source: Source, progress: Callable[[str], None] | None = None) -> None:
        self._source = source
        self._progress = progress

    def __call__(self, constant: PlanConstant) -> Loaded:
        """The constant's bytes in its layout."""
        if self._progress is not None:
            self._progress(constant.name)
        return Loaded(device_bytes(constant, resolve(ModuleOp([tensor_constant(constant)]), self._source)))


class RandomLoader:
    """Random bytes in the shape of a model's: one draw for all constants of one shape, for measuring speed."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._drawn: dict[Hashable, Bytes] = {}

    def __call__(self, constant: PlanConstant) -> Loaded:
        """The bytes of the constant's layout; a rotation table as its rule makes it."""
        same = (constant.layout, constant.source if isinstance(constant.source, RopeTableAttr) else None)
        found = self._drawn.get(same)
        if found is None:
            module = ModuleOp([tensor_constant(constant)])
            found = self._drawn[same] = device_bytes(constant, random_weights(module, self._seed))
        return Loaded(found, same)


def tensor_constant(constant: PlanConstant) -> ConstantOp:
    """The constant of level 1 that a plan's constant is of: rows as a product reads them, or values."""
    layout = constant.layout
    if isinstance(layout, PlanesAttr):
        return ConstantOp(constant.source, RowsType(layout.format.data, *layout.shape, transposed=True))
    return ConstantOp(constant.source, TensorType(f32, layout.shape))


def device_bytes(constant: PlanConstant, constants: Constants) -> Bytes:
    """The bytes of one of `constants` in the plan's layout. WeightError where it is not among them."""
    key = constant_key(tensor_constant(constant))
    found = constants.arrays.get(key)
    if found is None:
        raise WeightError(f"constant '{constant.name}': expected it among {len(constants.arrays)} resolved, got none")
    layout = constant.layout
    if isinstance(layout, PlanesAttr):
        if not isinstance(found, StoredRows):
            raise WeightError(f"constant '{constant.name}': expected checkpoint rows, got values")
        return repack(layout.format.data, *layout.shape, found.data)
    values = found.values if isinstance(found, StoredRows) else found
    return np.ascontiguousarray(values, np.float32).reshape(-1).view(np.uint8)


__all__ = ["ConstantsLoader", "Loaded", "Loader", "RandomLoader", "SourceLoader", "device_bytes", "tensor_constant"]
