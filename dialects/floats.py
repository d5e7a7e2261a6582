"""How f32 attributes stand in custom syntax: as decimal numbers, or as the hex digits of their bits, none lost.

xDSL prints an f32 attribute as bits where it has no short decimal form (infinities, NaNs, whole numbers past six
digits), but reads only decimals back where the type is left out. `custom<F32>($field)` reads both.
"""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type, FloatAttr, f32
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

_BITS = 32


def parse_f32(parser: AttrParser) -> FloatAttr[Float32Type]:
    """An f32 as a decimal number, rounded to f32, or as `0x` and the hex digits of its bits."""
    at = parser.pos
    is_hex = parser.lexer.input.slice(at, at + 2) in ("0x", "0X")
    value = parser.parse_number()
    if not is_hex:
        try:
            return FloatAttr(float(value), f32)
        except OverflowError:
            parser.raise_error("expected a number that f32 can be rounded from, got an integer past any float", at)
    if not isinstance(value, int) or value.bit_length() > _BITS:
        parser.raise_error(f"expected the {_BITS} bits of an f32, got {value:#x}", at)
    return FloatAttr(f32.unpack(value.to_bytes(_BITS // 8, "little"), 1)[0], f32)


def print_f32(printer: Printer, value: FloatAttr[Float32Type]) -> None:
    """What `parse_f32` reads as the same bits."""
    printer.print_float(value.value.data, f32)


@irdl_custom_directive
class F32(CustomDirective):
    """`custom<F32>($field)`: an f32 field of an op, with its type left out."""

    field: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.field.set(state, parse_f32(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        value = self.field.get(op)
        assert isinstance(value, FloatAttr)
        state.print_whitespace(printer)
        printer.print_float(value.value.data, f32)

    def is_present(self, op: IRDLOperation) -> bool:
        return self.field.is_present(op)

    def is_anchorable(self) -> bool:
        return self.field.is_anchorable()


__all__ = ["F32", "parse_f32", "print_f32"]
