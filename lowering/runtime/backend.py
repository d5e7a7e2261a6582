"""What runs a step, seen from outside: one small interface for every backend, and the greedy loop over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
Logits = npt.NDArray[np.float32]


class BackendError(ValueError):
    """A request that a backend refuses; the message is one line: what was expected, what was got."""


@dataclass(frozen=True)
class StepShape:
    """The sizes of a step that a decoding loop must keep to.

    `rows`: tokens one step takes, of one sequence. `context`: positions that the shortest table of the step holds, None
    where it has no table. `vocabulary`: token ids are 0 to vocabulary - 1; None where the step returns no logits.
    """

    rows: int
    context: int | None
    vocabulary: int | None


class Backend(Protocol):
    """A step loaded with its weights and its state, ready to be replayed.

    The token ids and the position live with the state: a step leaves there the ids it chose and the position after its
    rows, so a step of one row can follow another with nothing from the host.
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
    def position(self) -> int:
        """The position of the next step's first row: 0 after `reset`, then `shape.rows` more after every step."""
        ...

    def step(self, token: int | Sequence[int] | None = None) -> None:
        """Runs one step, of `token` (`shape.rows` ids), or of the ids the state carries where it is None.

        It may return before the step has ended; `chosen` and `logits` wait for it. Raises BackendError where the ids
        are not `shape.rows` ids of the vocabulary, where None is given and nothing is carried, and where the step's
        rows do not fit the context (`check_step` makes all three checks).
        """
        ...

    def decode(self, count: int) -> Iterator[int]:
        """Runs `count` steps of one row, each of the id the one before chose, and gives the id each chooses.

        Ids come as soon as they are known, and a backend may run ahead of them. `decode_by_steps` is the plain form.
        """
        ...

    def chosen(self) -> Ids:
        """The ids the last step chose, i32 [rows]."""
        ...

    def logits(self) -> Logits:
        """The last step's logits, f32 [rows, vocabulary], a copy. BackendError where the step returns none."""
        ...

    def reset(self) -> None:
        """Zeroes the state and the position: the next step begins a new sequence."""
        ...


def decode_by_steps(backend: Backend, count: int) -> Iterator[int]:
    """`Backend.decode` for a backend that gains nothing from running ahead."""
    for _ in range(count):
        backend.step()
        yield int(backend.chosen()[0])


def check_step(shape: StepShape, token: int | Sequence[int] | None, position: int, *, carried: bool) -> Ids | None:
    """The ids of a step as i32 [rows], None for those the state carries; BackendError as `Backend.step` says.

    `position` is that of the step's first row, `carried` whether an earlier step left ids for the next one.
    """
    if shape.context is not None and position + shape.rows > shape.context:
        raise BackendError(
            f"step: expected {shape.rows} rows from position {position} on to fit a context of {shape.context}, "
            f"got {position + shape.rows}"
        )
    if token is None:
        if not carried:
            raise BackendError(f"step: expected {shape.rows} token ids, got none, and no earlier step carries any over")
        return None
    ids = [token] if isinstance(token, int) else list(token)
    if len(ids) != shape.rows:
        raise BackendError(f"step: expected {shape.rows} token ids, got {len(ids)}")
    _check_ids(shape, ids)
    return np.array(ids, np.int32)


def _check_ids(shape: StepShape, ids: Sequence[int]) -> None:
    limit = 2**31 if shape.vocabulary is None else shape.vocabulary
    for id in ids:
        if not 0 <= id < limit:
            raise BackendError(f"token id: expected 0 to {limit - 1}, got {id}")


def _silent(value: int) -> None:
    """Nobody listens."""


def generate(
    backend: Backend,
    prompt_ids: Sequence[int],
    n: int,
    progress: Callable[[int], None] | None = None,
    chosen: Callable[[int], None] | None = None,
) -> list[int]:
    """`n` greedy ids after `prompt_ids`, which are fed one by one; the backend is reset first.

    `progress` is called with the number of steps done after every step, `chosen` with each id as it is known. Raises
    BackendError for an empty prompt, an id outside the vocabulary, a step of several rows, and a context without
    room for the prompt and all but the last of the `n`, which no step reads.
    """
    shape = backend.shape
    if shape.rows != 1:
        raise BackendError(f"generate: expected a step of 1 row, got {shape.rows}")
    if not prompt_ids or n < 0:
        raise BackendError(f"generate: expected a prompt and n of at least 0, got {len(prompt_ids)} ids and n {n}")
    fed_back = max(0, n - 1)
    if shape.context is not None and shape.context < len(prompt_ids) + fed_back:
        raise BackendError(
            f"generate: expected a context of at least {len(prompt_ids) + fed_back} ({len(prompt_ids)} of prompt, "
            f"{fed_back} chosen), got {shape.context}"
        )
    _check_ids(shape, prompt_ids)
    report, tell = progress or _silent, chosen or _silent
    backend.reset()
    for done, id in enumerate(prompt_ids, start=1):
        backend.step(id)
        report(done)
    ids = [int(backend.chosen()[0])] if n else []
    for id in ids:
        tell(id)
    for id in backend.decode(n - 1) if n > 1 else ():
        ids.append(id)
        tell(id)
        report(len(prompt_ids) + len(ids) - 1)
    return ids


__all__ = [
    "Backend",
    "BackendError",
    "Ids",
    "Logits",
    "StepShape",
    "check_step",
    "decode_by_steps",
    "generate",
]
