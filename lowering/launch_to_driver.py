"""`lower-to-driver`: level 3 to level 4. Chooses each launch's kernel and packs its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.dialects.builtin import I32 as I32Type
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from lanelink.dialects.driver import Architecture, FunctionOp, LaunchOp, ModuleOp, ReturnOp, StepOp
from lanelink.dialects.driver.attributes import AddressAttr, NullAttr
from lanelink.dialects.driver.launch import ArgumentAttr
from lanelink.dialects.fault import located
from lanelink.dialects.launch import AttentionOp, CompoundLaunch, Launch, SequencesOp, TargetAttr, ViewOp
from lanelink.dialects.launch.step import LIFTED, launches, verify_linked
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph.step import step_function
from lanelink.lowering.driver_buffers import DriverBuffers, StepIoBuffers, step_buffers
from lanelink.lowering.launch_specs import launch_spec
from lanelink.lowering.parameters import ParameterError, check_parameters
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.calls import F32, I32, Address, KernelCall, Null, SelectionError
from lanelink.lowering.selection.chip import Chip
from lanelink.lowering.selection.select import select
from lanelink.lowering.selection.sequences import SequencesSpec
from lanelink.lowering.selection.union import Spec
from lanelink.lowering.signatures import ParameterKind, SignatureError, committed_ptx
from lanelink.passes.schedule.dependent_launch import Written, leaves

PARAMETER_TYPES: dict[ParameterKind, Attribute] = {
    ParameterKind.ADDRESS: i64,
    ParameterKind.I32: i32,
    ParameterKind.F32: f32,
}


@dataclass(frozen=True)
class LowerToDriverPass(ModulePass):
    """
    Turns the linked, planned step of a module into a `driver.step` and the `driver.module`s it launches from.

    `architecture`: whose PTX is used; by default the newest that the target runs. A launch marked `dependent` may begin
    before the one before it ends, where the PTX waits for it itself (compute_90 and later).

    Refuses, by the launch's location: a launch that no kernel computes, naming what was expected and got; a kernel
    whose entry in the committed PTX takes other parameters; a step that `plan-buffers` has not laid out.
    """

    name = "lower-to-driver"

    architecture: Literal["compute_80", "compute_90"] | None = None

    def apply(self, ctx: Context, op: builtin.ModuleOp) -> None:
        target = module_target(op)
        chip = chip_of(target)
        architecture = Architecture(self.architecture or chip.architecture)
        if architecture.capability > chip.compute_capability:
            raise PassFailedException(
                f"{self.name} architecture: expected at most compute_{target.capability.data}, the target's, "
                f"got {architecture.value}"
            )
        if architecture.value != chip.architecture:
            chip = replace(chip, compute_capability=architecture.capability)  # kernels of the older one's text alone
        func = _linked_step(op)
        # xDSL's own driver verifies ops alone; a launch that is lost or repeated must not reach the device.
        verify_linked(func)
        lowering = _Lowering(func, chip, architecture)
        step = lowering.run()
        parent = func.parent_block()
        assert parent is not None
        for made in (*lowering.modules(), step):
            parent.insert_op_before(made, func)
        func.detach()
        func.erase()


def _linked_step(module: builtin.ModuleOp) -> FuncOp:
    """The module's one linked step. PassFailedException for a step of another level."""
    done = next((op for op in module.ops if isinstance(op, StepOp)), None)
    if done is not None:
        message = "lower-to-driver: expected a step of launches, got driver calls: it is lowered already"
        raise PassFailedException(located(done, message))
    func = step_function(module)
    if LIFTED not in func.attributes and not launches(func):
        message = "lower-to-driver: expected a step of launches, got tensors: link it, and plan its buffers, before"
        raise PassFailedException(located(func, message))
    return func


def chip_of(target: TargetAttr) -> Chip:
    """The target as kernel selection sees it."""
    capability = divmod(target.capability.data, 10)
    return Chip(target.chip.data, capability, target.sms.data, target.shared.data)


def shared_alike(calls: Sequence[KernelCall]) -> list[KernelCall]:
    """A step's calls, with the carveouts they prefer where all do that take dynamic shared memory, else with none.

    Beside one that has it others are slower: their weights come by way of the cache that a carveout takes away.
    """
    alike = all(call.carveout is not None for call in calls if call.shared)
    return list(calls) if alike else [replace(call, carveout=None) for call in calls]


