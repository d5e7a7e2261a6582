"""An architecture: the names its config.json goes by, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lanelink.frontend.fields import Fields
from lanelink.frontend.shapes import DecoderConfig


@dataclass(frozen=True)
class Family:
    """One architecture. Sources: its paper, and its `configuration_*.py` and `modeling_*.py` in transformers."""

    model_type: str
    """config.json's `model_type`."""

    class_name: str
    """config.json's `architectures`."""

    read: Callable[[Fields], DecoderConfig]
    """The decoder that a config.json of this family describes; CheckpointError where a key does not fit."""

    packed: str | None = None
    """The `quant_method` under which the family's own release keeps its experts, which is read as stored."""
