"""Layers of mixtures, delta rules, latent and gated attention mean the same at every level."""

from __future__ import annotations

import numpy as np
import pytest
from composer import Drawn, random_arguments
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layer_texts import DELTA, GATED_ATTENTION, LATENT, MIXTURE, SANDWICH, step_text
from layers import LayerComposer
from levels import check_levels, parsed
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.launch import AttentionOp, Launch
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.interpreters.reference import zero_inputs
from lanelink.pipeline import Level, lower

LAYERS = {
    "delta": DELTA,
    "gated attention": GATED_ATTENTION,
    "latent": LATENT,
    "mixture": MIXTURE,
    "sandwich": SANDWICH,
}


def check(module: ModuleOp, position: int = 2, steps: int = 1) -> None:
    """Checks a step at every level from random arguments at a position."""
    rng = np.random.default_rng(5)
    arguments = zero_inputs(step_function(module))
    arguments[1][:] = position
    arguments[2:] = [rng.standard_normal(a.shape, np.float32) if a.dtype == np.float32 else a for a in arguments[2:]]
    check_levels(module, arguments, steps)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer(name: str) -> None:
    module = parsed(step_text([LAYERS[name]]))
    module.attributes[TARGET] = preset("h200", Numerics.DEQUANT)
    check(module)


def test_layers_one_after_another() -> None:
    module = parsed(step_text(list(LAYERS.values())))
    module.attributes[TARGET] = preset("h200", Numerics.DEQUANT)
    check(module)


@st.composite
def steps(draw: st.DrawFn) -> Drawn:
    module = LayerComposer(draw).compose(draw(st.integers(1, 5)))
    module.verify()
    return Drawn(module)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps(), st.integers(0, 3))
def test_random_layers(drawn: Drawn, position: int) -> None:
    """Whole layers and parts of them, for one row or several, in any numerics."""
    module = drawn.module
    check_levels(module, random_arguments(module, position), steps=1)


def kinds(module: ModuleOp) -> set[str]:
    """The launches of a step, linked."""
    return {op.name for op in lower(module, Level.LAUNCHES).walk() if isinstance(op, Launch)}


def text_step(arguments: str, constants: dict[str, str], body: str, result: str, kind: str) -> ModuleOp:
    lines = [f'%{name} = tgraph.constant #tgraph.checkpoint<"{name}"> : {of}' for name, of in constants.items()]
    head = "%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}"
    text = "\n".join([f"func.func @step({head}, {arguments}) -> {kind} {{", *lines, body])
    module = parsed(f"{text}\nfunc.return {result} : {kind}\n}}")
    module.attributes[TARGET] = preset("h200", Numerics.DEQUANT)
    return module


def latent_chunk(rows: int, transposed: bool) -> ModuleOp:
    """Latent attention of a chunk: 2 heads of 32 unrotated and 32 rotated values over 128 latent ones."""
    by_rows = "<bf16, 256x32, transposed>" if transposed else "<bf16, 64x128>"
    table, joined = "tensor<64x160xf32>", f"tensor<{rows}x320xf32>"
    half, wide = f"tensor<{rows}x64xf32>", f"tensor<{rows}x256xf32>"
    both = f"tensor<{rows}x128xf32>"
    body = f"""
      %n = tgraph.head_slice %q start 0 width 32 every 64 : {both} -> {half}
      %r = tgraph.head_slice %q start 32 width 32 every 64 : {both} -> {half}
      %rr = tgraph.rope %r, %cos, %cos at %pos heads 2 head_dim 32 half 16
        : ({half}, tensor<64x16xf32>, tensor<64x16xf32>, tensor<1xi32>) -> {half}
      %b = tgraph.head_matmul %n, %kb heads 2 inputs 32 outputs 128 : ({half}, !tgraph.rows{by_rows}) -> {wide}
      %j = tgraph.join %b, %rr heads 2 : ({wide}, {half}) -> {joined}
      %lv = tgraph.head_slice %t start 0 width 128 every 160 : {table} -> tensor<64x128xf32>
      %a = tgraph.attention %j, %t, %lv at %pos heads 2 kv_heads 1 head_dim 160 value_dim 128 scale 0.125
        : {joined}, {table}, tensor<64x128xf32> -> {wide}
      %o = tgraph.head_matmul %a, %vb heads 2 inputs 128 outputs 32
        : ({wide}, !tgraph.rows<bf16, 64x128, transposed>) -> {half}"""
    constants = {
        "cos": "tensor<64x16xf32>",
        "kb": f"!tgraph.rows{by_rows}",
        "vb": "!tgraph.rows<bf16, 64x128, transposed>",
    }
    return text_step(f"%q: {both}, %t: {table}", constants, body, "%o", half)


