"""Writing a file as a whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, text: str) -> None:
    """
    Writes `text` as UTF-8; an old file stays as it is until the new one is complete, and its mode with it. A link is
    followed. Raises OSError, which names `path`.
    """
    with whole_file(path) as stream:
        stream.write(text.encode())


def check_place(path: Path) -> None:
    """Raises OSError, which names `path`, where `write_whole` could not write there; for what takes long to make. A
    folder that is not there is not made."""
    with _named(path):
        target = _target(path)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "expected the name of a file, got a folder's")
        if target.is_file() or not target.exists():
            with tempfile.TemporaryFile(dir=target.parent):
                pass


@contextmanager
def whole_file(path: Path) -> Generator[BinaryIO, None, None]:
    """A stream whose bytes become the file at `path` when the block ends well, as `write_whole` says."""
    with _named(path), _stream(_target(path)) as stream:
        yield stream


@contextmanager
def _named(path: Path) -> Generator[None, None, None]:
    """An OSError names `path`, as it was given."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _target(path: Path) -> Path:
    """What `path` leads to, in a folder that is there."""
    try:
        target = path.resolve()
    except RuntimeError:
        # What pathlib says of links that lead to each other.
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"expected a folder to write it into, got none at {target.parent}")
    return target


@contextmanager
def _stream(path: Path) -> Generator[BinaryIO, None, None]:
    if path.exists() and not path.is_file():
        # A pipe or a device is written as it is.
        with path.open("wb") as stream:
            yield stream
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(name, path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
