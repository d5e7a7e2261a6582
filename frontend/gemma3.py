"""Gemma 3's text decoder (https://arxiv.org/abs/2503.19786): as Gemma 2 with norms of query and key heads instead of
soft caps; five sliding layers to a full one, each kind with a rotation of its own."""

from __future__ import annotations

from dataclasses import replace

from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.gemma2 import gemma_attention, gemma_decoder, softcap
from lanelink.frontend.readers import alternating, windows_of
from lanelink.frontend.rope import Rope
from lanelink.frontend.rope_fields import FULL, SLIDING, rope_of
from lanelink.frontend.shapes import DecoderConfig

FULL_THETA, SLIDING_THETA = 1_000_000.0, 10_000.0


def _ropes(fields: Fields) -> dict[str, Rope]:
    """The rotation of each kind of layer: in today's spelling an object each, in the older one `rope_theta` and
    `rope_scaling` for full layers and `rope_local_base_freq` for sliding ones."""
    newer = fields.object("rope_parameters")
    for key in newer.values:
        if key not in (FULL, SLIDING):
            raise newer.error(key, f"{FULL} and {SLIDING} alone", newer.values[key])
    full, sliding, older = newer.object(FULL), newer.object(SLIDING), fields.object("rope_scaling")
    where = older.where if older.values else full.where
    ropes: dict[str, Rope] = {FULL: rope_of(fields, Fields({**full.values, **older.values}, where), FULL_THETA)}
    key = "rope_local_base_freq"
    local = fields.number(key, SLIDING_THETA, least=1)
    kept = {"rope_theta": local, **{k: v for k, v in sliding.values.items() if v is not None}}
    return {**ropes, SLIDING: rope_of(fields, Fields(kept, sliding.where))}


def _read(fields: Fields) -> DecoderConfig:
    ropes = _ropes(fields)
    full = replace(gemma_attention(fields, ropes[FULL]), head_norm=True)
    full = replace(full, softcap=softcap(fields, "attn_logit_softcapping", None))
    every = fields.integer("sliding_window_pattern", fields.integer("_sliding_window_pattern", 6))
    windows = windows_of(fields, fields.integer("sliding_window", 4096), alternating(fields, every))
    sliding = replace(full, rope=ropes[SLIDING])
    attentions = [full if window is None else replace(sliding, window=window) for window in windows]
    return gemma_decoder(fields, attentions, 131072)


GEMMA3 = Family("gemma3_text", "Gemma3ForCausalLM", _read)
