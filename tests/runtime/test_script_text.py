"""What of a step's own texts enters the written-out program: as text, never as code; and PTX that a text has wrong."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lanelink.dialects.formats import Format
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.runtime.cuda import CudaBackend
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.loader import SourceLoader
from lanelink.lowering.runtime.plan import Plan, read_plan
from lanelink.lowering.script.writer import WriterError, write_script
from lanelink.lowering.selection.calls import F32, I32
from lanelink.lowering.signatures import SignatureError
from lanelink.opt import main
from lanelink.pipeline import lower

MODEL = Path(__file__).parent.parent / "models" / "qwen3"
ANY = st.text(st.characters(exclude_categories=()), max_size=200)
"""Lone surrogates too: a file's name has them for bytes that are no UTF-8."""


@pytest.fixture(scope="module")
def lowered() -> Any:
    return lower(import_checkpoint(MODEL, context=32, quantize=Format.Q8_0))


@pytest.fixture(scope="module")
def plan(lowered: Any) -> Plan:
    return read_plan(lowered)


def labelled(plan: Plan, label: str) -> Plan:
    return replace(plan, launches=(replace(plan.launches[0], label=label), *plan.launches[1:]))


@settings(max_examples=100, deadline=None)
@example('s: 1"""\nprint("PWNED")\n"""', "", "step")
@example("\\", "\0", 'a"b\\')
@example("\ud800\u2028\x0c", "a\rprint(1)\x85print(2)", "\udcff")
@given(ANY, ANY, ANY)
def test_any_text_is_text_in_the_program(plan: Plan, name: str, label: str, file: str) -> None:
    plain, held = write_script(plan, "step").text, write_script(labelled(replace(plan, name=name), label), file).text
    assert held.encode().count(b"\n") == plain.count("\n") and len(held.splitlines()) == plain.count("\n")
    expected, found = ast.parse(plain), ast.parse(held)
    docstring = ast.get_docstring(found, clean=False)
    assert docstring is not None and docstring.startswith(f"Step @{name}: {len(plan.launches)} launches a token")
    assert f"beside it, and {file}.weights: its constants" in docstring
    weights = [node for node in ast.walk(found) if isinstance(node, ast.Constant) and node.value == f"{file}.weights"]
    assert len(weights) == 1
    weights[0].value = "step.weights"
    # Beside the two texts it is the program that it was.
    assert [ast.dump(each) for each in found.body[1:]] == [ast.dump(each) for each in expected.body[1:]]


@pytest.mark.parametrize(
    ("label", "comment"),
    [
        ("fold(norm, gemv)", "fold(norm, gemv)"),
        ("", "gather_q8_0"),
        ('a\n"b"\0', r"a\n\"b\"\x00"),
        ("x" * 1000, "x" * 120 + "..."),
        ("größe", "größe"),
    ],
)
def test_a_label_is_a_comment_of_one_line(plan: Plan, label: str, comment: str) -> None:
    lines = write_script(labelled(plan, label), "step").text.splitlines()
    assert lines[lines.index("    launches=(") + 1].startswith(f"        # {comment}: ops ")


class Shown:
    """Shown in a program as a text, whatever that is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


@pytest.mark.parametrize(
    ("shared", "told"),
    [
        (object(), r"program line \d+: expected Python, got .Launch\(.*<object object at .*invalid syntax"),
        (Shown("\0"), "program: expected Python, got .*null bytes"),
        (Shown("'\ud800'"), "program: expected Python, got other text .*surrogates not allowed"),
    ],
)
def test_what_is_no_python_is_not_written(plan: Plan, shared: object, told: str) -> None:
    launch = replace(plan.launches[0], shared=cast(int, shared))
    with pytest.raises(WriterError, match=told):
        write_script(replace(plan, launches=(launch,)), "step")


def test_the_command_writes_hostile_names_as_text(lowered: Any, tmp_path: Path) -> None:
    text = str(lowered)
    name = read_plan(lowered).name
    source, path = tmp_path / "lowered.mlir", tmp_path / 'a"""\\.py'
    hostile = text.replace(f"driver.step @{name} ", r'driver.step @"s: 1\22\22\22\0Araise SystemExit(9)\0A\22\22\22" ')
    assert hostile != text
    source.write_text(hostile.replace('label = "gather"', 'label = "\\00"'), encoding="utf-8")
    assert main([str(source), "--emit-python", str(path)]) == 0
    names = runpy.run_path(str(path))
    assert str(names["__doc__"]).startswith('Step @s: 1"""\nraise SystemExit(9)\n""": ')
    assert names["STEP"].weights_file == 'a"""\\.weights'


