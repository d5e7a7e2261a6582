"""Vocabularies of GGUF files as tokenizers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from gguf.constants import GGUFValueType
from gguf_files import Pair, array, f32, flag, floats, integers, string, strings, u32
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from vocabularies import (
    BEGIN,
    BYTE,
    BYTE_LEVEL,
    CONTROL,
    END,
    LETTERS,
    NORMAL,
    SPACE,
    TOKENS,
    TOOL,
    UNKNOWN,
    USER,
    opened,
    spelled,
)

from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.gguf_file import open_gguf
from lanelink.frontend.gguf_text import tokenizer_json
from lanelink.frontend.gguf_words import WORD_RULES
from lanelink.frontend.text import ByteText, Text, TextStream, TokenizerText

# Byte-level BPE


def pieces(text: Text, value: str) -> list[str]:
    return [TOKENS[id] for id in text.encode(value)]


def words(path: Path, rule: str, value: str) -> list[str]:
    found = opened(path, {"tokenizer.ggml.pre": string(rule), "tokenizer.ggml.add_bos_token": flag(0)}, BYTE_LEVEL)
    return pieces(found, value)


def test_byte_level_bpe(tmp_path: Path):
    text = opened(tmp_path, {}, BYTE_LEVEL)
    assert pieces(text, "the the") == ["the", f"{SPACE}the"]
    assert pieces(text, "thé") == ["th", spelled("é")]
    assert pieces(text, "日") == [LETTERS[b] for b in "日".encode()]
    assert text.decode(text.encode("the than 日é")) == "the than 日é"


NUMBERS = {
    "default": ["123", "4", "5"],
    "gpt-2": ["12345"],
    "qwen2": ["1", "2", "3", "4", "5"],
    "llama-bpe": ["123", "4", "5"],
    "gpt-4o": ["123", "4", "5"],
    "deepseek-v3": ["123", "4", "5"],
    "deepseek-coder": ["1", "2", "3", "4", "5"],
}


@pytest.mark.parametrize("rule", NUMBERS)
def test_how_numbers_are_cut(tmp_path: Path, rule: str):
    assert words(tmp_path, rule, "12345") == NUMBERS[rule]


def test_how_words_are_cut(tmp_path: Path):
    """A contraction's end is a word; of several spaces the last begins the word; gpt-4o cuts where capitals begin."""
    assert words(tmp_path, "qwen2", "an'sthe") == ["an", "'", "s", "the"]
    assert words(tmp_path, "gpt-4o", "an'sthe") == words(tmp_path, "qwen2", "an'sthe")
    for rule in ("qwen2", "llama-bpe", "gpt-4o", "deepseek-v3"):
        assert words(tmp_path, rule, "the   the") == ["the", f"{SPACE}{SPACE}", f"{SPACE}the"]
    assert words(tmp_path, "default", "an'sthe") == ["an", "'", *"s", "the"]
    apart = ["t", "h"]
    assert words(tmp_path, "gpt-4o", "Ath") == ["A", "th"]
    assert words(tmp_path, "gpt-4o", "atHe")[:2] == ["a", "t"]
    assert words(tmp_path, "deepseek-coder", "t\nh") == [apart[0], LETTERS[10], apart[1]]


def test_composed_characters(tmp_path: Path):
    """Qwen2 reads e and an accent as one character, others as two."""
    decomposed = "e\u0301"
    assert words(tmp_path, "qwen2", decomposed) == [spelled("é")]
    assert words(tmp_path, "llama-bpe", decomposed) == ["e", *(LETTERS[b] for b in "\u0301".encode())]


@settings(max_examples=60, deadline=None)
@given(value=st.text(st.characters(exclude_categories=["Cs", "Co", "Cn"]), max_size=40))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, value: str):
    for words, rule in {words: rule for rule, words in WORD_RULES.items()}.items():
        if words.composed:
            continue
        changes: dict[str, bytes | None] = {"tokenizer.ggml.pre": string(rule)}
        text = opened(tmp_path_factory.getbasetemp(), changes, BYTE_LEVEL)
        assert text.decode(text.encode(value)) == value


