"""Where a GGUF file keeps the tensors of a model: its names for them, and its layouts where those are its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lanelink.dialects.tgraph import Adjust, CheckpointAttr, StoredUnit, StoredViewAttr
from lanelink.frontend.checkpoint import CheckpointError, shown
from lanelink.frontend.gguf_config import ARCHITECTURE
from lanelink.frontend.gguf_file import GgufModel
from lanelink.frontend.shapes import Attention, DecoderConfig, DeltaNet, LatentAttention, Mixture
from lanelink.frontend.weights import Found, Place, found_at

_WHOLE = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}

_PARTS = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "self_attn.q_a_proj": "attn_q_a",
    "self_attn.q_b_proj": "attn_q_b",
    "self_attn.q_a_layernorm": "attn_q_a_norm",
    "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa",
    "self_attn.kv_a_layernorm": "attn_kv_a_norm",
    "self_attn.kv_b_proj": "attn_kv_b",
    "self_attn.k_b_proj": "attn_k_b",
    "self_attn.v_b_proj": "attn_v_b",
    "linear_attn.in_proj_ba": "ssm_ba",
    "linear_attn.conv1d": "ssm_conv1d",
    "linear_attn.norm": "ssm_norm",
    "linear_attn.out_proj": "ssm_out",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "mlp.gate": "ffn_gate_inp",
    "mlp.router": "ffn_gate_inp",
    "mlp.experts.gate_proj": "ffn_gate_exps",
    "mlp.experts.up_proj": "ffn_up_exps",
    "mlp.experts.down_proj": "ffn_down_exps",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    **{
        f"mlp.{shared}.{side}_proj": f"ffn_{side}_shexp"
        for shared in ("shared_expert", "shared_experts")
        for side in ("gate", "up", "down")
    },
}
"""Parts of a layer, for their weights and biases."""

_OWN = {
    "self_attn.sinks": "attn_sinks.weight",
    "linear_attn.dt_bias": "ssm_dt.bias",
    "linear_attn.A_log": "ssm_a",
    "mlp.gate.e_score_correction_bias": "exp_probs_b.bias",
}
"""Tensors of a layer that are neither a weight nor a bias."""

_SANDWICH = {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
_SECOND = {"post_attention_layernorm": "post_attention_norm"}

_RENAMED: Mapping[str, Mapping[str, str]] = {
    "gemma2": _SANDWICH,
    "gemma3": _SANDWICH,
    "gpt-oss": _SECOND,
    "qwen3next": _SECOND,
}
"""Parts that an architecture's converter names otherwise."""

_HEAD_STACKS = ("self_attn.k_b_proj.weight", "self_attn.v_b_proj.weight")
"""Latent attention's matrices, one a head, where they have been split from one another."""

_LAYER = re.compile(r"model\.layers\.(\d+)\.(.+)")
_PERMUTED = "llama"
"""The architecture whose query and key rows are kept a turned pair side by side."""


