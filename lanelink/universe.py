"""What stock `xdsl-opt` finds of lanelink through the `xdsl.universe` entry point: dialects, passes, lazily."""

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _tgraph() -> Dialect:
    from lanelink.dialects.tgraph import TGraph

    return TGraph


def _launch() -> Dialect:
    from lanelink.dialects.launch import LaunchDialect

    return LaunchDialect


def _driver() -> Dialect:
    from lanelink.dialects.driver import DriverDialect

    return DriverDialect


DIALECTS: dict[str, Callable[[], Dialect]] = {"tgraph": _tgraph, "launch": _launch, "driver": _driver}


def _number_ops() -> type[ModulePass]:
    from lanelink.passes.number_ops import NumberOpsPass

    return NumberOpsPass


def _quantize_activations() -> type[ModulePass]:
    from lanelink.passes.quantize_activations import QuantizeActivationsPass

    return QuantizeActivationsPass


def _fuse() -> type[ModulePass]:
    from lanelink.passes.fuse import FusePass

    return FusePass


def _legalize_shim() -> type[ModulePass]:
    from lanelink.passes.legalize_shim import LegalizeShimPass

    return LegalizeShimPass


def _link() -> type[ModulePass]:
    from lanelink.passes.link import LinkPass

    return LinkPass


def _schedule_sequences() -> type[ModulePass]:
    from lanelink.passes.schedule import ScheduleSequencesPass

    return ScheduleSequencesPass


def _schedule_norms() -> type[ModulePass]:
    from lanelink.passes.schedule import ScheduleNormsPass

    return ScheduleNormsPass


def _schedule_rotations() -> type[ModulePass]:
    from lanelink.passes.schedule import ScheduleRotationsPass

    return ScheduleRotationsPass


def _schedule_tails() -> type[ModulePass]:
    from lanelink.passes.schedule import ScheduleTailsPass

    return ScheduleTailsPass


def _schedule_splits() -> type[ModulePass]:
    from lanelink.passes.schedule import ScheduleSplitsPass

    return ScheduleSplitsPass


def _schedule_products() -> type[ModulePass]:
    from lanelink.passes.schedule import ScheduleProductsPass

    return ScheduleProductsPass


def _schedule_attention() -> type[ModulePass]:
    from lanelink.passes.schedule import ScheduleAttentionPass

    return ScheduleAttentionPass


def _schedule_dependent_launch() -> type[ModulePass]:
    from lanelink.passes.schedule import ScheduleDependentLaunchPass

    return ScheduleDependentLaunchPass


def _plan_buffers() -> type[ModulePass]:
    from lanelink.passes.plan_buffers import PlanBuffersPass

    return PlanBuffersPass


def _lower_to_driver() -> type[ModulePass]:
    from lanelink.lowering.launch_to_driver import LowerToDriverPass

    return LowerToDriverPass


def _lanelink() -> type[ModulePass]:
    from lanelink.pipeline import LanelinkPass

    return LanelinkPass


PASSES: dict[str, Callable[[], type[ModulePass]]] = {
    "number-ops": _number_ops,
    "quantize-activations": _quantize_activations,
    "fuse": _fuse,
    "legalize-shim": _legalize_shim,
    "link": _link,
    "schedule-sequences": _schedule_sequences,
    "schedule-norms": _schedule_norms,
    "schedule-rotations": _schedule_rotations,
    "schedule-products": _schedule_products,
    "schedule-tails": _schedule_tails,
    "schedule-splits": _schedule_splits,
    "schedule-attention": _schedule_attention,
    "schedule-dependent-launch": _schedule_dependent_launch,
    "plan-buffers": _plan_buffers,
    "lower-to-driver": _lower_to_driver,
    "lanelink": _lanelink,
}

LANELINK_UNIVERSE = Universe(all_dialects=DIALECTS, all_passes=PASSES)
