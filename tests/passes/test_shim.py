"""A lane of another compiler: the page that shows one, and what the link does for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from levels import arrays, check_close
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.utils.exceptions import PassFailedException

from lanelink.dialects import launch
from lanelink.dialects.formats import Format
from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import Numerics, module_target
from lanelink.dialects.tgraph import FusedOp, FusionClass
from lanelink.dialects.tgraph.step import step_function, step_io
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.interpreters.levels import step_of
from lanelink.lowering.interpreters.reference import zero_inputs
from lanelink.lowering.weights import resolve
from lanelink.passes.legalize_shim import LegalizeShimPass
from lanelink.passes.link.linker import Linker, buffer_type
from lanelink.passes.shim import DECOMPOSE, Answer, Shim, Support
from lanelink.pipeline import Level, lower

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "tests" / "models"


@pytest.fixture
def page() -> dict[str, Any]:
    """What the page's example defines."""
    (code,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8"), re.DOTALL
    )
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, "docs/embedding.md", "exec"), names)
    return names


def model(name: str, format: Format | None = None) -> ModuleOp:
    return import_checkpoint(MODELS / name, context=8, numerics=Numerics.DEQUANT, quantize=format)


def fused_ops(module: ModuleOp) -> list[FusionClass]:
    return [op.fusion_class.data for op in module.walk() if isinstance(op, FusedOp)]


def test_the_pages_lane_runs_what_it_decomposes(page: dict[str, Any]) -> None:
    module = model("llama")
    constants = resolve(module, open_directory(MODELS / "llama"))
    expected = step_of(module, constants)
    arguments = zero_inputs(step_function(module))
    arguments[0][:] = 65
    page["launches_of"](module)
    kinds = {type(op) for op in module.walk()}
    assert launch.GemmPartsOp not in kinds
    # The parts of a merged launch are still launches of their own class.
    assert launch.GemvGluOp in kinds and launch.FoldOp in kinds
    for a, b in zip(arrays(expected(arguments)), arrays(step_of(module, constants)(arguments)), strict=True):
        check_close(b, a, 2e-5)


@pytest.mark.parametrize(
    ("name", "format", "message"),
    [
        ("llama", Format.Q8_0, r"^model\.layers\.0\.\S+: op \d+ tgraph\.matmul.*: expected bf16 rows, got q8_0$"),
        (
            "qwen2",
            None,
            r"^model\.layers\.0\.self_attn\.\S+: ops \[\d+, \d+\] tgraph\.fused \(gemm_bias\): "
            r"expected products without a bias, got one$",
        ),
    ],
)
def test_the_pages_lane_refuses(page: dict[str, Any], name: str, format: Format | None, message: str) -> None:
    with pytest.raises(PassFailedException, match=message):
        page["launches_of"](model(name, format))


def test_the_pages_link_refuses_what_was_not_legalized(page: dict[str, Any]) -> None:
    module = lower(model("qwen2"), Level.FUSED)
    with pytest.raises(PassFailedException, match=r"link tgraph\.fused: expected products without a bias, got one"):
        page["LinkOtherLane"]().apply(Context(), module)


class Apart(Shim):
    """Runs every class as its parts."""

    def supports(self, fusion_class: FusionClass) -> Support:
        return DECOMPOSE


class ApartPass(LegalizeShimPass):
    """Legalizes for it."""

    make_shim = staticmethod(Apart)


def test_a_lane_that_decomposes_everything() -> None:
    module = lower(model("qwen3"), Level.FUSED)
    assert fused_ops(module)
    ApartPass().apply(Context(), module)
    module.verify()
    assert not fused_ops(module)
    linked = lower(module, Level.LAUNCHES)
    # `lower` fuses again, as this project's lane would have it: the parts are as they were before.
    assert len(launches(step_function(linked))) == len(launches(step_function(lower(model("qwen3"), Level.LAUNCHES))))


class Refusing(Shim):
    """Refuses the class of the attribute."""

    refused = FusionClass.QK_NORM_ROPE

    def supports(self, fusion_class: FusionClass) -> Support:
        if fusion_class is self.refused:
            return Support(Answer.REFUSE, "expected heads without a norm, got one")
        return super().supports(fusion_class)


class RefusingPass(LegalizeShimPass):
    """Legalizes for it."""

    make_shim = staticmethod(Refusing)


def test_a_refused_class_is_met_inside_native_ones() -> None:
    module = lower(model("qwen3"), Level.FUSED)
    top = [op for op in step_function(module).body.block.ops if isinstance(op, FusedOp)]
    assert Refusing.refused not in {op.fusion_class.data for op in top}
    with pytest.raises(PassFailedException, match=r"tgraph\.fused \(qk_norm_rope\): expected heads without a norm"):
        RefusingPass().apply(Context(), module)


def linker_of(module: ModuleOp, shim: type[Shim]) -> Linker:
    func = step_function(module)
    block = Block(arg_types=[buffer_type(a) for a in func.body.block.args])
    return Linker(func, step_io(func), shim(module_target(module)), block)


def test_whole_links_a_class_whatever_the_shim_answers() -> None:
    module = lower(model("llama"), Level.FUSED)
    top = [op for op in step_function(module).body.block.ops if isinstance(op, FusedOp)]
    gated = next(op for op in top if op.fusion_class.data is FusionClass.GEMV_GATE_UP_GLU)
    linker = linker_of(module, Apart)
    assert [draft.kind for draft in linker.link(gated)] == [launch.GemvOp, launch.GemvOp, launch.SwigluOp]
    linker = linker_of(module, Apart)
    (draft,) = linker.whole(gated)
    assert draft.kind is launch.GemvGluOp and len(draft.covers) == 3
    linker.emit(draft)
    emitted = linker.block.last_op
    assert isinstance(emitted, launch.GemvGluOp)
    np.testing.assert_array_equal(emitted.covered(), sorted(draft.covers))


def test_whole_fails_where_the_op_does_not_fit() -> None:
    class Narrow(Apart):
        def fits(self, op: FusedOp) -> str | None:
            return "expected less"

    module = lower(model("llama"), Level.FUSED)
    op = next(op for op in step_function(module).body.block.ops if isinstance(op, FusedOp))
    with pytest.raises(PassFailedException, match=r"link tgraph\.fused: expected less"):
        linker_of(module, Narrow).whole(op)


def test_a_part_that_runs_as_several_launches_is_no_part_of_one() -> None:
    module = lower(model("llama"), Level.FUSED)
    op = next(op for op in step_function(module).body.block.ops if isinstance(op, FusedOp))
    with pytest.raises(PassFailedException, match="expected a part that runs as one launch"):
        linker_of(module, Apart).one(op)
