"""A step's function: what its attributes say, and each way they can be wrong."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.tgraph import SiluOp, TGraph
from lanelink.dialects.tgraph.step import (
    StepIo,
    located,
    state_name,
    state_sequence,
    step_function,
    step_io,
    step_return,
)


def module(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, TGraph):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def function(name: str, arguments: str, results: str = "") -> str:
    """A function of these arguments, `%a0` and on, and results; it returns none of them, and must not be verified."""
    named = ", ".join(f"%a{k}: {argument}" for k, argument in enumerate(arguments.split(", ")))
    return f"func.func @{name}({named}) -> ({results}) {{ func.return }}\n"


def step(arguments: str, results: str) -> FuncOp:
    (func,) = module(function("step", arguments, results)).ops
    assert isinstance(func, FuncOp)
    return func


TOKEN = "tensor<1xi32> {tgraph.token}"
POSITION = "tensor<1xi32> {tgraph.position}"
STATE = 'tensor<4x8xf32> {tgraph.state = "keys"}'


def test_what_a_step_says():
    func = step(
        f"{STATE}, {POSITION}, {TOKEN}, tensor<2xf32>",
        "tensor<1x8xf32> {tgraph.logits}, tensor<4x8xf32> {tgraph.carry = 0}, tensor<1xi32> {tgraph.carry = 2}",
    )
    assert step_io(func) == StepIo(token=2, position=1, states={0: "keys"}, carries={1: 0, 2: 2}, logits=0, sequences=1)


def test_a_step_of_several_tokens():
    assert step_io(step(TOKEN.replace("1x", "5x"), "")).token == 0


def test_a_batch_has_a_position_a_token():
    arguments = "tensor<3xi32> {tgraph.token}, tensor<3xi32> {tgraph.position}"
    assert step_io(step(arguments, "")).sequences == 3
    assert step_io(step(arguments.replace("tensor<3xi32> {tgraph.p", "tensor<1xi32> {tgraph.p"), "")).sequences == 1


def test_a_batch_names_its_state_by_sequence():
    assert state_name("layers.0.keys", 12) == "sequences.12.layers.0.keys"
    assert state_sequence("sequences.12.layers.0.keys") == 12
    for name in ("layers.0.keys", "sequences.x.keys", "sequences.01.keys", "sequences.1", "a.sequences.1.keys"):
        assert state_sequence(name) is None


def test_a_step_without_position_or_logits():
    assert step_io(step(TOKEN, "tensor<1xi32>")) == StepIo(
        token=0, position=None, states={}, carries={}, logits=None, sequences=1
    )


@pytest.mark.parametrize(
    ("arguments", "results", "message"),
    [
        (POSITION, "tensor<1xi32>", "expected one tgraph.token argument and at most one tgraph.position, got 0 and 1"),
        (f"{TOKEN}, {TOKEN}", "tensor<1xi32>", "got 2 and 0"),
        (f"{TOKEN}, {POSITION}, {POSITION}", "tensor<1xi32>", "got 1 and 2"),
        (
            "tensor<1x1xi32> {tgraph.token}",
            "",
            "step @step argument 0: expected tgraph.token to be tensor<Nxi32>, got tensor<1x1xi32>",
        ),
        (
            "tensor<4xf32> {tgraph.token}",
            "",
            "step @step argument 0: expected tgraph.token to be tensor<Nxi32>, got tensor<4xf32>",
        ),
        (
            "tensor<?xi32> {tgraph.token}",
            "",
            "step @step argument 0: expected tgraph.token to be tensor<Nxi32>, got tensor<?xi32>",
        ),
        ("i32 {tgraph.token}", "", "step @step argument 0: expected tgraph.token to be tensor<Nxi32>, got i32"),
        (
            f"{TOKEN}, tensor<2xi32> {{tgraph.position}}",
            "",
            "step @step argument 1: expected tgraph.position to be tensor<1xi32>, got tensor<2xi32>",
        ),
        (
            f"{TOKEN}, tensor<1xf32> {{tgraph.position}}",
            "",
            "step @step argument 1: expected tgraph.position to be tensor<1xi32>, got tensor<1xf32>",
        ),
        (
            "tensor<3xi32> {tgraph.token}, tensor<2xi32> {tgraph.position}",
            "",
            "argument 1: expected tgraph.position to be tensor<1xi32> or tensor<3xi32>, one a token, got tensor<2xi32>",
        ),
        (
            "tensor<3xi32> {tgraph.token}, tensor<3xi32> {tgraph.position}, "
            'tensor<1x8xf32> {tgraph.state = "sequences.3.keys"}',
            "tensor<1x8xf32> {tgraph.carry = 2 : i64}",
            "argument 2: expected tgraph.state of a sequence below 3, got 'sequences.3.keys'",
        ),
        (
            TOKEN,
            "tensor<1x8xf32> {tgraph.logits}, tensor<1xi32>, tensor<1x8xf32> {tgraph.logits}",
            "step @step: expected at most one tgraph.logits result, got 2",
        ),
        (
            f"{TOKEN}, tensor<4xf32> {{tgraph.state}}",
            "tensor<4xf32> {tgraph.carry = 1}",
            "step @step argument 1: expected tgraph.state to be a name of its own, got unit",
        ),
        (
            f"{TOKEN}, {STATE}, {STATE}",
            "tensor<4x8xf32> {tgraph.carry = 1}, tensor<4x8xf32> {tgraph.carry = 2}",
            'step @step argument 2: expected tgraph.state to be a name of its own, got "keys"',
        ),
        (
            f'{TOKEN}, tensor<4xf32> {{tgraph.state = "clés"}}',
            "tensor<4xf32> {tgraph.carry = 1}",
            "step @step argument 1: expected tgraph.state to be a name in ASCII, got 'clés'",
        ),
        (
            f"{TOKEN}, {STATE}",
            "tensor<1xi32> {tgraph.carry = 0}, tensor<4x8xf32>",
            "step @step: expected each state among the results, got none for 'keys'",
        ),
        (
            f"{TOKEN}, {STATE}",
            "tensor<1xi32> {tgraph.carry = 2}",
            "step @step result 0: expected tgraph.carry to name an argument of its own, got 2 : i64",
        ),
        (TOKEN, "tensor<1xi32> {tgraph.carry = -1}", "result 0: expected tgraph.carry to name an argument of its own"),
        (TOKEN, 'tensor<1xi32> {tgraph.carry = "token"}', 'to name an argument of its own, got "token"'),
        (
            TOKEN,
            "tensor<1xi32> {tgraph.carry = 0}, tensor<1xi32> {tgraph.carry = 0}",
            "step @step result 1: expected tgraph.carry to name an argument of its own, got 0 : i64",
        ),
        (
            TOKEN,
            "tensor<2xi32> {tgraph.carry = 0}",
            "result 0: expected tensor<1xi32>, the type of argument 0 it becomes, got tensor<2xi32>",
        ),
    ],
)
def test_attributes_that_do_not_fit(arguments: str, results: str, message: str):
    with pytest.raises(VerifyException) as raised:
        step_io(step(arguments, results))
    assert message in str(raised.value)


def test_a_module_of_two_steps():
    with pytest.raises(VerifyException, match=r"expected one function with a tgraph.token argument, got 2"):
        step_function(module(function("a", TOKEN) + function("b", TOKEN)))


def test_the_one_step_among_functions():
    held = module(function("a", "tensor<1xi32>") + function("b", TOKEN))
    assert step_function(held).sym_name.data == "b"


def test_the_return():
    func = step(TOKEN, "")
    last = step_return(func)
    assert last is func.body.block.last_op
    last.detach()
    with pytest.raises(VerifyException, match=r"step @step: expected a func.return at its end, got None"):
        step_return(func)
    func.body.block.add_op(SiluOp(func.body.block.args[0]))
    with pytest.raises(VerifyException, match=r"expected a func.return at its end, got tgraph.silu"):
        step_return(func)


def test_where_an_op_comes_from():
    op = ReturnOp()
    assert located(op, "fault") == "fault"
    op.location = NameLoc(StringAttr("layers.0.mlp"), UnknownLoc())
    assert located(op, "fault") == "layers.0.mlp: fault"
    op.location = FileLineColLoc(StringAttr("a.mlir"), IntAttr(3), IntAttr(7))
    assert located(op, "fault") == "a.mlir:3:7: fault"