LATENT_LAUNCHES = {"launch.latent_keys", "launch.latent_values", "launch.latent_attend"}


@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize(("rows", "expanded"), [(42, False), (43, True)])
def test_a_wide_chunks_latent_attention_is_expanded(rows: int, expanded: bool, transposed: bool) -> None:
    """Of 128 latent values to 32 and 32, expanding pays from 128 · 64 / (256 − 64) = 42.7 rows on."""
    module = latent_chunk(rows, transposed)
    check(module)
    assert kinds(module) >= LATENT_LAUNCHES if expanded else not LATENT_LAUNCHES & kinds(module)


def batch(rows: int) -> ModuleOp:
    """Gated attention of a batch: each row a sequence with tables of its own."""
    kind, row, table = f"tensor<{rows}x64xf32>", "tensor<1x64xf32>", "tensor<8x64xf32>"
    tables = [f"%k{r}: {table}, %v{r}: {table}, %p{r}: tensor<1xi32>" for r in range(rows)]
    lines: list[str] = []
    for r in range(rows):
        lines += [
            f"%q{r} = tgraph.view %q offset {64 * r} : {kind} -> {row}",
            f"%a{r} = tgraph.attention %q{r}, %k{r}, %v{r} at %p{r} heads 2 kv_heads 2 head_dim 32 value_dim 32 "
            f": {row}, {table}, {table} -> {row}",
            f"%t{r} = tgraph.set_row {f'%t{r - 1}' if r else '%q'}, %a{r} row {r} : ({kind}, {row}) -> {kind}",
        ]
    lines += [
        f"%s = tgraph.sigmoid %g : {kind} -> {kind}",
        f"%y = tgraph.elementwise mul %t{rows - 1}, %s : ({kind}, {kind}) -> {kind}",
        f"%o = tgraph.matmul %y, %w : ({kind}, !tgraph.rows<q8_0, 64x64, transposed>) -> {kind}",
    ]
    constants = {"w": "!tgraph.rows<q8_0, 64x64, transposed>"}
    return text_step(f"%q: {kind}, %g: {kind}, {', '.join(tables)}", constants, "\n".join(lines), "%o", kind)


@pytest.mark.parametrize("numerics", Numerics)
def test_a_batchs_attentions_store_their_gated_rows(numerics: Numerics) -> None:
    module = batch(3)
    module.attributes[TARGET] = preset("h200", numerics)
    check(module)
    gated = [op for op in lower(module, Level.LAUNCHES).walk() if isinstance(op, AttentionOp)]
    assert [None if op.gate_offset is None else op.gate_offset.value.data for op in gated] == [0, 64, 128]
    assert "launch.binary" not in kinds(module) and "launch.quant" not in kinds(module)


@pytest.mark.parametrize("numerics", Numerics)
@pytest.mark.parametrize("rows", [1, 3])
def test_a_mixture_with_biases_and_a_clamp(numerics: Numerics, rows: int) -> None:
    """As gpt-oss has it: biases of the router and of every expert, clamped_swiglu."""
    kind = f"tensor<{rows}x64xf32>"
    constants = {
        "r": "!tgraph.rows<bf16, 4x64, transposed>",
        "g": "!tgraph.rows<q8_0, 128x64, transposed>",
        "d": "!tgraph.rows<q8_0, 256x32, transposed>",
        "rb": "tensor<1x4xf32>",
        "gb": "tensor<4x32xf32>",
        "db": "tensor<4x64xf32>",
        "n": "tensor<64xf32>",
    }
    body = f"""
      %h = tgraph.fused_row rms %x weight %n : tensor<64xf32> cols 64 eps 1.0e-6 : {kind}
      %m = tgraph.moe softmax clamped_swiglu %h, %r, %g, %g, %d router_bias %rb : tensor<1x4xf32>
        gate_bias %gb : tensor<4x32xf32> up_bias %gb : tensor<4x32xf32> down_bias %db : tensor<4x64xf32>
        experts 4 top_k 2 hidden 32 renormalize limit 7.0
        : {kind}, {constants["r"]}, {constants["g"]}, {constants["g"]}, {constants["d"]} -> {kind}
      %s = tgraph.elementwise add %x, %m : ({kind}, {kind}) -> {kind}
      %y = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.0e-6 : {kind}"""
    module = text_step(f"%x: {kind}", constants, body, "%y", kind)
    module.attributes[TARGET] = preset("h200", numerics)
    check(module)
    assert {"launch.fold", "launch.moe"} <= kinds(module)