@dataclass(frozen=True)
class GgufWeights:
    """The tensors of a GGUF model, as `Weights`. Where they are permuted, split or stacked otherwise than in Hugging
    Face's layout, it is by `config`."""

    model: GgufModel
    config: DecoderConfig

    def holds(self, name: str) -> bool:
        found = self._name(name)
        return found is not None and found in self.model.checkpoint

    def matrix(self, name: str, shape: tuple[int, int], place: Place | None = None) -> Found:
        return self.values(name, shape, place)

    def values(self, name: str, shape: tuple[int, ...], place: Place | None = None) -> Found:
        return found_at(self.model.checkpoint, self._place(name, shape, place))

    def _place(self, name: str, shape: tuple[int, ...], place: Place | None) -> Place:
        flat = shape[1:] if len(shape) == 2 and shape[0] == 1 and name.endswith("bias") else shape
        own = self._own_layout(name, flat)
        if own is not None:
            return own
        # The same tensor as Hugging Face's, and the same part of it; a norm's weight has had its 1 added already.
        stored = self._stored(name if place is None else place.source.tensor.data)
        if place is None:
            return Place(CheckpointAttr(stored), flat)
        sizes = tuple(size for k, size in enumerate(place.shape) if size > 1 or k in (0, len(place.shape) - 1))
        return Place(CheckpointAttr(stored, view=place.source.stored_view), sizes)

    def _own_layout(self, name: str, shape: tuple[int, ...]) -> Place | None:
        """Where this format's layout is not Hugging Face's."""
        parsed = _LAYER.fullmatch(name)
        if parsed is None:
            return None
        layer, part = self.config.layers[int(parsed[1])], parsed[2]
        if part.startswith("mlp.experts.") and isinstance(layer.feed_forward, Mixture):
            return self._stacked(name, shape, layer.feed_forward.experts)
        if isinstance(layer.mixer, LatentAttention) and part in _HEAD_STACKS and self.holds(name):
            heads = layer.mixer.heads
            return Place(CheckpointAttr(self._stored(name)), (heads, shape[0] // heads, shape[1]))
        if isinstance(layer.mixer, DeltaNet):
            return self._delta(int(parsed[1]), part, shape, layer.mixer)
        if isinstance(layer.mixer, Attention) and self._architecture == _PERMUTED:
            heads = {"self_attn.q_proj": layer.mixer.heads, "self_attn.k_proj": layer.mixer.kv_heads}
            count = heads.get(part.rpartition(".")[0])
            return None if count is None else _side_by_side(self._stored(name), shape, count)
        return None

    def _stacked(self, name: str, shape: tuple[int, ...], experts: int) -> Place:
        """All experts' matrices as one tensor, expert after expert; their biases as its rows."""
        stored = CheckpointAttr(self._stored(name))
        return Place(stored, shape if name.endswith("bias") else (experts, shape[0] // experts, *shape[1:]))

    def _delta(self, layer: int, part: str, shape: tuple[int, ...], mixer: DeltaNet) -> Place | None:
        """Queries, keys and values of all heads one after another, and the gates apart; the decay as −exp of its
        logarithm."""
        width, values = mixer.key_width, mixer.value_width
        starts = {"q_proj": 0, "k_proj": width, "v_proj": 2 * width}
        name = part.removeprefix("linear_attn.").removesuffix(".weight")
        if name in starts:
            view = StoredViewAttr(StoredUnit.ROWS, shape[:1], (1,), starts[name])
            return Place(CheckpointAttr(f"blk.{layer}.attn_qkv.weight", view=view), (2 * width + values, shape[1]))
        if name == "z_proj":
            return Place(CheckpointAttr(f"blk.{layer}.attn_gate.weight"), shape)
        if name == "A_log":
            return Place(CheckpointAttr(f"blk.{layer}.ssm_a", adjust=Adjust.LOG_NEGATED), shape)
        return None

    @property
    def _architecture(self) -> str:
        return self.model.metadata.text(ARCHITECTURE)

    def _stored(self, name: str) -> str:
        found = self._name(name)
        if found is None:
            raise CheckpointError(
                f"{self.model.checkpoint.path}: tensor {shown(name)}: expected one that GGUF has a name for, got none"
            )
        return found

    def _name(self, name: str) -> str | None:
        """This format's name of a tensor of Hugging Face's."""
        parsed = _LAYER.fullmatch(name)
        if parsed is None:
            return _WHOLE.get(name)
        block, part = f"blk.{parsed[1]}", parsed[2]
        if part in _OWN:
            return f"{block}.{_OWN[part]}"
        module, _, kind = part.rpartition(".")
        found = _RENAMED.get(self._architecture, {}).get(module) or _PARTS.get(module)
        return None if found is None or kind not in ("weight", "bias") else f"{block}.{found}.{kind}"


def _side_by_side(name: str, shape: tuple[int, ...], heads: int) -> Place:
    """Rows, or a bias's values, of heads whose pair i is at 2i and 2i + 1, taken so that it is at i and half a head
    further."""
    head_dim = shape[0] // heads
    unit = StoredUnit.ROWS if len(shape) == 2 else StoredUnit.VALUES
    view = StoredViewAttr(unit, (heads, 2, head_dim // 2), (head_dim, 1, 2))
    return Place(CheckpointAttr(name, view=view), shape)
