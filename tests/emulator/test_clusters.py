"""Clusters of blocks: shared memory of other blocks, barriers, and what stops a launch, against numpy."""

import numpy as np
import pytest

from lanelink.lowering.emulator import Emulator, EmulatorError, PtxError

SHARED = ".shared .align 16 .b8 cells[1024];"

# r1 the thread, r2 the rank, r3 the blocks of the cluster, r4 the block; r5 4 bytes into the cells for each thread;
# r6 1000 * block + thread.
START = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, cells; mad.lo.u32 %r5, %r1, 4, %r5; mad.lo.u32 %r6, %r4, 1000, %r1;
"""
MEET = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
# Leaves r20 as the thread's result.
END = """
    mov.u32 %r30, %ntid.x; mad.lo.u32 %r31, %r4, %r30, %r1;
    mul.wide.u32 %q30, %r31, 4; add.u64 %q30, %q30, %q0; st.global.u32 [%q30], %r20;
"""
# r7: the rank of the next block.
NEXT = "add.u32 %r7, %r2, 1; rem.u32 %r7, %r7, %r3;"
PULL = f"{START} st.shared.u32 [%r5], %r6; {MEET} {NEXT} mapa.shared::cluster.u32 %r8, %r5, %r7;"
PUSH = f"{START} {MEET} {NEXT} mapa.shared::cluster.u32 %r8, %r5, %r7; st.shared::cluster.u32 [%r8], %r6;"


def _run(device, body: str, blocks: int = 12, cluster: int = 4, threads: int = 64) -> np.ndarray:
    out = device.emulator.alloc(4 * blocks * threads, "out")
    device.run(body, [out], grid=blocks, block=threads, outside=SHARED, cluster=cluster)
    return device.get(out, "u4", blocks * threads).reshape(blocks, threads)


def _expected(blocks: int, cluster: int, threads: int, by: int) -> np.ndarray:
    """Of each block what the block `by` ranks on has: 1000 * its number + thread."""
    block = np.arange(blocks)
    other = block - block % cluster + (block % cluster + by) % cluster
    return (1000 * other[:, None] + np.arange(threads)).astype("u4")


@pytest.mark.parametrize(("blocks", "cluster", "threads"), [(12, 4, 64), (16, 16, 33), (6, 1, 64), (6, 3, 1)])
def test_each_block_reads_the_next_ones_shared_memory(device, blocks: int, cluster: int, threads: int) -> None:
    # Unaligned forms: a warp that is not whole may arrive too.
    body = PULL.replace(".aligned", "") + "ld.shared::cluster.u32 %r20, [%r8]; barrier.cluster.arrive; " + END
    found = _run(device, body + "barrier.cluster.wait;", blocks, cluster, threads)
    assert np.array_equal(found, _expected(blocks, cluster, threads, 1))


@pytest.mark.parametrize("cluster", [1, 2, 4])
def test_each_block_writes_the_next_ones_shared_memory(racing, cluster: int) -> None:
    found = _run(racing, PUSH + MEET + "ld.shared.u32 %r20, [%r5];" + END, cluster=cluster)
    assert np.array_equal(found, _expected(12, cluster, 64, -1))


@pytest.mark.parametrize("at_once", [64, 5 * 64, 8192])
def test_clusters_do_not_depend_on_how_many_blocks_run_together(device, at_once: int) -> None:
    device.emulator = Emulator(threads_at_once=at_once)
    found = _run(device, PUSH + MEET + "ld.shared.u32 %r20, [%r5];" + END)
    assert np.array_equal(found, _expected(12, 4, 64, -1))


@pytest.mark.parametrize("width", [2, 4])
def test_words_of_several_values(racing, width: int) -> None:
    registers = ", ".join(f"%r{10 + k}" for k in range(width))
    values = " ".join(f"mad.lo.u32 %r{10 + k}, %r6, 10, {k};" for k in range(width))
    body = (
        f"{START} {MEET} {NEXT} {values} sub.u32 %r9, %r5, %r1; sub.u32 %r9, %r9, %r1; sub.u32 %r9, %r9, %r1;"
        f"sub.u32 %r9, %r9, %r1; mad.lo.u32 %r9, %r1, {4 * width}, %r9; mapa.shared::cluster.u32 %r8, %r9, %r7;"
        f"st.shared::cluster.v{width}.u32 [%r8], {{{registers}}}; {MEET}"
        f"mapa.shared::cluster.u32 %r8, %r9, %r2; ld.shared::cluster.v{width}.u32 {{{registers}}}, [%r8];"
        "mov.u32 %r20, 0;" + " ".join(f"mad.lo.u32 %r20, %r20, 7, %r{10 + k};" for k in range(width)) + END
    )
    before = _expected(12, 4, 64, -1).astype("u8") * 10
    expected = np.zeros_like(before)
    for k in range(width):
        expected = (expected * 7 + before + k) & 0xFFFFFFFF
    assert np.array_equal(_run(racing, body), expected.astype("u4"))


def test_generic_addresses_and_whose_they_are(racing) -> None:
    body = (
        f"{START} st.shared.u32 [%r5], %r6; {MEET} {NEXT} cvt.u64.u32 %q1, %r5; cvta.shared.u64 %q1, %q1;"
        "mapa.u64 %q2, %q1, %r7; ld.u32 %r20, [%q2]; getctarank.u64 %r9, %q2; getctarank.u64 %r10, %q1;"
        "mapa.shared::cluster.u32 %r8, %r5, %r7; getctarank.shared::cluster.u32 %r11, %r8;"
        "mad.lo.u32 %r20, %r20, 10, %r9; mad.lo.u32 %r20, %r20, 10, %r10; mad.lo.u32 %r20, %r20, 10, %r11;"
        f"barrier.cluster.arrive; {END} barrier.cluster.wait;"
    )
    rank = np.arange(12)[:, None] % 4
    after = (rank + 1) % 4
    expected = ((_expected(12, 4, 64, 1).astype("u8") * 10 + after) * 10 + rank) * 10 + after
    assert np.array_equal(_run(racing, body), expected.astype("u4"))


def test_atomics_on_another_blocks_shared_memory(racing) -> None:
    body = (
        f"{START} setp.eq.u32 %p1, %r1, 0; mov.u32 %r9, 0; @%p1 st.shared.u32 [cells], %r9; {MEET}"
        "mov.u32 %r10, cells; mov.u32 %r11, 2; mapa.shared::cluster.u32 %r8, %r10, %r11;"
        f"add.u32 %r12, %r2, 1; red.shared::cluster.add.u32 [%r8], %r12; {MEET}"
        f"ld.shared::cluster.u32 %r20, [%r8]; barrier.cluster.arrive; {END} barrier.cluster.wait;"
    )
    assert np.array_equal(_run(racing, body), np.full((12, 64), 64 * (1 + 2 + 3 + 4), "u4"))


def test_places_in_a_cluster_of_three_dimensions(device) -> None:
    names = [f"%{r}.{a}" for r in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for a in "xyz"]
    names += ["%cluster_ctarank", "%cluster_nctarank"]
    grid, cluster = (4, 6, 2), (2, 3, 1)
    stores = "".join(f"mov.u32 %r9, {n}; st.global.u32 [%q1+{4 * k}], %r9;" for k, n in enumerate(names))
    body = (
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mad.lo.u32 %r2, %r3, 6, %r2;"
        f"mad.lo.u32 %r1, %r2, 4, %r1; mul.wide.u32 %q1, %r1, {4 * len(names)}; add.u64 %q1, %q1, %q0; {stores}"
    )
    emulator = device.emulator
    out = emulator.alloc(48 * 4 * len(names), "out")
    entry = device.entry(body)
    emulator.launch(entry, grid, (1, 1, 1), 0, [out.to_bytes(8, "little")], cluster=cluster)
    found = np.frombuffer(emulator.read(out, 48 * 4 * len(names)), "u4").reshape(48, len(names))
    for z, y, x in np.ndindex(2, 6, 4):
        which, place = (x // 2, y // 3, z), (x % 2, y % 3, 0)
        expected = [*which, 2, 2, 2, *place, *cluster, place[0] + 2 * place[1], 6]
        assert found[x + 4 * (y + 6 * z)].tolist() == expected


def test_blocks_of_a_cluster_across_the_grid(racing) -> None:
    """Along y the blocks of a cluster are not neighbours in the grid."""
    body = PULL.replace("mov.u32 %r4, %ctaid.x;", "mov.u32 %r4, %ctaid.y; mad.lo.u32 %r4, %r4, 5, %ctaid_x;")
    body = body.replace("%ctaid_x", "%r19").replace(START[:0], "mov.u32 %r19, %ctaid.x;", 1)
    body += f"ld.shared::cluster.u32 %r20, [%r8]; barrier.cluster.arrive; {END} barrier.cluster.wait;"
    out = racing.emulator.alloc(4 * 5 * 4 * 32, "out")
    entry = racing.entry(body, outside=SHARED)
    racing.emulator.launch(entry, (5, 4, 1), (32, 1, 1), 0, [out.to_bytes(8, "little")], cluster=(1, 2, 1))
    found = racing.get(out, "u4", 5 * 4 * 32).reshape(4, 5, 32)
    y, x, thread = np.meshgrid(np.arange(4), np.arange(5), np.arange(32), indexing="ij")
    assert np.array_equal(found, (1000 * (5 * (y ^ 1) + x) + thread).astype("u4"))


def test_threads_that_have_ended_count_as_arrived(device) -> None:
    body = f"{START} mov.u32 %r20, 7; setp.ge.u32 %p1, %r1, 32; @%p1 bra DONE; {MEET} mov.u32 %r20, 9; DONE: {END}"
    expected = np.where(np.arange(64) < 32, 9, 7)
    assert np.array_equal(_run(device, body), np.broadcast_to(expected, (12, 64)).astype("u4"))


LOAD = "ld.shared::cluster.u32 %r20, [%r8];"
FAULTS = {
    "rank": (f"{START} {MEET} mov.u32 %r7, 4; mapa.shared::cluster.u32 %r8, %r5, %r7;", "a rank below the 4 blocks"),
    "forged rank": (
        f"{START} st.shared.u32 [%r5], %r6; {MEET} add.u32 %r8, %r5, 0x0a000000; {LOAD}",
        "a rank below the 4 blocks",
    ),
    "not met": (f"{START} st.shared.u32 [%r5], %r6; {NEXT} mapa.shared::cluster.u32 %r8, %r5, %r7; {LOAD}", "started"),
    "unwritten": (
        f"{START} {MEET} {NEXT} mapa.shared::cluster.u32 %r8, %r5, %r7; {LOAD}",
        "shared memory of rank 1, address 0x0: expected memory that was written",
    ),
    "outside": (f"{PULL} add.u32 %r8, %r8, 1024; {LOAD}", "0 bytes past the end of cells"),
    "misaligned": (f"{PULL} add.u32 %r8, %r8, 2; {LOAD}", "expected alignment to 4 bytes"),
    "of this block alone": (f"{PULL} ld.shared.u32 %r20, [%r8];", "expected memory of a live allocation"),
    "ended": (
        f"{PULL} setp.ne.u32 %p1, %r2, 0; @%p1 ret; bar.sync 0; {LOAD}",
        "a block that has not ended; got an access to the shared memory of rank 1",
    ),
    "twice": (f"{START} barrier.cluster.arrive; barrier.cluster.arrive;", "wait between two arrivals"),
    "never": (f"{START} barrier.cluster.wait;", "arrive before the wait"),
    "missing": (
        f"{START} barrier.cluster.arrive; setp.lt.u32 %p1, %r1, 32; @%p1 bra ON; barrier.cluster.wait;"
        "barrier.cluster.arrive; barrier.cluster.wait; bra OUT; ON: bar.sync 0, 64; OUT:",
        "expected every thread of the block at the barrier",
    ),
    "torn": (
        f"{START} setp.lt.u32 %p1, %r1, 8; @%p1 bra ON; barrier.cluster.arrive.aligned; ON: barrier.cluster.arrive;",
        "every thread of the warp to arrive together",
    ),
}


@pytest.mark.parametrize(("body", "message"), FAULTS.values(), ids=FAULTS)
def test_faults(device, body: str, message: str) -> None:
    with pytest.raises(EmulatorError, match=message):
        _run(device, body + "mov.u32 %r20, 0;" + END)


def test_a_block_that_never_arrives_is_named(device) -> None:
    # The last block of each cluster waits for a word that nobody writes.
    body = (
        f"{START} setp.eq.u32 %p1, %r2, 3; @!%p1 bra MEETING; LOOK: ld.volatile.global.u32 %r9, [%q0];"
        f"setp.eq.u32 %p2, %r9, 0; @%p2 bra LOOK; MEETING: {MEET}"
    )
    word = device.put(np.zeros(1, "u4"), "word")
    with pytest.raises(EmulatorError, match=r"block \(3, 0, 0\) .*expected another thread to write"):
        device.run(body, [word], grid=4, block=32, outside=SHARED, cluster=4)


RACES = {
    "no barrier": (PUSH + "ld.shared.u32 %r20, [%r5];" + END, "race: read at shared address"),
    "no wait": (
        PUSH + "barrier.cluster.arrive.release; ld.shared.u32 %r20, [%r5]; barrier.cluster.wait.acquire;" + END,
        "race: read at shared address",
    ),
    "written after it arrived": (
        f"{START} {MEET} {NEXT} mapa.shared::cluster.u32 %r8, %r5, %r7; barrier.cluster.arrive.release;"
        "st.shared::cluster.u32 [%r8], %r6; barrier.cluster.wait.acquire; ld.shared.u32 %r20, [%r5];" + END,
        "race: read at shared address",
    ),
    "relaxed": (
        PUSH + "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire; ld.shared.u32 %r20, [%r5];" + END,
        "race: read at shared address",
    ),
    "two blocks write one place": (
        f"{START} {MEET} mov.u32 %r7, 0; mapa.shared::cluster.u32 %r8, %r5, %r7; st.shared::cluster.u32 [%r8], %r6;",
        "race: write",
    ),
    "written while others still read": (
        f"{PULL} {LOAD} st.shared.u32 [%r5], %r6;" + END,
        "race: (write|read) at shared address",
    ),
    "threads of one block, between arrival and wait": (
        f"{START} {MEET} barrier.cluster.arrive; st.shared.u32 [%r5], %r6; barrier.cluster.wait;"
        "xor.b32 %r9, %r5, 128; ld.shared.u32 %r20, [%r9];" + END,
        "race: read at shared address",
    ),
}


@pytest.mark.parametrize(("body", "message"), RACES.values(), ids=RACES)
def test_races(racing, body: str, message: str) -> None:
    with pytest.raises(EmulatorError, match=message):
        _run(racing, body)


def test_what_all_have_read_may_be_written_again(racing) -> None:
    """Blocks of a cluster read one place, meet, and its block writes it: other clusters have nothing to do with it."""
    body = (
        f"{START} st.shared.u32 [%r5], %r6; {MEET} mov.u32 %r7, 0; mapa.shared::cluster.u32 %r8, %r5, %r7;"
        f"{LOAD} {MEET}"
        "setp.eq.u32 %p1, %r2, 0; @%p1 st.shared.u32 [%r5], %r20;" + END
    )
    block = np.arange(12)[:, None]
    assert np.array_equal(_run(racing, body), (1000 * (block - block % 4) + np.arange(64)).astype("u4"))


def test_global_memory_is_ordered_in_a_cluster_and_not_beyond(racing) -> None:
    body = (
        f"{START} mul.wide.u32 %q5, %r4, 4; add.u64 %q5, %q5, %q1; st.global.u32 [%q5], %r4; {MEET}"
        "xor.b32 %r9, %r4, %r12; mul.wide.u32 %q5, %r9, 4; add.u64 %q5, %q5, %q1; ld.global.u32 %r20, [%q5];" + END
    )
    for other in (1, 2):
        out, words = racing.emulator.alloc(4 * 4, "out"), racing.emulator.alloc(4 * 4, "words")
        text = f"mov.u32 %r12, {other};" + body
        if other == 1:
            racing.run(text, [out, words], grid=4, block=1, outside=SHARED, cluster=2)
            assert racing.get(out, "u4", 4).tolist() == [1, 0, 3, 2]
            continue
        with pytest.raises(EmulatorError, match="race: read at global address"):
            racing.run(text, [out, words], grid=4, block=1, outside=SHARED, cluster=2)


@pytest.mark.parametrize(
    ("grid", "cluster", "message"),
    [
        ((6, 1, 1), (4, 1, 1), "expected a grid that clusters .4, 1, 1. divide, got .6, 1, 1."),
        ((34, 1, 1), (17, 1, 1), "expected a cluster of 1 to 16 blocks"),
        ((4, 1, 1), (0, 1, 1), "expected a cluster of 1 to 16 blocks"),
    ],
)
def test_clusters_that_no_launch_can_have(
    device, grid: tuple[int, int, int], cluster: tuple[int, int, int], message: str
) -> None:
    with pytest.raises(EmulatorError, match=message):
        device.emulator.launch(device.entry("", 0), grid, (32, 1, 1), 0, [], cluster=cluster)


def test_clusters_are_of_sm_90() -> None:
    emulator = Emulator()
    entry = emulator.load(".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }").entries["k"]
    with pytest.raises(EmulatorError, match="expected PTX of sm_90 or later for clusters, got sm_80"):
        emulator.launch(entry, (2, 1, 1), (32, 1, 1), 0, [], cluster=(2, 1, 1))


# r10: the barrier that counts what comes, of 64 threads' 4 bytes; r11: that of the next block, r8 the place there.
COUNTED = """
    .shared .align 8 .b64 full; setp.eq.u32 %p1, %r1, 0; mov.u32 %r10, full;
    @%p1 mbarrier.init.shared::cta.b64 [%r10], 1; @%p1 fence.mbarrier_init.release.cluster;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;
