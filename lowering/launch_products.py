"""The specs of products: one, several of one activation, a gated pair."""

from __future__ import annotations

from collections.abc import Sequence

from lanelink.dialects import launch
from lanelink.dialects.launch.base import activation_shape
from lanelink.lowering.functions import Activation
from lanelink.lowering.launch_operands import (
    activation,
    optional_address,
    optional_whole,
    placed,
    quantized,
    rows,
    weights_of,
)
from lanelink.lowering.selection.operands import Rows
from lanelink.lowering.selection.specs import GemvPart, GemvSpec, GluSpec
from lanelink.passes.tensor_cores import Tail

Product = launch.GemvOp | launch.GemmPartOp
Products = launch.GemvOp | launch.GemmPartsOp


def gemv_spec(op: launch.GemvOp) -> GemvSpec:
    """One product."""
    m, k = activation_shape(op.x, op.name)
    address, format, n = weights_of(op.w)
    part = GemvPart(address, n, placed(op, op.out), optional_address(op.bias))
    quant, per_warp = quantized(op.quant), optional_whole(op.per_warp)
    return GemvSpec(activation(op.x), format, k, m, (part,), quantized=quant, per_warp=per_warp, tail=tail_of(op))


def gemm_parts_spec(op: launch.GemmPartsOp) -> GemvSpec:
    """Several products of one activation."""
    return products_spec(op, [placed(part, part.out) for part in parts_of(op)])


def products_spec(op: Products, results: Sequence[Rows | None]) -> GemvSpec:
    """The products of an op, landing at `results`."""
    m, k = activation_shape(op.x, op.name)
    parts: list[GemvPart] = []
    formats = [weights_of(part.w)[1] for part in parts_of(op)]
    for part, y in zip(parts_of(op), results, strict=True):
        weights, _, n = weights_of(part.w)
        parts.append(GemvPart(weights, n, y, optional_address(part.bias)))
    per_warp = optional_whole(op.per_warp)
    return GemvSpec(activation(op.x), formats[0], k, m, tuple(parts), per_warp=per_warp, tail=tail_of(op))


def parts_of(op: Products) -> list[Product]:
    """The products that an op holds."""
    if isinstance(op, launch.GemvOp):
        return [op]
    return [part for part in op.members() if isinstance(part, launch.GemmPartOp)]


def glu_spec(op: launch.GemvGluOp) -> GluSpec:
    """A gated pair."""
    m, k = activation_shape(op.x, op.name)
    gate, format, n = weights_of(op.wg)
    up, _, _ = weights_of(op.wu)
    return GluSpec(
        x=activation(op.x),
        format=format,
        k=k,
        n=n,
        m=m,
        gate=gate,
        up=up,
        act=Activation(op.act.data.value),
        gate_bias=optional_address(op.bg),
        up_bias=optional_address(op.bu),
        y=None if op.out is None else rows(op.out),
        quantized=quantized(op.quant),
        per_warp=optional_whole(op.per_warp),
        tail=tail_of(op),
    )


def tail_of(op: Products | launch.GemvGluOp) -> Tail | None:
    """How the last tiles of a product on tensor cores are shared."""
    first, split = optional_whole(op.tail_from), optional_whole(op.tail_split)
    return None if first is None or split is None else Tail(first, split)


__all__ = ["gemm_parts_spec", "gemv_spec", "glu_spec", "parts_of", "products_spec"]
