"""Random programs of nested branches and loops, against one thread at a time in Python."""

import random
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import pytest

from lanelink.lowering.emulator import Emulator

VARIABLES = 5
MASK = 0xFFFFFFFF


@dataclass
class Node:
    """A statement: "set" (variable, operator, operands), "if" (two bodies), "loop" (a body run a few times), "leave" a
    loop or go round "again" under a condition, or "end" the thread under one."""

    kind: str
    numbers: tuple[int, ...] = ()
    bodies: tuple[list["Node"], ...] = field(default_factory=tuple)


def program(rng: random.Random, depth: int, in_loop: bool) -> list[Node]:
    nodes: list[Node] = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.choices(["set", "if", "loop", "leave", "again", "end"], [6, 3, 2, 1, 1, 0.3])[0]
        numbers = tuple(rng.randrange(1 << 16) for _ in range(4))
        if kind in ("leave", "again") and not in_loop:
            kind = "set"
        if kind in ("if", "loop") and depth == 0:
            kind = "set"
        if kind == "if":
            nodes.append(Node(kind, numbers, (program(rng, depth - 1, in_loop), program(rng, depth - 1, in_loop))))
        elif kind == "loop":
            nodes.append(Node(kind, numbers, (program(rng, depth - 1, True),)))
        else:
            nodes.append(Node(kind, numbers))
    return nodes


class Ended(Exception):
    pass


class Left(Exception):
    pass


class Again(Exception):
    pass


def condition(numbers: tuple[int, ...], variables: list[int]) -> bool:
    """Bit `numbers[1]` of a variable."""
    return bool(variables[numbers[0] % VARIABLES] >> (numbers[1] % 6) & 1)


def run_thread(nodes: list[Node], variables: list[int]) -> None:
    for node in nodes:
        n = node.numbers
        match node.kind:
            case "set":
                a, b = variables[n[1] % VARIABLES], variables[n[2] % VARIABLES]
                value = (a + b, a ^ b, a * 3 + n[3], a - b + n[3])[n[3] % 4]
                variables[n[0] % VARIABLES] = value & MASK
            case "if":
                run_thread(node.bodies[0] if condition(n, variables) else node.bodies[1], variables)
            case "loop":
                for _ in range(1 + (variables[n[0] % VARIABLES] + n[1]) % 4):
                    try:
                        run_thread(node.bodies[0], variables)
                    except Again:
                        continue
                    except Left:
                        break
            case "leave" | "again" | "end":
                if condition(n, variables):
                    raise {"leave": Left, "again": Again, "end": Ended}[node.kind]


class Writer:
    """The same program as PTX: variables are %r0 to %r4; each loop counts in registers of its own."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.labels = 0
        self.counters = 0

    def test(self, numbers: tuple[int, ...]) -> None:
        bit = 1 << numbers[1] % 6
        self.lines.append(f"and.b32 %r20, %r{numbers[0] % VARIABLES}, {bit}; setp.ne.u32 %p1, %r20, 0;")

    def write(self, nodes: list[Node], leave: str, again: str) -> None:
        for node in nodes:
            n = node.numbers
            match node.kind:
                case "set":
                    self.assign(n)
                case "if":
                    self.branch(node, leave, again)
                case "loop":
                    self.loop(node)
                case _:
                    self.test(n)
                    target = {"leave": f"bra {leave}", "again": f"bra {again}", "end": "bra finish"}[node.kind]
                    self.lines.append(f"@%p1 {target};")

    def assign(self, n: tuple[int, ...]) -> None:
        d, a, b = (f"%r{k % VARIABLES}" for k in n[:3])
        forms = (
            f"add.u32 {d}, {a}, {b};",
            f"xor.b32 {d}, {a}, {b};",
            f"mad.lo.u32 {d}, {a}, 3, {n[3]};",
            f"sub.u32 %r20, {a}, {b}; add.u32 {d}, %r20, {n[3]};",
        )
        self.lines.append(forms[n[3] % 4])

    def branch(self, node: Node, leave: str, again: str) -> None:
        self.labels += 1
        here = self.labels
        self.test(node.numbers)
        self.lines.append(f"@!%p1 bra else{here};")
        self.write(node.bodies[0], leave, again)
        self.lines.append(f"bra join{here}; else{here}:")
        self.write(node.bodies[1], leave, again)
        self.lines.append(f"join{here}:")

    def loop(self, node: Node) -> None:
        self.labels += 1
        self.counters += 1
        here, counter = self.labels, f"%c{self.counters}"
        n = node.numbers
        self.lines.append(f".reg .b32 {counter}; add.u32 {counter}, %r{n[0] % VARIABLES}, {n[1]};")
        self.lines.append(f"and.b32 {counter}, {counter}, 3; add.u32 {counter}, {counter}, 1;")
        self.lines.append(f"head{here}:")
        self.write(node.bodies[0], f"out{here}", f"next{here}")
        self.lines.append(f"next{here}: sub.u32 {counter}, {counter}, 1; setp.ne.u32 %p1, {counter}, 0;")
        self.lines.append(f"@%p1 bra head{here}; out{here}:")


@pytest.mark.parametrize("seed", range(40))
def test_random_program(seed: int) -> None:
    rng = random.Random(seed)
    nodes = program(rng, 4, False)
    writer = Writer()
    writer.write(nodes, "", "")
    body = "\n".join(writer.lines)
    text = f"""
        .version 8.0 .target sm_80 .address_size 64
        .entry k(.param .u64 in, .param .u64 out) {{
        .reg .b32 %r<32>; .reg .b64 %q<9>; .reg .pred %p<4>;
        ld.param.u64 %q0, [in]; ld.param.u64 %q1, [out];
        mov.u32 %r30, %ctaid.x; mov.u32 %r31, %ntid.x; mov.u32 %r29, %tid.x; mad.lo.u32 %r30, %r30, %r31, %r29;
        mul.lo.u32 %r30, %r30, {4 * VARIABLES}; cvt.u64.u32 %q2, %r30; add.u64 %q0, %q0, %q2; add.u64 %q1, %q1, %q2;
        {" ".join(f"ld.global.u32 %r{k}, [%q0+{4 * k}];" for k in range(VARIABLES))}
        mov.u32 %r0, 5; mov.u32 %r1, %ctaid.x;
        {body}
        finish: {" ".join(f"st.global.u32 [%q1+{4 * k}], %r{k};" for k in range(VARIABLES))}
        ret; }}
    """
    emulator = Emulator(threads_at_once=96)
    threads = 5 * 40
    start = np.random.default_rng(seed).integers(0, 64, (threads, VARIABLES)).astype("u4")
    # Two variables start the same for all threads, or for each block: they are one value as long as they stay so.
    start[:, 0] = 5
    start.reshape(5, 40, VARIABLES)[:, :, 1] = np.arange(5)[:, None]
    source, out = emulator.alloc(start.nbytes), emulator.alloc(start.nbytes)
    emulator.write(source, start)
    arguments = [source.to_bytes(8, "little"), out.to_bytes(8, "little")]
    emulator.launch(emulator.load(text).entries["k"], (5, 1, 1), (40, 1, 1), 0, arguments)
    got = np.frombuffer(emulator.read(out, start.nbytes), "u4").reshape(threads, VARIABLES)
    for thread, row in enumerate(start.tolist()):
        with suppress(Ended):
            run_thread(nodes, row)
        assert got[thread].tolist() == row, thread
