"""One model in each layout that checkpoints of its architecture come in gives the same logits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from checkpoints import config_of, decoded, packed_gpt_oss, prompt_step, save

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import MoeOp, RowsType
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.importer import import_checkpoint

MODELS = Path(__file__).parents[1] / "models"
PROMPT = np.frombuffer(b"In the beginning God", np.uint8)

Floats = npt.NDArray[np.float32]


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
    path = save(tmp_path, config_of(MODELS / name), stacked(decoded(MODELS / name), 4))
    np.testing.assert_array_equal(prompt_step(path, PROMPT)[-1], prompt_step(MODELS / name, PROMPT)[-1])


def test_gpt_oss_in_mxfp4(tmp_path: Path):
    """As its release is. Its values are exact in bf16, so that both are one model."""
    packed, plain = packed_gpt_oss(MODELS / "gpt_oss", tmp_path)
    module = import_checkpoint(packed, context=128)
    experts = {w for op in module.walk() if isinstance(op, MoeOp) for w in (op.gate, op.up, op.down)}
    assert {w.type.format.data for w in experts if isinstance(w.type, RowsType)} == {Format.MXFP4}
    np.testing.assert_array_equal(prompt_step(packed, PROMPT)[-1], prompt_step(plain, PROMPT)[-1])
    absent = import_checkpoint(packed, context=128, no_weights=True)
    assert str(absent) == str(module), "without weights, too, the configuration says how the experts are kept"


def test_gpt_oss_in_another_layout_than_its_configuration_says(tmp_path: Path):
    """The small model's stacks are square: only the format tells one layout from the other."""
    packed, plain = packed_gpt_oss(MODELS / "gpt_oss", tmp_path)
    configs = [(path / "config.json").read_bytes() for path in (packed, plain)]
    for path, config in zip((plain, packed), configs, strict=True):
        (path / "config.json").write_bytes(config)
    with pytest.raises(CheckpointError, match=r"gate_up_proj': expected mxfp4, as config\.json says, got bf16"):
        import_checkpoint(plain, context=64)
    with pytest.raises(CheckpointError, match=r"gate_up_proj': expected f32, f16 or bf16 to view by values, got"):
        import_checkpoint(packed, context=64)
