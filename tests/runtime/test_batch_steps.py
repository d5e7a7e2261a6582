"""A batch's layers through all levels: several sequences' launches as one leave what the lifted ops leave."""

from __future__ import annotations

import numpy as np
import pytest
from batch_steps import VOCABULARY, batch_step
from emulated import Emulated
from levels import RELATIVE, parsed

from lanelink.dialects import launch
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.pipeline import Level, Schedule, lower

FORMATS = {Numerics.DEQUANT: "bf16", Numerics.INT8: "q8_0"}
LAYERS = ("attention", "rule", "attention")


def batch(sequences: int, numerics: Numerics, schedule: Schedule | None = None) -> Emulated:
    """A scheduled step of `LAYERS`, its matrices in the format that the numerics are for."""
    module = parsed(batch_step(LAYERS, sequences, format=FORMATS[numerics]))
    module.attributes[TARGET] = preset("h200", numerics)
    return Emulated(module, linked=lower(module, Level.SCHEDULED, schedule=schedule or Schedule()))


@pytest.mark.parametrize("numerics", FORMATS, ids=lambda n: n.value)
def test_sequences_at_positions_of_their_own(numerics: Numerics) -> None:
    """Their positions part at the first step, and each goes its own way from there."""
    ready, rng = batch(3, numerics), np.random.default_rng(3)
    for step in range(1, 5):
        # Each side starts from what it left itself, so that a step's rounding is added to the ones before.
        ready.check_step(rng.integers(0, VOCABULARY, 3).tolist(), step * RELATIVE[numerics])


def test_what_a_batch_does_sequence_by_sequence_is_a_launch_a_kind() -> None:
    ready = batch(3, Numerics.DEQUANT)
    together = [op.members() for op in ready.launches() if isinstance(op, launch.SequencesOp)]
    of_attention = [(launch.RopePartsOp, 3), (launch.SetRowOp, 3), (launch.AttentionOp, 3)]
    of_rule = [(launch.ConvPartsOp, 3), (launch.DeltaOp, 3)]
    assert [(type(m[0]), len(m)) for m in together] == [*of_attention, *of_rule, *of_attention]
    apart = batch(3, Numerics.DEQUANT, Schedule(sequences=False))
    assert not any(isinstance(op, launch.SequencesOp) for op in apart.launches())
    saved = sum(len(m) - 1 for m in together)
    assert len(ready.backend.plan.launches) == len(apart.backend.plan.launches) - saved


def test_attentions_quantize_their_rows_where_they_store_them() -> None:
    """Under int8 a layer's attentions leave the quantized form alone, a row each, which its last product reads."""
    found = batch(3, Numerics.INT8).launches()
    members = [op.members() for op in found if isinstance(op, launch.SequencesOp)]
    attentions = [op for m in members for op in m if isinstance(op, launch.AttentionOp)]
    assert [None if op.row is None else op.row.value.data for op in attentions] == [0, 1, 2] * 2
    assert all(op.quant is not None and op.out is None for op in attentions)


def test_more_sequences_than_a_launch_takes() -> None:
    ready = batch(9, Numerics.DEQUANT)
    rules = [op.members() for op in ready.launches() if isinstance(op, launch.SequencesOp)]
    assert [len(m) for m in rules if isinstance(m[0], launch.DeltaOp)] == [8]
    ready.check_step(list(range(9)), RELATIVE[Numerics.DEQUANT])
