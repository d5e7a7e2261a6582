"""Attention layers through all levels: the shipped kernels leave what the lifted ops leave, step after step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from attention_steps import VOCABULARY, attention_step
from emulated import Emulated
from levels import RELATIVE, parsed
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from lanelink.dialects import launch
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.lowering.runtime.cuda import CudaBackend, NotRunnable
from lanelink.lowering.runtime.loader import ConstantsLoader
from lanelink.lowering.runtime.reference import ReferenceBackend
from lanelink.lowering.weights import Constants, random_weights
from lanelink.pipeline import Level, lower

FORMATS = {Numerics.DEQUANT: "bf16", Numerics.INT8: "q8_0", Numerics.TWO_PASS_INT8: "q8_0"}


def emulated(layers: Sequence[str], rows: int, numerics: Numerics, context: int = 16) -> Emulated:
    """A scheduled step of these layers, its matrices in the format that the numerics are for."""
    module = parsed(attention_step(layers, rows, context, FORMATS[numerics]))
    module.attributes[TARGET] = preset("h200", numerics)
    return Emulated(module, linked=lower(module, Level.SCHEDULED))


def check_steps(ready: Emulated, rows: int, numerics: Numerics, steps: int = 4) -> None:
    """Each side starts from what it left itself, so that a step's rounding is added to the ones before."""
    rng = np.random.default_rng(rows)
    for step in range(1, steps + 1):
        ready.check_step(rng.integers(0, VOCABULARY, rows).tolist(), step * RELATIVE[numerics])


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("numerics", [Numerics.DEQUANT, Numerics.INT8], ids=lambda n: n.value)
@pytest.mark.parametrize("layer", ["gated", "gated batch", "batch", "sinks", "latent"])
def test_layers_step_after_step(layer: str, numerics: Numerics, rows: int) -> None:
    """The second layer of sinks has a window, of 4 positions, which slides from the fifth on."""
    check_steps(emulated([layer, layer], rows, numerics), rows, numerics, steps=5 if rows == 1 else 3)


@pytest.mark.parametrize(("rows", "numerics"), [(1, Numerics.INT8), (3, Numerics.DEQUANT)])
def test_heads_of_a_usual_size_turn_in_their_attention(rows: int, numerics: Numerics) -> None:
    """Keys that a block turns and stores are read from the table by the steps after."""
    ready = emulated(["usual", "usual"], rows, numerics)
    turned = [op for op in ready.launches() if isinstance(op, launch.FoldOp)]
    turned = [op for op in turned if isinstance(op.members()[0], launch.RopePartsOp)]
    attentions = [part for op in turned for part in op.members() if isinstance(part, launch.AttentionOp)]
    assert len(attentions) == 2 and all(op.settled is not None for op in attentions)
    check_steps(ready, rows, numerics, steps=5 if rows == 1 else 3)


@pytest.mark.parametrize("architecture", ["compute_90", "compute_80"])
def test_splits_of_one_row_meet_in_a_cluster(architecture: str) -> None:
    """Eight splits of 256 positions; later steps read the keys it stored. The second layer has a window, in two."""
    ready = clustered(architecture)
    entries = [(launch.entry, launch.cluster) for launch in ready.backend.plan.launches if "attention" in launch.entry]
    first = ("attention_one_64_q2", 16) if architecture == "compute_90" else ("attention_few_64_q2", 1)
    assert entries == [first, ("attention_few_64_q2", 1)]
    check_steps(ready, 1, Numerics.INT8, steps=3)


def test_clusters_on_the_driver(fake_cuda: Any) -> None:
    ready = clustered("compute_90")
    constants = ConstantsLoader(random_weights(long_step(), 0))
    launches = tuple(replace(at, carveout=100 if at.cluster > 1 else None) for at in ready.backend.plan.launches)
    with CudaBackend(replace(ready.backend.plan, launches=launches), constants, bindings=fake_cuda) as cuda:
        for token in (3, 1):
            cuda.step([token])
            ready.backend.step([token])
        np.testing.assert_array_equal(cuda.logits(), ready.backend.logits())
    assert fake_cuda.wide_clusters == {"attention_one_64_q2"}
    assert fake_cuda.carveouts == {"attention_one_64_q2": 100}
    fake_cuda.clusters_held = 0
    with pytest.raises(NotRunnable, match="room for a cluster of 16 blocks of 256 threads, got none on Fake GPU"):
        CudaBackend(ready.backend.plan, constants, bindings=fake_cuda)


