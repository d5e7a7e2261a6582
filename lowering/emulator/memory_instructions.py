"""Loads, stores, atomics, fences and copies (PTX ISA 9.7.9 and 9.7.13): calls of the chunk's memory."""

from lanelink.lowering.emulator.barrier_instructions import copy_bulk
from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.modifiers import Handler, Modifiers
from lanelink.lowering.emulator.ptx import Address, Immediate, Instruction, Name, Operand, Vector
from lanelink.lowering.emulator.types import TAGS, tag_bytes

_SPACES = ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry")
_STRONG = ("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")
_HINTS = frozenset(
    {
        "weak",
        "cta",
        "gpu",
        "sys",
        "cluster",
        "ca",
        "cg",
        "cs",
        "lu",
        "cv",
        "wb",
        "wt",
        "nc",
        "L1::evict_normal",
        "L1::evict_unchanged",
        "L1::evict_first",
        "L1::evict_last",
        "L1::no_allocate",
        "L2::evict_last",
        "L2::evict_normal",
        "L2::evict_first",
        "L2::64B",
        "L2::128B",
        "L2::256B",
    }
)


def _space(m: Modifiers) -> str:
    space = m.choice(_SPACES)
    return space if space == "shared::cluster" else (space or "generic").partition("::")[0]


def _order(m: Modifiers) -> str:
    """How an access is ordered: "weak", "relaxed", or what it adds ("acquire", "release", "acq_rel")."""
    found = m.choice(_STRONG)
    return "weak" if found is None else "relaxed" if found in ("volatile", "mmio") else found


def _width(m: Modifiers) -> tuple[int, str, str]:
    """How many values, their type, and the operand count's extra for a cache policy."""
    count = m.choice(("v2", "v4", "v8"))
    kind = m.type()
    if kind not in TAGS or kind == "pred":
        raise m.unknown_type(kind)
    number = int(count[1]) if count else 1
    if number * tag_bytes(TAGS[kind]) > 16:
        raise m.e.error(f"expected an access of at most 16 bytes, got {m.instruction.text}")
    return number, kind, TAGS[kind]


def _access(e: Emitter, i: Instruction) -> tuple[str, str, int, str, Operand, Operand]:
    """The space, the order, how many values of which type, and both operands; a cache policy is left out."""
    m = Modifiers(e, i)
    space, order = _space(m), _order(m)
    count, _, tag = _width(m)
    policy = m.flag("L2::cache_hint")
    m.drop(_HINTS)
    first, second, *_ = m.operands(3 if policy else 2)
    return space, order, count, tag, first, second


def load(e: Emitter, i: Instruction) -> None:
    space, order, count, tag, d, address = _access(e, i)
    targets = d.items if isinstance(d, Vector) else (d,)
    if len(targets) != count:
        raise e.error(f"expected {count} destinations of {i.text}, got {len(targets)}")
    if space == "param" and isinstance(address, Address) and address.base and address.base.text in e.program.params:
        first = e.program.params[address.base.text] + address.offset
        for k, target in enumerate(targets):
            e.define(target, e.param(first + k * tag_bytes(tag), tag), tag)
        return
    base, offset = e.address(address)
    result = e.temporary(f"X.load('{space}', {base}, {offset}, {tag}, {count}, {e.mask}, {e.at}, '{order}')")
    for k, target in enumerate(targets):
        e.define(target, f"{result}[{k}]" if count > 1 else result, tag)


def store(e: Emitter, i: Instruction) -> None:
    space, order, count, tag, address, value = _access(e, i)
    sources = value.items if isinstance(value, Vector) else (value,)
    if len(sources) != count:
        raise e.error(f"expected {count} values of {i.text}, got {len(sources)}")
    if space in ("param", "const"):
        raise e.error(f"expected a store to memory that can be written, got {i.text}")
    base, offset = e.address(address)
    values = "".join(f"{e.use(s, tag)}, " for s in sources)
    e.emit(f"X.store('{space}', {base}, {offset}, {tag}, ({values}), {e.mask}, {e.at}, '{order}')")


