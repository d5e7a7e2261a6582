"""The launch dialect: constructors, text, and what must hold of a linked step as a whole."""

from __future__ import annotations

import pytest
from levels import parsed
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import Builtin, FloatAttr, IntegerAttr, MemRefType, f32, i32, i64
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException

from examples import check_example, examples
from lanelink.dialects import launch
from lanelink.dialects.formats import Format
from lanelink.dialects.launch import LaunchDialect
from lanelink.dialects.launch.base import CompoundLaunch, Launch, LeafLaunch, covers_attr
from lanelink.dialects.launch.sizes import buffer_bytes
from lanelink.dialects.launch.step import verify_linked
from lanelink.dialects.tgraph import CheckpointAttr, Q8Type, RowsType, TGraph
from lanelink.dialects.tgraph.step import step_function
from lanelink.verify import verify_module


def context() -> Context:
    loaded = Context()
    dialects: tuple[Dialect, ...] = (Builtin, Func, TGraph, LaunchDialect)
    for dialect in dialects:
        loaded.load_dialect(dialect)
    return loaded


def value(kind: Attribute) -> SSAValue:
    return test.TestOp(result_types=[kind]).results[0]


def rows(r: int, w: int) -> MemRefType[Attribute]:
    return MemRefType(f32, [r, w])


def test_every_op_has_an_example() -> None:
    assert {op.name for op in LaunchDialect.operations} == {name for name, _ in examples(LaunchDialect)}


@pytest.mark.parametrize(("name", "text"), examples(LaunchDialect))
def test_examples_parse_verify_and_print_back(name: str, text: str) -> None:
    check_example(context(), name, text)


class TestConstructors:
    """What building an op through Python gives."""

    def test_named_fields(self) -> None:
        x, w, out = value(rows(1, 64)), value(MemRefType(f32, [64])), value(rows(1, 64))
        sizes = {"cols": IntegerAttr(64, i64), "eps": FloatAttr(1e-6, f32), "covers": covers_attr([3, 1])}
        op = launch.NormOp.from_fields({"x": x, "w": w, "add": None, "out": out, **sizes})
        op.verify()
        assert dict(op.named_operands()) == {"x": x, "w": w, "out": out}
        assert (op.reads(), op.writes(), op.covered()) == ([x, w], [out], [1, 3])

    def test_a_field_it_does_not_have(self) -> None:
        with pytest.raises(KeyError, match=r"launch\.quant: expected fields of .*, got {'out'}"):
            launch.QuantOp.from_fields({"x": value(rows(1, 32)), "out": value(rows(1, 32))})

    def test_an_operand_it_lacks(self) -> None:
        with pytest.raises(KeyError, match=r"launch\.quant: expected the operand 'quant', got none"):
            launch.QuantOp.from_fields({"x": value(rows(1, 32))})

    def test_buffers(self) -> None:
        source = CheckpointAttr("w")
        kind = RowsType(Format.Q8_0, 64, 32, transposed=True)
        constant = launch.ConstantOp(source, kind)
        constant.verify()
        assert (constant.source, constant.result.type) == (source, kind)
        alloc = launch.AllocOp(rows(3, 64))
        view = launch.ViewOp(alloc.result, 64, [7], rows(1, 64))
        alloc.verify()
        view.verify()
        assert (view.offset.value.data, view.covered(), view.reads(), view.writes()) == (64, [7], [alloc.result], [])

    def test_a_compound_launch_reads_and_writes_what_its_parts_do(self) -> None:
        module = parsed(
            """
            func.func @f(%x: memref<1x32xf32>, %w: !tgraph.rows<bf16, 32x32, transposed>, %o: memref<1x32xf32>,
                %c: memref<4x16xf32>, %p: memref<1xi32>, %y: memref<1x32xf32>) {
              launch.fold() {
                launch.gemv(x = %x : memref<1x32xf32>, w = %w : !tgraph.rows<bf16, 32x32, transposed>,
                  out = %o : memref<1x32xf32>) covers [2]
                launch.rope_parts(cos = %c : memref<4x16xf32>, sin = %c : memref<4x16xf32>,
                  position = %p : memref<1xi32>) attributes {head_dim = 32 : i64, half = 16 : i64} {
                  launch.rope_side(x = %o : memref<1x32xf32>, out = %y : memref<1x32xf32>) {heads = 1 : i64} covers [1]
                }
              }
              func.return
            }
            """
        )
        (fold,) = [op for op in module.walk() if isinstance(op, launch.FoldOp)]
        (func,) = [op for op in module.ops if isinstance(op, FuncOp)]
        x, w, o, c, p, y = func.body.block.args
        assert (fold.covered(), fold.reads(), fold.writes()) == ([1, 2], [x, w, c, c, p, o], [o, y])


def test_every_launch_is_of_one_kind_or_holds_others() -> None:
    kinds = [op for op in LaunchDialect.operations if issubclass(op, Launch) and op is not launch.ViewOp]
    assert all(issubclass(op, LeafLaunch | CompoundLaunch) for op in kinds)


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (MemRefType(f32, [3, 64]), 768),
        (MemRefType(i32, [5]), 20),
        (Q8Type(2, 64), 2 * 64 + 2 * 2 * 4),
        (Q8Type(2, 64, 2), 2 * 2 * 64 + 2 * 2 * 4),
    ],
)
def test_bytes_of_buffers(kind: Attribute, size: int) -> None:
    assert buffer_bytes(kind) == size


def test_parse_errors_give_both_sides() -> None:
    text = (
        "func.func @f(%x: memref<1x32xf32>) {{ launch.unary({}) {{act = #launch<act silu>}} covers [0] func.return }}"
    )
    x = "x = %x : memref<1x32xf32>"
    with pytest.raises(ParseError, match="expected one of x, out, each at most once, got 'y'"):
        parsed(text.format("y = %x : memref<1x32xf32>"))
    with pytest.raises(ParseError, match="expected one of x, out, each at most once, got 'x'"):
        parsed(text.format(f"{x}, {x}"))
    with pytest.raises(ParseError, match=r"expected the operand 'out' of launch\.unary, got none"):
        parsed(text.format(x))


def test_a_step_of_launches_that_does_not_say_how_many_ops_it_covers() -> None:
    text = """
      func.func @NAME(%t: memref<1xi32> MARK, %y: memref<1xi32>) {
        launch.copy(x = %t : memref<1xi32>, out = %y : memref<1xi32>) covers []
        func.return
      }
    """
    plain = parsed(text.replace("MARK", "").replace("NAME", "plain"))
    verify_module(plain)
    module = parsed(text.replace("MARK", "{tgraph.token}").replace("NAME", "step"))
    with pytest.raises(VerifyException, match=r"step @step: expected the integer attribute launch\.lifted, got None"):
        verify_linked(step_function(module))
    with pytest.raises(VerifyException, match=r"launch\.lifted"):
        verify_module(module)


def test_a_step_of_several_blocks() -> None:
    module = parsed(
        """
        "builtin.module"() ({
          "func.func"() <{sym_name = "step", function_type = () -> ()}> ({
            "func.return"() : () -> ()
          ^bb1:
            "func.return"() : () -> ()
          }) {launch.lifted = 0 : i64} : () -> ()
        }) : () -> ()
        """
    )
    with pytest.raises(VerifyException, match="step @step: expected one block, got 2"):
        verify_module(module)
