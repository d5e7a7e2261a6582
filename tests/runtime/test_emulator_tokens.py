"""
The shipped kernels, run by the emulator, give the greedy tokens and logits of each dense model's own program; the other
architectures' are in test_emulated_architectures.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.dialects.tgraph import RowsType
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.runtime.backend import BackendError
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.generation import generate
from lanelink.lowering.runtime.loader import RandomLoader, SourceLoader
from lanelink.lowering.runtime.plan import Memory, read_plan
from lanelink.lowering.runtime.reference import ReferenceBackend
from lanelink.lowering.weights import constants_of, resolve
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parent.parent / "models"
TOKENS = 32
"""Of the 96 greedy tokens of the oracle: what an emulator has time for."""

CASES = [("llama", "compute_80"), ("qwen2", "compute_90"), ("qwen3", "compute_80"), ("qwen3", "compute_90")]


@pytest.mark.parametrize(("model", "architecture"), CASES)
def test_tokens_and_logits(prepared: Any, model: str, architecture: str) -> None:
    ready = prepared(model, architecture=architecture)
    oracle = np.load(MODELS / model / "oracle.npz")
    prompt, expected = oracle["prompt0"].tolist(), oracle["greedy0"].tolist()
    backend = EmulatorBackend(ready.plan, ready.loader)
    backend.reset()
    for row, id in zip(oracle["prompt0_logits"], prompt, strict=True):
        backend.step(id)
        np.testing.assert_allclose(backend.logits()[0], row, atol=2e-4, rtol=0)
    ids = [int(backend.chosen()[0]), *(int(each[0]) for each in backend.decode(TOKENS - 1))]
    assert ids == expected[:TOKENS]
    assert backend.device_positions() == backend.positions == (len(prompt) + TOKENS - 1,)


def test_tables_of_f16_as_the_reference_has_them() -> None:
    """The same ids; a value that is rounded to the other of two numbers moves logits by 2^-10 of them twice."""
    step = import_checkpoint(MODELS / "qwen3", context=16, kv=Format.F16)
    source = open_directory(MODELS / "qwen3")
    plan = read_plan(lower(step))
    tensors = lower(step, Level.TENSORS)
    emulator = EmulatorBackend(plan, SourceLoader(source))
    reference = ReferenceBackend(tensors, resolve(tensors, source))
    assert plan.bytes_of(Memory.STATE) == 2 * 2 * 2 * 16 * 64, "two bytes a value of keys and values of two layers"
    assert generate(emulator, [32, 97, 104], 4) == generate(reference, [32, 97, 104], 4)
    expected = reference.logits()
    np.testing.assert_allclose(emulator.logits(), expected, rtol=0, atol=2 * 2.0**-10 * np.abs(expected).max())


@pytest.mark.parametrize("numerics", list(Numerics))
def test_q8_0_is_near_the_oracle(prepared: Any, numerics: Numerics) -> None:
    """8-bit weights move logits a little; 8-bit activations in one plane a little more, in two hardly."""
    ready = prepared("llama", architecture="compute_90", quantize=Format.Q8_0, numerics=numerics)
    oracle = np.load(MODELS / "llama" / "oracle.npz")
    prompt = oracle["prompt1"].tolist()[:8]
    backend = EmulatorBackend(ready.plan, ready.loader)
    found: list[Any] = []
    for id in prompt:
        backend.step(id)
        found.append(backend.logits()[0])
    expected = oracle["prompt1_logits"][: len(prompt)]
    error = np.sqrt(np.mean((np.array(found) - expected) ** 2)) / expected.std()
    assert error < (0.05 if numerics is Numerics.INT8 else 0.02)


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize("format", [Format.Q4_0, Format.Q4_K, Format.Q6_K, Format.MXFP4])
def test_block_formats_are_their_reference(prepared: Any, format: Format, numerics: Numerics) -> None:
    """Only one of qwen3's matrices a layer has rows of whole blocks of 256: the others stay as stored."""
    step = import_checkpoint(MODELS / "qwen3", context=128, quantize=format, numerics=numerics, rope_format=Format.BF16)
    stored = [op.result.type.format.data for op in constants_of(step) if isinstance(op.result.type, RowsType)]
    assert stored.count(format) == (2 if format.block_values == 256 else len(stored))
    tensors = lower(step, Level.TENSORS)
    reference = ReferenceBackend(tensors, resolve(tensors, open_directory(MODELS / "qwen3")))
    ready = prepared("qwen3", quantize=format, numerics=numerics)
    backend = EmulatorBackend(ready.plan, ready.loader)
    for id in (73, 110, 32):
        backend.step(id)
        reference.step(id)
        error = np.sqrt(np.mean((backend.logits() - reference.logits()) ** 2)) / reference.logits().std()
        # A sum's rounding may move a quant by one: 1/127 of its block's largest value, 1/254 of that in two planes.
        assert error < {Numerics.DEQUANT: 1e-4, Numerics.INT8: 1e-2, Numerics.TWO_PASS_INT8: 1e-3}[numerics]


def test_two_planes_are_nearly_f32_activations(prepared: Any) -> None:
    logits: dict[Numerics, Any] = {}
    for numerics in Numerics:
        ready = prepared("qwen3", quantize=Format.Q8_0, numerics=numerics)
        backend = EmulatorBackend(ready.plan, ready.loader)
        for id in (73, 110, 32):
            backend.step(id)
        logits[numerics] = backend.logits()
    exact = logits[Numerics.DEQUANT]
    one, two = (np.abs(logits[n] - exact).max() for n in (Numerics.INT8, Numerics.TWO_PASS_INT8))
    assert 0 < two < one / 20


def test_no_race_and_the_same_bits_twice(prepared: Any) -> None:
    ready = prepared("qwen3", architecture="compute_80", quantize=Format.Q8_0)
    backend = EmulatorBackend(ready.plan, ready.loader, races=True)
    first = (generate(backend, [73, 110], 2), backend.logits())
    again = (generate(backend, [73, 110], 2), backend.logits())
    assert first[0] == again[0]
    np.testing.assert_array_equal(first[1], again[1])


def test_counters_are_left_zero(prepared: Any) -> None:
    ready = prepared("llama")
    backend = EmulatorBackend(ready.plan, RandomLoader())
    backend.step(3)
    assert not any(backend.read_buffer(Memory.COUNTERS, "counters"))
    with pytest.raises(BackendError, match=r"expected one of the plan, got state 'layers.9.keys'"):
        backend.read_buffer(Memory.STATE, "layers.9.keys")


def test_faults_of_a_kernel_name_its_launch(prepared: Any) -> None:
    backend = EmulatorBackend(prepared("llama").plan, RandomLoader())
    with pytest.raises(BackendError, match="chosen: expected a step"):
        backend.chosen()
    with pytest.raises(BackendError, match="logits: expected a step"):
        backend.logits()
    with pytest.raises(BackendError, match="token id: expected 0 to 255, got 256"):
        backend.step(256)
