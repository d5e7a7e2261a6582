"""The same step at every level: small checkpoints, and steps that show where buffers may be shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from levels import RELATIVE, arrays, check_close, check_levels, parsed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import InterpretationError

from lanelink.dialects.formats import Format
from lanelink.dialects.launch import AllocOp, CopyOp
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.dialects.tgraph.fused import FusionClass
from lanelink.dialects.tgraph.step import step_function
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.interpreters.launches import LaunchInterpreter
from lanelink.lowering.interpreters.levels import step_of
from lanelink.lowering.interpreters.reference import zero_inputs
from lanelink.lowering.weights import random_weights, resolve
from lanelink.passes.link import LinkPass
from lanelink.passes.number_ops import NumberOpsPass
from lanelink.passes.shim import DECOMPOSE, Shim, Support
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parent.parent / "models"
PROMPT = b"The old house"

Array = npt.NDArray[Any]


def start(module: ModuleOp) -> list[Array]:
    """A new sequence's arguments. Tables are NaN, so that a row read before it is written shows."""
    zeros = zero_inputs(step_function(module))
    return [a if a.dtype == np.int32 else np.full_like(a, np.nan) for a in zeros]


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("numerics", Numerics)
@pytest.mark.parametrize("model", ["llama", "qwen2", "qwen3"])
def test_checkpoints_mean_the_same_at_every_level(model: str, numerics: Numerics, rows: int) -> None:
    path = MODELS / model
    module = import_checkpoint(path, context=16, rows=rows, numerics=numerics, quantize=Format.Q8_0)
    constants = resolve(module, open_directory(path))
    imported = step_of(module, constants)
    arguments = start(module)
    for k in range(0, 3 * rows, rows):
        arguments[0] = np.frombuffer(PROMPT[k : k + rows], np.uint8).astype(np.int32)
        (outcome,) = check_levels(module, arguments, 1, constants)
        # The state holds the rows written so far, and nothing else.
        assert [np.isfinite(table).all(axis=1).sum() for table in outcome.arguments[2:]] == [k + rows] * 4
        before = imported(arguments)
        for a, b in zip(arrays(before), arrays(outcome), strict=True):
            if numerics is Numerics.DEQUANT:
                np.testing.assert_array_equal(b, a)
            elif a.dtype == np.float32:
                # Every activation in int8 blocks: each value off by up to 1/254 of its block's largest (by 254 times
                # less in two planes), through some ten products one after another.
                check_close(b, a, 10 * RELATIVE[numerics])
        arguments = outcome.arguments


def step(body: str, arguments: str, results: str) -> ModuleOp:
    """A module of one step over one token at one position, f32 activations."""
    module = parsed(
        f"func.func @step(%token: tensor<1xi32> {{tgraph.token}}, %pos: tensor<1xi32> {{tgraph.position}}, {arguments})"
        f" -> ({results}) {{\n{body}\n}}"
    )
    module.attributes[TARGET] = preset("h200", Numerics.DEQUANT)
    return module


def run(module: ModuleOp, copies: int, steps: int = 2) -> ModuleOp:
    """Checks the step at every level, from random arguments at position 2; returns it linked, with so many copies."""
    rng = np.random.default_rng(5)
    arguments = zero_inputs(step_function(module))
    arguments[1][:] = 2
    arguments[2:] = [rng.standard_normal(a.shape, np.float32) for a in arguments[2:]]
    check_levels(module, arguments, steps)
    linked = lower(module, Level.LAUNCHES)
    assert count(linked, CopyOp) == copies
    return linked


def count(module: ModuleOp, kind: type[Any]) -> int:
    return sum(isinstance(op, kind) for op in module.walk())


T = "tensor<4x32xf32>"
R = "tensor<1x32xf32>"
STATE = f'%a: {T} {{tgraph.state = "a"}}, %b: {T} {{tgraph.state = "b"}}, %x: {R}'
SET_A = f"%a1 = tgraph.set_row %a, %x at %pos : ({T}, {R}, tensor<1xi32>) -> {T}"
SET_B = f"%b1 = tgraph.set_row %b, %y at %pos : ({T}, {R}, tensor<1xi32>) -> {T}"
OLD = f"%y = tgraph.row_gather %a row 2 : ({T}) -> {R}"


