"""Whether a GPU gives the tokens and logits that it should: the models of tests/models, through the cuda backend.

    python benchmarks/device_check.py [--models llama qwen3] [--tokens 96]

For each model and each committed architecture: 96 greedy tokens of three prompts equal to those of the architecture's
own program, its logits within a bound, and every bit the same in a second run. For q8_0 weights under each numerics:
logits against the reference (numpy), the emulator running the same PTX, and the oracle. The written-out program too.
`benchmarks/README.md` says how to run it where the package is not installed. Exits 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.emit import emit_python
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.launch_to_driver import LowerToDriverPass
from lanelink.lowering.runtime.backend import Backend
from lanelink.lowering.runtime.cuda import CudaBackend, gpu_missing
from lanelink.lowering.runtime.emulator import EmulatorBackend
from lanelink.lowering.runtime.generation import generate
from lanelink.lowering.runtime.loader import SourceLoader
from lanelink.lowering.runtime.plan import Plan, read_plan
from lanelink.lowering.runtime.reference import ReferenceBackend
from lanelink.lowering.weights import resolve
from lanelink.passes.plan_buffers import PlanBuffersPass
from lanelink.pipeline import Level, lower

MODELS = Path(__file__).parent.parent / "tests" / "models"
LANE = ["llama", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "qwen3_next", "gpt_oss", "gemma3_text", "deepseek_v2"]
"""The models that the lane runs."""

MIXTURES = ("qwen2_moe", "qwen3_moe", "qwen3_next", "gpt_oss", "deepseek_v2")
"""Models whose routers choose: where the nearest choice hangs on less than what a sum rounds by, the reference may
choose otherwise, so their rounding is judged against the emulator, which sums in the kernels' order."""

LEAST_COSINE = 0.999
"""Of the logits of weights in blocks of 8 bits to those of the weights themselves."""

LOGITS_BOUND = 2e-3
"""Of f32 sums of bf16 weights against the oracle's own f32 sums, in logits of order 10."""

RELATIVE_BOUND = {Numerics.DEQUANT: 1e-4, Numerics.INT8: 1e-2, Numerics.TWO_PASS_INT8: 1e-3}
"""Root mean square of the difference over that of the logits. Where a sum's rounding moves an activation across the
middle of two quants, its quant differs by one: 1/127 of its block's largest value, or 1/254 of that with two planes."""


class Report:
    """Lines of what was found, and whether all of it was as it should be."""

    def __init__(self) -> None:
        self.good = True

    def line(self, what: str, found: str, good: bool) -> None:
        """Prints one finding."""
        self.good = self.good and good
        print(f"{'ok ' if good else 'BAD'} {what:58} {found}", flush=True)


def step_of(model: str, quantize: Format | None = None, numerics: Numerics | None = None) -> ModuleOp:
    """A model's step. Rotation frequencies are rounded as its oracle's program rounds them."""
    return import_checkpoint(MODELS / model, context=192, quantize=quantize, numerics=numerics, rope_format=Format.BF16)


def plan_of(step: ModuleOp, architecture: Any) -> Plan:
    """The step as a plan from one architecture's PTX."""
    module = lower(step, Level.SCHEDULED)
    for each in (PlanBuffersPass(), LowerToDriverPass(architecture=architecture)):
        each.apply(Context(), module)
    return read_plan(module)


def check_model(report: Report, model: str, architecture: str, tokens: int) -> None:
    """Tokens, logits and a second run of one model."""
    oracle = np.load(MODELS / model / "oracle.npz")
    plan = plan_of(step_of(model), architecture)
    with CudaBackend(plan, SourceLoader(open_directory(MODELS / model))) as cuda:
        for p in range(3):
            prompt, expected = oracle[f"prompt{p}"].tolist(), oracle[f"greedy{p}"].tolist()[:tokens]
            name = f"{model} {architecture} prompt {p}"
            ids = generate(cuda, prompt, len(expected))
            same = sum(a == b for a, b in zip(ids, expected, strict=True))
            report.line(f"{name}: greedy tokens", f"{same} of {len(expected)} equal", same == len(expected))
            logits, last = logits_of(cuda, prompt, expected)
            # The first of the step's logits are the last of the prompt's, those that chose the first token.
            wanted = np.concatenate([oracle[f"prompt{p}_logits"], oracle[f"step{p}_logits"][1:]])[: len(logits)]
            error = float(np.abs(logits[: len(wanted)] - wanted).max())
            report.line(f"{name}: {len(wanted)} logits", f"{error:.2e} at most", error < LOGITS_BOUND)
            again, last_again = logits_of(cuda, prompt, expected)
            same_bits = np.array_equal(logits, again) and last == last_again
            report.line(f"{name}: a second run", "same bits" if same_bits else "other bits", same_bits)


