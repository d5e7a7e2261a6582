"""`--emit-python`: a lowered step as a program on disk, with its PTX and its weights beside it."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from lanelink.failures import InputError
from lanelink.lowering.runtime.loader import Loader
from lanelink.lowering.runtime.plan import read_plan
from lanelink.lowering.script.writer import Script, write_script
from lanelink.write import check_place, whole_file, write_whole


def emit_python(module: ModuleOp, path: Path, loader: Loader | None = None) -> None:
    """
    Writes the one `driver.step` of a module as the program `path`, in a folder that is there; with a `loader`, its
    weights' file too.

    Nothing is written where one of the files cannot be. Weights, which are the most likely to fail, come first, and the
    program last, so that it is never there without what it needs. Raises VerifyException where there is not one step,
    InputError for a name that one of the files beside it has, OSError, and what `write_script` and `loader` raise.
    """
    script = write_script(read_plan(module), path.stem)
    if path.name in (*script.ptx, script.weights_file):
        raise InputError(f"{path}: expected another name than those of the files beside it, got {path.name!r}")
    for name in (path.name, *script.ptx, *(() if loader is None else (script.weights_file,))):
        check_place(path.with_name(name))
    if loader is not None:
        _write_weights(script, path.with_name(script.weights_file), loader)
    for name, text in script.ptx.items():
        write_whole(path.with_name(name), text)
    write_whole(path, script.text)


def _write_weights(script: Script, path: Path, loader: Loader) -> None:
    """The constants one after another, each with zeros up to the next one's start; one is held at a time."""
    with whole_file(path) as stream:
        for piece in script.pieces:
            data = loader(piece.constant).data
            stream.write(data.data)
            stream.write(bytes(piece.bytes - data.size))


__all__ = ["emit_python"]
