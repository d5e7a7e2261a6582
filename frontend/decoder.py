"""A whole decoder: an embedding, layers over a residual stream, a norm and a head."""

from __future__ import annotations

from xdsl.ir import SSAValue

from lanelink.dialects.tgraph import ScaleOp, SoftcapOp
from lanelink.frontend.attention import self_attention
from lanelink.frontend.builders import add, embedding, gated_mlp, linear, rms_norm
from lanelink.frontend.delta_net import delta_net
from lanelink.frontend.latent import latent_attention
from lanelink.frontend.mixture import mixture
from lanelink.frontend.shapes import Attention, DecoderConfig, DeltaNet, GatedMlp, LatentAttention, Layer, Mixture
from lanelink.frontend.step_builder import StepBuilder


def decoder(step: StepBuilder, config: DecoderConfig, token: SSAValue) -> SSAValue:
    """The logits of each of the step's tokens, f32 [rows, vocabulary].

    A tied head is the embedding table read the other way; a head the checkpoint holds all the same is not looked at.
    """
    with step.within("model"):
        _rotations(step, config)
        x = embedding(step, "embed_tokens", token, vocabulary=config.vocabulary, hidden=config.hidden)
        if config.embedding_scale is not None:
            with step.within("embed_tokens"):
                x = step.add(ScaleOp(x, config.embedding_scale), "x")
        for number, layer in enumerate(config.layers):
            with step.within(f"layers.{number}"):
                x = _layer(step, config, layer, x, f"layers.{number}")
        x = _norm(step, config, "norm", x)
    head = "model.embed_tokens" if config.tied else "lm_head"
    logits = linear(step, head, x, config.hidden, config.vocabulary, hint="logits")
    if config.logit_softcap is not None:
        with step.within(head):
            logits = step.add(SoftcapOp(logits, config.logit_softcap), "logits")
    return logits


def _rotations(step: StepBuilder, config: DecoderConfig) -> None:
    """The tables of every rotation of the layers, before the layers that share them."""
    with step.within("rotary_emb"):
        for layer in config.layers:
            if not isinstance(layer.mixer, DeltaNet):
                step.rotation(layer.mixer.rope, layer.mixer.rotated)
                if len(step.positions) > 1:
                    step.rotation_rows(layer.mixer.rope, layer.mixer.rotated)


def _norm(step: StepBuilder, config: DecoderConfig, name: str, x: SSAValue) -> SSAValue:
    return rms_norm(step, name, x, config.hidden, config.norm_eps, plus_one=config.norm_plus_one)


def _layer(step: StepBuilder, config: DecoderConfig, layer: Layer, x: SSAValue, name: str) -> SSAValue:
    """x + mixer(norm(x)), then that + feed_forward(norm(that)); each part normed once more in a sandwich."""
    h = _mixer(step, config, layer, _norm(step, config, "input_layernorm", x), name)
    if config.sandwich:
        h = _norm(step, config, "post_attention_layernorm", h)
    x = add(step, x, h)
    before = "pre_feedforward_layernorm" if config.sandwich else "post_attention_layernorm"
    h = _feed_forward(step, config, layer, _norm(step, config, before, x))
    if config.sandwich:
        h = _norm(step, config, "post_feedforward_layernorm", h)
    return add(step, x, h)


def _mixer(step: StepBuilder, config: DecoderConfig, layer: Layer, x: SSAValue, name: str) -> SSAValue:
    match layer.mixer:
        case Attention() as part:
            with step.within("self_attn"):
                return self_attention(step, config, part, x, name)
        case LatentAttention() as part:
            with step.within("self_attn"):
                return latent_attention(step, config, part, x, name)
        case DeltaNet() as part:
            with step.within("linear_attn"):
                return delta_net(step, config, part, x, name)


def _feed_forward(step: StepBuilder, config: DecoderConfig, layer: Layer, x: SSAValue) -> SSAValue:
    with step.within("mlp"):
        match layer.feed_forward:
            case GatedMlp() as part:
                return gated_mlp(step, part, x, config.hidden)
            case Mixture() as part:
                return mixture(step, part, x, config.hidden)