def logits_of(backend: Backend, prompt: list[int], ids: list[int]) -> tuple[Any, int]:
    """The logits after every id of a prompt and of what follows it, and the last choice."""
    backend.reset()
    found: list[Any] = []
    for id in (*prompt, *ids):
        backend.step(id)
        found.append(backend.logits()[0])
    return np.array(found), int(backend.chosen()[0])


def check_numerics(report: Report, model: str, numerics: Numerics, steps: int = 12) -> None:
    """q8_0 weights: the GPU against the reference, and against the emulator."""
    step = step_of(model, Format.Q8_0, numerics)
    source = open_directory(MODELS / model)
    prompt = np.load(MODELS / model / "oracle.npz")["prompt0"].tolist()[:steps]
    plan = plan_of(step, "compute_90")
    tensors = lower(step, Level.TENSORS)
    with CudaBackend(plan, SourceLoader(source)) as cuda:
        found, _ = logits_of(cuda, prompt, [])
    others: tuple[tuple[str, Backend], ...] = (
        ("reference", ReferenceBackend(tensors, resolve(tensors, source))),
        ("emulator", EmulatorBackend(plan, SourceLoader(source))),
    )
    for other, backend in others:
        expected, _ = logits_of(backend, prompt, [])
        error = float(np.sqrt(np.mean((found - expected) ** 2)) / np.sqrt(np.mean(expected**2)))
        most = float(np.abs(found - expected).max())
        judged = other == "emulator" or model not in MIXTURES
        good = error < RELATIVE_BOUND[numerics] or not judged
        report.line(
            f"{model} q8_0 {numerics.value}: against the {other}", f"{error:.2e} relative, {most:.2e} at most", good
        )


def check_cosine(report: Report, model: str) -> None:
    """q8_0 weights under int8 against the oracle's own weights, over all of a prompt's logits as one vector."""
    oracle = np.load(MODELS / model / "oracle.npz")
    plan = plan_of(step_of(model, Format.Q8_0, Numerics.INT8), "compute_90")
    with CudaBackend(plan, SourceLoader(open_directory(MODELS / model))) as cuda:
        for p in range(3):
            found, _ = logits_of(cuda, oracle[f"prompt{p}"].tolist(), [])
            a, b = found.astype(np.float64).ravel(), oracle[f"prompt{p}_logits"].astype(np.float64).ravel()
            cosine = float(a @ b / np.sqrt((a @ a) * (b @ b)))
            report.line(f"{model} q8_0 int8 prompt {p}: cosine to the oracle", f"{cosine:.6f}", cosine >= LEAST_COSINE)


def check_script(report: Report, model: str, tokens: int) -> None:
    """The written-out program: the ids of the runtime, from a process that knows nothing of lanelink."""
    oracle = np.load(MODELS / model / "oracle.npz")
    prompt, expected = oracle["prompt0"].tolist(), oracle["greedy0"].tolist()[:tokens]
    step = lower(step_of(model))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "step.py"
        emit_python(step, path, SourceLoader(open_directory(MODELS / model)))
        command = [sys.executable, str(path), "--ids", ",".join(map(str, prompt)), "-n", str(len(expected)), "--json"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    ids = json.loads(done.stdout)["ids"] if done.returncode == 0 else []
    same = sum(a == b for a, b in zip(ids, expected, strict=False))
    found = f"{same} of {len(expected)} equal" if ids else done.stderr.strip()
    report.line(f"{model}: tokens of the written-out program", found, ids == expected)


def check_thread(report: Report, model: str) -> None:
    """A step asked for by another thread than the one that opened the backend."""
    plan = plan_of(step_of(model), "compute_90")
    found: list[Any] = []
    with CudaBackend(plan, SourceLoader(open_directory(MODELS / model))) as cuda:
        thread = Thread(target=lambda: found.append(logits_of(cuda, [73, 110], [])[0]))
        thread.start()
        thread.join()
        same = bool(found) and np.array_equal(found[0], logits_of(cuda, [73, 110], [])[0])
    report.line(f"{model}: steps of another thread", "same bits" if same else "failed", same)


def main() -> int:
    """The exit code: 0 where all is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=LANE)
    parser.add_argument("--architectures", nargs="+", default=["compute_90", "compute_80"])
    parser.add_argument("--tokens", type=int, default=96)
    options = parser.parse_args()
    if missing := gpu_missing():
        print(f"device_check: {missing}", file=sys.stderr)
        return 1
    report = Report()
    start = time.perf_counter()
    for model in options.models:
        for architecture in options.architectures:
            check_model(report, model, architecture, options.tokens)
        for numerics in Numerics:
            check_numerics(report, model, numerics)
        check_cosine(report, model)
        check_script(report, model, options.tokens)
    check_thread(report, options.models[0])
    print(f"{'all as it should be' if report.good else 'NOT as it should be'}, {time.perf_counter() - start:.1f} s")
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
