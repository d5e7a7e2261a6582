"""The whole pipeline, from a step's tensor graph to its driver calls, as one pass and as a Python call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from lanelink.collector import collector_off
from lanelink.dialects.driver import StepOp
from lanelink.dialects.fault import located
from lanelink.dialects.launch.step import LIFTED
from lanelink.dialects.tgraph.step import step_function, verify_arguments
from lanelink.lowering.launch_to_driver import LowerToDriverPass
from lanelink.passes.fuse import FusePass
from lanelink.passes.legalize_shim import LegalizeShimPass
from lanelink.passes.link import LinkPass
from lanelink.passes.number_ops import NumberOpsPass
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.passes.quantize_activations import QuantizeActivationsPass
from lanelink.passes.schedule import (
    ScheduleAttentionPass,
    ScheduleDependentLaunchPass,
    ScheduleNormsPass,
    ScheduleProductsPass,
    ScheduleRotationsPass,
    ScheduleSequencesPass,
    ScheduleSplitsPass,
    ScheduleTailsPass,
)
from lanelink.verify import verify_module


class Level(Enum):
    """How far a module is lowered; the value is the number of passes that brings it there."""

    TENSORS = 2
    """Level 1: lifted ops, activations quantized where the numerics ask for it, numbered."""
    FUSED = 4
    """Level 2: recognized, and legal for the target."""
    LAUNCHES = 5
    """Level 3: launches over buffers."""
    SCHEDULED = 13
    """Level 3 still: launches that say how they are run."""
    DRIVER = 15
    """Level 4: driver calls."""


# Quantizing comes before numbering, since a quantize is a lifted op of its own.
PASSES: tuple[type[ModulePass], ...] = (
    QuantizeActivationsPass,
    NumberOpsPass,
    FusePass,
    LegalizeShimPass,
    LinkPass,
    ScheduleSequencesPass,
    ScheduleNormsPass,
    ScheduleRotationsPass,
    ScheduleProductsPass,
    ScheduleTailsPass,
    ScheduleSplitsPass,
    ScheduleAttentionPass,
    ScheduleDependentLaunchPass,
    PlanBuffersPass,
    LowerToDriverPass,
)
"""The pipeline, in order."""

LAST_OF_A_LEVEL = (LegalizeShimPass, LinkPass, PlanBuffersPass)
"""Passes after which a module is of another level, or ready for one."""


@dataclass(frozen=True)
class Schedule:
    """Which passes of the schedule are run; launches run in their kernels' plain way where one is not."""

    sequences: bool = True
    norms: bool = True
    rotations: bool = True
    products: bool = True
    tails: bool = True
    splits: bool = True
    attention: bool = True
    dependent_launch: bool = True

    def left_out(self) -> set[type[ModulePass]]:
        """The passes that are not run."""
        run: dict[type[ModulePass], bool] = {
            ScheduleSequencesPass: self.sequences,
            ScheduleNormsPass: self.norms,
            ScheduleRotationsPass: self.rotations,
            ScheduleProductsPass: self.products,
            ScheduleTailsPass: self.tails,
            ScheduleSplitsPass: self.splits,
            ScheduleAttentionPass: self.attention,
            ScheduleDependentLaunchPass: self.dependent_launch,
        }
        return {each for each, wanted in run.items() if not wanted}


def passes(level: Level = Level.DRIVER, schedule: Schedule | None = None) -> list[ModulePass]:
    """The passes that bring a module of level 1 to `level`."""
    left_out = set[type[ModulePass]]() if schedule is None else schedule.left_out()
    return [each() for each in PASSES[: level.value] if each not in left_out]


def lowered_form(module: ModuleOp) -> tuple[Operation, str] | None:
    """The first op of a module that is lowered past tensors, and what it holds; None where there is none."""
    for op in module.ops:
        if isinstance(op, StepOp):
            return op, "driver calls (level 4)"
        if LIFTED in op.attributes:
            return op, "launches (level 3)"
    return None


def run_passes(ctx: Context, module: ModuleOp, chosen: Sequence[ModulePass], *, each: bool = True) -> None:
    """
    Runs passes of the pipeline, from its beginning on, verifying the module after each; without `each`, after those
    that end a level.

    A step that becomes driver calls may have no argument that a decoding loop does not know; what the target refuses is
    told before that. Raises VerifyException and PassFailedException.
    """
    found = lowered_form(module)
    if found is not None:
        op, form = found
        raise PassFailedException(located(op, f"lanelink: expected a step of tensors (level 1 or 2), got {form}"))
    to_the_end = any(isinstance(at, LowerToDriverPass) for at in chosen)
    for at in chosen:
        if to_the_end and isinstance(at, LinkPass):
            verify_arguments(step_function(module))
        at.apply(ctx, module)
        if each or at is chosen[-1] or isinstance(at, LAST_OF_A_LEVEL):
            verify_module(module)


def lower(
    module: ModuleOp, level: Level = Level.DRIVER, schedule: Schedule | None = None, *, each: bool = True
) -> ModuleOp:
    """
    A copy of a level-1 module brought down to `level`, verified first and after every pass, all of the schedule's by
    default. Without `each`, of a module that was verified when it was read, after those passes alone that end a level:
    a third of the time of a step of thousands of ops.

    Raises VerifyException for a module that is wrong and PassFailedException for one the target refuses.
    """
    with collector_off():
        lowered = module.clone()
        if each:
            verify_module(lowered)
        run_passes(Context(), lowered, passes(level, schedule), each=each)
    return lowered


@dataclass(frozen=True)
class LanelinkPass(Schedule, ModulePass):
    """
    All passes of the pipeline in turn, verifying the module after each.

    Each option leaves one pass of the schedule out where it is false: `lanelink{dependent-launch=false}`.
    """

    name = "lanelink"

    def passes(self) -> list[ModulePass]:
        """The passes it stands for."""
        return passes(schedule=self)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with collector_off():
            run_passes(ctx, op, self.passes())
