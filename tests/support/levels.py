"""A step at every level, run on the same arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f16
from xdsl.parser import Parser

from lanelink.dialects.launch.target import Numerics, module_target
from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.interpreters.levels import Outcome, Step, step_of
from lanelink.lowering.weights import Constants, random_weights
from lanelink.pipeline import Level, lower
from lanelink.universe import LANELINK_UNIVERSE

Array = npt.NDArray[Any]

RELATIVE = {
    # Values are rounded to f32 (2^-24) at each launch rather than at each op; a sum of thousands of terms of either
    # sign loses some digits more.
    Numerics.DEQUANT: 2e-5,
    # Where that rounding moves a value across the middle between two quants, its quant moves by one step: 1/127 of its
    # block's largest value, in a few of the terms of a product, and once more in the products after it.
    Numerics.INT8: 2 / 127,
    # A step of the second plane is 1/254 of that.
    Numerics.TWO_PASS_INT8: 2 / (127 * 254),
}
"""What may differ between tensors and launches, of the largest value of the array."""


def parsed(text: str) -> ModuleOp:
    """A module of our dialects from its text, verified."""
    ctx = Context()
    for name, dialect in LANELINK_UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, dialect)
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func

    ctx.load_dialect(Builtin)
    ctx.load_dialect(Func)
    module = Parser(ctx, text).parse_module()
    module.verify()
    return module


def steps_at_levels(module: ModuleOp, constants: Constants) -> list[Step]:
    """The step as lifted ops (quantized as the numerics say), fused, and linked."""
    return [step_of(lower(module, level), constants) for level in (Level.TENSORS, Level.FUSED, Level.LAUNCHES)]


def check_levels(
    module: ModuleOp, arguments: Sequence[Array], steps: int = 2, constants: Constants | None = None
) -> list[Outcome]:
    """
    Runs some steps at every level, each from where the lifted ops left: fusing changes no bit, linking no more than
    rounding. Gives what the lifted ops left at each step.
    """
    constants = random_weights(module) if constants is None else constants
    lifted, fused, linked = steps_at_levels(module, constants)
    relative = RELATIVE[module_target(module).numerics.data]
    if any(element_of(a) == f16 for a in step_function(module).body.block.args):
        # A value that moves across the middle between two numbers of a table of f16 takes the other, 2^-10 of it away
        # at most, and so does what attention makes of it.
        relative = max(relative, 2 * 2.0**-10)
    outcomes: list[Outcome] = []
    for _ in range(steps):
        expected = lifted(arguments)
        for a, b in zip(arrays(expected), arrays(fused(arguments)), strict=True):
            np.testing.assert_array_equal(b, a)
        for a, b in zip(arrays(expected), arrays(linked(arguments)), strict=True):
            check_close(b, a, relative)
        outcomes.append(expected)
        arguments = expected.arguments
    return outcomes


def arrays(outcome: Outcome) -> Iterator[Array]:
    """All arrays of an outcome."""
    yield from outcome.arguments
    yield from outcome.results


def check_close(got: Array, expected: Array, relative: float) -> None:
    """Integers are equal; values differ by no more than `relative` of the largest, and are NaN in the same places."""
    assert got.dtype == expected.dtype and got.shape == expected.shape
    if expected.dtype == np.int32:
        np.testing.assert_array_equal(got, expected)
        return
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    known = expected[np.isfinite(expected)]
    largest = float(np.abs(known).max()) if known.size else 0.0
    np.testing.assert_allclose(got, expected, rtol=0, atol=relative * largest, equal_nan=True)
