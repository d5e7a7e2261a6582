"""JSON objects from files that are not to be trusted."""

from __future__ import annotations

import json
from typing import cast

from lanelink.frontend.checkpoint import CheckpointError, MappedFile, shown

LARGEST_JSON = 16 << 20
"""Bytes of the largest JSON text read. The index of a model of 91,000 tensors is 9 MB; the header of one shard is less.

Python's reader makes up to some thirty times the text's size of small objects, which this bounds."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise CheckpointError(f"expected each key once, got {shown(key)} twice")
            seen.add(key)
    return found


def parse_object(text: bytes, where: str) -> dict[str, object]:
    """The JSON object `text` says. Raises CheckpointError, beginning with `where`, on anything else, a key given twice
    (readers disagree which one counts), or text nested too deep."""
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_unique)
    except CheckpointError as error:
        raise CheckpointError(f"{where}: {error}") from None
    except RecursionError:
        raise CheckpointError(f"{where}: expected a JSON object, got one nested too deep to read") from None
    except ValueError as error:  # malformed JSON or UTF-8, or an integer too long to read
        raise CheckpointError(f"{where}: expected a JSON object, got: {shown(str(error))}") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{where}: expected a JSON object, got {shown(value)}")
    return cast(dict[str, object], value)


def read_object(file: MappedFile) -> dict[str, object]:
    """The JSON object that is the whole of `file`. Raises as `parse_object`, and where the file is too long."""
    if file.size > LARGEST_JSON:
        raise CheckpointError(f"{file.path}: expected at most {LARGEST_JSON} bytes of JSON, got {file.size}")
    return parse_object(file.read(0, file.size), str(file.path))
