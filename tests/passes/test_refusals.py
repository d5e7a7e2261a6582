"""The table of refusals, row by row: what each refuses ends the command, and its legal neighbour links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from levels import parsed
from pytest import CaptureFixture
from xdsl.context import Context

from lanelink.dialects.launch.step import launches
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph import LiftedOp
from lanelink.dialects.tgraph.step import step_function
from lanelink.opt import main
from lanelink.passes.link import LinkPass
from lanelink.passes.number_ops import NumberOpsPass
from lanelink.passes.refusals import REFUSALS

SHIM = Path(__file__).parents[2] / "filecheck" / "passes" / "legalize-shim"


def chunks(*names: str) -> dict[str, str]:
    """Each step of the lit files, by its name."""
    texts = [t for name in names for t in re.split(r"^// -----$", (SHIM / name).read_text("utf-8"), flags=re.MULTILINE)]
    found = [(re.findall(r"^ *func\.func @(\w+)", text, re.MULTILINE), text) for text in texts]
    return {name: text for (name,), text in found}


REFUSED = chunks("refused.mlir", "refused_layers.mlir")
LEGAL = chunks("legal.mlir", "legal_layers.mlir")


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_ends_the_command_and_writes_nothing(name: str, tmp_path: Path, capsys: CaptureFixture[str]) -> None:
    source, out = tmp_path / "step.mlir", tmp_path / "out.mlir"
    source.write_text(REFUSED[name], "utf-8")
    (reason,) = re.findall(r"^// CHECK: (.*)$", REFUSED[name], re.MULTILINE)
    for pipeline in ("number-ops,legalize-shim", "number-ops,fuse,legalize-shim", "lanelink"):
        assert main([str(source), "-p", pipeline, "-o", str(out)]) == 1
        printed = capsys.readouterr()
        assert printed.out == "" and len(printed.err.splitlines()) == 1
        assert reason.partition(": ")[2] in printed.err
        assert not out.exists()


@pytest.mark.parametrize("name", LEGAL)
def test_its_legal_neighbour_links(name: str) -> None:
    module = parsed(LEGAL[name])
    NumberOpsPass().apply(Context(), module)
    LinkPass().apply(Context(), module)
    module.verify()
    assert launches(step_function(module))


def test_every_row_refuses_a_step_that_has_a_neighbour() -> None:
    used: set[int] = set()
    for text in REFUSED.values():
        module = parsed(text)
        target = module_target(module)
        for op in module.walk():
            if isinstance(op, LiftedOp):
                first = next((k for k, row in enumerate(REFUSALS) if row(op, target) is not None), None)
                used.update(() if first is None else (first,))
    assert used == set(range(len(REFUSALS)))
    assert set(REFUSED) <= set(LEGAL)
