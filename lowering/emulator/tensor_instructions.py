"""Matrix products and their loads (PTX ISA 9.7.14.5): calls of the chunk's warps."""

from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.modifiers import Handler
from lanelink.lowering.emulator.ptx import Instruction, Operand, Vector

_BYTES = {"s8": "i1", "u8": "u1"}
_SHAPES = {"m16n8k16": (2, 1), "m16n8k32": (4, 2)}
"""Registers of the two factors."""

_COUNTS = {"x1": 1, "x2": 2, "x4": 4}


def multiply(e: Emitter, i: Instruction) -> None:
    """mma of bytes, whose sums wrap at 32 bits."""
    match i.modifiers:
        case ("sync", "aligned", shape, "row", "col", "s32", left, right, "s32") if (
            shape in _SHAPES and left in _BYTES and right in _BYTES
        ):
            pass
        case _:
            raise e.error(f"expected an instruction that the emulator knows, got {i.text}")
    if e.guard is not None or len(i.operands) != 4:
        raise e.error(f"expected four operands of {i.text}, and no guard")
    a_count, b_count = _SHAPES[shape]
    d, a, b, c = (_registers(e, i, o, n) for o, n in zip(i.operands, (4, a_count, b_count, 4), strict=True))
    given = ["".join(f"{e.use(r, 'u4')}, " for r in registers) for registers in (a, b, c)]
    kinds = f"('{_BYTES[left]}', '{_BYTES[right]}')"
    result = e.temporary(f"X.multiply(({given[0]}), ({given[1]}), ({given[2]}), {kinds}, {e.mask}, {e.at})")
    for k, register in enumerate(d):
        e.define(register, f"{result}[{k}]", "u4")


def load_matrices(e: Emitter, i: Instruction) -> None:
    """ldmatrix of 8 by 8 halves, as they lie."""
    match i.modifiers:
        case ("sync", "aligned", "m8n8", number, "shared" | "shared::cta", "b16") if number in _COUNTS:
            pass
        case _:
            raise e.error(f"expected an instruction that the emulator knows, got {i.text}")
    if e.guard is not None or len(i.operands) != 2:
        raise e.error(f"expected two operands of {i.text}, and no guard")
    count = _COUNTS[number]
    targets = _registers(e, i, i.operands[0], count)
    base, offset = e.address(i.operands[1])
    result = e.temporary(f"X.load_matrices({base}, {offset}, {count}, {e.mask}, {e.at})")
    for k, target in enumerate(targets):
        e.define(target, f"{result}[{k}]", "u4")


def _registers(e: Emitter, i: Instruction, operand: Operand, count: int) -> tuple[Operand, ...]:
    items = operand.items if isinstance(operand, Vector) else (operand,)
    if len(items) != count:
        raise e.error(f"expected {count} registers in an operand of {i.text}, got {len(items)}")
    return items


TABLE: dict[str, Handler] = {"mma": multiply, "ldmatrix": load_matrices}
