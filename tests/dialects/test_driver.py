"""The driver dialect built through Python: constructors, what they print, what a step gives back."""

from __future__ import annotations

import pytest
from xdsl.dialects import builtin
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32, i32, i64
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.driver import (
    AddressAttr,
    Architecture,
    ArenaOp,
    ConstantOp,
    FunctionOp,
    Io,
    IoOp,
    LaunchOp,
    ModuleOp,
    NullAttr,
    PlanesAttr,
    ReturnOp,
    Scratch,
    ScratchOp,
    SliceOp,
    StateOp,
    StepOp,
    ValuesAttr,
)
from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import CheckpointAttr
from lanelink.verify import verify_module


def step() -> builtin.ModuleOp:
    """A step of every op."""
    function = FunctionOp("f", [i64, i64, i32, f32, i64])
    arena, token = ArenaOp(1024), IoOp(Io.TOKEN, 4)
    logits = SliceOp(arena.result, 256, 512)
    weights = ConstantOp(CheckpointAttr("w"), PlanesAttr(Format.BF16, 2, 8), 32)
    values = ConstantOp(CheckpointAttr("n"), ValuesAttr([4, 2]), 32)
    state, scratch = StateOp("s", 16), ScratchOp(Scratch.COUNTERS, 4)
    launch = LaunchOp(
        ("m", "f"),
        [AddressAttr(), AddressAttr(8), IntegerAttr(-3, i32), FloatAttr(0.1, f32), NullAttr()],
        [logits.result, weights.result],
        (2, 1, 1),
        (32, 1, 1),
        shared=64,
        dependent=True,
        covers=[2, 1],
        label="gemv",
    )
    body = [arena, token, logits, weights, values, state, scratch, launch, ReturnOp(token.result, logits.result)]
    return builtin.ModuleOp([ModuleOp("m", Architecture.COMPUTE_90, [function]), StepOp("step", 1, 16, body)])


def test_constructors() -> None:
    module = step()
    module.verify()
    kernels, made = module.ops
    assert isinstance(kernels, ModuleOp) and isinstance(made, StepOp)
    assert [f.sym_name.data for f in kernels.functions] == ["f"]
    (launch,) = made.launches
    assert launch.entry == ("m", "f")
    assert launch.extent("grid") == (2, 1, 1) and launch.extent("block") == (32, 1, 1)
    assert list(launch.covers.get_values()) == [1, 2]
    passed = list(launch.passed())
    assert [buffer is not None for _, buffer in passed] == [True, True, False, False, False]
    assert made.result.chosen is not None and made.result.logits is passed[0][1]
    assert str(launch) == (
        "driver.launch @m::@f(%0, %1 + 8, -3 : i32, 1.000000e-01 : f32, null) grid (2, 1, 1) block (32, 1, 1) "
        'shared 64 dependent covers [1, 2] {label = "gemv"}'
    )


def test_bytes_are_the_buffers_own() -> None:
    module = step()
    sizes = {op.name: op.size for op in module.walk() if isinstance(op, ArenaOp | SliceOp | IoOp | StateOp | ScratchOp)}
    assert sizes == {"driver.arena": 1024, "driver.slice": 512, "driver.io": 4, "driver.state": 16, "driver.scratch": 4}
    assert ValuesAttr([4, 2]).total_bytes == 32
    assert Architecture.COMPUTE_80.capability == (8, 0)


def test_an_operand_that_does_not_dominate() -> None:
    arena = ArenaOp(1024)
    late = SliceOp(arena.result, 0, 4)
    token = IoOp(Io.TOKEN, 4)
    module = builtin.ModuleOp([StepOp("step", 1, None, [token, late, arena, ReturnOp(token.result)])])
    with pytest.raises(VerifyException, match=r"slice: operand 0 \(a result of driver.arena\) does not dominate"):
        verify_module(module)


def test_a_launch_of_two_sizes() -> None:
    module = step()
    (launch,) = (op for op in module.walk() if isinstance(op, LaunchOp))
    launch.properties["grid"] = builtin.DenseArrayBase.from_list(i64, [1, 1])
    assert "grid (1, 1)" in str(launch)
    with pytest.raises(VerifyException, match=r"driver.launch grid: expected three sizes, got 2"):
        module.verify()


def test_a_launch_alone() -> None:
    with pytest.raises(VerifyException, match=r"driver.launch @m::@f: expected it inside a step, got it alone"):
        LaunchOp(("m", "f"), [], [], (1, 1, 1), (1, 1, 1)).verify()
