"""Which fused ops fit their class's kernels: for each class one that does, and one for each reason not to."""

from __future__ import annotations

import re
from itertools import count

import pytest
from levels import parsed
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.tgraph import FusedOp, FusionClass
from lanelink.passes.fits import FITS, misfit
from lanelink.passes.fits_layers import LAYER_FITS
from lanelink.passes.link.classes import CLASSES

ARGUMENTS = {
    "x": "tensor<2x32xf32>",
    "y": "tensor<2x32xf32>",
    "row": "tensor<1x32xf32>",
    "u": "tensor<2x64xf32>",
    "i": "tensor<2xi32>",
    "p": "tensor<1xi32>",
    "p2": "tensor<1xi32>",
    "t": "tensor<8x32xf32>",
    "c": "tensor<8x8xf32>",
    "d": "tensor<8x8xf32>",
    "h": "tensor<16xf32>",
    "w": "!tgraph.rows<bf16, 32x32, transposed>",
    "v": "!tgraph.rows<bf16, 32x32, transposed>",
    "z": "!tgraph.rows<f16, 32x32, transposed>",
    "m": "tensor<32x32xf32>",
}
X = ARGUMENTS["x"]

SHORT = {
    # Each short form, and the text it stands for.
    r"(%\w+) = mul (%\w+) (%\w+)": rf"\1 = tgraph.elementwise mul \2, \3 : ({X}, {X}) -> {X}",
    r"(%\w+) = add (%\w+) %row": rf"\1 = tgraph.elementwise add \2, %row : ({X}, tensor<1x32xf32>) -> {X}",
    r"(%\w+) = add (%\w+) (%\w+)": rf"\1 = tgraph.elementwise add \2, \3 : ({X}, {X}) -> {X}",
    r"(%\w+) = sub (%\w+) (%\w+)": rf"\1 = tgraph.elementwise sub \2, \3 : ({X}, {X}) -> {X}",
    r"(%\w+) = norm (%\w+) residual (%\w+)": rf"\1 = tgraph.fused_row rms \2 residual \3 cols 32 eps 1.0 : {X}",
    r"(%\w+) = norm (%\w+)": rf"\1 = tgraph.fused_row rms \2 cols 32 eps 1.0 : {X}",
    r"(%\w+) = heads (%\w+)": rf"\1 = tgraph.fused_row rms \2 weight %h : tensor<16xf32> cols 16 eps 1.0 : {X}",
    r"(%\w+) = quant (%\w+)": rf"\1 = tgraph.quantize \2 : {X} -> !tgraph.q8<2x32>",
    r"(%\w+) = by (%\w+) %m": rf"\1 = tgraph.matmul \2, %m : ({X}, tensor<32x32xf32>) -> {X}",
    r"(%\w+) = by (%\w+) %z": rf"\1 = tgraph.matmul \2, %z : ({X}, !tgraph.rows<f16, 32x32, transposed>) -> {X}",
    r"(%\w+) = by (%\w+) (%\w+)": rf"\1 = tgraph.matmul \2, \3 : ({X}, !tgraph.rows<bf16, 32x32, transposed>) -> {X}",
    r"(%\w+) = turn (%\w+) (%\w+) (%\w+)": (
        rf"\1 = tgraph.rope \2, \3, \3 at \4 heads 2 head_dim 16 half 8 : "
        rf"({X}, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xi32>) -> {X}"
    ),
    r"(%\w+) = set (%\w+) (%\w+)": (
        rf"\1 = tgraph.set_row \2, \3 at %p : (tensor<8x32xf32>, {X}, tensor<1xi32>) -> tensor<8x32xf32>"
    ),
    r"(%\w+) = (silu|sigmoid) (%\w+)": rf"\1 = tgraph.\2 \3 : {X} -> {X}",
    r"(%\w+) = scale (%\w+)": rf"\1 = tgraph.scale \2 by 2.0 : {X} -> {X}",
    r"(%\w+) = swiglu (%\w+) (%\w+)": rf"\1 = tgraph.swiglu \2, \3 : ({X}, {X}) -> {X}",
    r"(%\w+) = take (%\w+)": rf"\1 = tgraph.rows_gather \2 at %i : (tensor<8x32xf32>, tensor<2xi32>) -> {X}",
    r"(%\w+) = attend (%\w+)": (
        rf"\1 = tgraph.attention \2, %t, %t at %p heads 2 kv_heads 2 head_dim 16 value_dim 16 : "
        rf"{X}, tensor<8x32xf32>, tensor<8x32xf32> -> {X}"
    ),
    r"(%\w+) = choose (%\w+)": rf"\1 = tgraph.arg_max \2 : {X} -> tensor<2xi32>",
    r"(%\w+) = advance": r"\1 = tgraph.advance %p by 1 : (tensor<1xi32>) -> tensor<1xi32>",
}
ENDINGS = count()
RESULTS = {
    "set": "tensor<8x32xf32>",
    "quant": "!tgraph.q8<2x32>",
    "choose": "tensor<2xi32>",
    "advance": "tensor<1xi32>",
}


