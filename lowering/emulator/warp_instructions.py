"""Shuffles, votes and barriers of a warp (PTX ISA 9.7.9.6, 9.7.13): calls of the chunk's warps."""

from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.modifiers import Handler, Modifiers
from lanelink.lowering.emulator.ptx import Immediate, Instruction, Name, Pair
from lanelink.lowering.emulator.types import TAGS


def shuffle(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    if not m.flag("sync"):
        raise e.error(f"expected shfl.sync, got {i.text}")
    mode = m.need(("up", "down", "bfly", "idx"), "a mode")
    if m.type() != "b32":
        raise e.error(f"expected a shuffle of .b32, got {i.text}")
    d, a, b, c, members = m.operands(5)
    values = ", ".join(e.use(o, "u4") for o in (a, b, c, members))
    call = f"X.shuffle('{mode}', {values}, {e.mask}, {e.at}, {isinstance(d, Pair)})"
    result = e.temporary(call)
    if isinstance(d, Pair):
        e.define(d.second, f"{result}[1]", "?")
        e.define(d.first, f"{result}[0]", "u4")
    else:
        e.define(d, f"{result}[0]", "u4")


def vote(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    if not m.flag("sync"):
        raise e.error(f"expected vote.sync, got {i.text}")
    mode = m.need(("all", "any", "uni", "ballot"), "a mode")
    kind = m.type()
    if kind != ("b32" if mode == "ballot" else "pred"):
        raise m.unknown_type(kind)
    d, p, members = m.operands(3)
    call = f"X.vote('{mode}', {e.use(p, '?')}, {e.use(members, 'u4')}, {e.mask}, {e.at})"
    e.define(d, call, "u4" if mode == "ballot" else "?")


def reduce(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    if not m.flag("sync"):
        raise e.error(f"expected redux.sync, got {i.text}")
    mode = m.need(("add", "min", "max", "and", "or", "xor"), "an operation")
    kind = m.type()
    if kind not in (("b32",) if mode in ("and", "or", "xor") else ("u32", "s32")):
        raise m.unknown_type(kind)
    d, a, members = m.operands(3)
    tag = TAGS[kind]
    e.define(d, f"X.reduce('{mode}', {e.use(a, tag)}, {e.use(members, 'u4')}, {e.mask}, {e.at})", tag)


def match(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    if not m.flag("any") or not m.flag("sync"):
        raise e.error(f"expected match.any.sync, got {i.text}")
    kind = m.type()
    if kind not in ("b32", "b64"):
        raise m.unknown_type(kind)
    d, a, members = m.operands(3)
    e.define(d, f"X.match({e.use(a, TAGS[kind])}, {e.use(members, 'u4')}, {e.mask}, {e.at})", "u4")


def active(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    if m.type() != "b32":
        raise e.error(f"expected activemask.b32, got {i.text}")
    (d,) = m.operands(1)
    e.define(d, f"X.active({e.mask})", "u4")


def elect(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    if not m.flag("sync"):
        raise e.error(f"expected elect.sync, got {i.text}")
    d, members = m.operands(2)
    if not isinstance(d, Pair):
        raise e.error("expected d|p of elect.sync")
    result = e.temporary(f"X.elect({e.use(members, 'u4')}, {e.mask}, {e.at})")
    e.define(d.second, f"{result}[1]", "?")
    e.define(d.first, f"{result}[0]", "u4")


def warp_barrier(e: Emitter, i: Instruction) -> None:
    """bar.warp.sync. The barriers of a block end a basic block, and are the executor's."""
    if i.modifiers != ("warp", "sync") or len(i.operands) != 1:
        raise e.error(f"expected an instruction that the emulator knows, got {i.text}")
    e.emit(f"X.warp_barrier({e.use(i.operands[0], 'u4')}, {e.mask}, {e.at})")


def barrier_of(e: Emitter, i: Instruction) -> tuple[int, int | None]:
    """A block's barrier: its number, and how many threads it waits for (None: the whole block)."""
    known = (("sync",), ("cta", "sync"), ("sync", "aligned"), ("cta", "sync", "aligned"))
    if i.opcode not in ("bar", "barrier") or i.modifiers not in known or len(i.operands) not in (1, 2):
        raise e.error(f"expected an instruction that the emulator knows, got {i.text}")
    numbers: list[int] = []
    for operand in i.operands:
        if not isinstance(operand, Immediate):
            raise e.error(f"expected a constant in {i.text}, got {operand}")
        numbers.append(operand.value)
    if not 0 <= numbers[0] < 16:
        raise e.error(f"expected a barrier from 0 to 15, got {numbers[0]}")
    if len(numbers) == 1:
        return numbers[0], None
    if numbers[1] <= 0 or numbers[1] % 32 or numbers[1] > 1024:
        raise e.error(f"expected a count of threads that is a multiple of 32 up to 1024, got {numbers[1]}")
    return numbers[0], numbers[1]


def constant_members(i: Instruction) -> int | None:
    """The member mask of an instruction that waits for lanes, where it is a constant."""
    last = i.operands[-1] if i.operands else None
    if "sync" not in i.modifiers or not isinstance(last, Immediate):
        return None
    return last.value & 0xFFFFFFFF


def members_register(i: Instruction) -> str | None:
    """The register that holds the member mask, where it is one."""
    last = i.operands[-1] if i.operands else None
    return last.text if "sync" in i.modifiers and isinstance(last, Name) else None


TABLE: dict[str, Handler] = {
    "shfl": shuffle,
    "vote": vote,
    "redux": reduce,
    "match": match,
    "activemask": active,
    "elect": elect,
    "bar": warp_barrier,
    "barrier": warp_barrier,
}