def test_ends_of_a_text(tmp_path: Path):
    """Llama 3 begins texts, GPT-2 does not; keys say otherwise."""
    the = TOKENS.index("the")

    def ids(rule: str, **keys: int) -> list[int]:
        changes = {f"tokenizer.ggml.{key}": flag(value) for key, value in keys.items()}
        return opened(tmp_path, {"tokenizer.ggml.pre": string(rule), **changes}, BYTE_LEVEL).encode("the")

    assert ids("gpt-2") == [the]
    assert ids("llama-bpe") == [BEGIN, the]
    assert ids("llama-bpe", add_bos_token=0) == [the]
    assert (ids("tekken"), ids("smaug-bpe"), ids("deepseek-llm")) == ([BEGIN, the], [the], [the])
    assert ids("qwen2", add_bos_token=1, add_eos_token=1) == [BEGIN, the, END]
    assert opened(tmp_path, {}, BYTE_LEVEL).decode([BEGIN, the, END]) == "the"


def test_text_that_the_vocabulary_does_not_spell(tmp_path: Path):
    changes: dict[str, bytes | None] = {
        "tokenizer.ggml.tokens": strings(["a", "I", "n", "In", SPACE]),
        "tokenizer.ggml.merges": strings(["I n"]),
        "tokenizer.ggml.token_type": integers([NORMAL] * 5),
        "tokenizer.ggml.bos_token_id": None,
        "tokenizer.ggml.eos_token_id": None,
    }
    text = opened(tmp_path, changes, BYTE_LEVEL)
    assert text.encode("In a") == [3, 4, 0]
    for value, letter in (("In the", "'t', character 3"), ("zzz", "'z', character 0"), ("a日", "'日', character 1")):
        with pytest.raises(CheckpointError, match=f"a vocabulary that spells the text, got none .* for {letter}"):
            text.encode(value)


def test_tokens_inside_text(tmp_path: Path):
    text = opened(tmp_path, {}, BYTE_LEVEL)
    the = TOKENS.index("the")
    assert text.encode("the<|end|>the<tool>") == [the, END, the, TOOL]
    assert text.decode([the, END, the, TOOL]) == "thethe<tool>", "controls are no text, a user's own tokens are"


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_it_is_what_its_tokenizer_json_is_read_as(tmp_path: Path, kind: str):
    pairs = {"gpt2": BYTE_LEVEL, "llama": SENTENCE_PIECE}[kind]
    changes: dict[str, bytes | None] = {"tokenizer.ggml.add_bos_token": flag(1)}
    if kind == "llama":
        kinds = [USER if piece == "nd" else kind for piece, _, kind in PIECES]
        changes |= {"tokenizer.ggml.token_type": integers(kinds), "tokenizer.ggml.add_space_prefix": flag(0)}
    text = opened(tmp_path, changes, pairs)
    assert isinstance(text, TokenizerText)
    described = tokenizer_json(open_gguf(tmp_path / "m.gguf").metadata, 10_000)
    assert json.loads(text.tokenizer.to_str()) == json.loads(Tokenizer.from_str(json.dumps(described)).to_str())
    assert [each["id"] for each in json.loads(text.tokenizer.to_str())["added_tokens"]]


# SentencePiece