def spelled(form: str) -> tuple[str, dict[str, str]]:
    """The text of a body in short forms, and the type of each value it defines."""
    lines: list[str] = []
    types: dict[str, str] = {}
    for line in filter(None, (part.strip() for part in form.split(";"))):
        name, kind = re.findall(r"%(\w+) = (\w+)", line)[0]
        types[name] = RESULTS.get(kind, X)
        if "{" in line:
            # A fused op inside: class{body -> kept}.
            inner, kept = re.findall(r"\{(.*)-> (.*)\}", line)[0]
            text, types[name] = fused(kind, inner.replace("&", ";"), kept, name, types)
            lines.append(text)
            continue
        pattern = next(p for p in SHORT if re.fullmatch(p, line))
        lines.append(re.sub(pattern, SHORT[pattern], line))
    return "\n".join(lines), types


def fused(fusion_class: str, body: str, kept: str, name: str, beside: dict[str, str]) -> tuple[str, str]:
    """The text of a fused op of what its body reads outside, and the types of what it keeps."""
    text, types = spelled(body)
    outside = {n: k for n, k in (beside | ARGUMENTS).items() if n not in types}
    taken = {n: k for n, k in outside.items() if re.search(rf"%{n}\b", text)}
    values = kept.split()
    # Names inside may not hide those outside: each region's arguments have an ending of their own.
    ending = f"_{next(ENDINGS)}"
    known = {**taken, **types}
    kinds = ", ".join(known[v.removeprefix("%")] for v in values)
    arguments = ", ".join(f"%{n}{ending} = %{n} : {k}" for n, k in taken.items())
    text = re.sub(rf"%({'|'.join(taken)})\b", rf"%\1{ending}", text)
    names = ", ".join(f"%{name}{k or ''}" for k in range(len(values)))
    return (
        f"{names} = tgraph.fused {fusion_class}({arguments}) -> ({kinds}) {{\n{text}\n"
        f"tgraph.yield {', '.join(values)} : {kinds}\n}}",
        kinds,
    )


def module(fusion_class: FusionClass, body: str, kept: str) -> ModuleOp:
    """One fused op whose operands are constants where they may be."""
    held = {n: k for n, k in ARGUMENTS.items() if n in ("t", "row", "m")}
    rest = ", ".join(f"%{n}: {k}" for n, k in ARGUMENTS.items() if n not in held)
    constants = "\n".join(f'%{n} = tgraph.constant #tgraph.checkpoint<"{n}"> : {k}' for n, k in held.items())
    text, _ = fused(fusion_class.value, body, kept, "r", {})
    return parsed(f"func.func @f({rest}) {{\n{constants}\n{text}\nfunc.return\n}}")


def reason(fusion_class: FusionClass, body: str, kept: str) -> str | None:
    made = module(fusion_class, body, kept)
    return misfit(next(op for op in made.walk() if isinstance(op, FusedOp)))


