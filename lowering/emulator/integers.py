"""Integer instructions (PTX ISA 9.7.1, 9.7.2 and 9.7.8): how each is written in numpy."""

from collections.abc import Callable

from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.modifiers import Handler, Modifiers
from lanelink.lowering.emulator.ptx import Immediate, Instruction, Operand
from lanelink.lowering.emulator.types import TAGS, tag_bytes

INTEGERS = frozenset({"u16", "s16", "u32", "s32", "u64", "s64"})
_WIDER = {"u2": "u4", "i2": "i4", "u4": "u8", "i4": "i8"}
_BITS = frozenset({"b16", "b32", "b64", "pred"})


def unsigned(tag: str) -> str:
    """The unsigned tag of a width: what wraps around the same way whatever the sign."""
    return tag.replace("i", "u")


def widened(e: Emitter, operand: Operand, tag: str, wide: str) -> str:
    """An operand read as `tag`, as a value of the wider `wide`."""
    if isinstance(operand, Immediate) and operand.kind == "int":
        bits = 8 * tag_bytes(tag)
        value = operand.value & ((1 << bits) - 1)
        if tag[0] == "i" and value >> (bits - 1):
            value -= 1 << bits
        return e.program.constant(value & ((1 << 8 * tag_bytes(wide)) - 1), wide)
    return e.temporary(f"{e.use(operand, tag)}.astype({wide})")


def _integer_type(m: Modifiers) -> str:
    kind = m.type()
    if kind not in INTEGERS:
        raise m.unknown_type(kind)
    return TAGS[kind]


def add_sub(sign: str) -> Handler:
    def handle(e: Emitter, i: Instruction) -> None:
        m = Modifiers(e, i)
        saturating = m.flag("sat")
        tag = _integer_type(m)
        d, a, b = m.operands(3)
        if saturating:
            if tag != "i4":
                raise e.error(f"expected .sat with .s32 alone, got {i.text}")
            wide = e.temporary(f"{widened(e, a, 'i4', 'i8')} {sign} {widened(e, b, 'i4', 'i8')}")
            e.define(d, f"minimum(maximum({wide}, -2147483648), 2147483647).astype(i4)", "i4")
            return
        tag = unsigned(tag)
        e.define(d, f"{e.use(a, tag)} {sign} {e.use(b, tag)}", tag)

    return handle


def _product(e: Emitter, a: Operand, b: Operand, tag: str, part: str) -> tuple[str, str]:
    """The low, high or whole product of two operands, and its tag."""
    if part == "lo":
        tag = unsigned(tag)
        return f"({e.use(a, tag)} * {e.use(b, tag)})", tag
    if tag in ("u8", "i8"):
        if part == "wide":
            raise e.error("expected .wide of 16 or 32 bits, got 64")
        return f"mulhi64({e.use(a, tag)}, {e.use(b, tag)})", tag
    wide = _WIDER[tag]
    product = f"({widened(e, a, tag, wide)} * {widened(e, b, tag, wide)})"
    if part == "wide":
        return product, wide
    return f"({product} >> {e.program.constant(8 * tag_bytes(tag), wide)}).astype({tag})", tag