def test_a_programs_name_that_a_file_beside_it_has(
    lowered: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, made = tmp_path / "lowered.mlir", tmp_path / "made"
    source.write_text(str(lowered), encoding="utf-8")
    made.mkdir()
    for name in ("step.weights", "gemv_q8_0.compute_90.ptx"):
        assert main([str(source), "--emit-python", str(made / name)]) == 1
        told = f"{made / name}: expected another name than those of the files beside it, got '{name}'\n"
        assert capsys.readouterr().err == told
    assert not list(made.iterdir())


# PTX that the package has not as the step names it


def another_entry(plan: Plan) -> Plan:
    return replace(plan, launches=(replace(plan.launches[0], entry="gather_q9_0"),))


def another_architecture(plan: Plan) -> Plan:
    launch = replace(plan.launches[0], module="attention_64", entry="attention_one_64_q2")
    return replace(plan, modules={"attention_64": "compute_80"}, launches=(launch,))


def another_module(plan: Plan) -> Plan:
    return replace(plan, launches=(replace(plan.launches[0], module="rows_of_others"),))


def another_type(plan: Plan) -> Plan:
    first = plan.launches[0]
    swapped = (first.arguments[0], F32(1.0), *first.arguments[2:])
    assert isinstance(first.arguments[1], I32)
    return replace(plan, launches=(replace(first, arguments=swapped),))


def too_few(plan: Plan) -> Plan:
    first = plan.launches[0]
    return replace(plan, launches=(replace(first, arguments=first.arguments[:-1]),))


CHANGES: list[tuple[Callable[[Plan], Plan], str]] = [
    (
        another_entry,
        r"rows\.compute_90\.ptx: expected one of the module's entries \(norm_rows, .* more\), got 'gather_q9_0'",
    ),
    (
        another_architecture,
        r"attention_64\.compute_80\.ptx: expected one of the module's entries \(.* and \d+ more\), "
        "got 'attention_one_64_q2'",
    ),
    (another_module, "launch of 'rows_of_others': expected a module of the step, got none of that name"),
    (another_type, r"rows\.compute_90\.ptx entry gather_q8_0 argument 1: expected i32, got f32"),
    (too_few, r"rows\.compute_90\.ptx entry gather_q8_0: expected 25 arguments, got 24"),
]


@pytest.mark.parametrize(("change", "told"), CHANGES, ids=lambda c: getattr(c, "__name__", ""))
def test_every_user_of_ptx_tells_what_it_has_not(
    plan: Plan, change: Callable[[Plan], Plan], told: str, fake_cuda: Any
) -> None:
    changed, loader = change(plan), SourceLoader(open_directory(MODEL))
    with pytest.raises(SignatureError, match=f"^{told}$"):
        EmulatorBackend(changed, loader)
    with pytest.raises(SignatureError, match=f"^{told}$"):
        CudaBackend(changed, loader, bindings=fake_cuda)
    with pytest.raises(SignatureError, match=f"^{told}$"):
        write_script(changed, "step")


def test_the_command_tells_an_entry_that_is_not_there(
    lowered: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, path = tmp_path / "lowered.mlir", tmp_path / "step.py"
    source.write_text(str(lowered).replace("@gather_q8_0", "@gather_q9_0"), encoding="utf-8")
    assert main([str(source), "--emit-python", str(path)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"lanelink-opt: {source}: rows.compute_90.ptx: expected one of the module's entries (")
    assert err.endswith("got 'gather_q9_0'\n") and len(err.splitlines()) == 1
    assert not list(tmp_path.glob("*.ptx")) and not path.exists()
