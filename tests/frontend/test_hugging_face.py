"""Directories in Hugging Face's layout: one file or shards under an index, and an index that lies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from numpy.typing import NDArray

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.hugging_face import open_directory
from lanelink.lowering.formats import decode, file_rows

MODELS = Path(__file__).parents[1] / "models"
INDEX = "model.safetensors.index.json"
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


def array(first: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.arange(first, first + 4, dtype=np.float32)


def sharded(path: Path, weight_map: object) -> Path:
    """A directory with tensors a and b in its first shard, c in its second, and an index that says `weight_map`."""
    safetensors.numpy.save_file({"a": array(1), "b": array(2)}, path / FIRST)
    safetensors.numpy.save_file({"c": array(3)}, path / SECOND)
    (path / INDEX).write_text(json.dumps({"metadata": {"total_size": 48}, "weight_map": weight_map}))
    return path


HONEST = {"a": FIRST, "b": FIRST, "c": SECOND}


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3"])
def test_models(name: str):
    checkpoint = open_directory(MODELS / name)
    made = json.loads((MODELS / name / "made.json").read_text(encoding="utf-8"))
    assert sum(int(np.prod(t.shape)) for t in checkpoint.tensors.values()) == made["params"]
    assert {t.format for t in checkpoint.tensors.values()} == {Format.BF16}
    norm = checkpoint.tensor("model.norm.weight", (128,))
    assert norm.raw().shape == (256,)
    values = (norm.raw().view("<u2").astype(np.uint32) << 16).view(np.float32)
    assert np.isfinite(values).all() and 0.1 < values.mean() < 10


def test_shards(tmp_path: Path):
    checkpoint = open_directory(sharded(tmp_path, HONEST))
    assert set(checkpoint.tensors) == {"a", "b", "c"}
    for first, name in enumerate("abc", start=1):
        assert checkpoint.tensor(name).raw().view("<f4").tolist() == array(first).tolist()
    assert checkpoint.tensor("c").path.name == SECOND


def test_shards_that_are_links(tmp_path: Path):
    """The hub's cache lays a snapshot as links out of the directory."""
    (blobs := tmp_path / "blobs").mkdir()
    (snapshot := tmp_path / "snapshot").mkdir()
    sharded(blobs, HONEST)
    for name in (FIRST, SECOND, INDEX):
        (snapshot / name).symlink_to(Path("..") / "blobs" / name)
    assert len(open_directory(snapshot).tensors) == 3


def test_single_file_wins(tmp_path: Path):
    safetensors.numpy.save_file({"single": array(1)}, sharded(tmp_path, HONEST) / "model.safetensors")
    assert set(open_directory(tmp_path).tensors) == {"single"}


@pytest.mark.parametrize(
    "shard",
    [
        *("../model.safetensors", "/etc/model.safetensors", "a/model.safetensors", "..\\model.safetensors"),
        *(
            "C:model.safetensors",
            "..",
            ".",
            "",
            "model.bin",
            "a\0.safetensors",
            "a\n.safetensors",
            "\ud800.safetensors",
        ),
        *(None, 7, [FIRST]),
    ],
)
def test_shard_names_that_leave_the_directory(tmp_path: Path, shard: object):
    safetensors.numpy.save_file({"a": array(1)}, tmp_path / "model.safetensors")
    (inner := tmp_path / "inner").mkdir()
    with pytest.raises(
        CheckpointError, match=r"weight_map: 'a': expected a plain \.safetensors file name, got"
    ) as error:
        open_directory(sharded(inner, {**HONEST, "a": shard}))
    assert len(str(error.value).encode().splitlines()) == 1


@pytest.mark.parametrize(
    ("weight_map", "expected"),
    [
        (HONEST | {"d": "model-00003.safetensors"}, r"model-00003\.safetensors: expected a file, got: No such file"),
        (HONEST | {"d": SECOND}, f"expected tensor 'd' in {SECOND}, got none there"),
        (HONEST | {"a": SECOND}, f"expected tensor 'a' in {SECOND}, got none there"),
        ({}, "weight_map: expected tensor names with file names, got none"),
        (None, "weight_map: expected tensor names with file names, got none"),
        ([FIRST], "weight_map: expected an object, got"),
    ],
)
def test_index_that_lies(tmp_path: Path, weight_map: object, expected: str):
    with pytest.raises(CheckpointError, match=expected):
        open_directory(sharded(tmp_path, weight_map))


def test_tensor_in_two_shards(tmp_path: Path):
    sharded(tmp_path, HONEST)
    safetensors.numpy.save_file({"c": array(3), "a": array(1)}, tmp_path / SECOND)
    with pytest.raises(CheckpointError, match=f"{SECOND}: tensor 'a': expected once, got it in {FIRST} too"):
        open_directory(tmp_path)


def test_truncated_shard(tmp_path: Path):
    shard = sharded(tmp_path, HONEST) / SECOND
    shard.write_bytes(shard.read_bytes()[:-3])
    with pytest.raises(CheckpointError, match=f"{SECOND}: expected .* the file is cut short"):
        open_directory(tmp_path)


