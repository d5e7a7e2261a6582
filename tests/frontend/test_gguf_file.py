"""GGUF files as models: every type of tensor, shards, metadata, and the layouts that are the format's own."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize
from gguf_blocks import random_blocks
from gguf_files import Pair, Tensor, array, f32, flag, i32, of_blocks, of_floats, pack, string, u16, u32

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.gguf_config import read_gguf_config
from lanelink.frontend.gguf_file import is_gguf, open_gguf
from lanelink.frontend.importer import import_checkpoint, open_checkpoint
from lanelink.frontend.rope import DividedRope, LinearRope, Llama3Rope, YarnRope, inverse_frequencies
from lanelink.frontend.shapes import Attention
from lanelink.lowering.interpreters.reference import StepInterpreter, zero_inputs
from lanelink.lowering.weights import resolve

Kind = GGMLQuantizationType
Array = npt.NDArray[Any]

HIDDEN, INNER, VOCABULARY, HEAD = 256, 512, 40, 64

PAIRS: list[Pair] = [
    ("general.architecture", string("qwen3")),
    ("qwen3.block_count", u32(1)),
    ("qwen3.context_length", u32(64)),
    ("qwen3.embedding_length", u32(HIDDEN)),
    ("qwen3.feed_forward_length", u32(INNER)),
    ("qwen3.attention.head_count", u32(4)),
    ("qwen3.attention.head_count_kv", u32(2)),
    ("qwen3.attention.key_length", u32(HEAD)),
    ("qwen3.attention.value_length", u32(HEAD)),
    ("qwen3.attention.layer_norm_rms_epsilon", f32(1e-6)),
]

MATRICES = {
    "token_embd": (VOCABULARY, HIDDEN),
    "blk.0.attn_q": (4 * HEAD, HIDDEN),
    "blk.0.attn_k": (2 * HEAD, HIDDEN),
    "blk.0.attn_v": (2 * HEAD, HIDDEN),
    "blk.0.attn_output": (HIDDEN, 4 * HEAD),
    "blk.0.ffn_gate": (INNER, HIDDEN),
    "blk.0.ffn_up": (INNER, HIDDEN),
    "blk.0.ffn_down": (HIDDEN, INNER),
}
NORMS = {"output_norm": HIDDEN, "blk.0.attn_norm": HIDDEN, "blk.0.ffn_norm": HIDDEN, "blk.0.attn_q_norm": HEAD}
NORMS |= {"blk.0.attn_k_norm": HEAD}


def with_pairs(changes: dict[str, bytes | None], pairs: Sequence[Pair] = PAIRS) -> list[Pair]:
    """PAIRS with other values, with more, and without those that are none."""
    held = {str(key): value for key, value in pairs} | {k: v for k, v in changes.items() if v is not None}
    return [(key, value) for key, value in held.items() if changes.get(key, b"") is not None]


def norms() -> list[Tensor]:
    rng = np.random.default_rng(1)
    return [of_floats(f"{name}.weight", 1 + rng.standard_normal(n) / 8) for name, n in NORMS.items()]


def model_tensors(kind: GGMLQuantizationType) -> list[Tensor]:
    """A model of one layer, every matrix of one type."""
    blocks = [
        of_blocks(f"{name}.weight", kind, shape, random_blocks(kind, *shape, seed=k))
        for k, (name, shape) in enumerate(MATRICES.items())
    ]
    return blocks + norms()


def write(path: Path, pairs: Sequence[Pair], tensors: Sequence[Tensor]) -> Path:
    path.write_bytes(pack(pairs, tensors))
    return path


STORED = {
    Kind.F32: Format.F32,
    Kind.F16: Format.F16,
    Kind.BF16: Format.BF16,
    Kind.Q8_0: Format.Q8_0,
    Kind.Q4_0: Format.Q4_0,
    Kind.Q4_K: Format.Q4_K,
    Kind.Q5_K: Format.Q5_K,
    Kind.Q6_K: Format.Q6_K,
    Kind.MXFP4: Format.MXFP4,
}
DEQUANTIZED = [
    *(Kind.Q4_1, Kind.Q5_0, Kind.Q5_1, Kind.Q2_K, Kind.Q3_K, Kind.TQ1_0, Kind.TQ2_0, Kind.IQ4_NL, Kind.IQ4_XS),
    *(Kind.IQ1_S, Kind.IQ1_M, Kind.IQ2_XXS, Kind.IQ2_XS, Kind.IQ2_S, Kind.IQ3_XXS, Kind.IQ3_S),
]


def by_package(kind: GGMLQuantizationType, name: str) -> Array:
    """A matrix's values by the gguf package, f32; f16's nearest for types without kernels."""
    shape = MATRICES[name]
    data = random_blocks(kind, *shape, seed=list(MATRICES).index(name))
    values = dequantize(np.frombuffer(data, np.uint8).reshape(shape[0], -1), kind).astype(np.float32).reshape(shape)
    return values if kind in STORED else values.astype(np.float16).astype(np.float32)


def run(path: Path, **options: Any) -> list[Array]:
    module = import_checkpoint(path, context=32, rows=5, **options)
    step = StepInterpreter(module, resolve(module, open_checkpoint(path)))
    return step.run([np.array([3, 1, 4, 1, 5], np.int32), *zero_inputs(step.func)[1:]])


@pytest.mark.parametrize("kind", [*STORED, *DEQUANTIZED], ids=lambda kind: kind.name)
def test_every_type(tmp_path: Path, kind: GGMLQuantizationType):
    """A model of random blocks gives what the same model gives over the gguf package's values in f32, bit for bit."""
    path = write(tmp_path / "m.gguf", PAIRS, model_tensors(kind))
    format = STORED.get(kind, Format.F16)
    checkpoint = open_gguf(path).checkpoint
    assert {checkpoint.tensor(f"{name}.weight", shape).format for name, shape in MATRICES.items()} == {format}
    plain = [of_floats(f"{name}.weight", by_package(kind, name)) for name in MATRICES]
    expected = run(write(tmp_path / "f32.gguf", PAIRS, plain + norms()))
    found = run(path, numerics=Numerics.DEQUANT)
    assert np.ptp(found[-1]) > 0.1, "logits that are all alike would hide anything"
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_dequantized_a_few_rows_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(tmp_path / "m.gguf", PAIRS, model_tensors(Kind.Q5_0))
    monkeypatch.setattr("lanelink.frontend.gguf_file._CHUNK_VALUES", 3 * HIDDEN)
    found = open_gguf(path).checkpoint.tensor("token_embd.weight").raw().view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(found, by_package(Kind.Q5_0, "token_embd").reshape(-1))


