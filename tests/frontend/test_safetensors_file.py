"""Safetensors files: the bytes of sound ones, and a clear error for each way of being unsound."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelink.dialects.formats import Format
from lanelink.frontend.checkpoint import CheckpointError, MappedFile, OtherTensor, StoredTensor
from lanelink.frontend.json_file import LARGEST_JSON
from lanelink.frontend.safetensors_file import read_tensors

Header = dict[str, Any]


def entry(shape: list[Any], begin: int, end: int, dtype: str = "F32") -> Header:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def sound() -> Header:
    """Two tensors over 24 bytes."""
    return {"a": entry([2, 2], 0, 16), "b": entry([4], 16, 24, "BF16")}


def pack(header: Header | bytes, data: bytes = bytes(range(24)), length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def read(path: Path) -> list[StoredTensor | OtherTensor]:
    return list(read_tensors(MappedFile.open(path)))


def message(path: Path) -> str:
    """The one-line error of reading `path`, which comes within a second and without the memory the file speaks of."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    with pytest.raises(CheckpointError) as error:
        read(path)
    assert time.process_time() - begin < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 64 << 10, "KiB"
    text = str(error.value)
    assert text.startswith(f"{path}: ") and "expected" in text and "got" in text
    assert len(text.splitlines()) == 1 and len(text) < len(str(path)) + 500
    return text


def edited(change: Callable[[Header], object]) -> bytes:
    header = sound()
    change(header)
    return pack(header)


TWICE = b'{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'

