"""From a checkpoint to level 1: the step function of its model, as a verified module of `tgraph`."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import TARGET, Numerics, preset
from lanelink.dialects.tgraph import AdvanceOp, ArgMaxOp, ViewOp
from lanelink.dialects.tgraph.lifted import INDEX
from lanelink.dialects.tgraph.step import CARRY, LOGITS, POSITION, STATE, TOKEN
from lanelink.frontend.checkpoint import Checkpoint, CheckpointError
from lanelink.frontend.config import read_config
from lanelink.frontend.decoder import decoder
from lanelink.frontend.gguf_config import read_gguf_config
from lanelink.frontend.gguf_file import is_gguf, open_gguf
from lanelink.frontend.gguf_weights import GgufWeights
from lanelink.frontend.hugging_face import open_directory
from lanelink.frontend.shapes import DecoderConfig
from lanelink.frontend.step_builder import StepBuilder
from lanelink.frontend.weights import AbsentWeights, QuantizedWeights, StoredWeights, Weights

DEFAULT_CONTEXT = 4096
"""Positions of the key and value tables where none are asked for, or the model's own where it was made for fewer."""

MOST_SEQUENCES = 128
"""Sequences of a step: each has launches and tables of its own, which a step names one by one."""

KV_FORMATS = (Format.F32, Format.F16)
"""What tables of keys and values may hold."""


def import_checkpoint(
    path: Path,
    *,
    context: int | None = None,
    rows: int = 1,
    sequences: int = 1,
    numerics: Numerics | None = None,
    quantize: Format | None = None,
    keep_blocks: bool = False,
    target: str = "h200",
    no_weights: bool = False,
    rope_format: Format = Format.F32,
    kv: Format = Format.F32,
) -> ModuleOp:
    """One step of the model in `path`, a Hugging Face directory or a GGUF file, as a verified module with one function,
    `@step`.

    `context`: rows of each key and value table. `rows`: tokens of one sequence that a step takes; or, with `sequences`
    above 1, one token of each of so many, whose tables and positions are their own. `numerics`: how
    products by block formats take their activations; int8 where there are such products, else dequant. `quantize`:
    what matrices become at load, but for those already in blocks where `keep_blocks`. `no_weights`: take every tensor
    for granted and read config.json alone, for which `path` may be that file. `rope_format`: what rotation frequencies
    are rounded to, for a model whose program casts them (`rope.rounded`). `kv`: f32 or f16, what tables of keys and
    values hold.

    `@step` takes the tokens, the position of the first or of each sequence's, and each layer's state (key and value
    tables, latent rows, a delta rule's rings and state); it returns the greedy choice after each token, the next
    positions, that state and the logits. With one row a sequence it carries the choice to the next step.

    Raises CheckpointError where the checkpoint or an option does not fit, ValueError for an unknown target. The tensors
    themselves are not read.
    """
    config, weights = read_model(path, no_weights=no_weights)
    context = min(config.max_context, DEFAULT_CONTEXT) if context is None else context
    _check_options(path, config, context, rows, sequences)
    if kv not in KV_FORMATS:
        raise CheckpointError(f"{path}: kv: expected one of {', '.join(KV_FORMATS)}, got {kv}")
    if quantize is not None:
        weights = QuantizedWeights(weights, quantize, keep_blocks)
    try:
        func, formats = _step(config, weights, context, (rows, sequences), rope_format, kv)
        if numerics is None:
            numerics = Numerics.INT8 if any(format.is_block for format in formats) else Numerics.DEQUANT
        module = ModuleOp([func], {TARGET: preset(target, numerics, batch=sequences > 1)})
        module.verify()
    except VerifyException as error:  # sizes each of which may be, and whose products may not
        raise CheckpointError(f"{path}: expected sizes that a step can have, got: {error}") from None
    return module


def read_model(path: Path, *, no_weights: bool = False) -> tuple[DecoderConfig, Weights]:
    """The configuration and the weights of the model in `path`, a GGUF file (or one of its shards) or a Hugging Face
    directory. A GGUF file's header says both, so that `no_weights` makes no difference there."""
    if is_gguf(path):
        model = open_gguf(path)
        config = read_gguf_config(model)
        return config, GgufWeights(model, config)
    config = read_config(path)
    return config, AbsentWeights(config.stored) if no_weights else StoredWeights(open_directory(path))


def open_checkpoint(path: Path) -> Checkpoint:
    """The tensors of the model in `path`, as `read_model` finds them, under their files' own names."""
    return open_gguf(path).checkpoint if is_gguf(path) else open_directory(path)


def _check_options(path: Path, config: DecoderConfig, context: int, rows: int, sequences: int) -> None:
    if not 1 <= context <= config.max_context:
        raise CheckpointError(
            f"{path}: context: expected 1 to {config.max_context}, the positions its model was made for, got {context}"
        )
    if not 1 <= rows <= context:
        raise CheckpointError(f"{path}: rows: expected 1 to {context}, the context, got {rows}")
    if not 1 <= sequences <= MOST_SEQUENCES:
        raise CheckpointError(f"{path}: sequences: expected 1 to {MOST_SEQUENCES}, got {sequences}")
    if rows > 1 and sequences > 1:
        raise CheckpointError(
            f"{path}: expected several rows of one sequence or one row of several, got {rows} rows and {sequences} "
            "sequences"
        )


def _step(
    config: DecoderConfig,
    weights: Weights,
    context: int,
    sizes: tuple[int, int],
    rope_format: Format,
    kv: Format,
) -> tuple[FuncOp, set[Format]]:
    """The step's function, of (rows, sequences), and the formats of the matrices that its products read."""
    rows, sequences = sizes
    tokens = rows * sequences
    block = Block(arg_types=[TensorType(i32, [tokens]), TensorType(i32, [sequences])])
    token, position = block.args
    token.name_hint, position.name_hint = "token", "position"
    step = StepBuilder(block, weights, position, [position], tokens, context, rope_format, kv)
    if sequences > 1:
        with step.within("positions"):
            step.positions = [step.add(ViewOp(position, s, INDEX), f"position_{s}") for s in range(sequences)]
    logits = decoder(step, config, token)
    with step.within("sampling"):
        chosen = step.add(ArgMaxOp(logits), "chosen")
        moved = step.add(AdvanceOp(position, rows), "next_position")
    results = [chosen, moved, *(step.kept[name] for name in step.states), logits]
    block.add_op(ReturnOp(*results))

    # The choices after several rows of one sequence are no step's tokens: the next chunk's come from outside.
    carries = [0 if rows == 1 else None, *range(1, len(block.args))]
    func = FuncOp(
        "step",
        ([value.type for value in block.args], [value.type for value in results]),
        Region(block),
        arg_attrs=_dicts([{TOKEN: UnitAttr()}, {POSITION: UnitAttr()}, *({STATE: StringAttr(s)} for s in step.states)]),
        res_attrs=_dicts([*({} if c is None else {CARRY: IntegerAttr(c, i64)} for c in carries), {LOGITS: UnitAttr()}]),
    )
    return func, step.formats


def _dicts(entries: list[dict[str, Attribute]]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr(entry) for entry in entries])
