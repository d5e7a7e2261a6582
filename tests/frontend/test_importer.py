"""The step function of each family: its ops in order, the tensors it names, and what it refuses."""

from __future__ import annotations

import json
import time
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, NameLoc
from xdsl.dialects.func import Func, ReturnOp
from xdsl.parser import Parser
from xdsl.printer import Printer

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics, module_target
from lanelink.dialects.tgraph import (
    AttentionOp,
    CheckpointAttr,
    ConstantOp,
    FusedRowOp,
    LiftedOp,
    MatmulOp,
    RopeOp,
    RopeTableAttr,
    RowsType,
)
from lanelink.dialects.tgraph.step import step_function, step_io, verify_dominance
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.importer import import_checkpoint
from lanelink.frontend.rope import DefaultRope, inverse_frequencies
from lanelink.universe import LANELINK_UNIVERSE

MODELS = Path(__file__).parents[1] / "models"
FAMILIES = ("llama", "qwen2", "qwen3")

SHAPE: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": 40,
    "max_position_embeddings": 128,
    "dtype": "float16",
}


def write_config(path: Path, family: str, **keys: object) -> Path:
    (path / "config.json").write_text(json.dumps({"model_type": family, **SHAPE, **keys}))
    return path


def tensors(family: str, *, tied: bool) -> dict[str, tuple[int, ...]]:
    """Names and shapes of SHAPE's tensors, from transformers' modules."""
    found: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (40, 64), "model.norm.weight": (64,)}
    for layer in range(2):
        at = f"model.layers.{layer}"
        found |= {f"{at}.self_attn.{p}_proj.weight": (n, 64) for p, n in (("q", 32), ("k", 16), ("v", 16))}
        found |= {f"{at}.self_attn.o_proj.weight": (64, 32)}
        found |= {f"{at}.mlp.{p}_proj.weight": (96, 64) for p in ("gate", "up")}
        found |= {f"{at}.mlp.down_proj.weight": (64, 96)}
        found |= {f"{at}.{p}_layernorm.weight": (64,) for p in ("input", "post_attention")}
        if family == "qwen2":
            found |= {f"{at}.self_attn.{p}_proj.bias": (n,) for p, n in (("q", 32), ("k", 16), ("v", 16))}
        if family == "qwen3":
            found |= {f"{at}.self_attn.{p}_norm.weight": (8,) for p in ("q", "k")}
    return found if tied else found | {"lm_head.weight": (40, 64)}


def write_checkpoint(
    path: Path, family: str, *, tied: bool = False, change: dict[str, tuple[int, ...] | None] | None = None
) -> Path:
    """A checkpoint of SHAPE in f16; `change` gives tensors another shape, or none to leave them out."""
    shapes = {**tensors(family, tied=tied), **(change or {})}
    arrays = {name: np.full(shape, 0.5, np.float16) for name, shape in shapes.items() if shape is not None}
    safetensors.numpy.save_file(arrays, path / "model.safetensors")
    return write_config(path, family, tie_word_embeddings=tied)


def lifted(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("tgraph.") for op in step_function(module).body.block.ops if isinstance(op, LiftedOp)]


def named(module: ModuleOp) -> list[str]:
    """The checkpoint's tensors that the step names, in order."""
    constants = [op for op in module.walk() if isinstance(op, ConstantOp)]
    return [op.source.tensor.data for op in constants if isinstance(op.source, CheckpointAttr)]


def text(module: ModuleOp) -> str:
    out = StringIO()
    Printer(out).print_op(module)
    return out.getvalue()


