"""How text is cut into words, on texts that tell the rules apart; and vocabularies as large as releases'."""

from __future__ import annotations

import time
from itertools import islice, product
from pathlib import Path
from string import ascii_lowercase
from typing import Any, cast

import pytest
from gguf_files import Pair, flag, integers, string, strings
from vocabularies import BYTE_LEVEL, LETTERS, NORMAL, TOKENS, opened

from lanelink.frontend.gguf_words import WORD_RULES
from lanelink.frontend.text import TokenizerText

ENDS = "we'LL don't"
DIGITS = "12345 x67"
EAST = "日本カナ한국 語1"
LINES = "a\r\n\nb \n  c\t"
MARKS = " f(x)=;//\ny;\n"
CAPITALS = "ÜberSee HTTPServer"
ACCENTS = "ne\u0301e ïx"
QUOTED = "“no”。Aa。"

TEXTS = (ENDS, DIGITS, EAST, LINES, MARKS, CAPITALS, ACCENTS, QUOTED)

LLAMA_3 = (
    ["we", "'LL", " don", "'t"],
    ["123", "45", " x", "67"],
    ["日本カナ한국", " 語", "1"],
    ["a", "\r\n\n", "b", " \n", " ", " c", "\t"],
    [" f", "(x", ")=;//\n", "y", ";\n"],
    ["ÜberSee", " HTTPServer"],
    ["ne", "\u0301e", " ïx"],
    ["“no", "”。", "Aa", "。"],
)
ONE_BY_ONE = ["1", "2", "3", "4", "5", " x", "6", "7"]
GPT_2 = (
    ["we", "'", "LL", " don", "'t"],
    ["12345", " x", "67"],
    ["日本カナ한국", " 語", "1"],
    ["a", "\r\n", "\n", "b", " \n ", " c", "\t"],
    [" f", "(", "x", ")=;//", "\n", "y", ";", "\n"],
    ["ÜberSee", " HTTPServer"],
    ["ne", "\u0301", "e", " ïx"],
    ["“", "no", "”。", "Aa", "。"],
)
CAMEL = ["Über", "See", " HTTPServer"]
ONE_WORD = ["ne\u0301e", " ïx"]

CUT: dict[str, tuple[list[str], ...]] = {
    "gpt-2": GPT_2,
    "default": (
        ["we", "'", "LL", " don", "'", "t"],
        ["123", "45", " x", "67"],
        *GPT_2[2:],
    ),
    "smollm": (GPT_2[0], ONE_BY_ONE, *GPT_2[2:]),
    "llama-bpe": LLAMA_3,
    "qwen2": (LLAMA_3[0], ONE_BY_ONE, *LLAMA_3[2:]),
    "seed-coder": (LLAMA_3[0], ONE_BY_ONE, *LLAMA_3[2:4], [" f", "(x", ")=;//", "\n", "y", ";", "\n"], *LLAMA_3[5:]),
    "gpt-4o": (["we'LL", " don't"], *LLAMA_3[1:5], CAMEL, ONE_WORD, LLAMA_3[7]),
    # As gpt-4o, but that East Asian characters are words of their own, and no slash ends a run of marks.
    "kimi-k2": (
        ["we'LL", " don't"],
        LLAMA_3[1],
        ["日本", "カナ한국", " ", "語", "1"],
        LLAMA_3[3],
        LLAMA_3[4],
        CAMEL,
        ONE_WORD,
        LLAMA_3[7],
    ),
    "tekken": (LLAMA_3[0], ONE_BY_ONE, *LLAMA_3[2:5], CAMEL, ONE_WORD, LLAMA_3[7]),
    "deepseek-v3": (
        ["we", "'LL", " don", "'t"],
        ["123", "45", " x", "67"],
        ["日本カナ", "한국", " ", "語", "1"],
        LLAMA_3[3],
        [" f", "(x", ")=;//\n", "y", ";\n"],
        ["ÜberSee", " HTTPServer"],
        ONE_WORD,
        ["“", "no", "”。", "Aa", "。"],
    ),
    "deepseek-coder": (
        ["we", "'", "LL", " don", "'", "t"],
        ONE_BY_ONE,
        ["日本カナ한국", " ", "語", "1"],
        ["a", "\r", "\n", "\n", "b", " ", "\n", " ", " c", "\t"],
        [" f", "(", "x", ")", "=", ";//", "\n", "y", ";", "\n"],
        ["ÜberSee", " HTTPServer"],
        ["ne", "\u0301", "e", " ïx"],
        ["“", "no", "”。", "Aa", "。"],
    ),
    # A word ends at a space or one of a few marks; apostrophes, slashes and semicolons are none of those.
    "viking": (
        ["we'LL", " don't"],
        ONE_BY_ONE,
        ["日本カナ한국", " 語", "1"],
        ["a", "\r\n\n", "b", " \n ", " c", "\t"],
        [" f", "(", "x", ")", "=;//", "\n", "y;", "\n"],
        ["ÜberSee", " HTTPServer"],
        ONE_WORD,
        ["“no”", "。", "Aa", "。"],
    ),
    # Its third expression has the Latin letters of ASCII among its marks, and so parts them from others.
    "deepseek-llm": (
        ["we", "'", "LL", " don", "'", "t"],
        ["12345", " x", "67"],
        ["日本カナ한국", " ", "語", "1"],
        ["a", "\r", "\n", "\n", "b", " ", "\n", " ", " c", "\t"],
        [" f", "(", "x", ")=;//", "\n", "y", ";", "\n"],
        ["Ü", "berSee", " HTTPServer"],
        ["ne", "\u0301", "e", " ï", "x"],
        ["“", "no", "”。", "Aa", "。"],
    ),
}

