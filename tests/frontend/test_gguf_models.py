"""Models as GGUF files of the format's own converter, against their oracles (tests/models/README.md)."""

from __future__ import annotations

import re
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gguf import GGUFReader
from gguf.quants import dequantize
from gguf_convert import convert_deepseek, convert_gemma3
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.dialects.tgraph import CheckpointAttr, RowsType
from lanelink.frontend.importer import import_checkpoint, open_checkpoint
from lanelink.lowering.formats import encode
from lanelink.lowering.interpreters.reference import StepInterpreter, zero_inputs
from lanelink.lowering.weights import StoredRows, constants_of, resolve
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parents[1] / "models"
GGUF = MODELS / "gguf"
FAMILIES = tuple(sorted(path.name.removesuffix("-bf16.gguf") for path in GGUF.glob("*-bf16.gguf")))
QUANTIZED = tuple(sorted(path.name.removesuffix(".peer.npz") for path in GGUF.glob("*.peer.npz")))
CONTEXT = 128

Array = npt.NDArray[Any]


@cache
def arrays(path: Path) -> dict[str, Array]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def step_of(path: Path, rope_format: Format = Format.BF16, **options: Any) -> StepInterpreter:
    module = import_checkpoint(path, context=CONTEXT, rope_format=rope_format, **options)
    module = lower(module, Level.TENSORS)
    return StepInterpreter(module, resolve(module, open_checkpoint(path)))


def prompt_step(path: Path, prompt: Array, **options: Any) -> list[Array]:
    """The results of one step over a whole prompt."""
    step = step_of(path, rows=len(prompt), **options)
    return step.run([prompt.astype(np.int32), *zero_inputs(step.func)[1:]])


