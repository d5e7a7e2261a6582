"""
The step function: what its arguments and results are to the decoding loop, and what must hold of it as a whole.

Argument attributes: `tgraph.token` (token ids, tensor<Rxi32>), `tgraph.position` (tensor<1xi32>; of a batch, a row of
each of S sequences, tensor<Sxi32>), `tgraph.state = "name"` (a table that outlives the step; of sequence s of a batch,
"sequences.s.name"). Result attributes: `tgraph.carry = N` says the result is argument N of the next step;
`tgraph.logits` marks the logits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, OpResult, SSAValue
from xdsl.traits import IsolatedFromAbove

from lanelink.dialects.fault import OpFault, located
from lanelink.dialects.tgraph.attributes import static_shape
from lanelink.dialects.tgraph.lifted import INDEX

TOKEN, POSITION, STATE, CARRY, LOGITS = (
    "tgraph.token",
    "tgraph.position",
    "tgraph.state",
    "tgraph.carry",
    "tgraph.logits",
)

_OF_SEQUENCE = re.compile(r"sequences\.(0|[1-9][0-9]{0,8})\..")


@dataclass(frozen=True)
class StepIo:
    """Where a step's function keeps what the decoding loop needs, as argument and result numbers."""

    token: int
    position: int | None
    states: dict[int, str]
    """Argument number → the state's name."""
    carries: dict[int, int]
    """Result number → the argument it becomes at the next step."""
    logits: int | None
    """The result that holds the logits."""
    sequences: int
    """Sequences that its tokens are of: all of one, or each the next of one with a position of its own."""


def state_name(name: str, sequence: int) -> str:
    """What a batch calls the state `name` of one of its sequences."""
    return f"sequences.{sequence}.{name}"


def state_sequence(state: str) -> int | None:
    """The sequence of a batch that a state of this name is of, where the name says so."""
    found = _OF_SEQUENCE.match(state)
    return None if found is None else int(found[1])


def is_step(func: FuncOp) -> bool:
    """Whether a function has a token argument, which makes it a step."""
    return bool(_marked(func.arg_attrs, TOKEN))


def step_function(module: ModuleOp) -> FuncOp:
    """The module's one function with a token argument; VerifyException where there is none, more than one, or one
    without a body."""
    found = [op for op in module.ops if isinstance(op, FuncOp) and is_step(op)]
    if len(found) != 1:
        inside = sum(isinstance(op, FuncOp) and is_step(op) for op in module.walk()) - len(found)
        rest = f", and {inside} in modules inside it" if inside else ""
        message = f"expected one function with a {TOKEN} argument, got {len(found)}{rest}"
        at = found[1] if found else module
        raise OpFault(at, located(at, message))
    if found[0].is_declaration:
        raise OpFault(found[0], f"step @{found[0].sym_name.data}: expected a body, got a declaration")
    return found[0]


def step_io(func: FuncOp) -> StepIo:
    """Reads and checks the argument and result attributes of a step."""
    where = f"step @{func.sym_name.data}"
    tokens, positions = _marked(func.arg_attrs, TOKEN), _marked(func.arg_attrs, POSITION)
    if len(tokens) != 1 or len(positions) > 1:
        raise OpFault(
            func,
            f"{where}: expected one {TOKEN} argument and at most one {POSITION}, "
            f"got {len(tokens)} and {len(positions)}",
        )
    sequences = _check_indices(func, where, tokens[0], positions)
    logits = _marked(func.res_attrs, LOGITS)
    if len(logits) > 1:
        raise OpFault(func, f"{where}: expected at most one {LOGITS} result, got {len(logits)}")
    states = state_names(func)
    for k, name in states.items():
        if sequences > 1 and (state_sequence(name) or 0) >= sequences:
            raise OpFault(func, f"{where} argument {k}: expected {STATE} of a sequence below {sequences}, got '{name}'")
    return StepIo(
        token=tokens[0],
        position=positions[0] if positions else None,
        states=states,
        carries=_carries(func, where, states),
        logits=logits[0] if logits else None,
        sequences=sequences,
    )


def state_names(func: FuncOp) -> dict[int, str]:
    """The states of a step, of tensors or of buffers: argument number → its name, which no other has."""
    states: dict[int, str] = {}
    taken: set[str] = set()
    for k, attrs in _dicts(func.arg_attrs):
        name = attrs.data.get(STATE)
        if name is None:
            continue
        where = f"step @{func.sym_name.data} argument {k}"
        if not isinstance(name, StringAttr) or name.data in taken:
            raise OpFault(func, f"{where}: expected {STATE} to be a name of its own, got {name}")
        if not name.data.isascii():
            # xDSL would read it back from text as bytes.
            raise OpFault(func, f"{where}: expected {STATE} to be a name in ASCII, got {name.data!r}")
        taken.add(name.data)
        states[k] = name.data
    return states


