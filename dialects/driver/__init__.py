"""Level 4: `driver`, the CUDA driver calls of a step: modules, functions, memory, launches with packed parameters."""

from xdsl.ir import Dialect

from lanelink.dialects.driver.attributes import (
    AddressAttr,
    Architecture,
    ArchitectureAttr,
    BufferType,
    Io,
    IoAttr,
    NullAttr,
    PlanesAttr,
    Scratch,
    ScratchAttr,
    ValuesAttr,
)
from lanelink.dialects.driver.buffers import ArenaOp, BufferOp, ConstantOp, IoOp, ScratchOp, SliceOp, StateOp
from lanelink.dialects.driver.launch import LaunchOp
from lanelink.dialects.driver.modules import FunctionOp, ModuleOp
from lanelink.dialects.driver.step import ReturnOp, StepOp

DriverDialect = Dialect(
    "driver",
    [ModuleOp, FunctionOp, StepOp, ArenaOp, SliceOp, IoOp, StateOp, ConstantOp, ScratchOp, LaunchOp, ReturnOp],
    [BufferType, PlanesAttr, ValuesAttr, IoAttr, ScratchAttr, ArchitectureAttr, AddressAttr, NullAttr],
)

__all__ = [
    "AddressAttr",
    "Architecture",
    "ArchitectureAttr",
    "ArenaOp",
    "BufferOp",
    "BufferType",
    "ConstantOp",
    "DriverDialect",
    "FunctionOp",
    "Io",
    "IoAttr",
    "IoOp",
    "LaunchOp",
    "ModuleOp",
    "NullAttr",
    "PlanesAttr",
    "ReturnOp",
    "Scratch",
    "ScratchAttr",
    "ScratchOp",
    "SliceOp",
    "StateOp",
    "StepOp",
    "ValuesAttr",
]
