"""Numbers in attributes keep every bit in text: infinities, NaNs, zeros of either sign, subnormals, all digits."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, Builtin, Float16Type, Float32Type, FloatAttr, bf16, f16, f32
from xdsl.parser import Parser
from xdsl.printer import Printer

SHORT = range(0, 1 << 16, 7)
LONG = [*range(0, 1 << 32, 0x3FFFF), 0x7F800000, 0xFF800000, 0x7FC00000, 0x80000000, 0x00000001, 0x4B7FFFFF, 0x7F7FFFFF]


@pytest.mark.parametrize(
    ("kind", "every"),
    [(f16, [*SHORT, 0x7C00, 0xFC00, 0x7E00, 0x8000]), (bf16, [*SHORT, 0x7F80, 0xFF80, 0x7FC0]), (f32, LONG)],
    ids=["f16", "bf16", "f32"],
)
def test_numbers_keep_their_bits(kind: Float16Type | BFloat16Type | Float32Type, every: list[int]) -> None:
    ctx = Context()
    ctx.load_dialect(Builtin)
    for bits in every:
        raw = bits.to_bytes(kind.size, "little")
        value = FloatAttr(kind.unpack(raw, 1)[0], kind)
        out = StringIO()
        Printer(out).print_attribute(value)
        read = Parser(ctx, out.getvalue()).parse_attribute()
        assert isinstance(read, FloatAttr)
        # Python's floats quiet a NaN that signals: the attribute never held its bits.
        held = kind.pack([value.value.data])
        assert kind.pack([read.value.data]) == held, out.getvalue()
        assert held == raw or value.value.data != value.value.data
