"""Parts read in place, results in units of table rows, and one matrix a head: from tensors to the emulated device."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Emulated
from levels import RELATIVE, parsed
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects import launch
from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import TARGET, Numerics, preset

HEADS, NOPE, TURNED, LATENT, CONTEXT = 2, 32, 16, 64, 8


def latent_step(rows: int, format: Format, numerics: Numerics) -> ModuleOp:
    """DeepSeek-V2's way to a latent row of a table, and of a query to it and back, without the attention between.

    The latent's norm and the key's rotation read parts of one product and land side by side in the table's row; each
    query head's unturned part goes through a matrix of its own, and lands beside its turned part.
    """
    wide, key = HEADS * (NOPE + TURNED), LATENT + TURNED
    weights = {
        "embedding": f"!tgraph.rows<bf16, 256x{LATENT}>",
        "kv": f"!tgraph.rows<bf16, {key}x{LATENT}, transposed>",
        "q": f"!tgraph.rows<bf16, {wide}x{LATENT}, transposed>",
        "absorb": f"!tgraph.rows<{format.value}, {HEADS * NOPE}x{LATENT}>",
        "expand": f"!tgraph.rows<{format.value}, {HEADS * NOPE}x{LATENT}, transposed>",
        "head": f"!tgraph.rows<bf16, 256x{HEADS * (NOPE + TURNED)}, transposed>",
        "norm": f"tensor<{LATENT}xf32>",
    }

    def t(width: int) -> str:
        return f"tensor<{rows}x{width}xf32>"

    table, tables = f"tensor<{CONTEXT}x{key}xf32>", f"tensor<{CONTEXT}x{TURNED // 2}xf32>"
    angles = ", ".join(f"{2.0**-k}" for k in range(TURNED // 2))
    constants = [f'%{n} = tgraph.constant #tgraph.checkpoint<"{n}"> : {kind}' for n, kind in weights.items()]
    constants += [
        f"%{f} = tgraph.constant #tgraph.rope_table<{f}, [{angles}], scale 1.0> : {tables}" for f in ("cos", "sin")
    ]
    gather = "row_gather" if rows == 1 else "rows_gather"
    turn = f"%cos, %sin at %pos heads %HEADS head_dim {TURNED} half {TURNED // 2} :"
    body = f"""
      %x = tgraph.{gather} %embedding at %token : ({weights["embedding"]}, tensor<{rows}xi32>) -> {t(LATENT)}
      %kv1 = tgraph.matmul %x, %kv : ({t(LATENT)}, {weights["kv"]}) -> {t(key)}
      %c = tgraph.head_slice %kv1 start 0 width {LATENT} every {key} : {t(key)} -> {t(LATENT)}
      %cn = tgraph.fused_row rms %c weight %norm : {weights["norm"]} cols {LATENT} eps 1.0e-06 : {t(LATENT)}
      %ke = tgraph.head_slice %kv1 start {LATENT} width {TURNED} every {key} : {t(key)} -> {t(TURNED)}
      %kr = tgraph.rope %ke, {turn.replace("%HEADS", "1")}
        ({t(TURNED)}, {tables}, {tables}, tensor<1xi32>) -> {t(TURNED)}
      %row = tgraph.join %cn, %kr heads 1 : ({t(LATENT)}, {t(TURNED)}) -> {t(key)}
      %table1 = tgraph.set_row %table, %row at %pos : ({table}, {t(key)}, tensor<1xi32>) -> {table}
      %qa = tgraph.matmul %x, %q : ({t(LATENT)}, {weights["q"]}) -> {t(wide)}
      %qn = tgraph.head_slice %qa start 0 width {NOPE} every {NOPE + TURNED} : {t(wide)} -> {t(HEADS * NOPE)}
      %qe = tgraph.head_slice %qa start {NOPE} width {TURNED} every {NOPE + TURNED} : {t(wide)} -> {t(HEADS * TURNED)}
      %qr = tgraph.rope %qe, {turn.replace("%HEADS", str(HEADS))}
        ({t(HEADS * TURNED)}, {tables}, {tables}, tensor<1xi32>) -> {t(HEADS * TURNED)}
      %qb = tgraph.head_matmul %qn, %absorb heads {HEADS} inputs {NOPE} outputs {LATENT}
        : ({t(HEADS * NOPE)}, {weights["absorb"]}) -> {t(HEADS * LATENT)}
      %qj = tgraph.join %qb, %qr heads {HEADS} : ({t(HEADS * LATENT)}, {t(HEADS * TURNED)}) -> {t(HEADS * key)}
      %ql = tgraph.head_slice %qj start 0 width {LATENT} every {key} : {t(HEADS * key)} -> {t(HEADS * LATENT)}
      %qt = tgraph.head_slice %qj start {LATENT} width {TURNED} every {key} : {t(HEADS * key)} -> {t(HEADS * TURNED)}
      %ov = tgraph.head_matmul %ql, %expand heads {HEADS} inputs {LATENT} outputs {NOPE}
        : ({t(HEADS * LATENT)}, {weights["expand"]}) -> {t(HEADS * NOPE)}
      %both = tgraph.join %ov, %qt heads {HEADS} : ({t(HEADS * NOPE)}, {t(HEADS * TURNED)}) -> {t(wide)}
      %logits = tgraph.matmul %both, %head : ({t(wide)}, {weights["head"]}) -> {t(256)}
      %pos1 = tgraph.advance %pos by {rows} : (tensor<1xi32>) -> tensor<1xi32>
      func.return %pos1, %logits, %table1 : tensor<1xi32>, {t(256)}, {table}"""
    head = (
        f"func.func @step(%token: tensor<{rows}xi32> {{tgraph.token}}, %pos: tensor<1xi32> {{tgraph.position}}, "
        f'%table: {table} {{tgraph.state = "table"}}) -> (tensor<1xi32> {{tgraph.carry = 1 : i64}}, '
        f"{t(256)} {{tgraph.logits}}, {table} {{tgraph.carry = 2 : i64}}) {{"
    )
    module = parsed("\n".join([head, *constants, body, "}"]))
    module.attributes[TARGET] = preset("h200", numerics)
    return module


@pytest.mark.parametrize(
    ("rows", "format", "numerics"),
    [
        (1, Format.BF16, Numerics.DEQUANT),
        (2, Format.F16, Numerics.DEQUANT),
        (1, Format.Q8_0, Numerics.DEQUANT),
        (1, Format.Q4_0, Numerics.TWO_PASS_INT8),
        (3, Format.MXFP4, Numerics.INT8),
    ],
)
def test_latent_rows_and_queries(rows: int, format: Format, numerics: Numerics) -> None:
    run = Emulated(latent_step(rows, format, numerics))
    made = run.launches()
    norm = next(op for op in made if isinstance(op, launch.NormOp))
    assert norm.x_pitch is not None and norm.unit_pitch is not None and norm.at is not None
    turned = next(op for op in made if isinstance(op, launch.RopeOp | launch.RopeSideOp))
    assert turned.x_pitch is not None and turned.unit_pitch is not None
    assert sum(isinstance(op, launch.HeadGemvOp) for op in made) == 2
    first = np.array([7, 250, 3][:rows])
    for k in range(CONTEXT // rows):
        run.check_step(((first + 11 * k) % 256).tolist(), RELATIVE[numerics])
