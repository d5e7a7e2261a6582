"""The stored formats of matrix rows, as a closed table: block sizes in values and bytes."""

from __future__ import annotations

from xdsl.utils.str_enum import StrEnum

BLOCK_VALUES = 32
"""Values in one block of quantized activations."""


class Format(StrEnum):
    """How a checkpoint stores a matrix's rows. Block formats are those of the GGUF file format."""

    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"
    Q4_K = "q4_k"
    Q5_K = "q5_k"
    Q6_K = "q6_k"
    MXFP4 = "mxfp4"

    @property
    def block_values(self) -> int:
        """Values in one block of a row; 1 where a row is plain values."""
        return _BLOCKS[self][0]

    @property
    def block_bytes(self) -> int:
        """Bytes of one block as the file stores it."""
        return _BLOCKS[self][1]

    @property
    def is_block(self) -> bool:
        """Whether values share scales in blocks, so that products can run on integer units."""
        return self.block_values > 1

    @property
    def has_plain_loads(self) -> bool:
        """Whether the 16 bytes that a product loads at a time on the device are values alone, not a block of them."""
        return self in _PLAIN_LOADS

    @property
    def values_a_load(self) -> int:
        """Values of a stored row that a product loads at a time on the device: 16 bytes of them, or a block of 32."""
        return _PLAIN_LOADS.get(self, BLOCK_VALUES)

    def row_bytes(self, cols: int) -> int:
        """Bytes of one stored row of `cols` values."""
        return cols // self.block_values * self.block_bytes


_BLOCKS: dict[Format, tuple[int, int]] = {
    Format.F32: (1, 4),
    Format.F16: (1, 2),
    Format.BF16: (1, 2),
    Format.Q8_0: (32, 34),
    Format.Q4_0: (32, 18),
    Format.Q4_K: (256, 144),
    Format.Q5_K: (256, 176),
    Format.Q6_K: (256, 210),
    Format.MXFP4: (32, 17),
}

_PLAIN_LOADS: dict[Format, int] = {Format.F32: 4, Format.F16: 8, Format.BF16: 8, Format.Q8_0: 16}
