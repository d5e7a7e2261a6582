"""Rotations as config.json asks for them, in its keys of today and its older ones."""

from __future__ import annotations

from lanelink.frontend.fields import Fields
from lanelink.frontend.rope import DefaultRope, LinearRope, Llama3Rope, Rope, YarnRope, magnitude_scale

FULL, SLIDING = "full_attention", "sliding_attention"


def rope_fields(fields: Fields) -> Fields:
    """The one rotation's own keys. `rope_parameters` is transformers 5's name of `rope_scaling`; where both are there
    the older one's keys count, `type` among them, its name of `rope_type`."""
    newer, older = fields.object("rope_parameters"), fields.object("rope_scaling")
    held = {key: value for key, value in newer.values.items() if key != "rope_type" or not older.has("type")}
    rope = Fields({**held, **older.values}, older.where if older.values else newer.where)
    for name in (FULL, SLIDING):
        if rope.has(name):
            raise rope.error(name, "one rotation for all layers", rope.values[name])
    return rope


def read_rope(fields: Fields) -> Rope:
    """The rotation of all layers, over the whole of each head."""
    rope = rope_fields(fields)
    if (factor := partial_factor(fields, rope, 1.0)) != 1:
        raise fields.error("partial_rotary_factor", "1, the whole of each head rotated", factor)
    return rope_of(fields, rope)


def partial_factor(fields: Fields, rope: Fields, default: float) -> float:
    """The part of each head that is turned, up to 1; the rotation's own key wins over the one at top level."""
    held = rope if rope.has("partial_rotary_factor") else fields
    return held.number("partial_rotary_factor", default, least=1e-6, most=1.0)


def rope_of(fields: Fields, rope: Fields, default_theta: float = 10000.0) -> Rope:
    """The rotation that `rope` says; its own rope_theta wins over the one at top level, as in transformers'
    `convert_rope_params_to_dict`."""
    theta = (rope if rope.has("rope_theta") else fields).number("rope_theta", default_theta, least=1)
    kind = rope.text("rope_type", rope.text("type", "default"))
    match kind:
        case "default":
            return DefaultRope(theta)
        case "linear":
            return LinearRope(theta, rope.number("factor", least=1))
        case "llama3":
            low = rope.number("low_freq_factor", least=1e-6)
            high = rope.number("high_freq_factor", least=1e-6)
            if high <= low:
                raise rope.error("high_freq_factor", f"a number above low_freq_factor {low:g}", high)
            original = rope.integer("original_max_position_embeddings")
            return Llama3Rope(theta, rope.number("factor", least=1), low, high, original)
        case "yarn":
            return _yarn(fields, rope, theta)
        case _:
            key = "rope_type" if rope.has("rope_type") else "type"
            raise rope.error(key, "default, linear, llama3 or yarn", kind)


def _yarn(fields: Fields, rope: Fields, theta: float) -> YarnRope:
    if theta <= 1:
        raise rope.error("rope_theta", "a number above 1 under yarn", theta)
    # One of the two may be left out: the positions of the model are `factor` times those it was first made for.
    original, said = "original_max_position_embeddings", "max_position_embeddings"
    context = rope.integer(original, None if rope.has(original) else fields.integer(said))
    longer = fields.integer(said) / context if rope.has(original) and not rope.has("factor") else None
    factor = rope.number("factor", longer, least=1)
    if rope.has("mscale") and rope.has("mscale_all_dim"):
        scale, over = (rope.number(key, least=0) for key in ("mscale", "mscale_all_dim"))
        sharper = magnitude_scale(factor, scale) / magnitude_scale(factor, over) if scale and over else None
    else:
        sharper = None
    return YarnRope(
        theta=theta,
        factor=factor,
        original_context=context,
        beta_fast=_turns(rope, "beta_fast", 32.0),
        beta_slow=_turns(rope, "beta_slow", 1.0),
        truncate=rope.flag("truncate", True),
        attention_factor=rope.number(
            "attention_factor", magnitude_scale(factor) if sharper is None else sharper, least=1e-6, most=65536
        ),
    )


def _turns(rope: Fields, key: str, default: float) -> float:
    """A number of turns; none and 0 are the default, as in transformers."""
    return rope.number(key, default, least=0) or default
