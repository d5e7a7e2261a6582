"""Text of byte-level models, and of those with a tokenizer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.text import ByteText, open_text

MODELS = Path(__file__).parents[1] / "models"


def test_bytes():
    text = open_text(MODELS / "llama", 256)
    assert isinstance(text, ByteText)
    assert text.encode("In é") == [73, 110, 32, 0xC3, 0xA9]
    assert text.decode([73, 110, 32, 0xC3, 0xA9]) == "In é"
    assert text.decode([0xC3]) == "\ufffd", "half a character"
    assert text.encode("a\udcff") == [97, 0xFF], "a byte of the command line that is no UTF-8"


def test_no_tokenizer(tmp_path: Path):
    with pytest.raises(
        CheckpointError, match=r"expected tokenizer\.json to read text with, got none .*300 is not bytes"
    ):
        open_text(tmp_path, 300)


def test_tokenizer_that_is_no_file(tmp_path: Path):
    (tmp_path / "tokenizer.json").mkdir()
    with pytest.raises(CheckpointError, match="expected a file, got a directory"):
        open_text(tmp_path, 256)


def test_package_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(CheckpointError, match=r"expected the package tokenizers to read it, got none: install"):
        open_text(tmp_path, 300)


def test_tokenizer(tmp_path: Path):
    tokenizers = pytest.importorskip("tokenizers", reason="needs the optional package tokenizers")
    model = tokenizers.models.WordLevel({"the": 0, "word": 1, "?": 2}, unk_token="?")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    text = open_text(tmp_path, 256)
    assert text.encode("the word the") == [0, 1, 0]
    assert text.encode("the \udcff") == [0, 2]
    assert text.decode([0, 1]) == "the word"
    (tmp_path / "tokenizer.json").write_text('{"model": 7}')
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: expected a tokenizer, got:"):
        open_text(tmp_path, 256)


def test_a_tokenizer_that_fails_later(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """A template that names a special token it does not describe opens; the package's own code panics over it."""
    tokenizers = pytest.importorskip("tokenizers", reason="needs the optional package tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0, "?": 1}, unk_token="?"))
    described = json.loads(tokenizer.to_str())
    template = [{"SpecialToken": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    described["post_processor"] = {
        "type": "TemplateProcessing",
        "single": template,
        "pair": template,
        "special_tokens": {"B": {"id": "B", "ids": [1], "tokens": ["B"]}},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    text = open_text(tmp_path, 256)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: expected a tokenizer, got: no entry found for key"):
        text.encode("the")
    capfd.readouterr()
