"""What kernel selection asks of a chip."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.driver.launch import MOST_SHARED


@dataclass(frozen=True)
class Chip:
    """A GPU as selection sees it: its multiprocessors, and the KiB of shared memory one block may be given."""

    name: str
    compute_capability: tuple[int, int]
    sms: int
    shared_kib: int

    @property
    def shared_bytes(self) -> int:
        """Bytes of dynamic shared memory one block may be given, no more than on any chip so far."""
        return min(self.shared_kib * 1024, MOST_SHARED)

    @property
    def architecture(self) -> str:
        """The newest architecture of the committed PTX that runs here."""
        return "compute_90" if self.compute_capability >= (9, 0) else "compute_80"


H200 = Chip("h200", (9, 0), 132, 227)
A100 = Chip("a100", (8, 0), 108, 163)

__all__ = ["A100", "H200", "Chip"]
