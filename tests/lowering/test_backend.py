"""The greedy loop and its checks, and the reference backend under it, on an imported model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import TGraph
from lanelink.dialects.tgraph.step import step_function
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.runtime.backend import Backend, BackendError, StepShape, check_step
from lanelink.lowering.runtime.generation import generate
from lanelink.lowering.runtime.reference import ReferenceBackend, step_shape
from lanelink.lowering.weights import random_weights, resolve

QWEN3 = Path(__file__).parents[1] / "models" / "qwen3"
CONTEXT = 32


@cache
def oracle() -> dict[str, npt.NDArray[Any]]:
    with np.load(QWEN3 / "oracle.npz") as file:
        return {name: file[name] for name in file.files}


def backend(**options: Any) -> ReferenceBackend:
    module = import_checkpoint(QWEN3, **{"context": CONTEXT, **options})
    return ReferenceBackend(module, resolve(module, open_directory(QWEN3)))


def test_generate_gives_the_oracles_ids():
    prompt, expected = oracle()["prompt0"].tolist(), oracle()["greedy0"].tolist()
    done: list[int] = []
    loaded: Backend = backend()
    assert loaded.shape == StepShape(rows=1, context=CONTEXT, vocabulary=256)
    n = CONTEXT - len(prompt)
    assert generate(loaded, prompt, n, done.append) == expected[:n]
    assert done == list(range(1, CONTEXT))
    assert loaded.positions == (CONTEXT - 1,)
    assert generate(loaded, prompt, 1) == expected[:1], "a reset starts over"
    assert generate(loaded, prompt, 0) == []


def test_logits_and_the_carried_token():
    prompt, greedy = oracle()["prompt1"].tolist(), oracle()["greedy1"].tolist()
    loaded = backend(rope_format=Format.BF16)  # as the oracle's program had them
    for position, token in enumerate(prompt):
        assert loaded.positions == (position,)
        loaded.step(token)
        np.testing.assert_allclose(loaded.logits()[0], oracle()["prompt1_logits"][position], atol=1e-3, rtol=0)
    for k in range(1, 8):
        assert loaded.chosen().tolist() == [greedy[k - 1]]
        loaded.step()
        np.testing.assert_allclose(loaded.logits()[0], oracle()["step1_logits"][k], atol=1e-3, rtol=0)


def test_rows_of_one_sequence():
    prompt, expected = oracle()["prompt0"].tolist()[:8], oracle()["prompt0_logits"]
    loaded = backend(rows=4, rope_format=Format.BF16)
    assert loaded.shape.rows == 4
    for first in (0, 4):
        loaded.step(prompt[first : first + 4])
        np.testing.assert_allclose(loaded.logits(), expected[first : first + 4], atol=1e-3, rtol=0)
        assert loaded.chosen().tolist() == np.argmax(expected[first : first + 4], axis=1).tolist()
    assert loaded.positions == (8,)
    with pytest.raises(BackendError, match=r"step: expected 4 token ids, got none"):
        loaded.step()
    with pytest.raises(BackendError, match=r"generate: expected a step of 1 row, got 4"):
        generate(loaded, prompt, 1)


def test_q8_0_weights_stay_near():
    """Conversion at load: within what int8 blocks lose, and not without loss."""
    loaded = backend(quantize=Format.Q8_0, rope_format=Format.BF16)
    for token in oracle()["prompt0"].tolist():
        loaded.step(token)
    error = np.abs(loaded.logits()[0] - oracle()["prompt0_logits"][-1]).max()
    assert 1e-3 < error < 0.5


def test_what_is_carried_outlives_neither_a_reset_nor_its_reader():
    loaded = backend()
    with pytest.raises(BackendError, match=r"chosen: expected a step that chooses ids to have run, got none"):
        loaded.chosen()
    with pytest.raises(BackendError, match=r"logits: expected a step that returns logits to have run, got none"):
        loaded.logits()
    with pytest.raises(BackendError, match=r"step: expected 1 token ids, got none, and no earlier step carries any"):
        loaded.step()
    loaded.step(5)
    first = loaded.logits()
    first[:] = 0
    loaded.chosen()[:] = 77
    assert loaded.logits().any()
    assert loaded.chosen().tolist() != [77]
    loaded.reset()
    assert loaded.positions == (0,)
    with pytest.raises(BackendError, match=r"no earlier step carries any"):
        loaded.step()


def test_a_full_context_is_refused():
    loaded = backend(context=2)
    loaded.step(1)
    loaded.step(2)
    with pytest.raises(BackendError, match=r"1 rows from position 2 on to fit a context of 2, got 3"):
        loaded.step(3)


def test_the_last_chosen_id_takes_no_room():
    """Two of prompt and two chosen: the last is read by no step."""
    loaded = backend(context=3)
    assert generate(loaded, [1, 2], 2) == generate(backend(context=9), [1, 2], 2)
    assert loaded.positions == (3,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda b: generate(b, [1] * 20, 14),
            r"a context of at least 33 \(20 of prompt, 13 chosen\), got 32",
        ),
        (lambda b: generate(b, [1] * 33, 0), r"a context of at least 33 \(33 of prompt, 0 chosen\), got 32"),
        (lambda b: generate(b, [], 1), r"generate: prompt: expected at least 1 id, got 0"),
        (lambda b: generate(b, [1], -1), r"generate: n: expected at least 0, got -1"),
        (lambda b: generate(b, [1, 256], 1), r"token id: expected 0 to 255, got 256"),
        (lambda b: generate(b, [-1], 1), r"token id: expected 0 to 255, got -1"),
        (lambda b: b.step(256), r"token id: expected 0 to 255, got 256"),
        (lambda b: b.step([1, 2]), r"step: expected 1 token ids, got 2"),
    ],
)
def test_requests_that_do_not_fit(call: Callable[[Backend], Any], message: str):
    loaded = backend()
    with pytest.raises(BackendError, match=message):
        call(loaded)
    assert loaded.positions == (0,), "nothing ran"


TABLES = """
func.func @step(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position},
                %k: tensor<KEYSx8xf32> {tgraph.state = "k"}, %other: tensor<2x8xf32>)
    -> (tensor<KEYSx8xf32> {tgraph.carry = 2}, tensor<1x8xf32>) {
  %c = tgraph.constant #tgraph.rope_table<cos, [1.0, 0.5], scale 1.0> : tensor<TURNSx2xf32>
  %e = tgraph.constant #tgraph.checkpoint<"e"> : tensor<3x8xf32>
  %x = tgraph.row_gather %e at %token : (tensor<3x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
  %r = tgraph.rope %x, %c, %c at %pos heads 2 head_dim 4 half 2
    : (tensor<1x8xf32>, tensor<TURNSx2xf32>, tensor<TURNSx2xf32>, tensor<1xi32>) -> tensor<1x8xf32>
  %u = tgraph.set_row %k, %r at %pos : (tensor<KEYSx8xf32>, tensor<1x8xf32>, tensor<1xi32>) -> tensor<KEYSx8xf32>
  %o = tgraph.set_row %other, %r row 1 : (tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %a = tgraph.attention %r, %u, %u at %pos heads 2 kv_heads 2 head_dim 4 value_dim 4
    : tensor<1x8xf32>, tensor<KEYSx8xf32>, tensor<KEYSx8xf32> -> tensor<1x8xf32>
  func.return %u, %a : tensor<KEYSx8xf32>, tensor<1x8xf32>
}
"""


@pytest.mark.parametrize(("keys", "turns"), [(7, 9), (9, 7)])
def test_the_shortest_table_bounds_the_context(keys: int, turns: int):
    """Key tables and rotation tables alike, but not a table whose row is fixed."""
    context = Context()
    for dialect in (Builtin, Func, TGraph):
        context.load_dialect(dialect)
    text = TABLES.replace("KEYS", str(keys)).replace("TURNS", str(turns))
    module = Parser(context, text).parse_module()
    module.verify()
    assert step_shape(step_function(module)) == StepShape(rows=1, context=7, vocabulary=None)
    loaded = ReferenceBackend(module, random_weights(module))
    for token in (0, 1, 2, 0, 1, 2, 0):
        loaded.step(token)
    with pytest.raises(BackendError, match=r"from position 7 on to fit a context of 7, got 8"):
        loaded.step(0)
    with pytest.raises(BackendError, match=r"logits: expected a step that returns logits"):
        loaded.logits()


def test_a_step_without_tables_or_logits_has_only_rows():
    shape = StepShape(rows=2, context=None, vocabulary=None)
    ids = check_step(shape, [2**31 - 1, 0], [10**9], carried=False)
    assert ids is not None
    assert ids.tolist() == [2**31 - 1, 0]
    with pytest.raises(BackendError, match=r"token id: expected 0 to 2147483647, got 2147483648"):
        check_step(shape, [2**31, 0], [0], carried=False)
