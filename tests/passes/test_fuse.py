"""What fuse makes of whole decoding steps, and what it costs."""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from time import process_time

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.dialects.tgraph import ConstantOp, FusedOp, FusionClass, LiftedOp
from lanelink.dialects.tgraph.fused import leaves
from lanelink.dialects.tgraph.step import step_function, verify_dominance
from lanelink.passes.fuse import FusePass
from lanelink.passes.fuse.table import WALKS
from lanelink.passes.number_ops import NumberOpsPass
from lanelink.passes.quantize_activations import QuantizeActivationsPass
from lanelink.universe import LANELINK_UNIVERSE

ARCHITECTURES = {
    "qwen3": {"head_norms": True, "biases": False},
    "qwen2": {"head_norms": False, "biases": True},
    "llama": {"head_norms": False, "biases": False},
}


def recognize(module: ModuleOp) -> ModuleOp:
    """The module after quantize-activations, number-ops and fuse, verified."""
    for each in (QuantizeActivationsPass(), NumberOpsPass(), FusePass()):
        each.apply(Context(), module)
    module.verify()
    verify_dominance(module)
    return module


def classes(module: ModuleOp) -> list[str]:
    """What runs in the step, in order: a fused op's class, or a lifted op's name."""
    ops = step_function(module).body.block.ops
    return [
        op.fusion_class.data.value if isinstance(op, FusedOp) else op.name
        for op in ops
        if isinstance(op, FusedOp | LiftedOp)
    ]


@pytest.mark.parametrize("numerics", Numerics)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("layers", [1, 3])
def test_five_ops_a_layer_and_three(
    decoder: Callable[..., ModuleOp], architecture: str, numerics: Numerics, layers: int
) -> None:
    module = recognize(decoder(numerics, layers=layers, **ARCHITECTURES[architecture]))
    quantized = numerics is not Numerics.DEQUANT
    layer = [
        "merged_qkv",
        "attn_output_quant" if quantized else "tgraph.attention",
        "gemv_norm_epilogue",
        "glu_act_mul_quant" if quantized else "gemv_gate_up_glu",
        "gemv_norm_epilogue",
    ]
    assert classes(module) == ["embed_norm", *layer * layers, "tgraph.matmul", "fused_sampling"]


def test_half_precision_rows_are_as_under_dequant(decoder: Callable[..., ModuleOp]) -> None:
    plain = recognize(decoder(Numerics.DEQUANT, format=Format.BF16))
    assert classes(recognize(decoder(Numerics.INT8, format=Format.BF16))) == classes(plain)


def test_a_chunk_of_rows_chooses_and_advances_apart(decoder: Callable[..., ModuleOp]) -> None:
    one, chunk = (classes(recognize(decoder(rows=rows))) for rows in (1, 3))
    assert chunk == [*one[:-1], "tgraph.arg_max", "tgraph.advance"]


def test_every_lifted_op_is_kept_once_with_its_number_and_location(decoder: Callable[..., ModuleOp]) -> None:
    module = decoder(Numerics.INT8)
    QuantizeActivationsPass().apply(Context(), module)
    NumberOpsPass().apply(Context(), module)
    lifted = [op for op in module.walk() if isinstance(op, LiftedOp)]
    for line, op in enumerate(lifted):
        op.location = FileLineColLoc(StringAttr("step.mlir"), IntAttr(line), IntAttr(1))
    before = [(op, op.name, op.number, op.location, dict(op.properties)) for op in lifted]
    FusePass().apply(Context(), module)
    after = [leaf for op in step_function(module).body.block.ops for leaf in leaves(op)]
    assert sorted(map(id, after)) == sorted(map(id, lifted))
    assert [(op, op.name, op.number, op.location, dict(op.properties)) for op in lifted] == before
    fused = [op for op in module.walk() if isinstance(op, FusedOp)]
    assert all(isinstance(op.location, FileLineColLoc) for op in fused)


def test_constants_come_first_in_their_order(decoder: Callable[..., ModuleOp]) -> None:
    module = decoder()
    before = [op for op in module.walk() if isinstance(op, ConstantOp)]
    FusePass().apply(Context(), module)
    ops = list(step_function(module).body.block.ops)
    assert ops[: len(before)] == before


def test_a_second_run_changes_nothing(decoder: Callable[..., ModuleOp]) -> None:
    module = recognize(decoder(Numerics.TWO_PASS_INT8, biases=True))
    text = str(module)
    FusePass().apply(Context(), module)
    assert str(module) == text


def test_the_text_of_a_fused_step_reads_back(decoder: Callable[..., ModuleOp]) -> None:
    module = recognize(decoder(Numerics.INT8))
    context = Context()
    for dialect in (Builtin, Func, *(get() for get in LANELINK_UNIVERSE.all_dialects.values())):
        context.load_dialect(dialect)
    again = Parser(context, str(module)).parse_module()
    assert again.is_structurally_equivalent(module)
    assert str(again) == str(module)


def test_every_class_is_looked_for_once() -> None:
    looked_for = [pattern.fusion_class for walk in WALKS for pattern in walk]
    assert sorted(looked_for) == sorted(FusionClass)


def calls(module: ModuleOp) -> int:
    """How many calls fusing a module takes: a count of the ops, operands and uses it visits that no clock disturbs."""
    profile = cProfile.Profile()
    profile.runcall(FusePass().apply, Context(), module)
    return sum(entry.callcount for entry in profile.getstats())


def test_cost_is_linear_in_layers(decoder: Callable[..., ModuleOp]) -> None:
    few, many = (calls(decoder(Numerics.INT8, layers=layers)) for layers in (10, 40))
    assert many < 4.05 * few


def test_an_eight_billion_parameter_shape_fuses_within_a_second(decoder: Callable[..., ModuleOp]) -> None:
    module = decoder(
        Numerics.INT8, layers=36, hidden=4096, heads=32, kv_heads=8, head_dim=128, inner=12288, vocabulary=151936
    )
    QuantizeActivationsPass().apply(Context(), module)
    start = process_time()
    FusePass().apply(Context(), module)
    assert process_time() - start < 1
    assert len(classes(module)) == 5 * 36 + 3
