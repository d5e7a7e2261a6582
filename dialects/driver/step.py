"""A decoding step as driver calls, and where the loop finds its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.attribute_syntax import parse_attributes, parse_i64
from lanelink.dialects.driver.attributes import BufferType, Io
from lanelink.dialects.driver.buffers import INDEX_BYTES, ArenaOp, BufferOp, IoOp, ScratchOp, StateOp, buffer_of
from lanelink.dialects.driver.launch import LaunchOp
from lanelink.dialects.fault import OpFault
from lanelink.dialects.tgraph.step import state_sequence


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """
    Where a step leaves its results: the ids it chose, i32, and its logits, f32. A step may have neither.

    Example:
    ```mlir
    driver.return chosen %n logits %l
    ```
    """

    name = "driver.return"

    chosen = opt_operand_def(BufferType())
    logits = opt_operand_def(BufferType())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(StepOp)))

    def __init__(self, chosen: SSAValue | None = None, logits: SSAValue | None = None) -> None:
        super().__init__(operands=[chosen, logits])

    def print(self, printer: Printer) -> None:
        for name, value in (("chosen", self.chosen), ("logits", self.logits)):
            if value is not None:
                printer.print_string(f" {name} ")
                printer.print_operand(value)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> ReturnOp:
        chosen = _parse_result(parser, "chosen")
        logits = _parse_result(parser, "logits")
        op = cls(chosen, logits)
        op.attributes |= parse_attributes(parser, cls.name, cls.get_irdl_definition().properties)
        return op


def _parse_result(parser: Parser, name: str) -> SSAValue | None:
    if parser.parse_optional_keyword(name) is None:
        return None
    return parser.resolve_operand(parser.parse_unresolved_operand(), BufferType())


@irdl_op_definition
class StepOp(IRDLOperation):
    """
    One step: its buffers, its launches in order, and where its results are.

    `rows`: tokens it takes, of one sequence; or one each of as many sequences, where its io position holds so many.
    `context`: positions its shortest table holds; without one it keeps no table. Runtimes capture it into one CUDA
    graph.

    Example:
    ```mlir
    driver.step @step rows 1 context 256 {
      %token = driver.io token bytes 4
      %logits = driver.arena bytes 1024
      driver.launch @rows::@gather(%token, %logits) grid (1, 1, 1) block (256, 1, 1) covers [0]
      driver.return chosen %token logits %logits
    }
    ```
    """

    name = "driver.step"

    sym_name = prop_def(StringAttr)
    rows = prop_def(IntegerAttr[I64])
    context = opt_prop_def(IntegerAttr[I64])
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())

    def __init__(self, name: str, rows: int, context: int | None, body: Sequence[Operation] | Region) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "rows": IntegerAttr(rows, i64),
                "context": None if context is None else IntegerAttr(context, i64),
            },
            regions=[body if isinstance(body, Region) else Region(Block(body))],
        )

    @property
    def launches(self) -> list[LaunchOp]:
        """Its launches, in order."""
        return [op for op in self.body.block.ops if isinstance(op, LaunchOp)]

    @property
    def result(self) -> ReturnOp:
        """Its terminator."""
        last = self.body.block.last_op
        if not isinstance(last, ReturnOp):
            raise VerifyException(f"{self._where}: expected driver.return at its end, got {last and last.name}")
        return last

    @property
    def sequences(self) -> int:
        """Sequences that its tokens are of."""
        positions = self._io(Io.POSITION)
        return positions[0].size // INDEX_BYTES if positions else 1

    def _io(self, kind: Io) -> list[IoOp]:
        return [op for op in self.body.block.ops if isinstance(op, IoOp) and op.kind.data is kind]

    @property
    def _where(self) -> str:
        return f"driver.step @{self.sym_name.data}"

    def verify_(self) -> None:
        rows = self.rows.value.data
        least = rows if self.sequences == 1 else 1
        if rows < 1 or (self.context is not None and self.context.value.data < least):
            context = "none" if self.context is None else self.context.value.data
            raise VerifyException(f"{self._where}: expected rows of 1 to the context, got {rows} and {context}")
        for op in self.body.block.ops:
            if not isinstance(op, BufferOp | LaunchOp | ReturnOp):
                raise OpFault(op, f"{self._where}: expected buffers and launches inside, got {op.name}")
        self._verify_tables()
        self._verify_covers()
        self._verify_single()
        self._verify_carveouts()
        self._verify_io(rows)
        self._verify_results(rows)

    def _verify_tables(self) -> None:
        """The positions that a step's loop counts to are rows of every table that they name rows of."""
        for op in self.body.block.ops:
            if not isinstance(op, StateOp) or op.rows is None:
                continue
            rows = op.rows.value.data
            if self.context is None or self.context.value.data > rows:
                got = "none" if self.context is None else self.context.value.data
                raise OpFault(
                    op, f"{self._where} context: expected at most the {rows} rows of state '{op.state.data}', got {got}"
                )

    def _verify_covers(self) -> None:
        """Each lifted op is computed by one launch."""
        covered: set[int] = set()
        for launch in self.launches:
            for n in launch.covers.get_values():
                if n in covered:
                    message = f"{self._where}: expected each lifted op covered by one launch, got several for [{n}]"
                    raise OpFault(launch, message)
                covered.add(n)

    def _verify_single(self) -> None:
        """At most one of each buffer that a step has one of, and states by names of their own."""
        found: defaultdict[str, list[Operation]] = defaultdict(list)
        for op in self.body.block.ops:
            match op:
                case ArenaOp():
                    found["arena"].append(op)
                case IoOp():
                    found[f"io {op.kind.data.value}"].append(op)
                case ScratchOp():
                    found[f"scratch {op.kind.data.value}"].append(op)
                case StateOp():
                    found[f"state '{op.state.data}'"].append(op)
                case _:
                    pass
        for what, ops in found.items():
            if len(ops) > 1:
                raise OpFault(ops[1], f"{self._where}: expected at most one {what}, got {len(ops)}")

    def _verify_carveouts(self) -> None:
        """A carveout is the function's: all launches of one have the same, or none."""
        first: dict[tuple[str, str], LaunchOp] = {}
        for op in self.body.block.ops:
            if isinstance(op, LaunchOp):
                before = first.setdefault(op.entry, op)
                if op.carveout != before.carveout:
                    stem, entry = op.entry
                    expected, got = (("none" if x is None else x.value.data) for x in (before.carveout, op.carveout))
                    raise OpFault(
                        op,
                        f"{self._where}: expected carveout {expected} of @{stem}::@{entry}, as of its launch before, "
                        f"got {got}",
                    )

    def _verify_io(self, rows: int) -> None:
        tokens = self._io(Io.TOKEN)
        if len(tokens) != 1 or tokens[0].size != INDEX_BYTES * rows:
            got, at = (f"{tokens[0].size} bytes", tokens[0]) if tokens else ("none", self)
            raise OpFault(at, f"{self._where}: expected an io token of {INDEX_BYTES * rows} bytes, got {got}")
        if self.sequences not in (1, rows):
            raise OpFault(
                self._io(Io.POSITION)[0],
                f"{self._where}: expected an io position of {INDEX_BYTES} bytes, or of {INDEX_BYTES * rows}, "
                f"one a row, got {INDEX_BYTES * self.sequences} bytes",
            )
        self._verify_sequences()

    def _verify_sequences(self) -> None:
        """What a batch calls a state says whose it is."""
        if self.sequences == 1:
            return
        for op in self.body.block.ops:
            if isinstance(op, StateOp) and (state_sequence(op.state.data) or 0) >= self.sequences:
                raise OpFault(
                    op, f"{self._where}: expected a state of a sequence below {self.sequences}, got '{op.state.data}'"
                )

    def _verify_results(self, rows: int) -> None:
        result = self.result
        for name, value, size in (("chosen", result.chosen, 4 * rows), ("logits", result.logits, None)):
            if value is None:
                continue
            held = buffer_of(value, f"{self._where} {name}").size
            if held != size if size is not None else held % (4 * rows):
                wanted = f"{size}" if size is not None else f"a multiple of {4 * rows}"
                raise OpFault(result, f"{self._where} {name}: expected {wanted} bytes, got {held}")

    # Assembly

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" rows {self.rows.value.data}")
        if self.context is not None:
            printer.print_string(f" context {self.context.value.data}")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> StepOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("rows")
        rows = parse_i64(parser)
        context = parse_i64(parser) if parser.parse_optional_keyword("context") else None
        op = cls(name, rows, context, parser.parse_region())
        op.attributes |= parse_attributes(parser, cls.name, cls.get_irdl_definition().properties, keyword=True)
        return op


__all__ = ["ReturnOp", "StepOp"]
