"""cvt (PTX ISA 9.7.9.21): how each pair of types is written in numpy."""

import numpy as np

from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.float_math import odd_f32
from lanelink.lowering.emulator.modifiers import Handler, Modifiers
from lanelink.lowering.emulator.ptx import Instruction
from lanelink.lowering.emulator.types import TAGS, Array, tag_bytes

_INTEGERS = frozenset({"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"})
_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
_WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_ROUNDINGS = ("rn", "rz", "rm", "rp")


def limits(tag: str) -> tuple[int, int]:
    """The least and greatest value of an integer tag."""
    info = np.iinfo(tag)
    return int(info.min), int(info.max)


def clamp_integer(x: Array, tag: str) -> Array:
    """Integers clamped to the range of another integer type."""
    low, high = limits(tag)
    own_low, own_high = limits(x.dtype.str[1:])
    low, high = max(low, own_low), min(high, own_high)
    return np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high)).astype(tag)


def float_to_integer(x: Array, rounding: str, tag: str) -> Array:
    """Whole values by numpy's rint, trunc, floor or ceil; clamped to the type's range.

    NaN is 0, or the top bit alone if the source is an f64 or the target has 64 bits (PTX ISA, cvt).
    """
    low, high = limits(tag)
    wide = x.astype(np.float64)
    nan = wide != wide
    whole: Array = np.where(nan, 0.0, getattr(np, rounding)(wide))
    result = _clamped(whole, low, high, tag)
    if nan.any() and (x.dtype.itemsize == 8 or tag_bytes(tag) == 8):
        top = np.dtype(tag).type(low if tag[0] == "i" else high // 2 + 1)
        result = np.where(nan, top, result)
    return result


def _clamped(whole: Array, low: int, high: int, tag: str) -> Array:
    if tag_bytes(tag) < 8:
        return np.minimum(np.maximum(whole, float(low)), float(high)).astype(np.int64).astype(tag)
    # The greatest value of 64 bits is no f64: values from the next power of two on are set apart.
    inside = np.where((whole < float(high)) & (whole >= float(low)), whole, 0.0).astype(tag)
    kind = np.dtype(tag).type
    return np.where(whole >= float(high), kind(high), np.where(whole < float(low), kind(low), inside))


def integer_to_f64_odd(x: Array) -> Array:
    """Integers as f64, those of 64 bits rounded to odd."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    negative = x < 0 if x.dtype.kind == "i" else np.zeros(x.shape, bool)
    size = np.where(negative, (~x.view(np.uint64)) + np.uint64(1), x.view(np.uint64))
    # Beyond 53 bits the last kept bit takes in those dropped: 11 low bits cover every such case.
    low = size & np.uint64(0x7FF)
    sticky = np.where(
        size >> np.uint64(53) != 0, (size & ~np.uint64(0x7FF)) | ((low != 0).astype(np.uint64) << np.uint64(11)), size
    )
    value = sticky.astype(np.float64)
    return np.where(negative, -value, value)


def convert(e: Emitter, i: Instruction) -> None:
    m = Modifiers(e, i)
    whole = m.choice(_WHOLE)
    mode = m.choice((*_ROUNDINGS, "rna"))
    flush = m.flag("ftz")
    clamp = m.flag("sat")
    relu = m.flag("relu")
    if m.instruction.modifiers[-2:] in (("f16x2", "f32"), ("bf16x2", "f32")):
        _packed(e, m, mode, relu)
        return
    source = m.type()
    target = m.choice(_INTEGERS | _FLOATS | {"tf32"})
    if target is None or source not in _INTEGERS | _FLOATS or relu or mode == "rna":
        raise e.error(f"expected a conversion that the emulator knows, got {i.text}")
    d, a = m.operands(2)
    value = e.use(a, TAGS[source])
    if source in _INTEGERS and target in _INTEGERS:
        tag = TAGS[target]
        e.define(d, f"clamp_integer({value}, '{tag}')" if clamp else f"{value}.astype({tag})", tag)
    elif source in _INTEGERS:
        _to_float(e, i, value, target, mode, clamp)
    elif target in _INTEGERS:
        if whole is None:
            raise e.error(f"expected a rounding to a whole number in {i.text}, got none")
        value = _widened(e, value, source, flush)
        e.define(d, f"float_to_integer({value}, '{_WHOLE[whole]}', '{TAGS[target]}')", TAGS[target])
    elif target in _FLOATS:
        _float_to_float(e, i, value, (source, target), whole or mode, flush, clamp)
    else:
        raise e.error(f"expected a conversion that the emulator knows, got {i.text}")


def _to_float(e: Emitter, i: Instruction, value: str, target: str, mode: str | None, clamp: bool) -> None:
    d = i.operands[0]
    if mode is None:
        raise e.error(f"expected a rounding mode in {i.text}, got none")
    if target in ("f32", "f64") and mode == "rn":
        result = f"{value}.astype({TAGS[target]})"
    elif target == "f32":
        result = f"directed(integer_to_f64_odd({value}), '{mode}')"
    elif target == "f16" and mode == "rn":
        result = f"to_f16(integer_to_f64_odd({value}))"
    elif target == "bf16" and mode == "rn":
        result = f"to_bf16(odd_f32(integer_to_f64_odd({value})))"
    else:
        raise e.error(f"expected a conversion that the emulator knows, got {i.text}")
    if clamp:
        if target not in ("f32", "f64"):
            raise e.error(f"expected .sat of .f32 or .f64, got {i.text}")
        result = f"sat({result})"
    e.define(d, result, TAGS[target])


def _widened(e: Emitter, value: str, kind: str, flush: bool) -> str:
    """A float operand as f32 or f64."""
    if kind == "f16":
        return e.temporary(f"from_f16({value})")
    if kind == "bf16":
        return e.temporary(f"from_bf16({value})")
    return e.temporary(f"ftz({value})") if flush and kind == "f32" else value


def _float_to_float(
    e: Emitter, i: Instruction, value: str, kinds: tuple[str, str], mode: str | None, flush: bool, clamp: bool
) -> None:
    source, target = kinds
    value = _widened(e, value, source, flush)
    if mode in _WHOLE:
        if source != target:
            raise e.error(f"expected one type when rounding to a whole number, got {i.text}")
        value = e.temporary(f"{_WHOLE[mode]}({value})")
    elif (
        mode is None
        and source != target
        and (TAGS[target], source)
        not in (
            ("f4", "f16"),
            ("f4", "bf16"),
            ("f8", "f16"),
            ("f8", "bf16"),
            ("f8", "f32"),
        )
    ):
        raise e.error(f"expected a rounding mode in {i.text}, got none")
    if clamp:
        value = e.temporary(f"sat({value})")
    e.define(i.operands[0], _narrowed(e, i, value, kinds, mode or "rn", flush), TAGS[target])


def _narrowed(e: Emitter, i: Instruction, value: str, kinds: tuple[str, str], mode: str, flush: bool) -> str:
    source, target = kinds
    mode = "rn" if mode in _WHOLE else mode
    wide = source == "f64"
    match target:
        case "f64":
            return f"{value}.astype(f8)"
        case "f32":
            result = f"directed({value}, '{mode}')" if wide else value
            return f"ftz({result})" if flush else result
        case "f16" if mode == "rn":
            return f"to_f16({value})"
        case "bf16" if mode == "rn":
            return f"to_bf16(odd_f32({value}))" if wide else f"to_bf16({value})"
        case _ if mode == "rz" and not wide:
            return f"half_directed({value}, 'rz', {target == 'bf16'})"
        case _:
            raise e.error(f"expected a conversion that the emulator knows, got {i.text}")


def _packed(e: Emitter, m: Modifiers, mode: str | None, relu: bool) -> None:
    """cvt.rn.f16x2.f32 d, a, b: a goes to the high half."""
    i = m.instruction
    m.drop(("f16x2", "bf16x2", "f32"))
    d, a, b = m.operands(3)
    brain = i.modifiers[-2] == "bf16x2"
    if mode not in ("rn", "rz"):
        raise e.error(f"expected .rn or .rz in {i.text}")
    halves: list[str] = []
    for operand in (b, a):
        value = e.use(operand, "f4")
        if relu:
            value = e.temporary(f"relu({value})")
        if mode == "rz":
            halves.append(e.temporary(f"half_directed({value}, 'rz', {brain})"))
        else:
            halves.append(e.temporary(f"{'to_bf16' if brain else 'to_f16'}({value})"))
    e.define(d, f"pack({halves[0]}, {halves[1]})", "u4")


def relu(x: Array) -> Array:
    """Negative values, and -0, as 0; NaN stays."""
    return np.where(x <= 0, x.dtype.type(0), x)


FUNCTIONS = {f.__name__: f for f in (clamp_integer, float_to_integer, integer_to_f64_odd, odd_f32, relu)}
TABLE: dict[str, Handler] = {"cvt": convert}
