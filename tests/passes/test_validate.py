"""What `--validate` catches: faults planted in passes one at a time, each reported under its pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from levels import parsed
from pytest import MonkeyPatch
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, f32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from examples import printed
from lanelink.dialects import launch
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.dialects.tgraph import AttentionOp, FusedOp, FusedRowOp, FusionClass, HeadSliceOp, MatmulOp, RopeOp
from lanelink.lowering.activations import quantize
from lanelink.opt import main
from lanelink.passes import legalize_shim, plan_buffers, quantize_activations
from lanelink.passes.arena import ArenaPlan, plan_arena
from lanelink.passes.fuse import build
from lanelink.passes.link import linker
from lanelink.passes.link.classes import CLASSES
from lanelink.passes.link.draft import Draft
from lanelink.passes.link.prims import PRIMS
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.passes.shim import DECOMPOSE, Shim
from lanelink.pipeline import LanelinkPass, Level, lower
from lanelink.validate import ValidationError, quantizing_error, validate

CONTEXT = 12
R, TABLE, TURNS = "tensor<1x64xf32>", f"tensor<{CONTEXT}x64xf32>", f"tensor<{CONTEXT}x16xf32>"


def product(y: str, x: str, w: str) -> str:
    return f"{y} = tgraph.matmul {x}, {w} : ({R}, ROWS) -> {R}"


def norm(y: str, x: str, cols: int) -> str:
    return f"{y} = tgraph.fused_row rms {x} weight %n{cols} : tensor<{cols}xf32> cols {cols} eps 1.000000e-06 : {R}"


def rope(y: str, x: str) -> str:
    types = f"({R}, {TURNS}, {TURNS}, tensor<1xi32>) -> {R}"
    return f"{y} = tgraph.rope {x}, %cos, %sin at %pos heads 2 head_dim 32 half 16 : {types}"


def add(y: str, a: str, b: str) -> str:
    return f"{y} = tgraph.elementwise add {a}, {b} : ({R}, {R}) -> {R}"


def set_row(y: str, table: str, x: str) -> str:
    return f"{y} = tgraph.set_row {table}, {x} at %pos : ({TABLE}, {R}, tensor<1xi32>) -> {TABLE}"


FREQUENCIES = ", ".join(f"{10.0 ** (-k / 4):.6e}" for k in range(16))
CONSTANTS = [
    *(f'%w{k} = tgraph.constant #tgraph.checkpoint<"w{k}"> : ROWS' for k in range(8)),
    '%embed = tgraph.constant #tgraph.checkpoint<"embed"> : !tgraph.rows<bf16, 20x64>',
    '%n64 = tgraph.constant #tgraph.checkpoint<"n64"> : tensor<64xf32>',
    '%n32 = tgraph.constant #tgraph.checkpoint<"n32"> : tensor<32xf32>',
    '%sinks = tgraph.constant #tgraph.checkpoint<"sinks"> : tensor<2xf32>',
    f'%bias = tgraph.constant #tgraph.checkpoint<"bias"> : {R}',
    *(f"%{t} = tgraph.constant #tgraph.rope_table<{t}, [{FREQUENCIES}], scale 1.0> : {TURNS}" for t in ("cos", "sin")),
]
BODY = [
    f"%e = tgraph.row_gather %embed at %token : (!tgraph.rows<bf16, 20x64>, tensor<1xi32>) -> {R}",
    f"%x = tgraph.scale %e by 8.000000e+00 : {R} -> {R}",
    norm("%h", "%x", 64),
    product("%q0", "%h", "%w0"),
    add("%q1", "%q0", "%bias"),
    norm("%q2", "%q1", 32),
    rope("%q", "%q2"),
    product("%k0", "%h", "%w1"),
    norm("%k1", "%k0", 32),
    rope("%k", "%k1"),
    product("%v", "%h", "%w2"),
    set_row("%keys1", "%keys", "%k"),
    set_row("%values1", "%values", "%v"),
    f"%old = tgraph.row_gather %values row {CONTEXT - 1} : ({TABLE}) -> {R}",
    "%a = tgraph.attention %q, %keys1, %values1 at %pos sinks %sinks : tensor<2xf32> heads 2 kv_heads 2 head_dim 32 "
    f"value_dim 32 window 3 : {R}, {TABLE}, {TABLE} -> {R}",
    product("%o", "%a", "%w3"),
    add("%x1", "%x", "%o"),
    norm("%h1", "%x1", 64),
    product("%g", "%h1", "%w4"),
    product("%u", "%h1", "%w5"),
    f"%s = tgraph.swiglu %g, %u : ({R}, {R}) -> {R}",
    product("%d", "%s", "%w6"),
    add("%x2", "%x1", "%d"),
    norm("%h2", "%x2", 64),
    f"%part = tgraph.head_slice %h2 start 16 width 16 every 32 : {R} -> tensor<1x32xf32>",
    f"%row = tgraph.view %values1 offset 128 : {TABLE} -> {R}",
    product("%logits", "%h2", "%w7"),
]
RESULTS = [("%keys1", TABLE), ("%values1", TABLE), ("%logits", R), ("%part", "tensor<1x32xf32>"), ("%old", R)]
RESULTS += [("%row", R)]


def step(numerics: Numerics = Numerics.DEQUANT, format: str = "bf16") -> ModuleOp:
    """A layer with a window, sinks, a bias, scaled embeddings; old rows, a part and a view are read beside it."""
    types = ", ".join(kind for _, kind in RESULTS)
    marked = types.replace(TABLE, f"{TABLE} {{tgraph.carry = 2 : i64}}", 1).replace(
        f"}}, {TABLE}", f"}}, {TABLE} {{tgraph.carry = 3 : i64}}", 1
    )
    marked = marked.replace(f"}}, {R}", f"}}, {R} {{tgraph.logits}}", 1)
    head = (
        "func.func @step(%token: tensor<1xi32> {tgraph.token}, %pos: tensor<1xi32> {tgraph.position}, "
        f'%keys: {TABLE} {{tgraph.state = "keys"}}, %values: {TABLE} {{tgraph.state = "values"}}) -> ({marked}) {{'
    )
    text = "\n".join([head, *CONSTANTS, *BODY, f"func.return {', '.join(v for v, _ in RESULTS)} : {types}", "}"])
    module = parsed(text.replace("ROWS", f"!tgraph.rows<{format}, 64x64, transposed>"))
    module.attributes[TARGET] = preset("h200", numerics)
    return module


def run(module: ModuleOp) -> None:
    validate(module, [LanelinkPass()])


@pytest.mark.parametrize("numerics", Numerics)
@pytest.mark.parametrize("format", ["bf16", "q8_0"])
def test_what_the_pipeline_makes_is_valid(numerics: Numerics, format: str) -> None:
    module = step(numerics, format)
    text = str(module)
    made = validate(module, [LanelinkPass()], seed=3)
    assert str(module) == text
    assert str(made) == str(lower(module))


# Mutations of link: one rule of its tables, and what is done to the launch it gives.

Mutation = Callable[[Draft], Draft]


def fields(**changed: SSAValue | Attribute | None) -> Mutation:
    return lambda draft: draft.with_(**changed)


def swapped(a: str, b: str) -> Mutation:
    return lambda draft: draft.with_(**{a: draft.fields[b], b: draft.fields[a]})


def other_half(draft: Draft) -> Draft:
    """The first half of what a sum adds is added twice: its residual is lost."""
    return draft.with_(add=draft.fields["x"])


I64 = partial(IntegerAttr, value_type=i64)
IN_LINK: dict[str, tuple[object, Mutation]] = {
    "eps of a norm": (FusedRowOp, fields(eps=FloatAttr(2e-6, f32))),
    "eps of the heads' norm": (FusionClass.QK_NORM_ROPE, fields(norm_eps=FloatAttr(0.0, f32))),
    "weight of the heads' norm lost": (FusionClass.QK_NORM_ROPE, fields(norm=None)),
    "gate and up swapped": (FusionClass.GEMV_GATE_UP_GLU, swapped("wg", "wu")),
    "sinks dropped": (AttentionOp, fields(sinks=None)),
    "window a row short": (AttentionOp, fields(window=I64(2))),
    "window a row long": (AttentionOp, fields(window=I64(4))),
    "window lost": (AttentionOp, fields(window=None)),
    "scale of scores": (AttentionOp, fields(scale=FloatAttr(1 / 32, f32))),
    "slice a value early": (HeadSliceOp, fields(start=I64(15))),
    "bias lost": (FusionClass.GEMM_BIAS, fields(bias=None)),
    "row of a table, fixed": (FusionClass.ROW_IN_PLACE, fields(at=None, row=I64(0))),
    "residual dropped": (FusionClass.ADD_NORM, other_half),
    "kept sum and norm swapped": (FusionClass.ADD_NORM, swapped("sum", "out")),
    "cosine and sine swapped": (RopeOp, swapped("cos", "sin")),
    "half of a rotation": (RopeOp, fields(half=I64(8))),
    "scale of embeddings lost": (FusionClass.EMBED_SCALE, fields(scale=None)),
    "covers repeated": (FusionClass.GEMM_BIAS, lambda draft: draft.with_(covers=draft.covers)),
    "covers lost": (FusionClass.GEMM_BIAS, lambda draft: replace(draft, covers=())),
}


def plant(monkeypatch: MonkeyPatch, kind: object, change: Mutation) -> None:
    """Has the rule of a lifted op or class give its last launch changed."""
    table: dict[Any, Any] = CLASSES if isinstance(kind, FusionClass) else PRIMS
    rule = table[kind]

    def mutated(linker: linker.Linker, op: Operation) -> Draft | list[Draft]:
        made = rule(linker, op)
        return change(made) if isinstance(made, Draft) else [*made[:-1], change(made[-1])]

    monkeypatch.setitem(table, kind, mutated)


@pytest.mark.parametrize("numerics", [Numerics.DEQUANT, Numerics.INT8])
@pytest.mark.parametrize("name", IN_LINK)
def test_link_is_caught(monkeypatch: MonkeyPatch, name: str, numerics: Numerics) -> None:
    plant(monkeypatch, *IN_LINK[name])
    module = step(numerics, "q8_0")
    with pytest.raises(ValidationError, match="validate: link: "):
        run(module)


def test_a_copy_not_made_is_caught(monkeypatch: MonkeyPatch) -> None:
    """A table written while a reader still needs its old rows."""
    monkeypatch.setattr(linker.Linker, "_needs_old_rows", lambda *_: False)
    with pytest.raises(ValidationError, match=r"validate: link: step @step: result 4 \[0, 0\]: expected"):
        run(step())


def test_the_offset_of_a_view_is_caught(monkeypatch: MonkeyPatch) -> None:
    def shifted(x: SSAValue, offset: int, covers: tuple[int, ...], kind: Attribute) -> launch.ViewOp:
        return launch.ViewOp(x, offset - 1, covers, kind)

    monkeypatch.setattr(linker, "ViewOp", shifted)
    with pytest.raises(ValidationError, match=r"validate: link: step @step: result 5 \[0, 0\]"):
        run(step())


# Mutations of the other passes


def test_planes_are_caught(monkeypatch: MonkeyPatch) -> None:
    insert = quantize_activations._insert_quantize
    monkeypatch.setattr(quantize_activations, "_insert_quantize", lambda product, planes: insert(product, 1))
    message = r"validate: quantize-activations: step @step: tgraph.quantize: \[0, \d+\]: expected within .* \(2 planes"
    with pytest.raises(ValidationError, match=message):
        run(step(Numerics.TWO_PASS_INT8, "q8_0"))


@pytest.mark.parametrize("numerics", [Numerics.INT8, Numerics.TWO_PASS_INT8])
def test_a_product_of_another_tensor_is_caught(monkeypatch: MonkeyPatch, numerics: Numerics) -> None:
    first: list[SSAValue] = []

    def read(product: quantize_activations.Product, quantized: SSAValue) -> None:
        first.append(quantized)
        product.operands = [first[0], *product.operands[1:]]

    monkeypatch.setattr(quantize_activations, "_read", read)
    with pytest.raises(ValidationError, match="validate: quantize-activations: step @step: result 2"):
        run(step(numerics, "q8_0"))


def test_parts_that_read_each_others_operands_are_caught(monkeypatch: MonkeyPatch) -> None:
    move = build._move

    def crossed(parts: list[build.Part], body: build.Block, inputs: list[SSAValue]) -> None:
        move(parts, body, inputs)
        alike = [a for a in body.args if a.type == body.args[0].type]
        if len(alike) > 1:
            # The second of two operands of one type is read as the first.
            alike[1].replace_all_uses_with(alike[0])

    monkeypatch.setattr(build, "_move", crossed)
    with pytest.raises(ValidationError, match="validate: fuse: step @step: "):
        run(step())


def test_parts_that_come_back_crossed_are_caught(monkeypatch: MonkeyPatch) -> None:
    supports, apart = Shim.supports, legalize_shim.decompose
    monkeypatch.setattr(
        Shim, "supports", lambda self, kind: DECOMPOSE if kind is FusionClass.GEMV_GATE_UP_GLU else supports(self, kind)
    )
    run(step())

    def crossed(op: FusedOp) -> list[Operation]:
        parts = apart(op)
        gate, up = (part for part in parts if isinstance(part, MatmulOp))
        gate.operands, up.operands = [gate.x, up.weight], [up.x, gate.weight]
        return parts

    monkeypatch.setattr(legalize_shim, "decompose", crossed)
    with pytest.raises(ValidationError, match="validate: legalize-shim: step @step: result 2"):
        run(step())


def test_buffers_that_overlap_are_caught(monkeypatch: MonkeyPatch) -> None:
    def all_at_0(buffers: list[plan_buffers.Lifetime]) -> ArenaPlan:
        return ArenaPlan((0,) * len(buffers), plan_arena(buffers).bytes)

    monkeypatch.setattr(plan_buffers, "plan_arena", all_at_0)
    with pytest.raises(ValidationError, match="validate: plan-buffers: step @step: "):
        run(step())


def test_buffers_freed_a_launch_early_are_caught(monkeypatch: MonkeyPatch) -> None:
    """A result laid over an operand of its own launch: no two launches disagree, but the blocks of one would."""

    def early(buffers: list[plan_buffers.Lifetime]) -> ArenaPlan:
        return plan_arena([replace(b, last=max(b.first, b.last - 1)) for b in buffers])

    monkeypatch.setattr(plan_buffers, "plan_arena", early)
    with pytest.raises(ValidationError, match=r"validate: plan-buffers: step @step: .*got nan: nan apart"):
        run(step())


def test_an_offset_outside_the_arena_is_caught() -> None:
    module = lower(step(), Level.LAUNCHES)

    class Outside(PlanBuffersPass):
        def apply(self, ctx: object, op: ModuleOp) -> None:
            super().apply(ctx, op)  # pyright: ignore
            alloc = next(a for a in op.walk() if isinstance(a, launch.AllocOp))
            alloc.attributes["offset"] = I64(1 << 20)

    with pytest.raises(ValidationError, match=r"validate: plan-buffers: .* inside an arena of"):
        validate(module, [Outside()])


# The bound on quantizing, and the command


@pytest.mark.parametrize("planes", [1, 2])
def test_quantizing_stays_within_its_bound_and_no_further(planes: int) -> None:
    x = np.random.default_rng(planes).standard_normal((16, 256), np.float32)
    made = quantize(x, planes)
    assert quantizing_error(x, made, planes) is None
    # A step more in one quant of one block is out of bounds.
    plane = made.plane0 if planes == 1 else made.plane1
    assert plane is not None
    plane[3, 40] += 2 if plane[3, 40] < 0 else -2
    found = quantizing_error(x, made, planes)
    assert found is not None and found.startswith("[3, 40]: expected within")


def test_the_command_stops_without_output(
    monkeypatch: MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "step.mlir", tmp_path / "out.mlir"
    source.write_text(str(step()))
    arguments = [str(source), "-p", "lanelink", "--validate", "--validate-seed", "5", "-o", str(out)]
    assert main(arguments) == 0
    assert out.read_text(encoding="utf-8").strip() == printed(lower(step())).strip()
    out.unlink()
    plant(monkeypatch, *IN_LINK["gate and up swapped"])
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert err.startswith(f"{source}:2:3: validate: link: step @step: result 2 (logits) [0, ")
    assert "more than" in err and "of its largest value" in err and "seed 5, trial 0" in err
    assert not out.exists()


def test_a_step_that_cannot_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "f.mlir"
    source.write_text("func.func @f() {\n  func.return\n}\n")
    assert main([str(source), "-p", "number-ops", "--validate"]) == 1
    assert "expected one function with a tgraph.token argument, got 0" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["tensor<i32>", "tensor<1x1xi32>", "tensor<1xf32>", "memref<i32>"])
def test_token_ids_of_another_shape_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    source = tmp_path / "f.mlir"
    source.write_text(f"func.func @f(%t: {kind} {{tgraph.token}}) {{\n  func.return\n}}\n")
    assert main([str(source), "-p", "number-ops", "--validate"]) == 1
    assert f"expected token ids in one dimension, of i32, got {kind}" in capsys.readouterr().err


def test_an_argument_of_no_dimensions(tmp_path: Path) -> None:
    source = tmp_path / "f.mlir"
    head = "func.func @f(%t: tensor<1xi32> {tgraph.token}, %s: tensor<f32>, %a: tensor<1x8xf32>)"
    body = "%y = tgraph.silu %a : tensor<1x8xf32> -> tensor<1x8xf32>"
    source.write_text(f"{head} -> tensor<1x8xf32> {{\n  {body}\n  func.return %y : tensor<1x8xf32>\n}}\n")
    passes = "number-ops,fuse,legalize-shim,link"
    assert main([str(source), "-p", passes, "--validate", "-o", str(tmp_path / "out.mlir")]) == 0


ADVANCES = [
    "launch.advance(x = %p : memref<1xi32>, out = %n : memref<1xi32>) {by = 1 : i64} covers [0]",
    "launch.advance(x = %n : memref<1xi32>, out = %p : memref<1xi32>) {by = 1 : i64} covers [1]",
]


@pytest.mark.parametrize("count", [1, 2])
def test_a_linked_step_that_moves_its_position(count: int, tmp_path: Path) -> None:
    """Into another buffer, and back into the first: who reads an index is looked for once a buffer."""
    source, out = tmp_path / "f.mlir", tmp_path / "out.mlir"
    head = "func.func @f(%t: memref<1xi32> {tgraph.token}, %p: memref<1xi32> {tgraph.position})"
    lines = [f"{head} attributes {{launch.lifted = {count} : i64}} {{", "%n = launch.alloc : memref<1xi32>"]
    source.write_text("\n".join([*lines, *ADVANCES[:count], "func.return", "}", ""]))
    assert main([str(source), "-p", "plan-buffers", "--validate", "-o", str(out)]) == 0
    assert "launch.arena" in out.read_text()


def test_seeds_that_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["f.mlir", "-p", "number-ops", "--validate-seed"]
    assert main([*arguments, "1"]) == 2
    assert capsys.readouterr().err == "lanelink-opt: --validate-seed: expected --validate beside it, got none\n"
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "-1", "--validate"])
    assert stopped.value.code == 2
    message = "argument --validate-seed: expected a whole number of at least 0, got '-1'\n"
    assert capsys.readouterr().err.endswith(message)
