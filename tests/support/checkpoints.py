"""Checkpoints in Hugging Face's layout, written and run by tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lanelink.dialects.formats import Format
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.formats import decode, encode
from lanelink.lowering.interpreters.reference import StepInterpreter, zero_inputs
from lanelink.lowering.weights import resolve

Array = npt.NDArray[Any]


def decoded(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """All tensors of the checkpoint in `path`, as f32."""
    return {name: _decoded(tensor) for name, tensor in open_directory(path).tensors.items()}


def _decoded(tensor: Any) -> npt.NDArray[np.float32]:
    rows = int(np.prod(tensor.shape[:-1], dtype=np.int64))
    return decode(tensor.format, rows, tensor.shape[-1], tensor.raw().reshape(rows, -1)).reshape(tensor.shape)


def save(path: Path, config: Mapping[str, object], tensors: Mapping[str, Array]) -> Path:
    """Writes config.json and model.safetensors: bytes as they are, floats as bf16."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(config))
    header: dict[str, object] = {}
    parts: list[bytes] = []
    at = 0
    for name, values in tensors.items():
        is_bytes = values.dtype == np.uint8
        flat = values.reshape(-1, values.shape[-1])
        data = values.tobytes() if is_bytes else encode(Format.BF16, flat.astype(np.float32)).tobytes()
        kind = "U8" if is_bytes else "BF16"
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    (path / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))
    return path


def interpreter(path: Path, **options: Any) -> StepInterpreter:
    """The step of the checkpoint in `path` in numpy, over 128 positions unless told otherwise."""
    module = import_checkpoint(path, **{"context": 128, **options})
    return StepInterpreter(module, resolve(module, open_directory(path)))


def prompt_step(path: Path, prompt: Array, **options: Any) -> list[Array]:
    """The results of one step over a whole prompt; the last are the logits [rows, vocabulary]."""
    step = interpreter(path, rows=len(prompt), **options)
    return step.run([prompt.astype(np.int32), *zero_inputs(step.func)[1:]])
