"""Moves, comparisons and selections (PTX ISA 9.7.6 and 9.7.9): how each is written in numpy."""

from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.floats import HALVES
from lanelink.lowering.emulator.modifiers import Handler, Modifiers
from lanelink.lowering.emulator.ptx import Instruction, Name, Operand, Pair, Vector
from lanelink.lowering.emulator.spaces import WINDOWS
from lanelink.lowering.emulator.types import TAGS, tag_bytes

_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNORDERED = {"equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt"}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_OPERATORS = frozenset({*_COMPARE, *_UNORDERED, *_UNSIGNED, "num", "nan"})
_JOINS = {"and": "&", "or": "|", "xor": "^"}


def move(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    kind = m.type()
    d, a = m.operands(2)
    tag = TAGS.get(kind)
    if tag is None or kind in ("b8", "u8", "s8"):
        raise m.unknown_type(kind)
    if isinstance(d, Vector):
        _unpack(e, d, a, tag)
    elif isinstance(a, Vector):
        _pack(e, d, a, tag)
    else:
        e.define(d, e.use(a, tag), tag)


def _piece(e: Emitter, vector: Vector, tag: str) -> str:
    count = len(vector.items)
    width = tag_bytes(tag) // count if count else 0
    if tag[0] != "u" or width not in (1, 2, 4) or width * count != tag_bytes(tag):
        raise e.error(f"expected a vector that fills {tag_bytes(tag)} bytes, got {count} items")
    return f"u{width}"


def _unpack(e: Emitter, d: Vector, a: Operand, tag: str) -> None:
    piece = _piece(e, d, tag)
    value = e.use(a, tag)
    # Read all before any is written: a destination may be the source.
    parts: list[str] = []
    for k in range(len(d.items)):
        moved = f"({value} >> {e.program.constant(8 * tag_bytes(piece) * k, tag)})" if k else value
        parts.append(e.temporary(f"{moved}.astype({piece})"))
    for item, part in zip(d.items, parts, strict=True):
        e.define(item, part, piece)


def _pack(e: Emitter, d: Operand, a: Vector, tag: str) -> None:
    piece = _piece(e, a, tag)
    terms: list[str] = []
    for k, item in enumerate(a.items):
        value = f"{e.use(item, piece)}.astype({tag})"
        terms.append(f"({value} << {e.program.constant(8 * tag_bytes(piece) * k, tag)})" if k else value)
    e.define(d, " | ".join(terms), tag)


def comparison(e: Emitter, operator: str, kind: str, a: Operand, b: Operand, flush: bool) -> str:
    """A boolean expression."""
    tag = TAGS[kind]
    real = kind[0] == "f" or kind.startswith("bf")
    x, y = e.use(a, tag), e.use(b, tag)
    if kind in HALVES:
        if kind.endswith("x2"):
            raise e.error("expected a comparison of single values, got a packed pair")
        widen = "from_bf16" if kind == "bf16" else "from_f16"
        x, y = e.temporary(f"{widen}({x})"), e.temporary(f"{widen}({y})")
    if flush and kind == "f32":
        x, y = e.temporary(f"ftz({x})"), e.temporary(f"ftz({y})")
    if not real:
        operator = _UNSIGNED.get(operator, operator)
        if operator not in _COMPARE or (kind == "pred"):
            raise e.error(f"expected a comparison of .{kind}, got .{operator}")
        return f"({x} {_COMPARE[operator]} {y})"
    if operator == "num":
        return f"(({x} == {x}) & ({y} == {y}))"
    if operator == "nan":
        return f"(({x} != {x}) | ({y} != {y}))"
    if operator == "ne":
        # Ordered: false where either is NaN, unlike numpy's.
        return f"(({x} < {y}) | ({x} > {y}))"
    if operator in _UNORDERED:
        opposite = _UNORDERED[operator]
        if operator == "equ":
            return f"~(({x} < {y}) | ({x} > {y}))"
        return f"~({x} {_COMPARE[opposite]} {y})" if operator != "neu" else f"({x} != {y})"
    if operator not in _COMPARE:
        raise e.error(f"expected a comparison of .{kind}, got .{operator}")
    return f"({x} {_COMPARE[operator]} {y})"


def set_predicate(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    operator = m.need(_OPERATORS, "a comparison")
    join = m.choice(_JOINS)
    flush = m.flag("ftz")
    kind = m.type()
    d, a, b, *more = m.operands(4 if join else 3)
    result = e.temporary(comparison(e, operator, kind, a, b, flush))
    first, second = (d.first, d.second) if isinstance(d, Pair) else (d, None)
    opposite = f"~{result}"
    if join:
        third = e.use(more[0], "?")
        result, opposite = f"{result} {_JOINS[join]} {third}", f"{opposite} {_JOINS[join]} {third}"
    if second is not None:
        result, opposite = e.temporary(result), e.temporary(opposite)
        e.define(second, opposite, "?")
    e.define(first, result, "?")


def set_value(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    operator = m.need(_OPERATORS, "a comparison")
    join = m.choice(_JOINS)
    flush = m.flag("ftz")
    kind = m.type()
    target = m.type()
    if target not in ("u32", "s32", "f32"):
        raise m.unknown_type(target)
    d, a, b, *more = m.operands(4 if join else 3)
    result = comparison(e, operator, kind, a, b, flush)
    if join:
        result = f"({result} {_JOINS[join]} {e.use(more[0], '?')})"
    tag = TAGS[target]
    true = 0x3F800000 if target == "f32" else 0xFFFFFFFF
    e.define(d, f"where({result}, {e.program.constant(true, tag)}, {e.program.constant(0, tag)})", tag)


def select(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    kind = m.type()
    d, a, b, p = m.operands(4)
    tag = TAGS.get(kind, "?")
    if tag_bytes(tag) == 1:
        raise m.unknown_type(kind)
    e.define(d, f"select({e.use(p, '?')}, {e.use(a, tag)}, {e.use(b, tag)})", tag)


def select_by_sign(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    flush = m.flag("ftz")
    by = m.type()
    kind = m.type()
    if by not in ("s32", "f32") or tag_bytes(TAGS[kind]) == 1:
        raise m.unknown_type(by)
    d, a, b, c = m.operands(4)
    sign = e.use(c, TAGS[by])
    if flush:
        sign = e.temporary(f"ftz({sign})")
    zero = e.program.constant(0, TAGS[by])
    e.define(d, f"where({sign} >= {zero}, {e.use(a, TAGS[kind])}, {e.use(b, TAGS[kind])})", TAGS[kind])


def convert_address(e: Emitter, i: Instruction) -> None:
    """cvta: a generic address is the space's own plus the space's window; global addresses are generic already."""
    m = Modifiers(e, i)
    back = m.flag("to")
    space = m.need(WINDOWS, "a state space")
    kind = m.type()
    if kind not in ("u64", "u32"):
        raise m.unknown_type(kind)
    d, a = m.operands(2)
    if kind == "u32":
        raise e.error(f"expected generic addresses of 64 bits, got {i.text}")
    if isinstance(a, Name) and a.text in e.program.variables and not back:
        e.define(d, e.use(a, "u8") if not WINDOWS[space] else _moved(e, e.use(a, "u8"), space, "+"), "u8")
        return
    value = e.use(a, "u8")
    e.define(d, value if not WINDOWS[space] else _moved(e, value, space, "-" if back else "+"), "u8")


def _moved(e: Emitter, value: str, space: str, sign: str) -> str:
    return f"{value} {sign} {e.program.constant(WINDOWS[space], 'u8')}"


def is_space(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    space = m.need(WINDOWS, "a state space")
    d, a = m.operands(2)
    e.define(d, f"in_window({e.use(a, 'u8')}, '{space}')", "?")


def policy(e: Emitter, i: Instruction) -> None:
    """createpolicy makes a hint for a cache that is not modelled."""
    if not i.operands:
        raise e.error(f"expected a destination of {i.text}, got none")
    e.define(i.operands[0], e.program.constant(0, "u8"), "u8")


def nothing(e: Emitter, i: Instruction) -> None:
    """Instructions that change nothing here: waits for launches that are over, hints, sleeps."""
    allowed = {
        "griddepcontrol": (("wait",), ("launch_dependents",)),
        "nanosleep": (("u32",),),
        "setmaxnreg": (("inc", "sync", "aligned", "u32"), ("dec", "sync", "aligned", "u32")),
        "pmevent": ((), ("mask",)),
    }
    if i.modifiers not in allowed[i.opcode]:
        raise e.error(f"expected an instruction that the emulator knows, got {i.text}")
    if i.modifiers == ("wait",):
        e.emit(f"X.depend({e.mask})")


TABLE: dict[str, Handler] = {
    "mov": move,
    "setp": set_predicate,
    "set": set_value,
    "selp": select,
    "slct": select_by_sign,
    "cvta": convert_address,
    "isspacep": is_space,
    "createpolicy": policy,
    "griddepcontrol": nothing,
    "nanosleep": nothing,
    "pmevent": nothing,
    "setmaxnreg": nothing,
}
