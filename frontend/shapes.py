"""What a decoder is made of, as its configuration says it: one frozen record a part. Sizes count values or rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import ExpertActivation, Scores
from lanelink.frontend.rope import Rope


class Activation(StrEnum):
    """A feed-forward's activation, on the gate."""

    SILU = "silu"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"


@dataclass(frozen=True)
class Attention:
    """Attention over key and value tables, with as many values in a head of each."""

    heads: int
    kv_heads: int
    head_dim: int
    rope: Rope
    rotated: int
    """Values of each head that are turned: its first ones."""
    window: int | None = None
    """A query at position p reads positions past p - window, or every one where None."""
    scale: float | None = None
    """What scores are multiplied by; 1/sqrt(head_dim) where None."""
    softcap: float | None = None
    """Scores s become cap * tanh(s / cap)."""
    qkv_bias: bool = False
    output_bias: bool = False
    head_norm: bool = False
    """Whether each query and key head is normed before its rotation."""
    sinks: bool = False
    """Whether a learned score a head joins the softmax without a value."""
    gated: bool = False
    """Whether sigmoids gate the output; the query's matrix then holds each head's gate behind its query."""

    @property
    def query_width(self) -> int:
        """Values of all query heads of a row; differs from the hidden size where heads × head_dim does."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Values of all key heads, or all value heads, of a row."""
        return self.kv_heads * self.head_dim


@dataclass(frozen=True)
class LatentAttention:
    """Latent attention (DeepSeek-V2, section 2.1): keys and values of all heads are made of one latent row."""

    heads: int
    nope: int
    """Values of a query or key head that no position turns."""
    rotated: int
    """Values of a query head that are turned; the key's are shared by all heads."""
    value_dim: int
    kv_rank: int
    """Values of the latent row."""
    q_rank: int | None
    """Values of the query's own latent row, where it has one."""
    rope: Rope
    scale: float
    bias: bool
    """Whether the products to the latent rows, and the output's, have biases."""
    interleaved: bool
    """Whether the checkpoint's rows pair a turned value with its neighbour, not with the one half a head away."""

    @property
    def query_dim(self) -> int:
        """Values of a query head."""
        return self.nope + self.rotated

    @property
    def latent_width(self) -> int:
        """Values of a row of the table: the latent ones, then the turned key."""
        return self.kv_rank + self.rotated


@dataclass(frozen=True)
class DeltaNet:
    """Linear attention by the gated delta rule (Gated DeltaNet, Yang et al., 2024), fed by short convolutions."""

    key_heads: int
    value_heads: int
    head_dim: int
    """Values of a key head, and of a value head."""
    taps: int

    @property
    def key_width(self) -> int:
        """Values of all key heads of a row, and of all query heads."""
        return self.key_heads * self.head_dim

    @property
    def value_width(self) -> int:
        """Values of all value heads of a row."""
        return self.value_heads * self.head_dim

    @property
    def group(self) -> int:
        """Value heads that read one key head."""
        return self.value_heads // self.key_heads


@dataclass(frozen=True)
class GatedMlp:
    """W_down · (act(W_gate · x) ⊙ W_up · x)."""

    intermediate: int
    activation: Activation = Activation.SILU
    bias: bool = False


@dataclass(frozen=True)
class SharedExpert:
    """An expert that every row takes; `name` is its part's in the checkpoint."""

    name: str
    intermediate: int
    gated: bool
    """Whether a sigmoid of each row weighs what the expert makes of it."""


@dataclass(frozen=True)
class Router:
    """How a row chooses its experts and weighs them; `tgraph.moe` says what each field means."""

    name: str = "gate"
    scores: Scores = Scores.SOFTMAX
    renormalize: bool = False
    routed_scale: float | None = None
    groups: tuple[int, int] | None = None
    """(groups, groups kept)."""
    group_best: int | None = None
    bias: bool = False
    selection_bias: bool = False


@dataclass(frozen=True)
class Mixture:
    """A mixture of experts of one hidden width, at times beside a shared one."""

    experts: int
    top_k: int
    intermediate: int
    router: Router
    activation: ExpertActivation = ExpertActivation.SILU
    limit: float | None = None
    """Where clamped_swiglu clamps."""
    bias: bool = False
    """Whether each expert's three products have biases."""
    by_inputs: bool = False
    """Whether the checkpoint keeps each expert's matrices input by input, gate and up values alternating (gpt-oss)."""
    packed: Format | None = None
    """The block format in which the checkpoint keeps the experts' rows, whatever the other matrices' is."""
    shared: SharedExpert | None = None


Mixer = Attention | LatentAttention | DeltaNet
FeedForward = GatedMlp | Mixture


@dataclass(frozen=True)
class Layer:
    """One layer: what mixes positions, then what works on each alone."""

    mixer: Mixer
    feed_forward: FeedForward


@dataclass(frozen=True)
class DecoderConfig:
    """A decoder's shape."""

    hidden: int
    vocabulary: int
    max_context: int
    """Positions the model was made for (`max_position_embeddings`)."""
    norm_eps: float
    tied: bool
    """Whether the output head is the embedding table."""
    stored: Format
    """How the weights were saved, by the configuration (`dtype`); the checkpoint itself has the last word."""
    layers: tuple[Layer, ...]
    norm_plus_one: bool = False
    """Whether norms multiply by 1 + w, not w."""
    sandwich: bool = False
    """Whether each part of a layer is normed after it as well as before."""
    embedding_scale: float | None = None
    logit_softcap: float | None = None