NOT_AN_OBJECT = {
    "empty": (b"", "expected a JSON object, got: 'Expecting value"),
    "not_utf8": (b"\xff", "expected a JSON object, got: \"'utf-8' codec"),
    "list": (b"[1]", r"expected a JSON object, got \[1\]"),
    "nested": (b"[" * 100_000, "expected a JSON object, got one nested too deep to read"),
    "key_twice": (b'{"a": {"b": "x", "b": "y"}}', "expected each key once, got 'b' twice"),
    "long_integer": (b'{"a": ' + b"9" * 10_000 + b"}", "expected a JSON object, got: 'Exceeds the limit"),
}


@pytest.mark.parametrize("case", NOT_AN_OBJECT)
def test_index_that_is_not_an_object(tmp_path: Path, case: str):
    text, expected = NOT_AN_OBJECT[case]
    (sharded(tmp_path, HONEST) / INDEX).write_bytes(text)
    with pytest.raises(CheckpointError, match=f"{INDEX}: {expected}") as error:
        open_directory(tmp_path)
    assert len(str(error.value)) < 500


def test_index_too_long(tmp_path: Path):
    with (sharded(tmp_path, HONEST) / INDEX).open("r+b") as file:
        file.truncate(1 << 36)  # sparse
    with pytest.raises(CheckpointError, match="expected at most 16777216 bytes of JSON, got 68719476736"):
        open_directory(tmp_path)


def test_no_checkpoint(tmp_path: Path):
    with pytest.raises(CheckpointError, match=f"expected model.safetensors or {INDEX}, got a directory with neither"):
        open_directory(tmp_path)
    with pytest.raises(CheckpointError, match="expected a checkpoint's directory, got no such directory"):
        open_directory(tmp_path / "absent")
    with pytest.raises(CheckpointError, match="expected a checkpoint's directory, got something else"):
        open_directory(Path(__file__))
    (tmp_path / "model.safetensors").mkdir()
    with pytest.raises(CheckpointError, match=r"model\.safetensors: expected a file, got a directory"):
        open_directory(tmp_path)


def test_asking_for_a_tensor(tmp_path: Path):
    safetensors.numpy.save_file({"a": array(1), "ids": np.arange(3)}, tmp_path / "model.safetensors")
    checkpoint = open_directory(tmp_path)
    assert "a" in checkpoint and "ids" in checkpoint and "b" not in checkpoint
    assert checkpoint.tensor("a", (4,)).shape == (4,)
    with pytest.raises(CheckpointError, match=r"model.safetensors: tensor 'a': expected shape \[2, 2\], got \[4\]"):
        checkpoint.tensor("a", (2, 2))
    with pytest.raises(CheckpointError, match="expected a tensor 'b', got none of that name among 1"):
        checkpoint.tensor("b")
    with pytest.raises(CheckpointError, match=r"tensor 'ids': expected one of f32, f16, bf16.*, got I64"):
        checkpoint.tensor("ids")


def test_mxfp4_of_two_tensors_of_bytes(tmp_path: Path):
    """In two shards; value by value against the format's own table: e2m1 codes times 2^(exponent - 127)."""
    rng = np.random.default_rng(5)
    blocks = rng.integers(0, 256, (2, 3, 2, 16), np.uint8)
    scales = rng.integers(120, 134, (2, 3, 2), np.uint8)
    safetensors.numpy.save_file({"w_blocks": blocks, "a": array(1)}, tmp_path / FIRST)
    safetensors.numpy.save_file({"w_scales": scales}, tmp_path / SECOND)
    places = {"w_blocks": FIRST, "a": FIRST, "w_scales": SECOND}
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": places}))
    found = open_directory(tmp_path).tensor("w", (2, 3, 64))
    assert (found.format, found.path.name) == (Format.MXFP4, FIRST)
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    table = np.array([*values, *(-v for v in values)])
    expected = np.stack([table[blocks & 15], table[blocks >> 4]], -1).reshape(2, 3, 2, 32)
    expected = expected * 2.0 ** (scales.astype(np.float64)[..., None] - 127)
    data = file_rows(found.format, 6, 64, found.raw())
    np.testing.assert_array_equal(decode(found.format, 6, 64, data), expected.reshape(6, 64))


@pytest.mark.parametrize(
    ("blocks", "scales"),
    [
        (np.zeros((2, 2, 15), np.uint8), np.zeros((2, 2), np.uint8)),
        (np.zeros((2, 2, 16), np.uint8), np.zeros((2, 3), np.uint8)),
        (np.zeros((2, 2, 16), np.int8), np.zeros((2, 2), np.uint8)),
        (np.zeros((16,), np.uint8), np.zeros((1,), np.uint8)),
    ],
)
def test_bytes_that_are_no_mxfp4(tmp_path: Path, blocks: NDArray[Any], scales: NDArray[Any]):
    arrays = {"w_blocks": blocks, "w_scales": scales, "v_blocks": np.zeros((1, 16), np.uint8)}
    safetensors.numpy.save_file(arrays, tmp_path / "model.safetensors")
    checkpoint = open_directory(tmp_path)
    for name in ("w", "v"):
        with pytest.raises(CheckpointError, match=f"expected a tensor '{name}', got none of that name"):
            checkpoint.tensor(name)
