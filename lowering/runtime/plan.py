"""A driver step as plain data: what every runtime executes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import SSAValue

from lanelink.dialects import driver
from lanelink.dialects.driver.buffers import INDEX_BYTES, buffer_of
from lanelink.dialects.driver.launch import Extent
from lanelink.dialects.fault import OpFault, located
from lanelink.dialects.tgraph.attributes import RopeTableAttr
from lanelink.dialects.tgraph.checkpoint import CheckpointAttr
from lanelink.lowering.repack import plane_layout
from lanelink.lowering.runtime.backend import StepShape, is_of
from lanelink.lowering.selection.calls import F32, I32, Address, Argument, Null


class Memory(Enum):
    """What a buffer is for, and so how it begins: TOKEN, POSITION, STATE and COUNTERS as zeros, CONSTANT as loaded, the
    others unwritten."""

    ARENA = "arena"
    TOKEN = "token"
    POSITION = "position"
    STATE = "state"
    CONSTANT = "constant"
    COUNTERS = "counters"
    PARTIALS = "partials"

    @property
    def zeroed(self) -> bool:
        """Whether it is zero at the start of a sequence."""
        return self in (Memory.TOKEN, Memory.POSITION, Memory.STATE, Memory.COUNTERS)


@dataclass(frozen=True)
class PlanConstant:
    """A constant's source, and how it lies on the device."""

    source: CheckpointAttr | RopeTableAttr
    layout: driver.PlanesAttr | driver.ValuesAttr

    @property
    def name(self) -> str:
        """What messages call it."""
        if isinstance(self.source, CheckpointAttr):
            return self.source.tensor.data
        return f"{self.source.kind.data.value} table"


@dataclass(frozen=True)
class PlanBuffer:
    """One allocation of device memory."""

    memory: Memory
    bytes: int
    name: str
    constant: PlanConstant | None = None


@dataclass(frozen=True)
class Place:
    """`bytes` bytes at `offset` of the plan's buffer number `buffer`."""

    buffer: int
    offset: int
    bytes: int


@dataclass(frozen=True)
class PlanLaunch:
    """One launch. Its addresses' `ref` is the number of a buffer of the plan; blocks that are `together` wait for each
    other, neighbouring blocks of a `cluster` reach each other's shared memory, and `carveout` is the percentage of the
    first-level cache that it prefers as shared memory."""

    module: str
    entry: str
    grid: Extent
    block: Extent
    shared: int
    arguments: tuple[Argument, ...]
    dependent: bool
    covers: tuple[int, ...]
    label: str
    together: bool = False
    cluster: int = 1
    carveout: int | None = None

    @property
    def name(self) -> str:
        """What messages call it: its label, and the entry that it launches."""
        return f"{self.label} @{self.module}::@{self.entry}"


@dataclass(frozen=True)
class Plan:
    """A step: the PTX it needs (`modules` by stem, each in its architecture), its memory, its launches in order.

    `chosen` holds the ids it chose, i32 [rows]; `logits` f32 [rows, vocabulary].
    """

    name: str
    modules: Mapping[str, str]
    buffers: tuple[PlanBuffer, ...]
    launches: tuple[PlanLaunch, ...]
    token: Place
    position: Place | None
    chosen: Place | None
    logits: Place | None
    shape: StepShape

    def bytes_of(self, memory: Memory) -> int:
        """Bytes of all buffers of one kind."""
        return sum(b.bytes for b in self.buffers if b.memory is memory)

    @property
    def states(self) -> list[str]:
        """The names of its states."""
        return [b.name for b in self.buffers if b.memory is Memory.STATE]

    def zeroed(self, sequence: int | None = None) -> Iterator[Place]:
        """What is zero at the start of one of its sequences, or of all."""
        for k, buffer in enumerate(self.buffers):
            if sequence is None or self.shape.sequences == 1:
                wanted = buffer.memory.zeroed
            else:
                wanted = buffer.memory is Memory.STATE and is_of(buffer.name, sequence)
                if buffer.memory is Memory.POSITION:
                    yield Place(k, INDEX_BYTES * sequence, INDEX_BYTES)
            if wanted:
                yield Place(k, 0, buffer.bytes)

    @property
    def carries_token(self) -> bool:
        """Whether a step leaves the next one's token where it reads it."""
        return self.chosen == self.token