def test_values_past_f16(tmp_path: Path):
    blocks = np.frombuffer(random_blocks(Kind.Q5_0, 1, 32), np.uint8).copy()
    blocks[:2] = np.array([60000], np.float16).view(np.uint8)
    path = write(tmp_path / "m.gguf", PAIRS, [of_blocks("t", Kind.Q5_0, (1, 32), blocks.tobytes())])
    with pytest.raises(CheckpointError, match="tensor 't': expected Q5_0 values that f16 holds, got some past it"):
        open_gguf(path).checkpoint.tensor("t").raw()


@pytest.mark.parametrize("kind", [Kind.I32, Kind.F64, Kind.Q8_1, Kind.Q8_K], ids=lambda kind: kind.name)
def test_types_that_are_no_weights(tmp_path: Path, kind: GGMLQuantizationType):
    """They are an error only for who asks for one."""
    tensor = of_blocks("t", kind, (1, 256), random_blocks(kind, 1, 256))
    checkpoint = open_gguf(write(tmp_path / "m.gguf", PAIRS, [tensor, *norms()])).checkpoint
    assert checkpoint.tensor("output_norm.weight").shape == (HIDDEN,)
    with pytest.raises(CheckpointError, match=rf"tensor 't': expected one of f32, .*, got {kind.name}"):
        checkpoint.tensor("t")


# Shards


def shard_pairs(number: int, count: int, total: int) -> list[Pair]:
    return [("split.no", u16(number)), ("split.count", u16(count)), ("split.tensors.count", i32(total))]


