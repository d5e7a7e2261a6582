"""What stock `xdsl-opt` finds of lanelink through the `xdsl.universe` entry point: dialects, passes, lazily."""

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _tgraph() -> Dialect:
    from lanelink.dialects.tgraph import TGraph

    return TGraph


DIALECTS: dict[str, Callable[[], Dialect]] = {"tgraph": _tgraph}

PASSES: dict[str, Callable[[], type[ModulePass]]] = {}

LANELINK_UNIVERSE = Universe(all_dialects=DIALECTS, all_passes=PASSES)
