"""GGUF headers, sound and hostile: faults are told in words, fast, and nothing of what a header claims is made."""

from __future__ import annotations

import struct
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader
from gguf.constants import GGMLQuantizationType, GGUFValueType
from gguf_files import Pair, Tensor, array, f32, flag, floats, integers, pack, string, strings, text, u16, u32
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelink.frontend.checkpoint import CheckpointError, MappedFile
from lanelink.frontend.gguf_header import GgufArray, GgufHeader, read_header

PAIRS: list[Pair] = [
    ("general.architecture", string("llama")),
    ("llama.block_count", u32(2)),
    ("llama.rope.freq_base", f32(10000.0)),
    ("a.flag", flag(1)),
    ("a.small", u16(7)),
    ("tokens", strings(["a", "é", b"\xff", ""])),
    ("scores", floats([0.5, -1.0])),
    ("kinds", integers([1, 2, -3])),
]
TENSORS = [
    Tensor("a.weight", [4, 3], bytes(range(48))),
    Tensor("b.weight", [32, 2], bytes(range(68)), GGMLQuantizationType.Q8_0),
    Tensor("c", [5], bytes(20)),
]


def read(path: Path, data: bytes) -> GgufHeader:
    path.write_bytes(data)
    return read_header(MappedFile.open(path))


def test_a_sound_file(tmp_path: Path):
    data = pack(PAIRS, TENSORS)
    header = read(tmp_path / "x.gguf", data)
    found = header.metadata
    assert {key: value for key, value in found.items() if not isinstance(value, GgufArray)} == {
        "general.architecture": "llama",
        "llama.block_count": 2,
        "llama.rope.freq_base": 10000.0,
        "a.flag": True,
        "a.small": 7,
    }
    tokens, scores, kinds = found["tokens"], found["scores"], found["kinds"]
    assert isinstance(tokens, GgufArray) and isinstance(scores, GgufArray) and isinstance(kinds, GgufArray)
    assert tokens.strings() == [b"a", "é".encode(), b"\xff", b""]
    assert (scores.numbers().tolist(), kinds.numbers().tolist()) == ([0.5, -1.0], [1, 2, -3])
    with pytest.raises(TypeError, match="got one of strings"):
        tokens.numbers()
    with pytest.raises(TypeError, match="got one of FLOAT32"):
        scores.strings()
    assert [(t.name, t.kind.name, t.shape) for t in header.tensors] == [
        ("a.weight", "F32", (3, 4)),
        ("b.weight", "Q8_0", (2, 32)),
        ("c", "F32", (5,)),
    ]
    for tensor, stored in zip(header.tensors, TENSORS, strict=True):
        assert data[tensor.offset : tensor.offset + tensor.nbytes] == stored.data


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("alignment", [8, 64, 4096])
def test_alignments_and_versions(tmp_path: Path, version: int, alignment: int):
    pairs = [("general.alignment", u32(alignment))]
    header = read(tmp_path / "x.gguf", pack(pairs, TENSORS, version=version, alignment=alignment))
    assert all(tensor.offset % alignment == 0 for tensor in header.tensors)


def test_no_tensors(tmp_path: Path):
    assert read(tmp_path / "x.gguf", pack([], [])) == GgufHeader({}, ())


HUGE = 2**64 - 1
MATRIX = bytes(48)


def with_pair(value: bytes, key: str | bytes = "k") -> bytes:
    return pack([(key, value)], [])