def _check_indices(func: FuncOp, where: str, token: int, positions: list[int]) -> int:
    """Checks that token ids are tensor<Nxi32> and positions tensor<1xi32> or as many; the number of sequences."""
    inputs = func.function_type.inputs.data
    shape = static_shape(inputs[token], i32)
    if shape is None or len(shape) != 1:
        raise OpFault(func, f"{where} argument {token}: expected {TOKEN} to be tensor<Nxi32>, got {inputs[token]}")
    sequences = 1
    for k in positions:
        if inputs[k] not in (INDEX, inputs[token]):
            batch = "" if inputs[token] == INDEX else f" or {inputs[token]}, one a token"
            raise OpFault(func, f"{where} argument {k}: expected {POSITION} to be {INDEX}{batch}, got {inputs[k]}")
        sequences = 1 if inputs[k] == INDEX else shape[0]
    return sequences


def _carries(func: FuncOp, where: str, states: dict[int, str]) -> dict[int, int]:
    inputs, outputs = func.function_type.inputs.data, func.function_type.outputs.data
    carries: dict[int, int] = {}
    for k, attrs in _dicts(func.res_attrs):
        target = attrs.data.get(CARRY)
        if target is None:
            continue
        n = target.value.data if isinstance(target, IntegerAttr) else -1
        if not 0 <= n < len(inputs) or n in carries.values():
            raise OpFault(func, f"{where} result {k}: expected {CARRY} to name an argument of its own, got {target}")
        if inputs[n] != outputs[k]:
            raise OpFault(
                func, f"{where} result {k}: expected {inputs[n]}, the type of argument {n} it becomes, got {outputs[k]}"
            )
        carries[k] = n
    if missing := sorted(set(states) - set(carries.values())):
        raise OpFault(func, f"{where}: expected each state among the results, got none for '{states[missing[0]]}'")
    return carries


def verify_arguments(func: FuncOp) -> None:
    """Checks that a decoding loop knows what to give a step for each argument: ids, a position, or a state."""
    io = step_io(func)
    known = {io.token, io.position, *io.states}
    for k, argument in enumerate(func.body.block.args):
        if k not in known:
            reader = next((use.operation for use in argument.uses), func)
            message = f"step @{func.sym_name.data} argument {k}: expected {TOKEN}, {POSITION} or {STATE}"
            raise OpFault(reader, located(reader, f"{message}, got {argument.type} without any"))


def step_return(func: FuncOp) -> ReturnOp:
    """The return of a step."""
    last = func.body.block.last_op
    if not isinstance(last, ReturnOp):
        raise OpFault(func, f"step @{func.sym_name.data}: expected a func.return at its end, got {last and last.name}")
    return last


def verify_dominance(module: ModuleOp) -> None:
    """
    Checks that each operand is defined before its use, in one walk: xDSL's own verifier leaves this open for ops built
    through Python. Only single-block regions are looked into.
    """
    for op in module.body.block.ops:
        for region in op.regions:
            for block in region.blocks:
                _dominates(block, set())


def _dominates(block: Block, seen: set[SSAValue]) -> None:
    own = set(seen)
    own.update(block.args)
    for op in block.ops:
        for k, operand in enumerate(op.operands):
            if operand not in own:
                raise OpFault(op, f"{op.name}: operand {k} ({_name(operand)}) does not dominate its use")
        # An isolated region sees nothing outside; the set handed on is copied, which would make the walk quadratic.
        visible = set[SSAValue]() if op.has_trait(IsolatedFromAbove) else own
        for region in op.regions:
            for inner in region.blocks:
                _dominates(inner, visible)
        own.update(op.results)


def _name(value: SSAValue) -> str:
    if isinstance(value, OpResult):
        return f"a result of {value.op.name}"
    assert isinstance(value, BlockArgument)
    return f"argument {value.index} of another block"


def _dicts(attrs: ArrayAttr[DictionaryAttr] | None) -> Iterator[tuple[int, DictionaryAttr]]:
    return enumerate(() if attrs is None else attrs.data)


def _marked(attrs: ArrayAttr[DictionaryAttr] | None, name: str) -> list[int]:
    return [k for k, entry in _dicts(attrs) if name in entry.data]
