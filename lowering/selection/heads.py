"""Kernel calls of products head by head, and of joined heads."""

from __future__ import annotations

from lanelink.dialects.formats import BLOCK_VALUES
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.selection.calls import I32, Argument, KernelCall
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.head_specs import HeadGemvSpec, JoinSpec
from lanelink.lowering.selection.operands import Quantized
from lanelink.lowering.selection.packing import MAX_GRID_X, MAX_GRID_YZ, reading, require, rows_of_step, writing
from lanelink.lowering.selection.products import THREADS, input_name, staged_bytes
from lanelink.lowering.selection.rows import copy_grid

# The kernels' own constants (kernels/head_gemv.cu).
STORED_ROWS = 4  # that a group of lanes takes together where rows are outputs
MOST_LANES = 32
MOST_LANES_OF_INPUTS = 16  # where rows are inputs: 256 bytes of a row, so that there are blocks enough

STATIC_SHARED = 1024
"""At least the static shared memory of these kernels."""


def lanes_for(words: int, most: int) -> int:
    """Neighbouring lanes that share a stored row of `words` 16-byte loads: a power of two, no more than it takes."""
    return min(most, 1 << (words - 1).bit_length())


def head_gemv(spec: HeadGemvSpec, chip: Chip) -> KernelCall:
    """The call of one matrix a head: a block takes a tile of one head's outputs, for one row of x."""
    rows_of_step(spec.m, "head product", MAX_GRID_X)
    sizes = (spec.heads, spec.inputs, spec.outputs)
    require(min(sizes) >= 1, "head product sizes", "at least 1 head of 1 input and output", sizes)
    require(spec.heads <= MAX_GRID_YZ, "head product heads", f"at most {MAX_GRID_YZ}", spec.heads)
    name = input_name(spec.x, spec.format)
    stored = spec.inputs if spec.rows_are_outputs else spec.outputs
    block = spec.format.block_values
    require(stored % block == 0, "head product's stored rows", f"a multiple of {block} values", stored)
    pitch = plane_layout(spec.format, 1, stored).pitch
    values = spec.format.values_a_load
    words = -(-stored // values)
    if spec.rows_are_outputs:
        entry, lanes = f"{name}_outputs", lanes_for(words, MOST_LANES)
        tile, shared = THREADS // lanes * STORED_ROWS, staged_bytes(spec.x, spec.format, spec.inputs)
    else:
        entry, lanes = "inputs", lanes_for(words, MOST_LANES_OF_INPUTS)
        tile, shared = lanes * values, 4 * (THREADS * values + spec.inputs)
    room = chip.shared_bytes - STATIC_SHARED
    require(shared <= room, "head product inputs", f"a head of x in {room} bytes of shared memory", shared)
    tiles = -(-spec.outputs // tile)
    require(tiles <= MAX_GRID_YZ, "head product outputs", f"at most {MAX_GRID_YZ} tiles of {tile}", spec.outputs)
    numbers = (pitch, spec.heads, spec.inputs, spec.outputs, spec.m, lanes)
    y_unit = spec.outputs if spec.y_unit is None else spec.y_unit
    return KernelCall(
        f"head_gemv_{spec.format.value}",
        f"head_gemv_{spec.format.value}_{entry}",
        (spec.m, tiles, spec.heads),
        (THREADS, 1, 1),
        shared,
        (*_source(spec), spec.weights, *(I32(n) for n in numbers), *writing(spec.y), I32(y_unit)),
    )


def _source(spec: HeadGemvSpec) -> tuple[Argument, ...]:
    """x, its pitch, values from one head to the next, and its planes, 0 of f32 rows."""
    if isinstance(spec.x, Quantized):
        require(spec.x_unit is None, "head product of quantized activations", "heads one after another", spec.x_unit)
        require(spec.inputs % BLOCK_VALUES == 0, "head product inputs", f"a multiple of {BLOCK_VALUES}", spec.inputs)
        return spec.x.address, I32(0), I32(0), I32(spec.x.planes)
    return *reading(spec.x, "head product x"), I32(spec.inputs if spec.x_unit is None else spec.x_unit), I32(0)


def join(spec: JoinSpec, chip: Chip) -> KernelCall:
    """The call of two rows joined head by head."""
    rows_of_step(spec.m, "join")
    sizes = (spec.heads, spec.a_width, spec.b_width)
    require(min(sizes) >= 1, "join", "at least 1 head of 1 value of each", sizes)
    y_unit = spec.a_width + spec.b_width if spec.y_unit is None else spec.y_unit
    a, b = (*reading(spec.a, "join a"), I32(spec.a_width)), (*reading(spec.b, "join b"), I32(spec.b_width))
    arguments = (*a, *b, *writing(spec.y), I32(y_unit), I32(spec.heads))
    grid, block = copy_grid(max(spec.a_width, spec.b_width), spec.heads, spec.m, "join")
    return KernelCall("elementwise", "join_rows", grid, block, 0, arguments)


__all__ = ["head_gemv", "join", "lanes_for"]