def with_tensor(*tensors: Tensor) -> bytes:
    return pack([], tensors)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", r"header: expected a GGUF file of at least 24 bytes, got 0"),
    "no magic": (pack([], [], magic=b"GGML"), r"header: expected the bytes b'GGUF' of a GGUF file, got b'GGML'"),
    "version 1": (pack([], [], version=1), r"version: expected 2 or 3, of a little-endian file, got 1"),
    "big-endian": (pack([], [], version=3 << 24), r"version: expected 2 or 3, of a little-endian file, got 50331648"),
    "more keys than bytes": (
        pack([], [], pair_count=1),
        r"key count: expected at most 0 \(a file of 24 bytes\), got 1",
    ),
    "keys that wrap": (pack(PAIRS, [], pair_count=HUGE), rf"key count: expected at most \d+ \(.*\), got {HUGE}"),
    "tensors that wrap": (
        pack(PAIRS, [], tensor_count=HUGE),
        rf"tensor count: expected at most \d+ \(.*\), got {HUGE}",
    ),
    "fewer keys than it says": (
        pack(PAIRS, [], pair_count=9),
        r"key 8: expected 8 bytes from \d+, got the end of the file",
    ),
    "fewer tensors than it says": (
        pack(PAIRS, TENSORS[:1], tensor_count=2),
        r"tensor 1: expected 8 bytes from|tensor '': |tensor 1: expected a name, got an empty one",
    ),
    "a key past the end": (
        pack([], [], pair_count=1) + text(b"abcdef", 7),
        r"key 0: expected 7 bytes from 32, got the end of the file at 38: it is cut short",
    ),
    "a key too long": (with_pair(u32(1), b"k" * 65536), r"key 0: expected a string of at most 65535 bytes, got 65536"),
    "a key whose length wraps": (
        pack([], [], pair_count=1) + text(b"k", HUGE) + bytes(8),
        rf"key 0: expected a string of at most 65535 bytes, got {HUGE}",
    ),
    "a key of no characters": (with_pair(u32(1), ""), r"key 0: expected a name of its own, got ''"),
    "a key twice": (pack([("k", u32(1)), ("k", u32(2))], []), r"key 1: expected a name of its own, got 'k' twice"),
    "a key that is no text": (with_pair(u32(1), b"k\xff"), r"key 0: expected UTF-8, got byte 0xff at 33"),
    "a value of an unknown type": (
        with_pair(struct.pack("<II", 13, 1)),
        r"'k': expected a value type from 0 to 12, got 13",
    ),
    "a flag of 2": (with_pair(flag(2)), r"'k': expected a truth value of 0 or 1, got 2"),
    "a value past the end": (
        with_pair(struct.pack("<IB", 10, 1)),
        r"'k': expected 8 bytes from 37, got the end of the file at 38",
    ),
    "a string that is no text": (with_pair(string(b"\xc3")), r"'k': expected UTF-8, got byte 0xc3 at 45"),
    "a string whose length wraps": (
        with_pair(struct.pack("<I", 8) + text(b"", HUGE)),
        rf"'k': expected a string of at most 16777216 bytes, got {HUGE}",
    ),
    "a string past the end": (
        with_pair(struct.pack("<I", 8) + text(b"", 5)),
        r"'k': expected 5 bytes from 45, got the end of the file at 45",
    ),
    "an array of arrays": (with_pair(array(9, [])), r"'k': expected an array of plain values, got an array of arrays"),
    "arrays to any depth": (
        with_pair(struct.pack("<I", 9) * 100_000),
        r"'k': expected an array of plain values, got an array of arrays",
    ),
    "an array of an unknown type": (with_pair(array(77, [])), r"'k': expected a value type from 0 to 12, got 77"),
    "an array whose count wraps": (
        with_pair(array(4, [], 2**62 + 1)),
        r"'k': expected at most 0 \(.*\), got 4611686018427387905",
    ),
    "an array past the end": (with_pair(array(10, [bytes(8)], 2)), r"'k': expected at most 1 \(.*\), got 2"),
    "strings whose count wraps": (with_pair(array(8, [], HUGE)), rf"'k': expected at most 0 \(.*\), got {HUGE}"),
    "a string of an array past the end": (
        with_pair(array(8, [text(b"a"), text(b"", HUGE)])),
        rf"'k': expected {HUGE} bytes from \d+, got the end of the file",
    ),
    "an alignment of zero": (
        with_pair(u32(0), "general.alignment"),
        r"general.alignment: expected a power of two from 8 .*, got 0",
    ),
    "an alignment of 24": (
        with_pair(u32(24), "general.alignment"),
        r"general.alignment: expected a power of two from 8 .*, got 24",
    ),
    "an alignment that is text": (with_pair(string("32"), "general.alignment"), r"general.alignment: .*, got '32'"),
    "an alignment that is true": (with_pair(flag(1), "general.alignment"), r"general.alignment: .*, got True"),
    "a tensor without a name": (
        with_tensor(Tensor("", [4], bytes(16))),
        r"tensor 0: expected a name, got an empty one",
    ),
    "a tensor's name too long": (
        with_tensor(Tensor("n" * 257, [4], bytes(16))),
        r"tensor 0: expected a string of at most 256 bytes, got 257",
    ),
    "a tensor's name that is no text": (with_tensor(Tensor(b"\x80", [4], bytes(16))), r"tensor 0: expected UTF-8"),
    "no dimensions": (with_tensor(Tensor("t", [], bytes(16))), r"tensor 't': expected 1 to 4 dimensions, got 0"),
    "five dimensions": (with_tensor(Tensor("t", [1] * 5, bytes(16))), r"tensor 't': expected 1 to 4 dimensions, got 5"),
    "a dimension of zero": (
        with_tensor(Tensor("t", [4, 0], b"")),
        r"tensor 't': expected dimensions of at least 1, got \[0, 4\]",
    ),
    "dimensions whose product wraps": (
        with_tensor(Tensor("t", [2**33, 2**33], MATRIX)),
        r"tensor 't': expected 295147905179352825856 bytes from 96, got the end of the file at 144: it is cut short",
    ),
    "dimensions whose product wraps to little": (
        with_tensor(Tensor("t", [2**32, 2**32, 1], MATRIX)),
        r"tensor 't': expected 73786976294838206464 bytes from \d+, got the end of the file",
    ),
    "an unknown type": (
        with_tensor(Tensor("t", [4], bytes(16), 99)),
        r"tensor 't': expected a type that the gguf package knows, got number 99",
    ),
    "a row of half a block": (
        with_tensor(Tensor("t", [48, 2], bytes(102), GGMLQuantizationType.Q8_0)),
        r"tensor 't': expected rows of a multiple of 32 values \(Q8_0\), got \[2, 48\]",
    ),
    "an offset past the end": (
        with_tensor(Tensor("t", [4], bytes(16), offset=1 << 40)),
        r"tensor 't': expected 16 bytes from 1099511627\d+, got the end of the file",
    ),
    "an offset that wraps": (
        with_tensor(Tensor("t", [4], bytes(16), offset=2**64 - 32)),
        r"tensor 't': expected 16 bytes from 18446744073709551\d+, got the end of the file",
    ),
    "an offset that is not aligned": (
        with_tensor(Tensor("t", [4], bytes(48), offset=4)),
        r"tensor 't': expected an offset of a multiple of 32, got 4",
    ),
    "a name twice": (
        with_tensor(Tensor("t", [4], bytes(16)), Tensor("t", [4], bytes(16))),
        r"tensor 't': expected each name once, got it twice",
    ),
    "tensors that overlap": (
        with_tensor(Tensor("a", [16], bytes(64)), Tensor("b", [16], bytes(64), offset=32)),
        r"tensor 'b': expected bytes from 160, past those of 'a', got 128",
    ),
    "tensors in one place": (
        with_tensor(Tensor("a", [16], bytes(64)), Tensor("b", [16], bytes(64), offset=0)),
        r"tensor 'b': expected bytes from 160, past those of 'a', got 96",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers(tmp_path: Path, name: str):
    """Each is refused for its fault. Not a mebibyte is allocated, whatever the header claims."""
    data, message = HOSTILE[name]
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    file = MappedFile.open(path)
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(CheckpointError, match=message) as raised:
        read_header(file)
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert str(raised.value).startswith(f"{path}: ") and "\n" not in str(raised.value)
    assert seconds < 1 and peak < 1 << 20


def test_strings_past_the_most_there_are(tmp_path: Path):
    """A file that is long enough for its count: refused by the count, before a walk of all of them."""
    count = (1 << 21) + 1
    start = time.process_time()
    with pytest.raises(CheckpointError, match=rf"'k': expected at most {1 << 21} \(.*\), got {count}"):
        read(tmp_path / "x.gguf", with_pair(array(8, [bytes(8 * count)], count)))
    assert time.process_time() - start < 1


def test_every_truncation(tmp_path: Path):
    data = pack(PAIRS, TENSORS)
    for length in range(len(data)):
        with pytest.raises(CheckpointError, match="expected"):
            read(tmp_path / "x.gguf", data[:length])


NUMBERS = [0, 1, 7, 32, 2**16, 2**31, 2**32 - 1, 2**63, 2**64 - 1, 2**64 - 32]


@st.composite
def mutated_files(draw: st.DrawFn) -> bytes:
    """A sound file with a few faults: numbers and bytes replaced anywhere, parts cut out, the end cut or grown."""
    data = bytearray(pack(PAIRS, TENSORS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data) - 1))
        match draw(st.sampled_from(["byte", "u32", "u64", "cut", "copy"])):
            case "byte":
                data[at] = draw(st.integers(0, 255))
            case "u32":
                data[at : at + 4] = struct.pack("<I", draw(st.sampled_from(NUMBERS)) & 0xFFFFFFFF)
            case "u64":
                data[at : at + 8] = struct.pack("<Q", draw(st.sampled_from(NUMBERS)))
            case "cut":
                del data[at : at + draw(st.integers(1, 40))]
            case _:
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
        data = data or bytearray(1)
    return bytes(data)


