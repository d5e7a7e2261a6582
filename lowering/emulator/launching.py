"""What a launch starts from: shared, local and parameter memory laid out, and the values of special registers."""

from collections.abc import Iterable, Sequence

import numpy as np

from lanelink.lowering.emulator.access import Rows
from lanelink.lowering.emulator.emitter import Program
from lanelink.lowering.emulator.errors import EmulatorError
from lanelink.lowering.emulator.faults import Extent, Site
from lanelink.lowering.emulator.ptx import PtxEntry, PtxModule, Variable
from lanelink.lowering.emulator.regions import CONSTANT, UNWRITTEN, Bytes
from lanelink.lowering.emulator.types import Array

MOST_GRID = (2**31 - 1, 65535, 65535)
MOST_BLOCK = (1024, 1024, 64)
MOST_THREADS = 1024
MOST_SHARED = 227 * 1024
"""CUDA C++ Programming Guide, technical specifications by compute capability (shared memory: of 9.0, the largest)."""

MOST_CLUSTER = 16
"""Blocks of a cluster on 9.0: 8 on every chip, 16 where the launch says that it is not for all (the same guide)."""

WARPS_OF_A_PROCESSOR = 64
"""What %nwarpid says on 8.0 and 9.0 (the same table)."""

MOST_LOCAL = 512 * 1024
"""Bytes of local memory a thread (the same table)."""

MOST_TOGETHER = 160 * 2048
"""Threads of blocks that run together: what a chip of 160 multiprocessors holds, 2048 on each (the same table)."""

MOST_LOCAL_TOGETHER = 1 << 28
"""Bytes of their local memory."""

_GAP = 256


def check_extents(entry: PtxEntry, grid: Extent, block: Extent, shared: int) -> None:
    """Refuse a grid, block or shared size that no launch of this entry can have."""
    for what, got, most in (("grid", grid, MOST_GRID), ("block", block, MOST_BLOCK)):
        if len(got) != 3 or any(not 1 <= g <= m for g, m in zip(got, most, strict=True)):
            raise EmulatorError(f"kernel {entry.name}: expected a {what} of 1 to {most}, got {got}")
    threads = block[0] * block[1] * block[2]
    most = MOST_THREADS
    if entry.maxntid is not None:
        most = min(most, entry.maxntid[0] * entry.maxntid[1] * entry.maxntid[2])
    if threads > most:
        raise EmulatorError(f"kernel {entry.name}: expected at most {most} threads a block, got {threads} {block}")
    if entry.reqntid is not None and entry.reqntid != block:
        raise EmulatorError(f"kernel {entry.name}: expected blocks of exactly {entry.reqntid}, got {block}")
    if shared < 0 or entry.static_shared + shared > MOST_SHARED:
        raise EmulatorError(
            f"kernel {entry.name}: expected 0 to {MOST_SHARED - entry.static_shared} bytes of dynamic shared memory "
            f"beside {entry.static_shared} static ones, got {shared}"
        )


def check_local(entry: PtxEntry, module: PtxModule) -> int:
    """The bytes of local memory of each thread."""
    variables = (*module.variables.values(), *entry.body.variables.values())
    size = sum(v.size for v in variables if v.space == "local")
    if size > MOST_LOCAL:
        raise EmulatorError(f"kernel {entry.name}: expected at most {MOST_LOCAL} bytes of local memory, got {size}")
    return size


def check_together(entry: PtxEntry, blocks: int, threads: int, local: int) -> None:
    """Refuse more blocks at a time than any chip holds, or than there is memory for."""
    if blocks * threads > MOST_TOGETHER or blocks * threads * local > MOST_LOCAL_TOGETHER:
        raise EmulatorError(
            f"kernel {entry.name}: expected at most {MOST_TOGETHER} threads and {MOST_LOCAL_TOGETHER} bytes of local "
            f"memory in blocks that run together, got {blocks} blocks of {threads} threads of {local} bytes"
        )


def pack_arguments(entry: PtxEntry, arguments: Sequence[bytes]) -> bytes:
    """The parameter block. Each argument must have its parameter's size."""
    if len(arguments) != len(entry.params):
        raise EmulatorError(f"kernel {entry.name}: expected {len(entry.params)} arguments, got {len(arguments)}")
    block = bytearray(entry.param_bytes)
    for number, (param, argument) in enumerate(zip(entry.params, arguments, strict=True)):
        if len(argument) != param.size:
            raise EmulatorError(
                f"kernel {entry.name}: expected argument {number} ({param.name}, .{param.type}) of {param.size} bytes, "
                f"got {len(argument)}"
            )
        block[param.offset : param.offset + param.size] = argument
    return bytes(block)


