"""What the custom syntax of attributes shares: names of any characters, and faults told with their place."""

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


def verified(
    parser: AttrParser, at: int, attribute: type[ParametrizedAttribute], parameters: Sequence[Attribute]
) -> Sequence[Attribute]:
    """The parameters of an attribute parsed from position `at`; where they do not verify, a parse error there."""
    try:
        attribute.new(parameters)
    except VerifyException as error:
        parser.raise_error(str(error), at)
    return parameters


__all__ = ["parse_string", "verified"]
