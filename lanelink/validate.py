"""
Translation validation: a step run on random inputs before and after each pass, which must not change what it means.

What is checked depends on what a pass did to the step (docs/validation.md): bit for bit, within the rounding of a link,
or, where activations were quantized, bit for bit but for the quantizing, which is held to its own bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, MemRefType, ModuleOp, TensorType, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass, PassPipeline
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import DiagnosticException, InterpretationError, VerifyException

from lanelink.dialects.driver import StepOp
from lanelink.dialects.fault import OpFault, located
from lanelink.dialects.formats import BLOCK_VALUES
from lanelink.dialects.launch import AllocOp
from lanelink.dialects.launch.base import LeafLaunch
from lanelink.dialects.launch.step import LIFTED
from lanelink.dialects.launch.target import TARGET, Numerics, module_target
from lanelink.dialects.shaped import element_of
from lanelink.dialects.tgraph import LiftedOp, Q8Type, QuantizeOp
from lanelink.dialects.tgraph.step import CARRY, LOGITS, is_step, step_function
from lanelink.lowering.activations import QuantizedRows
from lanelink.lowering.interpreters.launches import Array
from lanelink.lowering.interpreters.levels import Outcome, step_of
from lanelink.lowering.interpreters.lifted import Value
from lanelink.lowering.interpreters.reference import StepInterpreter
from lanelink.lowering.random_step import Trial, marks, trials
from lanelink.pipeline import LanelinkPass
from lanelink.verify import verify_module

ROUNDING = {
    # A launch rounds to f32 (2^-24) once where its lifted ops round one by one; a sum of thousands of terms of either
    # sign loses some digits more.
    Numerics.DEQUANT: 2e-5,
    # Where that rounding moves a value across the middle between two quants, its quant moves by one step: 1/127 of its
    # block's largest value, in a few of the terms of a product, and once more in the products after it.
    Numerics.INT8: 2 / 127,
    # A step of the second plane is 1/254 of that.
    Numerics.TWO_PASS_INT8: 2 / (127 * 254),
}
"""How far launches may lie from the lifted ops they are linked from, of the largest value of a result."""

ROUNDING_TABLES = 2 * 2.0**-10
"""The same where tables are of f16: a value that moves across the middle between two of its numbers takes the other,
2^-10 of it away at most, and so does what attention makes of it."""


class ValidationError(DiagnosticException):
    """A pass that changed what a step means, or a step that cannot be run to see."""


def validate(module: ModuleOp, passes: Sequence[ModulePass], seed: int = 0) -> ModuleOp:
    """
    A copy of the module with the passes applied, verified and validated after each.

    `lanelink` stands for the passes it is made of. What `lower-to-driver` makes is not run. Raises ValidationError with
    the pass, the first result that differs and by how much, VerifyException for a module that is wrong to begin with,
    and whatever the passes raise.
    """
    lowered = module.clone()
    verify_module(lowered)
    ValidatedPipeline(tuple(passes), seed=seed).apply(Context(), lowered)
    return lowered


def expanded(passes: Sequence[ModulePass]) -> tuple[ModulePass, ...]:
    """The passes with `lanelink` as those it is made of."""
    each_expanded = (each.passes() if isinstance(each, LanelinkPass) else [each] for each in passes)
    return tuple(p for some in each_expanded for p in some)


@dataclass(frozen=True)
class ValidatedPipeline(PassPipeline):
    """Passes one after another, the module validated after each before the callback sees it."""

    seed: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        passes = expanded(self.passes)
        validator = Validator(op, self.seed) if passes else None
        self._call(None, op, passes[0] if passes else None)
        for k, each in enumerate(passes):
            try:
                each.apply(ctx, op)
            except VerifyException as error:
                # A pass that verifies what it made, as the link does; a refusal is another exception.
                raise _unverified(op, each.name, error) from None
            assert validator is not None
            validator.after(each.name, op)
            self._call(each, op, passes[k + 1] if k + 1 < len(passes) else None)

    def _call(self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
        if self.callback is not None:
            self.callback(previous, module, following)


def _step(module: ModuleOp) -> Operation:
    """What a fault of the whole is told of: the step, or the module where it is driver calls."""
    return next((op for op in module.ops if isinstance(op, FuncOp) and is_step(op)), module)


def _unverified(module: ModuleOp, name: str, error: VerifyException) -> ValidationError:
    at = error.op if isinstance(error, OpFault) else _step(module)
    return ValidationError(located(at, f"validate: {name}: expected a module that verifies, got: {error}"))


def _unrun(module: ModuleOp, when: str, error: Exception) -> ValidationError:
    return ValidationError(located(_step(module), f"validate: {when}expected a step that can be run, got: {error}"))


class Validator:
    """Holds what a step left on random inputs as the last pass found it, and compares what it leaves now."""

    def __init__(self, module: ModuleOp, seed: int = 0) -> None:
        self._seed = seed
        self._names = _Names.of(module)
        numerics = module_target(module).numerics.data if TARGET in module.attributes else Numerics.DEQUANT
        table = ROUNDING_TABLES if any(element_of(a) == f16 for a in step_function(module).body.block.args) else 0.0
        self._floats = max(ROUNDING[Numerics.DEQUANT], table)
        self._rounding, self._planes = max(ROUNDING[numerics], table), numerics.planes
        try:
            # Twice the bound: either of the two scores that a choice is between may move by it.
            self._trials = trials(module, seed, 2 * self._rounding)
            self._before = _Seen.of(module, self._trials)
        except (InterpretationError, ValueError) as error:
            raise _unrun(module, "", error) from None

    def after(self, name: str, module: ModuleOp) -> None:
        """Compares the step as pass `name` left it with how it was; ValidationError where it means something else."""
        try:
            verify_module(module)
        except VerifyException as error:
            raise _unverified(module, name, error) from None
        if any(isinstance(op, StepOp) for op in module.walk()):
            # Level 4 is run by the emulator and on the GPU, not in numpy.
            return
        try:
            seen = _Seen.of(module, self._trials, self._before)
            self._compare(name, module, seen)
        except (InterpretationError, ValueError) as error:
            raise _unrun(module, f"{name}: ", error) from None
        self._before = seen

    def _compare(self, name: str, module: ModuleOp, seen: _Seen) -> None:
        before = self._before
        if seen.launched != before.launched:
            self._hold(name, module, before.exact, seen.exact, self._floats, ", activations kept in f32")
            self._hold(name, module, before.outcomes, seen.outcomes, self._rounding)
        elif seen.quantizes != before.quantizes:
            self._hold(name, module, before.exact, seen.exact, None, ", activations kept in f32")
            self._check_quantizes(name, module)
        else:
            self._hold(name, module, before.outcomes, seen.outcomes, None)

    def _hold(
        self,
        name: str,
        module: ModuleOp,
        before: Sequence[Outcome],
        after: Sequence[Outcome],
        relative: float | None,
        how: str = "",
    ) -> None:
        """Raises at the first result of any trial that differs by more than `relative`, or in any bit without it."""
        for k, (a, b) in enumerate(zip(before, after, strict=True)):
            found = self._names.difference(a, b, relative)
            if found is not None:
                where = f"seed {self._seed}, trial {k}{how}"
                # Either of the two scores that a choice is between may move by the bound.
                if relative is not None and self._trials[k].margin < 2 * relative:
                    where += f", whose nearest choice is decided by {self._trials[k].margin:.2g} of its largest score"
                message = f"validate: {name}: step @{self._names.step}: {found} ({where})"
                raise ValidationError(located(_step(module), message))

    def _check_quantizes(self, name: str, module: ModuleOp) -> None:
        """Holds every quantize to the bound of the target's numerics, on what it reads in the trials."""

        def watch(op: LiftedOp, operands: Sequence[Value], results: Sequence[Value]) -> None:
            if not isinstance(op, QuantizeOp):
                return
            x, (made,) = np.asarray(operands[0]), results
            assert isinstance(made, QuantizedRows)
            found = quantizing_error(x, made, self._planes)
            if found is not None:
                raise ValidationError(located(op, f"validate: {name}: step @{self._names.step}: {op.name}: {found}"))

        for trial in self._trials:
            StepInterpreter(module, trial.constants, watch=watch).run(trial.arguments)


