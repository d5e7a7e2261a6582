"""A step as a whole: fused ops, inputs, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, TensorType, f32
from xdsl.dialects.func import Func, FuncOp
from xdsl.dialects.test import TestOp as OtherOp
from xdsl.ir import Block, Region
from xdsl.parser import Parser
from xdsl.utils.exceptions import InterpretationError, VerifyException

from lanelink.dialects.tgraph import CheckpointAttr, ConstantOp, SiluOp, TGraph
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.interpreters.reference import StepInterpreter, zero_inputs
from lanelink.lowering.weights import Constants, WeightError, random_weights

Array = npt.NDArray[Any]

STEP = """
func.func @step(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position},
                %t: tensor<4x8xf32> {tgraph.state = "t"})
    -> (tensor<1xi32>, tensor<1xi32> {tgraph.carry = 1}, tensor<4x8xf32> {tgraph.carry = 2}, tensor<1x8xf32>) {
  %e = tgraph.constant #tgraph.checkpoint<"e"> : !tgraph.rows<bf16, 16x8>
  %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<8xf32>
  %x = tgraph.row_gather %e at %token : (!tgraph.rows<bf16, 16x8>, tensor<1xi32>) -> tensor<1x8xf32>
  BODY
  %next = tgraph.arg_max %n : tensor<1x8xf32> -> tensor<1xi32>
  %moved = tgraph.advance %pos by 1 : (tensor<1xi32>) -> tensor<1xi32>
  func.return %next, %moved, %u, %n : tensor<1xi32>, tensor<1xi32>, tensor<4x8xf32>, tensor<1x8xf32>
}
"""

PARTS = """
  %s = tgraph.elementwise add %x, %x : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %n = tgraph.fused_row rms %s weight %w : tensor<8xf32> cols 8 eps 1.000000e-06 : tensor<1x8xf32>
  %y = tgraph.silu %s : tensor<1x8xf32> -> tensor<1x8xf32>
  %u = tgraph.set_row %t, %y at %pos : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<1xi32>) -> tensor<4x8xf32>
"""

# The same ops: an add_norm inside another fused op, its results in another order, a set inside its own.
FUSED = """
  %n, %s = tgraph.fused norm_quant(%a = %x : tensor<1x8xf32>, %b = %w : tensor<8xf32>)
      -> (tensor<1x8xf32>, tensor<1x8xf32>) {
    %c, %d = tgraph.fused add_norm(%g = %b : tensor<8xf32>, %h = %a : tensor<1x8xf32>)
        -> (tensor<1x8xf32>, tensor<1x8xf32>) {
      %i = tgraph.elementwise add %h, %h : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
      %j = tgraph.fused_row rms %i weight %g : tensor<8xf32> cols 8 eps 1.000000e-06 : tensor<1x8xf32>
      tgraph.yield %i, %j : tensor<1x8xf32>, tensor<1x8xf32>
    }
    %q = tgraph.sigmoid %d : tensor<1x8xf32> -> tensor<1x8xf32>
    tgraph.yield %d, %c : tensor<1x8xf32>, tensor<1x8xf32>
  }
  %u = tgraph.fused row_in_place(%a = %s : tensor<1x8xf32>, %b = %t : tensor<4x8xf32>, %p = %pos : tensor<1xi32>)
      -> (tensor<4x8xf32>) {
    %c = tgraph.silu %a : tensor<1x8xf32> -> tensor<1x8xf32>
    %d = tgraph.set_row %b, %c at %p : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<1xi32>) -> tensor<4x8xf32>
    tgraph.yield %d : tensor<4x8xf32>
  }
"""


def parsed(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, TGraph):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def step(body: str) -> StepInterpreter:
    module = parsed(STEP.replace("BODY", body))
    return StepInterpreter(module, random_weights(module))


def inputs(position: int = 2) -> list[Array]:
    table = np.random.default_rng(1).standard_normal((4, 8), np.float32)
    return [np.array([5], np.int32), np.array([position], np.int32), table]


def test_a_fused_op_means_its_parts():
    for plain, fused in zip(step(PARTS).run(inputs()), step(FUSED).run(inputs()), strict=True):
        np.testing.assert_array_equal(plain, fused)


def test_steps_carry_on_and_leave_their_inputs():
    interpreter = step(PARTS)
    given = inputs()
    before = [a.copy() for a in given]
    first = interpreter.run(given)
    for a, b in zip(given, before, strict=True):
        np.testing.assert_array_equal(a, b)
    assert first[1].tolist() == [3]
    second = interpreter.run([first[0], first[1], first[2]])
    np.testing.assert_array_equal(second[2][:3], first[2][:3])
    assert (second[2][3] != first[2][3]).any()
    np.testing.assert_array_equal(first[2][3], given[2][3])


def test_zero_inputs():
    made = zero_inputs(step(PARTS).func)
    assert [(a.dtype, a.shape) for a in made] == [(np.int32, (1,)), (np.int32, (1,)), (np.float32, (4, 8))]
    assert not any(a.any() for a in made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a[:2], r"step: expected 3 inputs, got 2"),
        (lambda a: [a[0], a[1], a[2][:3]], r"step input 2: expected float32 of \[4, 8\], got float32 of \[3, 8\]"),
        (lambda a: [a[0].astype(np.int64), *a[1:]], r"step input 0: expected int32 of \[1\], got int64 of \[1\]"),
    ],
)
def test_inputs_that_do_not_fit(change: Callable[[list[Array]], list[Array]], message: str):
    with pytest.raises(InterpretationError, match=message):
        step(PARTS).run(change(inputs()))


def test_a_constant_that_is_not_resolved():
    module = parsed(STEP.replace("BODY", PARTS))
    with pytest.raises(WeightError, match=r'constant #tgraph.checkpoint<"e">: expected it among 0 resolved ones'):
        StepInterpreter(module, Constants({}))


def test_an_op_without_a_meaning():
    module = parsed(STEP.replace("BODY", PARTS))
    block = step_function(module).body.block
    last = block.last_op
    assert last is not None
    block.insert_op_before(OtherOp(), last)
    with pytest.raises(InterpretationError, match=r"expected lifted ops and constants in a step, got test.op"):
        StepInterpreter(module, random_weights(module))


def test_an_operand_that_does_not_dominate():
    module = parsed(STEP.replace("BODY", PARTS))
    block = step_function(module).body.block
    late = next(op for op in block.ops if isinstance(op, SiluOp))
    late.detach()
    last = block.last_op
    assert last is not None
    block.insert_op_before(late, last)
    with pytest.raises(InterpretationError, match=r"tgraph.set_row: operand 1 does not dominate its use"):
        StepInterpreter(module, random_weights(module))


def test_a_module_without_a_step():
    func = FuncOp("f", ([], []), Region(Block()))
    with pytest.raises(VerifyException, match=r"expected one function with a tgraph.token argument, got 0"):
        StepInterpreter(ModuleOp([func]), Constants({}))


def test_rows_where_values_are_wanted_decode():
    op = ConstantOp(CheckpointAttr("x"), TensorType(f32, [2, 3]))
    module = ModuleOp([op])
    assert random_weights(module).values(op).shape == (2, 3)
    with pytest.raises(WeightError, match=r"expected checkpoint rows, got values of tensor<2x3xf32>"):
        random_weights(module).rows(op)
