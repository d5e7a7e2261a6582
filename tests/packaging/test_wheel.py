"""The wheel holds the one package, with its PTX and its types marker, and nothing at the top level beside it."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PARTS = ("dialects", "passes", "lowering", "kernels", "frontend")

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    # What an earlier build left would be packed again.
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(ROOT)],
        check=True,
    )
    (wheel,) = out.glob("lanelink-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_source_file_is_in_the_package(names: set[str]) -> None:
    folders = {"lanelink": "lanelink", **{f: f"lanelink/{f}" for f in PARTS}}
    for folder, package in folders.items():
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".ptx", ".cu", ".cuh"} or path.name == "py.typed":
                assert f"{package}/{path.relative_to(ROOT / folder)}" in names


def test_nothing_else_is_installed(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"lanelink"}
