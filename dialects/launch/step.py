"""What must hold of a linked step as a whole: every lifted op is covered by exactly one launch."""

from __future__ import annotations

from collections import Counter

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.base import Launch

LIFTED = "launch.lifted"
"""The function attribute with the number of lifted ops of the step."""


def launches(func: FuncOp) -> list[Launch]:
    """The launches of a linked step, in order; compound ones as one."""
    return [op for op in func.body.block.ops if isinstance(op, Launch)]


def verify_covers(func: FuncOp) -> None:
    """Checks the invariant; the message names the lifted ops and the launches that miss or repeat them."""
    lifted = func.attributes.get(LIFTED)
    where = f"step @{func.sym_name.data}"
    if not isinstance(lifted, IntegerAttr):
        raise VerifyException(f"{where}: expected the integer attribute {LIFTED}, got {lifted}")
    count = Counter(n for launch in launches(func) for n in launch.covered())
    expected = range(lifted.value.data)
    if missing := [n for n in expected if not count[n]]:
        raise VerifyException(f"{where}: expected each lifted op covered by one launch, got none for {missing[:8]}")
    if repeated := [n for n, times in count.items() if times > 1]:
        raise VerifyException(f"{where}: expected each lifted op covered by one launch, got several for {repeated[:8]}")
    if unknown := [n for n in count if n not in expected]:
        raise VerifyException(f"{where}: expected covers below {lifted.value.data}, got {unknown[:8]}")
