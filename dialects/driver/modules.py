"""PTX modules and the functions in them that launches name."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr, f32, i32, i64
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.attribute_syntax import parse_attributes
from lanelink.dialects.driver.attributes import Architecture, ArchitectureAttr

PARAMETER_TYPES: tuple[Attribute, ...] = (i64, i32, f32)
"""A parameter's type: an address, a whole number, a real one. Each is as wide as it is aligned."""


@irdl_op_definition
class FunctionOp(IRDLOperation):
    """
    An entry of a PTX module and its parameters' types (i64: an address), which every launch of it is checked against.

    Stands for [cuModuleGetFunction](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MODULE.html).

    Example:
    ```mlir
    driver.function @gemv_bf16_f32_r1(i64, i32, f32)
    ```
    """

    name = "driver.function"

    sym_name = prop_def(StringAttr)
    parameters = prop_def(ArrayAttr[Attribute])

    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, parameters: Sequence[Attribute]) -> None:
        super().__init__(properties={"sym_name": StringAttr(name), "parameters": ArrayAttr(parameters)})

    def verify_(self) -> None:
        if not isinstance(self.parent_op(), ModuleOp):
            raise VerifyException(f"driver.function @{self.sym_name.data}: expected it inside a driver.module")
        for k, kind in enumerate(self.parameters):
            if kind not in PARAMETER_TYPES:
                raise VerifyException(
                    f"driver.function @{self.sym_name.data} parameter {k}: expected i64, i32 or f32, got {kind}"
                )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string("(")
        printer.print_list(list(self.parameters), printer.print_attribute)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> FunctionOp:
        name = parser.parse_symbol_name().data
        op = cls(name, parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))
        op.attributes |= parse_attributes(parser, cls.name, cls.get_irdl_definition().properties)
        return op


@irdl_op_definition
class ModuleOp(IRDLOperation):
    """
    A PTX file of the package's kernels, `STEM.ARCHITECTURE.ptx`, and the functions taken from it.

    Stands for [cuModuleLoadData](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MODULE.html).

    Example:
    ```mlir
    driver.module @gemv_bf16 compute_90 {
      driver.function @gemv_bf16_f32_r1(i64, i32, f32)
    }
    ```
    """

    name = "driver.module"

    sym_name = prop_def(StringAttr)
    architecture = prop_def(ArchitectureAttr)
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface(), SymbolTable(), NoTerminator())

    def __init__(self, stem: str, architecture: Architecture, functions: Sequence[FunctionOp] | Region) -> None:
        super().__init__(
            properties={"sym_name": StringAttr(stem), "architecture": ArchitectureAttr(architecture)},
            regions=[functions if isinstance(functions, Region) else Region(Block(functions))],
        )

    @property
    def functions(self) -> list[FunctionOp]:
        """The functions taken from it."""
        return [op for op in self.body.block.ops if isinstance(op, FunctionOp)]

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if not isinstance(op, FunctionOp):
                raise VerifyException(
                    f"driver.module @{self.sym_name.data}: expected driver.function inside, got {op.name}"
                )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" {self.architecture.data.value} ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> ModuleOp:
        name = parser.parse_symbol_name()
        architecture = parser.parse_str_enum(Architecture)
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        op = cls(name.data, architecture, region)
        op.attributes |= parse_attributes(parser, cls.name, cls.get_irdl_definition().properties, keyword=True)
        return op


__all__ = ["PARAMETER_TYPES", "FunctionOp", "ModuleOp"]
