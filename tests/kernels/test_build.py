"""The committed PTX is what its sources make."""

from __future__ import annotations

import re

import pytest

from lanelink.kernels.build import (
    ARCHITECTURES,
    MODULES,
    SOURCES,
    BuildError,
    Module,
    Nvrtc,
    build,
    compact,
    differing,
    ptx_path,
)


def test_committed_ptx_is_what_the_sources_make() -> None:
    assert differing(build()) == []


def test_what_is_committed_is_compact() -> None:
    text = (
        "//\n// By a compiler\n//\n\n.version 8.4\n.target sm_80\n\n\t// .globl\tf\n.visible .entry f(\n"
        "\t.param .u64 f_param_0,\n\t.param .u32 f_param_12\n)\n{\n\t.reg .b32 \t%r<2>;\n\n"
        "\tld.param.u32 \t%r1, [f_param_12];\n\t// begin inline asm\n\tbar.warp.sync -1;\n$L__BB0_1:\n\tret;\n\n}\n\n"
    )
    short = (
        "//\n// By a compiler\n//\n\n.version 8.4\n.target sm_80\n.visible .entry f(\n"
        ".param .u64 param_0,\n.param .u32 param_12\n)\n{\n.reg .b32 %r<2>;\n"
        "ld.param.u32 %r1, [param_12];\nbar.warp.sync -1;\n$L__BB0_1:\nret;\n}\n"
    )
    assert compact(text) == short
    assert compact(short) == short


def test_a_difference_is_named() -> None:
    module = MODULES[-1]
    built = {
        ptx_path(m.stem, a): ptx_path(m.stem, a).read_text(encoding="utf-8") for m in MODULES for a in ARCHITECTURES
    }
    path = ptx_path(module.stem, ARCHITECTURES[0])
    assert differing({**built, path: built[path] + "\n"}) == [f"{path.name}: differs from its source"]
    missing = path.with_name("none.compute_80.ptx")
    assert differing({**built, missing: ""}) == [f"{missing.name}: missing"]
    del built[path]
    assert differing(built) == [f"{path.name}: has no source"]
    other = ptx_path(MODULES[0].stem, ARCHITECTURES[0])
    assert differing({other: built[other]}, few=True) == []


def test_a_source_that_does_not_compile_is_refused_with_the_log() -> None:
    with pytest.raises(BuildError, match=r'gemv.cu for compute_80:(.|\n)*"FORMAT_CODE" is undefined'):
        Nvrtc().compile(Module("broken", "gemv.cu"), "compute_80")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_only_the_newest_architecture_waits_for_its_predecessor(architecture: str) -> None:
    for module in MODULES:
        text = ptx_path(module.stem, architecture).read_text(encoding="utf-8")
        assert ".version 8.4" in text
        entries, waits = text.count(".visible .entry"), text.count("griddepcontrol.wait")
        # An attention whose position is written in its step waits at once, any other once its first loads are sent for.
        each = 2 if module.source == "attention.cu" else 1
        assert waits == (each * entries if architecture == "compute_90" else 0), module.stem


def test_only_constants_are_touched_before_the_wait() -> None:
    """
    Weights are loaded through the read-only path, which nothing else is; all else follows the wait in the text. But an
    attention may read the position before it, one word, where nothing in the step writes it, and then the tables' rows
    before that, 16 or 8 bytes at a time (8 or 4 of f16, by words), where they are there since before the step (its
    argument `early`).
    """
    for module in MODULES:
        text = ptx_path(module.stem, "compute_90").read_text(encoding="utf-8")
        for entry in text.split(".visible .entry")[1:]:
            before = entry[: entry.rindex("griddepcontrol.wait")].splitlines()
            touched = [line for line in before if re.search(r"\b(ld|st|atom|red)\.global", line)]
            others = [line.split()[0] for line in touched if "ld.global.nc" not in line]
            if module.source == "attention.cu":
                kinds = r"(v[24]\.)?u32" if "TABLES_OF_F16" in module.defines else r"v[24]\.f32"
                tables = re.compile(rf"ld\.global\.cg\.{kinds}$")
                others = [each for each in others if not tables.match(each)]
            assert others == (["ld.global.u32"] if module.source == "attention.cu" else []), entry.split("(")[0]


def test_every_source_is_built() -> None:
    assert {m.source for m in MODULES} == {p.name for p in SOURCES.glob("*.cu")}
