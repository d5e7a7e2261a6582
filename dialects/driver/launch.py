"""`driver.launch`: one kernel launch with its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import (
    I32,
    I64,
    ArrayAttr,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from lanelink.dialects.attribute_syntax import parse_attributes, parse_i64
from lanelink.dialects.driver.attributes import AddressAttr, BufferType, NullAttr
from lanelink.dialects.driver.buffers import SliceOp, buffer_of
from lanelink.dialects.driver.modules import FunctionOp

ArgumentAttr: TypeAlias = AddressAttr | NullAttr | IntegerAttr[I32] | FloatAttr[Float32Type]
Extent: TypeAlias = tuple[int, int, int]

MOST_GRID: Extent = (2**31 - 1, 65535, 65535)
MOST_BLOCK: Extent = (1024, 1024, 64)
MOST_THREADS = 1024
"""Of every compute capability from 3.0 on: CUDA C++ Programming Guide, technical specifications per capability."""
MOST_CLUSTER = 16
"""Blocks of a cluster of any chip so far (compute capability 9.0, where the function allows more than the usual 8)."""
MOST_SHARED = 227 * 1024
"""Bytes of shared memory that a block of any chip so far may take (compute capability 9.0)."""


class LaunchSymbolUser(SymbolUserOpInterface):
    """Checks a launch against the function it names."""

    def verify(self, op: object) -> None:
        assert isinstance(op, LaunchOp)
        op.verify_function()


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """
    One kernel launch: a function, its packed parameters in order, grid, block and dynamic shared bytes.

    A parameter is a buffer's address with an offset in bytes, an i32, an f32, or null for an operand this launch has
    not. `dependent`: it may begin before the launch before it ends, as its kernel waits for that itself. `together`:
    its blocks wait for each other, so that all of them have to be resident at once. `cluster`: as many neighbouring
    blocks along x run side by side and reach each other's shared memory. `carveout`: the percentage of a
    multiprocessor's first-level cache that it prefers as shared memory; blocks of launches whose shares differ are not
    on a multiprocessor together. `covers` are the lifted ops it computes.

    Stands for [cuLaunchKernelEx](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__EXEC.html); `dependent` is
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, `cluster` CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    `carveout` CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT of its function.

    Example:
    ```mlir
    driver.launch @gemv_bf16::@gemv_bf16_f32_r1(%x, %w + 512, 128 : i32, 1.000000e-06 : f32, null)
      grid (16, 1, 1) block (256, 1, 1) shared 4096 dependent covers [3, 4] {label = "fold(gemv, norm)"}
    ```
    """

    name = "driver.launch"

    function = prop_def(SymbolRefAttr)
    arguments = prop_def(ArrayAttr[AddressAttr | NullAttr | IntegerAttr[I32] | FloatAttr[Float32Type]])
    grid = prop_def(DenseArrayBase[I64])
    block = prop_def(DenseArrayBase[I64])
    shared = prop_def(IntegerAttr[I64])
    dependent = opt_prop_def(UnitAttr)
    together = opt_prop_def(UnitAttr)
    cluster = opt_prop_def(IntegerAttr[I64])
    carveout = opt_prop_def(IntegerAttr[I64])
    covers = prop_def(DenseArrayBase[I64])
    label = opt_prop_def(StringAttr)
    buffers = var_operand_def(BufferType())

    traits = traits_def(LaunchSymbolUser())

    def __init__(
        self,
        function: tuple[str, str],
        arguments: Sequence[ArgumentAttr],
        buffers: Sequence[SSAValue],
        grid: Extent,
        block: Extent,
        *,
        shared: int = 0,
        dependent: bool = False,
        together: bool = False,
        cluster: int | None = None,
        carveout: int | None = None,
        covers: Sequence[int] = (),
        label: str | None = None,
    ) -> None:
        """`function` is (module, entry); `buffers` has one value for each address among `arguments`, in order."""
        stem, entry = function
        super().__init__(
            operands=[buffers],
            properties={
                "function": SymbolRefAttr(stem, [entry]),
                "arguments": ArrayAttr(arguments),
                "grid": DenseArrayBase.from_list(i64, grid),
                "block": DenseArrayBase.from_list(i64, block),
                "shared": IntegerAttr(shared, i64),
                "dependent": UnitAttr() if dependent else None,
                "together": UnitAttr() if together else None,
                "cluster": None if cluster is None else IntegerAttr(cluster, i64),
                "carveout": None if carveout is None else IntegerAttr(carveout, i64),
                "covers": DenseArrayBase.from_list(i64, sorted(covers)),
                "label": None if label is None else StringAttr(label),
            },
        )

    @property
    def entry(self) -> tuple[str, str]:
        """(module, entry)."""
        return self.function.root_reference.data, self.function.nested_references.data[-1].data

    def extent(self, name: str) -> Extent:
        """`grid` or `block` as (x, y, z)."""
        values: DenseArrayBase[I64] = getattr(self, name)
        x, y, z = values.get_values()
        return x, y, z

    @property
    def cluster_blocks(self) -> int:
        """Blocks of a cluster; 1 where there are none."""
        return 1 if self.cluster is None else self.cluster.value.data

    def passed(self) -> Iterator[tuple[ArgumentAttr, SSAValue | None]]:
        """The arguments in order, each address with its buffer."""
        buffers = iter(self.buffers)
        for argument in self.arguments:
            yield argument, next(buffers) if isinstance(argument, AddressAttr) else None

    # Verification

    def verify_(self) -> None:
        self._verify_extent("grid", MOST_GRID)
        self._verify_extent("block", MOST_BLOCK)
        threads = prod(self.extent("block"))
        if threads > MOST_THREADS:
            raise VerifyException(f"driver.launch block: expected at most {MOST_THREADS} threads, got {threads}")
        if not 0 <= self.shared.value.data <= MOST_SHARED:
            raise VerifyException(
                f"driver.launch shared: expected 0 to {MOST_SHARED} bytes, got {self.shared.value.data}"
            )
        if self.cluster is not None:
            self._verify_cluster(self.cluster.value.data)
        if self.carveout is not None and not 0 <= self.carveout.value.data <= 100:
            raise VerifyException(f"driver.launch carveout: expected 0 to 100 percent, got {self.carveout.value.data}")
        addresses = sum(isinstance(a, AddressAttr) for a in self.arguments)
        if addresses != len(self.buffers):
            raise VerifyException(
                f"driver.launch: expected one buffer for each of {addresses} addresses, got {len(self.buffers)}"
            )
        for k, (argument, buffer) in enumerate(self.passed()):
            if isinstance(argument, AddressAttr):
                assert buffer is not None
                held = buffer_of(buffer, f"driver.launch argument {k}").size
                if not 0 <= argument.offset.data < held:
                    raise VerifyException(
                        f"driver.launch argument {k}: expected an offset inside the buffer's {held} bytes, "
                        f"got {argument.offset.data}"
                    )

        self._verify_slices()

    def _verify_slices(self) -> None:
        """Slices of one buffer that a launch is given lie apart: none of what it writes lies over what it reads."""
        taken: dict[SSAValue, list[tuple[int, int]]] = {}
        for buffer in dict.fromkeys(self.buffers):
            if isinstance(buffer.owner, SliceOp):
                first = buffer.owner.offset.value.data
                taken.setdefault(buffer.owner.source, []).append((first, first + buffer.owner.size))
        for ranges in taken.values():
            ranges.sort()
            for (first, end), (next_first, next_end) in pairwise(ranges):
                if next_first < end:
                    raise VerifyException(
                        f"driver.launch: expected slices that lie apart, got bytes {first} to {end - 1} and "
                        f"{next_first} to {next_end - 1} of one buffer"
                    )

    def _verify_cluster(self, blocks: int) -> None:
        if not 2 <= blocks <= MOST_CLUSTER:
            raise VerifyException(f"driver.launch cluster: expected 2 to {MOST_CLUSTER} blocks, got {blocks}")
        if self.extent("grid")[0] % blocks:
            raise VerifyException(
                f"driver.launch grid x: expected a multiple of the {blocks} blocks of a cluster, "
                f"got {self.extent('grid')[0]}"
            )

    def _verify_extent(self, name: str, most: Extent) -> None:
        values = getattr(self, name).get_values()
        if len(values) != 3:
            raise VerifyException(f"driver.launch {name}: expected three sizes, got {len(values)}")
        for axis, value, limit in zip("xyz", values, most, strict=True):
            if not 1 <= value <= limit:
                raise VerifyException(f"driver.launch {name} {axis}: expected 1 to {limit}, got {value}")

    def verify_function(self) -> None:
        """Checks that the function exists and takes these arguments, in number and type."""
        stem, entry = self.entry
        if self.parent is None:
            raise VerifyException(f"driver.launch @{stem}::@{entry}: expected it inside a step, got it alone")
        found = SymbolTable.lookup_symbol(self, self.function)
        if not isinstance(found, FunctionOp):
            raise VerifyException(
                f"driver.launch: expected @{stem}::@{entry} to be a driver.function, "
                f"got {'none' if found is None else found.name}"
            )
        parameters = list(found.parameters)
        if len(parameters) != len(self.arguments):
            raise VerifyException(
                f"driver.launch @{stem}::@{entry}: expected {len(parameters)} arguments, got {len(self.arguments)}"
            )
        for k, (parameter, argument) in enumerate(zip(parameters, self.arguments, strict=True)):
            kind = argument_type(argument)
            if kind != parameter:
                raise VerifyException(
                    f"driver.launch @{stem}::@{entry} argument {k}: expected {parameter}, got {kind} ({argument})"
                )

    # Assembly

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.function)
        printer.print_string("(")
        printer.print_list(list(self.passed()), lambda pair: _print_argument(printer, *pair))
        printer.print_string(")")
        for name in ("grid", "block"):
            printer.print_string(f" {name} (")
            sizes: DenseArrayBase[I64] = getattr(self, name)
            printer.print_list(sizes.get_values(), printer.print_int)
            printer.print_string(")")
        if self.cluster is not None:
            printer.print_string(f" cluster {self.cluster.value.data}")
        if self.shared.value.data:
            printer.print_string(f" shared {self.shared.value.data}")
        if self.carveout is not None:
            printer.print_string(f" carveout {self.carveout.value.data}")
        if self.dependent is not None:
            printer.print_string(" dependent")
        if self.together is not None:
            printer.print_string(" together")
        printer.print_string(" covers [")
        printer.print_list(list(self.covers.get_values()), printer.print_int)
        printer.print_string("]")
        label = {} if self.label is None else {"label": self.label}
        printer.print_op_attributes({**label, **self.attributes})

    @classmethod
    def parse(cls, parser: Parser) -> LaunchOp:
        at = parser.pos
        function = parser.parse_attribute()
        if not isinstance(function, SymbolRefAttr) or len(function.nested_references) != 1:
            parser.raise_error(f"expected @MODULE::@FUNCTION, got {function}", at, parser.pos)
        buffers: list[SSAValue] = []
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_argument(parser, buffers))
        parser.parse_keyword("grid")
        grid = _parse_extent(parser)
        parser.parse_keyword("block")
        block = _parse_extent(parser)
        cluster = None
        if parser.parse_optional_keyword("cluster"):
            cluster = parse_i64(parser)
        shared = 0
        if parser.parse_optional_keyword("shared"):
            shared = parse_i64(parser)
        carveout = None
        if parser.parse_optional_keyword("carveout"):
            carveout = parse_i64(parser)
        dependent = parser.parse_optional_keyword("dependent") is not None
        together = parser.parse_optional_keyword("together") is not None
        parser.parse_keyword("covers")
        covers = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_i64(parser, allow_negative=False)
        )
        at = parser.pos
        fields = cls.get_irdl_definition().properties.keys() - {"label"}
        attributes = parse_attributes(parser, cls.name, fields)
        label = attributes.pop("label", None)
        if label is not None and not isinstance(label, StringAttr):
            parser.raise_error(f"expected a string as the label, got {label}", at, parser.pos)
        op = cls(
            (function.root_reference.data, function.nested_references.data[-1].data),
            arguments,
            buffers,
            grid,
            block,
            shared=shared,
            dependent=dependent,
            together=together,
            cluster=cluster,
            carveout=carveout,
            covers=covers,
            label=None if label is None else label.data,
        )
        op.attributes |= attributes
        return op


def argument_type(argument: ArgumentAttr) -> Attribute:
    """The parameter type an argument fits."""
    match argument:
        case AddressAttr() | NullAttr():
            return i64
        case FloatAttr():
            return f32
        case IntegerAttr():
            return i32


def _print_argument(printer: Printer, argument: ArgumentAttr, buffer: SSAValue | None) -> None:
    if isinstance(argument, NullAttr):
        printer.print_string("null")
    elif isinstance(argument, AddressAttr):
        assert buffer is not None
        printer.print_operand(buffer)
        if argument.offset.data:
            printer.print_string(f" + {argument.offset.data}")
    else:
        printer.print_attribute(argument)


def _parse_argument(parser: Parser, buffers: list[SSAValue]) -> ArgumentAttr:
    if parser.parse_optional_keyword("null"):
        return NullAttr()
    buffer = parser.parse_optional_unresolved_operand()
    if buffer is not None:
        buffers.append(parser.resolve_operand(buffer, BufferType()))
        offset = parse_i64(parser) if parser.parse_optional_punctuation("+") else 0
        return AddressAttr(offset)
    at = parser.pos
    value = parser.parse_attribute()
    if isa(value, IntegerAttr[I32]) or isa(value, FloatAttr[Float32Type]):
        return value
    parser.raise_error(f"expected a buffer, an i32, an f32 or null, got {value}", at, parser.pos)


def _parse_extent(parser: Parser) -> Extent:
    at = parser.pos
    sizes = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_i64(parser))
    if len(sizes) != 3:
        parser.raise_error(f"expected three sizes, got {len(sizes)}", at, parser.pos)
    return sizes[0], sizes[1], sizes[2]


__all__ = ["MOST_BLOCK", "MOST_GRID", "MOST_THREADS", "ArgumentAttr", "Extent", "LaunchOp", "argument_type"]