def test_a_table_read_before_it_is_written_is_written_in_place() -> None:
    linked = run(
        step(
            f"{OLD}\n{SET_A}\n{SET_B}\nfunc.return %a1, %b1 : {T}, {T}",
            STATE,
            f"{T} {{tgraph.carry = 2}}, {T} {{tgraph.carry = 3}}",
        ),
        # The row itself is read by a copy of it.
        copies=1,
    )
    assert count(linked, AllocOp) == 1


def test_a_table_read_after_it_is_written_is_copied_first() -> None:
    run(
        step(
            f"{SET_A}\n{OLD}\n{SET_B}\nfunc.return %a1, %b1 : {T}, {T}",
            STATE,
            f"{T} {{tgraph.carry = 2}}, {T} {{tgraph.carry = 3}}",
        ),
        # The table, its row, and the new table to where the next step finds it.
        copies=3,
    )


def test_a_view_of_old_rows_read_after_they_are_written_is_a_reader() -> None:
    view = f"%y = tgraph.view %a offset 64 : {T} -> {R}"
    results = f"{T} {{tgraph.carry = 2}}, {T} {{tgraph.carry = 3}}"
    late = f"{view}\n{SET_A}\n{SET_B}\nfunc.return %a1, %b1 : {T}, {T}"
    run(step(late, STATE, results), copies=2)
    early = f"{view}\n%s = tgraph.silu %y : {R} -> {R}\n{SET_A}\n{SET_B.replace('%y', '%s')}"
    run(step(f"{early}\nfunc.return %a1, %b1 : {T}, {T}", STATE, results), copies=0)


def test_a_view_that_is_written_is_a_table_of_its_own_where_its_source_is_read() -> None:
    body = f"""
      %v = tgraph.view %a offset 64 : {T} -> tensor<2x32xf32>
      %w = tgraph.set_row %v, %x row 1 : (tensor<2x32xf32>, {R}) -> tensor<2x32xf32>
      {SET_A}
      func.return %a1, %b, %w : {T}, {T}, tensor<2x32xf32>
    """
    run(step(body, STATE, f"{T} {{tgraph.carry = 2}}, {T} {{tgraph.carry = 3}}, tensor<2x32xf32>"), copies=1)


def test_tables_carried_to_each_other_are_moved_past_each_other() -> None:
    y = f"%y = tgraph.silu %x : {R} -> {R}"
    run(
        step(
            f"{y}\n{SET_A}\n{SET_B}\nfunc.return %a1, %b1 : {T}, {T}",
            STATE,
            f"{T} {{tgraph.carry = 3}}, {T} {{tgraph.carry = 2}}",
        ),
        copies=4,
        steps=3,
    )


def test_a_table_that_no_result_becomes_is_there_at_the_next_step() -> None:
    plain = f"%a: {T}, %x: {R}"
    run(step(f"{SET_A}\nfunc.return %a1 : {T}", plain, T), copies=1)


def test_old_arguments_returned_beside_what_they_become() -> None:
    body = f"""
      {SET_A}
      %v = tgraph.view %a offset 32 : {T} -> {R}
      func.return %b, %a1, %v, %a : {T}, {T}, {R}, {T}
    """
    results = f"{T} {{tgraph.carry = 2}}, {T} {{tgraph.carry = 3}}, {R}, {T}"
    linked = run(step(body, STATE, results), copies=6)
    assert len(step_function(linked).function_type.outputs) == 2


SAMPLED = f"""
  %n = tgraph.advance %pos by 1 : (tensor<1xi32>) -> tensor<1xi32>
  %t = tgraph.arg_max %x : {R} -> tensor<1xi32>
"""


@pytest.mark.parametrize("text", [SAMPLED, "\n".join(reversed(SAMPLED.strip().splitlines()))])
def test_choice_and_advance_are_one_launch_in_either_order(text: str) -> None:
    results = "tensor<1xi32> {tgraph.carry = 0}, tensor<1xi32> {tgraph.carry = 1}"
    linked = run(step(f"{text}\nfunc.return %t, %n : tensor<1xi32>, tensor<1xi32>", f"%x: {R}", results), copies=0)
    assert len(launches(step_function(linked))) == 1


