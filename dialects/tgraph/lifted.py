"""What every lifted op of `tgraph` has in common: its number, and the row an op names."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, opt_prop_def, traits_def
from xdsl.traits import OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

INDEX = TensorType(i32, [1])
"""The type of a row index or position: one i32 on the device."""


class NumberedFromZero(OpTrait):
    """An op whose number, where it has one, is a place in a list."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, LiftedOp)
        if op.number is not None and op.number.value.data < 0:
            raise VerifyException(f"{op.name} number: expected at least 0, got {op.number.value.data}")


class LiftedOp(IRDLOperation, ABC):
    """One mathematical step of the decoding step. `number` is its place among the step's lifted ops (`number-ops`)."""

    number = opt_prop_def(IntegerAttr[I64])

    traits = traits_def(Pure(), NumberedFromZero())


def int_attr(value: int) -> IntegerAttr[I64]:
    """An i64 attribute."""
    return IntegerAttr(value, i64)


def opt_int_attr(value: int | None) -> IntegerAttr[I64] | None:
    """An i64 attribute, or none."""
    return None if value is None else IntegerAttr(value, i64)


def opt_operand(value: SSAValue | None) -> Sequence[SSAValue]:
    """An optional operand as IRDL takes it."""
    return () if value is None else (value,)


def check_row(op: str, index: SSAValue | None, row: IntegerAttr[I64] | None, rows: int, count: int = 1) -> None:
    """
    Checks that exactly one of a named row (`index`, tensor<1xi32> on the device) and a fixed `row` is given, and that
    `count` rows from a fixed one lie inside a table of `rows`.
    """
    if (index is None) == (row is None):
        raise VerifyException(
            f"{op}: expected either an index operand or a fixed row, got {'neither' if index is None else 'both'}"
        )
    if row is not None and not 0 <= row.value.data <= rows - count:
        raise VerifyException(f"{op} row: expected 0 to {rows - count} in a table of {rows} rows, got {row.value.data}")
