"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Writes `text` as UTF-8; an old file stays as it is until the new one is complete. Raises OSError."""
    if path.exists() and not path.is_file():
        # A pipe or a device is written as it is.
        path.write_text(text, encoding="utf-8")
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
