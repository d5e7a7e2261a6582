"""Fields that an op's syntax writes outside of its attribute dictionary are refused inside of it, where they stand."""

from __future__ import annotations

import pytest
from levels import parsed
from xdsl.dialects.builtin import UnitAttr
from xdsl.utils.exceptions import ParseError

from examples import printed
from lanelink.dialects import launch

DRIVER = """\
driver.module @m compute_90 {{
  driver.function @f() {function}
}} {module}
driver.step @s rows 1 {{
  %t = driver.io token bytes 4
  driver.launch @m::@f() grid (1, 1, 1) block (1, 1, 1) covers [] {launch}
  driver.return {result}
}} {step}
"""
TENSORS = """\
func.func @f(%x: tensor<1x64xf32>) {{
  %r = tgraph.fused glu_act_mul(%a = %x : tensor<1x64xf32>) -> (tensor<1x64xf32>) {{
    %s = tgraph.silu %a : tensor<1x64xf32> -> tensor<1x64xf32>
    %t = tgraph.silu %s : tensor<1x64xf32> -> tensor<1x64xf32>
    tgraph.yield %t : tensor<1x64xf32>
  }} {fused}
  func.return
}}
"""
LAUNCHES = """\
func.func @f(%x: memref<1x32xf32>, %a: memref<1x64xf32>, %b: memref<1x64xf32>) {{
  %w = launch.constant #tgraph.checkpoint<"w"> : !tgraph.rows<bf16, 64x32, transposed>
  %v = launch.view %a offset 32 {view} covers [3] : memref<1x64xf32> -> memref<1x32xf32>
  launch.unary(x = %a : memref<1x64xf32>, out = %b : memref<1x64xf32>) {{act = #launch<act silu>{unary}}} covers [2]
  launch.gemm_parts(x = %x : memref<1x32xf32>) {parts} {{
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 64x32, transposed>, out = %a : memref<1x64xf32>) covers [0]
    launch.gemm_part(w = %w : !tgraph.rows<bf16, 64x32, transposed>, out = %b : memref<1x64xf32>) covers [1]
  }}
  func.return
}}
"""
FIELDS = {
    (DRIVER, "function", ""): ("driver.function", ["sym_name", "parameters"]),
    (DRIVER, "module", "attributes "): ("driver.module", ["sym_name", "architecture"]),
    (DRIVER, "launch", ""): (
        "driver.launch",
        [
            *("function", "arguments", "grid", "block", "cluster"),
            *("shared", "carveout", "dependent", "together", "covers"),
        ],
    ),
    (DRIVER, "result", ""): ("driver.return", ["operandSegmentSizes"]),
    (DRIVER, "step", "attributes "): ("driver.step", ["sym_name", "rows", "context"]),
    (TENSORS, "fused", "attributes "): ("tgraph.fused", ["fusion_class"]),
    (LAUNCHES, "view", ""): ("launch.view", ["offset", "covers"]),
    (LAUNCHES, "unary", None): ("launch.unary", ["covers", "operandSegmentSizes"]),
    (LAUNCHES, "parts", "attributes "): ("launch.gemm_parts", ["covers", "operandSegmentSizes"]),
}
"""Of a text, the place of a dictionary in it, and what opens one there (none: it is open): the op, and its fields."""
PLACES = dict.fromkeys(("function", "module", "launch", "result", "step", "fused", "view", "unary", "parts"), "")


def written(text: str, place: str, before: str | None, entry: str) -> str:
    return text.format(**PLACES | {place: f", {entry}" if before is None else f"{before}{{{entry}}}"})


@pytest.mark.parametrize(
    ("where", "field"), [(where, field) for where, (_, fields) in FIELDS.items() for field in fields]
)
def test_a_field_among_the_attributes(where: tuple[str, str, str | None], field: str) -> None:
    op, _ = FIELDS[where]
    with pytest.raises(ParseError) as caught:
        parsed(written(*where, f"kept = 1 : i64, {field} = 5 : i64"))
    told = f"expected attributes without '{field}', which {op} has as a field outside of them, got {field} = 5 : i64"
    assert (caught.value.msg, caught.value.span.text) == (told, f"{field} = 5 : i64")


@pytest.mark.parametrize("where", FIELDS)
def test_other_attributes_are_kept(where: tuple[str, str, str | None]) -> None:
    once = printed(parsed(written(*where, 'kept = 1 : i64, "with space"')))
    assert 'kept = 1 : i64, "with space"' in once
    assert printed(parsed(once)) == once


def test_an_attribute_twice() -> None:
    for where in FIELDS:
        with pytest.raises(ParseError, match="expected each attribute once, got 'kept' twice"):
            parsed(written(*where, "kept, kept"))


def test_a_dictionary_that_holds_no_name() -> None:
    with pytest.raises(ParseError, match="expected the name of an attribute"):
        parsed(written(DRIVER, "launch", "", "3"))


def test_a_view_keeps_that_it_is_dependent() -> None:
    module = parsed(written(LAUNCHES, "view", "", "dependent"))
    (view,) = [op for op in module.walk() if isinstance(op, launch.ViewOp)]
    assert view.dependent == UnitAttr() and not view.attributes
    assert "offset 32 {dependent} covers" in printed(module)