ATTENTION = ["rope", "rope", "set_row", "set_row", "attention", "matmul", "elementwise"]
MLP = ["fused_row", "matmul", "matmul", "swiglu", "matmul", "elementwise"]
LAYER = {
    "llama": ["fused_row", "matmul", "matmul", "matmul", *ATTENTION, *MLP],
    "qwen2": ["fused_row", *(["matmul", "elementwise"] * 3), *ATTENTION, *MLP],
    "qwen3": ["fused_row", "matmul", "matmul", "matmul", "fused_row", "fused_row", *ATTENTION, *MLP],
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rows", [1, 5])
def test_ops_in_order(family: str, rows: int):
    module = import_checkpoint(MODELS / family, context=64, rows=rows)
    gather = "row_gather" if rows == 1 else "rows_gather"
    assert lifted(module) == [gather, *LAYER[family] * 2, "fused_row", "matmul", "arg_max", "advance"]
    verify_dominance(module)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tied", [False, True])
def test_every_tensor_is_named_once(tmp_path: Path, family: str, tied: bool):
    found = named(import_checkpoint(write_checkpoint(tmp_path, family, tied=tied)))
    expected = list(tensors(family, tied=tied))
    assert sorted(found) == sorted(expected + ["model.embed_tokens.weight"] * tied)


def test_step_interface():
    func = step_function(import_checkpoint(MODELS / "qwen3", context=64))
    io = step_io(func)
    assert (io.token, io.position, io.logits) == (0, 1, 6)
    assert io.states == {2: "layers.0.keys", 3: "layers.0.values", 4: "layers.1.keys", 5: "layers.1.values"}
    assert io.carries == {n: n for n in range(6)}
    outputs = [str(t) for t in func.function_type.outputs.data]
    assert outputs == [*["tensor<1xi32>"] * 2, *["tensor<64x64xf32>"] * 4, "tensor<1x256xf32>"]


def test_rows_of_one_sequence():
    module = import_checkpoint(MODELS / "qwen3", context=64, rows=5)
    func = step_function(module)
    io = step_io(func)
    assert io.carries == {n: n for n in range(1, 6)}, "the choices are no next step's tokens"
    outputs = [str(t) for t in func.function_type.outputs.data]
    assert (outputs[0], outputs[1], outputs[-1]) == ("tensor<5xi32>", "tensor<1xi32>", "tensor<5x256xf32>")
    assert "tgraph.advance %position by 5" in text(module)


def test_text_round_trip():
    module = import_checkpoint(MODELS / "qwen2", context=64)
    context = Context()
    for dialect in (Builtin, Func):
        context.load_dialect(dialect)
    for name, dialect in LANELINK_UNIVERSE.all_dialects.items():
        context.register_dialect(name, dialect)
    parsed = Parser(context, text(module)).parse_module()
    parsed.verify()
    assert text(parsed) == text(module)


def test_locations_are_the_models_parts():
    module = import_checkpoint(MODELS / "qwen3", context=64)
    found = [op.location for op in step_function(module).body.block.ops if isinstance(op, LiftedOp | ConstantOp)]
    names = [loc.desc.data for loc in found if isinstance(loc, NameLoc)]
    assert len(names) == len(found)
    matmuls = [op.location for op in module.walk() if isinstance(op, MatmulOp)]
    assert [loc.desc.data for loc in matmuls if isinstance(loc, NameLoc)] == [
        *(
            f"model.layers.{layer}.{part}_proj"
            for layer in range(2)
            for part in ("self_attn.q", "self_attn.k", "self_attn.v", "self_attn.o", "mlp.gate", "mlp.up", "mlp.down")
        ),
        "model.embed_tokens",
    ]


def test_attention_and_rotation(tmp_path: Path):
    keys = {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1, "rope_theta": 5e5}
    module = import_checkpoint(write_config(tmp_path, "qwen3", **keys), context=32, no_weights=True)
    first, second = (op for op in module.walk() if isinstance(op, AttentionOp))
    assert first.window is None and second.window is not None and second.window.value.data == 16
    for op in (first, second):
        assert (op.heads.value.data, op.kv_heads.value.data, op.head_dim.value.data) == (4, 2, 8)
        assert op.effective_scale == 8**-0.5
    q, k, *_ = (op for op in module.walk() if isinstance(op, RopeOp))
    assert (q.heads.value.data, k.heads.value.data) == (4, 2)
    table = q.cos.owner
    assert isinstance(table, ConstantOp) and isinstance(table.source, RopeTableAttr)
    assert list(table.source.values) == inverse_frequencies(DefaultRope(5e5), 8).tolist()
    assert str(table.result.type) == "tensor<32x4xf32>"


def test_rope_format():
    """bf16 keeps the upper half of an f32's bits."""
    plain, cast = (
        next(op.source for op in module.walk() if isinstance(op, ConstantOp) and isinstance(op.source, RopeTableAttr))
        for module in (
            import_checkpoint(MODELS / "llama", context=64, rope_format=format) for format in (Format.F32, Format.BF16)
        )
    )
    assert plain.values != cast.values
    np.testing.assert_allclose(cast.values, plain.values, rtol=2**-8)
    assert not np.any(np.array(cast.values, np.float32).view(np.uint32) & 0xFFFF)


def test_norms_read_eps(tmp_path: Path):
    module = import_checkpoint(write_config(tmp_path, "qwen3", rms_norm_eps=1e-5), no_weights=True)
    norms = [op for op in module.walk() if isinstance(op, FusedRowOp)]
    assert [op.cols.value.data for op in norms] == [64, 8, 8, 64] * 2 + [64]
    assert {op.eps.value.data for op in norms if op.eps is not None} == {float(np.float32(1e-5))}


def test_biases_of_llama(tmp_path: Path):
    module = import_checkpoint(write_config(tmp_path, "llama", attention_bias=True, mlp_bias=True), no_weights=True)
    biases = [name for name in named(module) if name.endswith("bias") and name.startswith("model.layers.0.")]
    parts = ["self_attn.q", "self_attn.k", "self_attn.v", "self_attn.o", "mlp.gate", "mlp.up", "mlp.down"]
    assert biases == [f"model.layers.0.{part}_proj.bias" for part in parts]


@pytest.mark.parametrize(("name", "kind"), [("gelu", "exact"), ("gelu_pytorch_tanh", "tanh")])
def test_gelu(tmp_path: Path, name: str, kind: str):
    module = import_checkpoint(write_config(tmp_path, "llama", hidden_act=name), no_weights=True)
    assert lifted(module).count("gelu") == 2 and "swiglu" not in lifted(module)
    assert f"tgraph.gelu {kind} %gate : tensor<1x96xf32>" in text(module)
    assert "tgraph.elementwise mul %gelu, %up" in text(module)


def matrices(module: ModuleOp) -> set[tuple[str, bool]]:
    kinds = [op.result.type for op in module.walk() if isinstance(op, ConstantOp)]
    return {(kind.format.data.value, kind.is_transposed) for kind in kinds if isinstance(kind, RowsType)}


def test_formats_and_numerics(tmp_path: Path):
    stored = import_checkpoint(write_checkpoint(tmp_path, "llama"))
    assert matrices(stored) == {("f16", False), ("f16", True)}
    assert module_target(stored).numerics.data is Numerics.DEQUANT
    quantized = import_checkpoint(tmp_path, quantize=Format.Q8_0)
    assert matrices(quantized) == {("q8_0", False), ("q8_0", True)}
    assert module_target(quantized).numerics.data is Numerics.INT8
    asked = import_checkpoint(tmp_path, quantize=Format.Q8_0, numerics=Numerics.TWO_PASS_INT8, target="a100")
    assert module_target(asked).numerics.data is Numerics.TWO_PASS_INT8
    assert module_target(asked).chip.data == "a100"


def test_rows_that_are_not_whole_blocks_stay_as_stored(tmp_path: Path):
    module = import_checkpoint(
        write_config(tmp_path, "llama", intermediate_size=100), no_weights=True, quantize=Format.Q8_0
    )
    found = {
        op.source.tensor.data: op.result.type.format.data
        for op in module.walk()
        if isinstance(op, ConstantOp) and isinstance(op.source, CheckpointAttr) and isinstance(op.result.type, RowsType)
    }
    assert found["model.layers.0.mlp.gate_proj.weight"] is Format.Q8_0
    assert found["model.layers.0.mlp.down_proj.weight"] is Format.F16


def test_without_weights_is_the_same_step(tmp_path: Path):
    for family in FAMILIES:
        path = write_checkpoint(tmp_path, family)
        assert text(import_checkpoint(path)) == text(import_checkpoint(path / "config.json", no_weights=True))


def test_tied_with_a_head_present(tmp_path: Path):
    path = write_checkpoint(tmp_path, "qwen3", tied=True, change={"lm_head.weight": (40, 64)})
    assert "lm_head.weight" not in named(import_checkpoint(path))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"lm_head.weight": None}, r"expected a tensor 'lm_head\.weight', got none of that name among"),
        ({"model.norm.weight": None}, r"expected a tensor 'model\.norm\.weight'"),
        ({"model.layers.1.self_attn.k_norm.weight": None}, r"expected a tensor 'model\.layers\.1\.self_attn\.k_norm"),
        (
            {"model.layers.1.self_attn.v_proj.weight": (32, 64)},
            r"v_proj\.weight': expected shape \[16, 64\], got \[32, 64\]",
        ),
        ({"model.layers.0.mlp.down_proj.weight": (96, 64)}, r"expected shape \[64, 96\], got \[96, 64\]"),
        ({"model.embed_tokens.weight": (41, 64)}, r"embed_tokens\.weight': expected shape \[40, 64\], got \[41, 64\]"),
        ({"model.norm.weight": (64, 1)}, r"norm\.weight': expected shape \[64\], got \[64, 1\]"),
    ],
)
def test_checkpoint_that_does_not_fit(tmp_path: Path, change: dict[str, tuple[int, ...] | None], expected: str):
    with pytest.raises(CheckpointError, match=expected):
        import_checkpoint(write_checkpoint(tmp_path, "qwen3", change=change))