C = FusionClass
FIT = [
    (C.ADD_NORM, "%s = add %x %y; %n = norm %s", "%s %n"),
    (C.ADD_NORM, "%s = add %x %y; %n = heads %s", "%n"),
    (C.NORM_QUANT, "%n = norm %x; %q = quant %n", "%n %q"),
    (C.ADD_NORM_QUANT, "%n = add_norm{%s = add %x %y & %m1 = norm %s -> %m1}; %q = quant %n", "%q"),
    (C.ELEMENTWISE_QUANT, "%s = sub %x %y; %q = quant %s", "%s %q"),
    (C.GLU_ACT_MUL_QUANT, "%s = swiglu %x %y; %q = quant %s", "%q"),
    (C.GLU_ACT_MUL_QUANT, "%s = glu_act_mul{%a = silu %x & %b = mul %a %y -> %b}; %q = quant %s", "%q"),
    (C.GEMV_QUANT, "%s = by %x %w; %q = quant %s", "%q"),
    (C.GEMV_QUANT, "%s = gemm_bias{%a = by %x %w & %b = add %a %row -> %b}; %q = quant %s", "%q"),
    (C.GEMM_BIAS, "%a = by %x %w; %b = add %a %row", "%b"),
    (C.GEMM_BIAS, "%a = by %x %m; %b = add %a %row", "%b"),
    (C.GEMV_NORM_EPILOGUE, "%a = by %x %w; %n = norm %a", "%a %n"),
    (C.GEMV_NORM_EPILOGUE, "%a = by %x %w; %n = norm %y residual %a", "%n"),
    (C.GEMV_NORM_EPILOGUE, "%a = by %x %w; %n = add_norm{%s = add %y %a & %k = norm %s -> %k}", "%n"),
    (C.EMBED_NORM, "%a = take %t; %n = norm %a", "%a %n"),
    (C.EMBED_NORM, "%a = embed_scale{%g = take %t & %b = scale %g -> %b}; %n = norm %a", "%n"),
    (C.EMBED_SCALE, "%a = take %t; %n = scale %a", "%n"),
    (C.QK_NORM_ROPE, "%a = heads %x; %n = turn %a %c %p", "%n"),
    (C.ROPE_QK_ONE_LAUNCH, "%a = turn %x %c %p; %b = turn %y %c %p", "%a %b"),
    (C.QKV_HEAD_EPILOGUE, "%a = by %x %w; %n = turn %a %c %p", "%n"),
    (C.MERGED_QKV, "%a = by %x %w; %b = by %x %v", "%a %b"),
    (C.MERGED_QKV, "%a = qkv_head_epilogue{%e = by %x %w & %n = turn %e %c %p -> %n}; %b = by %x %v", "%a %b"),
    (C.MERGED_QKV, "%a = row_in_place{%e = by %x %w & %n = set %t %e -> %n}; %b = by %x %v", "%a %b"),
    (C.GLU_ACT_MUL, "%a = sigmoid %x; %b = mul %y %a", "%b"),
    (C.GEMV_GATE_UP_GLU, "%a = by %x %w; %b = by %x %v; %n = swiglu %b %a", "%n"),
    (C.ROW_IN_PLACE, "%a = by %x %m; %n = set %t %a", "%n"),
    (C.ROW_IN_PLACE, "%a = turn %x %c %p; %n = set %t %a", "%n"),
]
# The one class that is not in FIT asks about the whole step: tests/interpreters/test_levels.py.

