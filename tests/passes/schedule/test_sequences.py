"""Which launches of a step run as one, on plain data."""

import cProfile

from hypothesis import given
from hypothesis import strategies as st

from lanelink.dialects.launch.accesses import Access
from lanelink.passes.schedule.sequences import Work, gather_sequences


def work(kind: str | None, reads: str = "", writes: str = "", rows: tuple[int, int] | None = None) -> Work:
    return Work(kind, tuple(Access(r) for r in reads), tuple(Access(w, rows) for w in writes))


def test_sequences_one_after_another_run_kind_by_kind() -> None:
    step = [w for k in "abc" for w in (work("set", f"x{k}", k.upper()), work("attend", f"q{k.upper()}", f"y{k}"))]
    step = [Work(w.kind, w.reads[1:], w.writes[-1:]) for w in step]
    assert gather_sequences(step) == [[0, 2, 4], [1, 3, 5]]


def test_no_more_than_the_kernels_take() -> None:
    assert gather_sequences([work("set", "x", chr(65 + k)) for k in range(5)], most=2) == [[0, 1], [2, 3], [4]]


def test_what_reads_a_written_buffer_comes_after() -> None:
    assert gather_sequences([work("set", "x", "A"), work("set", "A", "B")]) == [[0], [1]]
    assert gather_sequences([work("set", "x", "A"), work(None, "A", "B"), work("set", "B", "C")]) == [[0], [1], [2]]


def test_what_writes_a_buffer_comes_after_its_readers_and_writers() -> None:
    assert gather_sequences([work("set", "x", "A"), work(None, "B", "C"), work("set", "y", "B")]) == [[0], [1], [2]]
    assert gather_sequences([work("set", "x", "A"), work("set", "y", "A")]) == [[0], [1]]
    assert gather_sequences([work("set", "A", "B"), work("set", "x", "A")]) == [[0], [1]]


def test_rows_apart_of_one_table_are_written_together() -> None:
    first, second = work("set", "x", "A", (0, 2)), work("set", "y", "A", (2, 3))
    assert gather_sequences([first, second]) == [[0, 1]]
    assert gather_sequences([first, work("set", "y", "A", (1, 2))]) == [[0], [1]]
    assert gather_sequences([first, work(None, "A", "z"), second]) == [[0], [1], [2]]
    assert gather_sequences([first, work("set", "y", "A")]) == [[0], [1]]
    assert gather_sequences([work("set", "y", "A"), second]) == [[0], [1]]


def test_a_launch_joins_over_others_that_it_does_not_touch() -> None:
    step = [work("set", "x", "A"), work(None, "A", "m"), work("set", "y", "B"), work(None, "AB", "n")]
    assert gather_sequences(step) == [[0, 2], [1], [3]]


def test_values_apart_of_one_buffer_are_read_and_written_together() -> None:
    """Each sequence's rows are made in a buffer of all, read from there, and their result put beside the others'."""
    step = [
        Work(kind, (Access(read, (8 * k, 8 * k + 8)),), (Access(written, (8 * k, 8 * k + 8)),))
        for k in range(3)
        for kind, read, written in (("turn", "x", "q"), ("attend", "q", "y"))
    ]
    assert gather_sequences(step) == [[0, 2, 4], [1, 3, 5]]
    whole = Work("attend", (Access("q"),), (Access("y", (0, 8)),))
    assert gather_sequences([*step[:2], whole, step[2]]) == [[0], [1], [2], [3]]
    across = Work("turn", (Access("x"),), (Access("q", (6, 10)),))
    assert gather_sequences([step[0], step[1], across]) == [[0], [1], [2]]


names = st.sampled_from("ABCD")
values = st.none() | st.tuples(st.integers(0, 2), st.integers(3, 5)) | st.integers(0, 4).map(lambda k: (k, k + 1))
accesses = st.builds(Access, names, values)
works = st.builds(Work, st.sampled_from(["s", "t", None]), st.tuples(accesses), st.tuples(accesses))


def touch(a: Access, b: Access) -> bool:
    apart = a.values and b.values and (a.values[1] <= b.values[0] or b.values[1] <= a.values[0])
    return a.buffer == b.buffer and not apart


def ordered(one: Work, other: Work) -> bool:
    """Whether two launches must run in their order."""
    pairs = [(one.writes, other.reads), (one.reads, other.writes), (one.writes, other.writes)]
    return any(touch(a, b) for these, those in pairs for a in these for b in those)


@given(st.lists(works, max_size=12), st.integers(1, 4))
def test_the_order_that_matters_stays(step: list[Work], most: int) -> None:
    groups = gather_sequences(step, most)
    assert sorted(k for group in groups for k in group) == list(range(len(step)))
    place = {k: p for p, group in enumerate(groups) for k in group}
    for group in groups:
        assert len(group) <= most
        assert len({step[k].kind for k in group}) == 1 and (len(group) == 1 or step[group[0]].kind is not None)
    for a in range(len(step)):
        for b in range(a + 1, len(step)):
            assert place[a] < place[b] or not ordered(step[a], step[b])


def test_gathering_is_linear() -> None:
    def calls(layers: int) -> int:
        step = [
            Work(kind, (Access(f"x{n}.{k}"),), (Access(f"{kind}{n}.{k}"),))
            for n in range(layers)
            for k in range(4)
            for kind in ("set", "attend")
        ]
        profile = cProfile.Profile()
        profile.runcall(gather_sequences, step)
        return sum(entry.callcount for entry in profile.getstats())

    # A constant beside what grows with the launches makes it a little off four.
    assert calls(400) < 4.1 * calls(100)
