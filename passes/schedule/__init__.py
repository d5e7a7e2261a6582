"""
The schedule: how the launches of a linked step are run, decided after the link, one pass a decision.

Each pass writes fields on launches that kernel selection obeys, by plain functions on plain numbers; a launch without
the field runs in the one way that selection documents for it. A pass may be left out of the pipeline.
"""

from lanelink.passes.schedule.dependent_launch import ScheduleDependentLaunchPass

__all__ = ["ScheduleDependentLaunchPass"]
