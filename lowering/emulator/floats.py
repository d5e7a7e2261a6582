"""Floating-point instructions (PTX ISA 9.7.3 to 9.7.5): how each is written in numpy."""

from collections.abc import Callable

from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.modifiers import Handler, Modifiers
from lanelink.lowering.emulator.ptx import Instruction
from lanelink.lowering.emulator.types import TAGS

FLOATS = frozenset({"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"})
HALVES = frozenset({"f16", "f16x2", "bf16", "bf16x2"})
_ROUNDINGS = ("rn", "rz", "rm", "rp")


def halved(e: Emitter, kind: str, operands: list[str], form: Callable[[list[str]], str]) -> str:
    """A form of f64 values, applied to half-precision bits (each half of a packed pair) and rounded once to nearest."""
    brain = kind.startswith("bf16")
    widen = "from_bf16" if brain else "from_f16"

    def one(bits: list[str]) -> str:
        value = form([e.temporary(f"{widen}({b}).astype(f8)") for b in bits])
        return f"to_bf16(odd_f32({value}))" if brain else f"to_f16({value})"

    if not kind.endswith("x2"):
        return one(operands)
    low = e.temporary(one([e.temporary(f"low_half({o})") for o in operands]))
    high = e.temporary(one([e.temporary(f"high_half({o})") for o in operands]))
    return f"pack({low}, {high})"


def _arithmetic(
    count: int,
    plain: Callable[[list[str]], str],
    rounded: Callable[[list[str], str], str],
    half: Callable[[list[str]], str],
) -> Handler:
    """add, sub, mul, fma: a rounding mode, .ftz and .sat around one operation."""

    def handle(e: Emitter, i: Instruction) -> None:
        m = Modifiers(e, i)
        mode = m.choice(_ROUNDINGS) or "rn"
        flush = m.flag("ftz")
        clamp = m.flag("sat")
        kind = m.type()
        d, *sources = m.operands(count + 1)
        tag = TAGS[kind]
        values = [e.use(s, tag) for s in sources]
        if kind in HALVES:
            if mode != "rn" or flush or clamp:
                raise e.error(f"expected .rn alone of half precision, got {i.text}")
            e.define(d, halved(e, kind, values, half), tag)
            return
        if kind == "f64":
            if mode != "rn":
                raise e.error(f"expected .rn of .f64, got {i.text}")
            e.define(d, f"fma64({', '.join(values)})" if count == 3 else plain(values), tag)
            return
        if kind != "f32":
            raise m.unknown_type(kind)
        if flush:
            values = [e.temporary(f"ftz({v})") for v in values]
        result = plain(values) if mode == "rn" else rounded(values, mode)
        if flush:
            result = f"ftz({result})"
        e.define(d, f"sat({result})" if clamp else result, tag)

    return handle


add = _arithmetic(
    2, lambda v: f"{v[0]} + {v[1]}", lambda v, r: f"add_directed({v[0]}, {v[1]}, '{r}')", lambda v: f"{v[0]} + {v[1]}"
)
sub = _arithmetic(
    2, lambda v: f"{v[0]} - {v[1]}", lambda v, r: f"add_directed({v[0]}, -{v[1]}, '{r}')", lambda v: f"{v[0]} - {v[1]}"
)
mul = _arithmetic(
    2, lambda v: f"{v[0]} * {v[1]}", lambda v, r: f"mul_directed({v[0]}, {v[1]}, '{r}')", lambda v: f"{v[0]} * {v[1]}"
)
fma = _arithmetic(
    3,
    lambda v: f"fma({v[0]}, {v[1]}, {v[2]})",
    lambda v, r: f"fma_directed({v[0]}, {v[1]}, {v[2]}, '{r}')",
    lambda v: f"odd_sum({v[0]} * {v[1]}, {v[2]})",
)


def _one(approximate: str, rounded: str | None, exact: str | None, halves: bool = False) -> Handler:
    """A function of one value: `.approx`, or `.rn` and the other roundings where the instruction has them."""

    def handle(e: Emitter, i: Instruction) -> None:
        m = Modifiers(e, i)
        mode = m.need((*_ROUNDINGS, "approx") if rounded else ("approx",), "a precision")
        flush = m.flag("ftz")
        kind = m.type()
        d, a = m.operands(2)
        tag = TAGS[kind]
        value = e.use(a, tag)
        if kind in HALVES and halves:
            e.define(d, halved(e, kind, [value], lambda v: f"{approximate}({v[0]})"), tag)
            return
        if kind not in ("f32", "f64") or (kind == "f64" and mode not in ("rn", "approx")):
            raise m.unknown_type(kind)
        value = e.temporary(f"ftz({value})") if flush else value
        if mode == "approx":
            result = f"{approximate}({value})"
        elif mode == "rn":
            result = f"{exact}({value})"
        else:
            result = f"{rounded}({value}, '{mode}')"
        e.define(d, f"ftz({result})" if flush else result, tag)

    return handle