def long_step() -> ModuleOp:
    """Two layers of heads of a usual size over tables of 256 rows."""
    module = parsed(attention_step(["usual", "usual"], 1, 256, FORMATS[Numerics.INT8]))
    module.attributes[TARGET] = preset("h200", Numerics.INT8)
    return module


def clustered(architecture: str) -> Emulated:
    return Emulated(long_step(), linked=lower(long_step(), Level.SCHEDULED), architecture=architecture)


def test_layers_of_every_kind_one_after_another() -> None:
    check_steps(
        emulated(["gated", "latent", "sinks", "gated batch"], 2, Numerics.TWO_PASS_INT8), 2, Numerics.TWO_PASS_INT8
    )


@pytest.mark.parametrize(("numerics", "steps"), [(Numerics.DEQUANT, 2), (Numerics.INT8, 1)])
def test_a_wide_chunk_of_latent_rows_runs_expanded(numerics: Numerics, steps: int) -> None:
    """65 rows, the fewest that cost less so at these sizes; the second chunk begins inside the table."""
    ready = emulated(["latent"], 65, numerics, context=132)
    kinds = {type(op) for op in ready.launches()}
    assert kinds >= {launch.LatentKeysOp, launch.LatentValuesOp, launch.LatentAttendOp}
    assert not kinds & {launch.AttentionOp, launch.HeadGemvOp}
    check_steps(ready, 65, numerics, steps)


def test_a_gated_attention_is_one_launch() -> None:
    """Its gate is applied, and its result quantized, where it is stored; a batch's rows land where they are read."""
    for layer, rows in (("gated", 1), ("gated batch", 3)):
        found = emulated([layer], rows, Numerics.INT8).launches()
        attentions = [op for op in found if isinstance(op, launch.AttentionOp)]
        assert len(attentions) == rows
        assert all(op.gate is not None and op.quant is not None and op.out is None for op in attentions)
        assert not any(isinstance(op, launch.QuantOp) for op in found)
        assert not any(isinstance(op, launch.BinaryOp) and op.gate is not None for op in found)
        # Rows are set in tables alone, keys and values.
        assert sum(isinstance(op, launch.SetRowOp) for op in found) == (2 * rows if layer == "gated batch" else 0)


def test_a_batchs_rows_are_quantized_where_they_are_attended() -> None:
    found = emulated(["batch"], 3, Numerics.INT8).launches()
    attentions = [m for op in found if isinstance(op, launch.SequencesOp) for m in op.members()][-3:]
    rows = [m.row for m in attentions if isinstance(m, launch.AttentionOp) and m.quant is not None and m.out is None]
    assert rows == [IntegerAttr(row, i64) for row in range(3)]
    assert not any(isinstance(op, launch.QuantOp) for op in found)


def test_a_batchs_sequences_run_as_one_launch() -> None:
    """Three sequences' keys and values are set at once, then they attend at once, each into its row."""
    found = emulated(["batch"], 3, Numerics.DEQUANT).launches()
    together = [op.members() for op in found if isinstance(op, launch.SequencesOp)]
    kinds = [launch.SetRowOp, launch.AttentionOp]
    assert [(type(members[0]), len(members)) for members in together] == list(zip(kinds, (6, 3), strict=True))


def test_weights_that_are_not_finite_give_results_that_are_not_without_a_warning() -> None:
    """Of every array of f32 the first value is infinite; infinities meet in sums, which are then no number."""
    module = parsed(attention_step(["usual"], 1, 16, "q8_0"))
    module.attributes[TARGET] = preset("h200", Numerics.INT8)
    broken = dict(random_weights(module, 0).arrays)
    for key, values in broken.items():
        if isinstance(values, np.ndarray):
            broken[key] = values.copy()
            broken[key].reshape(-1)[0] = np.inf
    reference = ReferenceBackend(module, Constants(broken))
    reference.step([3])
    assert not np.isfinite(reference.logits()).all()
