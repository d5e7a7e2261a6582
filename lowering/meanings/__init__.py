"""The one numpy meaning of each lifted op and launch: pure functions of plain arrays, a module a family.

Arrays are f32 (weights already decoded, activations already dequantized); arithmetic is f64, rounded to f32 once at
each value a launch stores, so that a kernel's error against a meaning is the kernel's own rounding. What has state
gives the new state, and leaves the one it was given.
"""

from lanelink.lowering.meanings.arithmetic import Doubles, Floats, Ints
from lanelink.lowering.meanings.attention import attention, latent_attention, lut_attention
from lanelink.lowering.meanings.delta import causal_conv, decay, gate_projections, gated_delta, gates, l2_norm
from lanelink.lowering.meanings.heads import head_matrices, head_product, join, latent_rows
from lanelink.lowering.meanings.integers import clamp, requantize
from lanelink.lowering.meanings.mixture import Experts, Routing, SharedExpert, mixture, route
from lanelink.lowering.meanings.rows import (
    arg_max,
    binary,
    gated_pair,
    gather,
    layer_norm,
    norm,
    product,
    rope,
    set_rows,
    slice_units,
    soft_cap,
    softmax,
    swiglu,
    unary,
)

__all__ = [
    "Doubles",
    "Experts",
    "Floats",
    "Ints",
    "Routing",
    "SharedExpert",
    "arg_max",
    "attention",
    "binary",
    "causal_conv",
    "clamp",
    "decay",
    "gate_projections",
    "gated_delta",
    "gated_pair",
    "gates",
    "gather",
    "head_matrices",
    "head_product",
    "join",
    "l2_norm",
    "latent_attention",
    "latent_rows",
    "layer_norm",
    "lut_attention",
    "mixture",
    "norm",
    "product",
    "requantize",
    "rope",
    "route",
    "set_rows",
    "slice_units",
    "soft_cap",
    "softmax",
    "swiglu",
    "unary",
]
