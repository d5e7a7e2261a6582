"""Mixtures of experts as config.json describes them, and which layers have one."""

from __future__ import annotations

from lanelink.dialects.tgraph import ExpertActivation
from lanelink.frontend.fields import Fields
from lanelink.frontend.readers import activation, layer_count
from lanelink.frontend.shapes import Mixture, Router, SharedExpert

MOST_EXPERTS = 1 << 16
"""Experts past which a config.json is taken for a mistake: each is a tensor to look for."""


def expert_count(fields: Fields, *keys: str) -> int:
    """How many experts, by the first of `keys` that is there; they are names of one thing."""
    key = next((key for key in keys if fields.has(key)), keys[0])
    return fields.integer(key, most=MOST_EXPERTS)


def mixture(
    fields: Fields,
    experts: int,
    *,
    router: Router,
    shared: SharedExpert | None = None,
) -> Mixture:
    """A mixture of `experts` of `moe_intermediate_size`, `num_experts_per_tok` of them for each row."""
    return Mixture(
        experts=experts,
        top_k=kept_experts(fields, experts),
        intermediate=fields.integer("moe_intermediate_size"),
        router=router,
        activation=ExpertActivation(activation(fields).value),
        shared=shared,
    )


def kept_experts(fields: Fields, experts: int) -> int:
    """How many of `experts` a row takes."""
    return fields.integer("num_experts_per_tok", most=experts)


def sparse_layers(fields: Fields) -> tuple[bool, ...]:
    """Which layers have a mixture: every `decoder_sparse_step`-th, without those of `mlp_only_layers` (Qwen)."""
    layers = layer_count(fields)
    step = fields.integer("decoder_sparse_step", 1)
    dense = set(fields.integers("mlp_only_layers", least=0))
    return tuple((layer + 1) % step == 0 and layer not in dense for layer in range(layers))
