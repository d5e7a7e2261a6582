"""Who turns heads, on plain numbers and over a whole step."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch import FoldOp
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import Numerics
from lanelink.dialects.tgraph.step import step_function
from lanelink.passes.schedule.attention import Attention
from lanelink.passes.schedule.rotations import MOST_TURNED_ROWS, turn_by_reader
from lanelink.pipeline import Level, Schedule, lower


@pytest.mark.parametrize(
    ("rows", "head_dim", "value_dim", "by_fours", "turns"),
    [
        (1, 128, 128, True, True),
        (MOST_TURNED_ROWS, 128, 128, True, True),
        (MOST_TURNED_ROWS + 1, 128, 128, True, False),
        (1, 256, 256, True, True),
        (1, 260, 64, True, False),
        (1, 64, 260, True, False),
        (1, 66, 64, True, False),
        (1, 64, 62, False, True),
        (1, 68, 62, False, False),
        (1, 64, 66, False, False),
    ],
)
def test_who_turns_heads(rows: int, head_dim: int, value_dim: int, by_fours: bool, turns: bool) -> None:
    attention = Attention(8, 2, value_dim, rows, 512, by_fours=by_fours)
    assert turn_by_reader(attention, head_dim) is turns


def kinds(module: ModuleOp) -> list[list[str]]:
    """Each launch of a step as the kinds of its parts."""
    run = launches(step_function(module))
    return [[part.name for part in op.members()] if isinstance(op, FoldOp) else [op.name] for op in run]


def test_every_layer_of_a_decoder_turns_its_heads_in_its_attention(decoder: Callable[..., ModuleOp]) -> None:
    step = decoder(Numerics.INT8, layers=2)
    turned, plain = (
        kinds(lower(step, Level.SCHEDULED, schedule)) for schedule in (Schedule(), Schedule(rotations=False))
    )
    assert turned.count(["launch.rope_parts", "launch.attention"]) == plain.count(["launch.attention"]) == 2
    assert len(turned) == len(plain)
    assert not any(op[-1] == "launch.rope_parts" for op in turned)
