"""The bytes of a plan's constants as they lie on the device: from a checkpoint, from resolved arrays, or at random."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
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
    """A constant as it was found: its device bytes u8 [n], or with `planes` the checkpoint's file bytes of its rows.

    Constants of one `same` that is not None hold the same bytes.
    """

    found: Bytes
    planes: PlanesAttr | None = None
    same: Hashable = None

    @cached_property
    def data(self) -> Bytes:
        """Its bytes as they lie on the device. A runtime that repacks rows itself does not ask for them."""
        if self.planes is None:
            return self.found
        return repack(self.planes.format.data, *self.planes.shape, self.found)


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
        return found_bytes(constant, self._constants)


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
        return found_bytes(constant, resolve(ModuleOp([tensor_constant(constant)]), self._source))


class RandomLoader:
    """Random bytes in the shape of a model's: one draw for all constants of one shape, for measuring speed."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._drawn: dict[Hashable, Loaded] = {}

    def __call__(self, constant: PlanConstant) -> Loaded:
        """The bytes of the constant's layout; a rotation table as its rule makes it."""
        same = (constant.layout, constant.source if isinstance(constant.source, RopeTableAttr) else None)
        found = self._drawn.get(same)
        if found is None:
            module = ModuleOp([tensor_constant(constant)])
            drawn = found_bytes(constant, random_weights(module, self._seed))
            found = self._drawn[same] = replace(drawn, same=same)
        return found


def tensor_constant(constant: PlanConstant) -> ConstantOp:
    """The constant of level 1 that a plan's constant is of: rows as a product reads them, or values."""
    layout = constant.layout
    if isinstance(layout, PlanesAttr):
        return ConstantOp(constant.source, RowsType(layout.format.data, *layout.shape, transposed=True))
    return ConstantOp(constant.source, TensorType(f32, layout.shape))


def found_bytes(constant: PlanConstant, constants: Constants) -> Loaded:
    """One of `constants` for the plan's layout. WeightError where it is not among them, or is not of its form."""
    key = constant_key(tensor_constant(constant))
    found = constants.arrays.get(key)
    if found is None:
        raise WeightError(f"constant '{constant.name}': expected it among {len(constants.arrays)} resolved, got none")
    layout = constant.layout
    if isinstance(layout, PlanesAttr):
        if not isinstance(found, StoredRows):
            raise WeightError(f"constant '{constant.name}': expected checkpoint rows, got values")
        return Loaded(np.ascontiguousarray(found.data).reshape(-1), layout)
    values = found.values if isinstance(found, StoredRows) else found
    return Loaded(np.ascontiguousarray(values, np.float32).reshape(-1).view(np.uint8))


__all__ = ["ConstantsLoader", "Loaded", "Loader", "RandomLoader", "SourceLoader", "found_bytes", "tensor_constant"]
