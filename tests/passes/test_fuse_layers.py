"""Random layers of mixtures, delta rules, latent and gated attention mean the same before and after fuse."""

from __future__ import annotations

import cProfile
from collections import Counter

import numpy as np
import pytest
from formulas import formulas
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layer_texts import DELTA, GATED_ATTENTION, LATENT, MIXTURE, MIXTURE_NORMED, SANDWICH, step_text
from layers import LayerComposer
from levels import parsed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.tgraph import FusedOp, FusionClass, LiftedOp
from lanelink.dialects.tgraph.fused import leaves
from lanelink.dialects.tgraph.step import step_function, verify_dominance
from lanelink.lowering.interpreters.reference import StepInterpreter
from lanelink.lowering.weights import random_weights
from lanelink.passes.fuse import FusePass
from lanelink.passes.fuse.views import is_fused
from lanelink.passes.quantize_activations import QuantizeActivationsPass


@st.composite
def steps(draw: st.DrawFn) -> ModuleOp:
    """A random step of layers after quantize-activations."""
    module = LayerComposer(draw).compose(draw(st.integers(1, 5)))
    QuantizeActivationsPass().apply(Context(), module)
    module.verify()
    return module


def lifted(module: ModuleOp) -> Counter[str]:
    return Counter(leaf.name for op in step_function(module).body.block.ops for leaf in leaves(op))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps(), st.integers(0, 5))
def test_fusing_layers_changes_no_value(module: ModuleOp, position: int) -> None:
    before = module.clone()
    FusePass().apply(Context(), module)
    module.verify()
    verify_dominance(module)
    assert lifted(module) == lifted(before)
    known: dict[object, int] = {}
    assert formulas(module, known) == formulas(before, known)
    rng = np.random.default_rng(position)
    func = step_function(module)
    inputs = [np.full(a.type.get_shape(), position, np.int32) for a in func.body.block.args[:3]]
    inputs += [rng.standard_normal(a.type.get_shape(), np.float32) for a in func.body.block.args[3:]]
    constants = random_weights(before)
    expected = StepInterpreter(before, constants).run(inputs)
    got = StepInterpreter(module, constants).run(inputs)
    for a, b in zip(expected, got, strict=True):
        np.testing.assert_array_equal(a, b)


BECOMES = {
    "delta": (
        DELTA,
        ["merged_qkv", "conv_parts", "gdn_gate_projections", "tgraph.gated_delta", "gemv_norm_epilogue"],
    ),
    "gated attention": (
        GATED_ATTENTION,
        ["merged_qkv", "tgraph.head_slice", "part_in_place", "attn_output_gate", "gemv_norm_epilogue"],
    ),
    "latent": (LATENT, ["merged_qkv", "row_in_place", "mla", "gemv_norm_epilogue"]),
    "mixture": (MIXTURE, ["moe_deferred_finalize"]),
    "mixture, normed": (MIXTURE_NORMED, ["moe_deferred_finalize", "tgraph.elementwise"]),
    "sandwich": (SANDWICH, ["gemv_gate_up_glu", "gemv_norm_epilogue"]),
}


def fused(module: ModuleOp) -> list[str]:
    """What runs in the step after fuse, in order: a fused op's class, or a lifted op's name."""
    FusePass().apply(Context(), module)
    module.verify()
    verify_dominance(module)
    ops = step_function(module).body.block.ops
    return [
        op.fusion_class.data.value if isinstance(op, FusedOp) else op.name
        for op in ops
        if isinstance(op, FusedOp | LiftedOp)
    ]


@pytest.mark.parametrize("name", BECOMES)
def test_what_a_layer_becomes(name: str) -> None:
    layer, expected = BECOMES[name]
    assert fused(parsed(step_text([layer]))) == ["tgraph.fused_row", *expected]


def test_layers_one_after_another_become_what_each_does() -> None:
    expected = [op for _, layer in BECOMES.values() for op in layer]
    assert fused(parsed(step_text([layer for layer, _ in BECOMES.values()]))) == ["tgraph.fused_row", *expected]


def test_cost_is_linear_in_layers_of_every_kind() -> None:
    def calls(times: int) -> int:
        module = parsed(step_text([layer for layer, _ in BECOMES.values()] * times))
        profile = cProfile.Profile()
        profile.runcall(FusePass().apply, Context(), module)
        return sum(entry.callcount for entry in profile.getstats())

    few, many = calls(4), calls(16)
    assert many < 4.05 * few


def test_cost_is_linear_in_a_chunks_rows() -> None:
    """A chunk's mixtures row by row are one fused op; the sets of an incomplete chunk are walked once."""

    def calls(rows: int, complete: bool) -> int:
        module = parsed(chunk_text(rows, complete))
        profile = cProfile.Profile()
        profile.runcall(FusePass().apply, Context(), module)
        assert any(is_fused(op, FusionClass.MOE_TOKEN_SORT) for op in module.walk()) == complete
        return sum(entry.callcount for entry in profile.getstats())

    for complete in (True, False):
        assert calls(200, complete) < 4.05 * calls(50, complete)


def chunk_text(rows: int, complete: bool) -> str:
    """A chunk's mixtures row by row; the second row's is set elsewhere where it is not complete."""
    chunk, row = f"tensor<{rows}x64xf32>", "tensor<1x64xf32>"
    kinds = {"%r": "!tgraph.rows<bf16, 4x64, transposed>", "%w": "!tgraph.rows<bf16, 128x64, transposed>"}
    kinds |= {"%d": "!tgraph.rows<bf16, 256x32, transposed>"}
    lines: list[str] = []
    for k in range(rows):
        at = k if complete or k != 1 else 0
        lines += [
            f"%x{k} = tgraph.view %x offset {64 * k} : {chunk} -> {row}",
            f"%y{k} = tgraph.moe softmax silu %x{k}, %r, %w, %w, %d experts 4 top_k 2 hidden 32 "
            f": {row}, {kinds['%r']}, {kinds['%w']}, {kinds['%w']}, {kinds['%d']} -> {row}",
            f"%t{k} = tgraph.set_row {f'%t{k - 1}' if k else '%x'}, %y{k} row {at} : ({chunk}, {row}) -> {chunk}",
        ]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in {"%x": chunk, **kinds}.items())
    return "\n".join(
        [f"func.func @step({arguments}) -> {chunk} {{", *lines, f"func.return %t{rows - 1} : {chunk}", "}"]
    )