MISFIT = [
    (C.ADD_NORM, "%s = silu %x; %n = norm %s", "%n", "expected a sum and the norm of it, got silu, fused_row"),
    (C.ADD_NORM, "%s = sub %x %y; %n = norm %s", "%n", "expected a sum and"),
    (C.ADD_NORM, "%s = add %x %row; %n = norm %s", "%n", "expected a sum and"),
    (C.ADD_NORM, "%s = add %x %y; %n = norm %y", "%s %n", "expected a sum and"),
    (C.ADD_NORM, "%s = add %x %y; %n = norm %s; %r1 = silu %n", "%r1", "got elementwise, fused_row, silu"),
    (C.ADD_NORM, "%s = add %x %y; %n = norm %s residual %x", "%n", "without a residual of its own beside the add"),
    (C.NORM_QUANT, "%n = heads %x; %q = quant %n", "%q", "expected a norm of whole rows and its quantize"),
    (C.NORM_QUANT, "%n = norm %x; %q = quant %x", "%n %q", "expected a norm of whole rows and its quantize"),
    (C.ADD_NORM_QUANT, "%n = add_norm{%s = add %x %y & %k = heads %s -> %k}; %q = quant %n", "%q", "got groups of 16"),
    (C.ADD_NORM_QUANT, "%n = add_norm{%s = add %x %y & %k = norm %s -> %s %k}; %q = quant %n", "%q", "an add_norm of"),
    (C.ELEMENTWISE_QUANT, "%s = silu %x; %q = quant %s", "%q", "expected an elementwise op and its quantize, got silu"),
    (C.GLU_ACT_MUL_QUANT, "%s = mul %x %y; %q = quant %s", "%q", "expected a gated unit and its quantize"),
    (C.GEMV_QUANT, "%s = by %x %m; %q = quant %s", "%q", "expected a product by checkpoint rows and its quantize"),
    (C.GEMM_BIAS, "%a = by %x %w; %b = add %a %y", "%b", "expected a product and its sum with a row"),
    (C.GEMM_BIAS, "%a = by %x %w; %b = add %y %row", "%a %b", "expected a product and its sum with a row"),
    (C.GEMM_BIAS, "%a = by %x %w; %b = add %a %row", "%a %b", "expected to keep the result of elementwise alone"),
    (C.GEMV_NORM_EPILOGUE, "%a = by %x %m; %n = norm %a", "%n", "expected a product by checkpoint rows and a norm"),
    (C.GEMV_NORM_EPILOGUE, "%a = by %x %w; %n = norm %a residual %a", "%n", "a norm that reads it once"),
    (C.GEMV_NORM_EPILOGUE, "%a = by %x %w; %n = heads %a", "%n", "a norm that reads it once"),
    (
        C.EMBED_NORM,
        "%a = take %t; %n = norm %a residual %x",
        "%n",
        "expected a gather from a constant table and",
    ),
    (
        C.EMBED_SCALE,
        "%e = set %t %x; %a = take %t; %n = scale %a",
        "%n",
        "expected a gather from a constant table and",
    ),
    (C.EMBED_SCALE, "%a = take %t; %n = scale %a", "%a %n", "expected to keep the result of scale alone"),
    (C.QK_NORM_ROPE, "%a = norm %x; %n = turn %a %c %p", "%n", "expected a norm of heads and the rotation of them"),
    (C.QK_NORM_ROPE, "%a = heads %x; %n = turn %a %c %p", "%a %n", "expected to keep the result of rope alone"),
    (C.ROPE_QK_ONE_LAUNCH, "%a = turn %x %c %p; %b = turn %y %d %p", "%a %b", "rotations of as many rows by the same"),
    (C.ROPE_QK_ONE_LAUNCH, "%a = turn %x %c %p; %b = turn %y %c %p2", "%a %b", "rotations of as many rows by the same"),
    (C.ROPE_QK_ONE_LAUNCH, "%a = turn %x %c %p; %b = turn %a %c %p", "%a %b", "side by side"),
    (C.QKV_HEAD_EPILOGUE, "%a = by %x %m; %n = turn %a %c %p", "%n", "expected a product by checkpoint rows and the"),
    (C.QKV_HEAD_EPILOGUE, "%a = by %x %w; %n = turn %a %c %p", "%a %n", "expected to keep the result of rope alone"),
    (C.MERGED_QKV, "%a = by %x %w; %b = by %y %v", "%a %b", "expected products of one activation"),
    (C.MERGED_QKV, "%a = by %x %w; %b = by %x %z", "%a %b", "by checkpoint rows of one format"),
    (C.MERGED_QKV, "%a = by %x %m; %b = by %x %m", "%a %b", "by checkpoint rows of one format"),
    (C.MERGED_QKV, "%a = by %x %w; %b = by %a %v", "%a %b", "expected products of one activation"),
    (
        C.MERGED_QKV,
        "%a = by %x %w; %b = by %x %w; %e = by %x %w; %f = by %x %w; %g = by %x %w",
        "%a %b %e %f %g",
        "expected at most 4 parts, got 5",
    ),
    (
        C.MERGED_QKV,
        "%a = qkv_head_epilogue{%e = by %x %w & %n = turn %e %c %p -> %n};"
        "%b = qkv_head_epilogue{%e = by %x %w & %n = turn %e %d %p -> %n}",
        "%a %b",
        "expected rotations by one pair of tables, got 2",
    ),
    (C.GLU_ACT_MUL, "%a = sigmoid %x; %b = mul %a %a", "%b", "expected an activation and its product with as many"),
    (C.GLU_ACT_MUL, "%a = sigmoid %x; %b = add %y %a", "%b", "expected an activation and its product with as many"),
    (C.GLU_ACT_MUL, "%a = sigmoid %x; %b = mul %y %a", "%a %b", "expected to keep the result of elementwise alone"),
    (C.GEMV_GATE_UP_GLU, "%a = by %x %w; %n = swiglu %a %a", "%n", "expected two products of one activation"),
    (C.GEMV_GATE_UP_GLU, "%a = by %x %w; %b = by %y %v; %n = swiglu %a %b", "%n", "expected two products of one"),
    (C.GEMV_GATE_UP_GLU, "%a = by %x %w; %b = by %x %z; %n = swiglu %a %b", "%n", "expected two products of one"),
    (C.GEMV_GATE_UP_GLU, "%a = by %x %w; %b = by %x %v; %n = swiglu %a %y", "%b %n", "expected two products of one"),
    (C.ROW_IN_PLACE, "%a = silu %x; %n = set %t %a", "%n", "expected what can land in rows of a table and the set_row"),
    (C.ROW_IN_PLACE, "%a = by %x %w; %n = set %t %x", "%a %n", "expected what can land in rows of a table and the"),
    (C.ROW_IN_PLACE, "%a = by %x %w; %n = set %t %a", "%a %n", "expected what can land in rows of a table and the"),
    (
        C.FUSED_SAMPLING,
        "%a = choose %x; %b = choose %y",
        "%a %b",
        "expected an arg_max and an advance, got arg_max",
    ),
    (C.FUSED_SAMPLING, "%a = choose %x; %b = advance", "%a %b", "expected the choice of one row's token a position"),
]


