"""A wide chunk's latent attention, expanded: its keys, its values, then the attention over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, f32, i64
from xdsl.ir import SSAValue

from lanelink.dialects import launch
from lanelink.dialects.launch.base import Fields, LeafLaunch, buffer_shape
from lanelink.dialects.tgraph import FusedOp, LiftedOp
from lanelink.dialects.tgraph.attributes import matrix
from lanelink.dialects.tgraph.fused import numbers
from lanelink.passes.fuse.latent import Latent, latent
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.linker import number
from lanelink.passes.origin import origin

if TYPE_CHECKING:
    from lanelink.passes.link.linker import Linker


def mla(linker: Linker, op: FusedOp) -> list[Draft]:
    """
    The key half covers what absorbed the query, the value half what took the values from the rows, the attention the
    rest. What turns the query, where it is a part, runs before them as it would alone.
    """
    found = latent(op.parts[-1])
    assert found is not None
    for leaf in op.leaves():
        if (why := linker.shim.refuses(leaf)) is not None:
            raise linker.error(leaf, why)
    q_rope, before = _rotated(linker, op, found)
    table, position = linker.buffer(origin(found.attention.keys)), found.attention.position
    assert position is not None
    heads, rows = found.attention.heads, matrix(found.attention.q, "attention q")[0]
    length, _ = buffer_shape(table, "latent table")
    latent_width, nope, value_dim = found.absorb.outputs, found.absorb.inputs, found.expand.outputs
    shared = {"table": table, "position": linker.buffer(origin(position)), "heads": heads, "latent": latent_width}

    def half(kind: type[LeafLaunch], weight: SSAValue, width: IntegerAttr, covers: LiftedOp) -> Draft:
        out = linker.alloc(MemRefType(f32, [length, heads.value.data * width.value.data]))
        fields: Fields = {
            **shared,
            "w": linker.buffer(origin(weight)),
            "width": width,
            "rows": IntegerAttr(rows, i64),
            "out": out,
        }
        return Draft(kind, fields, number(covers), location=covers.location)

    keys = half(launch.LatentKeysOp, found.absorb.weight, nope, found.absorb)
    values = half(launch.LatentValuesOp, found.expand.weight, value_dim, found.values)
    counted = {n for draft in (*before, keys, values) for n in draft.covers}
    attend: Fields = {
        **shared,
        "nope": nope,
        "rope": IntegerAttr(matrix(found.join.b, "join b")[1] // heads.value.data, i64),
        "value_dim": value_dim,
        "q_pitch": IntegerAttr(found.pitch, i64),
        "q_offset": IntegerAttr(found.offset, i64),
        "scale": FloatAttr(found.attention.effective_scale, f32),
        "q": linker.buffer(origin(found.query)),
        "q_rope": q_rope,
        "keys": keys.fields["out"],
        "values": values.fields["out"],
        "out": linker.buffer(found.expand.result),
    }
    rest = tuple(n for n in numbers(op) if n not in counted)
    return [*before, keys, values, Draft(launch.LatentAttendOp, attend, rest, location=found.attention.location)]


def _rotated(linker: Linker, op: FusedOp, found: Latent) -> tuple[SSAValue, list[Draft]]:
    """The buffer of the query's rotated part, and the launches that write it where they are parts of `op`."""
    holder = found.join.parent_op()
    maker = found.join.b.owner
    if holder is op or not isinstance(holder, FusedOp) or not isinstance(maker, LiftedOp | FusedOp):
        return linker.buffer(origin(found.join.b)), []

    def rotation(inner: Linker, _: FusedOp) -> list[Draft]:
        return inner.several(maker)

    made = linker.inside(holder, rotation)
    return linker.buffer(found.join.b), made


__all__ = ["mla"]
