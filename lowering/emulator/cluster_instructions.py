"""Barriers of a cluster, addresses in it, and stores that a barrier of another block counts (PTX ISA 9.7.13.4, 9.7.9.22
and .23; 9.7.9.12, st.async): calls of the chunk's memory.
"""

from lanelink.lowering.emulator import memory_instructions as memory
from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.modifiers import Handler, Modifiers
from lanelink.lowering.emulator.ptx import Instruction, Vector
from lanelink.lowering.emulator.types import TAGS
from lanelink.lowering.emulator.warp_instructions import warp_barrier


def barrier(e: Emitter, i: Instruction) -> None:
    """barrier.cluster.arrive. Its wait ends a basic block, and is the executor's; others are the warp's."""
    if "cluster" not in i.modifiers:
        warp_barrier(e, i)
        return
    m = Modifiers(e, i)
    m.need(("cluster",), "a scope")
    m.need(("arrive",), "an arrival")
    order = m.choice(("release", "relaxed")) or "release"
    aligned = m.flag("aligned")
    m.done()
    m.operands(0)
    e.emit(f"X.arrive('{order}', {aligned}, {e.mask}, {e.at})")


def check_wait(e: Emitter, i: Instruction) -> None:
    """Refuse any form of barrier.cluster.wait but those that acquire."""
    m = Modifiers(e, i)
    m.need(("cluster",), "a scope")
    m.need(("wait",), "a wait")
    m.drop(frozenset({"acquire", "aligned"}))
    m.done()
    m.operands(0)


def map_address(e: Emitter, i: Instruction) -> None:
    """mapa: an address of shared memory, in the block of a rank."""
    m = Modifiers(e, i)
    shared = m.flag("shared::cluster")
    kind = m.type()
    if kind not in (("u32", "u64") if shared else ("u64",)):
        raise m.unknown_type(kind)
    d, a, rank = m.operands(3)
    tag = f"u{int(kind[1:]) // 8}"
    e.define(d, f"X.map_address({e.use(a, tag)}, {e.use(rank, 'u4')}, {e.mask}, {e.at})", tag)


def address_rank(e: Emitter, i: Instruction) -> None:
    """getctarank: whose shared memory an address is in."""
    m = Modifiers(e, i)
    shared = m.flag("shared::cluster")
    kind = m.type()
    if kind not in (("u32", "u64") if shared else ("u64",)):
        raise m.unknown_type(kind)
    d, a = m.operands(2)
    e.define(d, f"X.address_rank({e.use(a, f'u{int(kind[1:]) // 8}')})", "u4")


def store(e: Emitter, i: Instruction) -> None:
    """st.async: values for another block's shared memory, whose bytes a barrier there counts. Others are plain."""
    if "async" not in i.modifiers:
        memory.store(e, i)
        return
    m = Modifiers(e, i)
    m.need(("async",), "an asynchronous store")
    m.drop(frozenset({"weak"}))
    m.need(("shared::cluster",), "a state space")
    m.need(("mbarrier::complete_tx::bytes",), "what counts it")
    vector = m.choice(("v2", "v4"))
    kind = m.type()
    count = int(vector[1]) if vector else 1
    if kind not in ("b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64") or int(kind[1:]) * count > 128:
        raise m.unknown_type(kind)
    address, value, counter = m.operands(3)
    sources = value.items if isinstance(value, Vector) else (value,)
    if len(sources) != count:
        raise e.error(f"expected {count} values of {i.text}, got {len(sources)}")
    places = ", ".join(f"({base}, {offset})" for base, offset in (e.address(o) for o in (address, counter)))
    values = "".join(f"{e.use(s, TAGS[kind])}, " for s in sources)
    e.emit(f"X.store_async({places}, ({values}), {e.mask}, {e.at})")


TABLE: dict[str, Handler] = {"barrier": barrier, "mapa": map_address, "getctarank": address_rank, "st": store}
