"""GGUF files that are vocabularies: a small one of byte-level BPE, and how a file of given keys reads text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gguf_files import Pair, integers, pack, string, strings, u32

from lanelink.frontend.text import Text, open_text

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)


def opened(path: Path, changes: dict[str, bytes | None], pairs: Sequence[Pair], vocabulary: int = 10_000) -> Text:
    """How the GGUF file of these keys, some of them changed or taken away, reads text."""
    held = {str(key): value for key, value in pairs} | {k: v for k, v in changes.items() if v is not None}
    file = path / "m.gguf"
    file.write_bytes(pack([(k, v) for k, v in held.items() if changes.get(k, b"") is not None], []))
    return open_text(file, vocabulary)


def letters() -> list[str]:
    """The letter of each byte in GPT-2's spelling: itself where it prints, else the next past U+0100."""
    prints = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(256))
    return [chr(b) if b in prints else chr(256 + next(others)) for b in range(256)]


LETTERS = letters()
SPACE = LETTERS[0x20]


def spelled(text: str) -> str:
    return "".join(LETTERS[byte] for byte in text.encode())


JOINED = ["th", "the", f"{SPACE}the", "12", "123", "1234", "12345", "an", f"{SPACE}an", f"{SPACE}{SPACE}", spelled("é")]
MERGES = [
    *("t h", "th e", f"{SPACE} the", "1 2", "12 3", "123 4", "1234 5", "a n", f"{SPACE} an", f"{SPACE} {SPACE}"),
    " ".join(spelled("é")),
]
CONTROLS = ["<|begin|>", "<|end|>"]
TOKENS = [*LETTERS, *JOINED, *CONTROLS, "<tool>"]
BEGIN, END, TOOL = (TOKENS.index(token) for token in (*CONTROLS, "<tool>"))

BYTE_LEVEL: list[Pair] = [
    ("tokenizer.ggml.model", string("gpt2")),
    ("tokenizer.ggml.pre", string("gpt-2")),
    ("tokenizer.ggml.tokens", strings(TOKENS)),
    ("tokenizer.ggml.token_type", integers([*([NORMAL] * (256 + len(JOINED))), CONTROL, CONTROL, USER])),
    ("tokenizer.ggml.merges", strings(MERGES)),
    ("tokenizer.ggml.bos_token_id", u32(BEGIN)),
    ("tokenizer.ggml.eos_token_id", u32(END)),
]
