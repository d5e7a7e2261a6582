"""The kernel call that reads a buffer as fast as the memory gives it: what other kernels are measured against."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.lowering.selection.calls import I32, Address, KernelCall
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.packing import require

THREADS = 1024
BLOCKS_AN_SM = 2
"""An H200 needs that many threads to reach its ceiling: 256 a multiprocessor read 3.4 TB/s of 4.65."""


@dataclass(frozen=True)
class StreamSpec:
    """`out`, one u32, turned by the exclusive or of the 32-bit words of `bytes` bytes."""

    data: Address
    bytes: int
    out: Address


def stream(spec: StreamSpec, chip: Chip) -> KernelCall:
    """The call of a streaming read. Raises SelectionError for what is not whole 16-byte words."""
    whole = spec.bytes > 0 and spec.bytes % 16 == 0 and spec.bytes < 2**35
    require(whole, "stream bytes", "a multiple of 16 below 2^35", spec.bytes)
    grid = (BLOCKS_AN_SM * chip.sms, 1, 1)
    return KernelCall("stream", "stream_words", grid, (THREADS, 1, 1), 0, (spec.data, I32(spec.bytes // 16), spec.out))


__all__ = ["StreamSpec", "stream"]