@pytest.mark.parametrize(("fusion_class", "body", "kept"), FIT)
def test_fits(fusion_class: FusionClass, body: str, kept: str) -> None:
    assert reason(fusion_class, body, kept) is None


@pytest.mark.parametrize(("fusion_class", "body", "kept", "why"), MISFIT)
def test_does_not_fit(fusion_class: FusionClass, body: str, kept: str, why: str) -> None:
    found = reason(fusion_class, body, kept)
    assert found is not None and why in found


def test_every_class_has_a_row_and_both_kinds_of_case() -> None:
    assert set(FITS) == set(CLASSES) == set(FusionClass)
    assert {c for c, *_ in FIT} == set(FITS) - set(LAYER_FITS) - {C.FUSED_SAMPLING}
    assert {c for c, *_ in MISFIT} == set(FITS) - set(LAYER_FITS)


@pytest.mark.parametrize("fusion_class", LAYER_FITS)
def test_other_parts_do_not_fit(fusion_class: FusionClass) -> None:
    expected = f"expected {FITS[fusion_class].parts}, got silu, silu"
    assert reason(fusion_class, "%a = silu %x; %b = silu %a", "%b") == expected


def test_a_class_that_is_not_linked_whole_fits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FITS, C.ADD_NORM)
    found = reason(C.ADD_NORM, "%s = add %x %y; %n = norm %s", "%s %n")
    assert found == "expected a class that is linked whole, got add_norm"
