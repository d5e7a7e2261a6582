"""Texts with something in them changed: compiled, or refused where the fault stands with nothing written."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from levels import parsed
from pytest import CaptureFixture
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from examples import printed
from lanelink.opt import main
from lanelink.pipeline import Level, lower

FILECHECK = Path(__file__).parents[2] / "filecheck"
TEXTS = 120
"""Changed texts of each level."""

NUMBERS = ["0", "1", "3", "-1", "7", "33", "1000000", "4294967296", "18446744073709551616"]
PIPELINES = {
    Level.TENSORS: ["number-ops,fuse", "number-ops,fuse,legalize-shim,link", "lanelink"],
    Level.FUSED: ["legalize-shim", "legalize-shim,link", "link,plan-buffers"],
    Level.LAUNCHES: ["schedule-norms", "plan-buffers", "schedule-norms,plan-buffers,lower-to-driver"],
}


def steps(level: Level) -> list[str]:
    """The steps of the link's lit files that reach a level, as texts of it."""
    found: list[str] = []
    for path in sorted((FILECHECK / "passes" / "link").glob("*.mlir")):
        for chunk in path.read_text("utf-8").split("// -----"):
            try:
                found.append(printed(lower(parsed(chunk), level)))
            except (DiagnosticException, VerifyException):
                assert path.name.startswith("refused")
    return found


def exchanged(pattern: str) -> Callable[[random.Random, str], str]:
    """Puts one match of a pattern in another's place."""

    def change(rng: random.Random, text: str) -> str:
        found = list(re.finditer(pattern, text))
        if not found:
            return text
        at, other = rng.choice(found), rng.choice(found)
        return text[: at.start()] + other[0] + text[at.end() :]

    return change


def another_number(rng: random.Random, text: str) -> str:
    found = list(re.finditer(r'(?<![\w%.@"])\d+(?![\w.])', text))
    if not found:
        return text
    at = rng.choice(found)
    return text[: at.start()] + rng.choice(NUMBERS) + text[at.end() :]


def lines_moved(rng: random.Random, text: str) -> str:
    """One line in another's place, or left out."""
    lines = text.split("\n")
    i, j = (rng.randrange(len(lines)) for _ in range(2))
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines[:i] + lines[i + rng.randrange(2) :])


CHANGES = [
    another_number,
    lines_moved,
    exchanged(r"%\w+"),
    exchanged(r"\b(?:tensor|memref)<[^>]*>|!tgraph\.\w+<[^>]*>"),
    exchanged(r"\b[a-z_]+\b"),
    exchanged(r"covers \[[\d, ]*\]|number \d+"),
]


@pytest.mark.parametrize("level", PIPELINES, ids=lambda level: level.name)
def test_changed_texts(level: Level, tmp_path: Path, capsys: CaptureFixture[str]) -> None:
    rng, texts, taken = random.Random(level.value), steps(level), {0: 0, 1: 0}
    source, out = tmp_path / "step.mlir", tmp_path / "out.mlir"
    for _ in range(TEXTS):
        text = rng.choice(texts)
        for change in rng.sample(CHANGES, rng.randint(1, 2)):
            text = change(rng, text)
        source.write_text(text, "utf-8")
        arguments = [str(source), "-p", rng.choice(PIPELINES[level]), "-o", str(out)]
        code = main([*arguments, *(["--validate"] if rng.random() < 0.3 else [])])
        printed_err = capsys.readouterr().err
        taken[code] += 1
        assert out.exists() == (code == 0), printed_err
        placed = re.match(rf"{re.escape(str(source))}:\d+:\d+", printed_err)
        assert placed if code else not printed_err, printed_err
        out.unlink(missing_ok=True)
    # Most changes are faults; some are none.
    assert taken[0] > TEXTS // 20 and taken[1] > TEXTS // 2
