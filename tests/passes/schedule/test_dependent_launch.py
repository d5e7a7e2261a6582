"""Which launches start early, on plain numbers and over a whole step."""

from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import Numerics
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.schedule.dependent_launch import ScheduleDependentLaunchPass, Start, starts_early
from lanelink.passes.schedule.norms import ScheduleNormsPass
from lanelink.passes.schedule.rotations import ScheduleRotationsPass
from lanelink.passes.schedule.sequences import ScheduleSequencesPass
from lanelink.pipeline import Level, Schedule, lower


@pytest.mark.parametrize(
    ("start", "sms", "early"),
    [
        (Start(loads_first=False, values=1), 1, True),
        (Start(loads_first=False, values=2048), 1, True),
        (Start(loads_first=False, values=2049), 1, False),
        (Start(loads_first=False, values=2049), 2, True),
        (Start(loads_first=True, values=10**9), 1, True),
    ],
)
def test_what_waits_at_once_starts_early_where_it_is_narrow(start: Start, sms: int, early: bool) -> None:
    assert starts_early(start, sms) is early


@pytest.mark.parametrize("context", [64, 32768])
def test_all_of_a_decoding_step_but_its_first_launch_starts_early(
    decoder: Callable[..., ModuleOp], context: int
) -> None:
    """Whatever the tables' rows, of which an attention that turns its heads writes one."""
    step = decoder(Numerics.INT8, layers=2, context=context)
    marked = [op.dependent is not None for op in launches(step_function(lower(step, Level.SCHEDULED)))]
    assert marked == [False] + [True] * (len(marked) - 1)
    plain = lower(step, Level.SCHEDULED, Schedule(dependent_launch=False))
    assert not any(op.dependent for op in launches(step_function(plain)))


def test_launches_that_go_together_lose_their_marks(decoder: Callable[..., ModuleOp]) -> None:
    """The passes that gather launches may come after the one that marks them, which may come again."""
    step = decoder(Numerics.INT8, layers=2)
    usual, late = lower(step, Level.LAUNCHES), lower(step, Level.LAUNCHES)
    gathering = (ScheduleNormsPass(), ScheduleRotationsPass(), ScheduleSequencesPass())
    for each in (ScheduleDependentLaunchPass(), *gathering, ScheduleDependentLaunchPass()):
        each.apply(Context(), late)
        late.verify()
    for each in (*gathering, ScheduleDependentLaunchPass()):
        each.apply(Context(), usual)
    assert str(late) == str(usual)
