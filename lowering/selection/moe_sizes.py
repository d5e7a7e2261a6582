"""Sizes that the kernels of mixtures share: their blocks, formats' numbers, and rows in shared memory."""

from __future__ import annotations

from lanelink.dialects.formats import Format
from lanelink.lowering.repack import ROW_ALIGN, plane_layout
from lanelink.lowering.selection.moe_specs import MoeMatrix, MoeSpec
from lanelink.lowering.selection.operands import Quantized, Unnormed

WARPS = 16
THREADS = 32 * WARPS
STATIC_SHARED = 1024
"""At least the static shared memory of an entry."""

FORMATS = (
    Format.F32,
    Format.F16,
    Format.BF16,
    Format.Q8_0,
    Format.Q4_0,
    Format.Q4_K,
    Format.Q5_K,
    Format.Q6_K,
    Format.MXFP4,
)
"""In the order of the kernels' numbers; values come after them."""


def f32_stride(k: int) -> int:
    """Bytes of a staged f32 row."""
    return -(-k // 32) * 128


def q8_stride(k: int, planes: int) -> int:
    """Bytes of a staged quantized row: its planes, scales, and sums of blocks."""
    return -(-(planes * k + k // 32 * 8) // 16) * 16


def words_of(format: Format, k: int) -> int:
    """16-byte loads of a stored row's values."""
    block = format.is_block and format is not Format.Q8_0
    return k // 32 if block else plane_layout(format, 1, k).pitch // ROW_ALIGN


def planes_of(spec: MoeSpec) -> int:
    """Planes of quantized x, as it is or as its norm becomes; 0 for f32."""
    return spec.x.planes if isinstance(spec.x, Quantized | Unnormed) else 0


def stride_of(spec: MoeSpec, k: int) -> int:
    """Bytes of a staged row of k values, in the form that experts' products read."""
    planes = planes_of(spec)
    return q8_stride(k, planes) if planes else f32_stride(k)


def columns_of(spec: MoeSpec) -> list[MoeMatrix]:
    """The router, and the gate of the shared expert where it has one."""
    column = spec.shared.column if spec.shared is not None else None
    return [spec.router] if column is None else [spec.router, column]


def is_plain(matrix: MoeMatrix) -> bool:
    """Whether a matrix is of plain rows or values, which products read f32 x for."""
    return matrix.format is None or not matrix.format.is_block


__all__ = [
    "FORMATS",
    "STATIC_SHARED",
    "THREADS",
    "WARPS",
    "columns_of",
    "f32_stride",
    "is_plain",
    "planes_of",
    "q8_stride",
    "stride_of",
    "words_of",
]