_ATOMIC_TYPES: dict[str, frozenset[str]] = {
    "add": frozenset({"u32", "s32", "u64", "f32", "f64"}),
    "inc": frozenset({"u32"}),
    "dec": frozenset({"u32"}),
    "min": frozenset({"u32", "s32", "u64", "s64"}),
    "max": frozenset({"u32", "s32", "u64", "s64"}),
    "and": frozenset({"b32", "b64"}),
    "or": frozenset({"b32", "b64"}),
    "xor": frozenset({"b32", "b64"}),
    "exch": frozenset({"b32", "b64"}),
    "cas": frozenset({"b16", "b32", "b64"}),
}


def atomic(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    space = _space(m)
    order = _order(m)
    operation = m.need(_ATOMIC_TYPES, "an operation")
    policy = m.flag("L2::cache_hint")
    kind = m.type()
    if kind not in _ATOMIC_TYPES[operation] or space not in ("global", "shared", "shared::cluster", "generic"):
        raise m.unknown_type(kind)
    m.drop(frozenset({"cta", "gpu", "sys", "cluster"}))
    values = 2 if operation == "cas" else 1
    returns = i.opcode == "atom"
    operands: list[Operand] = list(m.operands(values + 1 + returns + policy))
    d = operands.pop(0) if returns else Name("_")
    base, offset = e.address(operands[0])
    tag = TAGS[kind]
    given = "".join(f"{e.use(o, tag)}, " for o in operands[1 : 1 + values])
    call = f"X.atomic('{space}', '{operation}', {base}, {offset}, {tag}, ({given}), {e.mask}, {e.at}, '{order}')"
    e.define(d, call, tag)


def fence(e: Emitter, i: Instruction) -> None:
    if i.opcode == "membar":
        known = {("gl",), ("cta",), ("sys",)}
    else:
        orders = ((), ("sc",), ("acq_rel",), ("mbarrier_init", "release"))
        known = {(*order, scope) for order in orders for scope in ("cta", "gpu", "sys", "cluster")}
    if i.modifiers not in known or i.operands:
        raise e.error(f"expected an instruction that the emulator knows, got {i.text}")
    if "cta" not in i.modifiers and "mbarrier_init" not in i.modifiers:
        e.emit(f"X.fence({e.mask}, {e.at})")


def prefetch(e: Emitter, i: Instruction) -> None:
    """A prefetch changes no value, and one past the end is no fault."""
    m = Modifiers(e, i)
    m.drop(_HINTS | {"global", "L1", "L2", "const", "param", "tensormap"})
    m.done()


def copy_async(e: Emitter, i: Instruction) -> None:
    """cp.async and what its groups are waited for by."""
    if "bulk" in i.modifiers:
        copy_bulk(e, i)
        return
    match i.modifiers, i.operands:
        case ("async", "commit_group"), ():
            e.emit(f"X.end_copies({e.mask})")
            return
        case ("async", "wait_group"), (Immediate(kind="int", value=most),):
            e.emit(f"X.wait_for_copies({most}, {e.mask}, {e.at})")
            return
        case ("async", "wait_all"), ():
            e.emit(f"X.wait_for_copies(-1, {e.mask}, {e.at})")
            return
        case _:
            pass
    m = Modifiers(e, i)
    if i.modifiers[:1] != ("async",) or m.need(("ca", "cg"), "a cache operator") not in ("ca", "cg"):
        raise e.error(f"expected an instruction that the emulator knows, got {i.text}")
    policy = m.flag("L2::cache_hint")
    m.drop(_HINTS | {"async", "shared", "shared::cta", "global"})
    m.done()
    operands = list(i.operands)[: -1 if policy else None]
    if len(operands) not in (3, 4) or not isinstance(operands[2], Immediate):
        raise e.error(f"expected a destination, a source and a constant size of {i.text}")
    size = operands[2].value
    if size not in (4, 8, 16):
        raise e.error(f"expected a copy of 4, 8 or 16 bytes, got {size}")
    to, to_offset = e.address(operands[0])
    source, offset = e.address(operands[1])
    given = e.use(operands[3], "u4") if len(operands) == 4 else e.program.constant(size, "u4")
    e.emit(f"X.copy({to}, {to_offset}, {source}, {offset}, {size}, {given}, {e.mask}, {e.at})")


TABLE: dict[str, Handler] = {
    "ld": load,
    "ldu": load,
    "st": store,
    "atom": atomic,
    "red": atomic,
    "membar": fence,
    "fence": fence,
    "prefetch": prefetch,
    "prefetchu": prefetch,
    "cp": copy_async,
}
