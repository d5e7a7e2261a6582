"""What sets the families of dense decoders apart, as one row a family."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One architecture of dense decoders: how its config.json is read, and what its layers hold.

    Sources: each family's `configuration_*.py` and `modeling_*.py` in transformers.
    """

    model_type: str
    """config.json's `model_type`."""

    class_name: str
    """config.json's `architectures`."""

    head_norm: bool = False
    """Whether each query and key head is normed before its rotation."""

    always_qkv_bias: bool = False
    """Whether query, key and value have biases and the output has none, whatever config.json says."""

    reads_attention_bias: bool = False
    """Whether `attention_bias` gives all four attention products a bias."""

    reads_mlp_bias: bool = False
    """Whether `mlp_bias` gives the three feed-forward products a bias."""

    reads_windows: bool = False
    """Whether `use_sliding_window` and `layer_types` are looked at."""

    default_head_dim: int | None = None
    """`head_dim` where config.json has no such key; hidden size over heads where this is None."""

    default_context: int = 32768
    """`max_position_embeddings` where config.json has no such key."""

    default_tied: bool = False
    """`tie_word_embeddings` where config.json has no such key."""
