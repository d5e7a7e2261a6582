"""The numpy types of tensors' and buffers' elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import f16, f32, i32
from xdsl.ir import Attribute

DTYPES: dict[Attribute, np.dtype[Any]] = {
    f32: np.dtype(np.float32),
    f16: np.dtype(np.float16),
    i32: np.dtype(np.int32),
}
"""Element type → numpy's."""

__all__ = ["DTYPES"]