@settings(max_examples=600, deadline=None)
@given(data=mutated_files())
def test_mutated_files_open_or_say_why(tmp_path_factory: pytest.TempPathFactory, data: bytes):
    """What opens is what the format's own reader finds, in places apart and inside the file."""
    path = tmp_path_factory.getbasetemp() / "mutated.gguf"
    start = time.process_time()
    try:
        header = read(path, data)
    except CheckpointError as error:
        assert str(error).startswith(f"{path}: ") and "expected" in str(error) and len(str(error)) < 500
        assert time.process_time() - start < 1
        return
    for value in header.metadata.values():
        if isinstance(value, GgufArray):
            held = value.strings() if value.kind is GGUFValueType.STRING else value.numbers().tolist()
            assert len(held) == value.count
    places = sorted((t.offset, t.offset + t.nbytes) for t in header.tensors)
    assert all(end <= len(data) for _, end in places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))
    reader = GGUFReader(path)
    found = {t.name: (tuple(int(d) for d in t.shape[::-1]), int(t.data_offset)) for t in reader.tensors}
    assert {t.name: (t.shape, t.offset) for t in header.tensors} == found


def test_arrays_are_views(tmp_path: Path):
    values = np.arange(1 << 16, dtype=np.float32)
    data = with_pair(array(GGUFValueType.FLOAT32, [values.tobytes()], len(values)))
    tracemalloc.start()
    found = read(tmp_path / "x.gguf", data).metadata["k"]
    assert isinstance(found, GgufArray)
    np.testing.assert_array_equal(found.numbers(), values)
    tracemalloc.stop()
    assert np.shares_memory(found.numbers(), found.file.data)
