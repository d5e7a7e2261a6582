"""Bytes that a launch's buffers take in device memory."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import f16, f32, i32
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.formats import BLOCK_VALUES
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.attributes import Q8Type

_SCALE_BYTES = 4
_ELEMENT_BYTES: dict[Attribute, int] = {f32: 4, f16: 2, i32: 4}


def buffer_bytes(kind: Attribute, what: str = "buffer") -> int:
    """
    Bytes of a static memref of f32, f16 or i32, or of quantized activations (each plane's int8, then one f32 scale a
    block).

    VerifyException, naming `what`, for any other type.
    """
    if isinstance(kind, Q8Type):
        rows, cols = kind.shape
        return rows * cols * kind.planes.data + _SCALE_BYTES * rows * (cols // BLOCK_VALUES)
    if is_memref(kind) and (size := _ELEMENT_BYTES.get(kind.element_type)) and all(d > 0 for d in kind.get_shape()):
        return size * prod(kind.get_shape())
    raise VerifyException(f"{what}: expected !tgraph.q8 or a static memref of f32, f16 or i32, got {kind}")


__all__ = ["buffer_bytes"]
