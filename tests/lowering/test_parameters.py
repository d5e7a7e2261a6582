"""Packing: what an entry takes is read from its PTX, and arguments that do not fit are named."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from lanelink.kernels.build import PTX
from lanelink.lowering.emulator import parse_ptx
from lanelink.lowering.parameters import ParameterError, check_parameters, pack_block, pack_each
from lanelink.lowering.selection.calls import F32, I32, Address, Argument, Null
from lanelink.lowering.signatures import Parameter, ParameterKind, SignatureError, committed_ptx, read_ptx

HEADER = ".version 8.4\n.target sm_90\n.address_size 64\n"
ENTRY = (
    HEADER + ".visible .entry f(\n\t.param .u64 f_param_0,\n\t.param .u32 f_param_1,\n\t.param .f32 f_param_2\n)\n{}"
)
FITTING: tuple[Argument, ...] = (Address("x"), I32(1), F32(1.0))


def entry(listed: str) -> tuple[Parameter, ...]:
    return read_ptx(f"{HEADER}.entry f({listed})\n{{}}", "m.ptx").parameters("f")


def test_fitting_arguments() -> None:
    parameters = read_ptx(ENTRY, "m.ptx").parameters("f")
    assert [(p.kind, p.size, p.align, p.offset) for p in parameters] == [
        (ParameterKind.ADDRESS, 8, 8, 0),
        (ParameterKind.I32, 4, 4, 8),
        (ParameterKind.F32, 4, 4, 12),
    ]
    check_parameters(FITTING, parameters, "@m::@f")
    check_parameters((Null(), *FITTING[1:]), parameters, "@m::@f")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (FITTING[:2], "@m::@f: expected 3 arguments, got 2"),
        ((*FITTING, I32(0)), "@m::@f: expected 3 arguments, got 4"),
        ((I32(1), *FITTING[1:]), "@m::@f argument 0: expected address, got i32"),
        ((FITTING[0], Null(), FITTING[2]), "@m::@f argument 1: expected i32, got address"),
        ((*FITTING[:2], I32(1)), "@m::@f argument 2: expected f32, got i32"),
        ((FITTING[0], F32(1.0), FITTING[2]), "@m::@f argument 1: expected i32, got f32"),
    ],
)
def test_arguments_that_do_not_fit(arguments: tuple[Argument, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^{message}$"):
        check_parameters(arguments, read_ptx(ENTRY, "m.ptx").parameters("f"), "@m::@f")


def test_an_alignment_of_its_own() -> None:
    parameters = entry(".param .u32 a, .param .align 8 .u32 b")
    with pytest.raises(ParameterError, match="argument 1: expected alignment 8, got 4, that of i32"):
        check_parameters((I32(1), I32(2)), parameters, "f")


def test_an_offset_or_size_of_its_own() -> None:
    moved = (Parameter(ParameterKind.I32, 4, 4, 4),)
    with pytest.raises(ParameterError, match="argument 0: expected offset 4, got 0"):
        check_parameters((I32(1),), moved, "f")
    wide = (Parameter(ParameterKind.I32, 8, 8, 0),)
    with pytest.raises(ParameterError, match="argument 0: expected 8 bytes, got 4"):
        check_parameters((I32(1),), wide, "f")


@pytest.mark.parametrize("listed", [".param .b8 a[16]", ".param .align 16 .b8 a[16]", ".param .f64 a", ".reg .u32 a"])
def test_parameters_that_launches_do_not_pass(listed: str) -> None:
    with pytest.raises(SignatureError, match=r"m.ptx entry f parameter 0: expected one of .*, got "):
        entry(listed)


def test_pointers_with_attributes() -> None:
    (pointer,) = entry(".param .u64 .ptr .global .align 16 a")
    assert (pointer.kind, pointer.align) == (ParameterKind.ADDRESS, 8)


def test_no_parameters() -> None:
    assert entry("") == ()
    assert pack_block((), (), lambda _: 0) == b""


def test_missing_things_are_named() -> None:
    with pytest.raises(SignatureError, match=r"PTX of 'nothing': expected .*nothing.compute_90.ptx, got No such file"):
        committed_ptx("nothing", "compute_90")
    with pytest.raises(SignatureError, match=r"m.ptx: expected one of the module's entries \(f\), got 'g'"):
        read_ptx(ENTRY, "m.ptx").parameters("g")
    with pytest.raises(SignatureError, match=r"m.ptx: expected .version and .target, got no version"):
        read_ptx(".target sm_90", "m.ptx")
    with pytest.raises(SignatureError, match=r"m.ptx: expected one of the module's entries \(f\), got 'g'"):
        read_ptx(ENTRY, "m.ptx").only(["g"])
    with pytest.raises(SignatureError, match=r"m.ptx entry f: expected a body in braces, got none that ends"):
        read_ptx(ENTRY.replace("}", "// }"), "m.ptx").only([])


@pytest.mark.parametrize("stem", ["../ptx/rows", "/etc/passwd", "", "rows\0", "röws"])
def test_a_name_that_is_no_modules(stem: str) -> None:
    with pytest.raises(SignatureError, match="expected a name of letters, digits and underscores"):
        committed_ptx(stem, "compute_90")


def test_only_some_entries() -> None:
    head = f"{HEADER}.global .align 4 .u32 shared_by_all = 1;\n"
    f = "\t// .globl f\n.visible .entry f(.param .u32 a)\n{\n\t{ // }\n\tret; }\n}"
    g = "\n.entry g()\n.maxntid 32, 1, 1\n{ ret; }"
    ptx = read_ptx(head + f + g + "\n// the end\n", "m.ptx")
    assert ptx.only(["f", "g"]) == ptx.text
    assert ptx.only(["f"]) == head + f + "\n\n// the end\n"
    assert ptx.only(["g"]) == head + "\t// .globl f\n" + g + "\n// the end\n"


def test_packed_bytes() -> None:
    parameters = entry(".param .u32 a, .param .u64 b, .param .f32 c, .param .u64 d")
    arguments = (I32(-2), Address("x", 16), F32(0.5), Null())
    check_parameters(arguments, parameters, "f")
    packed = pack_block(arguments, parameters, lambda address: 0x7F0000000000 + address.offset)
    assert packed == struct.pack("<ixxxxQfxxxxQ", -2, 0x7F0000000010, 0.5, 0)
    assert pack_each(arguments[:1], lambda _: 0) == [struct.pack("<i", -2)]


@pytest.mark.parametrize("path", sorted(PTX.glob("*.ptx")), ids=lambda p: p.stem)
def test_committed_ptx_as_the_emulator_reads_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    stem, architecture, _ = path.name.split(".")
    read, parsed = committed_ptx(stem, architecture), parse_ptx(text)
    assert (read.version, read.target) == (parsed.version, parsed.target)
    assert read.entries.keys() == parsed.entries.keys()
    for name, parameters in read.entries.items():
        expected = [(p.size, p.align, p.offset) for p in parsed.entries[name].params]
        assert [(p.size, p.align, p.offset) for p in parameters] == expected
    one = [*read.entries][-1]
    cut = parse_ptx(read.only([one]))
    assert cut.entries.keys() == {one}
    assert (cut.entries[one].params, cut.entries[one].static_shared, cut.entries[one].maxntid) == (
        *(parsed.entries[one].params, parsed.entries[one].static_shared, parsed.entries[one].maxntid),
    )
    assert len(cut.entries[one].body.instructions) == len(parsed.entries[one].body.instructions)