def test_missing_bias(tmp_path: Path):
    path = write_checkpoint(tmp_path, "qwen2", change={"model.layers.0.self_attn.q_proj.bias": None})
    with pytest.raises(CheckpointError, match=r"expected a tensor 'model\.layers\.0\.self_attn\.q_proj\.bias'"):
        import_checkpoint(path)


def test_weights_in_a_type_not_read(tmp_path: Path):
    path = write_checkpoint(tmp_path, "llama", change={"model.norm.weight": None})
    arrays = safetensors.numpy.load_file(path / "model.safetensors")
    safetensors.numpy.save_file({**arrays, "model.norm.weight": np.ones(64)}, path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"tensor 'model\.norm\.weight': expected one of f32, .*, got F64"):
        import_checkpoint(path)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"context": 129}, "context: expected 1 to 128, the positions its model was made for, got 129"),
        ({"context": 0}, "context: expected 1 to 128"),
        ({"rows": 0}, "rows: expected 1 to 128, the context, got 0"),
        ({"context": 8, "rows": 9}, "rows: expected 1 to 8, the context, got 9"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: dict[str, Any], expected: str):
    with pytest.raises(CheckpointError, match=expected):
        import_checkpoint(write_config(tmp_path, "llama"), no_weights=True, **options)


def test_other_values_that_do_not_fit(tmp_path: Path):
    path = write_config(tmp_path, "llama")
    with pytest.raises(ValueError, match=r"target: expected one of h200, .*, got 'h9000'"):
        import_checkpoint(path, no_weights=True, target="h9000")
    with pytest.raises(ValueError, match="expected frequencies as f32, f16 or bf16, got q8_0"):
        import_checkpoint(path, no_weights=True, rope_format=Format.Q8_0)


def test_default_context(tmp_path: Path):
    def context(**keys: object) -> str:
        module = import_checkpoint(write_config(tmp_path, "llama", **keys), no_weights=True)
        return str(step_function(module).function_type.inputs.data[2])

    assert context() == "tensor<128x16xf32>"
    assert context(max_position_embeddings=40960) == "tensor<4096x16xf32>"


def test_time_grows_with_layers(tmp_path: Path):
    """The shape of an 8-billion-parameter model, and the same with twice the layers."""

    def seconds(layers: int) -> float:
        path = write_config(tmp_path, "qwen3", hidden_size=4096, head_dim=128, num_hidden_layers=layers)
        begin = time.process_time()
        module = import_checkpoint(path, no_weights=True, quantize=Format.Q8_0)
        assert sum(isinstance(op, ReturnOp) for op in module.walk()) == 1
        return time.process_time() - begin

    seconds(2)
    once, twice = (min(seconds(layers) for _ in range(3)) for layers in (36, 72))
    assert once < 2
    assert twice < 3 * once, "linear, with room for a busy machine: the processor's time, others may run beside"
