"""What custom syntax shares: names of any characters, numbers that fit, and faults told with their place."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.utils.exceptions import VerifyException


def parse_string(parser: AttrParser) -> str:
    """
    A string literal, as `Printer.print_string_literal` prints any string.

    xDSL reads a literal with escapes past ASCII as bytes, which here are UTF-8; others are a parse error.
    """
    at = parser.pos
    raw = parser.parse_optional_bytes_literal()
    if raw is None:
        return parser.parse_str_literal()
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        parser.raise_error(f"expected UTF-8 in a string, got byte {raw[error.start]:#04x} at {error.start}", at)


def parse_i64(parser: AttrParser, *, allow_negative: bool = True) -> int:
    """A whole number that an i64 holds as it is; past 2^63 an attribute would wrap it to a negative one."""
    at = parser.pos
    value = parser.parse_integer(allow_boolean=False, allow_negative=allow_negative)
    if not -(2**63) <= value < 2**63:
        parser.raise_error(f"expected a number from -2^63 to 2^63 - 1, got {value}", at, parser.pos)
    return value


def verified(
    parser: AttrParser, at: int, attribute: type[ParametrizedAttribute], parameters: Sequence[Attribute]
) -> Sequence[Attribute]:
    """The parameters of an attribute parsed from position `at`; where they do not verify, a parse error there."""
    try:
        attribute.new(parameters)
    except VerifyException as error:
        parser.raise_error(str(error), at)
    return parameters


__all__ = ["parse_i64", "parse_string", "verified"]
