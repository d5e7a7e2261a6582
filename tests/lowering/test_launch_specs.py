"""What a launch asks of a kernel, where no kernel has an answer."""

from __future__ import annotations

import pytest
from xdsl.irdl import irdl_op_definition

from lanelink.dialects.launch.base import LeafLaunch, covers_attr
from lanelink.lowering.launch_specs import SPECS, launch_spec
from lanelink.lowering.selection.calls import SelectionError


@irdl_op_definition
class ForeignOp(LeafLaunch):
    """A launch of another lane's dialect."""

    name = "other.launch"


def test_a_launch_of_another_lane_is_refused_by_name() -> None:
    op = ForeignOp(properties={"covers": covers_attr([0])})
    with pytest.raises(SelectionError, match=r"^other.launch: expected one of launch.advance, .*, got other.launch$"):
        launch_spec(op)
    assert ForeignOp not in SPECS