UNSOUND: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "at least 8 bytes, got 0"),
    "no_length": (b"abc", "at least 8 bytes, got 3"),
    "length_wraps": (pack(sound(), length=2**64 - 1), f"got a length of {2**64 - 1}"),
    "length_wraps_signed": (pack(sound(), length=2**63 + 8), f"got a length of {2**63 + 8}"),
    "length_past_end": (pack(sound(), length=10_000), "got a length of 10000"),
    "length_by_one": (pack(b"{}", b"", length=3), "at most 2 bytes (the file has 10), got a length of 3"),
    "length_zero": (pack(b""), "invalid JSON in header"),
    "garbage": (pack(b'{"a":'), "invalid JSON in header"),
    "list": (pack(b"[]"), "expected struct HashMetadata"),
    "not_utf8": (pack(b"\xff{}"), "invalid UTF-8"),
    "nested": (pack(b'{"a":' * 100_000), "invalid JSON in header"),
    "nested_in_ignored_key": (
        pack(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"z":' + b"[" * 100_000, b""),
        "invalid JSON in header",
    ),
    "name_twice": (pack(TWICE, bytes(16)), "expected each key once, got 'a' twice"),
    "name_twice_escaped": (pack(TWICE.replace(b'},"a"', b'},"\\u0061"'), bytes(16)), "got 'a' twice"),
    "field_twice": (
        pack(b'{"a":{"dtype":"F32","dtype":"F32","shape":[4],"data_offsets":[0,16]}}', bytes(16)),
        "duplicate field",
    ),
    "zero_dimension": (pack({"a": entry([0, 4], 0, 0)}, b""), "tensor 'a': expected dimensions of at least 1"),
    "product_wraps": (edited(lambda h: h.update(a=entry([2**32, 2**32], 0, 16))), "overflow"),
    "bytes_wrap": (edited(lambda h: h.update(a=entry([2**62, 4], 0, 16))), "overflow"),
    "dimension_too_large": (edited(lambda h: h.update(a=entry([2**70], 0, 16))), "expected usize"),
    "dimension_negative": (edited(lambda h: h.update(a=entry([-4], 0, 16))), "expected usize"),
    "dimension_float": (edited(lambda h: h.update(a=entry([4.0], 0, 16))), "expected usize"),
    "dimension_bool": (edited(lambda h: h.update(a=entry([True, 4], 0, 16))), "expected usize"),
    "shape_not_size": (edited(lambda h: h.update(a=entry([3], 0, 16))), "got:"),
    "offsets_swapped": (edited(lambda h: h.update(a=entry([4], 16, 0))), "invalid offset for tensor `a`"),
    "offsets_past_end": (edited(lambda h: h.update(b=entry([2**40], 16, 16 + 2**41, "BF16"))), "the file is cut short"),
    "overlap": (edited(lambda h: h.update(b=entry([4], 12, 20, "BF16"))), "invalid offset for tensor `b`"),
    "same_bytes": (edited(lambda h: h.update(b=entry([4], 0, 16))), "invalid offset"),
    "hole": (edited(lambda h: h.update(b=entry([2], 20, 24, "BF16"))), "invalid offset for tensor `b`"),
    "bytes_left_over": (pack(sound(), bytes(25)), "file not fully covered"),
    "type_unknown": (edited(lambda h: h["a"].update(dtype="F99")), "unknown variant `F99`"),
    "type_not_a_string": (edited(lambda h: h["a"].update(dtype=7)), "invalid JSON in header"),
    "no_offsets": (edited(lambda h: h["a"].pop("data_offsets")), "missing field `data_offsets`"),
    "entry_not_an_object": (edited(lambda h: h.update(a=3)), "invalid JSON in header"),
    "metadata_not_strings": (edited(lambda h: h.update(__metadata__={"k": 1})), "expected a string"),
    "name_with_newline": (pack({"x\ny" * 5000: entry([0], 0, 0)}, b""), "characters): expected dimensions"),
    "error_with_newline": (pack({"x\ny": entry([4], 16, 0)}), "invalid offset"),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_unsound_file(tmp_path: Path, case: str):
    path = tmp_path / "model.safetensors"
    data, expected = UNSOUND[case]
    path.write_bytes(data)
    assert expected in message(path)


def test_every_truncation_is_named(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    whole = pack(sound())
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert f"got {size}" in message(path) or f"the file has {size}" in message(path)


def test_truncated_data_says_both_sizes(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    whole = pack(sound())
    path.write_bytes(whole[:-1])
    assert f"expected {len(whole)} bytes as its header says, got {len(whole) - 1}: the file is cut short" in message(
        path
    )


def test_header_longer_than_any_model_needs(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    with path.open("wb") as file:
        file.write((LARGEST_JSON + 1).to_bytes(8, "little"))
        file.truncate(8 + LARGEST_JSON + 1)  # sparse: nothing is written
    assert f"at most {LARGEST_JSON} bytes" in message(path)


def test_not_a_regular_file(tmp_path: Path):
    with pytest.raises(CheckpointError, match="expected a file, got a directory"):
        MappedFile.open(tmp_path)
    with pytest.raises(CheckpointError, match="got something that is not a regular file"):
        MappedFile.open(Path("/dev/null"))
    with pytest.raises(CheckpointError, match="expected a file, got: No such file"):
        MappedFile.open(tmp_path / "absent")
    with pytest.raises(CheckpointError, match="expected a file, got: 'embedded null byte'"):
        MappedFile.open(tmp_path / "a\0b")


def test_file_that_changed_after_it_was_opened(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(pack(sound()))
    tensor = read(path)[0]
    assert isinstance(tensor, StoredTensor)
    path.write_bytes(pack(sound())[:-8])
    with pytest.raises(CheckpointError, match="as when it was opened"):
        tensor.raw()


def test_bytes_are_those_the_library_wrote(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    random = np.random.default_rng(1)
    arrays = {
        "f32": random.standard_normal((3, 5)).astype(np.float32),
        "f16": random.standard_normal((7,)).astype(np.float16),
        "one": random.standard_normal((1, 1, 2)).astype(np.float32),
    }
    safetensors.numpy.save_file({**arrays, "ids": np.arange(4)}, path, metadata={"format": "pt"})
    found = read(path)
    assert [(t.name, t.kind, t.shape, t.nbytes) for t in found if isinstance(t, OtherTensor)] == [
        ("ids", "I64", (4,), 32)
    ]
    tensors = {t.name: t for t in found if isinstance(t, StoredTensor)}
    assert set(tensors) == set(arrays)
    for name, array in arrays.items():
        assert tensors[name].shape == array.shape
        assert tensors[name].raw().tobytes() == array.tobytes()
    assert tensors["f16"].format is Format.F16 and tensors["f32"].format is Format.F32


def test_bf16_and_unordered_names(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    header = {"late": entry([4], 16, 24, "BF16"), "__metadata__": {"k": "v"}, "early": entry([2, 2], 0, 16)}
    path.write_bytes(pack(header))
    late, early = read(path)
    assert isinstance(late, StoredTensor) and isinstance(early, StoredTensor)
    assert (late.name, late.format, late.shape, late.nbytes) == ("late", Format.BF16, (4,), 8)
    assert late.raw().tolist() == list(range(16, 24))
    assert early.raw().tolist() == list(range(16))


def test_nothing_is_read_before_it_is_looked_at(tmp_path: Path):
    """A checkpoint far larger than the test's memory opens: its bytes are mapped."""
    path = tmp_path / "model.safetensors"
    size = 1 << 36
    head = pack({"big": entry([size // 2], 0, size, "BF16")}, b"")
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + size)  # sparse
    (tensor,) = read(path)
    assert isinstance(tensor, StoredTensor)
    assert tensor.raw().shape == (size,) and not tensor.raw()[-4:].any()


HOSTILE: list[Any] = [
    0,
    -1,
    1,
    2**31,
    2**63,
    2**64,
    1.5,
    None,
    True,
    "F32",
    "",
    [],
    [0],
    [2**33, 2**33],
    {},
    "__metadata__",
]


@st.composite
def mutated_files(draw: st.DrawFn) -> bytes:
    """A sound file with a few faults: fields replaced, the length replaced, bytes flipped, the end cut or grown."""
    header = deepcopy(sound())
    for _ in range(draw(st.integers(0, 2))):
        target = draw(st.sampled_from([header, *(v for v in header.values() if isinstance(v, dict))]))
        key = draw(st.sampled_from([*target, "b", "__metadata__"]))
        # A copy: the next fault may be in it, and would stay in the list for the next file.
        target[key] = deepcopy(
            draw(
                st.sampled_from(HOSTILE)
                | st.builds(entry, st.lists(st.integers(0, 5)), st.integers(0, 30), st.integers(0, 30))
            )
        )
    length = draw(st.none() | st.integers(0, 200) | st.integers(0, 2**64 - 1))
    data = bytearray(pack(header, length=length))
    for _ in range(draw(st.integers(0, 3))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data + draw(st.binary(max_size=4)))


@settings(max_examples=400, deadline=None)  # the processor's time is what is held to: others may run beside
@given(data=mutated_files())
def test_mutated_files_open_or_say_why(tmp_path_factory: pytest.TempPathFactory, data: bytes):
    path = tmp_path_factory.getbasetemp() / "mutated.safetensors"
    path.write_bytes(data)
    start = time.process_time()
    try:
        found = read(path)
    except CheckpointError as error:
        assert str(error).startswith(f"{path}: ") and "expected" in str(error)
        return
    finally:
        assert time.process_time() - start < 1
    with safetensors.safe_open(path, framework="np") as library:
        assert {t.name for t in found} == set(library.keys())
    seen: set[int] = set()
    for tensor in found:
        if isinstance(tensor, StoredTensor):
            places = range(tensor.offset, tensor.offset + tensor.nbytes)
            assert places and places.stop <= len(data) and seen.isdisjoint(places)
            seen.update(places)
            assert tensor.raw().tobytes() == data[places.start : places.stop]
