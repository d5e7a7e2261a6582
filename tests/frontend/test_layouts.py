"""One model in each layout that checkpoints of its architecture come in gives the same logits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from checkpoints import decoded, prompt_step, save

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import MoeOp, RowsType
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.importer import import_checkpoint
from lanelink.lowering.formats import decode, encode

MODELS = Path(__file__).parents[1] / "models"
PROMPT = np.frombuffer(b"In the beginning God", np.uint8)

Floats = npt.NDArray[np.float32]


def config_of(name: str) -> dict[str, Any]:
    return json.loads((MODELS / name / "config.json").read_text(encoding="utf-8"))


def stacked(tensors: dict[str, Floats], experts: int) -> dict[str, Floats]:
    """Experts' tensors in stacks of all, gates and ups in one: as transformers 5 holds them in memory."""
    found = {name: values for name, values in tensors.items() if ".experts." not in name}
    for mlp in sorted({name.split(".experts.")[0] for name in tensors if ".experts." in name}):
        gate, up, down = (
            np.stack([tensors[f"{mlp}.experts.{e}.{part}_proj.weight"] for e in range(experts)])
            for part in ("gate", "up", "down")
        )
        found[f"{mlp}.experts.gate_up_proj"] = np.concatenate([gate, up], axis=1)
        found[f"{mlp}.experts.down_proj"] = down
    return found


@pytest.mark.parametrize("name", ["qwen2_moe", "qwen3_moe", "qwen3_next", "deepseek_v2", "deepseek_v3"])
def test_experts_in_stacks(tmp_path: Path, name: str):
    path = save(tmp_path, config_of(name), stacked(decoded(MODELS / name), 4))
    np.testing.assert_array_equal(prompt_step(path, PROMPT)[-1], prompt_step(MODELS / name, PROMPT)[-1])


def in_blocks(values: Floats) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], Floats]:
    """A stack of matrices [E, rows, W] as MXFP4's blocks and scales, neighbours in a byte, and the values these are."""
    rows = values.reshape(-1, values.shape[-1])
    data = encode(Format.MXFP4, rows)
    shape = (*values.shape[:-1], values.shape[-1] // 32)
    each = data.reshape(*shape, 17)
    codes = np.concatenate([each[..., 1:] & 15, each[..., 1:] >> 4], -1)
    blocks = codes[..., 0::2] | codes[..., 1::2] << 4
    return blocks.astype(np.uint8), each[..., 0].copy(), decode(Format.MXFP4, *rows.shape, data).reshape(values.shape)


def test_gpt_oss_in_mxfp4(tmp_path: Path):
    """As its release is: rows by outputs in blocks. Its values are exact in bf16, so that both are one model."""
    tensors = decoded(MODELS / "gpt_oss")
    packed, plain = dict(tensors), dict(tensors)
    for name in [n for n in tensors if n.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        blocks, scales, values = in_blocks(np.ascontiguousarray(tensors[name].swapaxes(1, 2)))
        del packed[name]
        packed |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
        plain[name] = values.swapaxes(1, 2)
    config = config_of("gpt_oss")
    as_released = {**config, "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}}
    path = save(tmp_path / "packed", as_released, packed)
    module = import_checkpoint(path, context=128)
    experts = {w for op in module.walk() if isinstance(op, MoeOp) for w in (op.gate, op.up, op.down)}
    kinds = {w.type.format.data for w in experts if isinstance(w.type, RowsType)}
    assert kinds == {Format.MXFP4}
    found = prompt_step(path, PROMPT)[-1]
    np.testing.assert_array_equal(found, prompt_step(save(tmp_path / "plain", config, plain), PROMPT)[-1])
    absent = import_checkpoint(path, context=128, no_weights=True)
    assert str(absent) == str(module), "without weights, too, the configuration says how the experts are kept"


def test_gpt_oss_in_another_layout_than_its_configuration_says(tmp_path: Path):
    """The small model's stacks are square: only the format tells one layout from the other."""
    config, tensors = config_of("gpt_oss"), decoded(MODELS / "gpt_oss")
    as_released = {**config, "quantization_config": {"quant_method": "mxfp4"}}
    with pytest.raises(CheckpointError, match=r"gate_up_proj': expected mxfp4, as config\.json says, got bf16"):
        import_checkpoint(save(tmp_path / "plain", as_released, tensors), context=64)
    for name in [n for n in tensors if n.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        blocks, scales, _ = in_blocks(np.ascontiguousarray(tensors.pop(name).swapaxes(1, 2)))
        tensors |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
    with pytest.raises(CheckpointError, match=r"gate_up_proj': expected f32, f16 or bf16 to view by values, got"):
        import_checkpoint(save(tmp_path / "packed", config, tensors), context=64)