def write_shards(
    path: Path, *, changes: dict[int, list[Pair]] | None = None, tensors: list[list[Tensor]] | None = None
) -> list[Path]:
    """The model in three files; `changes` are other pairs of a shard, `tensors` another distribution."""
    every = model_tensors(Kind.Q8_0)
    parts = tensors or [every[:3], every[3:9], every[9:]]
    paths: list[Path] = []
    for number, part in enumerate(parts):
        own = (changes or {}).get(number, shard_pairs(number, 3, len(every)))
        paths.append(write(path / f"m-{number + 1:05}-of-00003.gguf", own + (PAIRS if number == 0 else []), part))
    return paths


def test_shards(tmp_path: Path):
    """Any of them names the model, which gives what the whole file gives."""
    expected = run(write(tmp_path / "whole.gguf", PAIRS, model_tensors(Kind.Q8_0)))
    for path in write_shards(tmp_path):
        for ours, theirs in zip(run(path), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("count", [0, 1])
def test_shards_that_were_merged(tmp_path: Path, count: int):
    """The format's own tool leaves the keys of the first shard in a file of all tensors, and no count."""
    pairs = [*PAIRS, *shard_pairs(0, count, 13)]
    path = write(tmp_path / "m.gguf", pairs, model_tensors(Kind.Q8_0))
    assert len(open_gguf(path).checkpoint.tensors) == 13


def test_a_shard_that_is_missing(tmp_path: Path):
    first, second, _ = write_shards(tmp_path)
    second.unlink()
    with pytest.raises(CheckpointError, match=r"m-00002-of-00003\.gguf: expected a file, got: No such file"):
        open_gguf(first)


def test_a_shard_that_is_cut_short(tmp_path: Path):
    first, second, _ = write_shards(tmp_path)
    second.write_bytes(second.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=r"m-00002-of-00003\.gguf: tensor .*: it is cut short"):
        open_gguf(first)


def test_a_shard_by_another_name(tmp_path: Path):
    first, *_ = write_shards(tmp_path)
    for name in ("m.gguf", "m-00001-of-00004.gguf", "m-1-of-3.gguf"):
        other = first.rename(tmp_path / name)
        with pytest.raises(CheckpointError, match=rf"expected a file named \.\.\.-00001-of-00003\.gguf.* got '{name}'"):
            open_gguf(other)
        first = other


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({1: shard_pairs(2, 3, 13)}, r"m-00002.*: split.no: expected 1, as the file's name says, got 2"),
        ({2: shard_pairs(2, 4, 13)}, r"m-00003.*: split.count: expected 3, as the file's name says, got 4"),
        ({2: []}, r"m-00003.*: split.no: expected an integer from 0 .*, got no such key"),
        ({0: shard_pairs(0, 3, 12)}, r"m-00001.*: split.tensors.count: expected 13, .*, got 12"),
        ({0: shard_pairs(0, 65535, 13)}, r"split.count: expected an integer from 0 to 4096, got 65535"),
    ],
)
def test_shards_that_say_otherwise(tmp_path: Path, changes: dict[int, list[Pair]], message: str):
    first, *_ = write_shards(tmp_path, changes=changes)
    with pytest.raises(CheckpointError, match=message):
        open_gguf(first)


def test_a_tensor_in_two_shards(tmp_path: Path):
    every = model_tensors(Kind.Q8_0)
    first, *_ = write_shards(tmp_path, tensors=[every[:3], every[2:9], every[9:]])
    with pytest.raises(CheckpointError, match=r"m-00002.*: tensor '.*': expected once, got it in two shards"):
        open_gguf(first)


# Metadata


def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    assert not is_gguf(tmp_path / "pipe")


