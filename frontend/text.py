"""Text to token ids and back: bytes for a byte-level model, else the checkpoint's tokenizer.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from os.path import exists
from pathlib import Path
from typing import Protocol, cast

from lanelink.frontend.checkpoint import CheckpointError, MappedFile

BYTES = 256
"""The vocabulary of a byte-level model: its ids are bytes."""


class Text(Protocol):
    """A model's way of reading and writing text."""

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, with what the model expects at its start."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; what is no text shows as U+FFFD."""
        ...


@dataclass(frozen=True)
class ByteText:
    """Each byte of the text's UTF-8 is an id."""

    def encode(self, text: str) -> list[int]:
        # Bytes of the command line that are no UTF-8 reach Python as lone surrogates; this turns them back.
        return list(text.encode("utf-8", "surrogateescape"))

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


class _Encoding(Protocol):
    @property
    def ids(self) -> list[int]: ...


class _Tokenizer(Protocol):
    def encode(self, sequence: str) -> _Encoding: ...
    def decode(self, ids: Sequence[int]) -> str: ...


@dataclass(frozen=True)
class TokenizerText:
    """A tokenizer of the `tokenizers` package."""

    tokenizer: _Tokenizer

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")).ids

    def decode(self, ids: Sequence[int]) -> str:
        return self.tokenizer.decode(list(ids))


def open_text(path: Path, vocabulary: int) -> Text:
    """How the model in the directory `path` reads text.

    Raises CheckpointError where it has no tokenizer.json and is not byte-level, where that file is not sound, or where
    the optional package `tokenizers` is not installed.
    """
    file = path / "tokenizer.json"
    if not exists(file):
        if vocabulary == BYTES:
            return ByteText()
        raise CheckpointError(
            f"{path}: expected tokenizer.json to read text with, got none (a vocabulary of {vocabulary} is not bytes)"
        )
    MappedFile.open(file)
    try:
        tokenizers = import_module("tokenizers")
    except ImportError:
        raise CheckpointError(
            f"{file}: expected the package tokenizers to read it, got none: install lanelink[tokenizers]"
        ) from None
    try:
        return TokenizerText(cast(_Tokenizer, tokenizers.Tokenizer.from_file(str(file))))
    except Exception as error:  # the package raises plain Exception for every fault of the file
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{file}: expected a tokenizer, got: {reason[:200]}") from None
