"""The greedy loop over a backend: what follows a prompt, or each of a batch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lanelink.lowering.runtime.backend import Backend, BackendError, StepShape, check_ids


def _silent(*values: int) -> None:
    """Nobody listens."""


def generate(
    backend: Backend,
    prompt_ids: Sequence[int],
    n: int,
    progress: Callable[[int], None] | None = None,
    chosen: Callable[[int], None] | None = None,
) -> list[int]:
    """`n` greedy ids after `prompt_ids`, by a step of one row of one sequence; as `generate_batch`."""
    tell = chosen or _silent
    return generate_batch(backend, [prompt_ids], n, progress, lambda _, id: tell(id))[0]


def generate_batch(
    backend: Backend,
    prompts: Sequence[Sequence[int]],
    n: int,
    progress: Callable[[int], None] | None = None,
    chosen: Callable[[int, int], None] | None = None,
) -> list[list[int]]:
    """`n` greedy ids after each prompt, one of each sequence of the step; the backend is reset first.

    Prompts are fed one id a step, and need not be of one length: a sequence whose prompt is over goes on with what it
    chose while others are still fed theirs, and past its `n` ids until the last of them has its own.

    `progress` is called with the number of steps done after every step, `chosen` with a sequence's number and an id of
    its as it is known. Raises BackendError for as many prompts as the step has not sequences, an empty prompt, an id
    outside the vocabulary, a step of several rows a sequence, and a context without room for the longest prompt and all
    but the last of the `n`, which no step reads.
    """
    check_request(backend.shape, prompts, n)
    report, tell = progress or _silent, chosen or _silent
    made: list[list[int]] = [[] for _ in prompts]

    def keep(ids: Sequence[int], done: int) -> None:
        """Takes what a step chose, the one after which `done` steps are done."""
        for s, (prompt, own) in enumerate(zip(prompts, made, strict=True)):
            if done >= len(prompt) and len(own) < n:
                own.append(ids[s])
                tell(s, ids[s])

    longest, shortest = (most(map(len, prompts)) for most in (max, min))
    last: list[int] = []
    backend.reset()
    for k in range(longest):
        backend.step([prompt[k] if k < len(prompt) else last[s] for s, prompt in enumerate(prompts)])
        report(k + 1)
        if k + 1 >= shortest and (n or k + 1 < longest):
            last = backend.chosen().tolist()
            keep(last, k + 1)
    for k, ids in enumerate(backend.decode(n - 1) if n > 1 else (), start=longest + 1):
        keep(ids.tolist(), k)
        report(k)
    return made


def check_request(shape: StepShape, prompts: Sequence[Sequence[int]], n: int) -> None:
    """BackendError where `generate_batch` would refuse prompts or a number of ids; for before a backend is there."""
    if shape.rows_each != 1:
        raise BackendError(f"generate: expected a step of 1 row, got {shape.rows_each}")
    if len(prompts) != shape.sequences:
        raise BackendError(f"generate: expected {shape.sequences} prompts, one a sequence, got {len(prompts)}")
    if n < 0:
        raise BackendError(f"generate: n: expected at least 0, got {n}")
    for s, prompt in enumerate(prompts):
        if not prompt:
            which = "prompt" if len(prompts) == 1 else f"prompt of sequence {s}"
            raise BackendError(f"generate: {which}: expected at least 1 id, got 0")
    longest = max(map(len, prompts))
    fed_back = max(0, n - 1)
    if shape.context is not None and shape.context < longest + fed_back:
        raise BackendError(
            f"generate: expected a context of at least {longest + fed_back} ({longest} of prompt, {fed_back} chosen), "
            f"got {shape.context}"
        )
    for prompt in prompts:
        check_ids(shape, prompt)


__all__ = ["check_request", "generate", "generate_batch"]
