"""Small kernels made from a few lines of PTX, and the arrays they run over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pytest

from lanelink.lowering.emulator import Emulator, Entry

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_REGISTERS = """
    .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %q<32>; .reg .f32 %f<16>; .reg .f64 %g<16>;
"""
_LOADS = {
    "i1": ("s8", "b16"),
    "u1": ("u8", "b16"),
    "i2": ("s16", "b16"),
    "u2": ("u16", "b16"),
    "i4": ("s32", "b32"),
    "u4": ("u32", "b32"),
    "i8": ("s64", "b64"),
    "u8": ("u64", "b64"),
    "f4": ("f32", "f32"),
    "f8": ("f64", "f64"),
    "f2": ("b16", "b16"),
}


def module(body: str, params: int = 1, name: str = "k", outside: str = "", head: str = "") -> str:
    """A module of one entry, whose parameters p0, p1, ... are 64 bits each and already in %q0, %q1, ..."""
    declared = ", ".join(f".param .u64 p{k}" for k in range(params))
    loads = "\n".join(f"ld.param.u64 %q{k}, [p{k}];" for k in range(params))
    return (
        f".version 8.4\n.target sm_90\n.address_size 64\n{outside}\n"
        f".visible .entry {name}({declared}) {head}\n{{\n{_REGISTERS}\n{loads}\n{body}\nret;\n}}\n"
    )


@dataclass
class Device:
    """An emulator with its few buffers."""

    emulator: Emulator

    def put(self, values: Array, name: str = "") -> int:
        address = self.emulator.alloc(values.nbytes, name)
        self.emulator.write(address, values)
        return address

    def get(self, address: int, dtype: str, count: int) -> Array:
        return np.frombuffer(self.emulator.read(address, count * np.dtype(dtype).itemsize), dtype)

    def entry(self, body: str, params: int = 1, outside: str = "", head: str = "") -> Entry:
        return self.emulator.load(module(body, params, outside=outside, head=head), "test").entries["k"]

    def run(
        self,
        body: str,
        arguments: Sequence[int],
        grid: int = 1,
        block: int = 32,
        shared: int = 0,
        outside: str = "",
        together: bool = False,
        cluster: int = 1,
    ) -> None:
        """Load and launch a body over 64-bit arguments."""
        entry = self.entry(body, len(arguments), outside)
        packed = [int(a).to_bytes(8, "little") for a in arguments]
        extents = (grid, 1, 1), (block, 1, 1)
        self.emulator.launch(entry, *extents, shared, packed, together=together, cluster=(cluster, 1, 1))


@pytest.fixture
def device() -> Device:
    return Device(Emulator())


@pytest.fixture
def racing() -> Device:
    return Device(Emulator(races=True))


Apply: TypeAlias = Callable[..., Array]


@pytest.fixture
def apply() -> Apply:
    """apply(body, output dtype, *inputs): thread i has inputs[k][i] in %a<k> and leaves its result in %d."""

    def run(body: str, output: str, *inputs: Array) -> Array:
        device = Device(Emulator())
        count = len(inputs[0])
        lines = [
            "mov.u32 %r31, %ctaid.x; mov.u32 %r30, %ntid.x; mov.u32 %r29, %tid.x;",
            "mad.lo.u32 %r31, %r31, %r30, %r29;",
            f"setp.ge.u32 %p15, %r31, {count}; @%p15 ret;",
        ]
        for k, values in enumerate(inputs):
            kind, register = _LOADS[values.dtype.str[1:]]
            lines.append(f".reg .{register} %a{k};")
            lines.append(f"mul.wide.u32 %q30, %r31, {values.dtype.itemsize}; add.u64 %q30, %q30, %q{k};")
            lines.append(f"ld.global.{kind} %a{k}, [%q30];")
        kind, register = _LOADS[output]
        width = np.dtype(output).itemsize
        lines += [f".reg .{register} %d;", body]
        lines.append(f"mul.wide.u32 %q30, %r31, {width}; add.u64 %q30, %q30, %q{len(inputs)};")
        lines.append(f"st.global.{kind} [%q30], %d;")
        out = device.emulator.alloc(count * width, "out")
        arguments = [*(device.put(np.ascontiguousarray(v)) for v in inputs), out]
        device.run("\n".join(lines), arguments, grid=-(-count // 96), block=96)
        return device.get(out, output, count)

    return run
