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
Floats = npt.NDArray[np.float32]


def decoded(path: Path) -> dict[str, Floats]:
    """All tensors of the checkpoint in `path`, as f32."""
    return {name: _decoded(tensor) for name, tensor in open_directory(path).tensors.items()}


def _decoded(tensor: Any) -> Floats:
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


def config_of(path: Path) -> dict[str, Any]:
    """The keys of a checkpoint's config.json."""
    return json.loads((path / "config.json").read_text(encoding="utf-8"))


def in_blocks(
    values: Floats,
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], Floats]:
    """A stack of matrices [E, rows, W] as MXFP4's blocks and scales, neighbours in a byte, and the values these are."""
    rows = values.reshape(-1, values.shape[-1])
    data = encode(Format.MXFP4, rows)
    shape = (*values.shape[:-1], values.shape[-1] // 32)
    each = data.reshape(*shape, 17)
    codes = np.concatenate([each[..., 1:] & 15, each[..., 1:] >> 4], -1)
    blocks = codes[..., 0::2] | codes[..., 1::2] << 4
    return blocks.astype(np.uint8), each[..., 0].copy(), decode(Format.MXFP4, *rows.shape, data).reshape(values.shape)


def packed_gpt_oss(source: Path, path: Path) -> tuple[Path, Path]:
    """`source`, a gpt-oss of matrices by inputs, with its experts rounded to MXFP4: as the release keeps them, rows by
    outputs in blocks, and with the same values by inputs again."""
    config, tensors = config_of(source), decoded(source)
    packed, plain = dict(tensors), dict(tensors)
    for name in [n for n in tensors if n.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        blocks, scales, values = in_blocks(np.ascontiguousarray(tensors[name].swapaxes(1, 2)))
        del packed[name]
        packed |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
        plain[name] = values.swapaxes(1, 2)
    released = {**config, "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}}
    return save(path / "packed", released, packed), save(path / "plain", config, plain)