def test_the_old_token_returned_keeps_the_choice_out_of_its_place() -> None:
    results = "tensor<1xi32> {tgraph.carry = 0}, tensor<1xi32> {tgraph.carry = 1}, tensor<1xi32>"
    body = f"{SAMPLED}\nfunc.return %t, %n, %token : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>"
    linked = run(step(body, f"%x: {R}", results), copies=3)
    assert len(launches(step_function(linked))) == 5


def test_a_fused_op_run_as_its_parts_by_the_link_alone_copies_between_them() -> None:
    """The copy of a table comes after the launch that writes the rows it copies, in the same fused op."""
    fused = f"""
      %a2, %b1 = tgraph.fused merged_qkv(%t = %a : {T}, %r = %x : {R}, %p = %pos : tensor<1xi32>) -> ({T}, {T}) {{
        %t1 = tgraph.set_row %t, %r at %p : ({T}, {R}, tensor<1xi32>) -> {T}
        %t2 = tgraph.set_row %t1, %r row 0 : ({T}, {R}) -> {T}
        tgraph.yield %t1, %t2 : {T}, {T}
      }}
      func.return %a2, %b1 : {T}, {T}
    """
    module = step(fused, f'%a: {T} {{tgraph.state = "a"}}, %x: {R}', f"{T} {{tgraph.carry = 2}}, {T}")
    NumberOpsPass().apply(Context(), module)
    rng = np.random.default_rng(0)
    arguments: list[Array] = [np.zeros(1, np.int32), np.full(1, 2, np.int32)]
    arguments += [rng.standard_normal(shape, np.float32) for shape in ((4, 32), (1, 32))]
    constants = random_weights(module)
    expected = step_of(module, constants)(arguments)
    linked = module.clone()
    LinkPass().apply(Context(), linked)
    for a, b in zip(arrays(expected), arrays(step_of(linked, constants)(arguments)), strict=True):
        np.testing.assert_array_equal(b, a)


class Apart(Shim):
    """A lane that runs every class as its parts."""

    def supports(self, fusion_class: FusionClass) -> Support:
        return DECOMPOSE


class LinkApart(LinkPass):
    """The link of that lane."""

    make_shim = staticmethod(Apart)


@pytest.mark.parametrize("numerics", Numerics)
def test_every_class_run_as_its_parts_by_the_link(numerics: Numerics) -> None:
    path = MODELS / "qwen3"
    module = import_checkpoint(path, context=8, numerics=numerics, quantize=Format.Q8_0)
    constants = resolve(module, open_directory(path))
    fused = lower(module, Level.FUSED)
    linked = fused.clone()
    LinkApart().apply(Context(), linked)
    linked.verify()
    assert all(len(launch.covered()) <= 1 for launch in launches(step_function(linked)))
    arguments = start(module)
    arguments[0][:] = 65
    expected, got = (step_of(level, constants)(arguments) for level in (fused, linked))
    for a, b in zip(arrays(expected), arrays(got), strict=True):
        # One launch an op: the same arithmetic, but for attention's scale, which a launch holds in f32.
        check_close(b, a, RELATIVE[numerics])