class Layout:
    """Where the variables of a row space lie in each row: in order, with gaps between them, so that an overrun is
    seen.
    """

    def __init__(self, space: str, variables: Iterable[Variable], dynamic: int = 0) -> None:
        self.space = space
        self.addresses: dict[str, int] = {}
        self.names: list[tuple[int, int, str]] = []
        top = 0
        unsized: list[Variable] = []
        for variable in variables:
            if variable.dynamic:
                unsized.append(variable)
                continue
            top = -(-top // max(variable.align, 16)) * max(variable.align, 16)
            self.addresses[variable.name] = top
            self.names.append((top, variable.size, variable.name))
            top += variable.size + _GAP
        if unsized or dynamic:
            align = max([16, *(v.align for v in unsized)])
            top = -(-top // align) * align
            self.addresses.update({v.name: top for v in unsized})
            self.names.append((top, dynamic, f"dynamic {space} memory"))
            top += dynamic + _GAP
        self.stride = -(-top // 16) * 16

    def rows(self, count: int, base_shape: tuple[int, int], bits: int = UNWRITTEN) -> Rows:
        """`count` rows of fresh memory."""
        memory = Bytes(max(16, count * self.stride))
        if self.stride:
            shadow = memory.shadow.reshape(count, self.stride)
            for start, size, _ in self.names:
                shadow[:, start : start + size] = bits
        base = (np.arange(count, dtype=np.int64) * self.stride).reshape(base_shape)
        return Rows(self.space, memory, self.stride, base, tuple(self.names))


def param_rows(entry: PtxEntry, block: bytes) -> Rows:
    """The parameter block as memory, for kernels that read it through an address."""
    memory = Bytes(-(-max(16, len(block)) // 16) * 16)
    memory.data[: len(block)] = np.frombuffer(block, np.uint8)
    for param in entry.params:
        memory.shadow[param.offset : param.offset + param.size] = CONSTANT
    names = tuple((p.offset, p.size, p.name) for p in entry.params)
    return Rows("param", memory, memory.size, np.zeros((1, 1), np.int64), names)


def special_values(site: Site, shared: int, static: int) -> dict[str, Array]:
    """Special registers of a chunk: (1, threads) for places in a block, (blocks, 1) for blocks, (1, 1) for sizes."""
    thread = np.arange(site.threads, dtype=np.int64).reshape(1, -1)
    number = (site.first + np.arange(site.blocks, dtype=np.int64)).reshape(-1, 1)
    values: dict[str, Array] = {}

    def put(name: str, value: Array) -> None:
        values[name] = value.astype(np.uint32)

    for flat, extent, place, size in ((thread, site.block, "%tid", "%ntid"), (number, site.grid, "%ctaid", "%nctaid")):
        rest = flat
        for axis, length in zip("xyz", extent, strict=True):
            put(f"{place}.{axis}", rest % length if length > 1 else np.zeros((1, 1)))
            put(f"{size}.{axis}", np.full((1, 1), length))
            rest = rest // length
    within = np.zeros((1, 1), np.int64)
    stride = 1
    for axis, count, size in zip("xyz", site.grid, site.cluster, strict=True):
        at = values[f"%ctaid.{axis}"].astype(np.int64)
        place = at % size
        put(f"%clusterid.{axis}", at // size)
        put(f"%nclusterid.{axis}", np.full((1, 1), count // size))
        put(f"%cluster_ctaid.{axis}", place)
        put(f"%cluster_nctaid.{axis}", np.full((1, 1), size))
        within = within + place * stride
        stride *= size
    put("%cluster_ctarank", within)
    put("%cluster_nctarank", np.full((1, 1), stride))
    lane = thread % 32
    put("%laneid", lane)
    put("%warpid", thread // 32)
    put("%nwarpid", np.full((1, 1), WARPS_OF_A_PROCESSOR))
    put("%dynamic_smem_size", np.full((1, 1), shared))
    put("%total_smem_size", np.full((1, 1), shared + static))
    bit = np.int64(1) << lane
    for kind, value in (("eq", bit), ("lt", bit - 1), ("le", 2 * bit - 1)):
        put(f"%lanemask_{kind}", value)
    put("%lanemask_gt", ~(2 * bit - 1) & 0xFFFFFFFF)
    put("%lanemask_ge", ~(bit - 1) & 0xFFFFFFFF)
    return values


_ZEROS = {tag: np.zeros((1, 1), tag) for tag in ("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")}


def start_registers(
    program: Program, special: dict[str, Array], params: bytes, addresses: dict[str, int]
) -> list[Array]:
    """Every register at 0, and the pseudo-registers at what they stand for."""
    registers = [_ZEROS[tag] for tag in program.tags]
    for number, source in program.inputs.items():
        tag = program.tags[number]
        match source:
            case ("special", str(name)):
                registers[number] = special[name]
            case ("param", int(offset)):
                size = np.dtype(tag).itemsize
                registers[number] = np.frombuffer(params[offset : offset + size], tag).reshape(1, 1)
            case ("symbol", str(name), int(offset)):
                registers[number] = _address(addresses[name] + offset, tag)
            case ("param_address", int(offset)):
                registers[number] = _address(offset, tag)
            case _:
                raise EmulatorError(f"{program.module}: expected a known kind of input, got {source}")
    return registers


def _address(value: int, tag: str) -> Array:
    bits = (1 << (8 * np.dtype(tag).itemsize)) - 1
    return np.full((1, 1), value & bits, tag)
