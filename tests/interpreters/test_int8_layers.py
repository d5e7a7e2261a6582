"""Layers on integer units, built by hand: which launches read and write quantized rows, and what that changes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from layer_texts import DELTA, MIXTURE, step_text
from levels import Array, arrays, check_levels, parsed
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch import AllocOp
from lanelink.dialects.launch.base import CompoundLaunch, LeafLaunch
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.dialects.tgraph import Q8Type
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.interpreters.reference import zero_inputs
from lanelink.pipeline import Level, lower

R, R3 = "tensor<1x64xf32>", "tensor<3x64xf32>"
W, HEADS, WIDE, EXPERTS, DOWN = (
    f"!tgraph.rows<q8_0, {size}, transposed>" for size in ("64x64", "64x32", "64x192", "128x64", "256x32")
)


def layer(lines: list[str]) -> ModuleOp:
    """A layer of texts with all its rows in a block format."""
    return parsed(step_text([lines]).replace("!tgraph.rows<bf16", "!tgraph.rows<q8_0"))


def step(arguments: str, constants: dict[str, str], body: list[str], result: str, kind: str) -> ModuleOp:
    head = "%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}"
    lines = [f'%{name} = tgraph.constant #tgraph.checkpoint<"{name}"> : {of}' for name, of in constants.items()]
    opened = f"func.func @step({head}, {arguments}) -> {kind} {{"
    return parsed("\n".join([opened, *lines, *body, f"func.return {result} : {kind}", "}"]))


def mixed_rows() -> ModuleOp:
    """Each row of a chunk through the same mixture, put together."""
    body: list[str] = []
    for k in range(3):
        body += [
            f"%x{k} = tgraph.view %x offset {64 * k} : {R3} -> {R}",
            f"%y{k} = tgraph.moe softmax silu %x{k}, %r, %g, %g, %d experts 4 top_k 2 hidden 32 renormalize "
            f": {R}, tensor<64x4xf32>, {EXPERTS}, {EXPERTS}, {DOWN} -> {R}",
            f"%t{k} = tgraph.set_row {f'%t{k - 1}' if k else '%x'}, %y{k} row {k} : ({R3}, {R}) -> {R3}",
        ]
    return step(f"%x: {R3}", {"r": "tensor<64x4xf32>", "g": EXPERTS, "d": DOWN}, body, "%t2", R3)


def rows_put_together() -> ModuleOp:
    """Rows from elsewhere, put together and read by a product."""
    body = [f"%t0 = tgraph.set_row %x, %y0 row 0 : ({R3}, {R}) -> {R3}"]
    body += [f"%t{k} = tgraph.set_row %t{k - 1}, %y{k} row {k} : ({R3}, {R}) -> {R3}" for k in (1, 2)]
    body.append(f"%o = tgraph.matmul %t2, %w : ({R3}, {W}) -> {R3}")
    return step(f"%x: {R3}, %y0: {R}, %y1: {R}, %y2: {R}", {"w": W}, body, "%o", R3)


def joined_twice() -> ModuleOp:
    """Two products' heads joined, and a third's beside those: one buffer that three launches write units of."""
    half, both, all_three = "tensor<1x64xf32>", "tensor<1x128xf32>", "tensor<1x192xf32>"
    body = [
        *(
            f"%{y} = tgraph.head_matmul %x, %{w} heads 2 inputs 32 outputs 32 : ({R}, {HEADS}) -> {half}"
            for y, w in (("a", "wa"), ("b", "wb"), ("c", "wc"))
        ),
        f"%ab = tgraph.join %a, %b heads 2 : ({half}, {half}) -> {both}",
        f"%abc = tgraph.join %ab, %c heads 2 : ({both}, {half}) -> {all_three}",
        f"%o = tgraph.matmul %abc, %wo : ({all_three}, {WIDE}) -> {R}",
    ]
    constants = {"wa": HEADS, "wb": HEADS, "wc": HEADS, "wo": WIDE}
    return step(f"%x: {R}", constants, body, "%o", R)


CASES = {
    "delta": (
        lambda: layer(DELTA),
        {"launch.norm": 2, "launch.gemm_parts": 1, "launch.conv_parts": 1, "launch.gate_proj": 1, "launch.delta": 1},
    ),
    "shared expert": (lambda: layer(MIXTURE), {"launch.norm": 2, "launch.moe": 1}),
    "token sort": (mixed_rows, {"launch.quant": 1, "launch.moe": 1}),
    "row_write_quant": (rows_put_together, {"launch.set_row": 3, "launch.gemv": 1}),
    "nested units": (joined_twice, {"launch.quant": 2, "launch.head_gemv": 3, "launch.gemv": 1}),
}


def random_arguments(module: ModuleOp) -> list[Array]:
    rng = np.random.default_rng(11)
    held = zero_inputs(step_function(module))
    held[1][:] = 2
    return [*held[:2], *(rng.standard_normal(a.shape, np.float32) / np.float32(4) for a in held[2:])]


@pytest.mark.parametrize("numerics", [Numerics.INT8, Numerics.TWO_PASS_INT8])
@pytest.mark.parametrize("name", CASES)
def test_a_layer_on_integer_units(name: str, numerics: Numerics) -> None:
    make, expected = CASES[name]
    module = make()
    arguments = random_arguments(module)
    module.attributes[TARGET] = preset("h200", Numerics.DEQUANT)
    (plain,) = check_levels(module, arguments, 1)
    module.attributes[TARGET] = preset("h200", numerics)
    (quantized,) = check_levels(module, arguments, 1)
    linked = lower(module, Level.LAUNCHES)
    found = Counter(op.name for op in linked.walk() if isinstance(op, LeafLaunch | CompoundLaunch))
    assert {kind: found[kind] for kind in expected} == expected
    assert "launch.join" not in found
    held = [op.result.type for op in linked.walk() if isinstance(op, AllocOp)]
    assert {kind.planes.data for kind in held if isinstance(kind, Q8Type)} == {numerics.planes}
    pairs = [(a, b) for a, b in zip(arrays(plain), arrays(quantized), strict=True) if a.dtype == np.float32]
    off = [float(np.abs(b - a).max() / np.abs(a).max()) for a, b in pairs]
    # A quant is off by half a step, 1/254 of its block's largest value, or 1/254 of that with a second plane; a product
    # of 64 terms of either sign averages them, and a norm, a gate or a state hands them on. Nothing off: not quantized.
    bound = 8 / 254 / (1 if numerics is Numerics.INT8 else 254)
    assert 0 < max(off) < bound