def test_the_files_are_there():
    assert FAMILIES == ("gemma2", "gpt_oss", "llama", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen3_next")
    assert QUANTIZED == ("gpt_oss-MXFP4_MOE", "llama-q8_0", "qwen3-mid-Q4_K_M", "qwen3-q8_0")


@pytest.mark.parametrize("p", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_every_token_and_logit(family: str, p: int):
    """The 96 greedy ids, and the logits of the prompt and of the first 32 ids.

    Weights and frequencies are the oracle's, bit for bit, but for a decay's logarithm, so that what is left is the
    order of f32 sums: 2.2e-5 at most.
    """
    path, oracle = GGUF / f"{family}-bf16.gguf", arrays(MODELS / family / "oracle.npz")
    chosen, *after, logits = prompt_step(path, oracle[f"prompt{p}"])
    np.testing.assert_allclose(logits, oracle[f"prompt{p}_logits"], atol=1e-4, rtol=0)
    step, inputs = step_of(path), [chosen[-1:], *after]
    ids, steps = [int(chosen[-1])], [logits[-1]]
    while len(ids) < len(oracle[f"greedy{p}"]):
        *inputs, row = step.run(inputs)
        ids.append(int(inputs[0][0]))
        steps.append(row[0])
    assert ids == oracle[f"greedy{p}"].tolist()
    np.testing.assert_allclose(steps[:32], oracle[f"step{p}_logits"], atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_weights_as_in_the_other_layout(family: str):
    """Constant by constant what the Hugging Face directory gives, in the order the step reads them."""
    found, expected = (
        list(resolve(module, open_checkpoint(path)).arrays.values())
        for path in (GGUF / f"{family}-bf16.gguf", MODELS / family)
        for module in [import_checkpoint(path, context=CONTEXT)]
    )
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        a, b = (side.values if isinstance(side, StoredRows) else side for side in (ours, theirs))
        # log(exp(x)) for a decay's x of a few units: a rounding of either, 2^-23 of it.
        np.testing.assert_allclose(a, b, atol=1e-6 if family == "qwen3_next" else 0, rtol=0)


def shape_of_step(path: Path) -> str:
    """The step's text without where its weights are: their names, their formats, the order they are named in."""
    module = import_checkpoint(path, context=CONTEXT, numerics=Numerics.DEQUANT)
    for op in constants_of(module):
        op.result.name_hint = None
    out = StringIO()
    Printer(out).print_op(module)
    return re.sub(r"#tgraph.checkpoint<[^>]*>", "#", re.sub(r"rows<\w+,", "rows<", out.getvalue()))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_step_as_in_the_other_layout(family: str):
    """Every op, size, eps, scale, window and frequency."""
    assert shape_of_step(GGUF / f"{family}-bf16.gguf") == shape_of_step(MODELS / family)


@cache
def dequantized(path: Path) -> dict[str, Array]:
    """Every tensor in f32, by the gguf package alone."""
    found = {}
    for tensor in GGUFReader(path).tensors:
        shape = tuple(int(size) for size in tensor.shape[::-1])
        found[tensor.name] = np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32).reshape(shape)
    return found


class Dequantized:
    """The package's dequantization as a source of f32 tensors."""

    def __init__(self, path: Path) -> None:
        self._held = dequantized(path)

    def tensor(self, name: str) -> Any:
        values = self._held[name]

        class Held:
            format, shape = Format.F32, values.shape

            def raw(self) -> Array:
                return encode(Format.F32, values.reshape(-1, values.shape[-1])).reshape(-1)

        return Held()


def in_f32(module: ModuleOp) -> ModuleOp:
    """The same step over matrices in f32."""
    for op in constants_of(module):
        kind = op.result.type
        if isinstance(kind, RowsType) and isinstance(op.source, CheckpointAttr):
            plain = RowsType(Format.F32, *kind.shape, transposed=kind.is_transposed)
            Rewriter.replace_value_with_new_type(op.result, plain)
    module.verify()
    return module


@pytest.mark.parametrize("name", QUANTIZED)
def test_blocks_mean_what_the_format_says(name: str):
    """Under dequant the results are, bit for bit, those of the same graph over the gguf package's f32 values."""
    path = GGUF / f"{name}.gguf"
    prompt = arrays(GGUF / f"{name}.peer.npz")["prompt1"]
    found = prompt_step(path, prompt, numerics=Numerics.DEQUANT)
    module = in_f32(import_checkpoint(path, context=CONTEXT, rows=len(prompt), rope_format=Format.BF16))
    step = StepInterpreter(module, resolve(module, Dequantized(path)))
    expected = step.run([prompt.astype(np.int32), *zero_inputs(step.func)[1:]])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", QUANTIZED)
def test_int8_beside_the_peer(name: str):
    """Under int8 our logits lie beside those of llama.cpp, which quantizes activations to blocks of its own (of 256
    under K formats), and turns by frequencies in f32.

    They point the same way at every position, and are not off to one side: over the prompts' 56 positions, neither the
    mean difference nor the ratio's distance from 1 is past three standard errors of its mean.
    """
    peer = arrays(GGUF / f"{name}.peer.npz")
    differences, ratios = list[float](), list[float]()
    for p in range(3):
        prompt, expected = peer[f"prompt{p}"], peer[f"prompt{p}_logits"]
        found = prompt_step(GGUF / f"{name}.gguf", prompt, numerics=Numerics.INT8, rope_format=Format.F32)[-1]
        cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
        assert cosines.min() > 0.995
        differences += (found - expected).mean(1).tolist()
        ratios += ((found * expected).sum(1) / (expected * expected).sum(1) - 1).tolist()
    for values in (np.array(differences), np.array(ratios)):
        assert abs(values.mean()) < 3 * values.std(ddof=1) / np.sqrt(len(values))


CONVERTED = {
    "deepseek_v2": lambda path, out: convert_deepseek(path, out),
    "deepseek_v2, one matrix of keys and values": lambda path, out: convert_deepseek(path, out, apart=False),
    "deepseek_v3": lambda path, out: convert_deepseek(path, out),
    "gemma3_text": lambda path, out: convert_gemma3(path, out, as_flags=True),
    "gemma3_text, windows by their interval": lambda path, out: convert_gemma3(path, out, as_flags=False),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_architectures_without_a_file(tmp_path: Path, name: str):
    """Converted here under the gguf package's own names of keys and tensors: the oracle's logits, as above."""
    family = name.partition(",")[0]
    path = CONVERTED[name](MODELS / family, tmp_path / "m.gguf")
    oracle = arrays(MODELS / family / "oracle.npz")
    for p in range(3):
        logits = prompt_step(path, oracle[f"prompt{p}"])[-1]
        np.testing.assert_allclose(logits, oracle[f"prompt{p}_logits"], atol=1e-4, rtol=0)
