"""Qwen1.5's and Qwen2's mixtures of experts (https://arxiv.org/abs/2407.10671, section 2.2.2): beside the experts a
shared one, which a sigmoid of each row weighs."""

from __future__ import annotations

from dataclasses import replace

from lanelink.frontend.dense import decoder, self_attention
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.mixture_fields import expert_count, mixture, sparse_layers
from lanelink.frontend.readers import alternating, gated_mlp, qwen_window, windows_of
from lanelink.frontend.rope_fields import FULL
from lanelink.frontend.shapes import DecoderConfig, Layer, Mixture, Router, SharedExpert


def gated_shared(fields: Fields, *, renormalize: bool) -> Mixture:
    """The mixture of Qwen2-MoE and Qwen3-Next; `renormalize` where there is no `norm_topk_prob`."""
    shared = SharedExpert("shared_expert", fields.integer("shared_expert_intermediate_size"), gated=True)
    router = Router(renormalize=fields.flag("norm_topk_prob", renormalize))
    return mixture(fields, expert_count(fields, "num_experts", "num_local_experts"), router=router, shared=shared)


def _windows(fields: Fields) -> tuple[int | None, ...]:
    """Without `layer_types`, every other of the first `max_window_layers` slides."""
    window = qwen_window(fields)
    first = 0 if window is None else fields.integer("max_window_layers", 28, least=0)
    default = [kind if layer < first else FULL for layer, kind in enumerate(alternating(fields))]
    return windows_of(fields, window, default)


def _read(fields: Fields) -> DecoderConfig:
    attention = self_attention(fields, qkv_bias=fields.flag("qkv_bias", True))
    sparse, dense, kinds = gated_shared(fields, renormalize=False), gated_mlp(fields), sparse_layers(fields)
    layers = [
        Layer(replace(attention, window=window), sparse if is_sparse else dense)
        for window, is_sparse in zip(_windows(fields), kinds, strict=True)
    ]
    return decoder(fields, layers)


QWEN2_MOE = Family("qwen2_moe", "Qwen2MoeForCausalLM", _read)
