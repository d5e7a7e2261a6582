"""`lanelink explain`: what it says of each launch, as data, as a table, and as a page."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lanelink.cli import main, read_module
from lanelink.dialects.formats import Format
from lanelink.explain import LAUNCH_SECONDS, READS_PER_SECOND, Explanation, explain
from lanelink.explain_page import grouped, page, text
from lanelink.frontend.importer import import_checkpoint
from lanelink.pipeline import Level, Schedule, lower

MODEL = Path(__file__).parent.parent / "models" / "qwen3"


@pytest.fixture(scope="module")
def found() -> Explanation:
    return explain(import_checkpoint(MODEL, context=64, quantize=Format.Q8_0))


def test_every_lifted_op_is_in_one_launch(found: Explanation) -> None:
    covered = [number for row in found.launches for number in row.covers]
    lowered = lower(import_checkpoint(MODEL, context=64, quantize=Format.Q8_0), Level.TENSORS)
    names = [op.name for op in lowered.walk() if getattr(op, "number", None) is not None]
    assert sorted(covered) == list(range(len(names)))
    assert all(len(row.ops) == len(row.covers) for row in found.launches)


def test_launches_name_their_parts_and_classes(found: Explanation) -> None:
    pair = next(row for row in found.launches if "gemv_glu" in row.label)
    assert pair.label == "fold(norm, gemv_glu)"
    assert pair.ops == (
        "fused_row post_attention_layernorm",
        "quantize gate_proj",
        "matmul gate_proj",
        "matmul up_proj",
        "swiglu mlp",
        "quantize down_proj",
    )
    assert pair.classes == ("gemv_norm_epilogue(add_norm_quant(add_norm))", "glu_act_mul_quant(gemv_gate_up_glu)")
    assert pair.why == "no class takes it into fold(gemv, binary)"
    last = found.launches[-1]
    assert (last.label, last.classes) == ("arg_max", ("fused_sampling",))


def test_bytes_are_what_a_launch_moves(found: Explanation) -> None:
    gather, product, attention, out, pair, *_ = found.launches
    # One row of the table in blocks of 34 bytes, its index, and the f32 row.
    assert gather.bytes == 128 // 32 * 34 + 4 + 4 * 128
    weights = (128 + 64 + 64) * 128 // 32 * 34
    norm, tables, index, quantized = 4 * 128, 2 * 4 * 16, 4, 128 + 4 * 128 // 32
    # The row it norms; queries, keys and a row of the table of values; what waits in between stays in the launch.
    assert product.bytes == weights + norm + index + 4 * (128 + 128 + 64 + 64) + quantized
    # Queries before and after their norms and rotation, keys before, which go where the table counts whole.
    turned = 4 * (128 + 64) + 4 * (32 + 32) + tables + 4 * 128
    assert attention.bytes == turned + 2 * 4 * 64 * 64 + index + quantized
    assert out.bytes > 128 * 128 and pair.bytes > 2 * 256 * 128


def test_time_is_predicted_of_a_chip_whose_speed_is_known(found: Explanation) -> None:
    row = found.launches[3]
    assert row.seconds == LAUNCH_SECONDS + row.bytes / READS_PER_SECOND["h200"]
    assert found.seconds == pytest.approx(sum(r.seconds or 0 for r in found.launches))
    unknown = replace(found, launches=(replace(row, seconds=None), *found.launches[1:]))
    assert unknown.seconds is None
    assert "predicted" not in text(unknown).splitlines()[0]


def test_alike_launches_are_one_line(found: Explanation) -> None:
    groups = grouped(found.launches)
    assert sum(group.times for group in groups) == len(found.launches) > len(groups)
    assert [group.first for group in groups] == sorted(group.first for group in groups)
    assert len(grouped(found.launches, every=True)) == len(found.launches)


def test_a_schedule_left_out_shows(found: Explanation) -> None:
    schedule = Schedule(norms=False, rotations=False)
    plain = explain(import_checkpoint(MODEL, context=64, quantize=Format.Q8_0), schedule)
    assert len(plain.launches) == len(found.launches)
    assert [row.label for row in plain.launches][:2] == ["fold(gather, norm)", "fold(gemm_parts, rope_parts)"]


def test_the_page_is_whole(found: Explanation) -> None:
    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []
            self.rows = 0

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in ("meta",):
                self.open.append(tag)
            self.rows += tag == "tr"

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    reader = Reader()
    reader.feed(page(found))
    assert not reader.open
    assert reader.rows == 1 + len(grouped(found.launches))
    hostile = replace(found, step="<script>")
    assert "<script>" not in page(hostile)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step, made = tmp_path / "step.mlir", tmp_path / "page.html"
    assert main(["import", str(MODEL), "-o", str(step), "--context", "64"]) == 0
    assert main(["explain", str(step)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("@step on h200: 13 launches, ")
    assert main(["explain", str(step), "--all", "--html", str(made)]) == 0
    assert made.read_text(encoding="utf-8").count("<tr>") == 14
    step.write_text("builtin.module {}", encoding="utf-8")
    assert main(["explain", str(step)]) == 1
    assert "expected one function with a tgraph.token argument, got 0" in capsys.readouterr().err


ADDS_TWICE = """
func.func @step(%token: tensor<1xi32> {tgraph.token}, %x: tensor<1x32xf32>, %y: tensor<1x32xf32>)
    -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %k, %h = tgraph.fused add_norm(%a = %x : tensor<1x32xf32>, %b = %y : tensor<1x32xf32>)
      -> (tensor<1x32xf32>, tensor<1x32xf32>) {
    %s = tgraph.elementwise add %a, %b : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %n = tgraph.fused_row rms %s residual %a cols 32 eps 1.0e-06 : tensor<1x32xf32>
    tgraph.yield %s, %n : tensor<1x32xf32>, tensor<1x32xf32>
  }
  func.return %h, %k : tensor<1x32xf32>, tensor<1x32xf32>
}
"""


def test_a_class_that_runs_as_its_parts_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = tmp_path / "step.mlir"
    step.write_text(ADDS_TWICE, encoding="utf-8")
    found = explain(read_module(step))
    why = "expected a norm without a residual of its own beside the add, got one"
    assert found.decomposed == (("add_norm", why),)
    assert [row.why for row in found.launches] == [f"add_norm runs as its parts: {why}", "its results leave the step"]
    assert [row.classes for row in found.launches] == [(), ()]
    assert main(["explain", str(step)]) == 0
    assert capsys.readouterr().out.endswith(f"\nadd_norm runs as its parts: {why}\n")
