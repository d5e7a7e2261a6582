"""The README's commands, one after another in one folder, as a reader types them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lanelink.cli import main as lanelink
from lanelink.opt import main as opt

ROOT = Path(__file__).parents[2]
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"lanelink": lanelink, "lanelink-opt": opt}
ON_A_GPU = re.compile(r"lanelink bench |--backend cuda |python out/")


def lines() -> list[str]:
    """The lines of the README's blocks without a language, and without comments."""
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]


def test_every_command_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    ran = 0
    for line in lines():
        tool, *arguments = shlex.split(line) if line.isascii() else [""]
        if tool == "mkdir":
            Path(arguments[0]).mkdir()
        elif tool in COMMANDS and not ON_A_GPU.search(line):
            assert COMMANDS[tool](arguments) == 0, capsys.readouterr().err
            ran += 1
    assert ran >= 12


def test_commands_for_a_gpu_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    """Their options are known, and their shapes; without a step, or a driver, nothing more of them runs here."""
    found = [line for line in lines() if line.startswith("lanelink ") and ON_A_GPU.search(line)]
    assert len(found) >= 3
    for line in found:
        arguments = shlex.split(line)[1:]
        if arguments[0] == "run":
            arguments[1] = "no-such-step.mlir"
        else:
            arguments[1] = "no-such-shape"
        assert lanelink(arguments) == 1
        assert "no-such-" in capsys.readouterr().err
