"""How byte-level BPE cuts text into words before it joins inside them, by a GGUF file's `tokenizer.ggml.pre`.

What each name stands for is the format's own convention: the expressions by which the tokenizers of the models that
have it cut text, in the order they are applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """How text is cut: by each pattern in turn, inside what the ones before left, where both what a pattern matches and
    what lies between are words. Without patterns by GPT-2's own."""

    patterns: tuple[str, ...] = ()
    composed: bool = False
    """Whether text is put in Unicode's composed form (NFC) first."""
    whole: bool = False
    """Whether a word that is a token is one, whatever the merges say."""
    begins: bool = False
    """Whether text begins with the file's first token where no key says so."""


def _either(*patterns: str) -> str:
    return "|".join(patterns)


_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_START = r"[^\r\n\p{L}\p{N}]?"
_LETTERS = rf"{_START}\p{{L}}+"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_MARKS_OF_CODE = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
_LOWER, _UPPER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
_EAST_ASIAN = "[一-龥ࠀ-一가-퟿]+"

_CASED = (
    r"[[\p{Lu}\p{Ll}\p{Lt}]&&[^\u0560\u0588\u10C7-\u10FF\u1C80-\u1C8F\u2D00-\u2D2F\uA790-\uA7FF\uAB30-\uAB6F"
    r"\x{10570}-\x{105BF}\x{16E40}-\x{16E9F}\x{1D400}-\x{1D7FF}\x{1DF00}-\x{1DFFF}]]"
)
"""Letters that have a case in DeepSeek LLM's expression: without small Georgian and the newer of Armenian, Cyrillic and
Latin, scripts that came later, and those of mathematics."""

_LLAMA_3 = Words((_either(_ENDINGS, _LETTERS, r"\p{N}{1,3}", _MARKS, _SPACES),), whole=True, begins=True)
_SMAUG = Words(_LLAMA_3.patterns)
_QWEN_2 = Words((_either(_ENDINGS, _LETTERS, r"\p{N}", _MARKS, _SPACES),), composed=True)
_MEGREZ = Words(_QWEN_2.patterns)
_SEED_CODER = Words((_either(_ENDINGS, _LETTERS, r"\p{N}", r" ?[^\s\p{L}\p{N}\r\n]+", _SPACES),))
_GPT_4O = Words(
    (
        _either(
            f"{_START}{_UPPER}*{_LOWER}+{_ENDINGS}?",
            f"{_START}{_UPPER}+{_LOWER}*{_ENDINGS}?",
            r"\p{N}{1,3}",
            _MARKS_OF_CODE,
            _SPACES,
        ),
    )
)
_NO_HAN_LOWER, _NO_HAN_UPPER = (rf"[{letters}&&[^\p{{Han}}]]" for letters in (_LOWER, _UPPER))
_KIMI_K2 = Words(
    (
        _either(
            r"\p{Han}+",
            f"{_START}{_NO_HAN_UPPER}*{_NO_HAN_LOWER}+{_ENDINGS}?",
            f"{_START}{_NO_HAN_UPPER}+{_NO_HAN_LOWER}*{_ENDINGS}?",
            r"\p{N}{1,3}",
            _MARKS,
            _SPACES,
        ),
    )
)
_TEKKEN = Words(
    (
        _either(
            f"{_START}{_UPPER}*{_LOWER}+",
            f"{_START}{_UPPER}+{_LOWER}*",
            r"\p{N}",
            _MARKS_OF_CODE,
            _SPACES,
        ),
    ),
    whole=True,
    begins=True,
)
_DEEPSEEK_V3 = Words(
    (
        r"\p{N}{1,3}",
        "[一-龥぀-ゟ゠-ヿ]+",
        _either(
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+",
            r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",
            r" ?[\p{P}\p{S}]+[\r\n]*",
            _SPACES,
        ),
    )
)
_DEEPSEEK_CODER = Words((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EAST_ASIAN, r"\p{N}"))
_DEEPSEEK_LLM = Words(
    (
        r"[\r\n]",
        rf"\s?{_CASED}+",
        # From the colon on up to the tilde, and so Latin letters among them.
        r"\s?[!-/:-~！-／：-～\u2018-\u201F\u3000-\u3002]+",
        r"\s+$",
        _EAST_ASIAN,
        r"\p{N}+",
    )
)
# The bar and the parentheses are inside the brackets, and so among the marks that end a word.
_VIKING = Words((r" ?[^(\s|.,!?…。，、।۔،)]+", r"\p{N}"))
_ONE_DIGIT = Words((r"\p{N}", _GPT_2))
_PLAIN = Words((r"[\p{P}$+<=>^~|]+", _GPT_2, r"\p{N}+", "[0-9][0-9][0-9]"))
"""What the format's readers do where a file does not say: runs of marks first, then as GPT-2, digits by threes."""

WORD_RULES: Mapping[str, Words] = {
    "default": _PLAIN,
    "gpt-2": Words(),
    "mellum": Words(),
    "llama-bpe": _LLAMA_3,
    "llama3": _LLAMA_3,
    "llama-v3": _LLAMA_3,
    "falcon3": _LLAMA_3,
    "pixtral": _LLAMA_3,
    "smaug-bpe": _SMAUG,
    "qwen2": _QWEN_2,
    "deepseek-r1-qwen": _QWEN_2,
    "megrez": _MEGREZ,
    "seed-coder": _SEED_CODER,
    "gpt-4o": _GPT_4O,
    "kimi-k2": _KIMI_K2,
    "tekken": _TEKKEN,
    "deepseek-v3": _DEEPSEEK_V3,
    "deepseek-llm": _DEEPSEEK_LLM,
    "deepseek-coder": _DEEPSEEK_CODER,
    "smollm": _ONE_DIGIT,
    "refact": _ONE_DIGIT,
    "minerva-7b": _ONE_DIGIT,
    "viking": _VIKING,
}
"""`tokenizer.ggml.pre` → how it cuts, of what models of the supported architectures have."""

__all__ = ["WORD_RULES", "Words"]
