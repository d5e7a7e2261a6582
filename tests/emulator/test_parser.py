"""Reading PTX: headers as data, and text that is no PTX."""

import random
from pathlib import Path

import pytest

from lanelink.lowering.emulator import Emulator, EmulatorError, Param, PtxError, parse_ptx

HEAD = ".version 8.4\n.target sm_80\n.address_size 64\n"


def test_header() -> None:
    module = parse_ptx(
        """
        // A comment
        .version 8.4
        .target sm_90a, debug
        .address_size 64
        .file 1 "a.cu"
        .extern .shared .align 16 .b8 dynamic[];
        .shared .align 4 .b8 common[12];
        .visible .entry first( /* several
            lines */ .param .u64 .ptr .global .align 16 a, .param .u32 b, .param .align 16 .b8 c[20],
            .param .f32 d, .param .u8 e )
        .maxntid 128, 2 .minnctapersm 3
        { .shared .align 8 .f32 mine[10]; .reg .b32 %r<3>; .loc 1 2 3
          mov.u32 %r1, %tid.x; ret; }
        .entry second .reqntid 32, 1, 1 { ret; }
        """,
        "a",
    )
    assert module.version == (8, 4)
    assert module.target == "sm_90a"
    assert list(module.entries) == ["first", "second"]
    first = module.entries["first"]
    assert first.params == (
        Param("a", "u64", 8, 8, 0),
        Param("b", "u32", 4, 4, 8),
        Param("c", "b8", 20, 16, 16),
        Param("d", "f32", 4, 4, 36),
        Param("e", "u8", 1, 1, 40),
    )
    assert first.param_bytes == 41
    assert first.static_shared == 56
    assert (first.maxntid, first.reqntid, first.minnctapersm) == ((128, 2, 1), None, 3)
    second = module.entries["second"]
    assert (second.params, second.static_shared, second.reqntid) == ((), 12, (32, 1, 1))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "expected a .version directive"),
        (".version 8.4", 1, "expected a .target directive"),
        (".version eight", 1, "expected a version such as 8.4, got 'eight'"),
        (".version 8.4\n.target 80", 2, "expected a target such as sm_80, got '80'"),
        (".version 8.4\n\n.address_size 32", 3, "expected .address_size 64, got 32"),
        (HEAD + "/* no end", 4, "to close the comment"),
        (HEAD + "§", 4, "expected PTX, got the character '§'"),
        (HEAD + ".entry k(", 4, "expected '.param', got the end of the text"),
        (HEAD + ".entry k(.param .u64 a", 4, "expected ',', got the end of the text"),
        (HEAD + ".entry k(.param a)", 4, "expected a type for the parameter 'a'"),
        (HEAD + ".entry k(.param .b8 a[99999])", 4, "expected at most 32764 bytes of parameters, got 99999"),
        (HEAD + ".entry k() {", 4, "got the end of the text"),
        (HEAD + ".entry k() { ret; }\n.entry k() { ret; }", 5, "expected a name of its own, got 'k'"),
        (HEAD + ".entry k() { bar.sync 0 }", 4, "expected ',', got '}'"),
        (HEAD + ".entry k() { mov.u32 %r1, [; }", 4, "got ';'"),
        (HEAD + ".entry k() { .reg .b33 %r; ret; }", 4, "expected a register type, got '.b33'"),
        (HEAD + ".entry k() { a: a: ret; }", 4, "expected a label of its own, got 'a' again"),
        (HEAD + ".entry k() { .shared .align 3 .b8 t[4]; }", 4, "expected an alignment that is a power of two, got 3"),
        (HEAD + ".shared .align 4 .b8 t[2000000000];", 4, "to take at most 1073741824 bytes"),
        (HEAD + ".const .u32 t[1] = {1, 2};", 4, "expected at most 4 initial bytes for t, got 8"),
        (HEAD + ".global .u64 t[1] = {other};", 4, "expected a number"),
        (HEAD + ".entry k() " + "{" * 100, 4, "expected braces nested at most 64 deep"),
        (HEAD + ".entry k() { mov.u32 %r, {{{{{1}}}}}; }", 4, "expected an operand nested at most twice"),
        (HEAD + ".entry k() { mov.u32 %r, 99999999999999999999999; }", 4, "expected a number below 2^64"),
        (HEAD + ".entry k() { mov.u32 %r, 09; }", 4, "expected a number, got '09'"),
        (HEAD + ".bogus x;", 4, "expected a directive of module scope, got '.bogus'"),
    ],
)
def test_text_that_is_no_ptx(text: str, line: int, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        parse_ptx(text, "bad")
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"bad:{line}: ")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("wmma.load.a.sync.aligned.m16n16k16.global.row.f16 {%r1}, [%q1], 16;", "wmma.load.a"),
        ("bogus.u32 %r1, %r2;", "expected an instruction that the emulator knows, got bogus.u32"),
        ("add.u33 %r1, %r2, %r3;", "add.u33"),
        ("add.rn.u32 %r1, %r2, %r3;", "add.rn.u32"),
        ("ld.global.bogus.u32 %r1, [%q1];", "ld.global.bogus.u32"),
        ("ld.shared::elsewhere.u32 %r1, [%q1];", "ld.shared::elsewhere.u32"),
        ("add.u32 %r1, %r2;", "expected 3 operands of add.u32, got 2"),
        ("add.u32 %r1, %r2, %nothing;", "got '%nothing'"),
        ("add.u32 %r1, %r2, %q1, %r3;", "expected 3 operands"),
        ("add.u64 %q1, %q2, %r3;", "expected a register of 8 bytes, got %r3 of 4"),
        ("add.u64 %r1, %q2, %q3;", "expected a register of 8 bytes or more to write, got %r1"),
        ("add.u32 %r99, %r1, %r2;", "expected a register to write, got '%r99'"),
        ("add.u32 5, %r1, %r2;", "expected a register to write"),
        ("add.u32 %r1, [%q1], %r2;", "expected a register or a constant"),
        ("mov.u32 %r1, %clock;", "a special register that is known"),
        ("selp.u32 %r1, %r2, %r3, %r4;", "expected a register of 1 bytes, got %r4"),
        ("@%r1 mov.u32 %r1, 0;", "expected a predicate after '@'"),
        ("@%p99 ret;", "expected a predicate, got '%p99'"),
        ("bra nowhere;", "expected a branch to a label of this entry, got 'nowhere'"),
        ("bar.red.popc.u32 %r1, 0, %p1;", "bar.red.popc.u32"),
        ("bar.sync 16;", "expected a barrier from 0 to 15, got 16"),
        ("bar.sync %r1;", "expected a constant in bar.sync"),
        ("shfl.bfly.b32 %r1, %r2, 1, 31;", "expected shfl.sync"),
        ("atom.global.add.bf16 %h1, [%q1], %h2;", "atom.global.add.bf16"),
        ("cvt.rn.e4m3x2.f32 %h1, %f1, %f2;", "cvt.rn.e4m3x2.f32"),
        ("cvt.f32.s32 %f1, %r1;", "expected a rounding mode in cvt.f32.s32"),
        ("call.uni other, (%r1);", "call.uni"),
        ("ld.global.v4.u64 {%q1, %q2, %q3, %q4}, [%q1];", "expected an access of at most 16 bytes"),
        ("ld.param.u64 %q1, [p0+4];", "expected an aligned read inside the 8 bytes of parameters"),
        ("mov.b64 {%r1, %r2, %r3}, %q1;", "expected a vector that fills 8 bytes, got 3"),
        ("lop3.b32 %r1, %r2, %r3, %r4, 256;", "expected a constant table from 0 to 255"),
        ("brx.idx %r1, nothing;", "no .branchtargets of that name"),
        ("st.const.u32 [%q1], %r1;", "expected a store to memory that can be written"),
    ],
)
def test_instructions_that_are_not_known(device, body: str, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        device.entry(f"\n{body}")
    assert message in str(caught.value)
    assert str(caught.value).startswith("test:12: ")


def test_control_that_runs_past_the_end() -> None:
    for body in ("", "a: bra b; b:", ".reg .pred %p; @%p ret;"):
        text = f"{HEAD}.entry k() {{ {body} }}"
        if body:
            with pytest.raises(PtxError):
                Emulator().load(text)
        else:
            assert Emulator().load(text).entries["k"].name == "k"


def test_a_claim_of_billions_of_registers_costs_nothing() -> None:
    text = HEAD + ".entry k() { .reg .b32 %r<2000000000>; mov.u32 %r1999999999, 1; ret; }"
    emulator = Emulator()
    emulator.launch(emulator.load(text).entries["k"], (1, 1, 1), (32, 1, 1), 0, [])


def committed() -> list[Path]:
    import lanelink.kernels

    return sorted((Path(lanelink.kernels.__file__).parent / "ptx").glob("*.ptx"))


def test_mangled_text_is_refused_in_words() -> None:
    """Cut, doubled and swapped pieces of a real module: only EmulatorError may come out."""
    rng = random.Random(4)
    whole = next(p for p in committed() if p.name.startswith("arg_max")).read_text(encoding="utf-8")
    for _ in range(120):
        text = whole
        for _ in range(rng.randint(1, 4)):
            a, b = sorted(rng.sample(range(len(text)), 2))
            b = min(b, a + rng.choice([1, 3, 20, 400]))
            text = rng.choice(
                [
                    text[:a] + text[b:],
                    text[:a],
                    text[:b] + text[a:],
                    text[:a] + rng.choice("{}[];,:@|-+.%0x") + text[a:],
                ]
            )
        try:
            Emulator().load(text)
        except EmulatorError as error:
            assert str(error)


def test_every_committed_kernel_loads() -> None:
    paths = committed()
    assert paths
    for path in paths:
        module = Emulator().load(path.read_text(encoding="utf-8"), path.stem)
        assert module.entries, path.name
