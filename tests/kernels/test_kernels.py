"""Every kernel, as committed, on the PTX emulator against its numpy meaning, accesses checked for races."""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lanelink.dialects.formats import Format
from lanelink.kernels.build import ARCHITECTURES, MODULES, ptx_path
from lanelink.lowering.cases.attention import AttentionShape, attention
from lanelink.lowering.cases.case import Bytes, Case, FloatResult
from lanelink.lowering.cases.lists import small
from lanelink.lowering.cases.mixtures import MoeShape, SharedShape, mixture
from lanelink.lowering.cases.turned_attention import turned_attention
from lanelink.lowering.emulator import Emulator, EmulatorError, Entry, Module
from lanelink.lowering.functions import Activation
from lanelink.lowering.selection.calls import F32, I32, Address, Argument, KernelCall, ScratchKind
from lanelink.lowering.selection.chip import H200, Chip
from lanelink.lowering.selection.gemm import laid
from lanelink.lowering.selection.select import select
from lanelink.lowering.selection.specs import GemvSpec, GluSpec

# Few multiprocessors, so that blocks take several tiles each and grids stay small.
CHIP = Chip("small", (9, 0), 2, 100)
ROOMY = Chip("roomy", (9, 0), 2, 227)
OLD_CHIP = Chip("old", (8, 0), 2, 100)
CASES = list(small())
NEWEST, OLDEST = reversed(ARCHITECTURES)


@cache
def emulator() -> Emulator:
    return Emulator(races=True)


@cache
def module(stem: str, architecture: str) -> Module:
    path = ptx_path(stem, architecture)
    return emulator().load(path.read_text(encoding="utf-8"), path.name)


def entry(call: KernelCall, architecture: str) -> Entry:
    return module(call.module, architecture).entries[call.entry]


class Memory:
    """A case's buffers and scratch on the emulator."""

    def __init__(self, case: Case, call: KernelCall, on: Emulator) -> None:
        self.on = on
        self.sizes = {n: c if isinstance(c, int) else c.size for n, c in case.buffers.items()}
        self.addresses: dict[object, int] = {}
        for name, content in case.buffers.items():
            self.addresses[name] = on.alloc(self.sizes[name], name)
            if not isinstance(content, int):
                on.write(self.addresses[name], content)
        for scratch in call.scratch:
            self.addresses[scratch.kind] = on.alloc(scratch.bytes, scratch.kind.value)
            if scratch.kind is ScratchKind.COUNTERS:
                on.write(self.addresses[scratch.kind], bytes(scratch.bytes))

    def read(self, name: str) -> Bytes:
        return np.frombuffer(self.on.read(self.addresses[name], self.sizes[name]), np.uint8)

    def packed(self, argument: Argument) -> bytes:
        match argument:
            case Address():
                return struct.pack("<Q", self.addresses[argument.ref] + argument.offset)
            case I32():
                return struct.pack("<i", argument.value)
            case F32():
                return struct.pack("<f", argument.value)
            case _:
                return struct.pack("<Q", 0)

    def free(self) -> None:
        for address in self.addresses.values():
            self.on.free(address)


def first_of_each_entry(chip: Chip) -> list[Case]:
    """The cases that reach an entry no earlier case does."""
    seen: dict[str, Case] = {}
    for case in CASES:
        seen.setdefault(select(case.spec, chip).entry, case)
    return list(seen.values())


def launched(emulator: Emulator, kernel: Entry, call: KernelCall, arguments: list[bytes]) -> None:
    """Launches a call on an emulator that has its entry."""
    cluster = (call.cluster, 1, 1)
    emulator.launch(kernel, call.grid, call.block, call.shared, arguments, together=call.together, cluster=cluster)


def run(case: Case, chip: Chip = CHIP, architecture: str = NEWEST) -> dict[str, float]:
    """The worst error over tolerance of each result."""
    call = select(case.spec, chip)
    memory = Memory(case, call, emulator())
    try:
        arguments = [memory.packed(a) for a in call.arguments]
        kernel = entry(call, architecture)
        launched(emulator(), kernel, call, arguments)
        counters = call.scratch_bytes(ScratchKind.COUNTERS)
        if counters:
            assert not any(emulator().read(memory.addresses[ScratchKind.COUNTERS], counters))
        return case.worst(memory.read)
    finally:
        memory.free()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_kernel(case: Case) -> None:
    worst = run(case)
    assert all(w <= 1 for w in worst.values()), worst


