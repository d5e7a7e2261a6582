"""Text to token ids and back: bytes for a byte-level model, else the checkpoint's tokenizer.json or vocabulary."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from os.path import exists
from pathlib import Path
from typing import Any, Protocol, cast

from lanelink.frontend.checkpoint import CheckpointError, MappedFile
from lanelink.frontend.gguf_file import is_gguf, open_gguf
from lanelink.frontend.gguf_text import Json, has_vocabulary, tokenizer_json

BYTES = 256
"""The vocabulary of a byte-level model: its ids are bytes."""


REPLACEMENT = "\ufffd"
"""What stands for bytes that are no text."""


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
    @property
    def offsets(self) -> list[tuple[int, int]]: ...


class _Tokenizer(Protocol):
    def encode(self, sequence: str) -> _Encoding: ...
    def decode(self, ids: Sequence[int]) -> str: ...
    def to_str(self) -> str: ...


@dataclass(frozen=True)
class TokenizerText:
    """A tokenizer of the `tokenizers` package, as the file `where` describes it. Both ways raise CheckpointError where
    the package fails of that file, and `encode` where the vocabulary does not spell the text."""

    tokenizer: _Tokenizer
    where: Path

    def encode(self, text: str) -> list[int]:
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        with _faults(self.where):
            found = self.tokenizer.encode(text)
        if (at := _unspelled(text, found.offsets)) is not None:
            raise CheckpointError(
                f"{self.where}: expected a vocabulary that spells the text, got none of its tokens for {text[at]!r}, "
                f"character {at}"
            )
        return found.ids

    def decode(self, ids: Sequence[int]) -> str:
        with _faults(self.where):
            return self.tokenizer.decode(list(ids))


def _unspelled(text: str, offsets: Sequence[tuple[int, int]]) -> int | None:
    """The first letter or digit that no token is of: the package leaves out what a vocabulary does not spell. Spaces,
    marks and the like a tokenizer may leave out by its own rules."""
    spelled = {at for start, end in offsets for at in range(start, end)}
    return next((at for at, letter in enumerate(text) if letter.isalnum() and at not in spelled), None)


@contextmanager
def _faults(where: Path) -> Generator[None]:
    """What the package raises as a CheckpointError of the file `where`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # plain Exception for most faults of a file; a panic of its own code is none
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{where}: expected a tokenizer, got: {reason[:200]}") from None


def continuation(text: Text, before: Sequence[int], ids: Sequence[int]) -> str:
    """The text of `ids` after `before`: a tokenizer may leave out a space where it sees nothing before."""
    start, whole = text.decode(before), text.decode([*before, *ids])
    return whole[len(start) :] if whole.startswith(start) else text.decode(ids)


_SETTLED, _KEPT = 64, 16
"""Ids after which text that has been shown is no longer decoded anew, but for the last ones, which the next go by."""


@dataclass
class TextStream:
    """The text of ids as they come after `before`. A character whose bytes have not all come is held back."""

    text: Text
    before: Sequence[int]
    _ids: list[int] = field(default_factory=list[int])
    _shown: str = ""

    def add(self, id: int) -> str:
        """What `id` adds to the text."""
        self._ids.append(id)
        whole = continuation(self.text, self.before, self._ids)
        more = self._show(whole.rstrip(REPLACEMENT))
        if self._shown == whole and len(self._ids) >= _SETTLED:
            self.before, self._ids, self._shown = self._ids[-_KEPT:], [], ""
        return more

    def end(self) -> str:
        """What was held back, as far as it is text."""
        return self._show(continuation(self.text, self.before, self._ids))

    def _show(self, whole: str) -> str:
        if not whole.startswith(self._shown):
            return ""
        more = whole[len(self._shown) :]
        self._shown = whole
        return more


def open_text(path: Path, vocabulary: int) -> Text:
    """How the model in the directory or GGUF file `path` reads text.

    Raises CheckpointError where it has no tokenizer and is not byte-level, where its tokenizer is not sound, or where
    the optional package `tokenizers` is not installed.
    """
    if is_gguf(path):
        metadata = open_gguf(path).metadata
        if not has_vocabulary(metadata):
            return _bytes(vocabulary, path, "a vocabulary")
        package = _package(path)
        described = tokenizer_json(metadata, vocabulary)
        return _tokenizer(path, lambda: _described(package, described))
    file = path / "tokenizer.json"
    if not exists(file):
        return _bytes(vocabulary, path, "tokenizer.json")
    MappedFile.open(file)
    package = _package(file)
    return _tokenizer(file, lambda: package.Tokenizer.from_file(str(file)))


def _bytes(vocabulary: int, path: Path, expected: str) -> Text:
    if vocabulary == BYTES:
        return ByteText()
    raise CheckpointError(
        f"{path}: expected {expected} to read text with, got none (a vocabulary of {vocabulary} is not bytes)"
    )


def _package(where: Path) -> Any:
    """The package `tokenizers`, asked for before anything is made for it. CheckpointError where it is not installed."""
    try:
        return import_module("tokenizers")
    except ImportError:
        raise CheckpointError(
            f"{where}: expected the package tokenizers to read it, got none: install lanelink[tokenizers]"
        ) from None


def _described(package: Any, form: Json) -> Any:
    """The tokenizer that a tokenizer.json of this form would be read as, its pieces and merges handed over as they are:
    as text, those of a large vocabulary take three times as long."""
    model, added = cast(Json, form["model"]), cast(list[Json], form["added_tokens"])
    pieces = {key: value for key, value in model.items() if key != "type"}
    bare: Json = {"type": model["type"], "vocab": {}, "merges": []}
    made = package.Tokenizer.from_str(json.dumps({**form, "model": bare, "added_tokens": []}))
    made.model = getattr(package.models, cast(str, model["type"]))(**pieces)
    # Their ids are those of the pieces that they are.
    made.add_tokens([package.AddedToken(**{key: each[key] for key in each if key != "id"}) for each in added])
    return made


def _tokenizer(where: Path, make: Callable[[], Any]) -> Text:
    """The tokenizer that `make` makes by the package `tokenizers`, whose faults are told with `where`."""
    with _faults(where):
        return TokenizerText(cast(_Tokenizer, make()), where)