def read_plan(module: ModuleOp) -> Plan:
    """The plan of a module's one `driver.step`. VerifyException where there is none, or more than one."""
    steps = [op for op in module.ops if isinstance(op, driver.StepOp)]
    if len(steps) != 1:
        at = steps[1] if steps else module
        raise OpFault(at, located(at, f"expected one driver.step (lower-to-driver makes it), got {len(steps)}"))
    modules = {op.sym_name.data: op.architecture.data.value for op in module.ops if isinstance(op, driver.ModuleOp)}
    return _PlanReader(steps[0]).plan(modules)


class _PlanReader:
    def __init__(self, step: driver.StepOp) -> None:
        self.step = step
        self.numbers: dict[driver.BufferOp, int] = {}
        self.buffers: list[PlanBuffer] = []

    def plan(self, modules: Mapping[str, str]) -> Plan:
        for op in self.step.body.block.ops:
            if isinstance(op, driver.BufferOp) and not isinstance(op, driver.SliceOp):
                self.numbers[op] = len(self.buffers)
                self.buffers.append(_buffer(op))
        launches = tuple(self._launch(op) for op in self.step.launches)
        end = self.step.result
        chosen = None if end.chosen is None else self._place(end.chosen)
        logits = None if end.logits is None else self._place(end.logits)
        rows = self.step.rows.value.data
        context = None if self.step.context is None else self.step.context.value.data
        vocabulary = None if logits is None else logits.bytes // (4 * rows)
        token = next(self._io(Memory.TOKEN))
        return Plan(
            name=self.step.sym_name.data,
            modules=modules,
            buffers=tuple(self.buffers),
            launches=launches,
            token=token,
            position=next(self._io(Memory.POSITION), None),
            chosen=chosen,
            logits=logits,
            shape=StepShape(rows, context, vocabulary, self.step.sequences),
        )

    def _io(self, memory: Memory) -> Iterator[Place]:
        return (Place(k, 0, b.bytes) for k, b in enumerate(self.buffers) if b.memory is memory)

    def _place(self, value: SSAValue) -> Place:
        op = buffer_of(value, "driver.step")
        size, offset = op.size, 0
        while isinstance(op, driver.SliceOp):
            offset += op.offset.value.data
            op = buffer_of(op.source, "driver.slice source")
        return Place(self.numbers[op], offset, size)

    def _launch(self, op: driver.LaunchOp) -> PlanLaunch:
        arguments: list[Argument] = []
        for argument, buffer in op.passed():
            match argument:
                case driver.AddressAttr():
                    assert buffer is not None
                    place = self._place(buffer)
                    arguments.append(Address(place.buffer, place.offset + argument.offset.data))
                case driver.NullAttr():
                    arguments.append(Null())
                case FloatAttr():
                    arguments.append(F32(argument.value.data))
                case _:
                    arguments.append(I32(argument.value.data))
        module, entry = op.entry
        return PlanLaunch(
            module=module,
            entry=entry,
            grid=op.extent("grid"),
            block=op.extent("block"),
            shared=op.shared.value.data,
            arguments=tuple(arguments),
            dependent=op.dependent is not None,
            together=op.together is not None,
            cluster=op.cluster_blocks,
            carveout=None if op.carveout is None else op.carveout.value.data,
            covers=tuple(op.covers.get_values()),
            label=entry if op.label is None else op.label.data,
        )


def layout_bytes(layout: driver.PlanesAttr | driver.ValuesAttr) -> int:
    """Bytes of a constant on the device."""
    if isinstance(layout, driver.ValuesAttr):
        return layout.total_bytes
    return plane_layout(layout.format.data, *layout.shape).total_bytes


def _buffer(op: driver.BufferOp) -> PlanBuffer:
    match op:
        case driver.ArenaOp():
            return PlanBuffer(Memory.ARENA, op.size, "arena")
        case driver.IoOp():
            return PlanBuffer(Memory(op.kind.data.value), op.size, op.kind.data.value)
        case driver.StateOp():
            return PlanBuffer(Memory.STATE, op.size, op.state.data)
        case driver.ConstantOp():
            constant = PlanConstant(op.source, op.layout)
            expected = layout_bytes(op.layout)
            if op.size != expected:
                message = f"driver.constant '{constant.name}': expected {expected} bytes in its layout, got {op.size}"
                raise OpFault(op, located(op, message))
            return PlanBuffer(Memory.CONSTANT, op.size, constant.name, constant)
        case driver.ScratchOp():
            return PlanBuffer(Memory(op.kind.data.value), op.size, op.kind.data.value)
        case _:
            raise OpFault(op, located(op, f"driver.step: expected a buffer that runtimes know, got {op.name}"))


__all__ = ["Memory", "Place", "Plan", "PlanBuffer", "PlanConstant", "PlanLaunch", "read_plan"]
