"""What runs a step, seen from outside: one small interface for every backend, and what each of them checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from lanelink.dialects.tgraph.step import state_sequence

Ids = npt.NDArray[np.int32]
Logits = npt.NDArray[np.float32]


class BackendError(ValueError):
    """A request that a backend refuses; the message is one line: what was expected, what was got."""


@dataclass(frozen=True)
class StepShape:
    """The sizes of a step that a decoding loop must keep to.

    `rows`: tokens one step takes, of one sequence, or one each of as many `sequences`. `context`: positions that the
    shortest table of the step holds, None where it has no table. `vocabulary`: token ids are 0 to vocabulary - 1; None
    where the step returns no logits.
    """

    rows: int
    context: int | None
    vocabulary: int | None
    sequences: int = 1

    @property
    def rows_each(self) -> int:
        """Rows of each sequence, by which a step moves its position on."""
        return self.rows // self.sequences


class Positions:
    """The position of the next step's first row of each sequence of a step."""

    def __init__(self, shape: StepShape) -> None:
        self._shape = shape
        self.at: list[int] = []
        self.reset()

    def reset(self, sequence: int | None = None) -> None:
        """Sets one of them, or all, to 0."""
        if sequence is None:
            self.at = [0] * self._shape.sequences
        else:
            self.at[sequence] = 0

    def advance(self) -> None:
        """Moves all of them on by a step."""
        self.at = [position + self._shape.rows_each for position in self.at]


class Backend(Protocol):
    """A step loaded with its weights and its state, ready to be replayed.

    The token ids and the positions live with the state: a step leaves there the ids it chose and the positions after
    its rows, so a step of one row a sequence can follow another with nothing from the host.
    """

    @property
    def name(self) -> str:
        """`reference`, `emulator` or `cuda`."""
        ...

    @property
    def shape(self) -> StepShape:
        """The step's sizes."""
        ...

    @property
    def launches_per_step(self) -> int:
        """Kernel launches of one step; 0 where the backend launches none."""
        ...

    @property
    def positions(self) -> tuple[int, ...]:
        """The position of the next step's first row of each sequence: 0 after `reset`, then more by `shape.rows_each`
        after every step."""
        ...

    def step(self, token: int | Sequence[int] | None = None) -> None:
        """Runs one step, of `token` (`shape.rows` ids), or of the ids the state carries where it is None.

        It may return before the step has ended; `chosen` and `logits` wait for it. Raises BackendError where the ids
        are not `shape.rows` ids of the vocabulary, where None is given and nothing is carried, and where the step's
        rows do not fit the context (`check_step` makes all three checks).
        """
        ...

    def decode(self, count: int) -> Iterator[Ids]:
        """Runs `count` steps, each of the ids the one before chose, and gives the ids each chooses, i32 [rows].

        Ids come as soon as they are known, and a backend may run ahead of them. `decode_by_steps` is the plain form.
        """
        ...

    def chosen(self) -> Ids:
        """The ids the last step chose, i32 [rows]."""
        ...

    def logits(self) -> Logits:
        """The last step's logits, f32 [rows, vocabulary], a copy. BackendError where the step returns none."""
        ...

    def reset(self, sequence: int | None = None) -> None:
        """Zeroes the state and the position of one of the step's sequences, or of all: a new one begins with the next
        step, which must then be given its first id.

        BackendError where the step has no such sequence, or does not name its state by sequence (`state_name`).
        """
        ...


def decode_by_steps(backend: Backend, count: int) -> Iterator[Ids]:
    """`Backend.decode` for a backend that gains nothing from running ahead."""
    for _ in range(count):
        backend.step()
        yield backend.chosen()


def check_sequence(shape: StepShape, sequence: int, states: Iterable[str]) -> None:
    """Checks that a step whose state has these names has a sequence of its own of this number, as `Backend.reset`
    says."""
    if not 0 <= sequence < shape.sequences:
        raise BackendError(f"reset: expected a sequence of 0 to {shape.sequences - 1}, got {sequence}")
    if shape.sequences > 1 and (unnamed := [name for name in states if state_sequence(name) is None]):
        raise BackendError(f"reset: expected each state named by its sequence, got '{unnamed[0]}'")


def is_of(state: str, sequence: int | None) -> bool:
    """Whether a state is of one of a batch's sequences; every one is where none is asked for, or the step has one."""
    return sequence is None or state_sequence(state) in (None, sequence)


def check_step(
    shape: StepShape, token: int | Sequence[int] | None, positions: Sequence[int], *, carried: bool
) -> Ids | None:
    """The ids of a step as i32 [rows], None for those the state carries; BackendError as `Backend.step` says.

    `positions` are those of the first row of each sequence, `carried` whether an earlier step left ids for the next.
    """
    position, rows = max(positions), shape.rows_each
    if shape.context is not None and position + rows > shape.context:
        raise BackendError(
            f"step: expected {rows} rows from position {position} on to fit a context of {shape.context}, "
            f"got {position + rows}"
        )
    if token is None:
        if not carried:
            raise BackendError(f"step: expected {shape.rows} token ids, got none, and no earlier step carries any over")
        return None
    ids = [token] if isinstance(token, int) else list(token)
    if len(ids) != shape.rows:
        raise BackendError(f"step: expected {shape.rows} token ids, got {len(ids)}")
    check_ids(shape, ids)
    return np.array(ids, np.int32)


def check_ids(shape: StepShape, ids: Sequence[int]) -> None:
    """Checks that ids are of the vocabulary."""
    limit = 2**31 if shape.vocabulary is None else shape.vocabulary
    for id in ids:
        if not 0 <= id < limit:
            raise BackendError(f"token id: expected 0 to {limit - 1}, got {id}")


__all__ = [
    "Backend",
    "BackendError",
    "Ids",
    "Logits",
    "Positions",
    "StepShape",
    "check_ids",
    "check_sequence",
    "check_step",
    "decode_by_steps",
    "is_of",
]
