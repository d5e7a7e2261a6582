"""The three backends by name, each made from a step of level 1 and a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.fault import located
from lanelink.dialects.tgraph.step import step_function, step_io
from lanelink.lowering.runtime.backend import Backend, BackendError
from lanelink.lowering.runtime.loader import SourceLoader
from lanelink.lowering.runtime.phases import Phases
from lanelink.lowering.runtime.plan import Plan, read_plan
from lanelink.lowering.weights import Source, resolve
from lanelink.pipeline import Level, lower

Progress = Callable[[str], None]
"""Called with the name of each constant as it is loaded."""


def _reference(module: ModuleOp, source: Source, progress: Progress, phases: Phases) -> Backend:
    from lanelink.lowering.runtime.reference import ReferenceBackend

    with phases.phase("lower"):
        lowered = lower(module, Level.TENSORS, each=False)
    with phases.phase("weights"):
        return ReferenceBackend(lowered, resolve(lowered, source, progress))


def _emulator(module: ModuleOp, source: Source, progress: Progress, phases: Phases) -> Backend:
    from lanelink.lowering.runtime.emulator import EmulatorBackend

    plan = _plan(module, phases)
    with phases.phase("weights"):
        return EmulatorBackend(plan, SourceLoader(source, progress))


def _cuda(module: ModuleOp, source: Source, progress: Progress, phases: Phases) -> Backend:
    from lanelink.lowering.runtime.cuda import CudaBackend

    return CudaBackend(_plan(module, phases), SourceLoader(source, progress), phases=phases)


def _plan(module: ModuleOp, phases: Phases) -> Plan:
    with phases.phase("lower"):
        return read_plan(lower(module, each=False))


BACKENDS: dict[str, Callable[[ModuleOp, Source, Progress, Phases], Backend]] = {
    "reference": _reference,
    "emulator": _emulator,
    "cuda": _cuda,
}


def wake(name: str) -> None:
    """
    Begins what a backend needs whatever its step is, in a thread: a GPU's driver takes some tenths of a second to open,
    which reading and lowering a step hide. What it fails of is told when the backend is opened.
    """
    if name != "cuda":
        return
    from lanelink.lowering.runtime.cuda_api import CudaApi

    def retain() -> None:
        with suppress(BackendError):
            CudaApi()  # the process holds the device until it ends

    Thread(target=retain, name="lanelink-wake").start()


def open_backend(
    name: str,
    module: ModuleOp,
    source: Source,
    progress: Progress = lambda _: None,
    phases: Phases | None = None,
) -> Backend:
    """
    A step of level 1 made ready to run: `reference` as numpy, `emulator` and `cuda` lowered to driver calls. `phases`
    is told where the time goes.

    Raises what lowering and loading raise: DiagnosticException, WeightError, BackendError.
    """
    func = step_function(module)
    io = step_io(func)
    if io.position is not None and io.position not in io.carries.values():
        message = "expected its position among the results it carries to the next step, got none"
        raise BackendError(located(func, f"step @{func.sym_name.data}: {message}"))
    return BACKENDS[name](module, source, progress, phases or Phases())
