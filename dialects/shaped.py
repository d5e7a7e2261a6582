"""
Whether a type is a tensor or a memref, of any element. It is asked of every value many times: by class alone, since
`isa(kind, MemRefType[Attribute])`, which says the same, makes a constraint of the type each time.
"""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute


def is_tensor(kind: Attribute) -> TypeGuard[TensorType[Attribute]]:
    """Whether a type is a tensor."""
    return isinstance(kind, TensorType)


def is_memref(kind: Attribute) -> TypeGuard[MemRefType[Attribute]]:
    """Whether a type is a memref."""
    return isinstance(kind, MemRefType)


__all__ = ["is_memref", "is_tensor"]
