"""Runs PTX kernels on the CPU in numpy, and checks every access they make. Needs numpy alone."""

from lanelink.lowering.emulator.emulator import Emulator, Entry, Module
from lanelink.lowering.emulator.errors import EmulatorError, PtxError
from lanelink.lowering.emulator.parser import parse_ptx
from lanelink.lowering.emulator.ptx import Param, PtxEntry, PtxModule

__all__ = ["Emulator", "EmulatorError", "Entry", "Module", "Param", "PtxEntry", "PtxError", "PtxModule", "parse_ptx"]