ALIKE = {
    "mellum": "gpt-2",
    "llama3": "llama-bpe",
    "llama-v3": "llama-bpe",
    "falcon3": "llama-bpe",
    "pixtral": "llama-bpe",
    "smaug-bpe": "llama-bpe",
    "deepseek-r1-qwen": "qwen2",
    "megrez": "qwen2",
    "refact": "smollm",
    "minerva-7b": "smollm",
}


def tokenizer(path: Path, rule: str, pairs: list[Pair] = BYTE_LEVEL, **changes: bytes) -> Any:
    """The package's own tokenizer of a file with this rule."""
    text = opened(path, {"tokenizer.ggml.pre": string(rule), **changes}, pairs)
    return cast(Any, cast(TokenizerText, text).tokenizer)


def cut(path: Path, rule: str, text: str) -> list[str]:
    return [text[first:end] for _, (first, end) in tokenizer(path, rule).pre_tokenizer.pre_tokenize_str(text)]


def test_every_rule_is_tried():
    assert {*CUT, *ALIKE} == {*WORD_RULES}
    assert len({str(words) for words in CUT.values()}) == len(CUT), "texts that tell every rule from every other"


@pytest.mark.parametrize("rule", CUT)
def test_words(tmp_path: Path, rule: str):
    assert [cut(tmp_path, rule, text) for text in TEXTS] == list(CUT[rule])


@pytest.mark.parametrize("rule", ALIKE)
def test_words_of_other_names(tmp_path: Path, rule: str):
    assert [cut(tmp_path, rule, text) for text in TEXTS] == list(CUT[ALIKE[rule]])


def test_spaces_at_the_end(tmp_path: Path):
    for rule in ("deepseek-llm", "tekken", "smollm"):
        assert cut(tmp_path, rule, "a   ") == ["a", "   "]


def test_letters_with_a_case(tmp_path: Path):
    """DeepSeek LLM's are without newer Latin and Armenian ones and those of mathematics."""
    text = "жꞑꝱ ՠա 𝐀ａ"
    assert cut(tmp_path, "deepseek-llm", text) == ["ж", "ꞑ", "ꝱ", " ՠ", "ա", " 𝐀", "ａ"]
    assert cut(tmp_path, "deepseek-coder", text) == ["жꞑꝱ", " ՠա", " 𝐀ａ"]


def test_words_that_are_tokens(tmp_path: Path):
    """Tekken takes one whole, whatever the merges; DeepSeek LLM by merges alone."""
    known = {
        "tokenizer.ggml.tokens": strings([*TOKENS, "hat"]),
        "tokenizer.ggml.token_type": integers([NORMAL] * (len(TOKENS) + 1)),
        "tokenizer.ggml.add_bos_token": flag(0),
    }
    for rule, ids in (("tekken", [len(TOKENS)]), ("deepseek-llm", [TOKENS.index(letter) for letter in "hat"])):
        assert tokenizer(tmp_path, rule, **known).encode("hat").ids == ids


def test_a_large_vocabulary(tmp_path: Path):
    """150,000 merges, each a token: about 0.9 s of one idle core, and the words they make."""
    words = ("".join(letters) for n in (2, 3, 4) for letters in product(ascii_lowercase, repeat=n))
    made = list(islice(words, 150_000))
    pairs = {
        "tokenizer.ggml.tokens": strings([*LETTERS, *made]),
        "tokenizer.ggml.token_type": integers([NORMAL] * (256 + len(made))),
        "tokenizer.ggml.merges": strings([f"{word[:-1]} {word[-1]}" for word in made]),
        "tokenizer.ggml.bos_token_id": None,
        "tokenizer.ggml.eos_token_id": None,
    }
    held = {**{str(k): v for k, v in BYTE_LEVEL}, **pairs, "tokenizer.ggml.pre": string("deepseek-llm")}
    begin = time.process_time()
    text = opened(tmp_path, held, [], 200_000)
    assert time.process_time() - begin < 2
    # The pair of the earliest merge first: a and b, then c; but a and t before c and a.
    ids = {word: 256 + id for id, word in enumerate(made)}
    assert text.encode("abc1") == [ids["abc"], LETTERS.index("1")]
    assert text.encode("cat") == [LETTERS.index("c"), ids["at"]]
    assert text.decode(text.encode("abcd zz")) == "abcd zz"
