"""The written-out step: run as the program it is, its driver played by the emulator."""

from __future__ import annotations

import json
import math
import runpy
import sys
from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from attention_steps import attention_step
from levels import parsed
from xdsl.dialects.builtin import IntegerAttr, i64

from lanelink.dialects.driver import LaunchOp
from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.emit import emit_python
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint, open_checkpoint
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.generation import generate, generate_batch
from lanelink.lowering.runtime.loader import ConstantsLoader, SourceLoader
from lanelink.lowering.runtime.plan import read_plan
from lanelink.lowering.runtime.reference import ReferenceBackend
from lanelink.lowering.script.standalone import ScriptError, Step, check_request
from lanelink.lowering.script.writer import write_script
from lanelink.lowering.selection.calls import F32, I32, Argument, Null
from lanelink.lowering.weights import random_weights, resolve
from lanelink.opt import main
from lanelink.pipeline import lower

MODEL = Path(__file__).parent.parent / "models" / "qwen3"
PROMPT = [32, 97, 104, 101]


@pytest.fixture(scope="module")
def lowered() -> Any:
    return lower(import_checkpoint(MODEL, context=32, quantize=Format.Q8_0))


@pytest.fixture
def written(lowered: Any, tmp_path: Path) -> Path:
    path = tmp_path / "step.py"
    emit_python(lowered, path, SourceLoader(open_directory(MODEL)))
    return path


