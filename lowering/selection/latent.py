"""Every head's keys or values of a latent table's rows: spec and kernel call."""

from __future__ import annotations

from dataclasses import dataclass

from lanelink.dialects.formats import Format
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection.calls import I32, Address, KernelCall
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.operands import Rows
from lanelink.lowering.selection.packing import fixed, reading, require, rows_of_step

# The kernels' own constants (kernels/latent.cu).
POSITIONS = 128
OUTPUTS = 64
RUN = 32
THREADS = 256


@dataclass(frozen=True)
class LatentSpec:
    """The first `latent` values of rows 0..position + m - 1 of a table of `length` by one matrix a head.

    `weights` holds planes (`lowering.repack`) of [heads * width, latent] where `by_outputs`, each stored row one
    output; of [heads * latent, width] otherwise, each one input. Row p of y is every head's `width` outputs of row p.
    """

    table: Rows
    weights: Address
    format: Format
    by_outputs: bool
    heads: int
    latent: int
    width: int
    m: int
    length: int
    position: Address
    y: Rows


def latent(spec: LatentSpec, chip: Chip) -> KernelCall:
    """The call that expands a latent table's rows. Raises SelectionError for what the kernel cannot run."""
    require(min(spec.heads, spec.latent, spec.width, spec.m) >= 1, "latent rows", "sizes of at least 1", spec)
    rows, cols = (spec.heads * spec.width, spec.latent) if spec.by_outputs else (spec.heads * spec.latent, spec.width)
    blocked = cols % spec.format.block_values == 0
    require(blocked, "latent weights' width", f"a multiple of {spec.format.block_values}", cols)
    whole = spec.by_outputs or spec.width % RUN == 0
    require(whole, "latent outputs of a head, of weights by inputs", f"a multiple of {RUN}", spec.width)
    row_blocks = -(-spec.length // POSITIONS)
    rows_of_step(row_blocks, f"latent table, {POSITIONS} a block:")
    outputs = spec.heads * spec.width
    arguments = (
        *reading(spec.table, "latent table"),
        *(spec.weights, I32(rows), I32(cols), I32(plane_layout(spec.format, rows, cols).pitch)),
        *(I32(spec.latent), I32(spec.width), I32(outputs), I32(spec.m), spec.position),
        *(fixed(spec.y, "latent result"), I32(spec.y.pitch)),
    )
    stem = f"latent_{spec.format.value}"
    entry = f"{stem}_{'by_outputs' if spec.by_outputs else 'by_inputs'}"
    return KernelCall(stem, entry, (-(-outputs // OUTPUTS), row_blocks, 1), (THREADS, 1, 1), 0, arguments)


__all__ = ["LatentSpec", "latent"]
