"""Typed reading of one JSON object of a model's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from lanelink.frontend.checkpoint import CheckpointError, shown

LARGEST_SIZE = 2**31 - 1
"""The largest size a configuration may ask for: row indices are 32-bit."""

LARGEST_NUMBER = 1e30
"""The largest number a configuration may ask for: arithmetic over it stays inside f32."""


@dataclass(frozen=True)
class Fields:
    """The keys of one object. `where` begins every error: the file, and the key that holds the object.

    A key that is missing and one that is null are the same here, as they are to transformers' configurations.
    Each reader raises CheckpointError where the key is missing and `default` is None, or where its value does not fit.
    """

    values: Mapping[str, object]
    where: str

    def error(self, key: str, expected: str, got: object) -> CheckpointError:
        """The error for `key`."""
        found = "no such key" if got is None and key not in self.values else shown(got)
        return CheckpointError(f"{self.where}: {key}: expected {expected}, got {found}")

    def has(self, key: str) -> bool:
        """Whether `key` is there and not null."""
        return self.values.get(key) is not None

    def integer(self, key: str, default: int | None = None, *, least: int = 1, most: int = LARGEST_SIZE) -> int:
        """An integer from `least` to `most`; true and false are none."""
        value = self._get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(key, f"an integer from {least} to {most}", value)
        return value

    def number(self, key: str, default: float | None = None, *, least: float, most: float = LARGEST_NUMBER) -> float:
        """A number from `least` to `most`; true and false are none."""
        value = self._get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(key, f"a number from {least:g} to {most:g}", value)
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "true or false", value)
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        value = self._get(key, default)
        if not isinstance(value, str):
            raise self.error(key, "a string", value)
        return value

    def texts(self, key: str) -> list[str]:
        """A list of strings; empty where there is none."""
        value = self._get(key, cast(object, []))
        items = cast(list[object], value) if isinstance(value, list) else [None]
        if not all(isinstance(item, str) for item in items):
            raise self.error(key, "a list of strings", cast(object, value))
        return cast(list[str], items)

    def integers(self, key: str, *, least: int = 1, most: int = LARGEST_SIZE) -> list[int]:
        """A list of integers from `least` to `most`; empty where there is none."""
        value = self._get(key, cast(object, []))
        items = cast(list[object], value) if isinstance(value, list) else [None]
        fits = [isinstance(item, int) and not isinstance(item, bool) and least <= item <= most for item in items]
        if not all(fits):
            raise self.error(key, f"a list of integers from {least} to {most}", cast(object, value))
        return cast(list[int], items)

    def object(self, key: str) -> Fields:
        """A nested object; empty where there is none."""
        value = self._get(key, cast(object, {}))
        if not isinstance(value, dict):
            raise self.error(key, "an object", value)
        return Fields(cast(dict[str, object], value), f"{self.where}: {key}")

    def _get(self, key: str, default: object) -> object:
        value = self.values.get(key)
        return default if value is None else value
