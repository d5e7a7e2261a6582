"""A GGUF file's vocabulary as a tokenizer: its tokens, merges and scores said in the form of a tokenizer.json.

`tokenizer.ggml.model` is `gpt2` for byte-level BPE (Sennrich et al., https://arxiv.org/abs/1508.07909, over bytes
spelled as letters), whose text is cut into words as `tokenizer.ggml.pre` says, and `llama` for SentencePiece's BPE
(https://arxiv.org/abs/1808.06226), where the pair of the best-scored piece is joined first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gguf.constants import GGUFValueType

from lanelink.frontend.fields import Fields
from lanelink.frontend.gguf_header import GgufArray
from lanelink.frontend.gguf_words import WORD_RULES

Json = dict[str, object]

MODEL, WORDS = "tokenizer.ggml.model", "tokenizer.ggml.pre"
TOKENS, KINDS, SCORES = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.scores"
MERGES = "tokenizer.ggml.merges"

LONGEST_PIECE = 512
"""Characters of a piece past which a vocabulary is taken for a mistake: every place a piece may be cut is looked at."""

_UNDEFINED, _NORMAL, _UNKNOWN, _CONTROL, _USER, _UNUSED, _BYTE = range(7)
"""`tokenizer.ggml.token_type`."""


def has_vocabulary(metadata: Fields) -> bool:
    """Whether the file holds a vocabulary; those of byte-level models say `none`."""
    return metadata.text(MODEL, "none") != "none"


def tokenizer_json(metadata: Fields, vocabulary: int) -> Json:
    """The tokenizer.json of a file's vocabulary. Raises CheckpointError, naming the key, where one is not sound or asks
    for what is not known here; `vocabulary` is how many ids the model has."""
    kind = metadata.text(MODEL)
    if kind not in _MODELS:
        raise metadata.error(MODEL, f"one of {', '.join(_MODELS)}", kind)
    tokens = _strings(metadata, TOKENS)
    if not 1 <= len(tokens) <= vocabulary:
        raise metadata.error(TOKENS, f"1 to {vocabulary} tokens, as the model has", len(tokens))
    ids = {token: id for id, token in enumerate(tokens)}
    if len(ids) != len(tokens):
        twice = next(token for id, token in enumerate(tokens) if ids[token] != id)
        raise metadata.error(TOKENS, "each token once", twice)
    kinds = _kinds(metadata, len(tokens))
    form = _MODELS[kind](metadata, ids)
    # A piece of a user's own is looked for among the spaces as they are spelled; a normalizer that puts one before
    # everything would put one before the piece, too.
    spelled = kind == "llama" and not _leads(metadata)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            _added(id, token, special=kind == _CONTROL, normalized=kind == _USER and spelled)
            for id, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
            if kind in (_CONTROL, _USER) and token
        ],
        **form,
        "post_processor": _ends(metadata, tokens),
    }


def _byte_level(metadata: Fields, ids: Mapping[str, int]) -> Json:
    name = metadata.text(WORDS, "default")
    if name not in WORD_RULES:
        raise metadata.error(WORDS, f"one of {', '.join(WORD_RULES)}", name)
    words = WORD_RULES[name]
    merges: list[tuple[str, str]] = []
    for merge in _strings(metadata, MERGES):
        left, space, right = merge.partition(" ")
        if not space or left not in ids or right not in ids or left + right not in ids:
            raise metadata.error(MERGES, "two tokens with a space between that make one", merge)
        merges.append((left, right))
    cuts: list[Json] = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in words.patterns
    ]
    spelled: Json = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": not cuts}
    return {
        "model": _bpe(ids, merges, ignore_merges=words.whole),
        "normalizer": {"type": "NFC"} if words.composed else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*cuts, spelled]},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    }


def _sentence_piece(metadata: Fields, ids: Mapping[str, int]) -> Json:
    """Spaces are ▁, what no piece spells is bytes as `<0x0A>`; text begins with a space unless the file says no."""
    scores = _numbers(metadata, SCORES, GGUFValueType.FLOAT32, len(ids), 0.0)
    for score in scores:
        if not abs(score) <= 1e30:
            raise metadata.error(SCORES, "scores of at most 1e+30 in size", score)
    kinds = _kinds(metadata, len(ids))
    longest = max(ids, key=len)
    if len(longest) > LONGEST_PIECE:
        raise metadata.error(TOKENS, f"pieces of at most {LONGEST_PIECE} characters", longest)
    leads = _leads(metadata)
    unknown = next((token for token, kind in zip(ids, kinds, strict=True) if kind == _UNKNOWN), None)
    joined = {token for token, kind in zip(ids, kinds, strict=True) if kind in (_NORMAL, _USER)}
    normalizers: list[Json] = [{"type": "Prepend", "prepend": "▁"}] if leads else []
    normalizers.append({"type": "Replace", "pattern": {"String": " "}, "content": "▁"})
    strips: list[Json] = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if leads else []
    decoders: list[Json] = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        *strips,
    ]
    return {
        "model": _bpe(ids, _merges(ids, scores, joined), unk_token=unknown, fuse_unk=True, byte_fallback=True),
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": decoders},
    }


def _leads(metadata: Fields) -> bool:
    """Whether text begins with a space that is not there."""
    return metadata.flag("tokenizer.ggml.add_space_prefix", True)


def _merges(ids: Mapping[str, int], scores: Sequence[float], joined: set[str]) -> list[tuple[str, str]]:
    """Every pair of pieces that makes a piece, the best-scored piece first; of one piece's pairs, those of the earlier
    tokens first."""
    best_first = sorted(zip(ids, scores, strict=True), key=lambda piece: -piece[1])
    merges: list[tuple[str, str]] = []
    for token, _ in best_first:
        if token not in joined:
            continue
        cuts = range(1, len(token))
        pairs = [(left, right) for cut in cuts if (left := token[:cut]) in joined and (right := token[cut:]) in joined]
        if len(pairs) > 1:
            pairs.sort(key=lambda pair: ids[pair[0]])
        merges += pairs
    return merges


_MODELS: Mapping[str, Callable[[Fields, Mapping[str, int]], Json]] = {"gpt2": _byte_level, "llama": _sentence_piece}


def _bpe(ids: Mapping[str, int], merges: Sequence[tuple[str, str]], **options: object) -> Json:
    return {"type": "BPE", "vocab": dict(ids), "merges": merges, **options}


def _added(id: int, token: str, *, special: bool, normalized: bool) -> Json:
    """A token that text is searched for before it is cut; among normalized text where `normalized`."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False}
    return {"id": id, "content": token, "special": special, "normalized": normalized, **plain}


