"""Barriers in shared memory and bulk copies (PTX ISA 9.7.13.15 and 9.7.9.25): calls of the chunk's memory."""

from lanelink.lowering.emulator.emitter import Emitter
from lanelink.lowering.emulator.modifiers import Handler
from lanelink.lowering.emulator.ptx import Instruction, Name

BULK = ("async", "bulk", "shared::cluster", "global", "mbarrier::complete_tx::bytes")


def barrier(e: Emitter, i: Instruction) -> None:
    """mbarrier: as words of shared memory of the thread's own block."""
    match i.modifiers, i.operands:
        case ("init", "shared::cta", "b64"), (place, count):
            base, offset = e.address(place)
            e.emit(f"X.barrier_init({base}, {offset}, {e.use(count, 'u4')}, {e.mask}, {e.at})")
        case ("arrive", "expect_tx", "shared::cta", "b64"), (Name(text="_"), place, size):
            base, offset = e.address(place)
            e.emit(f"X.barrier_arrive({base}, {offset}, {e.use(size, 'u4')}, {e.mask}, {e.at})")
        case ("try_wait" | "test_wait", "parity", "shared::cta", "b64"), (over, place, parity):
            base, offset = e.address(place)
            call = f"X.barrier_over({base}, {offset}, {e.use(parity, 'u4')}, {e.mask}, {e.at})"
            e.define(over, call, "?")
        case _:
            raise e.error(f"expected an instruction that the emulator knows, got {i.text}")


def copy_bulk(e: Emitter, i: Instruction) -> None:
    """cp.async.bulk from global memory to the block's own shared memory."""
    if i.modifiers != BULK or len(i.operands) != 4:
        raise e.error(f"expected an instruction that the emulator knows, got {i.text}")
    to, source, size, barrier = i.operands
    places = [f"({base}, {offset})" for base, offset in (e.address(o) for o in (to, source, barrier))]
    e.emit(f"X.copy_bulk({places[0]}, {places[1]}, {e.use(size, 'u4')}, {places[2]}, {e.mask}, {e.at})")


TABLE: dict[str, Handler] = {"mbarrier": barrier}