def quantizing_error(x: npt.NDArray[np.float32], made: QuantizedRows, planes: int) -> str | None:
    """
    What is wrong with quantized rows of x [rows, cols] in `planes` planes: the first value further off than half a
    step, amax / 254 of its block, or with a second plane amax / (254 · 254), and f32's own rounding of it.
    """
    blocks = x.astype(np.float64).reshape(x.shape[0], -1, BLOCK_VALUES)
    largest = np.abs(blocks).max(axis=-1, keepdims=True)
    error = np.abs(made.dequantize().astype(np.float64).reshape(blocks.shape) - blocks)
    # x/s, its quants and their sum each round to f32 (2^-24); the plane's half step is of what x/s left.
    bound = largest * (1 / (254 if planes < 2 else 254 * 254) + 8 * 2.0**-24)
    over = np.argwhere(error > bound)
    if not over.size:
        return None
    row, block, value = (int(k) for k in over[0])
    at = f"[{row}, {block * BLOCK_VALUES + value}]"
    got = f"{error[row, block, value]:.3g}"
    return f"{at}: expected within {bound[row, block, 0]:.3g} of its value ({max(planes, 1)} planes of int8), got {got}"


@dataclass(frozen=True)
class _Seen:
    """
    What a step left on each trial; `exact`: with activations kept in f32. `launched` has the kind of each launch, or
    part of one, of a linked step with what it covers: where these differ, values are rounded elsewhere.
    """

    launched: tuple[tuple[str, tuple[int, ...]], ...]
    quantizes: int
    outcomes: list[Outcome]
    exact: list[Outcome]

    @staticmethod
    def of(module: ModuleOp, on: Sequence[Trial], before: _Seen | None = None) -> _Seen:
        linked = LIFTED in step_function(module).attributes
        launched = _launched(module) if linked else ()
        quantizes = 0 if linked else sum(isinstance(op, QuantizeOp) for op in module.walk())
        outcomes = _outcomes(module, on)
        if linked and before is not None and before.launched == launched:
            return _Seen(launched, quantizes, outcomes, before.exact)
        plain = _exact(module)
        return _Seen(launched, quantizes, outcomes, outcomes if plain is None else _outcomes(plain, on))


