"""Packing a launch's arguments into the block that an entry's parameters are read from, and checking that they fit."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from lanelink.lowering.selection.calls import F32, I32, Address, Argument, Null
from lanelink.lowering.signatures import Parameter, ParameterKind


class ParameterError(ValueError):
    """Arguments that an entry does not take: says which, what was expected and what was got."""


def kind_of(argument: Argument) -> ParameterKind:
    """What an argument is."""
    match argument:
        case Address() | Null():
            return ParameterKind.ADDRESS
        case I32():
            return ParameterKind.I32
        case F32():
            return ParameterKind.F32


def check_parameters(arguments: Sequence[Argument], parameters: Sequence[Parameter], where: str) -> None:
    """
    Checks arguments against an entry's parameters: number, type, size, and alignment as the block lays them.

    Raises ParameterError naming `where` and the argument.
    """
    if len(arguments) != len(parameters):
        raise ParameterError(f"{where}: expected {len(parameters)} arguments, got {len(arguments)}")
    offset = 0
    for k, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
        kind = kind_of(argument)
        if kind is not parameter.kind:
            raise ParameterError(f"{where} argument {k}: expected {parameter.kind.value}, got {kind.value}")
        if kind.size != parameter.size:
            raise ParameterError(f"{where} argument {k}: expected {parameter.size} bytes, got {kind.size}")
        # A packed argument is aligned to its own size; a parameter aligned otherwise would be read from elsewhere.
        if kind.size != parameter.align:
            raise ParameterError(
                f"{where} argument {k}: expected alignment {parameter.align}, got {kind.size}, that of {kind.value}"
            )
        offset = -(-offset // kind.size) * kind.size
        if offset != parameter.offset:
            raise ParameterError(f"{where} argument {k}: expected offset {parameter.offset}, got {offset}")
        offset += kind.size


def pack_each(arguments: Sequence[Argument], device_address: Callable[[Address], int]) -> list[bytes]:
    """Each argument as its parameter's bytes, little endian; `device_address` resolves the addresses."""
    return [_packed(argument, device_address) for argument in arguments]


def pack_block(
    arguments: Sequence[Argument], parameters: Sequence[Parameter], device_address: Callable[[Address], int]
) -> bytes:
    """The whole parameter block of checked arguments."""
    block = bytearray(max((p.offset + p.size for p in parameters), default=0))
    for packed, parameter in zip(pack_each(arguments, device_address), parameters, strict=True):
        block[parameter.offset : parameter.offset + parameter.size] = packed
    return bytes(block)


def _packed(argument: Argument, device_address: Callable[[Address], int]) -> bytes:
    match argument:
        case Address():
            return struct.pack("<Q", device_address(argument))
        case Null():
            return struct.pack("<Q", 0)
        case I32():
            return struct.pack("<i", argument.value)
        case F32():
            return struct.pack("<f", argument.value)


__all__ = ["ParameterError", "check_parameters", "kind_of", "pack_block", "pack_each"]
