"""What a command says of an exception that ends it: one message and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from xdsl.utils.exceptions import DiagnosticException, ParseError

from lanelink.cut import cut, cut_fault
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.lowering.emulator import EmulatorError
from lanelink.lowering.runtime.backend import BackendError
from lanelink.lowering.weights import WeightError

BAD_INPUT, INTERRUPTED = 1, 130


class InputError(ValueError):
    """Input that a command refuses: one line, what was expected, what was found, where."""


TOLD = (ParseError, DiagnosticException, CheckpointError, WeightError, BackendError, EmulatorError, InputError)
"""Exceptions whose own text says what was expected, what was found and where."""


def run_command(tool: str, work: Callable[[], None], source: Callable[[], str], *, one_line: bool) -> int:
    """
    Runs a command: 0, or the exit code of the exception that ended it, told on stderr.

    `source` names the input, for exceptions that do not: numbers, nestings and sizes past what this machine holds.
    `one_line` puts a diagnostic in one line behind the tool's name; MLIR tools print it with the line at fault.
    """
    try:
        work()
        return _flushed(tool)
    except BrokenPipeError:
        return _reader_left()
    except KeyboardInterrupt:
        print(f"{tool}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except TOLD as error:
        cut_fault(error)
        print(f"{tool}: {_one_line(error)}" if one_line else _whole(error), file=sys.stderr)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{tool}: {where}{error.strerror or error}", file=sys.stderr)
    except RecursionError:
        print(f"{tool}: {source()}: expected operations nested less deeply", file=sys.stderr)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        print(f"{tool}: {source()}: expected UTF-8 text, got byte {byte:#04x} at {error.start}", file=sys.stderr)
    except (MemoryError, OverflowError):
        print(f"{tool}: {source()}: expected sizes that this machine's memory holds, got larger ones", file=sys.stderr)
    except ValueError as error:
        print(f"{tool}: {source()}: {cut(str(error))}", file=sys.stderr)
    return BAD_INPUT


@contextmanager
def weights_of(checkpoint: Path) -> Generator[None, None, None]:
    """Names the checkpoint in what is said of a tensor of it."""
    try:
        yield
    except WeightError as error:
        raise WeightError(f"{checkpoint}: {error}") from None


def is_closed(stream: TextIO | None) -> bool:
    """Whether a standard stream was closed before Python began: it is None then, whatever its type says."""
    return stream is None


def _whole(error: Exception) -> str:
    """A diagnostic with the line at fault, which is cut already."""
    return str(error) if isinstance(error, ParseError) else cut(str(error))


def _one_line(error: Exception) -> str:
    # The line at fault may be megabytes, and a mark below it says nothing beside it.
    text = f"{error.span.get_location()}: {error.msg}" if isinstance(error, ParseError) else str(error)
    return cut(" ".join(line.strip() for line in text.splitlines() if line.strip()))


def _flushed(tool: str) -> int:
    """Flushes what was printed; output that did not arrive is a failure."""
    if is_closed(sys.stdout):
        print(f"{tool}: expected an open standard output, got a closed one", file=sys.stderr)
        return BAD_INPUT
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_left()
    return 0


def _reader_left() -> int:
    """The reader has seen enough: keeps the interpreter from complaining about it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