@pytest.mark.parametrize(
    "case", [c for c in CASES if select(c.spec, ROOMY).entry != select(c.spec, CHIP).entry], ids=lambda c: c.name
)
def test_kernel_that_takes_more_shared_memory(case: Case) -> None:
    worst = run(case, ROOMY)
    assert all(w <= 1 for w in worst.values()), worst


@pytest.mark.parametrize("case", first_of_each_entry(OLD_CHIP), ids=lambda c: c.name)
def test_kernel_for_the_oldest_architecture(case: Case) -> None:
    worst = run(case, OLD_CHIP, OLDEST)
    assert all(w <= 1 for w in worst.values()), worst


def test_every_entry_has_a_case() -> None:
    built = {name for m in MODULES for name in module(m.stem, NEWEST).entries}
    assert built == {select(c.spec, chip).entry for c in CASES for chip in (CHIP, ROOMY)}


@pytest.mark.parametrize(
    "shape",
    [
        MoeShape(Format.Q8_0, 1, 3, 1024, 64, 4, 2, shared=SharedShape(Format.Q8_0, 32)),
        MoeShape(Format.BF16, 0, 1, 64, 1500, 3, 3, shared=SharedShape(Format.F16, 900)),
    ],
    ids=["rows in passes", "hidden rows in shares"],
)
def test_a_mixture_in_little_shared_memory(shape: MoeShape) -> None:
    """What a pass leaves in scratch memory is read before the next one writes there, whichever block is ahead."""
    assert run(mixture(shape), Chip("narrow", (9, 0), 2, 12))["y"] <= 1


def test_a_wrong_expectation_is_seen() -> None:
    case = next(c for c in CASES if isinstance(c.results[0], FloatResult))
    result = case.results[0]
    assert isinstance(result, FloatResult)
    off = result.expected.copy()
    off.flat[3] *= np.float32(1.001)
    assert run(replace(case, results=(replace(result, expected=off),)))[result.name] > 1


SPLIT = (
    AttentionShape(1, 4, 2, 32, 32, 1000, 1100, planes=1, early=True),
    AttentionShape(1, 4, 1, 32, 32, 3000, 4100, planes=1, gate=Activation.SIGMOID),
    AttentionShape(2, 4, 2, 32, 32, 700, 1100, window=300, sinks=True),
    AttentionShape(1, 6, 3, 16, 16, 200, 400, planes=2),
)
"""Attentions whose positions many blocks share on a wide chip: more than a thread joins at a time, a window that begins
inside a tile, quantized blocks across heads."""


@pytest.mark.parametrize("shape", SPLIT, ids=lambda s: s.words)
def test_attention_in_many_splits(shape: AttentionShape) -> None:
    case = attention(shape)
    assert select(case.spec, H200).grid[1] > 5
    worst = run(case, H200)
    assert all(w <= 1 for w in worst.values()), worst


def test_attention_that_sees_nothing_is_zeros() -> None:
    """A row before the table's first: its position is -1, and one more row sees the first alone."""
    shape = AttentionShape(2, 2, 1, 32, 32, 0, 8)
    case = attention(shape)
    (result,) = case.results
    assert isinstance(result, FloatResult)
    expected = np.stack([np.zeros_like(result.expected[0]), result.expected[0]])
    before = {**case.buffers, "position": np.array([-1], np.int32).view(np.uint8)}
    q = np.frombuffer(bytes(before["q"]), np.float32).reshape(2, -1)
    before["q"] = np.roll(q, 1, axis=0).reshape(-1).view(np.uint8)
    moved = replace(result, expected=expected, tolerance=np.roll(np.asarray(result.tolerance), 1, axis=0))
    assert run(replace(case, buffers=before, results=(moved,)))["y"] <= 1


@pytest.mark.parametrize(
    "case", [c for c in CASES if " q8_0 " in c.name and "shared by" in c.name], ids=lambda c: c.name
)
def test_tiles_by_three_chunks_in_shared_memory(case: Case) -> None:
    """A small chip holds two; a wide one has room for another on its way."""
    assert isinstance(case.spec, GemvSpec | GluSpec)
    assert (laid(case.spec, H200).stages, laid(case.spec, CHIP).stages) == (3, 2)
    worst = run(case, H200)
    assert all(w <= 1 for w in worst.values()), worst


PLANTED = {
    "a wait for one chunk fewer": ("cp.async.wait_group 0;", "cp.async.wait_group 1;", 0, "unwritten bytes"),
    "no barrier before a chunk is summed": ("bar.sync 0;", "", 0, "race: read at shared"),
    "no barrier before a share has arrived": ("bar.sync 0;", "", 1, "race: read at global"),
    "no barrier before the tile lies over the chunks": ("bar.sync 0;", "", 4, "race: write at shared"),
    "no barrier before the tile's rows are read": ("bar.sync 0;", "", 5, "race: read at shared"),
}
"""Faults in a product on tensor cores: what stands in its place, at which place of the entry, and what is found."""