@pytest.fixture
def run(written: Path, fake_cuda: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs the script with these arguments where only its own folder, numpy and the driver's stand-in are there."""
    return runner(written, fake_cuda, monkeypatch)


def runner(written: Path, fake_cuda: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """As the fixture `run`, of any script."""

    def script(*arguments: str) -> int:
        monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
        monkeypatch.setitem(sys.modules, "cuda.bindings", ModuleType("cuda.bindings"))
        monkeypatch.setitem(sys.modules, "cuda.bindings.driver", fake_cuda)
        monkeypatch.setattr(sys, "argv", [str(written), *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(written), run_name="__main__")
        return int(ended.value.code or 0)

    return script


def test_the_program_decodes_as_the_emulator(
    run: Callable[..., int], lowered: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = read_plan(lowered)
    emulator = EmulatorBackend(plan, SourceLoader(open_directory(MODEL)))
    expected = generate(emulator, PROMPT, 8)
    assert run("--ids", ",".join(map(str, PROMPT)), "-n", "8", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ids"] == expected
    assert found["launches_per_step"] == len(plan.launches)


def test_a_batchs_program_decodes_each_sequence(
    tmp_path: Path, fake_cuda: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = [PROMPT, [73, 110]]
    step, path = import_checkpoint(MODEL, context=16, sequences=2), tmp_path / "batch.py"
    emit_python(lower(step), path, SourceLoader(open_directory(MODEL)))
    expected = generate_batch(ReferenceBackend(step, resolve(step, open_directory(MODEL))), prompts, 3)
    given = [option for ids in prompts for option in ("--ids", ",".join(map(str, ids)))]
    run = runner(path, fake_cuda, monkeypatch)
    assert run(*given, "-n", "3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["ids"] == expected
    assert run(*given, "-n", "3") == 0
    assert capsys.readouterr().out == "".join(f"{','.join(map(str, ids))}\n" for ids in expected)
    assert run(*given[:2], "-n", "3") == 1
    assert "--ids: expected it 2 times, once a sequence, got it 1 times" in capsys.readouterr().err


def test_the_program_launches_clusters(
    tmp_path: Path, fake_cuda: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = parsed(attention_step(["usual"], 1, 256, "q8_0"))
    module.attributes[TARGET] = preset("h200", Numerics.INT8)
    constants, path = ConstantsLoader(random_weights(module, 0)), tmp_path / "step.py"
    done = lower(module)
    for launch in done.walk():
        if isinstance(launch, LaunchOp) and launch.cluster is not None:
            launch.properties["carveout"] = IntegerAttr(100, i64)
    emit_python(done, path, constants)
    expected = generate(EmulatorBackend(read_plan(done), constants), [3, 1, 2], 3)
    assert runner(path, fake_cuda, monkeypatch)("--ids", "3,1,2", "-n", "3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["ids"] == expected
    assert fake_cuda.wide_clusters == {"attention_one_64_q2"}
    assert fake_cuda.carveouts == {"attention_one_64_q2": 100}


def test_the_program_imports_nothing_of_lanelink(written: Path) -> None:
    assert "lanelink." not in written.read_text(encoding="utf-8").split('"""', 2)[2]


def test_the_weights_lie_as_the_device_holds_them(written: Path, lowered: Any) -> None:
    script = write_script(read_plan(lowered), "step")
    loader = SourceLoader(open_directory(MODEL))
    held = np.fromfile(written.with_name("step.weights"), np.uint8)
    offset = 0
    for piece in script.pieces:
        data = loader(piece.constant).data
        np.testing.assert_array_equal(held[offset : offset + data.size], data)
        offset += piece.bytes
    assert offset == held.size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--ids", "1,256", "-n", "1"), "expected ids of 0 to 255, got 256"),
        (("--ids", "1,2", "-n", "32"), "expected 2 ids and 31 of those chosen to fit a context of 32"),
    ],
)
def test_requests_it_refuses(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert run(*arguments) == 1
    assert capsys.readouterr().err == f"step.py: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--ids", "1,x", "-n", "1"), "argument --ids: expected a whole number of at least 0, got 'x'"),
        (("--ids", "", "-n", "1"), "argument --ids: expected a whole number of at least 0, got ''"),
        (("--ids", "1,-2", "-n", "1"), "argument --ids: expected a whole number of at least 0, got '-2'"),
        (("--ids", "-1,2", "-n", "1"), "argument --ids: expected a whole number of at least 0, got '-1'"),
        (("--ids", "1", "-n", "0"), "argument -n: expected a whole number of at least 1, got '0'"),
        (("--ids", "1", "-n", "-3"), "argument -n: expected a whole number of at least 1, got '-3'"),
        (("--ids", "9" * 30, "-n", "1"), "argument --ids: expected a whole number of at most 18 digits, got one of 30"),
        (("--ids", "1", "-n", "1", "--device", "gpu"), "argument --device: expected a whole number"),
        (("-n", "1"), "the following arguments are required: --ids"),
    ],
)
def test_bad_usage(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert run(*arguments) == 2
    assert f"step.py: error: {message}" in capsys.readouterr().err


def test_files_beside_it_that_are_not_its_own(
    run: Callable[..., int], written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = written.with_name("step.weights")
    weights.write_bytes(weights.read_bytes()[:-256])
    assert run("--ids", "1", "-n", "1") == 1
    size = weights.stat().st_size
    assert f"expected {size + 256} bytes, got {size}" in capsys.readouterr().err
    weights.unlink()
    assert run("--ids", "1", "-n", "1") == 1
    assert "step.weights" in capsys.readouterr().err
    ptx = next(written.parent.glob("gemv_q8_0*.ptx"))
    ptx.write_text(ptx.read_text(encoding="ascii") + "\n", encoding="ascii")
    assert run("--ids", "1", "-n", "1") == 1
    assert "expected the PTX this script was written with, got another" in capsys.readouterr().err


def test_driver_calls_that_fail(run: Callable[..., int], fake_cuda: Any, capsys: pytest.CaptureFixture[str]) -> None:
    fake_cuda.free = 1000
    assert run("--ids", "1", "-n", "1") == 1
    assert "bytes free, got 1000" in capsys.readouterr().err
    fake_cuda.failing["cuInit"] = IntEnum("Status", {"CUDA_ERROR_NO_DEVICE": 100}).CUDA_ERROR_NO_DEVICE
    assert run("--ids", "1", "-n", "1") == 1
    assert capsys.readouterr().err == "step.py: start the driver: expected CUDA_SUCCESS, got CUDA_ERROR_NO_DEVICE\n"


def test_a_machine_without_a_driver(
    run: Callable[..., int], fake_cuda: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(flags: int) -> None:
        raise RuntimeError(f"libcuda.so.1 not found\n{flags}")

    monkeypatch.setattr(fake_cuda, "cuInit", start)
    assert run("--ids", "1", "-n", "1") == 1
    assert capsys.readouterr().err == "step.py: expected an NVIDIA driver, got: libcuda.so.1 not found\n"


def test_a_step_that_takes_several_rows_is_for_its_own_loop() -> None:
    step = Step(2, 1, 8, 256, 256, 0, 256, "w", {}, 0, 0, False, ())
    with pytest.raises(ScriptError, match="expected a step of 1 row, got 2"):
        check_request(step, [[1, 2]], 1)
    with pytest.raises(ScriptError, match="--ids: expected it 2 times, once a sequence, got it 1 times"):
        check_request(replace(step, sequences=2), [[1, 2]], 1)


def test_floats_are_written_as_they_are(lowered: Any, tmp_path: Path) -> None:
    plan = read_plan(lowered)
    reals = iter((math.inf, -math.inf, 0.1))

    def other(argument: Argument) -> Argument:
        match argument:
            case F32():
                return F32(next(reals))
            case I32():
                return I32(-3)
            case _:
                return Null()

    first = replace(plan.launches[0], arguments=tuple(map(other, plan.launches[0].arguments)))
    text = write_script(replace(plan, launches=(first,)), "step").text
    path = tmp_path / "step.py"
    path.write_text(text, encoding="utf-8")
    step = runpy.run_path(str(path))["STEP"]
    assert next(reals, None) is None
    assert step.launches[0].arguments == tuple(a.value if isinstance(a, F32 | I32) else None for a in first.arguments)


def test_the_command_writes_the_same_program(lowered: Any, written: Path, tmp_path: Path) -> None:
    source = tmp_path / "lowered.mlir"
    source.write_text(str(lowered), encoding="utf-8")
    made = tmp_path / "made"
    made.mkdir()
    assert main([str(source), "--emit-python", str(made / "step.py"), "--weights", str(MODEL)]) == 0
    for each in sorted(p.name for p in made.iterdir()):
        assert (made / each).read_bytes() == written.with_name(each).read_bytes(), each
    assert len(list(made.iterdir())) > 3


def test_weights_from_a_gguf_file(tmp_path: Path) -> None:
    weights = MODEL.parent / "gguf" / "qwen3-bf16.gguf"
    lowered = lower(import_checkpoint(weights, context=32))
    source = tmp_path / "lowered.mlir"
    source.write_text(str(lowered), encoding="utf-8")
    path = tmp_path / "step.py"
    assert main([str(source), "--emit-python", str(path), "--weights", str(weights)]) == 0
    written = path.with_name("step.weights").read_bytes()
    loader = SourceLoader(open_checkpoint(weights))
    for piece in write_script(read_plan(lowered), "step").pieces:
        data = loader(piece.constant).data.tobytes()
        assert written[: len(data)] == data
        written = written[piece.bytes :]
    assert not written


def test_weights_of_another_model_leave_nothing(
    lowered: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "lowered.mlir"
    source.write_text(str(lowered), encoding="utf-8")
    made = tmp_path / "made"
    made.mkdir()
    arguments = [str(source), "--emit-python", str(made / "step.py"), "--weights", str(MODEL.parent / "llama")]
    assert main(arguments) == 1
    assert "expected a tensor 'model.layers.0.self_attn.q_norm.weight'" in capsys.readouterr().err
    assert not list(made.iterdir())


@pytest.mark.parametrize("taken", ["step.weights", "step.py", "gemv_q8_0.compute_90.ptx"])
def test_a_file_that_cannot_be_written_leaves_nothing(
    lowered: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], taken: str
) -> None:
    source, made = tmp_path / "lowered.mlir", tmp_path / "made"
    source.write_text(str(lowered), encoding="utf-8")
    (made / taken).mkdir(parents=True)
    assert main([str(source), "--emit-python", str(made / "step.py"), "--weights", str(MODEL)]) == 1
    assert capsys.readouterr().err == f"lanelink-opt: {made / taken}: expected the name of a file, got a folder's\n"
    assert [p.name for p in made.iterdir()] == [taken]


def test_the_command_refuses(lowered: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "lowered.mlir"
    source.write_text("builtin.module {\n}\n", encoding="utf-8")
    path = tmp_path / "step.py"
    assert main([str(source), "--weights", str(MODEL)]) == 2
    assert "--weights: expected --emit-python beside it, got none" in capsys.readouterr().err
    assert main([str(source), "--emit-python", str(path)]) == 1
    told = f"{source}:1:1: expected one driver.step (lower-to-driver makes it), got 0\n"
    assert capsys.readouterr().err == told
    constant = '  %w = driver.constant #tgraph.checkpoint<"w"> as #driver.planes<q8_0, 64x128> bytes 8705\n'
    body = "driver.step @s rows 1 {\n  %t = driver.io token bytes 4\n" + constant + "  driver.return chosen %t\n}\n"
    source.write_text(body, encoding="utf-8")
    assert main([str(source), "--emit-python", str(path)]) == 1
    told = f"{source}:3:3: driver.constant 'w': expected 8704 bytes in its layout, got 8705\n"
    assert capsys.readouterr().err == told
    source.write_text("\n// -----\n".join([str(lowered)] * 2), encoding="utf-8")
    assert main([str(source), "--split-input-file", "--emit-python", str(path)]) == 1
    assert "--emit-python: expected one module, got 2" in capsys.readouterr().err
    assert not path.exists()
