"""Dominance, which ops built through Python can break."""

from __future__ import annotations

import pytest
from tensors import floats, two_parts
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.tgraph import (
    CheckpointAttr,
    ConstantOp,
    SiluOp,
)
from lanelink.dialects.tgraph.step import verify_dominance


def module_of(*ops: Operation, arguments: list[Attribute]) -> ModuleOp:
    block = Block(ops, arg_types=arguments)
    block.add_op(ReturnOp())
    return ModuleOp([FuncOp("f", (arguments, []), Region(block))])


def test_a_use_before_its_definition():
    late = ConstantOp(CheckpointAttr("w"), floats(1, 8))
    module = module_of(SiluOp(late.result), late, arguments=[])
    module.verify()
    with pytest.raises(VerifyException, match=r"tgraph.silu: operand 0 \(a result of tgraph.constant\) does not"):
        verify_dominance(module)


def test_a_value_of_another_function():
    held = ConstantOp(CheckpointAttr("w"), floats(1, 8))
    first, second = module_of(held, arguments=[]), module_of(SiluOp(held.result), arguments=[])
    other = second.body.block.first_op
    assert other is not None
    other.detach()
    first.body.block.add_op(other)
    with pytest.raises(VerifyException, match=r"tgraph.silu: operand 0 \(a result of tgraph.constant\) does not"):
        verify_dominance(first)


def test_an_argument_of_another_block():
    stray = Block(arg_types=[floats(1, 8)])
    with pytest.raises(VerifyException, match=r"operand 0 \(argument 0 of another block\) does not dominate its use"):
        verify_dominance(module_of(SiluOp(stray.args[0]), arguments=[]))


def test_a_use_before_its_definition_inside_a_fused_op():
    held = ConstantOp(CheckpointAttr("w"), floats(1, 8))
    fused = two_parts(held.result)
    first = fused.body.block.first_op
    last = fused.body.block.last_op
    assert first is not None
    assert last is not None
    first.detach()
    fused.body.block.insert_op_before(first, last)
    with pytest.raises(VerifyException, match=r"tgraph.sigmoid: operand 0 \(a result of tgraph.silu\) does not"):
        verify_dominance(module_of(held, fused, arguments=[]))


def test_what_dominates_is_let_through():
    held = ConstantOp(CheckpointAttr("w"), floats(1, 8))
    verify_dominance(module_of(held, two_parts(held.result), SiluOp(held.result), arguments=[]))
