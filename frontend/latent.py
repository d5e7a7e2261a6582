"""Multi-head latent attention (DeepSeek-V2, https://arxiv.org/abs/2405.04434, section 2.1), absorbed: queries are taken
to the latent space, so that a position's row holds one latent vector and one turned key for all heads."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from lanelink.dialects.tgraph import (
    AttentionOp,
    CheckpointAttr,
    HeadMatmulOp,
    HeadSliceOp,
    JoinOp,
    StoredUnit,
    StoredViewAttr,
)
from lanelink.frontend.builders import Outputs, linear, rms_norm, rotary, table_rows
from lanelink.frontend.shapes import DecoderConfig, LatentAttention
from lanelink.frontend.step_builder import StepBuilder
from lanelink.frontend.weights import Place

LATENT_EPS = 1e-6
"""Of the norms of latent rows, whatever config.json says of the others."""


def latent_attention(
    step: StepBuilder, config: DecoderConfig, part: LatentAttention, x: SSAValue, layer: str
) -> SSAValue:
    """W_o · (W_uv · attention(W_ukᵀ · q, rope(q_r); C)), head by head, once this step's latent rows are in table C,
    [context, kv_rank + rotated]. `layer` names it."""
    rank, heads = part.kv_rank, part.heads
    q, q_rope = _query(step, config, part, x)
    tables = _latent_rows(step, config, part, x, layer)
    absorbed = step.add(
        HeadMatmulOp(q, _key_matrix(step, part), heads=heads, inputs=part.nope, outputs=rank), "absorbed"
    )
    q_rope = rotary(step, q_rope, part.rope, heads=heads, head_dim=part.rotated, rotated=part.rotated)
    joined = step.add(JoinOp(absorbed, q_rope, heads), "query")
    attended = step.together(_attend(step, part, step.apart(joined), tables), absorbed)
    expand = HeadMatmulOp(attended, _value_matrix(step, part), heads=heads, inputs=rank, outputs=part.value_dim)
    expanded = step.add(expand, "expanded")
    return linear(step, "o_proj", expanded, heads * part.value_dim, config.hidden, bias=part.bias)


def _query(step: StepBuilder, config: DecoderConfig, part: LatentAttention, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """What no position turns of every head's query, and what is to be turned."""
    name, inputs = "q_proj", config.hidden
    if part.q_rank is not None:
        x = linear(step, "q_a_proj", x, config.hidden, part.q_rank, bias=part.bias)
        x = rms_norm(step, "q_a_layernorm", x, part.q_rank, LATENT_EPS)
        name, inputs = "q_b_proj", part.q_rank
    heads, each = part.heads, part.query_dim
    kept = Outputs(name, heads * each, (heads, part.nope), (each, 1))
    turned = Outputs(name, heads * each, *_halves(part, (heads, each)), part.nope)
    return (
        linear(step, "q_nope", x, inputs, kept.count, of=kept),
        linear(step, "q_rope", x, inputs, turned.count, of=turned),
    )


def _attend(
    step: StepBuilder, part: LatentAttention, queries: Sequence[SSAValue], tables: Sequence[SSAValue]
) -> list[SSAValue]:
    """Each sequence's attention over its own table, whose rows begin with the values."""
    made: list[SSAValue] = []
    for query, table, position in zip(queries, tables, step.positions, strict=True):
        values = step.add(HeadSliceOp(table, start=0, width=part.kv_rank, every=part.latent_width), "values")
        op = AttentionOp(
            query,
            table,
            values,
            position,
            heads=part.heads,
            kv_heads=1,
            head_dim=part.latent_width,
            value_dim=part.kv_rank,
            scale=part.scale,
        )
        made.append(step.add(op, "attended"))
    return made


def _latent_rows(
    step: StepBuilder, config: DecoderConfig, part: LatentAttention, x: SSAValue, layer: str
) -> list[SSAValue]:
    """Each sequence's table, with this step's rows in it: norm(W_dkv · x), then the turned W_kr · x."""
    source, total = "kv_a_proj_with_mqa", part.latent_width
    latent = Outputs(source, total, (part.kv_rank,), (1,))
    turned = Outputs(source, total, *_halves(part), part.kv_rank)
    c = linear(step, "kv_a", x, config.hidden, latent.count, bias=part.bias, of=latent)
    k = linear(step, "k_rope", x, config.hidden, turned.count, bias=part.bias, of=turned)
    c = rms_norm(step, "kv_a_layernorm", c, part.kv_rank, LATENT_EPS)
    k = rotary(step, k, part.rope, heads=1, head_dim=part.rotated, rotated=part.rotated)
    row = step.add(JoinOp(c, k, 1), "latent")
    name = f"{layer}.latents"
    tables = table_rows(step, step.key_values(name, total), step.apart(row), "latents")
    step.keep(name, tables)
    return tables


def _halves(part: LatentAttention, *outer: tuple[int, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides of turned rows, a pair half a head apart as rotations have it, inside (size, stride)s."""
    half = part.rotated // 2
    inner = ((2, 1), (half, 2)) if part.interleaved else ((part.rotated, 1),)
    sizes, strides = zip(*outer, *inner, strict=True)
    return tuple(sizes), tuple(strides)


def _key_matrix(step: StepBuilder, part: LatentAttention) -> SSAValue:
    """W_uk of every head, a row an input of the absorbing product: [heads · nope, kv_rank]; where the checkpoint keeps
    a matrix of keys alone, a row an output of it: [heads · kv_rank, nope]."""
    name = "k_b_proj.weight"
    if step.weights.holds(step.full_name(name)):
        return step.matrix(name, part.heads * part.kv_rank, part.nope, transposed=True)
    rows, place = part.heads * part.nope, _up(step, part, part.nope, 0)
    return step.matrix(name, rows, part.kv_rank, transposed=False, place=place)


def _value_matrix(step: StepBuilder, part: LatentAttention) -> SSAValue:
    """W_uv of every head, a row an output: [heads · value_dim, kv_rank], of a matrix of its own or of both's."""
    name = "v_b_proj.weight"
    has_own = step.weights.holds(step.full_name(name))
    place = None if has_own else _up(step, part, part.value_dim, part.nope)
    return step.matrix(name, part.heads * part.value_dim, part.kv_rank, transposed=True, place=place)


def _up(step: StepBuilder, part: LatentAttention, rows: int, offset: int) -> Place:
    """`rows` of each head's part of the matrix that keys and values are made by."""
    each = part.nope + part.value_dim
    view = StoredViewAttr(StoredUnit.ROWS, (part.heads, rows), (each, 1), offset)
    return Place(CheckpointAttr(step.full_name("kv_b_proj.weight"), view=view), (part.heads * each, part.kv_rank))
