"""
What custom syntax shares: names of any characters, numbers that fit, attributes beside an op's fields, and faults told
with their place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import UnitAttr
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


def misplaced(op: str, field: str, value: Attribute) -> str:
    """What is wrong where the attributes of an op hold a field that its syntax writes outside of them."""
    return f"expected attributes without '{field}', which {op} has as a field outside of them, got {field} = {value}"


def parse_attributes(
    parser: AttrParser, op: str, fields: Collection[str], *, keyword: bool = False
) -> dict[str, Attribute]:
    """
    The attribute dictionary of an op, empty where it has none; behind `attributes` with `keyword`. `fields`: the names
    that the op's syntax writes outside of it. One of them in it, or a name twice, is a parse error there.
    """
    found: dict[str, Attribute] = {}

    def entry() -> None:
        at = parser.pos
        name = parser.parse_optional_identifier_or_str_literal()
        if name is None:
            parser.raise_error("expected the name of an attribute")
        value = parser.parse_attribute() if parser.parse_optional_punctuation("=") else UnitAttr()
        if name in fields:
            parser.raise_error(misplaced(op, name, value), at, parser.pos)
        if name in found:
            parser.raise_error(f"expected each attribute once, got '{name}' twice", at, parser.pos)
        found[name] = value

    if not keyword:
        parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, entry)
    elif parser.parse_optional_keyword("attributes"):
        parser.parse_comma_separated_list(parser.Delimiter.BRACES, entry)
    return found


def verified(
    parser: AttrParser, at: int, attribute: type[ParametrizedAttribute], parameters: Sequence[Attribute]
) -> Sequence[Attribute]:
    """The parameters of an attribute parsed from position `at`; where they do not verify, a parse error there."""
    try:
        attribute.new(parameters)
    except VerifyException as error:
        parser.raise_error(str(error), at)
    return parameters


__all__ = ["misplaced", "parse_attributes", "parse_i64", "parse_string", "verified"]