def _ends(metadata: Fields, tokens: Sequence[str]) -> Json | None:
    """What stands before and after every text."""
    is_bpe = metadata.text(MODEL) == "gpt2"
    begins = WORD_RULES[metadata.text(WORDS, "default")].begins if is_bpe else True
    first, last = _end(metadata, "bos", begins, tokens), _end(metadata, "eos", False, tokens)
    if first is None and last is None:
        return None

    def one(id: int | None) -> list[Json]:
        return [] if id is None else [{"SpecialToken": {"id": tokens[id], "type_id": 0}}]

    around = [*one(first), {"Sequence": {"id": "A", "type_id": 0}}, *one(last)]
    held = {id for id in (first, last) if id is not None}
    special = {tokens[id]: {"id": tokens[id], "ids": [id], "tokens": [tokens[id]]} for id in sorted(held)}
    return {"type": "TemplateProcessing", "single": around, "pair": around, "special_tokens": special}


def _end(metadata: Fields, side: str, default: bool, tokens: Sequence[str]) -> int | None:
    """The id at one end, where texts have one there."""
    key = f"tokenizer.ggml.{side}_token_id"
    if not metadata.flag(f"tokenizer.ggml.add_{side}_token", default and metadata.has(key)):
        return None
    return metadata.integer(key, least=0, most=len(tokens) - 1)


def _array(metadata: Fields, key: str) -> GgufArray:
    found = metadata.values.get(key)
    if not isinstance(found, GgufArray):
        raise metadata.error(key, "an array", found)
    return found


def _strings(metadata: Fields, key: str) -> list[str]:
    array = _array(metadata, key)
    if array.kind.name != "STRING":
        raise metadata.error(key, "an array of strings", array)
    try:
        return [item.decode("utf-8") for item in array.strings()]
    except UnicodeDecodeError as error:
        raise metadata.error(key, "strings of UTF-8", error.object) from None


def _kinds(metadata: Fields, count: int) -> list[float]:
    """What each of `count` tokens is."""
    kinds = _numbers(metadata, KINDS, GGUFValueType.INT32, count, _NORMAL)
    for kind in set(kinds):
        if not _UNDEFINED <= kind <= _BYTE:
            raise metadata.error(KINDS, f"kinds of {_UNDEFINED} to {_BYTE}", kind)
    return kinds


def _numbers(metadata: Fields, key: str, kind: GGUFValueType, count: int, default: float) -> list[float]:
    """`count` numbers of the type that the format gives the key, all `default` where there is no such key."""
    if not metadata.has(key):
        return [default] * count
    array = _array(metadata, key)
    if array.kind is not kind or array.count != count:
        raise metadata.error(key, f"an array of {count} {kind.name}, one a token", array)
    return array.numbers().tolist()


__all__ = ["Json", "has_vocabulary", "tokenizer_json"]
