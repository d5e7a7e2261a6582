"""Where the time before a first token goes: seconds by name, for whoever asks."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager


class Phases:
    """Seconds of what is done before a first token, by name, in the order in which they first ended."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Generator[None, None, None]:
        """Counts what is done inside under `name`; what is counted already has it added."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun


__all__ = ["Phases"]
