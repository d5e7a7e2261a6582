"""
Whether a type is a tensor or a memref, of any element. It is asked of every value many times: by class alone, since
`isa(kind, MemRefType[Attribute])`, which says the same, makes a constraint of the type each time.
"""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, SSAValue


def is_tensor(kind: Attribute) -> TypeGuard[TensorType[Attribute]]:
    """Whether a type is a tensor."""
    return isinstance(kind, TensorType)


def is_memref(kind: Attribute) -> TypeGuard[MemRefType[Attribute]]:
    """Whether a type is a memref."""
    return isinstance(kind, MemRefType)


def element_of(value: SSAValue) -> Attribute | None:
    """The element type of a tensor or buffer; none of another value."""
    return value.type.element_type if is_tensor(value.type) or is_memref(value.type) else None


__all__ = ["element_of", "is_memref", "is_tensor"]