PIECES = [
    *[("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)],
    *((f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)),
    *(
        (piece, -float(rank), NORMAL)
        for rank, piece in enumerate(
            ["▁t", "he", "▁the", "an", "▁a", "▁an", "nd", "▁and", "hea", "▁", "t", "h", "e", "a", "n", "d", "é"]
        )
    ),
]
SENTENCE_PIECE: list[Pair] = [
    ("tokenizer.ggml.model", string("llama")),
    ("tokenizer.ggml.tokens", strings([piece for piece, _, _ in PIECES])),
    ("tokenizer.ggml.scores", floats([score for _, score, _ in PIECES])),
    ("tokenizer.ggml.token_type", integers([kind for _, _, kind in PIECES])),
    ("tokenizer.ggml.bos_token_id", u32(1)),
    ("tokenizer.ggml.eos_token_id", u32(2)),
]


def best_first(symbols: list[str], scores: dict[str, float]) -> list[str]:
    """SentencePiece's BPE as its paper says: the best-scored piece that two neighbours make, until none do."""
    while True:
        made = [(scores.get(a + b, -1e9), -k) for k, (a, b) in enumerate(pairwise(symbols))]
        score, at = max(made, default=(-1e9, 0))
        if score == -1e9:
            return symbols
        symbols[-at : -at + 2] = [symbols[-at] + symbols[-at + 1]]


def spelled_by_bytes(symbol: str, known: Sequence[str]) -> list[str]:
    return [symbol] if symbol in known else [f"<0x{byte:02X}>" for byte in symbol.encode()]


@settings(max_examples=200, deadline=None)
@given(value=st.text(st.sampled_from(" theandé\n日"), max_size=14), leads=st.booleans())
def test_sentence_piece(tmp_path_factory: pytest.TempPathFactory, value: str, leads: bool):
    changes: dict[str, bytes | None] = {"tokenizer.ggml.add_space_prefix": flag(leads)}
    text = opened(tmp_path_factory.getbasetemp(), changes, SENTENCE_PIECE)
    scores = {piece: score for piece, score, kind in PIECES if kind == NORMAL}
    symbols = best_first(list((("▁" if leads and value else "") + value).replace(" ", "▁")), scores)
    expected = [part for symbol in symbols for part in spelled_by_bytes(symbol, [*scores])]
    assert [PIECES[id][0] for id in text.encode(value)] == ["<s>", *expected]
    assert text.decode(text.encode(value)) == value


def test_pieces_of_a_users_own(tmp_path: Path):
    """Runs of spaces that are tokens (Gemma) are found as they are spelled."""
    pieces = [*PIECES, ("▁▁▁", -1000.0, USER), ("<turn>", -1000.0, USER)]
    changes = {
        "tokenizer.ggml.tokens": strings([piece for piece, _, _ in pieces]),
        "tokenizer.ggml.scores": floats([score for _, score, _ in pieces]),
        "tokenizer.ggml.token_type": integers([kind for _, _, kind in pieces]),
        "tokenizer.ggml.add_space_prefix": flag(0),
    }
    text = opened(tmp_path, {**changes}, SENTENCE_PIECE)
    found = [pieces[id][0] for id in text.encode("a   an<turn>the")]
    assert found == ["<s>", "a", "▁▁▁", "an", "<turn>", "t", "he"]
    assert text.decode(text.encode("a   an<turn>the")) == "a   an<turn>the"


def test_a_stream_keeps_the_space_between(tmp_path: Path):
    """What follows a prompt begins as it would in one text, and half a character waits for the rest."""
    text = opened(tmp_path, {}, SENTENCE_PIECE)
    whole = text.encode("the and日 a")
    prompt, rest = whole[:2], whole[2:]
    stream = TextStream(text, prompt)
    shown = [stream.add(id) for id in rest]
    assert shown[0] == " and" and shown[1:3] == ["", ""] and shown[3] == "日"
    assert "".join(shown) + stream.end() == " and日 a"


def test_a_long_stream():
    text = ByteText()
    value = "In the béginning 日 " * 30
    stream = TextStream(text, [65, 66])
    assert "".join(stream.add(id) for id in text.encode(value)) + stream.end() == value
    broken = TextStream(text, [])
    assert [broken.add(0xE6), broken.add(0x97), broken.end()] == ["", "", "\ufffd"]


# What is refused


def test_bytes_and_no_vocabulary(tmp_path: Path):
    for pairs in ([], [("tokenizer.ggml.model", string("none"))]):
        assert isinstance(opened(tmp_path, {}, pairs, 256), ByteText)
        with pytest.raises(CheckpointError, match=r"m.gguf: expected a vocabulary to read text with, got none .*300"):
            opened(tmp_path, {}, pairs, 300)


REFUSED: list[tuple[list[Pair], dict[str, bytes | None], str]] = [
    (BYTE_LEVEL, {"tokenizer.ggml.model": string("bert")}, r"ggml.model: expected one of gpt2, llama, got 'bert'"),
    (BYTE_LEVEL, {"tokenizer.ggml.pre": string("poro")}, r"ggml.pre: expected one of default, .*, got 'poro'"),
    (BYTE_LEVEL, {"tokenizer.ggml.tokens": None}, r"ggml.tokens: expected an array, got no such key"),
    (
        BYTE_LEVEL,
        {"tokenizer.ggml.tokens": integers([1])},
        r"ggml.tokens: expected an array of strings, got an array of 1 INT32",
    ),
    (BYTE_LEVEL, {"tokenizer.ggml.tokens": strings([])}, r"ggml.tokens: expected 1 to 10000 tokens, .*, got 0"),
    (BYTE_LEVEL, {"tokenizer.ggml.tokens": strings(["a"] * 2)}, r"ggml.tokens: expected each token once, got 'a'"),
    (
        BYTE_LEVEL,
        {"tokenizer.ggml.tokens": strings([b"\xff"])},
        r"ggml.tokens: expected strings of UTF-8, got b'\\xff'",
    ),
    *(
        (BYTE_LEVEL, {"tokenizer.ggml.token_type": kinds}, rf"token_type: expected an array of \d+ INT32.*got {found}")
        for kinds, found in (
            (integers([1]), "an array of 1 INT32"),
            (strings(["a"]), "an array of 1 STRING"),
            (floats([NORMAL] * len(TOKENS)), r"an array of \d+ FLOAT32"),
            (array(GGUFValueType.BOOL, [b"\x01"] * len(TOKENS)), r"an array of \d+ BOOL"),
        )
    ),
    *(
        (
            BYTE_LEVEL,
            {"tokenizer.ggml.token_type": integers([kind] * len(TOKENS))},
            rf"token_type: expected kinds of 0 to 6, got {kind}",
        )
        for kind in (-1, 7)
    ),
    (BYTE_LEVEL, {"tokenizer.ggml.merges": None}, r"ggml.merges: expected an array, got no such key"),
    (BYTE_LEVEL, {"tokenizer.ggml.merges": strings(["ab"])}, r"ggml.merges: expected two tokens .*, got 'ab'"),
    (BYTE_LEVEL, {"tokenizer.ggml.merges": strings(["z z"])}, r"ggml.merges: expected two tokens .*, got 'z z'"),
    (BYTE_LEVEL, {"tokenizer.ggml.add_bos_token": u32(1)}, r"ggml.add_bos_token: expected true or false, got 1"),
    (
        BYTE_LEVEL,
        {"tokenizer.ggml.add_bos_token": flag(1), "tokenizer.ggml.bos_token_id": u32(9999)},
        r"ggml.bos_token_id: expected an integer from 0 to \d+, got 9999",
    ),
    (
        BYTE_LEVEL,
        {"tokenizer.ggml.add_eos_token": flag(1), "tokenizer.ggml.eos_token_id": None},
        r"ggml.eos_token_id: expected an integer from 0 to \d+, got no such key",
    ),
    (SENTENCE_PIECE, {"tokenizer.ggml.scores": floats([1.0])}, r"ggml.scores: expected an array of 276 FLOAT32, one a"),
    (SENTENCE_PIECE, {"tokenizer.ggml.scores": integers([1] * 276)}, r"FLOAT32, one a token, got an array of 276 INT"),
    (
        SENTENCE_PIECE,
        {"tokenizer.ggml.scores": floats([0.5] * 275 + [float("nan")])},
        r"ggml.scores: expected scores of at most 1e\+30 in size, got nan",
    ),
    (SENTENCE_PIECE, {"tokenizer.ggml.add_space_prefix": f32(1)}, r"add_space_prefix: expected true or false, got 1.0"),
    (
        SENTENCE_PIECE,
        {
            "tokenizer.ggml.tokens": strings(["x" * 513]),
            "tokenizer.ggml.scores": floats([0]),
            "tokenizer.ggml.token_type": integers([1]),
        },
        r"ggml.tokens: expected pieces of at most 512 characters, got 'x+'\.\.\.|got 'xxx",
    ),
]


@pytest.mark.parametrize(("pairs", "changes", "message"), REFUSED)
def test_vocabularies_that_are_refused(
    tmp_path: Path, pairs: list[Pair], changes: dict[str, bytes | None], message: str
):
    with pytest.raises(CheckpointError, match=message):
        opened(tmp_path, changes, pairs)


def test_more_tokens_than_the_model_has(tmp_path: Path):
    with pytest.raises(CheckpointError, match=r"ggml.tokens: expected 1 to 100 tokens, as the model has, got 270"):
        opened(tmp_path, {}, BYTE_LEVEL, 100)