def divide(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    mode = m.need((*_ROUNDINGS, "approx", "full"), "a precision")
    flush = m.flag("ftz")
    kind = m.type()
    if kind not in ("f32", "f64") or (kind == "f64" and mode != "rn"):
        raise m.unknown_type(kind)
    d, a, b = m.operands(3)
    tag = TAGS[kind]
    values = [e.use(a, tag), e.use(b, tag)]
    if flush:
        values = [e.temporary(f"ftz({v})") for v in values]
    plain = mode in ("rn", "approx", "full")
    result = f"{values[0]} / {values[1]}" if plain else f"div_directed({values[0]}, {values[1]}, '{mode}')"
    e.define(d, f"ftz({result})" if flush else result, tag)


def min_max(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    flush = m.flag("ftz")
    propagate = m.flag("NaN")
    kind = m.type()
    if kind not in FLOATS:
        raise m.unknown_type(kind)
    d, a, b = m.operands(3)
    tag = TAGS[kind]
    values = [e.use(a, tag), e.use(b, tag)]

    def form(v: list[str]) -> str:
        result = f"f{i.opcode}({v[0]}, {v[1]})"
        return f"nan_either({result}, {v[0]}, {v[1]})" if propagate else result

    if kind in HALVES:
        if flush:
            raise e.error(f"expected no .ftz of half precision, got {i.text}")
        e.define(d, halved(e, kind, values, form), tag)
        return
    if flush:
        values = [e.temporary(f"ftz({v})") for v in values]
    e.define(d, form(values), tag)


def sign(e: Emitter, i: Instruction) -> None:
    """abs and neg: the sign bit alone changes."""
    m = Modifiers(e, i)
    flush = m.flag("ftz")
    kind = m.type()
    if kind not in FLOATS or (flush and kind in HALVES):
        raise m.unknown_type(kind)
    d, a = m.operands(2)
    tag = TAGS[kind]
    value = e.use(a, tag)
    if kind in HALVES:
        bits = 0x80008000 if kind.endswith("x2") else 0x8000
        change = f"& {e.program.constant(bits ^ (0xFFFFFFFF if tag == 'u4' else 0xFFFF), tag)}"
        e.define(d, f"{value} {change if i.opcode == 'abs' else '^ ' + e.program.constant(bits, tag)}", tag)
        return
    if flush:
        value = e.temporary(f"ftz({value})")
    e.define(d, f"{'absolute' if i.opcode == 'abs' else 'negative'}({value})", tag)


def copy_sign(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    kind = m.type()
    if kind not in ("f32", "f64"):
        raise m.unknown_type(kind)
    d, a, b = m.operands(3)
    e.define(d, f"copysign({e.use(b, TAGS[kind])}, {e.use(a, TAGS[kind])})", TAGS[kind])


_TESTS = {
    "finite": "isfinite({0})",
    "infinite": "isinf({0})",
    "number": "~isnan({0})",
    "notanumber": "isnan({0})",
    # Neither subnormal nor infinite: 0 is normal.
    "normal": "(isfinite({0}) & ((absolute({0}) >= {1}) | ({0} == 0)))",
    "subnormal": "((absolute({0}) < {1}) & ({0} != 0))",
}


def test_property(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    form = _TESTS[m.need(_TESTS, "a property")]
    kind = m.type()
    if kind not in ("f32", "f64"):
        raise m.unknown_type(kind)
    d, a = m.operands(2)
    tag = TAGS[kind]
    smallest = e.program.constant(0x00800000 if kind == "f32" else 0x0010000000000000, tag)
    e.define(d, form.format(e.use(a, tag), smallest), "?")


TABLE: dict[str, Handler] = {
    "fma": fma,
    "rcp": _one("rcp", "rcp_directed", "rcp"),
    "sqrt": _one("sqrt", "sqrt_directed", "sqrt"),
    "rsqrt": _one("rsqrt", None, None),
    "ex2": _one("ex2", None, None, halves=True),
    "lg2": _one("lg2", None, None),
    "sin": _one("sin", None, None),
    "cos": _one("cos", None, None),
    "tanh": _one("tanh", None, None, halves=True),
    "copysign": copy_sign,
    "testp": test_property,
}
"""Opcodes of floats alone."""

SHARED: dict[str, Handler] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "mad": fma,
    "div": divide,
    "min": min_max,
    "max": min_max,
    "abs": sign,
    "neg": sign,
}
"""Opcodes that integers have too: these are what they are for floats."""
