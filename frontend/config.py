"""config.json of a decoder, in the spellings of transformers 4 and 5, as one typed record."""

from __future__ import annotations

from os.path import isdir
from pathlib import Path

from lanelink.frontend.checkpoint import MappedFile
from lanelink.frontend.deepseek_v2 import DEEPSEEK_V2
from lanelink.frontend.deepseek_v3 import DEEPSEEK_V3
from lanelink.frontend.family import Family
from lanelink.frontend.fields import Fields
from lanelink.frontend.gemma2 import GEMMA2
from lanelink.frontend.gemma3 import GEMMA3
from lanelink.frontend.gpt_oss import GPT_OSS
from lanelink.frontend.json_file import read_object
from lanelink.frontend.llama import LLAMA
from lanelink.frontend.qwen2 import QWEN2
from lanelink.frontend.qwen2_moe import QWEN2_MOE
from lanelink.frontend.qwen3 import QWEN3
from lanelink.frontend.qwen3_moe import QWEN3_MOE
from lanelink.frontend.qwen3_next import QWEN3_NEXT
from lanelink.frontend.shapes import DecoderConfig

FAMILIES: tuple[Family, ...] = (
    LLAMA,
    QWEN2,
    QWEN3,
    QWEN2_MOE,
    QWEN3_MOE,
    QWEN3_NEXT,
    GPT_OSS,
    GEMMA2,
    GEMMA3,
    DEEPSEEK_V2,
    DEEPSEEK_V3,
)


def read_config(path: Path) -> DecoderConfig:
    """The configuration in `path`, a config.json or a directory that holds one.

    Raises CheckpointError, naming the key, what was expected and what was found, where it is missing, malformed, of an
    architecture not in FAMILIES, or asks for what the family's layers do not have here.
    """
    file = MappedFile.open(path / "config.json" if isdir(path) else path)
    return parse_config(Fields(read_object(file), str(file.path)))


def parse_config(fields: Fields) -> DecoderConfig:
    """The configuration that `fields` says; see `read_config`."""
    family = family_of(fields)
    _refuse_repacked(fields, family)
    return family.read(fields)


def family_of(fields: Fields) -> Family:
    """The family that `architectures` names; `model_type` alone decides where there is none."""
    names = fields.texts("architectures")
    if not names:
        by_type = {family.model_type: family for family in FAMILIES}
        model_type = fields.text("model_type")
        if model_type not in by_type:
            raise fields.error("model_type", f"one of {', '.join(by_type)}", model_type)
        return by_type[model_type]
    by_class = {family.class_name: family for family in FAMILIES}
    if names[0] not in by_class:
        raise fields.error("architectures", f"one of {', '.join(by_class)}", names[0])
    family = by_class[names[0]]
    model_type = fields.text("model_type", family.model_type)
    if model_type != family.model_type:
        raise fields.error("model_type", f"{family.model_type}, as architectures says", model_type)
    return family


def _refuse_repacked(fields: Fields, family: Family) -> None:
    """A checkpoint repacked by GPTQ, AWQ and the like holds other tensors than its architecture's."""
    if fields.has("quantization_config"):
        method = fields.object("quantization_config").text("quant_method", "unnamed")
        if method != family.packed:
            expected = "weights as f32, f16 or bf16" + (f", or {family.packed}" if family.packed else "")
            raise fields.error("quantization_config", expected, f"quant_method {method}")
