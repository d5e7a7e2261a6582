"""DeepSeek-V3 and R1 (https://arxiv.org/abs/2412.19437): V2's attention; experts scored by sigmoids, chosen within
groups with a bias that balances them."""

from __future__ import annotations

from lanelink.dialects.tgraph import Scores
from lanelink.frontend.deepseek_v2 import deepseek_layers, kept_groups, latent_attention, routed_scale
from lanelink.frontend.dense import decoder
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.readers import expected
from lanelink.frontend.shapes import DecoderConfig, Router


def _router(fields: Fields, experts: int) -> Router:
    expected(fields, "scoring_func", "sigmoid")
    expected(fields, "topk_method", "noaux_tc")
    return Router(
        scores=Scores.SIGMOID,
        renormalize=fields.flag("norm_topk_prob", True),
        routed_scale=routed_scale(fields, 2.5),
        groups=kept_groups(fields, experts, 2, (8, 4)),
        selection_bias=True,
    )


def _read(fields: Fields) -> DecoderConfig:
    attention = latent_attention(fields, interleaved=fields.flag("rope_interleave", True))
    layers = deepseek_layers(fields, attention, _router, first=3, shared=1)
    return decoder(fields, layers, default_context=4096)


DEEPSEEK_V3 = Family("deepseek_v3", "DeepseekV3ForCausalLM", _read)
