"""The three backends by name, each made from a step of level 1 and a checkpoint."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.tgraph.step import step_function, step_io
from lanelink.lowering.runtime.backend import Backend, BackendError
from lanelink.lowering.runtime.loader import SourceLoader
from lanelink.lowering.runtime.plan import read_plan
from lanelink.lowering.weights import Source, resolve
from lanelink.pipeline import Level, lower

Progress = Callable[[str], None]
"""Called with the name of each constant as it is loaded."""


def _reference(module: ModuleOp, source: Source, progress: Progress) -> Backend:
    from lanelink.lowering.runtime.reference import ReferenceBackend

    lowered = lower(module, Level.TENSORS)
    return ReferenceBackend(lowered, resolve(lowered, source, progress))


def _emulator(module: ModuleOp, source: Source, progress: Progress) -> Backend:
    from lanelink.lowering.runtime.emulator import EmulatorBackend

    return EmulatorBackend(read_plan(lower(module)), SourceLoader(source, progress))


def _cuda(module: ModuleOp, source: Source, progress: Progress) -> Backend:
    from lanelink.lowering.runtime.cuda import CudaBackend

    return CudaBackend(read_plan(lower(module)), SourceLoader(source, progress))


BACKENDS: dict[str, Callable[[ModuleOp, Source, Progress], Backend]] = {
    "reference": _reference,
    "emulator": _emulator,
    "cuda": _cuda,
}


def open_backend(name: str, module: ModuleOp, source: Source, progress: Progress = lambda _: None) -> Backend:
    """
    A step of level 1 made ready to run: `reference` as numpy, `emulator` and `cuda` lowered to driver calls.

    Raises what lowering and loading raise: DiagnosticException, WeightError, BackendError.
    """
    func = step_function(module)
    io = step_io(func)
    if io.position is not None and io.position not in io.carries.values():
        raise BackendError(
            f"step @{func.sym_name.data}: expected its position among the results it carries to the next step, got none"
        )
    return BACKENDS[name](module, source, progress)
