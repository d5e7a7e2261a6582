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


DIALECTS: dict[str, Callable[[], Dialect]] = {"tgraph": _tgraph, "launch": _launch}

PASSES: dict[str, Callable[[], type[ModulePass]]] = {}

LANELINK_UNIVERSE = Universe(all_dialects=DIALECTS, all_passes=PASSES)