def test_what_is_gguf(tmp_path: Path):
    path = write(tmp_path / "m.gguf", PAIRS, [])
    unnamed = path.with_name("weights")
    unnamed.write_bytes(path.read_bytes())
    (tmp_path / "config.json").write_text("{}")
    found = [is_gguf(p) for p in (path, unnamed, tmp_path / "config.json", tmp_path, tmp_path / "none")]
    assert found == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"general.architecture": None}, r"general.architecture: expected a string, got no such key"),
        ({"general.architecture": string("mamba")}, r"general.architecture: expected one of llama, .*, got 'mamba'"),
        ({"qwen3.block_count": None}, r"qwen3.block_count: expected an integer from 1 to 1024, got no such key"),
        ({"qwen3.block_count": u32(4096)}, r"qwen3.block_count: expected an integer from 1 to 1024, got 4096"),
        ({"qwen3.block_count": flag(1)}, r"qwen3.block_count: expected an integer from 1 to 1024, got True"),
        (
            {"qwen3.embedding_length": array(4, [bytes(4)])},
            r"qwen3.embedding_length: expected an integer .*, got an array of 1 UINT32",
        ),
        ({"qwen3.attention.head_count": u32(0)}, r"qwen3.attention.head_count: expected an integer from 1"),
        ({"qwen3.attention.head_count_kv": u32(3)}, r"num_key_value_heads: expected a divisor of"),
        ({"qwen3.attention.value_length": u32(32)}, r"qwen3.attention.value_length: expected 64, as of a key, got 32"),
        ({"qwen3.attention.key_length": u32(1 << 30)}, r"qwen3.attention.key_length: expected an integer from 1 to"),
        ({"qwen3.rope.dimension_count": u32(65)}, r"qwen3.rope.dimension_count: expected an integer from 1 to 64"),
        ({"qwen3.rope.dimension_count": u32(32)}, r"partial_rotary_factor: expected 1, the whole of each head rotated"),
        ({"qwen3.rope.freq_base": f32(float("nan"))}, r"qwen3.rope.freq_base: expected a number from 0 .*, got nan"),
        ({"qwen3.rope.scaling.type": string("longrope")}, r"rope.scaling.type: expected none, linear or yarn, got"),
        ({"qwen3.expert_count": u32(8)}, r"qwen3.expert_count: expected none in a dense model, got 8"),
    ],
)
def test_metadata_that_does_not_fit(tmp_path: Path, changes: dict[str, bytes | None], message: str):
    path = write(tmp_path / "m.gguf", with_pairs(changes), model_tensors(Kind.Q8_0))
    with pytest.raises(CheckpointError, match=message) as raised:
        import_checkpoint(path)
    assert str(raised.value).startswith(f"{path}: ")


def test_tensors_of_another_shape(tmp_path: Path):
    tensors = [t for t in model_tensors(Kind.F32) if t.name != "blk.0.attn_k.weight"]
    with pytest.raises(CheckpointError, match=r"expected a tensor 'blk.0.attn_k.weight', got none"):
        import_checkpoint(write(tmp_path / "m.gguf", PAIRS, tensors))
    tensors.append(of_floats("blk.0.attn_k.weight", np.ones((64, 256))))
    with pytest.raises(CheckpointError, match=r"'blk.0.attn_k.weight': expected shape \[128, 256\], got \[64, 256\]"):
        import_checkpoint(write(tmp_path / "m.gguf", PAIRS, tensors))


def rope_of(path: Path) -> Any:
    mixer = read_gguf_config(open_gguf(path)).layers[0].mixer
    assert isinstance(mixer, Attention)
    return mixer.rope


def test_scalings_of_the_rotation(tmp_path: Path):
    def rope(**keys: bytes) -> Any:
        changes: dict[str, bytes | None] = {f"qwen3.rope.{key.replace('__', '.')}": v for key, v in keys.items()}
        return rope_of(write(tmp_path / "m.gguf", with_pairs(changes), model_tensors(Kind.Q8_0)))

    assert rope(scaling__type=string("linear"), scaling__factor=f32(4)) == LinearRope(10000.0, 4.0)
    assert rope(scale_linear=f32(2), freq_base=f32(5000)) == LinearRope(5000.0, 2.0)
    yarn = rope(scaling__type=string("yarn"), scaling__factor=f32(4), scaling__original_context_length=u32(16))
    assert yarn == YarnRope(10000.0, 4.0, 16, 32.0, 1.0, True, 0.1 * np.log(4.0) + 1.0)


