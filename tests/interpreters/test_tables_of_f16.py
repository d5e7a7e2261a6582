"""Rows set into tables of f16 round to the nearest number, ties to even, as tensors and as launches."""

from __future__ import annotations

import numpy as np
import pytest
from levels import parsed

from lanelink.lowering.interpreters.levels import step_of
from lanelink.lowering.weights import Constants

STEP = """
func.func @step(%token: tensor<1xi32> {{tgraph.token}}, %x: tensor<2x4xf32> {{tgraph.state = "x"}},
                %t: tensor<5x4xf16> {{tgraph.state = "t"}}, %p: tensor<1xi32> {{tgraph.position}})
    -> (tensor<2x4xf32> {{tgraph.carry = 1 : i64}}, tensor<5x4xf16> {{tgraph.carry = 2 : i64}},
        tensor<1xi32> {{tgraph.carry = 3 : i64}}) {{
  %t1 = tgraph.set_row %t, %x {row} number 0 : (tensor<5x4xf16>, tensor<2x4xf32>{index}) -> tensor<5x4xf16>
  %p1 = tgraph.advance %p by 2 number 1 : (tensor<1xi32>) -> tensor<1xi32>
  func.return %x, %t1, %p1 : tensor<2x4xf32>, tensor<5x4xf16>, tensor<1xi32>
}}
"""

# A number of f16 near 1 is 2^-10 from the next: ties, and a value on each side of one; the largest, and what is past
# it; the smallest, half of it, and zeros of either sign.
SOURCE = np.array(
    [[1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-20, 65519.9], [65520.0, -1e9, 2**-24, 2**-25]], np.float32
)
EXPECTED = [[1.0, 1 + 2 * 2**-10, 1 + 2**-10, 65504.0], [np.inf, -np.inf, 2**-24, 0.0]]


@pytest.mark.parametrize(("row", "index", "first"), [("at %p", ", tensor<1xi32>", 3), ("row 1", "", 1)])
def test_rows_are_rounded(row: str, index: str, first: int) -> None:
    module = parsed(STEP.format(row=row, index=index))
    table = np.random.default_rng(2).standard_normal((5, 4)).astype(np.float16)
    arguments = [np.zeros(1, np.int32), SOURCE, table, np.array([3], np.int32)]
    outcome = step_of(module, Constants({}))(arguments)
    left = outcome.arguments[2]
    assert left.dtype == np.float16
    expected = table.copy()
    expected[first : first + 2] = EXPECTED
    np.testing.assert_array_equal(left, expected)


def test_launches_round_alike() -> None:
    launches = """
    func.func @step(%token: memref<1xi32> {tgraph.token}, %x: memref<2x4xf32> {tgraph.state = "x"},
                    %t: memref<5x4xf16> {tgraph.state = "t"}, %p: memref<1xi32> {tgraph.position})
        attributes {launch.lifted = 2 : i64} {
      launch.set_row(source = %x : memref<2x4xf32>, out = %t : memref<5x4xf16>, at = %p : memref<1xi32>) covers [0]
      launch.advance(x = %p : memref<1xi32>, out = %p : memref<1xi32>) {by = 2 : i64} covers [1]
      func.return
    }
    """
    table = np.random.default_rng(2).standard_normal((5, 4)).astype(np.float16)
    arguments = [np.zeros(1, np.int32), SOURCE, table, np.array([3], np.int32)]
    left = step_of(parsed(launches), Constants({}))(arguments).arguments[2]
    np.testing.assert_array_equal(left[3:], np.array(EXPECTED, np.float16))
    np.testing.assert_array_equal(left[:3], table[:3])
