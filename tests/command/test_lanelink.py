"""`lanelink` as a user meets it: import, run, and every kind of bad input."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from lanelink.cli import main
from lanelink.opt import main as opt

MODELS = Path(__file__).parent.parent / "models"


@pytest.fixture
def step(tmp_path: Path) -> Path:
    path = tmp_path / "step.mlir"
    assert main(["import", str(MODELS / "qwen3"), "-o", str(path), "--context", "128"]) == 0
    return path


def run(step: Path, *options: str, backend: str = "reference", weights: Path = MODELS / "qwen3") -> int:
    return main(["run", str(step), "--weights", str(weights), "--backend", backend, *options])


def fails(capsys: pytest.CaptureFixture[str], *parts: str) -> None:
    """The error is one line on stderr that holds each of `parts`; nothing on stdout."""
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    assert len(lines) == 1, captured.err
    for part in parts:
        assert part in lines[0]


def test_run_prints_one_object(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    oracle = np.load(MODELS / "qwen3" / "oracle.npz")
    ids = ",".join(map(str, oracle["prompt0"]))
    assert run(step, "--ids", ids, "-n", "96", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"ids", "text", "backend", "launches_per_step", "seconds", "tokens_per_second"}
    assert found["ids"] == oracle["greedy0"].tolist()
    assert found["backend"] == "reference"
    assert found["text"].encode() == bytes(oracle["greedy0"].tolist())


def test_several_sequences_are_answered_each(step: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A list of each in the object; a text of each under its number; as many prompts as the step has sequences."""
    path, prompts = tmp_path / "batch.mlir", ["In the", "An"]
    assert main(["import", str(MODELS / "qwen3"), "-o", str(path), "--context", "32", "--sequences", "2"]) == 0
    alone: list[dict[str, object]] = []
    for prompt in prompts:
        assert run(step, "--prompt", prompt, "-n", "7", "--json") == 0
        alone.append(json.loads(capsys.readouterr().out))
    given = [option for prompt in prompts for option in ("--prompt", prompt)]
    assert run(path, *given, "-n", "7", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ids"] == [each["ids"] for each in alone]
    assert found["text"] == [each["text"] for each in alone]
    # Of both: 6 and 2 of prompt, 6 chosen that are fed back.
    assert found["tokens_per_second"] == pytest.approx((6 + 2 + 2 * 6) / found["seconds"])
    assert run(path, *given, "-n", "7") == 0
    assert capsys.readouterr().out == f"--- sequence 0\n{alone[0]['text']}\n--- sequence 1\n{alone[1]['text']}\n"
    assert run(path, "--prompt", "In the", "-n", "7") == 1
    fails(capsys, "--prompt: expected it 2 times, once a sequence of the step, got it 1 times")
    assert run(step, "--ids", "1", "--ids", "2", "-n", "1") == 1
    fails(capsys, "--ids: expected it once, got it 2 times")


def test_run_says_where_the_time_went(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["read the step", "open the checkpoint", "vocabulary", "lower", "weights", "first token"]
    assert run(step, "--ids", "1,2", "-n", "2", "--json", "--phases") == 0
    found = json.loads(capsys.readouterr().out)["phases"]
    # An object has no text to show before it has all ids.
    assert list(found) == [*named[:2], *named[3:], "vocabulary"]
    assert all(taken > 0 for taken in found.values()) and found["first token"] < 60
    assert run(step, "--ids", "1,2", "-n", "2", "--phases") == 0
    said = [line.split(" s  ")[1] for line in capsys.readouterr().err.splitlines()]
    assert said == named


def test_a_prompt_of_text_is_bytes(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(step, "--prompt", "And", "-n", "3") == 0
    by_text = capsys.readouterr().out
    assert run(step, "--ids", "65,110,100", "-n", "3") == 0
    assert capsys.readouterr().out == by_text


def test_the_step_names_where_each_op_comes_from(step: Path) -> None:
    assert 'loc("model.layers.1.self_attn.q_proj")' in step.read_text(encoding="utf-8")


def test_a_table_too_short_for_the_tokens(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(step, "--ids", "1,2,3", "-n", "127") == 1
    fails(capsys, "129", "128")


def test_a_token_outside_the_vocabulary(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(step, "--ids", "1,256", "-n", "1") == 1
    fails(capsys, "0 to 255", "256")


@pytest.mark.parametrize(
    ("ids", "n", "part"), [("1,256", "1", "0 to 255"), ("1,2", "128", "a context of at least 129")]
)
def test_ids_are_looked_at_before_weights(
    step: Path, ids: str, n: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Weights that are not there are not asked for."""
    assert run(step, "--ids", ids, "-n", n, weights=tmp_path / "none") == 1
    fails(capsys, part)


@pytest.mark.parametrize(
    ("prompt", "n", "part"),
    [("In the", "124", "a context of at least 129"), ("", "1", "expected at least 1 id, got 0")],
)
def test_a_prompt_is_looked_at_before_weights(
    step: Path, prompt: str, n: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a checkpoint that is another's, whose tensors would be missed."""
    assert run(step, "--prompt", prompt, "-n", n, weights=MODELS / "llama") == 1
    fails(capsys, part)


def test_the_wrong_checkpoint(step: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(step, "--ids", "1", "-n", "1", weights=MODELS / "llama") == 1
    fails(capsys, "q_norm")


def test_a_tensor_of_another_shape_is_told_with_its_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = json.loads((MODELS / "llama" / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_key_value_heads": 4}), encoding="utf-8")
    step, weights = tmp_path / "step.mlir", MODELS / "llama"
    assert main(["import", str(tmp_path), "-o", str(step), "--no-weights"]) == 0
    told = f"{weights}: tensor 'model.layers.0.self_attn.k_proj.weight': expected shape [128, 128], got [64, 128]"
    for backend in ("reference", "emulator"):
        assert run(step, "--ids", "1", "-n", "1", weights=weights, backend=backend) == 1
        fails(capsys, told)
    program = tmp_path / "step.py"
    assert opt([str(step), "-p", "lanelink", "--emit-python", str(program), "--weights", str(weights)]) == 1
    assert capsys.readouterr().err == f"{told}\n" and not program.exists()


@pytest.mark.parametrize(
    ("passes", "found"),
    [("number-ops,fuse,legalize-shim,link", "launches (level 3)"), ("lanelink", "driver calls (level 4)")],
)
def test_a_step_that_is_lowered_already(
    step: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], passes: str, found: str
) -> None:
    lowered = tmp_path / "lowered.mlir"
    assert opt([str(step), "-p", passes, "-o", str(lowered)]) == 0
    for command in (lambda: run(lowered, "--ids", "1", "-n", "1"), lambda: main(["explain", str(lowered)])):
        assert command() == 1
        fails(capsys, f"lanelink: {lowered}:", ": expected a step of tensors", f"got {found}")


def test_a_schedule_pass_left_out(step: Path, tmp_path: Path) -> None:
    whole, plain = tmp_path / "whole.mlir", tmp_path / "plain.mlir"
    assert opt([str(step), "-p", "lanelink", "-o", str(whole)]) == 0
    assert opt([str(step), "-p", "lanelink{dependent-launch=false}", "-o", str(plain)]) == 0
    assert " dependent " in whole.read_text(encoding="utf-8")
    assert " dependent " not in plain.read_text(encoding="utf-8")


def test_text_without_a_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.mlir"
    empty.write_text("builtin.module {}", encoding="utf-8")
    assert run(empty, "--ids", "1", "-n", "1") == 1
    fails(capsys, f"{empty}:1:1: expected one function with a tgraph.token argument, got 0")


def test_no_such_weights(step: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(step, "--ids", "1", "-n", "1", weights=tmp_path / "none") == 1
    fails(capsys, "none")


def test_text_that_is_no_module(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step.write_text(step.read_text(encoding="utf-8").replace("tgraph.rope ", "tgraph.rop ", 1))
    assert run(step, "--ids", "1", "-n", "1") == 1
    fails(capsys, "step.mlir:", "tgraph.rop")


def test_a_module_without_a_step(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step.write_text("builtin.module {}")
    assert run(step, "--ids", "1", "-n", "1") == 1
    fails(capsys, "tgraph.token")


@pytest.mark.parametrize(
    "options",
    [
        ["import"],
        ["run", "x.mlir", "--weights", "y", "--backend", "reference", "-n", "0", "--ids", "1"],
        ["run", "x.mlir", "--weights", "y", "--backend", "abacus", "-n", "1", "--ids", "1"],
        ["run", "x.mlir", "--weights", "y", "--backend", "reference", "-n", "1"],
        ["run", "x.mlir", "--weights", "y", "--backend", "reference", "-n", "1", "--ids", "1;2"],
        ["import", "x", "-o", "y", "--quantize", "q9"],
        ["import", "x", "-o", "y", "--numerics", "int7"],
        ["import", "x", "-o", "y", "--target", "abacus"],
        ["no-such-command"],
    ],
)
def test_bad_usage(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(options)
    assert exit.value.code == 2
    assert "usage: lanelink" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--context", "4000"], ["2048", "4000"]),
        (["--sequences", "129"], ["sequences: expected 1 to 128, got 129"]),
        (
            ["--sequences", "2", "--rows", "3"],
            ["several rows of one sequence or one row of several", "got 3 rows and 2 sequences"],
        ),
        (["--rows", "300", "--context", "256"], ["256", "300"]),
    ],
)
def test_options_that_do_not_fit(
    options: list[str], parts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "step.mlir"
    assert main(["import", str(MODELS / "qwen3"), "-o", str(out), *options]) == 1
    fails(capsys, *parts)
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_bytes((MODELS / "qwen3" / "config.json").read_bytes())
    (broken / "model.safetensors").write_bytes((MODELS / "qwen3" / "model.safetensors").read_bytes()[:-5])
    assert main(["import", str(broken), "-o", str(tmp_path / "step.mlir")]) == 1
    fails(capsys, "model.safetensors")
    assert not (tmp_path / "step.mlir").exists()


def test_an_output_that_cannot_be_written(step: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every output is refused alike, before anything is made for it; no folder is made."""
    folder = tmp_path / "none"
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "dir").mkdir()
    held = sorted(tmp_path.rglob("*"))
    places = {
        folder / "out": f"expected a folder to write it into, got none at {folder}",
        step / "out": f"expected a folder to write it into, got none at {step}",
        tmp_path / "dir": "expected the name of a file, got a folder's",
        tmp_path / "a": "Too many levels of symbolic links",
    }
    for place, words in places.items():
        for command, *arguments in (
            (main, "import", str(MODELS / "qwen3"), "-o"),
            (main, "explain", str(step), "--html"),
            (main, "bench", "qwen3-0.6b", "--html"),
            (opt, str(step), "-o"),
            (opt, str(step), "-p", "lanelink", "--emit-python"),
        ):
            assert command([*arguments, str(place)]) == 1
            fails(capsys, f"{place}: {words}")
    assert sorted(tmp_path.rglob("*")) == held


def test_a_position_that_is_not_carried(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = step.read_text(encoding="utf-8")
    assert "tgraph.carry = 1 : i64" in text
    step.write_text(text.replace(" {tgraph.carry = 1 : i64}", "", 1))
    for backend in ("reference", "emulator"):
        assert run(step, "--ids", "1", "-n", "1", backend=backend) == 1
        fails(capsys, "@step", "position", "carries")


def test_a_head_wider_than_any(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = json.loads((MODELS / "llama" / "config.json").read_text(encoding="utf-8"))
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**config, "head_dim": 2147483646}))
    assert main(["import", str(path), "--no-weights", "-o", str(tmp_path / "step.mlir")]) == 1
    fails(capsys, "head_dim", "16384", "2147483646")


@pytest.mark.parametrize(
    ("n", "found"),
    [(n, f"of at least 1, got '{n}'") for n in ("x", "1_0", "٣", "-1", "-", "", "0", "1.5", "x" * 40)]
    + [("-" + "9" * 18, "of at least 1, got '-999999999999999999'")]
    + [(n, "of at most 18 digits, got one of 5000") for n in ("9" * 5000, "-" + "9" * 5000)],
)
def test_numbers_are_plain_digits(n: str, found: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["run", "x.mlir", "--weights", "y", "--backend", "reference", "-n", n, "--ids", "1"])
    assert exit.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: argument -n: expected a whole number {found}\n")


@pytest.mark.parametrize("option", ["--context", "--rows", "--sequences"])
def test_a_count_below_one(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["import", "x", "-o", "y", option, "-2"])
    assert f"argument {option}: expected a whole number of at least 1, got '-2'\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ids", "found"),
    [(("3,-2",), "-2"), (("-1,2",), "-1"), (("-1",), "-1"), (("1", "--ids", "-2,3"), "-2"), (("-1x",), "-1x")],
)
def test_ids_below_zero(ids: tuple[str, ...], found: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["run", "x.mlir", "--weights", "y", "--backend", "reference", "-n", "1", "--ids", *ids])
    assert exit.value.code == 2
    assert f"argument --ids: expected a whole number of at least 0, got '{found}'\n" in capsys.readouterr().err


def test_a_value_that_looks_like_an_option(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["run", "x.mlir", "--weights", "y", "--backend", "reference", "-n", "1", "--prompt", "--And"])
    assert exit.value.code == 2
    told = "argument --prompt: expected one argument (one that begins with '-' as --prompt=-...)\n"
    assert capsys.readouterr().err.endswith(told)
    assert run(step, "--prompt=--And", "-n", "1") == 0


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"lanelink {metadata.version('lanelink')}\n"


def test_as_a_module() -> None:
    ran = subprocess.run([sys.executable, "-m", "lanelink", "run"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and ran.stderr.startswith("usage: lanelink run"), ran.stderr