LLAMA31 = Llama3Rope(10000.0, 8.0, 1.0, 4.0, 64)


def llama(tensors: list[Tensor], factors: Array | None = None) -> tuple[list[Pair], list[Tensor]]:
    pairs = [(re.sub("^qwen3", "llama", str(key)), value) for key, value in PAIRS]
    pairs = with_pairs({"general.architecture": string("llama")}, pairs)
    kept = [t for t in tensors if "q_norm" not in str(t.name) and "k_norm" not in str(t.name)]
    return pairs, kept if factors is None else [*kept, of_floats("rope_freqs.weight", factors)]


def test_factors_of_a_rotation(tmp_path: Path):
    """Llama 3.1's scaling as what each frequency is divided by, made in f32 as the converter makes it."""
    plain = 10000.0 ** -(np.arange(0, HEAD, 2) / HEAD)
    expected = inverse_frequencies(LLAMA31, HEAD)
    assert not np.allclose(expected, plain)
    factors = (plain / expected).astype(np.float32)
    rope = rope_of(write(tmp_path / "m.gguf", *llama(model_tensors(Kind.Q8_0), factors)))
    assert isinstance(rope, DividedRope)
    # theta^x, the factor and the quotient are rounded once each.
    np.testing.assert_allclose(inverse_frequencies(rope, HEAD), expected, rtol=4e-7)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        (np.ones(31), r"'rope_freqs.weight': expected shape \[32\], got \[31\]"),
        (np.zeros(32), r"'rope_freqs.weight': expected finite factors of at least 1e-6, got 0 among them"),
        (np.full(32, np.nan), r"expected finite factors of at least 1e-6, got nan"),
    ],
)
def test_factors_that_do_not_fit(tmp_path: Path, factors: Array, message: str):
    path = write(tmp_path / "m.gguf", *llama(model_tensors(Kind.Q8_0), factors))
    with pytest.raises(CheckpointError, match=message):
        import_checkpoint(path)


def test_factors_beside_another_scaling(tmp_path: Path):
    pairs, tensors = llama(model_tensors(Kind.Q8_0), np.ones(32))
    pairs += [("llama.rope.scaling.type", string("linear")), ("llama.rope.scaling.factor", f32(2))]
    with pytest.raises(CheckpointError, match=r"'rope_freqs.weight': expected no scaling of the rotation beside it"):
        import_checkpoint(write(tmp_path / "m.gguf", pairs, tensors))


def test_biases_of_permuted_rows(tmp_path: Path):
    """A llama with biases: the converter permutes those of query and key as it does their rows."""
    rng = np.random.default_rng(5)
    pairs, tensors = llama(model_tensors(Kind.F32))
    biases = {name: rng.standard_normal(n) for name, n in (("q", 256), ("k", 128), ("v", 128), ("output", 256))}
    biased = [*tensors, *(of_floats(f"blk.0.attn_{name}.bias", b) for name, b in biases.items())]
    module = import_checkpoint(write(tmp_path / "m.gguf", pairs, biased), context=32)
    constants = resolve(module, open_checkpoint(tmp_path / "m.gguf"))
    found = next(v for (source, _), v in constants.arrays.items() if "attn_k.bias" in str(source))
    stored = biases["k"].astype(np.float32).reshape(2, HEAD // 2, 2)
    np.testing.assert_array_equal(found, stored.transpose(0, 2, 1).reshape(1, -1))


def test_heads_of_any_size_without_a_key(tmp_path: Path):
    """Without key_length a head is hidden size over heads, in every family."""
    changes: dict[str, bytes | None] = {"qwen3.attention.key_length": None, "qwen3.attention.value_length": None}
    path = write(tmp_path / "m.gguf", with_pairs(changes), model_tensors(Kind.Q8_0))
    mixer = read_gguf_config(open_gguf(path)).layers[0].mixer
    assert isinstance(mixer, Attention)
    assert mixer == replace(mixer, head_dim=64, rotated=64)
