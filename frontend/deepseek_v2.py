"""DeepSeek-V2 (https://arxiv.org/abs/2405.04434): latent attention, after the first layers fine-grained experts beside
shared ones."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from lanelink.frontend.dense import decoder
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.mixture_fields import expert_count, mixture
from lanelink.frontend.readers import WIDEST_HEAD, even_head, expected, gated_mlp, head_counts, layer_count
from lanelink.frontend.rope import DefaultRope, magnitude_scale
from lanelink.frontend.rope_fields import rope_fields, rope_of
from lanelink.frontend.shapes import DecoderConfig, FeedForward, LatentAttention, Layer, Router, SharedExpert


def latent_attention(fields: Fields, *, interleaved: bool) -> LatentAttention:
    """The attention of DeepSeek-V2 and V3. A rotation made for longer contexts sharpens scores by `mscale_all_dim`."""
    heads, kv_heads = head_counts(fields)
    if kv_heads != heads:
        raise fields.error("num_key_value_heads", f"num_attention_heads {heads}", kv_heads)
    rope = rope_fields(fields)
    turned = rope_of(fields, rope)
    nope = fields.integer("qk_nope_head_dim", 128, most=WIDEST_HEAD)
    rotated = even_head(fields, "qk_rope_head_dim", 64)
    scale = 1 / sqrt(nope + rotated)
    if not isinstance(turned, DefaultRope):
        sharper = rope.number("mscale_all_dim", 0.0, least=0)
        scale *= magnitude_scale(rope.number("factor", least=1), sharper) ** 2 if sharper else 1
    ranked = "q_lora_rank" not in fields.values or fields.has("q_lora_rank")
    return LatentAttention(
        heads=heads,
        nope=nope,
        rotated=rotated,
        value_dim=fields.integer("v_head_dim", 128, most=WIDEST_HEAD),
        kv_rank=fields.integer("kv_lora_rank", 512),
        q_rank=fields.integer("q_lora_rank", 1536) if ranked else None,
        rope=turned,
        scale=scale,
        bias=fields.flag("attention_bias", False),
        interleaved=interleaved,
    )


def deepseek_layers(
    fields: Fields,
    attention: LatentAttention,
    router: Callable[[Fields, int], Router],
    *,
    first: int,
    shared: int,
) -> list[Layer]:
    """Dense layers before `first_k_dense_replace`, mixtures from there on; `first` and `shared` are defaults.

    The shared experts are as one of their widths together."""
    expected(fields, "moe_layer_freq", 1)
    layers = layer_count(fields)
    dense_before = min(fields.integer("first_k_dense_replace", first, least=0), layers)
    found: list[FeedForward] = [gated_mlp(fields)] * dense_before
    if dense_before < layers:
        width = fields.integer("moe_intermediate_size") * fields.integer("n_shared_experts", shared, most=1024)
        experts = expert_count(fields, "n_routed_experts", "num_experts", "num_local_experts")
        beside = SharedExpert("shared_experts", width, gated=False)
        sparse = mixture(fields, experts, router=router(fields, experts), shared=beside)
        found += [sparse] * (layers - dense_before)
    return [Layer(attention, feed_forward) for feed_forward in found]


def kept_groups(fields: Fields, experts: int, best: int, default: tuple[int, int] | None) -> tuple[int, int] | None:
    """(groups, groups kept), ranked by `best` scores of each; none where all are kept."""
    groups = fields.integer("n_group", None if default is None else default[0])
    if experts % groups:
        raise fields.error("n_group", f"a divisor of the {experts} experts", groups)
    kept = fields.integer("topk_group", None if default is None else default[1], most=groups)
    each = experts // groups
    if each < best:
        raise fields.error("n_group", f"groups of {best} experts or more", groups)
    if kept * each < fields.integer("num_experts_per_tok"):
        raise fields.error("topk_group", "groups with room for num_experts_per_tok", kept)
    return None if kept == groups else (groups, kept)


def routed_scale(fields: Fields, default: float) -> float | None:
    """What the routed experts' sum is multiplied by, or none where that is 1."""
    scale = fields.number("routed_scaling_factor", default, least=1e-6)
    return None if scale == 1 else scale


def _router(fields: Fields, experts: int) -> Router:
    """`norm_topk_prob` is false in every release, and the architecture's own code does not look at it."""
    expected(fields, "scoring_func", "softmax")
    method = fields.text("topk_method", "greedy")
    if method not in ("greedy", "group_limited_greedy"):
        raise fields.error("topk_method", "greedy or group_limited_greedy", method)
    groups = None if method == "greedy" else kept_groups(fields, experts, 1, None)
    return Router(groups=groups, group_best=None if groups is None else 1, routed_scale=routed_scale(fields, 1.0))


def _read(fields: Fields) -> DecoderConfig:
    attention = latent_attention(fields, interleaved=True)
    expected(fields, "mlp_bias", False)
    layers = deepseek_layers(fields, attention, _router, first=0, shared=2)
    return decoder(fields, layers, default_context=2048)


DEEPSEEK_V2 = Family("deepseek_v2", "DeepseekV2ForCausalLM", _read)
