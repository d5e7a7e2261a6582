"""Atomic operations of a chunk: done one thread after another, in the order of blocks and then of threads."""

from collections.abc import Callable

import numpy as np

from lanelink.lowering.emulator.access import Memory
from lanelink.lowering.emulator.types import Array

_SHIFTS = {1: 0, 2: 1, 4: 2, 8: 3}


def _wrapped(value: int, tag: "np.dtype[np.generic]") -> int:
    bits = 8 * tag.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if tag.kind == "i" and value >> (bits - 1) else value


_WHOLE: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, v: old + v,
    # PTX ISA 9.7.13.5: inc wraps to 0 at v, dec wraps to v at 0 or past v.
    "inc": lambda old, v: 0 if old >= v else old + 1,
    "dec": lambda old, v: v if old == 0 or old > v else old - 1,
    "min": min,
    "max": max,
    "and": lambda old, v: old & v,
    "or": lambda old, v: old | v,
    "xor": lambda old, v: old ^ v,
    "exch": lambda old, v: v,
}


def _increment(old: Array, most: Array) -> Array:
    return (old + old.dtype.type(1)) * (old < most)


def _decrement(old: Array, most: Array) -> Array:
    result: Array = np.where((old == 0) | (old > most), most, old - old.dtype.type(1))
    return result


def _exchange(old: Array, new: Array) -> Array:
    return new


_MANY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "inc": _increment,
    "dec": _decrement,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": _exchange,
}


class AtomicMemory(Memory):
    """Memory with read-modify-write operations."""

    def atomic(
        self,
        space: str,
        operation: str,
        address: Array,
        offset: int,
        tag: "np.dtype[np.generic]",
        values: tuple[Array, ...],
        m: Array | None,
        at: int,
        order: str,
    ) -> Array:
        """The old values; each thread sees what those before it left."""
        places = self.places(space, address, offset, tag.itemsize, m, at, True, each=True)
        if places is None:
            return np.zeros((1, 1), tag)
        bad = self._bad_shadow(places, tag.itemsize, False)
        if bad is not None:
            # Allocated, or `places` would have said so: what is missing is a first value.
            self.places(space, address, offset, tag.itemsize, m, at, False, each=True)
        if self.races is not None:
            self.races.atomic(self, places, tag.itemsize, at, order)
        index = places.offsets.ravel() >> _SHIFTS[tag.itemsize]
        view = places.memory.views[tag.str[1:]]
        chosen = [self._chosen(v, places.lanes) for v in values]
        if index.size == 1 or np.unique(index).size == index.size:
            old = view.take(index)
            if operation == "cas":
                view[index] = np.where(old == chosen[0], chosen[1], old)
            else:
                view[index] = _MANY[operation](old, chosen[0])
        else:
            old = _in_turn(view, index, operation, chosen, tag)
        return self._spread(old, places) if places.lanes is not None else old.reshape(places.shape)

    def fence(self, m: Array | None, at: int) -> None:
        """membar and fence: threads run in order here, so only the ordering of races is touched."""
        if self.races is not None:
            self.races.fence(self, m)

    def depend(self, m: Array | None) -> None:
        """griddepcontrol.wait: the launch ahead is over before this one starts; only races are told."""
        if self.races is not None:
            self.races.wait(self, m)


def _in_turn(view: Array, index: Array, operation: str, values: list[Array], tag: "np.dtype[np.generic]") -> Array:
    """Threads that share places, one by one."""
    old = np.empty(index.size, tag)
    if tag.kind == "f":
        for k, place in enumerate(index.tolist()):
            old[k] = view[place]
            view[place] = old[k] + values[0][k] if operation == "add" else values[0][k]
        return old
    now: dict[int, int] = {}
    operands = [v.tolist() for v in values]
    seen: list[int] = []
    for k, place in enumerate(index.tolist()):
        before = now[place] if place in now else int(view[place])
        seen.append(before)
        if operation == "cas":
            now[place] = operands[1][k] if before == operands[0][k] else before
        else:
            now[place] = _wrapped(_WHOLE[operation](before, operands[0][k]), tag)
    view[list(now)] = np.array(list(now.values()), tag)
    old[:] = seen
    return old
