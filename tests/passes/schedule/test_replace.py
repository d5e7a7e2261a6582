"""Where launches stand that a schedule put together."""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp, NameLoc, StringAttr, UnknownLoc

from lanelink.dialects.launch import FoldOp
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import Numerics
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.schedule.norms import schedule_norms
from lanelink.passes.schedule.rotations import schedule_rotations
from lanelink.pipeline import Level, lower


def test_a_fold_is_where_its_first_member_is(decoder: Callable[..., ModuleOp]) -> None:
    step = step_function(lower(decoder(Numerics.INT8, layers=2), Level.LAUNCHES))
    for number, op in enumerate(step.walk()):
        op.location = NameLoc(StringAttr(f"op {number}"), UnknownLoc())
    before = launches(step)
    schedule_norms(step)
    schedule_rotations(step)
    made = [op for op in launches(step) if isinstance(op, FoldOp) and op not in before]
    # Both schedules made some.
    kinds = {tuple(part.name for part in op.members()) for op in made}
    assert kinds >= {("launch.rope_parts", "launch.attention"), ("launch.norm", "launch.gemv_glu")}
    for op in made:
        assert op.location == op.members()[0].location
