"""
The schedule: how the launches of a linked step are run, decided after the link, one pass a decision.

Each pass decides by plain functions on plain numbers, and may be left out of the pipeline. Most write fields on
launches that kernel selection obeys; a launch without the field runs in the one way that selection documents for it.
"""

from lanelink.passes.schedule.attention import ScheduleAttentionPass
from lanelink.passes.schedule.dependent_launch import ScheduleDependentLaunchPass
from lanelink.passes.schedule.norms import ScheduleNormsPass
from lanelink.passes.schedule.products import ScheduleProductsPass
from lanelink.passes.schedule.rotations import ScheduleRotationsPass
from lanelink.passes.schedule.sequences import ScheduleSequencesPass
from lanelink.passes.schedule.splits import ScheduleSplitsPass
from lanelink.passes.schedule.tails import ScheduleTailsPass

__all__ = [
    "ScheduleAttentionPass",
    "ScheduleDependentLaunchPass",
    "ScheduleNormsPass",
    "ScheduleProductsPass",
    "ScheduleRotationsPass",
    "ScheduleSequencesPass",
    "ScheduleSplitsPass",
    "ScheduleTailsPass",
]