Planted = tuple[str, str, int, str]


@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_in_a_product_on_tensor_cores_is_found(fault: str) -> None:
    find_planted(next(c for c in CASES if "shared by 5" in c.name), CHIP, PLANTED[fault])


def find_planted(case: Case, chip: Chip, planted: Planted) -> None:
    """Runs a case by the entry with a fault planted, which must be found."""
    written, instead, which, found = planted
    call = select(case.spec, chip)
    before, name, text = ptx_path(call.module, NEWEST).read_text(encoding="utf-8").partition(f".entry {call.entry}(")
    pieces = text.split(written)
    assert len(pieces) > which + 1
    text = written.join(pieces[: which + 1]) + instead + written.join(pieces[which + 1 :])
    other = Emulator(races=True)
    loaded = other.load(before + name + text, "planted").entries[call.entry]
    memory = Memory(case, call, other)
    with pytest.raises(EmulatorError, match=found):
        launched(other, loaded, call, [memory.packed(a) for a in call.arguments])


WAITED = "mbarrier.try_wait.parity.shared::cta.b64 over,"
COPIED = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
PLANTED_IN_RINGS = {
    "no wait for a slot": (WAITED, "setp.eq.u32 over, 0, 0; //", 0, "memory that was written"),
    "rows that are not copied": (COPIED, "//", 3, "expected another thread to write"),
    "a last row that is not copied": (COPIED, "//", 8, "expected another thread to write"),
    "a slot asked for while lanes read it": ("bar.warp.sync -1;", "", 3, "race: read at shared"),
    "no barrier before x is read": ("bar.sync 0;", "", 0, "race: read at shared"),
}
"""Faults in a product by rings."""


@pytest.mark.parametrize("product", ["q4_k x q8 normed m=1 k=2048 n=137", "bf16 x f32 normed m=1 k=512 n=137"])
@pytest.mark.parametrize("fault", PLANTED_IN_RINGS)
def test_a_fault_in_a_ring_is_found(fault: str, product: str) -> None:
    case = next(c for c in CASES if c.name == f"product {product}")
    find_planted(case, ROOMY, PLANTED_IN_RINGS[fault])


SENT = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
PLANTED_IN_A_CLUSTER = {
    "no wait for what the blocks sent": (WAITED, "setp.eq.u32 over, 0, 0; //", 0, "that was written|race: read at"),
    "no sums sent": (f"{SENT}.f32", "//", 0, "expected another thread to write"),
    "no states sent": (f"{SENT}.v2.f32", "//", 0, "expected another thread to write"),
    "no barrier before others are reached": ("barrier.cluster.wait.acquire.aligned;", "", 0, "a barrier of the clus"),
    "no wait for the tiles": ("cp.async.wait_group 1;", "", 0, "unwritten bytes"),
    "no barrier before queries are read": ("bar.sync 0;", "", 0, "race: read at shared"),
    "no barrier before weights are read": ("bar.sync 0;", "", 1, "race: read at shared"),
}
"""Faults in an attention whose splits meet in a cluster."""


@pytest.mark.parametrize("fault", PLANTED_IN_A_CLUSTER)
def test_a_fault_in_a_cluster_is_found(fault: str) -> None:
    case = turned_attention(AttentionShape(1, 4, 1, 64, 64, 255, 512, planes=1, early=True, settled=True), 32, "QK")
    find_planted(case, H200, PLANTED_IN_A_CLUSTER[fault])


@pytest.mark.parametrize("what", ["then norm", "shared by 5", "attention"])
def test_a_replay_is_the_same_bit_for_bit(what: str) -> None:
    """Blocks arrive in another order when fewer of them run at a time."""
    case = attention(SPLIT[0]) if what == "attention" else next(c for c in CASES if what in c.name)
    call = select(case.spec, H200 if what == "attention" else CHIP)
    outputs: list[list[bytes]] = []
    for at_once in (256, 8192):
        other = Emulator(threads_at_once=at_once)
        loaded = other.load(ptx_path(call.module, NEWEST).read_text(encoding="utf-8"), call.module).entries[call.entry]
        memory = Memory(case, call, other)
        launched(other, loaded, call, [memory.packed(a) for a in call.arguments])
        outputs.append([memory.read(r.name).tobytes() for r in case.results])
    assert outputs[0] == outputs[1]
