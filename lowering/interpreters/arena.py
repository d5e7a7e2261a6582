"""
A planned step's buffers where the plan puts them: one array of bytes, each `launch.alloc` a part of it at its offset.

Two buffers that the plan lays over one another are then the same bytes, so a plan that is wrong shows in the values. A
buffer is unwritten (NaN, `UNWRITTEN_INDEX`) once more when its first launch begins, before that launch has read
anything: a result laid over an operand of its own launch is a fault on a GPU, where blocks write while others read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects.fault import located
from lanelink.dialects.launch.buffers import AllocOp
from lanelink.dialects.launch.sizes import buffer_bytes
from lanelink.dialects.shaped import is_memref
from lanelink.dialects.tgraph.attributes import Q8Type
from lanelink.lowering.activations import ActivationLayout, QuantizedRows
from lanelink.lowering.interpreters.elements import DTYPES
from lanelink.passes.plan_buffers import ARENA, OFFSET

Array: TypeAlias = npt.NDArray[Any]
Buffer: TypeAlias = Array | QuantizedRows

UNWRITTEN_INDEX = np.iinfo(np.int32).min
"""What an index holds before a launch has written it; f32 and f16 hold NaN."""


def arena_of(func: FuncOp) -> Array | None:
    """Bytes for the arena of a planned step, u8[n]; none where the step is not planned."""
    size = func.attributes.get(ARENA)
    return np.zeros(size.value.data, np.uint8) if isinstance(size, IntegerAttr) else None


def placed(op: AllocOp, arena: Array) -> Buffer:
    """A buffer's part of the arena. InterpretationError where the plan gives it no place inside."""
    kind, size = op.result.type, buffer_bytes(op.result.type)
    offset = op.attributes.get(OFFSET)
    first = offset.value.data if isinstance(offset, IntegerAttr) else -1
    if not 0 <= first <= arena.size - size:
        message = f"{op.name}: expected {size} bytes inside an arena of {arena.size}, got {OFFSET} {offset}"
        raise InterpretationError(located(op, message))
    held = arena[first : first + size]
    if not isinstance(kind, Q8Type):
        assert is_memref(kind)
        return held.view(DTYPES[kind.element_type]).reshape(kind.get_shape())
    layout = ActivationLayout(*kind.shape, kind.planes.data)
    planes = held[: layout.scales_offset].view(np.int8).reshape(layout.planes, layout.rows, layout.cols)
    scales = held[layout.scales_offset :].view(np.float32).reshape(layout.rows, -1)
    return QuantizedRows(planes[0], planes[1] if layout.planes > 1 else None, scales)


def unwrite(buffers: Iterable[Buffer]) -> None:
    """Makes buffers what they are before anything has written them."""
    for held in buffers:
        # Scales of NaN make every quantized value NaN, whatever the quants.
        values = held.scales if isinstance(held, QuantizedRows) else held
        values[...] = np.nan if values.dtype.kind == "f" else UNWRITTEN_INDEX


__all__ = ["UNWRITTEN_INDEX", "arena_of", "placed", "unwrite"]
