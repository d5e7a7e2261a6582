"""A batch's step: each of its sequences gets the ids that it gets alone, wherever the others stand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from lanelink.backends import open_backend
from lanelink.dialects.formats import Format
from lanelink.dialects.launch import SequencesOp, ViewOp
from lanelink.dialects.launch.step import launches as linked
from lanelink.dialects.tgraph.step import step_function
from lanelink.frontend.importer import import_checkpoint, open_checkpoint
from lanelink.lowering.runtime.backend import Backend, BackendError
from lanelink.lowering.runtime.generation import generate, generate_batch
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parents[1] / "models"
ALL = (
    *("deepseek_v2", "deepseek_v3", "gemma2", "gemma3_text", "gpt_oss", "llama", "qwen2", "qwen2_moe", "qwen3"),
    *("qwen3_moe", "qwen3_next"),
)
PROMPTS = [[73, 110, 32, 116, 104], [65, 110], [84, 104, 101, 32, 108, 111, 114, 100]]
"""Of different lengths."""


def opened(name: str, backend: str, sequences: int = 1, kv: Format = Format.F32) -> Backend:
    path = MODELS / name
    return open_backend(backend, import_checkpoint(path, context=24, sequences=sequences, kv=kv), open_checkpoint(path))


@cache
def alone(name: str, n: int, kv: Format = Format.F32) -> list[list[int]]:
    """What follows each prompt by a step of one sequence."""
    one = opened(name, "reference", kv=kv)
    return [generate(one, prompt, n) for prompt in PROMPTS]


@pytest.mark.parametrize("name", ALL)
def test_the_same_ids_as_alone(name: str):
    backend = opened(name, "reference", 3)
    told: list[tuple[int, int]] = []
    steps: list[int] = []
    made = generate_batch(backend, PROMPTS, 12, steps.append, lambda s, id: told.append((s, id)))
    assert made == alone(name, 12)
    assert len({tuple(ids) for ids in made}) == 3, "prompts that go on alike show nothing"
    assert [[id for s, id in told if s == k] for k in range(3)] == made
    assert steps == list(range(1, 8 + 12))


@pytest.mark.parametrize("name", ["qwen3", "qwen3_next", "gpt_oss"])
def test_the_same_ids_on_the_emulator(name: str):
    backend = opened(name, "emulator", 3)
    assert generate_batch(backend, PROMPTS, 3) == alone(name, 3)


def launches(name: str, kv: Format) -> list[tuple[str, ...]]:
    """The launches of a step of three sequences, each as the kinds in it."""
    step = lower(import_checkpoint(MODELS / name, context=24, sequences=3, kv=kv), Level.SCHEDULED)
    run = [op for op in linked(step_function(step)) if not isinstance(op, ViewOp)]
    return [tuple(m.name for m in op.members()) if isinstance(op, SequencesOp) else (op.name,) for op in run]


@pytest.mark.parametrize("name", ["qwen3", "gpt_oss", "deepseek_v2"])
def test_tables_of_f16_are_set_and_read_together(name: str):
    """In the launches that tables of f32 take."""
    rounded = launches(name, Format.F16)
    assert rounded == launches(name, Format.F32)
    assert ("launch.attention",) * 3 in rounded and not {("launch.attention",), ("launch.set_row",)} & set(rounded)


@pytest.mark.parametrize("name", ["qwen3", "deepseek_v2"])
def test_the_same_ids_over_tables_of_f16(name: str):
    backend = opened(name, "emulator", 3, Format.F16)
    assert generate_batch(backend, PROMPTS, 2) == alone(name, 2, Format.F16)


def test_a_sequence_begins_anew_while_others_go_on():
    """At positions of their own: the first goes on to what it gets alone, the second gives way to another prompt."""
    for backend in (opened("qwen3_next", "reference", 2), opened("qwen3", "emulator", 2)):
        name = "qwen3_next" if backend.name == "reference" else "qwen3"
        first, second, third = PROMPTS[0], PROMPTS[1], PROMPTS[2][:3]
        expected = generate(opened(name, "reference"), third, 3)
        for k in range(4):
            backend.step([first[k], (second * 2)[k]])
        backend.reset(1)
        assert backend.positions == (4, 0)
        backend.step([first[4], third[0]])
        made = [int(backend.chosen()[0])]
        for id in third[1:]:
            backend.step([made[-1], id])
            made.append(int(backend.chosen()[0]))
        anew = [int(backend.chosen()[1])]
        for ids in backend.decode(2):
            anew.append(int(ids[1]))
        assert made == alone(name, 3)[0]
        assert anew == expected
        assert backend.positions == (9, 5)


def test_what_a_batch_refuses():
    backend = opened("qwen3", "reference", 3)
    with pytest.raises(BackendError, match=r"generate: expected 3 prompts, one a sequence, got 2"):
        generate_batch(backend, PROMPTS[:2], 1)
    with pytest.raises(BackendError, match=r"generate: expected 3 prompts, one a sequence, got 1"):
        generate(backend, PROMPTS[0], 1)
    with pytest.raises(BackendError, match=r"generate: prompt of sequence 2: expected at least 1 id, got 0"):
        generate_batch(backend, [*PROMPTS[:2], []], 1)
    with pytest.raises(BackendError, match=r"context of at least 25 \(8 of prompt, 17 chosen\), got 24"):
        generate_batch(backend, PROMPTS, 18)
    with pytest.raises(BackendError, match=r"step: expected 3 token ids, got 1"):
        backend.step(5)
    with pytest.raises(BackendError, match=r"reset: expected a sequence of 0 to 2, got 3"):
        backend.reset(3)
