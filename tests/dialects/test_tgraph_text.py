"""The examples of every op's docstring, and attributes that text could bend."""

from __future__ import annotations

import struct
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensors import floats
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from examples import check_example, examples, printed
from lanelink.dialects.launch.target import Numerics, TargetAttr
from lanelink.dialects.tgraph import (
    Adjust,
    AttentionOp,
    CheckpointAttr,
    FusedRowOp,
    NormKind,
    RopeTableAttr,
    ScaleOp,
    StoredUnit,
    StoredViewAttr,
    TableKind,
    TGraph,
)


def context() -> Context:
    loaded = Context()
    for dialect in (Builtin, Func, TGraph):
        loaded.load_dialect(dialect)
    loaded.load_attr_or_type(TargetAttr)
    return loaded


def test_every_op_has_an_example():
    assert {op.name for op in TGraph.operations} - {name for name, _ in examples(TGraph)} == {"tgraph.yield"}


@pytest.mark.parametrize(("name", "text"), examples(TGraph))
def test_examples_parse_verify_and_print_back(name: str, text: str):
    check_example(context(), name, text)


def bits(value: float) -> bytes:
    return struct.pack("<f", value)


PATTERNS = [
    0,
    1 << 31,
    1,
    0x7F800000,
    0xFF800000,
    0x7FC00000,
    0xFFC01234,
    0x3DCCCCCE,
    0x4CEB79A3,
    0x7F7FFFFF,
    0x501502F9,
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_f32_fields_keep_every_bit(pattern: int):
    keeps_bits(struct.unpack("<f", struct.pack("<I", pattern))[0])


@given(st.floats(width=32))
def test_any_f32_field_keeps_every_bit(value: float):
    keeps_bits(value)


def keeps_bits(value: float) -> None:
    block = Block(arg_types=[floats(1, 8), floats(4, 8)])
    x, t = block.args
    at = AttentionOp(x, t, t, None, heads=1, kv_heads=1, head_dim=8, scale=value, softcap=max(abs(value), 1.0))
    block.add_ops([ScaleOp(x, value), FusedRowOp(NormKind.RMS, x, 8, eps=value), at, ReturnOp()])
    func = FuncOp("f", ([floats(1, 8), floats(4, 8)], []), Region(block))
    for generic in (False, True):
        module = Parser(context(), printed(ModuleOp([func.clone()]), generic=generic)).parse_module()
        (read,) = module.body.block.ops
        assert isinstance(read, FuncOp)
        scale, row, attention, _ = read.body.block.ops
        assert isinstance(scale, ScaleOp)
        assert isinstance(row, FusedRowOp)
        assert isinstance(attention, AttentionOp)
        assert row.eps is not None
        assert attention.scale is not None
        for field in (scale.factor, row.eps, attention.scale):
            assert bits(field.value.data) == bits(value)


def reread(attribute: Attribute) -> Attribute:
    out = StringIO()
    Printer(out).print_attribute(attribute)
    return Parser(context(), out.getvalue()).parse_attribute()


@given(st.lists(st.floats(0, 65536, width=32), min_size=1, max_size=4), st.floats(0, 65536, width=32))
def test_rope_tables_keep_every_bit(frequencies: list[float], scale: float):
    attribute = RopeTableAttr(TableKind.COS, frequencies, scale)
    read = reread(attribute)
    assert isinstance(read, RopeTableAttr)
    assert [bits(v) for v in read.values] == [bits(v) for v in frequencies]
    assert bits(read.scale.value.data) == bits(scale)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_names_keep_every_character(name: str):
    assert reread(CheckpointAttr(name)) == CheckpointAttr(name)
    target = TargetAttr(name, 90, 132, 227, Numerics.INT8)
    assert reread(target) == target


@pytest.mark.parametrize("name", ["a\nb", 'a"b', "a\\b", "a\\22b", "é", "日本", "\x00", '"', "\\"])
def test_names_that_text_could_bend(name: str):
    assert reread(CheckpointAttr(name)) == CheckpointAttr(name)
    if name.isascii():  # xDSL itself reads a printed string of other characters back as bytes
        assert reread(StringAttr(name)) == StringAttr(name)


@st.composite
def references(draw: st.DrawFn) -> CheckpointAttr:
    """References of every form."""
    sizes = draw(st.none() | st.lists(st.integers(1, 1 << 20), min_size=1, max_size=3))
    steps = [draw(st.integers(1, 1 << 40)) for _ in sizes or ()]
    view = (
        None
        if sizes is None
        else StoredViewAttr(draw(st.sampled_from(StoredUnit)), sizes, steps, draw(st.integers(0, 1 << 40)))
    )
    count, adjust = draw(st.none() | st.integers(1, 1 << 16)), draw(st.none() | st.sampled_from(Adjust))
    return CheckpointAttr("a.*.b", count=count, view=view, adjust=adjust)


@given(references())
def test_references_keep_every_part(reference: CheckpointAttr):
    read = reread(reference)
    assert read == reference
    assert isinstance(read, CheckpointAttr)
    assert (read.stored_view, read.adjustment) == (reference.stored_view, reference.adjustment)
    if reference.stored_view is not None:
        assert reread(reference.stored_view) == reference.stored_view


def test_a_series_names_its_tensors():
    assert list(CheckpointAttr("a.*").tensors) == ["a.*"]
    assert list(CheckpointAttr("a.*.b", count=3).tensors) == ["a.0.b", "a.1.b", "a.2.b"]


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ParseError, match=r"expected UTF-8 in a string, got byte 0xff at 1"):
        Parser(context(), r'#tgraph.checkpoint<"a\FF">').parse_attribute()
