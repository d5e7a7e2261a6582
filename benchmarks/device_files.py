"""GGUF files and checkpoints of other shapes on a GPU: tokens and logits that their own programs gave.

    python benchmarks/device_files.py [--match qwen3]

Every bf16 GGUF file: 96 greedy tokens of three prompts and the logits of the oracle. Every quantized one, under int8:
logits beside the peer's (llama.cpp's), which quantizes activations in a way of its own. Every checkpoint of
tests/models/shapes that the lane runs: its greedy tokens and logits. Exits 1 where anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from device_check import LOGITS_BOUND, MODELS, Report, logits_of, plan_of

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import Numerics
from lanelink.frontend.importer import import_checkpoint, open_checkpoint
from lanelink.lowering.runtime.cuda import CudaBackend, gpu_missing
from lanelink.lowering.runtime.generation import generate
from lanelink.lowering.runtime.loader import SourceLoader

GGUF = MODELS / "gguf"
SHAPES = MODELS / "shapes"
REFUSED = ("gemma2", "gemma2_scalar", "deepseek_v3_halves")
"""What the lane refuses: soft caps, sigmoid routers."""

LEAST_COSINE = 0.995
"""Of our logits to the peer's at every position: both quantize activations, each in its own way."""


def backend_of(path: Path, **options: Any) -> CudaBackend:
    """A checkpoint's step on the GPU, of 192 positions."""
    step = import_checkpoint(path, context=192, **options)
    return CudaBackend(plan_of(step, "compute_90"), SourceLoader(open_checkpoint(path)))


def check_tokens(report: Report, name: str, cuda: CudaBackend, prompt: Any, greedy: Any, logits: Any) -> None:
    """The greedy tokens after a prompt, and the logits of the prompt and, if given, of tokens after it."""
    ids = generate(cuda, prompt.tolist(), len(greedy))
    same = int((np.array(ids) == greedy).sum())
    report.line(f"{name}: greedy tokens", f"{same} of {len(greedy)} equal", same == len(greedy))
    found, _ = logits_of(cuda, prompt.tolist(), greedy.tolist()[: len(logits) - len(prompt)])
    error = float(np.abs(found - logits).max())
    report.line(f"{name}: {len(logits)} logits", f"{error:.2e} at most", error < LOGITS_BOUND)


def check_bf16(report: Report, path: Path) -> None:
    """A file of bf16 weights against the oracle of the model it holds."""
    oracle = np.load(MODELS / path.name.removesuffix("-bf16.gguf") / "oracle.npz")
    with backend_of(path, rope_format=Format.BF16) as cuda:
        for p in range(3):
            # The first of the step's logits are the last of the prompt's.
            logits = np.concatenate([oracle[f"prompt{p}_logits"], oracle[f"step{p}_logits"][1:]])
            check_tokens(report, f"{path.name} prompt {p}", cuda, oracle[f"prompt{p}"], oracle[f"greedy{p}"], logits)


def check_peer(report: Report, path: Path) -> None:
    """A file of quantized weights against the peer's logits of the prompts."""
    peer = np.load(path.with_suffix(".peer.npz"))
    with backend_of(path, numerics=Numerics.INT8) as cuda:
        for p in range(3):
            found, _ = logits_of(cuda, peer[f"prompt{p}"].tolist(), [])
            expected = peer[f"prompt{p}_logits"]
            cosine = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
            apart = found - expected
            text = f"cosine {cosine.min():.5f} at least, {apart.mean():+.1e} on average, {abs(apart).max():.1e} at most"
            report.line(f"{path.name} int8 prompt {p}: beside the peer", text, bool(cosine.min() >= LEAST_COSINE))


def check_shape(report: Report, path: Path) -> None:
    """A checkpoint of another shape against its architecture's own PyTorch code, which turns by f32 frequencies."""
    oracle = np.load(path / "oracle.npz")
    with backend_of(path) as cuda:
        check_tokens(report, path.name, cuda, oracle["prompt"], oracle["greedy"], oracle["logits"])


def checks() -> list[tuple[Callable[[Report, Path], None], Path]]:
    """What there is to check, each with the file or directory it is of."""
    bf16 = [p for p in sorted(GGUF.glob("*-bf16.gguf")) if p.name.removesuffix("-bf16.gguf") not in REFUSED]
    quantized = [p.with_name(p.name.replace(".peer.npz", ".gguf")) for p in sorted(GGUF.glob("*.peer.npz"))]
    shapes = [p.parent for p in sorted(SHAPES.glob("*/oracle.npz")) if p.parent.name not in REFUSED]
    return [
        *((check_bf16, path) for path in bf16),
        *((check_peer, path) for path in quantized),
        *((check_shape, path) for path in shapes),
    ]


def main() -> int:
    """The exit code: 0 where all is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--match", default="", help="part of the names to check (all)")
    options = parser.parse_args()
    if missing := gpu_missing():
        print(f"device_files: {missing}", file=sys.stderr)
        return 1
    report = Report()
    start = time.perf_counter()
    for check, path in checks():
        if options.match in path.name:
            check(report, path)
    print(f"{'all as it should be' if report.good else 'NOT as it should be'}, {time.perf_counter() - start:.1f} s")
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
