"""A driver step as plain data, and the constants it asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.driver import PlanesAttr, ValuesAttr
from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import CheckpointAttr, RopeTableAttr, TableKind
from lanelink.lowering.formats import encode
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.runtime.backend import StepShape
from lanelink.lowering.runtime.loader import ConstantsLoader, RandomLoader, SourceLoader
from lanelink.lowering.runtime.plan import Memory, Place, PlanConstant, read_plan
from lanelink.lowering.selection.calls import F32, I32, Address, Null
from lanelink.lowering.weights import Constants, WeightError
from lanelink.universe import LANELINK_UNIVERSE

TEXT = """
driver.module @m compute_80 {
  driver.function @f(i64, i64, i32, f32, i64)
}
driver.step @step rows 2 context 16 {
  %arena = driver.arena bytes 4096
  %a = driver.slice %arena[1024] bytes 2048
  %logits = driver.slice %a[256] bytes 1024
  %t = driver.io token bytes 8
  %p = driver.io position bytes 4
  %s = driver.state "keys" bytes 64
  %w = driver.constant #tgraph.checkpoint<"w"> as #driver.planes<q8_0, 4x64> bytes 272
  %c = driver.scratch counters bytes 4
  %q = driver.scratch partials bytes 16
  driver.launch @m::@f(%logits + 8, %w, 7 : i32, 0.5 : f32, null) grid (2, 3, 4) block (32, 2, 1) shared 12 covers [1]
  driver.launch @m::@f(%c, %q, 7 : i32, 0. : f32, null) grid (1, 1, 1) block (8, 1, 1) dependent covers [] {label = "l"}
  driver.return chosen %t logits %logits
}
"""


def parsed(text: str) -> ModuleOp:
    context = Context()
    for name in ("driver", "tgraph"):
        context.register_dialect(name, LANELINK_UNIVERSE.all_dialects[name])
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def test_reading() -> None:
    plan = read_plan(parsed(TEXT))
    assert plan.modules == {"m": "compute_80"}
    assert [(b.memory, b.bytes, b.name) for b in plan.buffers] == [
        (Memory.ARENA, 4096, "arena"),
        (Memory.TOKEN, 8, "token"),
        (Memory.POSITION, 4, "position"),
        (Memory.STATE, 64, "keys"),
        (Memory.CONSTANT, 272, "w"),
        (Memory.COUNTERS, 4, "counters"),
        (Memory.PARTIALS, 16, "partials"),
    ]
    assert [b.memory.value for b in plan.buffers if b.memory.zeroed] == ["token", "position", "state", "counters"]
    first, second = plan.launches
    assert first.arguments == (Address(0, 1288), Address(4, 0), I32(7), F32(0.5), Null())
    assert (first.grid, first.block, first.shared, first.dependent) == ((2, 3, 4), (32, 2, 1), 12, False)
    assert (first.label, second.label, second.dependent, first.covers) == ("f", "l", True, (1,))
    assert (plan.token, plan.position) == (Place(1, 0, 8), Place(2, 0, 4))
    assert (plan.chosen, plan.logits) == (Place(1, 0, 8), Place(0, 1280, 1024))
    assert plan.shape == StepShape(2, 16, 128)
    assert plan.carries_token
    assert plan.bytes_of(Memory.CONSTANT) == 272


@pytest.mark.parametrize("bytes", [271, 288])
def test_a_constant_of_other_bytes_than_its_layout(bytes: int) -> None:
    text = TEXT.replace("4x64> bytes 272", f"4x64> bytes {bytes}")
    with pytest.raises(VerifyException, match=f"'w': expected 272 bytes in its layout, got {bytes}"):
        read_plan(parsed(text))


def test_more_shared_memory_than_any_chip_has() -> None:
    with pytest.raises(VerifyException, match="shared: expected 0 to 232448 bytes, got 232449"):
        parsed(TEXT.replace("shared 12", "shared 232449"))


@pytest.mark.parametrize("count", [0, 2])
def test_one_step_a_module(count: int) -> None:
    step = "driver.step @step{} rows 1 {{\n %t = driver.io token bytes 4\n driver.return\n}}\n"
    with pytest.raises(VerifyException, match=rf"expected one driver.step \(lower-to-driver makes it\), got {count}"):
        read_plan(parsed("driver.module @m compute_80 {\n}\n" + "".join(step.format(k) for k in range(count))))


class Tensor:
    def __init__(self, format: Format, values: Any) -> None:
        self.format = format
        self.shape = values.shape
        self._data = encode(format, values.reshape(-1, values.shape[-1])).reshape(-1)

    def raw(self) -> Any:
        return self._data


class Source:
    def __init__(self, **tensors: Tensor) -> None:
        self.tensors = tensors

    def tensor(self, name: str) -> Tensor:
        return self.tensors[name]


W = PlanConstant(CheckpointAttr("w"), PlanesAttr(Format.Q8_0, 4, 64))
BIAS = PlanConstant(CheckpointAttr("b"), ValuesAttr([1, 5]))
TABLE = PlanConstant(RopeTableAttr(TableKind.COS, [1.0, 0.5]), ValuesAttr([3, 2]))


def test_constants_of_a_checkpoint() -> None:
    rng = np.random.default_rng(5)
    w, b = rng.standard_normal((4, 64), np.float32), rng.standard_normal(5, np.float32)
    begun: list[str] = []
    loader = SourceLoader(Source(w=Tensor(Format.F32, w), b=Tensor(Format.F32, b)), begun.append)
    layout = plane_layout(Format.Q8_0, 4, 64)
    planes = loader(W).data
    assert planes.size == layout.total_bytes == 272
    quants = planes[:256].view(np.int8).reshape(4, 2, 32)
    scales = planes[layout.scales_offset :].view(np.float16).reshape(4, 2, 1)
    np.testing.assert_allclose((quants * scales.astype(np.float32)).reshape(4, 64), w, atol=0.02)
    np.testing.assert_array_equal(loader(BIAS).data.view(np.float32), b)
    table = loader(TABLE).data.view(np.float32).reshape(3, 2)
    np.testing.assert_allclose(table, np.cos(np.arange(3)[:, None] * np.array([1.0, 0.5])), atol=1e-6)
    assert begun == ["w", "b", "cos table"]


def test_constants_that_were_not_resolved() -> None:
    with pytest.raises(WeightError, match="constant 'w': expected it among 0 resolved, got none"):
        ConstantsLoader(Constants({}))(W)


def test_random_constants_of_one_shape_are_one() -> None:
    loader = RandomLoader(3)
    other = PlanConstant(CheckpointAttr("v"), W.layout)
    first, second, table = loader(W), loader(other), loader(TABLE)
    assert first.same == second.same and first.data is second.data
    assert table.same != loader(PlanConstant(RopeTableAttr(TableKind.SIN, [1.0, 0.5]), TABLE.layout)).same
    assert first.data.any()