def multiply(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    part = m.need(("lo", "hi", "wide"), "a part of the product")
    tag = _integer_type(m)
    d, a, b = m.operands(3)
    e.define(d, *_product(e, a, b, tag, part))


def multiply_add(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    part = m.need(("lo", "hi", "wide"), "a part of the product")
    tag = _integer_type(m)
    d, a, b, c = m.operands(4)
    product, tag = _product(e, a, b, tag, part)
    e.define(d, f"{product} + {e.use(c, tag)}", tag)


def multiply_24(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    part = m.need(("lo", "hi"), "a part of the product")
    kind = m.type()
    if kind not in ("u32", "s32"):
        raise m.unknown_type(kind)
    operands = m.operands(3 if i.opcode == "mul24" else 4)
    tag, wide = TAGS[kind], _WIDER[TAGS[kind]]
    low = [e.temporary(f"low24({e.use(o, tag)}).astype({wide})") for o in operands[1:3]]
    shift = "" if part == "lo" else f" >> {e.program.constant(16, wide)}"
    product = f"(({low[0]} * {low[1]}){shift}).astype({tag})"
    if len(operands) == 4:
        product = f"{product} + {e.use(operands[3], tag)}"
    e.define(operands[0], product, tag)


def _plain(function: str, count: int, kinds: frozenset[str]) -> Handler:
    """A function of `count` operands of one type, applied to values of the type's own sign."""

    def handle(e: Emitter, i: Instruction) -> None:
        m = Modifiers(e, i)
        kind = m.type()
        if kind not in kinds:
            raise m.unknown_type(kind)
        d, *sources = m.operands(count + 1)
        tag = TAGS[kind]
        e.define(d, f"{function}({', '.join(e.use(s, tag) for s in sources)})", tag)

    return handle


def _bitwise(form: Callable[[list[str]], str], count: int) -> Handler:
    def handle(e: Emitter, i: Instruction) -> None:
        m = Modifiers(e, i)
        kind = m.type()
        if kind not in _BITS:
            raise m.unknown_type(kind)
        d, *sources = m.operands(count + 1)
        tag = TAGS[kind]
        e.define(d, form([e.use(s, tag) for s in sources]), tag)

    return handle


def shift(e: Emitter, i: Instruction) -> None:
    """shl, shr: numpy, like PTX, shifts out all bits for an amount of the width or more (and fills with the sign)."""
    m = Modifiers(e, i)
    kind = m.type()
    if kind not in INTEGERS | {"b16", "b32", "b64"} or (i.opcode == "shl" and kind[0] != "b"):
        raise m.unknown_type(kind)
    d, a, b = m.operands(3)
    tag = TAGS[kind]
    if isinstance(b, Immediate):
        amount = e.program.constant(min(b.value & 0xFFFFFFFF, 8 * tag_bytes(tag)), tag)
    else:
        amount = e.use(b, "u4")
        if tag_bytes(tag) == 2:
            amount = f"minimum({amount}, {e.program.constant(16, 'u4')})"
        amount = f"{amount}.view({tag})" if tag_bytes(tag) == 4 else f"{amount}.astype({tag})"
        if tag == "i4":
            # An amount with its top bit set is no negative one.
            amount = f"minimum({e.use(b, 'u4')}, {e.program.constant(32, 'u4')}).view(i4)"
    e.define(d, f"{e.use(a, tag)} {'<<' if i.opcode == 'shl' else '>>'} {amount}", tag)


def lop3(e: Emitter, i: Instruction) -> None:
    """The sum of the table's minterms, or the complement of the sum of the others where those are fewer."""
    m = Modifiers(e, i)
    if m.type() != "b32":
        raise e.error(f"expected lop3.b32, got {i.text}")
    d, a, b, c, table = m.operands(5)
    if not isinstance(table, Immediate) or table.kind != "int" or not 0 <= table.value < 256:
        raise e.error(f"expected a constant table from 0 to 255 in {i.text}, got {table}")
    names = [e.use(s, "u4") for s in (a, b, c)]
    bits = table.value
    complement = bits.bit_count() > 4
    if complement:
        bits ^= 255
    terms: list[str] = []
    for k in range(8):
        if bits >> k & 1:
            factors = [name if k >> (2 - j) & 1 else f"~{name}" for j, name in enumerate(names)]
            terms.append(f"({' & '.join(factors)})")
    total = " | ".join(terms) or e.program.constant(0, "u4")
    e.define(d, f"~({total})" if complement else total, "u4")


def funnel_shift(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    side = m.need(("l", "r"), "a direction")
    mode = m.need(("wrap", "clamp"), "a mode")
    if m.type() != "b32":
        raise e.error(f"expected shf of .b32, got {i.text}")
    d, a, b, c = m.operands(4)
    e.define(d, f"funnel_{side}({e.use(a, 'u4')}, {e.use(b, 'u4')}, {e.use(c, 'u4')}, {mode == 'wrap'})", "u4")


def bit_field(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    kind = m.type()
    insert = i.opcode == "bfi"
    if kind not in (("b32", "b64") if insert else ("u32", "s32", "u64", "s64")):
        raise m.unknown_type(kind)
    tag = TAGS[kind]
    d, *sources = m.operands(5 if insert else 4)
    values = [e.use(s, tag) for s in sources[:-2]] + [e.use(s, "u4") for s in sources[-2:]]
    e.define(d, f"{i.opcode}({', '.join(values)})", tag)


def count_bits(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    amount = i.opcode == "bfind" and m.flag("shiftamt")
    kind = m.type()
    if kind not in (("u32", "s32", "u64", "s64") if i.opcode == "bfind" else ("b32", "b64")):
        raise m.unknown_type(kind)
    d, a = m.operands(2)
    function = "bfind_shift" if amount else i.opcode
    e.define(d, f"{function}({e.use(a, TAGS[kind])})", "u4")


def permute(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    mode = m.choice(("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))
    if mode is not None:
        raise e.error(f"expected prmt in its default mode, got {i.text}")
    if m.type() != "b32":
        raise e.error(f"expected prmt.b32, got {i.text}")
    d, a, b, c = m.operands(4)
    if isinstance(c, Immediate):
        e.define(d, f"permute_fixed({e.use(a, 'u4')}, {e.use(b, 'u4')}, {c.value & 0xFFFF})", "u4")
        return
    e.define(d, f"permute({e.use(a, 'u4')}, {e.use(b, 'u4')}, {e.use(c, 'u4')})", "u4")


def dot_product(e: Emitter, i: Instruction) -> None:
    """dp4a and dp2a: the accumulator is signed if either side is, which wraps the same."""
    m = Modifiers(e, i)
    half = m.need(("lo", "hi"), "a half") if i.opcode == "dp2a" else ""
    right = m.type()
    left = m.type()
    if {left, right} - {"u32", "s32"}:
        raise e.error(f"expected types .u32 or .s32, got {i.text}")
    d, a, b, c = m.operands(4)
    name = i.opcode + (f"_{half}" if half else "")
    call = f"{name}({e.use(a, TAGS[left])}, {e.use(b, TAGS[right])}, {e.use(c, 'u4')})"
    e.define(d, call, "u4")


def sum_of_differences(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    tag = _integer_type(m)
    d, a, b, c = m.operands(4)
    x, y = e.use(a, tag), e.use(b, tag)
    wrapped = unsigned(tag)
    e.define(d, f"(maximum({x}, {y}) - minimum({x}, {y})).view({wrapped}) + {e.use(c, wrapped)}", wrapped)


_SIGNED = frozenset({"s16", "s32", "s64"})
TABLE: dict[str, Handler] = {
    "and": _bitwise(lambda s: f"{s[0]} & {s[1]}", 2),
    "or": _bitwise(lambda s: f"{s[0]} | {s[1]}", 2),
    "xor": _bitwise(lambda s: f"{s[0]} ^ {s[1]}", 2),
    "not": _bitwise(lambda s: f"~{s[0]}", 1),
    "cnot": _plain("cnot", 1, frozenset({"b16", "b32", "b64"})),
    "shl": shift,
    "shr": shift,
    "lop3": lop3,
    "shf": funnel_shift,
    "bfe": bit_field,
    "bfi": bit_field,
    "bfind": count_bits,
    "clz": count_bits,
    "popc": count_bits,
    "brev": _plain("brev", 1, frozenset({"b32", "b64"})),
    "prmt": permute,
    "dp4a": dot_product,
    "dp2a": dot_product,
    "sad": sum_of_differences,
    "mul24": multiply_24,
    "mad24": multiply_24,
}
"""Opcodes that are of integers alone; those shared with floats are in `instructions`."""

SHARED: dict[str, Handler] = {
    "add": add_sub("+"),
    "sub": add_sub("-"),
    "mul": multiply,
    "mad": multiply_add,
    "div": _plain("int_div", 2, INTEGERS),
    "rem": _plain("int_rem", 2, INTEGERS),
    "min": _plain("minimum", 2, INTEGERS),
    "max": _plain("maximum", 2, INTEGERS),
    "abs": _plain("absolute", 1, _SIGNED),
    "neg": _plain("negative", 1, _SIGNED),
}
"""Opcodes that floats have too: these are what they are for integer types."""
