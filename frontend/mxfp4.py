"""MXFP4 as safetensors files keep it: for lack of a type, a tensor `NAME` is two of bytes, `NAME_blocks` and
`NAME_scales` (gpt-oss). Of 32 values 16 bytes, two neighbours in each, the first in its low half, and an exponent
(OCP Microscaling Formats, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import OtherTensor, Tensor

_BYTE = "U8"
_HALF = Format.MXFP4.block_values // 2


@dataclass(frozen=True)
class PackedTensor:
    """A tensor [..., W] of which the blocks are u8 [..., W / 32, 16] and the exponents u8 [..., W / 32]."""

    name: str
    shape: tuple[int, ...]
    blocks: OtherTensor = field(repr=False)
    scales: OtherTensor = field(repr=False)

    @property
    def format(self) -> Format:
        """How its values are stored."""
        return Format.MXFP4

    @property
    def path(self) -> Path:
        """The file that its blocks are in."""
        return self.blocks.file.path

    def raw(self) -> NDArray[np.uint8]:
        """Its bytes as blocks of the one format that this compiler has of MXFP4, made anew: an exponent, then 16 bytes
        of which byte i holds values i and i + 16."""
        pairs = self.blocks.raw().reshape(-1, _HALF)
        codes = np.empty((len(pairs), 2 * _HALF), np.uint8)
        codes[:, 0::2], codes[:, 1::2] = pairs & np.uint8(15), pairs >> np.uint8(4)
        out = np.empty((len(pairs), Format.MXFP4.block_bytes), np.uint8)
        out[:, 0] = self.scales.raw()
        out[:, 1:] = codes[:, :_HALF] | (codes[:, _HALF:] << np.uint8(4))
        return out.reshape(-1)


def packed_tensors(others: Mapping[str, OtherTensor]) -> dict[str, Tensor]:
    """The tensors that pairs among `others` are, by the names without their endings."""
    found: dict[str, Tensor] = {}
    for blocks_name, blocks in others.items():
        name = blocks_name.removesuffix("_blocks")
        scales = others.get(f"{name}_scales")
        if name == blocks_name or scales is None or {blocks.kind, scales.kind} != {_BYTE}:
            continue
        if len(blocks.shape) > 1 and blocks.shape == (*scales.shape, _HALF):
            shape = (*scales.shape[:-1], scales.shape[-1] * Format.MXFP4.block_values)
            found[name] = PackedTensor(name, shape, blocks, scales)
    return found