class TestLaunchInterpreter:
    """What the interpreter of launches refuses."""

    LINKED = """
      func.func @step(%token: memref<1xi32> {tgraph.token}, %x: memref<1x32xf32>) -> (memref<1x32xf32>)
          attributes {launch.lifted = 1 : i64} {
        BODY
      }
    """

    def interpreter(self, body: str) -> LaunchInterpreter:
        module = parsed(self.LINKED.replace("BODY", body))
        return LaunchInterpreter(module, random_weights(module))

    def token_and_row(self) -> list[Array]:
        return [np.zeros(1, np.int32), np.ones((1, 32), np.float32)]

    def test_a_buffer_nothing_wrote_is_nan(self) -> None:
        body = """
          %b = launch.alloc : memref<1x32xf32>
          %y = launch.alloc : memref<1x32xf32>
          launch.binary(a = %x : memref<1x32xf32>, b = %b : memref<1x32xf32>, out = %y : memref<1x32xf32>)
            {kind = #tgraph<binary_kind add>} covers [0]
          func.return %y : memref<1x32xf32>
        """
        (y,) = self.interpreter(body).run(self.token_and_row())
        assert np.isnan(y).all()

    def test_quantized_rows_nothing_wrote_are_nan(self) -> None:
        body = """
          %q = launch.alloc : !tgraph.q8<1x32, two_plane>
          %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 32x32, transposed>
          %y = launch.alloc : memref<1x32xf32>
          launch.gemv(x = %q : !tgraph.q8<1x32, two_plane>, w = %w : !tgraph.rows<q8_0, 32x32, transposed>,
            out = %y : memref<1x32xf32>) covers [0]
          func.return %y : memref<1x32xf32>
        """
        module = parsed(self.LINKED.replace("BODY", body))
        level_1 = parsed(
            'func.func @f() { %w = tgraph.constant #tgraph.checkpoint<"w"> : !tgraph.rows<q8_0, 32x32, transposed>\n'
            "func.return }"
        )
        (y,) = LaunchInterpreter(module, random_weights(level_1)).run(self.token_and_row())
        assert np.isnan(y).all()

    @pytest.mark.parametrize("index", ["%i", "%far"])
    def test_an_index_nothing_wrote_or_outside_the_table(self, index: str) -> None:
        body = f"""
          %i = launch.alloc : memref<1xi32>
          %far = launch.alloc : memref<1xi32>
          %t = launch.alloc : memref<4x32xf32>
          launch.advance(x = %token : memref<1xi32>, out = %far : memref<1xi32>) {{by = 4 : i64}} covers []
          launch.set_row(source = %x : memref<1x32xf32>, out = %t : memref<4x32xf32>, at = {index} : memref<1xi32>)
            covers [0]
          func.return %x : memref<1x32xf32>
        """
        got = "an index nothing wrote" if index == "%i" else "4"
        with pytest.raises(InterpretationError, match=f"expected 0 to 3 in a table of 4 rows, got {got}"):
            self.interpreter(body).run(self.token_and_row())

    def test_gathering_by_an_index_nothing_wrote(self) -> None:
        body = """
          %i = launch.alloc : memref<1xi32>
          %y = launch.alloc : memref<1x32xf32>
          launch.gather(table = %x : memref<1x32xf32>, index = %i : memref<1xi32>, out = %y : memref<1x32xf32>)
            covers [0]
          func.return %y : memref<1x32xf32>
        """
        with pytest.raises(InterpretationError, match="index: expected rows of a table, got what nothing wrote"):
            self.interpreter(body).run(self.token_and_row())

    def test_arguments_that_do_not_fit(self) -> None:
        body = """
          %y = launch.alloc : memref<1x32xf32>
          launch.copy(x = %x : memref<1x32xf32>, out = %y : memref<1x32xf32>) covers [0]
          func.return %y : memref<1x32xf32>
        """
        interpreter = self.interpreter(body)
        token, x = self.token_and_row()
        for arguments, message in (
            ([token], "expected 2 arguments, got 1"),
            ([token, x.astype(np.float64)], r"step argument 1: expected float32 of \[1, 32\], got float64"),
            ([token, np.ones((2, 32), np.float32)], r"expected float32 of \[1, 32\], got float32 of \[2, 32\]"),
            ([token, np.ones((1, 64), np.float32)[:, ::2]], "step argument 1: expected a contiguous array"),
        ):
            with pytest.raises(InterpretationError, match=message):
                interpreter.run(arguments)

    def test_a_step_that_is_not_linked(self) -> None:
        module = step(f"func.return %x : {R}", f"%x: {R}", R)
        with pytest.raises(InterpretationError, match="expected a linked one"):
            LaunchInterpreter(module, random_weights(module))

    def test_an_op_that_is_no_launch(self) -> None:
        with pytest.raises(InterpretationError, match=r"expected launches and buffers .*, got tgraph\.constant"):
            self.interpreter(
                """
                %w = tgraph.constant #tgraph.checkpoint<"w"> : tensor<4xf32>
                func.return %x : memref<1x32xf32>
                """
            )
