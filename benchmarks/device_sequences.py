"""Launches of several sequences on a GPU: as one, and one after another.

    python benchmarks/device_sequences.py [--sequences S,S,...]

Times are of graphs of 24 such launches, with programmatic dependent launch, over buffers that the second-level cache
holds: what is compared is how many launches there are, and how well a launch fills the chip.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from device import Device

from lanelink.lowering.cases import sequences
from lanelink.lowering.cases.attention import AttentionShape, scheduled
from lanelink.lowering.cases.case import Case
from lanelink.lowering.cases.delta import DeltaShape
from lanelink.lowering.selection.attention_specs import AttentionSpec
from lanelink.lowering.selection.select import select
from lanelink.lowering.selection.sequences import Member, SequencesSpec

LAUNCHES = 24


def shapes(count: int) -> Iterator[tuple[str, Case]]:
    """What is timed of `count` sequences: Qwen3-8B's and Qwen3-Next's sizes."""
    yield "rope 32+8 heads of 128", sequences.ropes(count, 1, 128, 64, (32, 8), (True, True), 700)
    yield "conv 2048, 2048, 4096", sequences.convs(count, 1, 4, ((2048, 128), (2048, 128), (4096, None)))
    yield "delta 32/16 heads of 128", sequences.deltas(count, DeltaShape(1, 32, 16, 128))
    yield "set_row 1024", sequences.rows_set(count, 1, 1024, on_device=True)
    yield "set_row 4096, quantized", sequences.rows_quantized(count, 1, 4096, on_device=False, planes=1, f32=False)
    yield "attention 32/8 of 128 at 700", sequences.attentions(count, AttentionShape(1, 32, 8, 128, 128, 700, 2048))


def alone(member: Member) -> Member:
    """A member as it runs by itself: an attention has the chip to itself."""
    return scheduled(member) if isinstance(member, AttentionSpec) else member


def time_case(device: Device, name: str, case: Case) -> None:
    """Times a case's launch, and its members' launches."""
    assert isinstance(case.spec, SequencesSpec)
    for buffer, content in case.buffers.items():
        if isinstance(content, int):
            device.alloc(buffer, content, fill=0)
        else:
            device.put(buffer, content)
    together = [select(case.spec, device.chip)]
    apart = [select(alone(member), device.chip) for member in case.spec.members]
    device.scratch([*together, *apart])
    times: list[float] = []
    for calls in (together, apart):
        graph = device.graph(calls * LAUNCHES, overlap=True)
        times.append(device.timed(lambda graph=graph: device.replay(graph)).median / LAUNCHES)
    print(f"{len(case.spec.members)} x {name:30} together {times[0]:7.2f} µs, one after another {times[1]:7.2f} µs")
    device.free()


def main() -> None:
    """Times what is asked for."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--sequences", default="2,4,8", metavar="S,S,...", help="numbers of sequences, 2 to 8")
    device = Device()
    for count in map(int, parser.parse_args().sequences.split(",")):
        for name, case in shapes(count):
            time_case(device, name, case)


if __name__ == "__main__":
    main()
