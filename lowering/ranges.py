"""What random values a constant takes by the op that reads it, where its shape alone does not tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from lanelink.dialects.tgraph.attention import AttentionOp
from lanelink.dialects.tgraph.block_attention import LutAttentionOp
from lanelink.dialects.tgraph.delta import CausalConvOp, DecayOp
from lanelink.dialects.tgraph.fused import FusedOp
from lanelink.dialects.tgraph.heads import HeadMatmulOp
from lanelink.dialects.tgraph.lifted import LiftedOp
from lanelink.dialects.tgraph.mixture import MoeOp
from lanelink.dialects.tgraph.products import MatmulOp

Floats: TypeAlias = npt.NDArray[np.float32]
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], npt.NDArray[np.float64]]

LARGEST_A = 16
SHORTEST_STEP, LONGEST_STEP = 0.001, 0.1
"""A delta rule's decay is exp(-A * softplus(a + dt_bias)): A is at first uniform up to 16, and dt_bias such that the
softplus of it alone lies between these, evenly in its logarithm (Gated DeltaNet, after Mamba 2)."""

BIAS_DEVIATION = 0.1


def _a_log(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return np.log(rng.uniform(1, LARGEST_A, shape))


def _dt_bias(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    step = np.exp(rng.uniform(np.log(SHORTEST_STEP), np.log(LONGEST_STEP), shape))
    return step + np.log(-np.expm1(-step))  # the inverse of softplus


def _bias(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return BIAS_DEVIATION * rng.standard_normal(shape)


def _sinks(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return rng.standard_normal(shape)  # as scores are


def _rising(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return np.sort(rng.uniform(0, 1, shape))  # as an exponential does


DRAWS: dict[tuple[type[LiftedOp], str], Draw] = {
    (DecayOp, "a_log"): _a_log,
    (DecayOp, "dt_bias"): _dt_bias,
    (MoeOp, "router_bias"): _bias,
    (MoeOp, "gate_bias"): _bias,
    (MoeOp, "up_bias"): _bias,
    (MoeOp, "down_bias"): _bias,
    (MoeOp, "selection_bias"): _bias,
    (AttentionOp, "sinks"): _sinks,
    (LutAttentionOp, "table"): _rising,
}
"""(The op that reads a constant of values, the operand it is) → how it is drawn."""


def draw_of(value: SSAValue) -> Draw | None:
    """How a constant of values is drawn by the first op of `DRAWS` that reads it; none where no such op does."""
    return next((draw for op, name in readers(value) if (draw := DRAWS.get((type(op), name))) is not None), None)


def terms_of(value: SSAValue) -> int | None:
    """How many of a matrix's values go into one sum of the first product that reads it; none where no product does."""
    return next((terms for op, name in readers(value) if (terms := _terms(op, name, value)) is not None), None)


def _terms(op: LiftedOp, name: str, matrix: SSAValue) -> int | None:
    match op, name:
        case MatmulOp(), "weight":
            return MatmulOp.weight_shape(matrix)[0]
        case MoeOp(), "router" | "gate" | "up" | "down":
            return MatmulOp.weight_shape(matrix)[0]
        case HeadMatmulOp(), "weight":
            return op.inputs.value.data
        case CausalConvOp(), "weight":
            return MatmulOp.weight_shape(matrix)[1]
        case _:
            return None


def readers(value: SSAValue) -> Iterator[tuple[LiftedOp, str]]:
    """The lifted ops that read a value, looking into fused ops, each with the name of the operand that it is."""
    for use in value.uses:
        op: Operation = use.operation
        if isinstance(op, FusedOp):
            yield from readers(op.body.block.args[use.index])
        elif isinstance(op, LiftedOp):
            yield op, operand_name(op, use.index)


def operand_name(op: LiftedOp, index: int) -> str:
    """The name of an operand by its place among those that are given."""
    given = [name for name, _ in op.get_irdl_definition().operands if getattr(op, name) is not None]
    return given[index]


__all__ = ["draw_of", "operand_name", "readers", "terms_of"]