"""
SEND = (
    f"{START} {COUNTED} {MEET} {NEXT} mapa.shared::cluster.u32 %r8, %r5, %r7; mapa.shared::cluster.u32 %r11, %r10, %r7;"
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8], %r6, [%r11];"
)
WAIT = "look: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0; @!%p2 bra look;"


def test_values_that_a_barrier_counts(racing) -> None:
    found = _run(racing, SEND + WAIT + "ld.shared.u32 %r20, [%r5];" + END)
    assert np.array_equal(found, _expected(12, 4, 64, -1))


def test_pairs_of_values_that_a_barrier_counts(racing) -> None:
    """Half of the threads send two values each, read as one of 64 bits."""
    body = SEND.replace("st.async", "setp.lt.u32 %p3, %r1, 32; add.u32 %r12, %r6, 7; @%p3 st.async")
    body = body.replace("bytes.u32 [%r8], %r6", "bytes.v2.u32 [%r8], {%r6, %r12}")
    body = body.replace(
        "mapa.shared::cluster.u32 %r8", "mov.u32 %r9, cells; mad.lo.u32 %r5, %r1, 8, %r9; mapa.shared::cluster.u32 %r8"
    )
    read = "@%p3 ld.shared.b64 %q5, [%r5]; cvt.u32.u64 %r13, %q5; shr.u64 %q5, %q5, 32; cvt.u32.u64 %r14, %q5;"
    found = _run(racing, body + WAIT + read + "mad.lo.u32 %r20, %r13, 3, %r14;" + END)[:, :32]
    sent = _expected(12, 4, 64, -1)[:, :32]
    assert np.array_equal(found, sent * 3 + sent + 7)


SENT_FAULTS = {
    "read too soon": (SEND + "ld.shared.u32 %r20, [%r5];" + END, "expected memory that was written"),
    "of other bytes": (SEND.replace("_, [%r10], 256", "_, [%r10], 260") + WAIT, "expected another thread to write"),
    "another block's barrier": (
        SEND.replace("[%r8], %r6, [%r11]", "[%r8], %r6, [%r10]") + WAIT,
        "expected a barrier of the block that the values go to",
    ),
    "two senders": (
        SEND.replace("mapa.shared::cluster.u32 %r8", "mov.u32 %r7, 0; mapa.shared::cluster.u32 %r8").replace(
            "256", "1024"
        )
        + WAIT,
        "race: write",
    ),
    "more than 16 bytes": (SEND.replace("bytes.u32 [%r8], %r6", "bytes.v4.b64 [%r8], {%q1, %q1, %q1, %q1}"), "type"),
}


@pytest.mark.parametrize(("body", "message"), SENT_FAULTS.values(), ids=SENT_FAULTS)
def test_faults_of_values_that_a_barrier_counts(racing, body: str, message: str) -> None:
    with pytest.raises((EmulatorError, PtxError), match=message):
        _run(racing, body)