def _launched(module: ModuleOp) -> tuple[tuple[str, tuple[int, ...]], ...]:
    leaves = (op for op in module.walk() if isinstance(op, LeafLaunch))
    return tuple((op.name, tuple(op.covered())) for op in leaves)


def _outcomes(module: ModuleOp, on: Sequence[Trial]) -> list[Outcome]:
    # What senseless weights overflow, they overflow before and after; numpy need not say so.
    with np.errstate(all="ignore"):
        return [step_of(module, trial.constants)(trial.arguments) for trial in on]


def _exact(module: ModuleOp) -> ModuleOp | None:
    """
    The step with quantized rows kept as the f32 rows they are made of, which runs and need not verify; none where it
    quantizes nothing.
    """
    plain = module.clone()
    found = False
    for op in list(plain.walk()):
        for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.args)):
            if isinstance(kind := value.type, Q8Type):
                # Also what a fused op hands in or out: an op's meaning may ask whether it reads quantized rows.
                rows = MemRefType(f32, kind.shape) if isinstance(op, AllocOp) else TensorType(f32, kind.shape)
                Rewriter.replace_value_with_new_type(value, rows)
                found = True
        if isinstance(op, QuantizeOp):
            op.result.replace_all_uses_with(op.x)
            Rewriter.erase_op(op)
    return plain if found else None


@dataclass(frozen=True)
class _Names:
    """What the results of a step are called in a diagnostic."""

    step: str
    arguments: list[str]
    results: list[str]

    @staticmethod
    def of(module: ModuleOp) -> _Names:
        func = step_function(module)
        marked = marks(func)
        arguments = [_name("argument", a.index, marked.get(a.index) or a.name_hint) for a in func.body.block.args]
        count = len(func.function_type.outputs)
        attrs = [DictionaryAttr({})] * count if func.res_attrs is None else list(func.res_attrs.data)
        kept = [(k, a.data) for k, a in enumerate(attrs) if CARRY not in a.data]
        results = [_name("result", k, "logits" if LOGITS in a else None) for k, a in kept]
        return _Names(func.sym_name.data, arguments, results)

    def difference(self, expected: Outcome, got: Outcome, relative: float | None) -> str | None:
        """The first difference of two outcomes, in words; none where there is none."""
        if len(got.results) != len(expected.results) or len(got.arguments) != len(expected.arguments):
            return (
                f"expected {len(expected.arguments)} arguments and {len(expected.results)} results carried nowhere, "
                f"got {len(got.arguments)} and {len(got.results)}"
            )
        for name, a, b in self._pairs(expected, got):
            if (found := _difference(a, b, relative)) is not None:
                return f"{name} {found}"
        return None

    def _pairs(self, expected: Outcome, got: Outcome) -> Iterator[tuple[str, Array, Array]]:
        yield from zip(self.results, expected.results, got.results, strict=True)
        for name, a, b in zip(self.arguments, expected.arguments, got.arguments, strict=True):
            yield f"{name} of the next step", a, b


def _name(what: str, k: int, called: str | None) -> str:
    return f"{what} {k}" if called is None else f"{what} {k} ({called})"


def _difference(expected: Array, got: Array, relative: float | None) -> str | None:
    """Where two arrays first differ by more than `relative` of the largest value, or in any bit without it."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f": expected {expected.dtype} of {list(expected.shape)}, got {got.dtype} of {list(got.shape)}"
    if relative is None or expected.dtype == np.int32:
        over = expected.view(np.int32) != got.view(np.int32)
        bound = "where no bit may change" if relative is None else "where whole numbers must be equal"
    else:
        finite = np.isfinite(expected)
        largest = float(np.abs(expected[finite]).max()) if finite.any() else 0.0
        same = (expected == got) | (np.isnan(expected) & np.isnan(got))
        with np.errstate(invalid="ignore"):
            near = np.abs(got.astype(np.float64) - expected) <= relative * largest
        over = ~(same | near)
        bound = f"more than {relative * largest:.3g}, which is {relative:.3g} of its largest value"
    first = np.argwhere(over)
    if not first.size:
        return None
    at = tuple(int(k) for k in first[0])
    a, b = expected[at].item(), got[at].item()
    return f"{list(at)}: expected {a:.9g}, got {b:.9g}: {abs(b - a):.3g} apart, {bound}; {len(first)} values differ so"


__all__ = ["ROUNDING", "ValidatedPipeline", "ValidationError", "Validator", "expanded", "quantizing_error", "validate"]