class _Lowering:
    """The lowering of one step: its launches in order, and the functions they name."""

    def __init__(self, func: FuncOp, chip: Chip, architecture: Architecture) -> None:
        self.func = func
        self.chip = chip
        self.architecture = architecture
        self.waits = architecture is not Architecture.COMPUTE_80
        self.functions: dict[tuple[str, str], FunctionOp] = {}
        self.written = Written()

    def run(self) -> StepOp:
        try:
            io = step_buffers(self.func)
        except VerifyException as error:
            raise PassFailedException(located(self.func, f"lower-to-driver: {error}")) from None
        ops = [op for op in launches(self.func) if not isinstance(op, ViewOp)]
        calls = shared_alike([self._call(op) for op in ops])
        buffers = DriverBuffers(self.func, calls)
        made = [self._launch(op, call, buffers) for op, call in zip(ops, calls, strict=True)]
        end = self._return(io, buffers)
        step = StepOp(self.func.sym_name.data, io.rows, io.context, [*buffers.ops(), *made, end])
        step.location = self.func.location
        return step

    def modules(self) -> list[ModuleOp]:
        """The modules of every function named, in the order of their first launch."""
        stems = dict.fromkeys(stem for stem, _ in self.functions)
        return [
            ModuleOp(stem, self.architecture, [f for (of, _), f in self.functions.items() if of == stem])
            for stem in stems
        ]

    def _call(self, op: Launch) -> KernelCall:
        try:
            call = select(self._spec(op), self.chip)
            where = f"@{call.module}::@{call.entry}"
            parameters = committed_ptx(call.module, self.architecture.value).parameters(call.entry)
            check_parameters(call.arguments, parameters, where)
        except (SelectionError, VerifyException, SignatureError, ParameterError) as error:
            raise PassFailedException(located(op, f"lower-to-driver {label_of(op)}: {error}")) from None
        function = FunctionOp(call.entry, [PARAMETER_TYPES[p.kind] for p in parameters])
        self.functions.setdefault((call.module, call.entry), function)
        return call

    def _spec(self, op: Launch) -> Spec:
        """What a launch asks for; an attention also whether its position is there from before the step on."""
        spec = launch_spec(op)
        if isinstance(spec, AttentionSpec):
            spec = self._early(spec)
        if isinstance(spec, SequencesSpec):
            spec = SequencesSpec(tuple(self._early(m) if isinstance(m, AttentionSpec) else m for m in spec.members))
        for each in leaves(op):
            # What it says is read before the wait: a step that says so and sets other rows would be read half set.
            if isinstance(each, AttentionOp) and each.settled is not None and not self.written.settles(each):
                expected = "tables of the step, set at no row but its position ahead of it"
                raise SelectionError("launch.attention settled", expected, "others")
        self.written.add(op)
        return spec

    def _early(self, spec: AttentionSpec) -> AttentionSpec:
        return replace(spec, early=not self.written.holds(spec.position.ref))

    def _launch(self, op: Launch, call: KernelCall, buffers: DriverBuffers) -> LaunchOp:
        arguments: list[ArgumentAttr] = []
        operands: list[SSAValue] = []
        for argument in call.arguments:
            match argument:
                case Address():
                    operands.append(buffers.value(argument.ref, op))
                    arguments.append(AddressAttr(argument.offset))
                case I32():
                    arguments.append(_whole(argument.value))
                case F32():
                    arguments.append(FloatAttr(argument.value, f32))
                case Null():
                    arguments.append(NullAttr())
        made = LaunchOp(
            (call.module, call.entry),
            arguments,
            operands,
            call.grid,
            call.block,
            shared=call.shared,
            dependent=op.dependent is not None and self.waits and call.dependent,
            together=call.together,
            cluster=None if call.cluster == 1 else call.cluster,
            carveout=call.carveout,
            covers=op.covered(),
            label=label_of(op),
        )
        made.location = op.location
        return made

    def _return(self, io: StepIoBuffers, buffers: DriverBuffers) -> ReturnOp:
        def held(value: SSAValue | None) -> SSAValue | None:
            return None if value is None else buffers.whole(value, self.func)

        return ReturnOp(held(io.chosen), held(io.logits))


@lru_cache(maxsize=1024)
def _whole(value: int) -> IntegerAttr[I32Type]:
    """A whole number. A step passes the same few over and over."""
    return IntegerAttr(value, i32)


def label_of(op: Operation) -> str:
    """A launch's kind in words: `gemv`; of a fold its parts': `fold(gemm_parts, rope_parts)`; `3 attention`."""
    kind = op.name.removeprefix("launch.")
    if isinstance(op, SequencesOp):
        members = op.members()
        return f"{len(members)} {label_of(members[0])}"
    if isinstance(op, CompoundLaunch) and kind == "fold":
        return f"fold({', '.join(label_of(member) for member in op.members())})"
    return kind


__all__ = ["LowerToDriverPass", "chip_of", "label_of"]
