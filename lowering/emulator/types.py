"""How PTX types are held: a value is a numpy array that broadcasts to (blocks, threads), under the tag of its dtype."""

from typing import Any, TypeAlias

import numpy as np

from lanelink.lowering.emulator.ptx import TYPE_BYTES

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""Values of the threads of a chunk. A dimension of 1 says that all blocks, or all threads of a block, hold the same
value.
"""

TAGS: dict[str, str] = {
    "pred": "?",
    "b8": "u1",
    "u8": "u1",
    "s8": "i1",
    "b16": "u2",
    "u16": "u2",
    "s16": "i2",
    "f16": "u2",
    "bf16": "u2",
    "b32": "u4",
    "u32": "u4",
    "s32": "i4",
    "f32": "f4",
    "f16x2": "u4",
    "bf16x2": "u4",
    "b64": "u8",
    "u64": "u8",
    "s64": "i8",
    "f64": "f8",
}
"""The dtype that holds each PTX type. Half-precision values are held as their bits."""


def tag_bytes(tag: str) -> int:
    """Bytes of a tag's values; 1 for predicates."""
    return 1 if tag == "?" else int(tag[1])


def register_tag(kind: str) -> str:
    """The dtype that a register of this declared type is kept under between blocks."""
    return TAGS[kind].replace("i", "u") if kind in TYPE_BYTES and kind in TAGS else ""
